"""Frames of RR3036 readers, bytes to values and back (hardware page 2.2). Pure.

::

    host   LEN ADR CMD STATE DATA… CRClsb CRCmsb     LEN = bytes after LEN (5+n)
    reader LEN ADR STATUS    DATA… CRClsb CRCmsb     LEN = 4+n

An answer does not repeat the command: what it answers is what was asked last. Inferred, not seen on hardware [I]:
that an inventory of several tags lists them one after the other, and what the reader does after status 05 and 1F.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from drivers.crc import CRC_BYTES, crc_holds, with_crc
from drivers.framing import NO_FRAME, TELL_LATER, CheckedFrames
from drivers.tags import UID_BYTES, uid_text

OK: Final = 0x00
FIELD_OFF: Final = 0x05
INCOMPLETE: Final = frozenset((0x0A, 0x0B))
NO_TAG: Final = 0x0E
WRONG_MODE: Final = 0x1F

_TAG_BYTES: Final = 1 + UID_BYTES
_ANSWER_REST: Final = 4
_REQUEST_REST: Final = 5


class Request(NamedTuple):
    """What a host asks: command and state as the page writes them, ``01/06``."""

    command: int
    state: int
    data: bytes = b""
    address: int = 0x00


class Answer(NamedTuple):
    """What a reader answers."""

    status: int
    data: bytes = b""
    address: int = 0x00


INIT: Final = Request(0x00, 0x00)
CLOSE_FIELD: Final = Request(0x00, 0x01)
OPEN_FIELD: Final = Request(0x00, 0x02)
TO_ISO_15693: Final = Request(0x00, 0x06)
INVENTORY: Final = Request(0x01, 0x06)


class Tag(NamedTuple):
    """One tag of an inventory; ``uid`` is 16 hex digits, most significant first (on the wire last)."""

    uid: str
    dsfid: int = 0x00


def encode_request(request: Request) -> bytes:
    """The frame a host sends."""
    return _frame(bytes((request.address, request.command, request.state)) + request.data)


def encode_answer(answer: Answer) -> bytes:
    """The frame a reader sends."""
    return _frame(bytes((answer.address, answer.status)) + answer.data)


def parse_request(frame: bytes) -> Request | None:
    """The request in a whole frame; None if its length or check is wrong."""
    if not _whole(frame, _REQUEST_REST):
        return None
    return Request(frame[2], frame[3], frame[4:-CRC_BYTES], frame[1])


def parse_answer(frame: bytes) -> Answer | None:
    """The answer in a whole frame; None if its length or check is wrong."""
    if not _whole(frame, _ANSWER_REST):
        return None
    return Answer(frame[2], frame[3:-CRC_BYTES], frame[1])


def encode_tags(tags: list[Tag]) -> bytes:
    """The data of an inventory's answer: per tag DSFID and UID, "UID LSB first"."""
    return b"".join(bytes((tag.dsfid,)) + bytes.fromhex(tag.uid)[::-1] for tag in tags)


def parse_tags(data: bytes) -> list[Tag]:
    """The tags of an inventory. Raises ``ValueError`` for data of another shape: nothing of it is known then."""
    if len(data) % _TAG_BYTES:
        raise ValueError(f"{len(data)} bytes are no whole number of tags")
    records = [data[at : at + _TAG_BYTES] for at in range(0, len(data), _TAG_BYTES)]
    return [Tag(uid_text(record[:0:-1]), record[0]) for record in records]


def frames() -> CheckedFrames:
    """A cutter for streams of frames, requests or answers."""
    return CheckedFrames(_size_of, crc_holds)


def _frame(body: bytes) -> bytes:
    length = len(body) + CRC_BYTES
    if length > 0xFF:
        raise ValueError(f"{len(body)} bytes do not fit a frame")
    return with_crc(bytes((length,)) + body)


def _whole(frame: bytes, least: int) -> bool:
    return len(frame) > least and frame[0] >= least and len(frame) == frame[0] + 1 and crc_holds(frame)


def _size_of(head: bytes) -> int:
    if not head:
        return TELL_LATER
    return head[0] + 1 if head[0] >= _ANSWER_REST else NO_FRAME
