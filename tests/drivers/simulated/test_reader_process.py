"""Simulated readers and scanner as processes, heard by the drivers that a table opens."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from drivers.events import (
    CardDrawn,
    Event,
    Gap,
    NoRead,
    PortLost,
    PortRestored,
    Repeated,
    TagRepeated,
    TagsTogether,
    TagUnknown,
)
from drivers.reconnect import LinkState
from drivers.registry import open_shoe
from drivers.settings import ShoeSettings
from drivers.shoe import ShoeDriver
from drivers.tags import load_registry

pytestmark = pytest.mark.system

PROTOCOLS = ["feig", "rr3036", "ssi"]
READERS = ["feig", "rr3036"]
Start = Callable[..., Any]
Open = Callable[..., ShoeDriver]


@pytest.fixture
def device(start: Start, tmp_path: Path) -> Callable[..., Any]:
    """Starts a simulated device; its registry, if it has one, is ``tags.toml``."""

    def start_device(protocol: str, *arguments: str) -> Any:
        tags = ["--write-tags", str(tmp_path / "tags.toml")] if protocol in READERS else []
        return start(*tags, *arguments, protocol=protocol)

    return start_device


@pytest.fixture
def listen(inbox: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens a driver on the device, as a table does, and waits until it answers."""
    opened: list[ShoeDriver] = []

    def open_driver(protocol: str, **settings: Any) -> ShoeDriver:
        tags = (str(tmp_path / "tags.toml"),) if protocol in READERS else ()
        driver = open_shoe(
            ShoeSettings(protocol=protocol, **{"port": str(tmp_path / "shoe"), "tags": tags, **settings})
        )
        opened.append(driver)
        driver.start(inbox)
        inbox.wait_count(PortRestored)
        return driver

    yield open_driver
    for driver in opened:
        driver.stop()


def told(inbox: Any) -> list[Event]:
    """All but what a busy machine may add: a moment without answers."""
    return [event for event in inbox.events if not isinstance(event, PortRestored | Gap)]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_left_the_shoe_is_what_the_driver_tells(device: Start, listen: Open, inbox: Any, protocol: str) -> None:
    shoe = device(protocol)
    driver = listen(protocol)
    for count in range(1, 6):
        assert shoe.ask("draw")["left"] == 416 - count
        inbox.wait_count(CardDrawn, count)
    entries = shoe.entries()
    assert [event.card for event in told(inbox)] == [entry["card"] for entry in entries]
    raws = [reading.raw.hex().upper() for reading in inbox.readings if isinstance(reading.event, CardDrawn)]
    assert raws == [entry["wire"] for entry in entries]
    assert {entry["line"] for entry in entries} == {"open"}
    assert driver.stats.bad_checksum == 0


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_host_starts_again(device: Start, listen: Open, inbox: Any, protocol: str) -> None:
    shoe = device(protocol)
    listen(protocol).stop()
    assert shoe.ask("draw")["line"] == "unheard"
    listen(protocol)
    inbox.wait_count(PortRestored, 2)
    shoe.ask("draw")
    inbox.wait_count(CardDrawn)
    assert [event.card for event in told(inbox)] == [shoe.entries()[-1]["card"]]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_unplugged_under_a_draw_and_back(device: Start, listen: Open, inbox: Any, protocol: str) -> None:
    shoe = device(protocol)
    driver = listen(protocol)
    shoe.ask("fault unplug 0.3")
    shoe.ask("draw")
    inbox.wait_count(PortLost)
    inbox.wait_count(PortRestored, 2)
    assert driver.state is LinkState.OPEN
    shoe.ask("draw")
    inbox.wait_count(CardDrawn)
    assert [type(event) for event in told(inbox)] == [PortLost, CardDrawn], "the card under it went unheard"


