"""Where a subscriber stands in a feed, and what it must ask to miss nothing. Pure: no sockets, no clock.

PUB loses messages by design: before the subscription arrived, past a full queue, over a reconnection. The cursor
takes whatever arrives and delivers each frame once and in order; ``want`` says what to ask the table meanwhile.
This is the "clone" pattern of the ZeroMQ guide (subscribe, snapshot, drop what is older) with pages in between.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from controller.bus.errors import FeedConflict, ProtocolError
from controller.bus.wire import FeedMessage, Snapshot

DIGESTS: Final = 4_096
"""Latest frames whose bytes are remembered (as a hash) to compare duplicates with."""
MAX_PENDING: Final = 20_000
"""Frames kept while an earlier one is missing; later ones are asked for when their turn comes."""
_LEFT_FEEDS: Final = 16


@dataclass(frozen=True, slots=True)
class Ask:
    """A question for the table: ``snapshot``, or ``since`` with the last ``seq`` that was delivered."""

    command: Literal["snapshot", "since"]
    after: int = 0


Item: TypeAlias = Snapshot | FeedMessage
"""A delivery: a frame to fold into the state, or a snapshot that replaces it."""


class FeedCursor:
    """Feed it messages and answers; each call returns what is to be delivered now, in order.

    Raises ``FeedConflict`` for two versions of one history, ``ProtocolError`` for answers that cannot be.
    """

    def __init__(self, *, digests: int = DIGESTS, max_pending: int = MAX_PENDING) -> None:
        self._max_digests = digests
        self._max_pending = max_pending
        self.feed: str | None = None
        self.epoch = 0
        self.last = 0
        """``seq`` of the last frame delivered, or of the snapshot."""
        self._need_snapshot = True
        self._left: list[str] = []
        # What has arrived and is not delivered; all of one feed, which may be newer than ``self.feed``.
        self._arriving: str | None = None
        self._pending: dict[int, FeedMessage] = {}
        self._digests: dict[int, bytes] = {}
        self._known = 0
        self._promised = 0

    @property
    def want(self) -> Ask | None:
        """What to ask now; None if nothing is missing. Keep one question in flight at a time."""
        if self._need_snapshot:
            return Ask("snapshot")
        if self._known > self.last:
            return Ask("since", self.last)
        return None

    def message(self, message: FeedMessage) -> list[FeedMessage]:
        """A message from the PUB."""
        if self._take(message) and not self._need_snapshot:
            return self._flush()
        return []

    def snapshot(self, snapshot: Snapshot) -> list[Item]:
        """The answer to ``snapshot``. The first delivery is the snapshot itself."""
        published = max(self.last, self._promised)
        if snapshot.feed == self.feed and snapshot.seq < published:
            raise FeedConflict(f"the table went back to seq {snapshot.seq}; it has published {published}")
        self._promised = 0
        if self.feed is not None and snapshot.feed != self.feed:
            # A feed's id never returns: what is still in the queue of the old one is past.
            self._left = [*self._left, self.feed][-_LEFT_FEEDS:]
        if snapshot.feed != self._arriving:
            self._start(snapshot.feed)
        self.feed, self.epoch, self.last = snapshot.feed, snapshot.epoch, snapshot.seq
        self._need_snapshot = False
        self._known = max(self._known, snapshot.seq)
        for seq in [seq for seq in self._pending if seq <= snapshot.seq]:
            del self._pending[seq]
        return [snapshot, *self._flush()]

    def page(self, ask: Ask, frames: Sequence[FeedMessage], more: bool) -> list[FeedMessage]:
        """The answer to ``ask``, a ``since``; ``more`` if the table has frames after these."""
        if self._need_snapshot:
            return []
        delivered: list[FeedMessage] = []
        for expected, frame in enumerate(frames, ask.after + 1):
            if frame.feed != self.feed:
                self._take(frame)
                return delivered
            if frame.seq != expected:
                raise ProtocolError(f"the table gave frame {frame.seq} where {expected} belongs")
            self._take(frame)
            delivered += self._flush()
        if more:
            self._known = max(self._known, ask.after + len(frames) + 1)
        if self.last == ask.after and self._known > self.last:
            # The table lacks what it has published: its journal is another now, or is broken. Its snapshot tells.
            self._promised, self._need_snapshot = self._known, True
        return delivered

    def too_old(self) -> None:
        """The table no longer has the frames after ``last``: start again from a snapshot."""
        self._need_snapshot = True

    def _take(self, message: FeedMessage) -> bool:
        """Note a message; True if it may complete a sequence."""
        if message.feed in self._left:
            return False
        if message.feed != self._arriving:
            self._start(message.feed)
            self._need_snapshot = True
        self._known = max(self._known, message.last_seq)
        if message.seq is None:
            return False
        past = not self._need_snapshot and message.seq <= self.last
        self._compare(message.seq, message.raw, remember=not past)
        if past:
            return False
        if len(self._pending) < self._max_pending or message.seq == self.last + 1:
            self._pending.setdefault(message.seq, message)
        return True

    def _start(self, feed: str) -> None:
        self._arriving = feed
        self._pending.clear()
        self._digests.clear()
        self._known = 0

    def _compare(self, seq: int, raw: bytes, *, remember: bool) -> None:
        digest = hashlib.blake2b(raw, digest_size=16).digest()
        if self._digests.get(seq, digest) != digest:
            raise FeedConflict(f"frame {seq} came twice with different content")
        if remember:
            self._digests[seq] = digest
            if len(self._digests) > self._max_digests:
                del self._digests[next(iter(self._digests))]

    def _flush(self) -> list[FeedMessage]:
        ready = []
        while (message := self._pending.pop(self.last + 1, None)) is not None:
            self.last += 1
            self.epoch = message.epoch
            ready.append(message)
        return ready
