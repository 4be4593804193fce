"""What a driver records is what it read, and comes out again as the same events, times and bytes."""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from drivers import recording
from drivers.angel.codec import AngelEncoder
from drivers.decode import decode_capture, decode_recording
from drivers.errors import SettingsError
from drivers.events import CardDrawn, Event, Gap, PortLost, PortRestored, UnknownCode
from drivers.recording import Entry, Recorder, parse, timed
from drivers.registry import open_shoe
from drivers.settings import LineSettings, ShoeSettings
from drivers.shoe import ShoeDriver
from drivers.simulated.recording import MAX_PAUSE_S, Recording, ReplayDevice
from drivers.simulated.steps import Send

LINE = LineSettings(4800)

# The bytes of hardware page 1.1: a hidden and two open draws, with their copies, and a wrong check.
GOLDEN = """\
{"recording":1,"protocol":"angel","port":"/dev/shoe","line":"4800 8N1"}
{"ns":1000000000,"link":"open"}
{"ns":1100000000,"rx":"053144818003373705314481800337370531448180033737"}
{"ns":2300000000,"rx":"05324491c1033235053244"}
{"ns":2310000000,"rx":"91c103323505324491c1033235"}
{"ns":2400000000,"tx":"024f504c4b3032033142"}
{"ns":2450000000,"rx":"06"}
{"ns":2500000000,"link":"lost"}
{"ns":4000000000,"link":"open"}
{"ns":9000000000,"rx":"05344492aa033442"}
{"ns":9900000000,"rx":"05344492aa033442"}
{"ns":9900000001,"rx":"0531448181b8033445ff"}
"""
GOLDEN_EVENTS: list[Event] = [
    CardDrawn("**", "player", 1), CardDrawn("AH", "banker", 1), Gap("2", "4"), CardDrawn("TC", "banker", 2),
]  # fmt: skip


def test_golden_recording_to_events() -> None:
    entries = parse(GOLDEN.splitlines())
    assert timed(entries)
    events, summary = decode_recording("angel", entries)
    assert events == GOLDEN_EVENTS
    assert summary == {
        "frames": 9, "accepted": 3, "duplicates": 5, "bad_checksum": 1, "junk_bytes": 1, "gaps": 1,
    }  # fmt: skip


def test_golden_recording_is_what_a_recorder_writes(tmp_path: Path) -> None:
    path = tmp_path / "shoe.rec"
    recorder = Recorder(str(path), "angel", "/dev/shoe", LINE)
    write = {"rx": recorder.received, "tx": recorder.sent}
    for line in GOLDEN.splitlines()[1:]:
        record = json.loads(line)
        if "link" in record:
            (recorder.opened if record["link"] == "open" else recorder.lost)(record["ns"])
        else:
            kind = "rx" if "rx" in record else "tx"
            write[kind](record["ns"], bytes.fromhex(record[kind]))
    recorder.close()
    assert path.read_text() == GOLDEN


def test_the_file_is_for_this_user_only_and_is_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "shoe.rec"
    path.write_text("05 31\n")
    path.chmod(0o644)
    recorder = Recorder(str(path), "angel", "/dev/shoe", LINE)
    recorder.close()
    recorder.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text().startswith('05 31\n{"recording":1')
    assert not timed(parse(path.read_text().splitlines()))


@pytest.mark.parametrize("name", ["", "absent/shoe.rec"])
def test_what_cannot_be_recorded_to_is_told_before_the_start(tmp_path: Path, name: str, inbox: Any) -> None:
    driver = open_shoe(ShoeSettings(protocol="line", port="/dev/null", record=str(tmp_path / name)))
    with pytest.raises(SettingsError, match="record: "):
        driver.start(inbox)
    driver.stop()


def test_a_pipe_is_no_recording(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SettingsError):
        Recorder(str(tmp_path / "pipe"), "angel", "/dev/shoe", LINE)


def test_a_full_file_ends_the_recording_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(recording, "MAX_BYTES", 200)
    recorder = Recorder(str(tmp_path / "shoe.rec"), "angel", "/dev/shoe", LINE)
    for number in range(10):
        recorder.received(number, b"\x05\x31")
    errors = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert len(errors) == 1
    assert "05" not in errors[0].getMessage()
    assert (tmp_path / "shoe.rec").stat().st_size <= 200


