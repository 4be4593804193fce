"""Drivers on a device that is pulled, replaced, shared, noisy or silent; the same cases for every protocol."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from drivers.angel.frames import encode as angel_telegram
from drivers.decoder import Decoded, Decoder
from drivers.events import CardDrawn, CardRevealed, Event, Gap, NoRead, PortLost, PortRestored, UnknownCode
from drivers.line.codec import LineDecoder
from drivers.line.codec import encode as line_of
from drivers.line.driver import LineShoe
from drivers.port import SerialPort
from drivers.reconnect import LinkState
from drivers.registry import open_shoe
from drivers.settings import LineSettings, ShoeSettings
from drivers.shoe import Reading, ShoeDriver

STOP_S = 0.5

FIRST, SECOND, THIRD = CardDrawn("8S"), CardDrawn("AH"), CardDrawn("KD")


class Speech:
    """What a device of one protocol sends for the first, second and third card."""

    def __init__(self, protocol: str) -> None:
        self.protocol = protocol

    def event(self, number: int) -> CardDrawn:
        card = (FIRST, SECOND, THIRD)[number - 1].card
        return CardDrawn(card, "player", number) if self.protocol == "angel" else CardDrawn(card)

    def message(self, number: int) -> bytes:
        event = self.event(number)
        return angel_telegram(event, str(number)) if self.protocol == "angel" else line_of(event)


@pytest.fixture(params=["line", "angel"])
def speech(request: pytest.FixtureRequest) -> Speech:
    return Speech(request.param)


@pytest.fixture
def run(pty: Any, inbox: Any) -> Iterator[Callable[..., ShoeDriver]]:
    """Starts a driver on the device, waits until its port is open, and stops it after the test."""
    started: list[ShoeDriver] = []

    def start(protocol: str, **settings: Any) -> ShoeDriver:
        driver = open_shoe(ShoeSettings(protocol=protocol, **{"port": str(pty.path), **settings}))
        started.append(driver)
        driver.start(inbox)
        inbox.wait_count(PortRestored)
        return driver

    yield start
    for driver in started:
        driver.stop()


def test_cards_arrive_with_their_time_and_bytes(
    pty: Any, inbox: Any, run: Callable[..., ShoeDriver], speech: Speech
) -> None:
    driver = run(speech.protocol)
    assert driver.state is LinkState.OPEN
    before = time.monotonic_ns()
    pty.write(speech.message(1))
    inbox.wait_count(CardDrawn)
    after = time.monotonic_ns()
    [restored, drawn] = inbox.readings
    assert restored.event == PortRestored(str(pty.path))
    assert restored.raw == b""
    assert drawn.event == speech.event(1)
    assert before < drawn.received_ns < after
    assert drawn.raw == speech.message(1).rstrip(b"\r\n")
    assert driver.stats.accepted == 1
    assert driver.fault is None


def test_split_and_glued_messages(pty: Any, inbox: Any, run: Callable[..., ShoeDriver], speech: Speech) -> None:
    run(speech.protocol)
    for byte in speech.message(1):
        pty.write(bytes((byte,)))
    inbox.wait_count(CardDrawn, 1)
    pty.write(speech.message(2) + speech.message(3)[:4])
    inbox.wait_count(CardDrawn, 2)
    pty.write(speech.message(3)[4:])
    events = inbox.wait_count(CardDrawn, 3)
    assert events[1:] == [speech.event(1), speech.event(2), speech.event(3)]


def test_unplug_and_replug_under_the_same_link(
    pty: Any,
    inbox: Any,
    run: Callable[..., ShoeDriver],
    speech: Speech,
    wait_until: Callable[..., None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "drivers.shoe")
    driver = run(speech.protocol)
    pty.write(speech.message(1))
    inbox.wait_count(CardDrawn, 1)
    pty.unplug()
    inbox.wait_count(PortLost)
    assert driver.state is LinkState.LOST
    # A second attempt has failed when the fault names the other obstacle.
    pty.path.mkdir()
    wait_until(lambda: "directory" in (driver.fault or ""), "a further attempt")
    pty.path.rmdir()
    pty.plug()
    inbox.wait_count(PortRestored, 2)
    pty.write(speech.message(2))
    events = inbox.wait_count(CardDrawn, 2)
    assert [type(event) for event in events] == [PortRestored, CardDrawn, PortLost, PortRestored, CardDrawn]
    assert "stopped answering" in events[2].reason
    lost = [record for record in caplog.records if record.levelno == logging.WARNING and "stopped" in record.message]
    back = [record for record in caplog.records if "is open" in record.message]
    assert (len(lost), len(back)) == (1, 2)


def test_lost_telegrams_show_across_a_reconnect(pty: Any, inbox: Any, run: Callable[..., ShoeDriver]) -> None:
    speech = Speech("angel")
    run("angel")
    pty.write(speech.message(1) * 3)
    inbox.wait_count(CardDrawn)
    pty.unplug()
    inbox.wait_count(PortLost)
    pty.plug()
    inbox.wait_count(PortRestored, 2)
    pty.write(speech.message(3) * 3)
    assert inbox.wait_count(CardDrawn, 2)[-2:] == [Gap("1", "3"), speech.event(3)]


def test_half_a_message_then_unplug(pty: Any, inbox: Any, run: Callable[..., ShoeDriver], speech: Speech) -> None:
    run(speech.protocol)
    pty.write(speech.message(1) + speech.message(2)[:2])
    inbox.wait_count(CardDrawn)
    pty.unplug()
    events = inbox.wait_count(PortLost)
    pty.plug()
    inbox.wait_count(PortRestored, 2)
    pty.write(speech.message(2))
    assert inbox.wait_count(CardDrawn, 2)[-1] == speech.event(2)
    if speech.protocol == "line":
        assert events[-2] == UnknownCode("H0"), "told before the loss"


def test_a_line_that_stops_in_its_middle_is_reported(pty: Any, inbox: Any, run: Callable[..., ShoeDriver]) -> None:
    run("line")
    pty.write(b"D1")
    assert inbox.wait_count(UnknownCode)[-1] == UnknownCode("D1")
    pty.write(b"H01\r\n")
    assert inbox.wait_count(CardDrawn)[-1] == CardDrawn("AH")


def test_a_port_that_is_not_there_at_start(pty: Any, inbox: Any) -> None:
    pty.unplug()
    driver = open_shoe(ShoeSettings(protocol="line", port=str(pty.path)))
    driver.start(inbox)
    try:
        [lost] = inbox.wait_count(PortLost)
        assert "plug the device in" in lost.reason
        pty.plug()
        inbox.wait_count(PortRestored)
        assert [type(event) for event in inbox.events] == [PortLost, PortRestored]
    finally:
        driver.stop()


def test_a_port_that_another_program_holds(pty: Any, inbox: Any) -> None:
    other = SerialPort(str(pty.path), LineSettings(baudrate=9600))
    other.open()
    driver = open_shoe(ShoeSettings(protocol="line", port=str(pty.path)))
    driver.start(inbox)
    try:
        [lost] = inbox.wait_count(PortLost)
        assert "used by another program" in lost.reason
        other.close()
        inbox.wait_count(PortRestored)
        pty.write(b"D12\r")
        assert inbox.wait_count(CardDrawn)[-1] == CardDrawn("QD")
    finally:
        driver.stop()
        other.close()


def test_a_device_server_that_restarts(inbox: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"socket://127.0.0.1:{server.getsockname()[1]}"
        driver = open_shoe(ShoeSettings(protocol="line", port=address))
        driver.start(inbox)
        try:
            for count in (1, 2):
                peer, _ = server.accept()
                inbox.wait_count(PortRestored, count)
                peer.sendall(b"D12\r\n")
                inbox.wait_count(CardDrawn, count)
                peer.close()
                inbox.wait_count(PortLost, count)
        finally:
            driver.stop()
    kinds = [type(event) for event in inbox.events]
    assert kinds[:6] == [PortRestored, CardDrawn, PortLost] * 2


def test_stop_while_blocked_is_prompt_and_may_be_repeated(
    pty: Any, inbox: Any, run: Callable[..., ShoeDriver], speech: Speech
) -> None:
    driver = run(speech.protocol)
    [thread] = [thread for thread in threading.enumerate() if str(pty.path) in thread.name]
    assert not thread.daemon
    begin = time.monotonic()
    driver.stop()
    assert time.monotonic() - begin < STOP_S
    driver.stop()
    assert not thread.is_alive()
    assert driver.state is LinkState.STOPPED
    assert [type(event) for event in inbox.events] == [PortRestored], "a stop is no loss"
    again = SerialPort(str(pty.path), LineSettings(baudrate=9600))
    again.open()
    again.close()
    with pytest.raises(RuntimeError, match="new one"):
        driver.start(inbox)


def test_stop_while_the_port_is_lost_is_prompt(pty: Any, inbox: Any, run: Callable[..., ShoeDriver]) -> None:
    driver = run("line")
    pty.unplug()
    inbox.wait_count(PortLost)
    begin = time.monotonic()
    driver.stop()
    assert time.monotonic() - begin < STOP_S


def test_stop_before_start_and_from_the_sink(pty: Any) -> None:
    driver = open_shoe(ShoeSettings(protocol="line", port=str(pty.path)))
    driver.stop()
    driver = open_shoe(ShoeSettings(protocol="line", port=str(pty.path)))
    called = threading.Event()

    def sink(_readings: list[Reading]) -> None:
        driver.stop()
        called.set()

    driver.start(sink)
    assert called.wait(10)
    driver.stop()
    assert driver.state is LinkState.STOPPED


def test_stop_reports_a_message_that_had_not_ended(pty: Any, inbox: Any, run: Callable[..., ShoeDriver]) -> None:
    driver = run("line")
    pty.write(b"H01\r\nD1")
    inbox.wait_count(CardDrawn)
    driver.stop()
    assert inbox.events[-1] == UnknownCode("D1")


def test_a_fault_of_the_sink_is_told_and_survived(
    pty: Any, inbox: Any, speech: Speech, caplog: pytest.LogCaptureFixture
) -> None:
    def sink(readings: list[Reading]) -> None:
        for reading in readings:
            if reading.event == speech.event(2):
                raise KeyError(reading.event.card)
        inbox(readings)

    driver = open_shoe(ShoeSettings(protocol=speech.protocol, port=str(pty.path)))
    driver.start(sink)
    try:
        inbox.wait_count(PortRestored)
        pty.write(speech.message(2))
        lost = inbox.wait_count(PortLost)[-1]
        assert "fault in the program" in lost.reason
        assert "KeyError" in lost.reason
        inbox.wait_count(PortRestored, 2)
        pty.write(speech.message(3))
        assert inbox.wait_count(CardDrawn)[-1] == speech.event(3)
    finally:
        driver.stop()
    assert "in sink" in caplog.text, "the place is logged"
    assert speech.event(2).card not in caplog.text + lost.reason, "the card is not"


def test_a_loss_the_sink_did_not_take_is_told_again(pty: Any, inbox: Any) -> None:
    refused: list[Reading] = []

    def sink(readings: list[Reading]) -> None:
        if isinstance(readings[0].event, PortLost) and not refused:
            refused.extend(readings)
            raise RuntimeError
        inbox(readings)

    driver = open_shoe(ShoeSettings(protocol="line", port=str(pty.path)))
    driver.start(sink)
    try:
        inbox.wait_count(PortRestored)
        pty.replug()
        events = inbox.wait_count(PortRestored, 2)
    finally:
        driver.stop()
    assert [type(event) for event in events] == [PortRestored, PortLost, PortRestored]
    assert len(refused) == 1


def test_a_sink_that_always_fails_does_not_kill_the_thread(pty: Any) -> None:
    calls = []
    twice = threading.Event()

    def sink(readings: list[Reading]) -> None:
        calls.append(readings)
        if len(calls) >= 4:
            twice.set()
        raise RuntimeError

    driver = open_shoe(ShoeSettings(protocol="line", port=str(pty.path)))
    driver.start(sink)
    assert twice.wait(10)
    driver.stop()
    assert driver.state is LinkState.STOPPED


class FaultyDecoder(LineDecoder):
    """Fails at a full stop, and once more when the message is ended."""

    broken = False

    def decode(self, data: bytes, now: float) -> list[Decoded]:
        self.broken = b"." in data
        return self.flush(now) if self.broken else super().decode(data, now)

    def flush(self, now: float) -> list[Decoded]:
        if self.broken:
            raise ZeroDivisionError
        return super().flush(now)

    def reopened(self) -> None:
        self.broken = False


class FaultyShoe(LineShoe):
    """A shoe with a fault in its decoder."""

    def make_decoder(self) -> Decoder:
        return FaultyDecoder()


def test_a_fault_of_the_decoder_is_told_and_survived(pty: Any, inbox: Any) -> None:
    driver = FaultyShoe(ShoeSettings(protocol="line", port=str(pty.path)))
    driver.start(inbox)
    try:
        inbox.wait_count(PortRestored)
        pty.write(b".")
        assert "ZeroDivisionError" in inbox.wait_count(PortLost)[-1].reason
        inbox.wait_count(PortRestored, 2)
        pty.write(b"H01\r")
        assert inbox.wait_count(CardDrawn)[-1] == CardDrawn("AH")
    finally:
        driver.stop()


def test_noise_and_a_babbling_device_do_not_hurt(pty: Any, inbox: Any, run: Callable[..., ShoeDriver]) -> None:
    driver = run("line")
    pty.write(b"\xff\xff\xc5\xfc\0" * 2000 + b"\r\n" + b"NR\r\n" + b"H01\r\n")
    events: list[Event] = inbox.wait_count(CardDrawn)
    assert [type(event) for event in events] == [PortRestored, UnknownCode, NoRead, CardDrawn]
    begin = time.monotonic()
    driver.stop()
    assert time.monotonic() - begin < STOP_S


def test_unverified_parts_are_logged_once_at_start(
    run: Callable[..., ShoeDriver], caplog: pytest.LogCaptureFixture
) -> None:
    run("angel").stop()
    assert caplog.text.count("not yet run on a shoe") == 1
    caplog.clear()
    run("line").stop()
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
    run("line", code_set="suit_rank").stop()
    assert caplog.text.count("never seen") == 1


def test_hidden_draws_and_reveals(pty: Any, inbox: Any, run: Callable[..., ShoeDriver]) -> None:
    told = [CardDrawn("**", "player", 1), CardRevealed("2S", "player", 1)]
    run("angel")
    for number, event in enumerate(told, 1):
        pty.write(angel_telegram(event, str(number)) * 3)
    assert inbox.wait_count(CardRevealed)[1:] == told
