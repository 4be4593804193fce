"""RFID readers that are asked again and again: when to ask, when an answer is late, what silence means. No I/O.

One request is under way at a time. A reader that gives no inventory for ``SILENT_S`` is lost, as an unplugged one is:
off, another speed, another address, or telling an error each time.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import deque
from typing import Final, NamedTuple

from drivers.decoder import IDLE_S, Decoded, Decoder
from drivers.errors import DeviceSilent
from drivers.events import Gap
from drivers.framing import CheckedFrames, Cut
from drivers.mouth import Mouth, Sighting

# A card is in reach for 0.1 to 0.3 s: it must meet an answer or two. Not measured on an installation.
POLL_S: Final = 0.05
# An inventory of a few tags and its 29 bytes at 19200 baud take less.
ANSWER_S: Final = 0.2
# A frame's bytes follow each other; a device server may hold some of them back.
STALL_S: Final = 0.15
# So long without an inventory, a card can have come and gone.
BLIND_S: Final = 0.5
SILENT_S: Final = 2.0

_SOON_S: Final = 0.001


class Trouble(NamedTuple):
    """The reader answers that it cannot take stock: why, and what to send it first."""

    text: str
    remedy: tuple[bytes, ...] = ()


class PolledTags(Decoder):
    """Asks, and turns inventories into events. A subclass knows the reader's frames."""

    def __init__(self, frames: CheckedFrames, mouth: Mouth, poll_s: float = POLL_S) -> None:
        super().__init__()
        self.poll_s = _SOON_S
        self._frames = frames
        self._mouth = mouth
        self._interval_s = poll_s
        self._stall_s = STALL_S if mouth.timed else math.inf
        self._blind_s = BLIND_S if mouth.timed else math.inf
        self._new_shoe: frozenset[str] | None = None
        self._byte_at = 0.0
        self._start: float | None = None
        self._result_at: float | None = None
        self._asked_at: float | None = None
        self._asked_anew = False
        self._ask_at = 0.0
        self._first: deque[bytes] = deque(self.set_up())
        self._trouble = ""

    @abstractmethod
    def set_up(self) -> list[bytes]:
        """Requests that make the reader ready, each to be answered before the next."""

    @abstractmethod
    def inventory(self) -> bytes:
        """The request for all tags in the field."""

    @abstractmethod
    def interpret(self, raw: bytes) -> Sighting | Trouble | None:
        """What a frame whose check holds says; None for what is neither an inventory nor an error of one."""

    @property
    def alive(self) -> bool:
        """See ``Decoder.alive``: an inventory was answered."""
        return self._result_at is not None

    def new_shoe(self, gone: frozenset[str] = frozenset()) -> None:
        """Other cards are in the shoe, of which ``gone`` have left it. From any thread; counts from the next answer
        on."""
        self._new_shoe = gone

    def decode(self, data: bytes, now: float) -> list[Decoded]:
        """See ``Decoder.decode``."""
        out = self.idle(now) if data else []
        if data and self._asked_anew:  # what was pending belongs to an answer before this one
            self._asked_anew = False
            out += self._take(self._frames.stalled(), now)
        out += self._take(self._frames.feed(data), now)
        if data:
            self._byte_at = now
        return out

    def idle(self, now: float) -> list[Decoded]:
        """See ``Decoder.idle``: what stopped in its middle is no frame."""
        if self._frames.pending and now - self._byte_at > self._stall_s:
            return self._take(self._frames.stalled(), now)
        return []

    def flush(self, now: float) -> list[Decoded]:  # noqa: ARG002  (an unread card has left, whenever)
        """See ``Decoder.flush``."""
        self._frames.drop()
        self.stats.junk_bytes = self._frames.junk_bytes
        return [Decoded(event, b"") for event in self._mouth.end()]

    def reopened(self) -> None:
        """See ``Decoder.reopened``: set up again; a card that lies at the mouth stays the card it was."""
        self._frames.drop()
        self._mouth.interrupted()
        self._start = self._result_at = self._asked_at = None
        self._ask_at = 0.0
        self._first = deque(self.set_up())
        self._trouble = ""

    def outgoing(self, now: float) -> bytes:
        """See ``Decoder.outgoing``: the next request, when it is due."""
        if self._start is None:
            self._start = now
        if self._asked_at is not None and now - self._asked_at >= ANSWER_S:
            self._asked_at = None
        heard_at = self._start if self._result_at is None else self._result_at
        if now - heard_at > SILENT_S:
            raise DeviceSilent(
                f"the reader gives no inventory ({self._trouble or 'it does not answer'}): check its power, speed, "
                "parity, address and the form of its frames"
            )
        request = b""
        if self._asked_at is None and (self._first or now >= self._ask_at):
            request = self._first.popleft() if self._first else self.inventory()
            self._asked_at, self._asked_anew = now, True
            self._ask_at = now + self._interval_s
        due = self._ask_at if self._asked_at is None else self._asked_at + ANSWER_S
        self.poll_s = min(max(due - now, _SOON_S), IDLE_S)
        return request

    def _take(self, cuts: list[Cut], now: float) -> list[Decoded]:
        out: list[Decoded] = []
        for cut in cuts:
            self.stats.frames += 1
            self._asked_at = None
            if not cut.holds:
                self.stats.bad_checksum += 1
                continue
            self.stats.accepted += 1
            out += self._said(cut.raw, now)
        self.stats.junk_bytes = self._frames.junk_bytes
        return out

    def _said(self, raw: bytes, now: float) -> list[Decoded]:
        said = self.interpret(raw)
        if isinstance(said, Trouble):
            self._trouble = said.text
            if not self._first:
                self._first.extend(said.remedy)
        if not isinstance(said, Sighting):
            return []
        gone, self._new_shoe = self._new_shoe, None
        if gone is not None:
            self._mouth.new_shoe(gone)
        out = []
        blind_s = 0.0 if self._result_at is None or self._start is None else now - self._result_at
        self._result_at = now
        if blind_s > self._blind_s:
            self.stats.gaps += 1
            out.append(Decoded(Gap("an inventory", f"the next one {blind_s:.1f} s later"), raw))
        return out + [Decoded(event, raw) for event in self._mouth.see(said, now)]
