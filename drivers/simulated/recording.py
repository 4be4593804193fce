"""A captured byte stream, played back in portions of one card. Bytes and their order are the recording's.

A recording with times is played with the pauses it had between the reads of one portion; between portions the dealer
decides. Not simulated: the times of a capture that holds none; that one copy of a telegram waited for the next; what
the host sent, and where the line was lost.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import ClassVar, Final

from controller.cards import HIDDEN
from drivers.angel.codec import FrameReader
from drivers.angel.frames import check
from drivers.line.codec import TERMINATORS
from drivers.recording import Entry
from drivers.simulated.device import Device, split
from drivers.simulated.faults import Fault
from drivers.simulated.steps import Entry as LogEntry
from drivers.simulated.steps import Outcome, Refused, Send, Step, Unplug, wire_of

CHUNK_S: Final = 0.05
# A night between two reads is not waited for again.
MAX_PAUSE_S: Final = 10.0
_CARD_LETTERS: Final = b"DR"


class Recording:
    """Chunks as they were read, when if ``times`` (seconds, one a chunk) tell, and where each card begins."""

    def __init__(self, protocol: str, chunks: list[bytes], times: list[float] | None = None) -> None:
        stream = b"".join(chunks)
        self.cards = _telegram_starts(stream) if protocol == "angel" else _line_starts(stream)
        self.size = len(stream)
        self._stream = stream
        self._ends: list[int] = []
        for chunk in chunks:
            self._ends.append(len(chunk) + (self._ends[-1] if self._ends else 0))
        self._pauses = [CHUNK_S] * len(chunks)
        if times is not None:
            self._pauses = [0.0] + [min(max(0.0, after - before), MAX_PAUSE_S) for before, after in pairwise(times)]

    @classmethod
    def of(cls, protocol: str, entries: list[Entry]) -> Recording:
        """What a driver recorded, or a capture without times. Raises ``ValueError`` if nothing was received."""
        reads = [entry for entry in entries if entry.kind == "rx" and entry.data]
        if not reads:
            raise ValueError("nothing in it: no bytes were received")
        times = [entry.at_s for entry in reads if entry.at_s is not None]
        return cls(protocol, [entry.data for entry in reads], times if len(times) == len(reads) else None)

    def pause(self, position: int) -> float:
        """How long the chunk at ``position`` came after the one before it."""
        return self._pauses[bisect_left(self._ends, position + 1)]

    def portion(self, position: int) -> int:
        """Where a draw at ``position`` stops: it brings one card, and all that follows up to the next one."""
        nth = bisect_left(self.cards, position)
        return self.cards[nth + 1] if nth + 1 < len(self.cards) else self.size

    def draws_left(self, position: int) -> int:
        """How many draws there are from ``position`` on; bytes after the last card are a draw, too."""
        cards = len(self.cards) - bisect_left(self.cards, position)
        return cards or int(position < self.size)

    def after_chunks(self, position: int, count: int) -> int:
        """Where ``count`` chunks from ``position`` end; what is left of a chunk counts as one."""
        nth = bisect_left(self._ends, position + 1) + count - 1
        return self._ends[min(nth, len(self._ends) - 1)]

    def chunks(self, start: int, stop: int) -> list[bytes]:
        """The bytes from ``start`` to ``stop``, cut as they were recorded."""
        out = []
        for end in self._ends[bisect_left(self._ends, start + 1) :]:
            if start >= stop:
                break
            out.append(self._stream[start : min(end, stop)])
            start = end
        return out


def _telegram_starts(stream: bytes) -> list[int]:
    """Offsets of the first good copies of the telegrams that bring a card (``D``, ``R``)."""
    reader = FrameReader()
    last = b""
    starts = []
    for end, byte in enumerate(stream, 1):
        for frame in reader.feed(bytes((byte,))):
            if not check(frame) or frame == last:
                continue
            last = frame
            if frame[2] in _CARD_LETTERS:
                starts.append(end - len(frame))
    return starts


def _line_starts(stream: bytes) -> list[int]:
    """Offsets of the lines that are not empty."""
    return [
        place
        for place, byte in enumerate(stream)
        if byte not in TERMINATORS and (place == 0 or stream[place - 1] in TERMINATORS)
    ]


class ReplayDevice(Device):
    """Plays a recording. It looks at no face and obeys no rule."""

    protocol: ClassVar[str] = "replay"

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._position = 0
        self._drawn = 0
        self._felt = 0

    @property
    def takes_fault(self) -> bool:
        """See ``Device.takes_fault``."""
        return self._position < self._recording.size

    def draw(self, fault: Fault | None) -> Outcome:
        """See ``Device.draw``: one card of the recording and what follows it."""
        left = self._recording.draws_left(self._position)
        if not left:
            raise Refused("the recording has ended")
        steps, wire = self._advance(self._recording.portion(self._position))
        match fault:
            case Fault("split"):
                steps = split(steps)
            case Fault("unplug"):
                steps = [Unplug(fault.seconds), *steps]
        entry = LogEntry(1, self._drawn, "recorded", HIDDEN, wire, fault.name if fault else None)
        self._drawn += 1
        self._felt += 1
        return Outcome({"ok": True, "left": left - 1}, steps, [entry])

    def play(self, count: int) -> Outcome:
        """See ``Device.play``."""
        if count < 1:
            raise Refused("play at least one chunk")
        if self._position == self._recording.size:
            raise Refused("the recording has ended")
        steps, _ = self._advance(self._recording.after_chunks(self._position, count))
        left = self._recording.draws_left(self._position)
        return Outcome({"ok": True, "left": left, "chunks": len(steps)}, steps, [])

    def collect(self) -> Outcome:
        """See ``Device.collect``."""
        count, self._felt = self._felt, 0
        return Outcome({"ok": True, "count": count}, [], [])

    def felt_count(self) -> int:
        """See ``Device.felt_count``: draws since the last ``collect``."""
        return self._felt

    def status(self) -> dict[str, object]:
        """See ``Device.status``."""
        left = self._recording.draws_left(self._position)
        return {"left": left, "drawn": self._drawn, "shoe": 1, "felt": self._felt}

    def _advance(self, stop: int) -> tuple[list[Step], bytes]:
        steps: list[Step] = []
        for chunk in self._recording.chunks(self._position, stop):
            steps.append(Send(chunk, self._recording.pause(self._position) if steps else 0.0))
            self._position += len(chunk)
        return steps, wire_of(steps)
