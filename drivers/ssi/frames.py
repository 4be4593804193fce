"""Packets of the Simple Serial Interface, bytes to values and back (hardware page 3.3). Pure.

::

    LEN OP SRC STATUS DATA… CKhi CKlo      LEN = bytes before the checksum; SRC 00 scanner, 04 host
    CK = two's complement (16 bit) of the byte sum, big-endian

Both directions have the same form. From manuals and two public implementations; not seen on hardware [I].
"""

from __future__ import annotations

from typing import Final, NamedTuple

from drivers.framing import NO_FRAME, TELL_LATER, CheckedFrames

SCANNER: Final = 0x00
HOST: Final = 0x04

# "STATUS bit0 = retransmission, bit1 = continuation, bit3 = permanent change"
RETRANSMISSION: Final = 0x01
CONTINUATION: Final = 0x02
PERMANENT: Final = 0x08
_STATUS_BITS: Final = 0x0F

REQUEST_REVISION: Final = 0xA3
REPLY_REVISION: Final = 0xA4  # [I]
ACK: Final = 0xD0
NAK: Final = 0xD1
FLUSH_QUEUE: Final = 0xD2
START_SESSION: Final = 0xE4
STOP_SESSION: Final = 0xE5
SCAN_ENABLE: Final = 0xE9
SCAN_DISABLE: Final = 0xEA
DECODE_DATA: Final = 0xF3

NAK_RESEND: Final = 0x01

# The first byte of decoded data. The page shows 03 for Code 128 and 01 for a no-read.
CODE_128: Final = 0x03
NOT_READ: Final = 0x01

# All operation codes of scanners known are above; what is not is no beginning of a packet [I].
_LEAST_SCANNER_OP: Final = 0x80

CHECK_BYTES: Final = 2
_HEAD_BYTES: Final = 4
_MAX_DATA: Final = 0xFF - _HEAD_BYTES


class Packet(NamedTuple):
    """One packet of either side."""

    op: int
    data: bytes = b""
    source: int = SCANNER
    status: int = 0

    @property
    def resent(self) -> bool:
        """It was sent before."""
        return bool(self.status & RETRANSMISSION)

    @property
    def continued(self) -> bool:
        """More of it comes in the next packet."""
        return bool(self.status & CONTINUATION)


def command(op: int, data: bytes = b"") -> Packet:
    """A packet of the host."""
    return Packet(op, data, HOST)


def decoded(code: bytes, code_type: int = CODE_128) -> Packet:
    """What a scanner sends for ``code``."""
    return Packet(DECODE_DATA, bytes((code_type,)) + code)


def again(packet: Packet) -> Packet:
    """``packet`` as it is sent the second time."""
    return packet._replace(status=packet.status | RETRANSMISSION)


def encode(packet: Packet) -> bytes:
    """The bytes of ``packet``. Raises ``ValueError`` for more than 251 bytes of data."""
    if len(packet.data) > _MAX_DATA:
        raise ValueError(f"{len(packet.data)} bytes do not fit a packet")
    body = bytes((_HEAD_BYTES + len(packet.data), packet.op, packet.source, packet.status)) + packet.data
    return body + check_of(body)


def parse(frame: bytes) -> Packet | None:
    """The packet in a whole frame; None if its length or check is wrong, or it comes from neither side."""
    size = _size_of(frame)
    if size != len(frame) or not _holds(frame):
        return None
    return Packet(frame[1], frame[_HEAD_BYTES:-CHECK_BYTES], frame[2], frame[3])


def check_of(body: bytes) -> bytes:
    """The two check bytes of ``body``."""
    return (-sum(body) & 0xFFFF).to_bytes(CHECK_BYTES, "big")


def frames() -> CheckedFrames:
    """A cutter for streams of packets of either side."""
    return CheckedFrames(_size_of, _holds)


def _holds(frame: bytes) -> bool:
    return frame[-CHECK_BYTES:] == check_of(frame[:-CHECK_BYTES])


def _size_of(head: bytes) -> int:
    if not head:
        return TELL_LATER
    if head[0] < _HEAD_BYTES:
        return NO_FRAME
    if len(head) < _HEAD_BYTES:
        return TELL_LATER if len(head) < 3 or head[2] in (SCANNER, HOST) else NO_FRAME
    if head[2] not in (SCANNER, HOST) or head[3] & ~_STATUS_BITS:
        return NO_FRAME
    if head[2] == SCANNER and head[1] < _LEAST_SCANNER_OP:
        return NO_FRAME
    return head[0] + CHECK_BYTES
