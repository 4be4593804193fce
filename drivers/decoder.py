"""What every protocol's decoder looks like: bytes and their time in, events and bytes out. No I/O, no clock.

A protocol that answers its device (an acknowledgement) or asks it (a poll, a command) overrides ``outgoing``; the
reader thread of ``drivers.shoe`` writes what it returns. A protocol that only listens leaves it alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final, NamedTuple

import msgspec

from drivers.events import Event

# How often a decoder may look at the clock while nothing arrives, unless it asks for more.
IDLE_S: Final = 0.2


class Decoded(NamedTuple):
    """An event with the bytes of the message that told it (the first accepted copy, without line ends)."""

    event: Event
    raw: bytes


class DecoderStats(msgspec.Struct):
    """Counters since the decoder was made. ``frames`` = ``accepted`` + ``duplicates`` + ``bad_checksum``."""

    frames: int = 0
    accepted: int = 0
    duplicates: int = 0
    bad_checksum: int = 0
    junk_bytes: int = 0
    gaps: int = 0


class Decoder(ABC):
    """Turns a byte stream into events. ``now`` is monotonic seconds of the read that brought the bytes.

    No method raises for any bytes whatever. How the stream was cut into reads makes no difference. One thread
    calls all of them.
    """

    poll_s: float = IDLE_S
    """``idle`` is called this often while nothing arrives, and ``outgoing`` after it: the longest a poll or a
    time-out waits for its turn. Asked anew after every read, so it may change."""

    def __init__(self) -> None:
        self.stats = DecoderStats()

    @property
    def alive(self) -> bool:
        """The device is known to be there since ``reopened``. Always, for one that is only listened to: its silence
        means nothing. One that is asked must have answered."""
        return True

    @abstractmethod
    def decode(self, data: bytes, now: float) -> list[Decoded]:
        """The events that ``data`` completes, in the order of the bytes."""

    def feed(self, data: bytes, now: float) -> list[Event]:
        """``decode`` without the raw bytes."""
        return [decoded.event for decoded in self.decode(data, now)]

    @abstractmethod
    def idle(self, now: float) -> list[Decoded]:
        """Call a few times a second while nothing arrives: reports a message that stopped in its middle."""

    @abstractmethod
    def flush(self, now: float) -> list[Decoded]:
        """The stream ended (line lost, stop, end of a capture): reports and forgets an unended message."""

    @abstractmethod
    def reopened(self) -> None:
        """The line was opened (the first time, too): forget what does not outlive an interruption; keep sequence
        numbers. What the device must be told at the start is left for ``outgoing``."""

    def outgoing(self, now: float) -> bytes:  # noqa: ARG002
        """What the device is to be sent now, each byte returned once; empty for nothing.

        Called after ``reopened`` and after each ``decode`` and ``idle``, once what they returned was handed on: an
        acknowledgement sent from here is for events that the table has. Bytes that cannot be written are not asked
        for again: the line counts as lost, and ``reopened`` comes next. Raises ``DeviceSilent`` if the device ought
        to have answered by now.
        """
        return b""


def escape(raw: bytes) -> str:
    r"""``raw`` as printable ASCII, everything else as ``\xNN`` and the like."""
    return raw.decode("latin-1").encode("unicode_escape").decode("ascii")