@pytest.mark.parametrize(
    "line",
    [
        "zz", '{"ns":1}', '{"ns":"1","rx":"05"}', '{"ns":1,"rx":5}', '{"ns":1,"rx":"0"}', '{"ns":true,"rx":"05"}',
        '{"recording":2}', '{"ns":1,"link":"up"}', "{", '{"rx":"05"}', "[1]",
    ],
)  # fmt: skip
def test_what_is_neither_is_told_with_its_line(line: str) -> None:
    with pytest.raises(ValueError, match="line 3: not "):
        parse(["05", "", line])


def test_a_capture_without_times_is_read_too() -> None:
    entries = parse(["05 31", "", "ff\n"])
    assert entries == [Entry("rx", None, b"\x05\x31"), Entry("rx", None, b"\xff")]
    assert not timed(entries)


# --- through the driver ----------------------------------------------------------------------------------------


@pytest.fixture
def record(pty: Any, inbox: Any, tmp_path: Path) -> Iterator[Callable[[str], tuple[ShoeDriver, Path]]]:
    started: list[ShoeDriver] = []

    def start(protocol: str) -> tuple[ShoeDriver, Path]:
        path = tmp_path / "shoe.rec"
        driver = open_shoe(ShoeSettings(protocol=protocol, port=str(pty.path), record=str(path)))
        started.append(driver)
        driver.start(inbox)
        inbox.wait_count(PortRestored)
        return driver, path

    yield start
    for driver in started:
        driver.stop()


def test_a_drivers_recording_gives_the_events_it_told(
    record: Callable[[str], tuple[ShoeDriver, Path]], pty: Any, inbox: Any
) -> None:
    driver, path = record("line")
    pty.write(b"D12\r\nD12\r\nH0")
    inbox.wait_count(CardDrawn)
    inbox.wait_count(UnknownCode)  # a second later: a line that stopped in its middle
    pty.unplug()
    inbox.wait_count(PortLost)
    pty.plug()
    inbox.wait_count(PortRestored, 2)
    pty.write(b"1\r\n")
    inbox.wait_count(UnknownCode, 2)
    driver.stop()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    entries = parse(path.read_text().splitlines())
    told = [event for event in inbox.events if not isinstance(event, PortLost | PortRestored)]
    assert decode_recording("line", entries)[0] == told
    assert [entry.kind for entry in entries if entry.kind != "rx"] == ["open", "lost", "open"]
    assert b"".join(entry.data for entry in entries) == b"D12\r\nD12\r\nH01\r\n"


def test_nothing_is_recorded_unless_asked_for(pty: Any, inbox: Any, tmp_path: Path) -> None:
    before = set(os.listdir(tmp_path))
    driver = open_shoe(ShoeSettings(protocol="line", port=str(pty.path)))
    driver.start(inbox)
    inbox.wait_count(PortRestored)
    driver.stop()
    assert set(os.listdir(tmp_path)) == before


# --- replay ----------------------------------------------------------------------------------------------------


def test_a_replay_has_the_recorded_times_and_bytes() -> None:
    device = ReplayDevice(Recording.of("angel", parse(GOLDEN.splitlines())))
    steps = [device.draw(None).steps for _ in range(3)]
    pauses = [[round(step.after_s, 3) for step in portion] for portion in steps]
    assert pauses == [[0.0], [0.0, 0.01, 0.14], [0.0, 0.9, 0.0]]
    sent = [step.data for portion in steps for step in portion if isinstance(step, Send)]
    assert sent == [entry.data for entry in parse(GOLDEN.splitlines()) if entry.kind == "rx"]
    assert decode_capture("angel", sent)[0] == GOLDEN_EVENTS


def test_a_night_between_two_reads_is_not_waited_for() -> None:
    encoder = AngelEncoder()
    frame = encoder.encode(CardDrawn("**", "player", 1))
    entries = [Entry("rx", 0.0, frame), Entry("rx", 40_000.0, frame), Entry("rx", 39_000.0, frame)]
    steps = ReplayDevice(Recording.of("angel", entries)).draw(None).steps
    assert [step.after_s for step in steps] == [0.0, MAX_PAUSE_S, 0.0]


def test_an_empty_recording_is_told() -> None:
    with pytest.raises(ValueError, match="nothing in it"):
        Recording.of("angel", [Entry("open", 1.0)])
