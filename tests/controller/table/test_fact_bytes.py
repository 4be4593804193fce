"""Facts as the journal stores them: JSON, and long ones packed."""

from __future__ import annotations

import json
import zlib

import msgspec
import pytest

from controller import facts as f
from controller.book.rows import Bet


def batch(count: int) -> f.BetsAccepted:
    rows = tuple(Bet(f"p{n}", "main", 100, None, False, f"t{n}", 900) for n in range(count))
    return f.BetsAccepted(count=count, total=100 * count, rows=rows)


def test_short_facts_are_plain_json() -> None:
    body = f.encode_fact(batch(3))
    assert json.loads(body)["rows"][2] == {"player": "p2", "bet": "main", "stake": 100, "transaction": "t2",
                                           "available": 900}  # fmt: skip
    assert f.decode_fact(body) == batch(3)


def test_long_facts_are_packed() -> None:
    fact = batch(2_000)
    body = f.encode_fact(fact)
    assert len(body) < len(msgspec.json.encode(fact)) / 5
    assert json.loads(zlib.decompress(body))["count"] == 2_000
    assert f.decode_fact(body) == fact


BODY = f.encode_fact(batch(2_000))


@pytest.mark.parametrize(
    "body",
    [b"", b"\x78", BODY[:-1], BODY[:2000], BODY + b"x", BODY[:100] + bytes(10) + BODY[110:], zlib.compress(b"{}"),
     zlib.compress(bytes(f.LONGEST + 1))],
    ids=["empty", "head", "cut", "half", "more", "changed", "no fact", "bomb"],
)  # fmt: skip
def test_damaged_bodies_are_refused(body: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        f.decode_fact(body)
