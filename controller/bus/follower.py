"""What both clients do with the feed between their sockets and their user: cursor, state and liveness. No I/O."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from controller.bus import wire
from controller.bus.errors import CommandRefused
from controller.bus.feed_cursor import Ask, FeedCursor, Item
from controller.bus.wire import Frame, Reply, Snapshot

Fold: TypeAlias = Callable[[Any, Frame], Any]
"""(state, frame) → state after the frame. The first state is a snapshot's ``state``, as JSON."""
OnSnapshot: TypeAlias = Callable[[Snapshot], None]

STALE_AFTER: Final = 3
"""Heartbeats that may be missed before a feed counts as stale."""


class Follower:
    """The feed as its user sees it. Times are seconds of the monotonic clock.

    ``state`` is that of the last frame popped (without ``fold``: of the last snapshot). ``on_snapshot`` is called
    in order with the frames whenever a snapshot replaces the state; the first is the start, a later one means
    that frames were skipped because the table no longer has them, or that its journal is another.
    """

    def __init__(
        self, now: float, fold: Fold | None, on_snapshot: OnSnapshot | None, stale_after: int = STALE_AFTER
    ) -> None:
        self.cursor = FeedCursor()
        self.state: Any = None
        self.seq = 0
        self.snapshots = 0
        self._heard_at = now
        self._stale_s = stale_after * wire.HEARTBEAT_S
        self._fold = fold
        self._on_snapshot = on_snapshot
        self._ready: deque[Item] = deque()

    def received(self, raw: bytes, now: float) -> None:
        """A message from the feed."""
        self._heard_at = now
        self._ready += self.cursor.message(wire.decode_message(raw))

    def answered(self, ask: Ask, outcome: Reply | CommandRefused) -> None:
        """The table's answer to ``ask``. Raises a refusal that is not the cursor's to handle."""
        if isinstance(outcome, CommandRefused):
            if ask.command == "since" and outcome.code == "too_old":
                self.cursor.too_old()
                return
            raise outcome
        if ask.command == "snapshot":
            self._ready += self.cursor.snapshot(wire.decode_snapshot(outcome))
        else:
            self._ready += self.cursor.page(ask, *wire.decode_page(outcome))

    def pop(self) -> Frame | None:
        """The next frame, folded into ``state``; None if there is none yet."""
        while self._ready:
            item = self._ready.popleft()
            if isinstance(item, Snapshot):
                self.state, self.seq = item.state, item.seq
                self.snapshots += 1
                if self._on_snapshot is not None:
                    self._on_snapshot(item)
                continue
            if self._fold is not None:
                self.state = self._fold(self.state, item.frame)
            self.seq = item.last_seq
            return item.frame
        return None

    def age_s(self, now: float) -> float:
        """Seconds since the feed was last heard."""
        return now - self._heard_at

    def is_stale(self, now: float) -> bool:
        """True when more heartbeats are missing than the network explains."""
        return self.age_s(now) > self._stale_s


def encode_ask(ask: Ask) -> tuple[str, bytes]:
    """(id, body) of the command that asks."""
    return wire.encode_command(ask.command, {"seq": ask.after} if ask.command == "since" else {})
