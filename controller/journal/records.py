"""What the journal stores: encoded facts, frames and command replies. It knows nothing of their meaning."""

from __future__ import annotations

from typing import NamedTuple


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
