"""What every shoe driver must do: ``ShoeDriverContract``, subclassed once a protocol and transport.

The shoe is a simulated one in a process of its own; the log it keeps is the truth. Over ``socket://`` another make's
device server, ``socat``, stands between the two.
"""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from drivers.events import CardDrawn, PortLost, PortRestored
from drivers.reconnect import LinkState
from drivers.recording import parse, timed
from drivers.registry import open_shoe
from drivers.settings import ShoeSettings
from drivers.shoe import Reading, ShoeDriver
from drivers.simulated.tag_deck import made_registry
from drivers.tags import write_registry

Until = Callable[[Callable[[], bool], str], None]

STOP_S = 1.0
CARDS = 6


class Bench:
    """A shoe, the way to it, and a driver that was not started."""

    def __init__(self, shoe: Any, port: str, inbox: Any, until: Until, settings: dict[str, Any]) -> None:
        self.shoe = shoe
        self.control = shoe.control()
        self.inbox = inbox
        self.until = until
        self.settings = ShoeSettings(port=port, **settings)
        self.driver = open_shoe(self.settings)

    def start(self) -> ShoeDriver:
        self.driver.start(self.inbox)
        self.inbox.wait_count(PortRestored)
        self.wait_open()
        return self.driver

    def wait_open(self) -> None:
        """A device server opens its device a moment after it took the call, and flushes it."""
        self.until(lambda: self.control.ask("status")["line"] == "open", "the line to be open")
        time.sleep(0.05)

    def draw(self, count: int) -> None:
        """Cards leave one after the other, each heard before the next."""
        for _ in range(count):
            heard = sum(isinstance(event, CardDrawn) for event in self.inbox.events)
            assert self.control.ask("draw")["ok"]
            self.inbox.wait_count(CardDrawn, heard + 1)

    def cards(self) -> list[str]:
        return [event.card for event in self.inbox.events if isinstance(event, CardDrawn)]

    def truth(self) -> list[str]:
        return [item["card"] for item in self.shoe.entries() if item["item"] == "card"]


