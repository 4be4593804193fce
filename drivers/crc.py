"""The one CRC of the RFID readers: CRC-16/MCRF4XX (hardware page 2).

"CRC-16, polynomial 1021h reflected = 8408h, init FFFFh, reflected in/out, no final xor, sent LSB first"; the check
value of ``123456789`` is 6F91h. FEIG and RR3036 use it, UHFReader18 would.
"""

from __future__ import annotations

from typing import Final

CRC_BYTES: Final = 2

_POLYNOMIAL: Final = 0x8408
_INIT: Final = 0xFFFF


def _entry(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ _POLYNOMIAL if byte & 1 else byte >> 1
    return byte


_TABLE: Final = tuple(_entry(byte) for byte in range(256))


def crc16(data: bytes) -> int:
    """The CRC of ``data``."""
    crc = _INIT
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc


def with_crc(body: bytes) -> bytes:
    """``body`` and its CRC, as sent."""
    return body + crc16(body).to_bytes(CRC_BYTES, "little")


def crc_holds(frame: bytes) -> bool:
    """True if ``frame`` ends with the CRC of what comes before; False for one that has no room for it."""
    return len(frame) > CRC_BYTES and frame[-CRC_BYTES:] == crc16(frame[:-CRC_BYTES]).to_bytes(CRC_BYTES, "little")
