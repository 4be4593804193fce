"""The form of a published fact: one JSON object (design page 6)."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

import msgspec

from controller.facts import Record

SCHEMA: Final = 1
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(dict[str, Any])


class _Frame(msgspec.Struct):
    """The fields of a frame, in their order."""

    schema: int
    feed: str
    table: str
    epoch: int
    seq: int
    time: str
    type: str
    shoe: str | None
    round: str | None
    round_in_shoe: int | None
    version: int
    data: msgspec.Raw


def iso_ms(at_ms: int) -> str:
    """Milliseconds since 1970 as ISO 8601 UTC with milliseconds."""
    return f"{_iso_second(at_ms // 1000)}.{at_ms % 1000:03d}Z"


@lru_cache(maxsize=4)
def _iso_second(at_s: int) -> str:
    """Formatted once a second, not once a frame."""
    day, second = divmod(at_s, 86_400)
    minute, second = divmod(second, 60)
    return f"{_iso_day(day)}T{minute // 60:02d}:{minute % 60:02d}:{second:02d}"


@lru_cache(maxsize=4)
def _iso_day(day: int) -> str:
    return datetime.fromtimestamp(day * 86_400, UTC).strftime("%Y-%m-%d")


def frame_bytes(record: Record, *, feed: str, table: str, epoch: int, at_ms: int) -> bytes:
    """The exact bytes of a public record's frame. ``at_ms``: wall clock, milliseconds since 1970."""
    assert record.seq is not None
    fact, shoe = record.fact, record.shoe
    return _encoder.encode(
        _Frame(
            SCHEMA,
            feed,
            table,
            epoch,
            record.seq,
            iso_ms(at_ms),
            fact.type,
            shoe,
            record.round,
            record.round_in_shoe,
            record.version,
            msgspec.Raw(fact.public_json()),
        )
    )


def heartbeat_bytes(*, feed: str, table: str, epoch: int, last_seq: int, at_ms: int) -> bytes:
    """The idle message: not a fact, no seq of its own."""
    return _encoder.encode(
        {
            "schema": SCHEMA,
            "feed": feed,
            "table": table,
            "epoch": epoch,
            "time": iso_ms(at_ms),
            "type": "heartbeat",
            "data": {"last_seq": last_seq},
        }
    )


def decode_frame(body: bytes) -> dict[str, Any]:
    """One frame as an object. Raises ``msgspec.DecodeError`` for anything else."""
    return _decoder.decode(body)