@pytest.mark.parametrize("protocol", READERS)
def test_a_line_on_which_nobody_answers_is_not_open(
    device: Start, inbox: Any, tmp_path: Path, pty: Any, protocol: str
) -> None:
    device(protocol)  # for its registry only
    driver = open_shoe(ShoeSettings(protocol=protocol, port=str(pty.path), tags=(str(tmp_path / "tags.toml"),)))
    driver.start(inbox)
    try:
        [lost] = inbox.wait_count(PortLost)
        assert "gives no inventory" in lost.reason
        assert driver.state is LinkState.LOST
        assert "check its power" in (driver.fault or "")
    finally:
        driver.stop()
    assert [type(event) for event in inbox.events] == [PortLost]


@pytest.mark.parametrize("protocol", READERS)
def test_a_reader_that_falls_silent_is_lost_once_and_back_once(
    device: Start, listen: Open, inbox: Any, protocol: str
) -> None:
    shoe = device(protocol)
    listen(protocol)
    shoe.process.send_signal(signal.SIGSTOP)
    inbox.wait_count(PortLost)
    shoe.process.send_signal(signal.SIGCONT)
    inbox.wait_count(PortRestored, 2)
    shoe.ask("draw")
    inbox.wait_count(CardDrawn)
    assert [type(event) for event in told(inbox)] == [PortLost, CardDrawn]


@pytest.mark.parametrize("protocol", READERS)
def test_faults_of_a_reader(device: Start, listen: Open, inbox: Any, protocol: str) -> None:
    shoe = device(protocol)
    listen(protocol)
    for fault, kind in [
        ("two_tags", TagsTogether),
        ("strange_tag", TagUnknown),
        ("corrupt", CardDrawn),
        ("split", CardDrawn),
    ]:
        shoe.ask(f"fault {fault}")
        shoe.ask("draw")
        assert isinstance(inbox.wait_count(kind)[-1], kind)
    shoe.ask("rescan_last")
    assert inbox.wait_count(TagRepeated)[-1].card == shoe.entries()[-1]["card"]


def test_faults_of_a_scanner(device: Start, listen: Open, inbox: Any) -> None:
    shoe = device("ssi")
    driver = listen("ssi")
    for fault in ("corrupt", "duplicate", "repeat", "split", "noise", "no_read"):
        shoe.ask(f"fault {fault}")
        shoe.ask("draw")
    inbox.wait_count(NoRead)
    assert [type(event) for event in told(inbox)] == [CardDrawn, CardDrawn, CardDrawn, Repeated] + [CardDrawn] * 2 + [
        NoRead
    ]
    faces = [entry["card"] for entry in shoe.entries()[:-1]]
    assert [event.card for event in inbox.events if isinstance(event, CardDrawn)] == faces
    assert driver.stats.duplicates == 1


def test_a_triggered_scanner_answers_commands(device: Start, listen: Open, inbox: Any) -> None:
    shoe = device("ssi")
    listen("ssi", trigger="ssi")
    for _ in range(3):
        shoe.ask("draw")
    assert len(inbox.wait_count(CardDrawn, 3)) == 4


def test_another_shuffle_of_the_same_cards(device: Start, listen: Open, inbox: Any) -> None:
    shoe = device("feig")
    driver = listen("feig")
    shoe.ask("draw")
    inbox.wait_count(CardDrawn)
    shoe.ask("rescan_last")
    inbox.wait_count(TagRepeated)
    driver.new_shoe()
    shoe.ask("rescan_last")
    assert inbox.wait_count(CardDrawn, 2)


@pytest.mark.parametrize("protocol", READERS)
def test_a_registry_made_before_is_used(
    start: Start, listen: Open, inbox: Any, tmp_path: Path, protocol: str
) -> None:
    first = start("--write-tags", str(tmp_path / "tags.toml"), protocol=protocol)
    first.stop()
    shoe = start("--tags", str(tmp_path / "tags.toml"), protocol=protocol)
    listen(protocol, frames="standard") if protocol == "feig" else listen(protocol)
    shoe.ask("draw")
    inbox.wait_count(CardDrawn)
    (event,) = told(inbox)
    assert isinstance(event, CardDrawn)
    assert event.card == shoe.entries()[0]["card"]
    assert len(load_registry(tmp_path / "tags.toml").cards) == 417
