"""The Angel Eye driver and a simulated shoe as a process: commands, and a lock that follows the procedure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from drivers.angel.driver import AngelShoe
from drivers.events import CardDrawn, Lock, PortRestored, Started
from drivers.self_test import VERSION, LockProof, SelfTest, SelfTests, write_tests
from drivers.settings import ShoeSettings

Until = Callable[[Callable[[], bool], str], None]


@pytest.fixture
def shoe(start: Callable[..., Any]) -> Any:
    shoe = start(protocol="angel")
    assert shoe.control().ask("status")["ok"]  # its start telegrams are over, unheard
    return shoe


@pytest.fixture
def drive(shoe: Any, inbox: Any, tmp_path: Path) -> Iterator[Callable[..., AngelShoe]]:
    started: list[AngelShoe] = []
    record = tmp_path / "record.json"
    proof = LockProof(with_stx="ack", without_stx="nak 02", bcc="with_stx", held=True, opened=True)
    test = SelfTest(
        at="2026-01-01T00:00:00Z", program="", by="", cards="", passed=True, checks=(), figures={}, lock=proof
    )
    port = str(shoe.link)
    write_tests(record, SelfTests(version=VERSION, device="simulated", protocol="angel", port=port, tests=(test,)))

    def start(**settings: Any) -> AngelShoe:
        driver = AngelShoe(ShoeSettings(protocol="angel", port=port, self_test=str(record), **settings))
        started.append(driver)
        driver.start(inbox)
        inbox.wait_count(PortRestored)
        return driver

    yield start
    for driver in started:
        driver.stop()


def test_a_locked_exit_lets_no_card_out(drive: Callable[..., AngelShoe], shoe: Any, inbox: Any) -> None:
    driver = drive()
    control = shoe.control()
    assert driver.lock().result(5).ok
    inbox.wait_count(Lock, 1)
    assert driver.locked is True
    assert "locked" in control.ask("draw")["error"]
    assert driver.unlock().result(5).ok
    inbox.wait_count(Lock, 2)
    assert control.ask("draw")["ok"]
    inbox.wait_count(CardDrawn)


def test_the_lock_follows_the_procedure_if_it_is_on(
    drive: Callable[..., AngelShoe], shoe: Any, inbox: Any, until: Until
) -> None:
    driver = drive(lock="on")
    control = shoe.control()
    driver.allow(False)
    until(lambda: driver.locked is True, "the lock")
    assert not control.ask("draw")["ok"]
    driver.allow(True)
    until(lambda: driver.locked is False, "the open exit")
    assert control.ask("draw")["ok"]
    events = inbox.wait_count(CardDrawn)
    assert [event for event in events if isinstance(event, Lock)] == [Lock(True), Lock(False)]


def test_off_is_the_default_and_nothing_is_sent(drive: Callable[..., AngelShoe], shoe: Any, inbox: Any) -> None:
    driver = drive()
    driver.allow(False)
    assert shoe.control().ask("draw")["ok"]
    events = inbox.wait_count(CardDrawn)
    assert driver.locked is None
    assert not [event for event in events if isinstance(event, Lock)]


def test_a_restarted_shoe_is_locked_again(
    drive: Callable[..., AngelShoe], shoe: Any, inbox: Any, until: Until
) -> None:
    driver = drive(lock="on")
    control = shoe.control()
    driver.allow(False)
    until(lambda: driver.locked is True, "the lock")
    before = sum(isinstance(event, Started) for event in inbox.events)
    assert control.ask("load")["ok"]
    inbox.wait_count(Started, before + 1)
    inbox.wait_count(Lock, 2)
    until(lambda: driver.locked is True, "the lock again")
    assert not control.ask("draw")["ok"]


def test_a_stopped_line_is_told_at_once(drive: Callable[..., AngelShoe]) -> None:
    driver = drive()
    driver.stop()
    result = driver.lock().result(0)
    assert (result.ok, result.text.split(":")[0]) == (False, "not sent")