class ShoeDriverContract:
    """A subclass names its protocol and transport, and what its shoe and its driver are started with."""

    protocol: ClassVar[str]
    transport: ClassVar[str]
    shoe_options: ClassVar[tuple[str, ...]] = ()
    settings: ClassVar[dict[str, Any]] = {}

    @pytest.fixture
    def bench(
        self, start: Callable[..., Any], inbox: Any, tmp_path: Path, need: Callable[[str], str], until: Until
    ) -> Iterator[Bench]:
        shoe = start(*self.shoe_options, protocol=self.protocol)
        port, server = str(shoe.link), None
        if self.transport == "socket":
            server, port = _serve(need("socat"), shoe.link)
        settings = {"protocol": self.protocol, "record": str(tmp_path / "rec"), **self.settings}
        bench = Bench(shoe, port, inbox, until, settings)
        yield bench
        bench.driver.stop()
        if server is not None:
            server.terminate()
            server.wait()

    def test_cards_come_as_they_left(self, bench: Bench) -> None:
        driver = bench.start()
        assert (driver.state, driver.fault) == (LinkState.OPEN, None)
        before = time.monotonic_ns()
        bench.draw(CARDS)
        assert bench.cards() == bench.truth()[:CARDS]
        [restored, *readings] = bench.inbox.readings
        assert (restored.event, restored.raw) == (PortRestored(bench.settings.port), b"")
        times = [reading.received_ns for reading in readings]
        assert times == sorted(times)
        assert times[0] > before
        assert all(reading.raw for reading in readings)
        stats = driver.stats
        assert stats.frames == stats.accepted + stats.duplicates + stats.bad_checksum
        assert (stats.bad_checksum, stats.gaps) == (0, 0)

    def test_a_message_in_pieces(self, bench: Bench) -> None:
        bench.start()
        for _ in range(2):
            assert bench.control.ask("fault split")["ok"]
        bench.draw(3)
        assert bench.cards() == bench.truth()[:3]

    def test_what_it_can_be_told_is_answered_in_words_and_anything_else_refused(self, bench: Bench) -> None:
        driver, told = bench.start(), []
        for action in driver.capabilities.actions:
            driver.do(action, lambda ok, text, action=action: told.append((action, ok, text)))
            bench.until(lambda action=action: told and told[-1][0] == action, f"an answer to {action}")
            assert told[-1][2]
        assert [name for name, ok, _ in told if ok] == list(driver.capabilities.actions)
        with pytest.raises(ValueError, match="does not dance"):
            driver.do("dance", lambda ok, text: told.append(("dance", ok, text)))

    def test_a_line_that_goes_and_comes_back(self, bench: Bench) -> None:
        driver = bench.start()
        bench.draw(1)
        assert bench.control.ask("unplug 0.5")["ok"]
        bench.inbox.wait_count(PortLost)
        bench.wait_open()
        bench.until(lambda: driver.state is LinkState.OPEN, "the driver to be back")
        time.sleep(0.3)  # a device server whose device is gone takes calls and hangs up
        bench.draw(2)
        assert bench.cards() == bench.truth()[:3]
        told = [type(event) for event in bench.inbox.events if isinstance(event, PortLost | PortRestored)]
        assert told == [PortRestored, PortLost] * (len(told) // 2) + [PortRestored], "in turns, never twice"
        if self.transport == "path":
            assert len(told) == 3, "once each"

    def test_it_stops_at_once_and_more_than_once(self, bench: Bench) -> None:
        driver = bench.start()
        began = time.monotonic()
        driver.stop()
        driver.stop()
        assert time.monotonic() - began < STOP_S
        assert driver.state is LinkState.STOPPED
        with pytest.raises(RuntimeError, match="started before"):
            driver.start(bench.inbox)

    def test_a_fault_of_the_sink_is_told_and_survived(self, bench: Bench) -> None:
        faults = [ZeroDivisionError()]

        def sink(readings: list[Reading]) -> None:
            if faults and any(isinstance(reading.event, CardDrawn) for reading in readings):
                raise faults.pop()
            bench.inbox(readings)

        bench.driver.start(sink)
        bench.inbox.wait_count(PortRestored)
        bench.wait_open()
        assert bench.control.ask("draw")["ok"]
        events = bench.inbox.wait_count(PortRestored, 2)
        [lost] = [event for event in events if isinstance(event, PortLost)]
        assert "readings may be lost" in lost.reason
        assert not any(card in lost.reason for card in bench.truth())

    def test_what_the_procedure_allows_may_be_told_at_any_time(self, bench: Bench) -> None:
        for draw in (True, False, False):
            bench.driver.allow(draw)
        driver = bench.start()
        driver.allow(True)
        driver.wake()
        bench.draw(1)
        driver.stop()
        driver.allow(False)
        driver.wake()

    def test_a_recording_has_what_was_read(self, bench: Bench) -> None:
        driver = bench.start()
        bench.draw(2)
        driver.stop()
        assert bench.settings.record is not None
        entries = parse(Path(bench.settings.record).read_text().splitlines())
        assert timed(entries)
        received = b"".join(entry.data for entry in entries if entry.kind == "rx")
        assert all(reading.raw in received for reading in bench.inbox.readings[1:])

    def test_what_was_never_seen_on_a_device_is_said(self, bench: Bench) -> None:
        said = bench.driver.unverified()
        assert said is None or said.strip()


def _serve(socat: str, link: Path) -> tuple[subprocess.Popen[bytes], str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [socat, f"TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr,fork", f"OPEN:{link},raw,echo=0"]
    server = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    hex_port = f":{port:04X}"
    end = time.monotonic() + 10
    while time.monotonic() < end:
        lines = Path("/proc/net/tcp").read_text().splitlines()
        if any(hex_port in line.split()[1] and line.split()[3] == "0A" for line in lines[1:]):
            break
        time.sleep(0.005)
    return server, f"socket://127.0.0.1:{port}"


class TestLineOnPath(ShoeDriverContract):
    protocol = "line"
    transport = "path"
    settings: ClassVar[dict[str, Any]] = {"repeat_window_s": 0.0}


class TestLineOnSocket(TestLineOnPath):
    transport = "socket"


class TestAngelOnPath(ShoeDriverContract):
    protocol = "angel"
    transport = "path"
    shoe_options = ("--mode", "open")


class TestAngelOnSocket(TestAngelOnPath):
    transport = "socket"


class TestSsiOnPath(ShoeDriverContract):
    protocol = "ssi"
    transport = "path"
    settings: ClassVar[dict[str, Any]] = {"repeat_window_s": 0.0}


class TestSsiOnSocket(TestSsiOnPath):
    transport = "socket"


class TestFeigOnPath(ShoeDriverContract):
    protocol = "feig"
    transport = "path"

    @pytest.fixture(autouse=True)
    def registry(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The tags that a device of the seed in use has in its cards."""
        write_registry(tmp_path / "tags.toml", made_registry(7))
        monkeypatch.setattr(type(self), "settings", {"tags": (str(tmp_path / "tags.toml"),)})


class TestFeigOnSocket(TestFeigOnPath):
    transport = "socket"


class TestRr3036OnPath(TestFeigOnPath):
    protocol = "rr3036"


class TestRr3036OnSocket(TestRr3036OnPath):
    transport = "socket"
