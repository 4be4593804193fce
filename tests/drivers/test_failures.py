"""Failures of hardware page 4 that no other test shows, and the list of them all in ``docs/hardware/failures.md``."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import serial

import drivers
from drivers.angel.codec import AngelDecoder
from drivers.angel.frames import encode
from drivers.errors import PortBusy
from drivers.events import CardDrawn, Event, Gap, PortLost, PortRestored, Started, UnknownCode
from drivers.line.codec import LineDecoder
from drivers.port import SerialPort
from drivers.registry import open_shoe
from drivers.settings import LineSettings, ShoeSettings
from drivers.shoe import ShoeDriver

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "hardware" / "failures.md"
LINE = LineSettings(4800)
A, B = CardDrawn("8S", "player", 1), CardDrawn("AH", "banker", 1)


@pytest.fixture
def run(inbox: Any) -> Iterator[Callable[..., ShoeDriver]]:
    started: list[ShoeDriver] = []

    def start(port: str, protocol: str = "angel") -> ShoeDriver:
        driver = open_shoe(ShoeSettings(protocol=protocol, port=port))
        started.append(driver)
        driver.start(inbox)
        return driver

    yield start
    for driver in started:
        driver.stop()


# --- the page --------------------------------------------------------------------------------------------------


def rows() -> dict[int, str]:
    found = {}
    for line in PAGE.read_text().splitlines():
        if match := re.match(r"\| (\d+) \|", line):
            assert int(match[1]) not in found
            found[int(match[1])] = line
    return found


def test_the_page_has_all_32_failures_each_with_a_test() -> None:
    assert sorted(rows()) == list(range(1, 33))
    for number, row in rows().items():
        assert re.search(r"`[\w/]+::test_\w+`", row), f"failure {number} names no test"


def test_every_test_on_the_page_exists() -> None:
    for name in re.findall(r"`([\w/]+)::(test_\w+)`", PAGE.read_text()):
        module, function = name
        path = ROOT / "tests" / "drivers" / f"{module}.py"
        tree = ast.parse(path.read_text())
        assert function in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, name


# --- what the code must not do ---------------------------------------------------------------------------------


def calls() -> dict[str, set[str]]:
    """Names of attributes that each module of the package uses."""
    folder = Path(next(iter(drivers.__path__)))
    return {
        str(path.relative_to(folder)): {
            node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)
        }
        for path in folder.rglob("*.py")
    }


def test_nothing_of_the_serial_library_that_hangs_or_lies_is_used() -> None:
    """``flush`` (tcdrain) hangs, ``in_waiting`` raises or stays 1, ``cts`` and ``dsr`` raise on ptys."""
    used = calls()["port.py"]
    assert "read" in used
    assert not used & {"flush", "in_waiting", "inWaiting", "cts", "dsr", "readline", "read_until", "read_all"}


def test_no_driver_runs_in_an_event_loop() -> None:
    folder = Path(next(iter(drivers.__path__)))
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            assert not any("asyncio" in name for name in names), path


# --- opening ---------------------------------------------------------------------------------------------------


def test_the_modem_lines_are_low_before_the_port_opens(pty: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pseudo-terminal has no modem lines; what is asked of the library is what can be seen."""
    asked: list[tuple[str, bool]] = []
    for line in ("dtr", "rts"):
        name = f"_update_{line}_state"
        monkeypatch.setattr(serial.Serial, name, lambda self, n=line: asked.append((n, getattr(self, n))))
    port = SerialPort(str(pty.path), LINE)
    port.open()
    port.close()
    assert asked
    assert not any(level for _, level in asked)


def test_a_device_that_restarts_when_it_is_opened(pty: Any, inbox: Any, run: Callable[..., ShoeDriver]) -> None:
    run(pty.port)
    inbox.wait_count(PortRestored)
    time.sleep(0.05)
    pty.write(bytes.fromhex("FF FF FF FF C5 FC") + encode(Started(), "0") * 6 + encode(A, "1") * 3)
    inbox.wait_count(CardDrawn)
    assert inbox.events[1:] == [Started(), A]


