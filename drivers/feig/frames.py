"""Frames of FEIG OBID i-scan readers, bytes to values and back (hardware page 2.1). Pure.

::

    advanced  host    02  LENmsb LENlsb  ADR  CTRL  DATA…          CRClsb CRCmsb
              reader  02  LENmsb LENlsb  ADR  CTRL  STATUS DATA…   CRClsb CRCmsb
    standard  host    LEN  ADR  CTRL  DATA…          CRClsb CRCmsb
              reader  LEN  ADR  CTRL  STATUS DATA…   CRClsb CRCmsb

LEN is that of the whole frame. A standard frame has at least 5 bytes, so one that begins with 02 is advanced.
Inferred, not seen on hardware [I]: that TR-TYPE 03 is ISO 15693, that status 94h means more tags than one answer
holds, and the commands besides the inventory.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from drivers.crc import CRC_BYTES, crc_holds, with_crc
from drivers.framing import NO_FRAME, TELL_LATER, CheckedFrames
from drivers.settings import FrameForm
from drivers.tags import UID_BYTES, uid_text

STX: Final = 0x02

# "ADR FF = any reader in the request, reader answers with its own (00)"
ANY_READER: Final = 0xFF

INVENTORY: Final = 0xB0
SYSTEM_RESET: Final = 0x64
SOFTWARE_VERSION: Final = 0x65
WRITE_CONFIGURATION: Final = 0x8B
# What has another control byte is taken for no frame: a start in noise is told by little else.
_CONTROLS: Final = frozenset((INVENTORY, SYSTEM_RESET, SOFTWARE_VERSION, WRITE_CONFIGURATION))

# "data 01 00 (mode 00 = new inventory)"
NEW_INVENTORY: Final = b"\x01\x00"

OK: Final = 0x00
NO_TAG: Final = 0x01
MORE_DATA: Final = 0x94

ISO_15693: Final = 0x03

# A card shoe's mouth holds a few tags; 16 of them make an answer of 169 bytes.
MAX_FRAME_BYTES: Final = 256

_HEAD_STANDARD: Final = 1
_HEAD_ADVANCED: Final = 3
_TAG_BYTES: Final = 2 + UID_BYTES


class Request(NamedTuple):
    """What a host asks."""

    control: int
    data: bytes = b""
    address: int = ANY_READER


class Answer(NamedTuple):
    """What a reader answers."""

    control: int
    status: int
    data: bytes = b""
    address: int = 0x00


class Tag(NamedTuple):
    """One tag of an inventory: ``kind`` is its TR-TYPE, ``uid`` 16 hex digits, most significant first."""

    uid: str
    kind: int = ISO_15693
    dsfid: int = 0x00


def encode_request(request: Request, form: FrameForm = "advanced") -> bytes:
    """The frame a host sends."""
    return _frame(bytes((request.address, request.control)) + request.data, form)


def encode_answer(answer: Answer, form: FrameForm = "advanced") -> bytes:
    """The frame a reader sends."""
    return _frame(bytes((answer.address, answer.control, answer.status)) + answer.data, form)


def parse_request(frame: bytes) -> Request | None:
    """The request in a whole frame; None if its length or check is wrong."""
    body = _body(frame)
    return None if body is None or len(body) < 2 else Request(body[1], body[2:], body[0])


def parse_answer(frame: bytes) -> Answer | None:
    """The answer in a whole frame; None if its length or check is wrong, and for a request to any reader."""
    body = _body(frame)
    if body is None or len(body) < 3 or body[0] == ANY_READER:
        return None
    return Answer(body[1], body[2], body[3:], body[0])


def form_of(frame: bytes) -> FrameForm:
    """Which of the two forms ``frame`` has."""
    return "advanced" if frame[:1] == bytes((STX,)) else "standard"


def encode_tags(tags: list[Tag]) -> bytes:
    """The data of an inventory's answer: "COUNT, then per tag TR-TYPE DSFID UID x 8"."""
    parts = [bytes((tag.kind, tag.dsfid)) + bytes.fromhex(tag.uid) for tag in tags]
    return bytes((len(parts),)) + b"".join(parts)


def parse_tags(data: bytes) -> list[Tag]:
    """The tags of an inventory. Raises ``ValueError`` for data of another shape: nothing of it is known then."""
    count, rest = (data[0], data[1:]) if data else (0, b"")
    if len(rest) != count * _TAG_BYTES:
        raise ValueError(f"{count} tags in {len(rest)} bytes")
    tags = []
    for at in range(0, len(rest), _TAG_BYTES):
        kind, dsfid = rest[at], rest[at + 1]
        if kind != ISO_15693:
            raise ValueError(f"a transponder of type {kind:02X}")
        tags.append(Tag(uid_text(rest[at + 2 : at + _TAG_BYTES]), kind, dsfid))
    return tags


def frames() -> CheckedFrames:
    """A cutter for streams of frames of either form and direction."""
    return CheckedFrames(_size_of, crc_holds)


def _frame(body: bytes, form: FrameForm) -> bytes:
    if form == "standard":
        size = _HEAD_STANDARD + len(body) + CRC_BYTES
        if size > 0xFF:
            raise ValueError(f"{len(body)} bytes do not fit a standard frame")
        return with_crc(bytes((size,)) + body)
    size = _HEAD_ADVANCED + len(body) + CRC_BYTES
    return with_crc(bytes((STX,)) + size.to_bytes(2, "big") + body)


def _body(frame: bytes) -> bytes | None:
    """From ADR to the CRC, if length and check are right."""
    size = _size_of(frame)
    if size != len(frame) or not crc_holds(frame):
        return None
    return frame[_HEAD_ADVANCED if form_of(frame) == "advanced" else _HEAD_STANDARD : -CRC_BYTES]


def _size_of(head: bytes) -> int:
    if not head:
        return TELL_LATER
    before = _HEAD_ADVANCED if head[0] == STX else _HEAD_STANDARD
    if len(head) < before:
        return TELL_LATER
    size = int.from_bytes(head[1:3], "big") if head[0] == STX else head[0]
    if not before + 2 + CRC_BYTES <= size <= MAX_FRAME_BYTES:
        return NO_FRAME
    if len(head) < before + 2:
        return TELL_LATER
    return size if head[before + 1] in _CONTROLS else NO_FRAME
