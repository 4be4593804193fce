"""What the journal stores: encoded facts, frames and command replies. It knows nothing of their meaning."""

from __future__ import annotations

from typing import Any, NamedTuple


class FactRow(NamedTuple):
    """One fact. ``n`` is dense from 1; ``at_ms`` is UTC in milliseconds; ``body`` is for the caller
    to read and may hold secrets."""

    n: int
    epoch: int
    at_ms: int
    type: str
    shoe: str | None
    round: str | None
    body: bytes


class Frame(NamedTuple):
    """The exact bytes published for fact ``n``. ``seq`` is dense from 1."""

    seq: int
    n: int
    frame: bytes


class CommandRecord(NamedTuple):
    """An answered command: its id, the digest of its content, the reply as sent, UTC in milliseconds."""

    id: str
    digest: bytes
    reply: bytes
    at_ms: int


class Head(NamedTuple):
    """Where a file begins: ``created_ms`` in UTC; its first fact and frame, above 1 if it continues another file;
    then ``snapshot`` is the table's state before them, as the service froze it."""

    created_ms: int
    first_n: int
    first_seq: int
    snapshot: bytes | None

    @classmethod
    def of(cls, meta: dict[str, Any]) -> Head:
        """Of what ``schema.read_meta`` returned."""
        return cls(meta["created_ms"], meta["first_n"], meta["first_seq"], meta.get("snapshot"))