def test_low_latency_is_asked_for_and_its_absence_is_no_failure(pty: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def refuse(_self: object, wish: bool) -> None:
        asked.append(wish)
        raise ValueError("no ioctl")

    monkeypatch.setattr(serial.Serial, "set_low_latency_mode", refuse)
    port = SerialPort(str(pty.path), LINE)
    port.open()
    port.close()
    assert asked == [True]


def test_what_was_sent_before_the_open_is_dropped(pty: Any, inbox: Any, run: Callable[..., ShoeDriver]) -> None:
    pty.write(encode(A, "1"))
    time.sleep(0.05)
    run(pty.port)
    inbox.wait_count(PortRestored)
    pty.write(encode(B, "2"))
    assert inbox.wait_count(CardDrawn)[1:] == [B]


def test_old_bytes_of_a_device_server_are_copies_and_not_cards(inbox: Any, run: Callable[..., ShoeDriver]) -> None:
    """A server may keep what nobody took. Within the window it is known by its bytes; the sequence shows the rest."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        run(f"socket://127.0.0.1:{server.getsockname()[1]}")
        peer, _ = server.accept()
        with peer:
            inbox.wait_count(PortRestored)  # what comes in the moment of the opening is dropped, as on a tty
            peer.sendall(encode(A, "1") * 3)
            inbox.wait_count(CardDrawn)
        inbox.wait_count(PortLost)
        peer, _ = server.accept()
        with peer:
            inbox.wait_count(PortRestored, 2)
            peer.sendall(encode(A, "1") + encode(B, "2") * 3)
            events = inbox.wait_count(CardDrawn, 2)
    assert [event for event in events if isinstance(event, CardDrawn | Gap)] == [A, B]


def test_a_port_that_is_not_ready_in_different_ways_is_tried_again(
    pty: Any, inbox: Any, run: Callable[..., ShoeDriver], wait_until: Callable[..., None]
) -> None:
    pty.unplug()
    driver = run(pty.port)
    reasons = []

    def until(word: str) -> None:
        wait_until(lambda: word in (driver.fault or ""), word)
        reasons.append(word)

    until("there is no")
    pty.path.mkdir()
    until("directory")
    pty.path.rmdir()
    pty.plug()
    inbox.wait_count(PortRestored)
    driver.stop()
    assert sum(isinstance(event, PortLost) for event in inbox.events) == 1, "told once, however often it failed"


def test_a_child_process_does_not_keep_the_port(pty: Any, wait_until: Callable[..., None]) -> None:
    port = SerialPort(str(pty.path), LINE)
    port.open()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    try:
        port.close()

        def free() -> bool:
            with contextlib.suppress(PortBusy):  # a child that has just begun may hold it for a moment still
                port.open()
            return port.is_open

        wait_until(free, "the port to be free while the child lives")
        assert child.poll() is None
    finally:
        port.close()
        child.communicate(b"\n")


# --- while it is open ------------------------------------------------------------------------------------------


def test_flow_control_bytes_are_data(pty: Any) -> None:
    port = SerialPort(str(pty.path), LINE)
    port.open()
    try:
        pty.write(b"\x05\x11\x13\x91\x03")
        data = b""
        while len(data) < 5:
            data += port.read(time.monotonic() + 10)
        assert data == b"\x05\x11\x13\x91\x03"
    finally:
        port.close()


def test_a_daemon_that_probes_the_port_costs_bytes_but_makes_no_card(
    pty: Any, inbox: Any, run: Callable[..., ShoeDriver]
) -> None:
    run(pty.port)
    inbox.wait_count(PortRestored)
    pty.write(encode(A, "1") * 3)
    inbox.wait_count(CardDrawn)
    probe = os.open(pty.path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        os.write(probe, b"AT\r")
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            pty.write(encode(B, "2"))
            try:
                os.read(probe, 3)
            except BlockingIOError:
                time.sleep(0.002)
    finally:
        os.close(probe)
    assert pty.read(3) == b"AT\r", "the device hears the probe, too"
    pty.write(encode(CardDrawn("KD", "player", 2), "3") * 3)
    inbox.wait_for(lambda events: CardDrawn("KD", "player", 2) in events, "the line to be read again")
    cards = [event for event in inbox.events if isinstance(event, CardDrawn)]
    assert set(cards) <= {A, B, CardDrawn("KD", "player", 2)}


def test_a_wrong_baud_rate_gives_unknown_codes_and_kills_nothing() -> None:
    garbage = bytes.fromhex("FF FF C5 FC 41 30 31 0D 0A")
    assert LineDecoder().feed(garbage, 0.0) == [UnknownCode(r"\xff\xff\xc5\xfcA01")]
    assert AngelDecoder().feed(garbage * 100, 0.0) == []


def test_a_flood_while_the_table_is_busy_loses_nothing(pty: Any, inbox: Any) -> None:
    """Nothing is lost on a pseudo-terminal; an overrun is a telegram left out, which shows as a gap."""
    driver = open_shoe(ShoeSettings(protocol="line", port=pty.port, repeat_window_s=0.0))
    blocked = threading.Event()

    def slow(readings: list[Any]) -> None:
        if any(isinstance(reading.event, CardDrawn) for reading in readings) and not blocked.is_set():
            blocked.set()
            time.sleep(0.5)
        inbox(readings)

    driver.start(slow)
    try:
        inbox.wait_count(PortRestored)
        lines = 2000
        writer = threading.Thread(target=lambda: pty.write(b"D12\r\n" * lines))
        writer.start()
        inbox.wait_count(CardDrawn, lines)
        writer.join()
        assert len(inbox.events) == lines + 1
    finally:
        driver.stop()


@pytest.mark.parametrize("behaviour", ["silent", "closing", "absent"])
def test_a_line_that_brings_nothing_takes_no_processor_time(behaviour: str, run: Callable[..., ShoeDriver]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"socket://127.0.0.1:{server.getsockname()[1]}"
        peers = []
        if behaviour == "absent":
            server.close()
        driver = run(address)
        if behaviour != "absent":
            peers.append(server.accept()[0])
        for peer in peers if behaviour == "closing" else []:
            peer.close()
        began = time.process_time()
        time.sleep(1.0)
        used = time.process_time() - began
        driver.stop()
        for peer in peers:
            peer.close()
    assert used < 0.3


def test_one_card_told_several_times_is_one_card() -> None:
    frame = encode(A, "1")
    decoder = AngelDecoder()
    events: list[Event] = []
    for at in (0.0, 0.02, 0.04):
        events += decoder.feed(frame, at)
    assert events == [A]
    assert decoder.feed(frame, 1.24) == [Gap("1", "1"), A], "after the window it is another telegram"
