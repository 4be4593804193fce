"""Frames that say their length first and end with a check: cut out of a stream that may hold anything. Pure.

Such a stream has no byte that always starts a frame, so a start is what looks like one and whose check holds. After
a wrong check only one byte is given up: the next frame may begin inside what a damaged length had claimed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

# Answers of size functions besides a size.
NO_FRAME: Final = 0
TELL_LATER: Final = -1


class Cut(NamedTuple):
    """A whole frame, or what looked like one; ``holds`` tells whether its check does."""

    raw: bytes
    holds: bool


class CheckedFrames:
    """Cuts a stream into frames.

    ``size_of`` gets the bytes from a possible start on and returns the size of the whole frame, ``NO_FRAME`` if none
    starts so, or ``TELL_LATER`` if that takes more bytes; ``holds`` checks a whole frame. Every byte is in a frame
    whose check holds, in ``junk_bytes`` or in ``pending``, which is never longer than the longest frame.
    """

    def __init__(self, size_of: Callable[[bytes], int], holds: Callable[[bytes], bool]) -> None:
        self.junk_bytes = 0
        self._size_of = size_of
        self._holds = holds
        self._buffer = b""

    @property
    def pending(self) -> bytes:
        """The beginning of a frame that has not ended yet."""
        return self._buffer

    def feed(self, data: bytes) -> list[Cut]:
        """The frames that ``data`` completes, good and bad."""
        cuts: list[Cut] = []
        buffer, at = self._buffer + data, 0
        while at < len(buffer):
            size = self._size_of(buffer[at : at + _HEAD_BYTES])
            if size == TELL_LATER or (size != NO_FRAME and at + size > len(buffer)):
                break
            if size != NO_FRAME:
                raw = buffer[at : at + size]
                cuts.append(Cut(raw, self._holds(raw)))
                if cuts[-1].holds:
                    at += size
                    continue
            self.junk_bytes += 1
            at += 1
        self._buffer = buffer[at:]
        return cuts

    def stalled(self) -> list[Cut]:
        """The pending frame will not go on: give up its start, and return what frames its rest holds."""
        cuts: list[Cut] = []
        while self._buffer:
            rest, self._buffer = self._buffer[1:], b""
            self.junk_bytes += 1
            cuts += self.feed(rest)
        return cuts

    def drop(self) -> None:
        """Count the pending bytes as junk."""
        self.junk_bytes += len(self._buffer)
        self._buffer = b""


# No size function looks at more.
_HEAD_BYTES: Final = 6
