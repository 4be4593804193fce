"""The hash chain: SHA-256 over a fact, its frames and everything before it. Pure.

The chain has no key. It shows any change made without recomputing it; against someone who can rewrite the whole
file, keep an ``(n, hash)`` pair elsewhere and give it to ``verify``.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from controller.journal.records import FactRow, Frame

_MAGIC: Final = b"dealerd journal 1\n"
_NEXT: Final = b"dealerd journal next file 1\n"
_NUMBERS: Final = struct.Struct(">qqq")
_FRAME: Final = struct.Struct(">q32s")
# Read once: a chain is millions of links.
_sha256: Final = hashlib.sha256
_LENGTH: Final = struct.Struct(">I")
# No text is this long, so an absent text cannot be confused with an empty one.
_ABSENT: Final = b"\xff\xff\xff\xff"


def genesis(feed: str, table: str) -> bytes:
    """The hash that the first fact of this feed and table follows: a journal cannot pass for another's."""
    return hashlib.sha256(bytes(32) + _MAGIC + _text(feed) + _text(table)).digest()


def successor(previous: bytes, first_n: int, first_seq: int, snapshot: bytes) -> bytes:
    """The hash that the first fact of a next file follows: ``previous`` is the last of the file before it,
    ``snapshot`` the table's state between them."""
    numbers = _NUMBERS.pack(first_n, first_seq, len(snapshot))
    return hashlib.sha256(previous + _NEXT + numbers + hashlib.sha256(snapshot).digest()).digest()


def link(previous: bytes, fact: FactRow, frames: Sequence[Frame]) -> bytes:
    """The hash of ``fact`` with its ``frames`` after ``previous``.

    Every field is length-prefixed or of fixed size, so no two different inputs are the same bytes. Raises
    ``struct.error``, ``TypeError``, ``AttributeError`` or ``UnicodeError`` if a field is not storable.
    """
    n, epoch, at_ms, kind, shoe, round_, body = fact
    parts = [
        previous,
        _NUMBERS.pack(n, epoch, at_ms),
        _text(kind),
        _ABSENT if shoe is None else _text(shoe),
        _ABSENT if round_ is None else _text(round_),
        _LENGTH.pack(len(body)),
        body,
        _LENGTH.pack(len(frames)),
    ]
    for frame in frames:
        parts.append(_FRAME.pack(frame.seq, _sha256(frame.frame).digest()))
    return _sha256(b"".join(parts)).digest()


@lru_cache(maxsize=256)
def _text(text: str) -> bytes:
    """Facts that follow each other have the same type, shoe and round, again and again."""
    encoded = text.encode()
    return _LENGTH.pack(len(encoded)) + encoded
