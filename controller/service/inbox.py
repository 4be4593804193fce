"""Readings on their way from a driver's thread to the actor: in order, and never without bound."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from drivers.events import Gap
from drivers.shoe import Reading

#: A shoe holds 416 cards; whoever sends more than this while the table is busy is babbling.
LIMIT: Final = 10_000


class Inbox:
    """``put`` is for the drivers' threads; the rest is the actor's.

    Beyond ``LIMIT`` readings are dropped, and the drop is told in their place as a gap: what followed is not proven.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._waiting: deque[Reading] = deque()
        self._dropped = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def put(self, readings: Sequence[Reading]) -> None:
        """Take readings in. Never blocks."""
        for reading in readings:
            if self._dropped:
                # Only the actor empties the queue; until it has, order is lost anyway.
                if self._waiting:
                    self._dropped += 1
                    continue
                self._dropped = 0
            if len(self._waiting) >= self._limit:
                self._dropped = 1
                self._waiting.append(reading._replace(event=Gap("inbox", "full")))
                continue
            self._waiting.append(reading)

    def first(self) -> Reading:
        """The reading that is next; it stays until ``done``."""
        return self._waiting[0]

    def done(self) -> None:
        """The first reading is durable."""
        self._waiting.popleft()
