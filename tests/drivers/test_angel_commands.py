"""Commands to the Angel Eye and its answers, byte for byte as on hardware page 1.1, in both readings of the check."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.angel.codec import FrameReader
from drivers.angel.commands import (
    CLEAR_ERROR,
    COMMAND_TEXTS,
    CONFIRM_GAME,
    DISCARD_OVERDRAWN,
    LOCK,
    NAK_TEXTS,
    UNLOCK,
    USE_OVERDRAWN,
    Answer,
    Command,
    CommandReader,
    encode_answer,
    encode_command,
    parse_answer,
    parse_command,
)
from drivers.settings import BccReading

VECTORS = [
    (LOCK, "02 4F 50 4C 4B 30 32 03 31 42", "19"),
    (UNLOCK, "02 4F 50 4C 4B 30 31 03 31 38", "1A"),
    (CLEAR_ERROR, "02 4F 50 45 43 30 30 03 31 38", "1A"),
    (USE_OVERDRAWN, "02 4F 50 45 43 30 31 03 31 39", "1B"),
    (DISCARD_OVERDRAWN, "02 4F 50 45 43 30 32 03 31 41", "18"),
    (CONFIRM_GAME, "02 4F 50 47 50 30 30 03 30 39", "0B"),
]
READINGS: list[BccReading] = ["with_stx", "without_stx"]


@pytest.mark.parametrize(("command", "frame", "without"), VECTORS)
def test_vectors_both_ways_and_in_both_readings(command: Command, frame: str, without: str) -> None:
    raw = bytes.fromhex(frame)
    other = raw[:-2] + without.encode()
    assert encode_command(command, "with_stx") == raw
    assert encode_command(command, "without_stx") == other
    assert parse_command(raw, "with_stx") == command
    assert parse_command(other, "without_stx") == command
    assert parse_command(raw, "without_stx") == parse_command(other, "with_stx") == Answer("nak", 0x02)


def test_every_command_is_in_the_vectors() -> None:
    assert {command for command, _, _ in VECTORS} == set(COMMAND_TEXTS)


@pytest.mark.parametrize(
    ("text", "code"),
    [("XX00", 0x13), ("LK09", 0x14), ("EC99", 0x14), ("LK0", 0x11), ("LK0000", 0x11), ("L\x8b02", 0x11)],
)
def test_a_shoe_refuses_what_is_no_command(text: str, code: int) -> None:
    frame = b"\x02OP" + text.encode("latin-1") + b"\x03"
    assert parse_command(frame + _check(frame), "with_stx") == Answer("nak", code)


def _check(frame: bytes) -> bytes:
    value = 0
    for byte in frame:
        value ^= byte
    return b"%02X" % value


@pytest.mark.parametrize(
    "command", [Command("lk", "02"), Command("L", "020"), Command("LK", "2"), Command("L\x03", "02")]
)
def test_what_is_no_command_is_not_sent(command: Command) -> None:
    with pytest.raises(ValueError, match="not two upper-case letters"):
        encode_command(command, "with_stx")


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize(
    "answer", [Answer("ack"), *(Answer("nak", code) for code in NAK_TEXTS), Answer("data", data=b"GP0123")]
)
def test_answers_both_ways_between_events(answer: Answer, reading: BccReading) -> None:
    event = bytes.fromhex("05 31 44 81 B8 03 34 46")
    reader = FrameReader()
    assert reader.feed(event + encode_answer(answer, reading) + event) == [event, event]
    assert [parse_answer(raw, reading) for raw in reader.replies] == [answer]
    assert reader.junk_bytes == 0


def test_a_read_answer_with_the_other_check_is_none() -> None:
    raw = encode_answer(Answer("data", data=b"1"), "with_stx")
    assert parse_answer(raw, "without_stx") is None


def test_an_undefined_negative_answer_is_not_sent() -> None:
    with pytest.raises(ValueError, match="NAK code 42"):
        encode_answer(Answer("nak", 0x42), "with_stx")


@given(st.lists(st.sampled_from(list(COMMAND_TEXTS))), st.lists(st.integers(0, 30)), st.sampled_from(READINGS))
def test_commands_cut_anyhow_are_heard(commands: list[Command], cuts: list[int], reading: BccReading) -> None:
    stream = b"".join(encode_command(command, reading) for command in commands)
    reader = CommandReader()
    frames = []
    for cut in cuts:
        frames += reader.feed(stream[:cut])
        stream = stream[cut:]
    frames += reader.feed(stream)
    assert [parse_command(frame, reading) for frame in frames] == commands


@given(st.binary(max_size=200), st.sampled_from(list(COMMAND_TEXTS)))
def test_a_command_after_any_junk_is_heard(junk: bytes, command: Command) -> None:
    reader = CommandReader()
    frames = reader.feed(junk + b"\x02" * 3 + encode_command(command, "with_stx"))
    for frame in frames:
        parse_command(frame, "with_stx")
    # What was cut off before may have an end that takes the first bytes; then the host asks again.
    frames = frames[-1:] if frames else reader.feed(encode_command(command, "with_stx"))
    assert parse_command(frames[-1], "with_stx") == command
