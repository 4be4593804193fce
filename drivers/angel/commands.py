"""Commands to the Angel Eye shoe and its answers, bytes to values and back (hardware page 1.1). Pure.

Known from one public implementation and not seen on hardware [I]. Its vendor's text leaves STX out of the check,
the same text's worked example needs it in: ``BccReading`` is that choice, for commands and for read answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from drivers.angel.frames import ETX, bcc
from drivers.settings import BccReading

STX: Final = 0x02
ACK: Final = 0x06
NAK: Final = 0x15

# "15 cc: NAK + one raw byte: 01 overrun/framing/parity, 02 BCC, 03 no ETX, 11 format/length, 12 address,
#  13 command, 14 type, 21 busy, 22 write in process, FF other"
NAK_BCC: Final = 0x02
NAK_TEXTS: Final[Mapping[int, str]] = {
    0x01: "overrun, framing or parity error on the line",
    NAK_BCC: "wrong check characters",
    0x03: "no end of text",
    0x11: "wrong format or length",
    0x12: "unknown address",
    0x13: "unknown command",
    0x14: "unknown type",
    0x21: "the shoe is busy",
    0x22: "the shoe is writing a setting",
    0xFF: "another error",
}
NAK_BUSY: Final = frozenset((0x21, 0x22))

_OP: Final = b"OP"
# STX "OP" type data ETX B1 B2
COMMAND_BYTES: Final = 10
MAX_COMMAND_BYTES: Final = 32


class Command(NamedTuple):
    """Two letters and two digits."""

    kind: str
    data: str


LOCK: Final = Command("LK", "02")
UNLOCK: Final = Command("LK", "01")
CLEAR_ERROR: Final = Command("EC", "00")
USE_OVERDRAWN: Final = Command("EC", "01")
DISCARD_OVERDRAWN: Final = Command("EC", "02")
CONFIRM_GAME: Final = Command("GP", "00")

COMMAND_TEXTS: Final[Mapping[Command, str]] = {
    LOCK: "lock the exit",
    UNLOCK: "unlock the exit",
    CLEAR_ERROR: "clear the error",
    USE_OVERDRAWN: "use the over-drawn card in the next hand",
    DISCARD_OVERDRAWN: "discard the over-drawn card",
    CONFIRM_GAME: "confirm the game process",
}


class Answer(NamedTuple):
    """What the shoe answered: ``ack``, ``nak`` with its ``code``, or ``data`` that was read."""

    kind: Literal["ack", "nak", "data"]
    code: int = 0
    data: bytes = b""


def command_check(frame: bytes, reading: BccReading) -> bytes:
    """The check characters that ``frame`` (STX to ETX) has under ``reading``."""
    return bcc(frame if reading == "with_stx" else frame[1:])


def encode_command(command: Command, reading: BccReading) -> bytes:
    """The frame a host sends. Raises ``ValueError`` if ``command`` is not two letters and two digits."""
    text = command.kind + command.data
    if not (len(command.kind) == len(command.data) == 2 and text.isascii() and text.isalnum() and text.isupper()):
        raise ValueError(f"{command} is not two upper-case letters and two digits")
    frame = bytes((STX,)) + _OP + text.encode("ascii") + bytes((ETX,))
    return frame + command_check(frame, reading)


def parse_command(frame: bytes, reading: BccReading) -> Command | Answer:
    """What a shoe makes of a host's frame (STX to B2): a known command, or the ``nak`` it answers with."""
    if frame[-2:] != command_check(frame[:-2], reading):
        return Answer("nak", NAK_BCC)
    if len(frame) != COMMAND_BYTES or frame[1:3] != _OP or not frame[3:7].isalnum():
        return Answer("nak", 0x11)
    command = Command(frame[3:5].decode("ascii"), frame[5:7].decode("ascii"))
    if command in COMMAND_TEXTS:
        return command
    return Answer("nak", 0x14 if command.kind in ("LK", "EC", "GP") else 0x13)


def encode_answer(answer: Answer, reading: BccReading) -> bytes:
    """The bytes a shoe answers with. Raises ``ValueError`` for a NAK code that is not defined."""
    if answer.kind == "ack":
        return bytes((ACK,))
    if answer.kind == "nak":
        if answer.code not in NAK_TEXTS:
            raise ValueError(f"NAK code {answer.code:02X} is not defined")
        return bytes((NAK, answer.code))
    frame = bytes((STX,)) + answer.data + bytes((ETX,))
    return frame + command_check(frame, reading)


class CommandReader:
    """The shoe's side: cuts what hosts send into whole frames (STX to B2). What is no frame is dropped."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The frames that ``data`` completes, checked by nobody yet."""
        frames = []
        for byte in data:
            if byte == STX:
                self._buffer.clear()
            elif not self._buffer:
                continue
            self._buffer.append(byte)
            if len(self._buffer) > 3 and self._buffer[-3] == ETX:
                frames.append(bytes(self._buffer))
                self._buffer.clear()
            elif len(self._buffer) > MAX_COMMAND_BYTES:
                self._buffer.clear()
        return frames


def parse_answer(raw: bytes, reading: BccReading) -> Answer | None:
    """The answer that ``raw`` (whole, as ``FrameReader`` cut it) is; None if its check is wrong."""
    if raw[0] == ACK:
        return Answer("ack")
    if raw[0] == NAK:
        return Answer("nak", raw[1])
    if raw[-2:] != command_check(raw[:-2], reading):
        return None
    return Answer("data", data=raw[1:-3])
