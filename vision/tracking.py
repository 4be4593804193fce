"""From the quads of one frame after another to what lies on the table: one answer for each card that was laid down.

Pure: what was located in a frame, with the frame's time, goes in; sightings come out. A quad is followed as a track;
it is read only once it lies still, ``votes`` readings must agree and none may name another card. What nobody can
read is told as unknown (``??``) with its reason, and read on. A card that a hand covers stays; it is gone when the
felt under it is bare. A card that was covered, moved or turned is read anew, and told again only if it changed.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from controller.cards import HIDDEN
from vision.geometry import Points, overlap
from vision.layout import Layout, Places

UNKNOWN: Final = "??"
Quad = NDArray[np.float64]


class Reading(Protocol):
    """What a recogniser says of one quad: ``kind`` is ``card``, ``back`` or ``unknown``."""

    @property
    def kind(self) -> str:
        """``card``, ``back`` or ``unknown``."""

    @property
    def card(self) -> str | None:
        """The face, of a card."""

    @property
    def reason(self) -> str:
        """Why it is unknown."""


Read = Callable[[Quad], Reading]
#: True if what shows where a quad (px) lay is felt; False if a hand, a card or anything else is there.
Bare = Callable[[Quad], bool]


@dataclass(frozen=True, slots=True)
class Sighting:
    """Something about one position changed. ``card``: a face, ``**`` a back, ``??`` unreadable, None taken away.
    ``since`` is when it came to lie (or was first missed), in the time of the frames; ``track`` numbers the card."""

    position: str
    card: str | None
    since: float
    track: int
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracking:
    """How patient the tracker is: millimetres, seconds, frames."""

    #: A card that moves less than this between two frames lies still.
    still_mm: float = 3.0
    still_frames: int = 3
    still_s: float = 0.08
    #: A slow camera shows a card still after two frames so far apart.
    still_slow_s: float = 0.3
    #: Farther than this from one frame to the next it is another card.
    reach_mm: float = 60.0
    votes: int = 3
    #: Readings of one card that are remembered; two names among them are a disagreement.
    memory: int = 8
    #: Lying still and unreadable for this long is told as unknown.
    unknown_s: float = 1.0
    #: Bare felt for this long, in so many frames: the card is gone.
    gone_s: float = 0.4
    gone_frames: int = 3
    #: Cards that came to lie earlier and are still being read are waited for this long, for the order's sake.
    order_s: float = 0.6
    #: A card told is read again this often, to notice what nobody saw happen.
    recheck_s: float = 1.0
    #: So many rechecks in a row that read nothing are more than a passing shadow.
    doubts: int = 5
    #: Between two frames at most this long, else everything is looked at anew.
    gap_s: float = 3.0


@dataclass(slots=True)
class Track:
    """One card from frame to frame."""

    number: int
    quad: Quad
    middle: Points
    still_since: float
    seen_at: float
    still_frames: int = 1
    missing_since: float | None = None
    bare_since: float | None = None
    bare_frames: int = 0
    readings: deque[tuple[str, str]] = field(default_factory=deque)
    answer: str | None = None
    doubts: int = 0
    read_at: float = -1e9
    #: What was told of it, and where: (position, card), and the quad it had then.
    told: tuple[str, str] | None = None
    place: Quad | None = None

    @property
    def settling(self) -> bool:
        """Not yet answered since it came to lie."""
        return self.answer is None


#: True if a track answered already looks as it did when it was last read.
Same = Callable[[Track], bool]


class Tracker:
    """Follows the cards of one table. Not for several threads."""

    def __init__(self, layout: Layout, tracking: Tracking | None = None) -> None:
        self.layout = layout
        self.settings = tracking or Tracking()
        self.tracks: list[Track] = []
        self._geometry = layout.geometry()
        self._places = Places(layout)
        self._numbers = 0
        self._last: float | None = None
        self._rechecked = False

    def observe(
        self, now: float, quads: Sequence[Quad], read: Read, bare: Bare, same: Same = lambda _: False
    ) -> list[Sighting]:
        """One frame, taken at ``now`` (s, never going back), with the quads (4 x 2, px) located in it. ``read`` is
        called for the quads that need it, of those answered already only where ``same`` does not say that they look
        as they did. Returns what changed, in order of appearance."""
        if self._last is not None and now - self._last > self.settings.gap_s:
            for track in self.tracks:
                self._unsettle(track, now)
        self._last = now
        self._associate(now, quads)
        self._rechecked = False
        for track in sorted(self.tracks, key=lambda track: track.read_at):
            if track.missing_since is None and self._is_still(track, now):
                self._vote(track, now, read, same)
        return self._gone(now, bare) + self._answers(now)

    def lying(self) -> list[Sighting]:
        """Everything told and not gone, in order of appearance, as ``observe`` told it."""
        told = [(track, track.told) for track in self.tracks if track.told is not None]
        found = [Sighting(told[0], told[1], track.still_since, track.number) for track, told in told]
        return sorted(found, key=lambda sighting: sighting.since)

    # --- following -----------------------------------------------------------------------------------------

    def _associate(self, now: float, quads: Sequence[Quad]) -> None:
        """Nearest pairs first; what no track wants begins one, a track that gets none is missing."""
        shapes = [np.asarray(quad, np.float64).reshape(4, 2) for quad in quads]
        middles = [self._geometry.to_mm(shape).mean(axis=0) for shape in shapes]
        pairs = sorted(
            (float(np.hypot(*(track.middle - middle))), i, j)
            for i, track in enumerate(self.tracks)
            for j, middle in enumerate(middles)
        )
        tracks, free = set(range(len(self.tracks))), set(range(len(shapes)))
        for distance, i, j in pairs:
            if distance > self.settings.reach_mm:
                break
            if i in tracks and j in free:
                tracks.discard(i)
                free.discard(j)
                self._follow(self.tracks[i], now, shapes[j], middles[j], distance)
        for i in tracks:
            if self.tracks[i].missing_since is None:
                self.tracks[i].missing_since = now
        for j in sorted(free):
            self._numbers += 1
            self.tracks.append(Track(self._numbers, shapes[j], middles[j], now, now))

    def _follow(self, track: Track, now: float, quad: Quad, middle: Points, distance: float) -> None:
        moved = distance > self.settings.still_mm or overlap(track.quad, quad) < 0.8
        back = track.missing_since is not None and now - track.missing_since > self.settings.still_s
        track.quad, track.middle, track.seen_at = quad, middle, now
        track.missing_since = track.bare_since = None
        if moved or back:
            self._unsettle(track, now)
        else:
            track.still_frames += 1

    def _unsettle(self, track: Track, now: float) -> None:
        track.still_since, track.still_frames = now, 1
        track.answer = None
        track.readings.clear()

    def _is_still(self, track: Track, now: float) -> bool:
        wanted = self.settings
        still_s = now - track.still_since + 1e-6  # times of frames are no exact multiples of their distance
        if track.still_frames < wanted.still_frames:
            return track.still_frames >= 2 and still_s >= wanted.still_slow_s
        return still_s >= wanted.still_s

    # --- reading -------------------------------------------------------------------------------------------

    def _vote(self, track: Track, now: float, read: Read, same: Same) -> None:
        """Read if it is this track's turn, and answer if the readings allow it."""
        if not track.settling and track.answer != UNKNOWN:
            if self._rechecked or now - track.read_at < self.settings.recheck_s:
                return
            if same(track):
                track.read_at = now
                return
            self._rechecked = True  # one a frame, the longest unread first: a full table must not hold up a frame
        track.read_at = now
        reading = read(track.quad)
        named = HIDDEN if reading.kind == "back" else reading.card if reading.kind == "card" else None
        if track.answer is not None and track.answer != UNKNOWN:
            track.doubts = track.doubts + 1 if named is None else 0
            if named == track.answer or (named is None and track.doubts < self.settings.doubts):
                return  # what was read once is not forgotten for a passing shadow
            track.answer = None  # it changed under our eyes: what it is now must win the votes again
            track.still_since, track.doubts = now, 0
            track.readings.clear()
        track.readings.append((named or UNKNOWN, reading.reason))
        while len(track.readings) > self.settings.memory:
            track.readings.popleft()
        self._decide(track, now)

    def _decide(self, track: Track, now: float) -> None:
        names = Counter(name for name, _ in track.readings if name != UNKNOWN)
        if len(names) == 1:
            name, count = names.most_common(1)[0]
            if count >= self.settings.votes:
                track.answer = name
                return
        tried_enough = len(track.readings) >= min(2 * self.settings.votes, self.settings.memory)
        if tried_enough and now - track.still_since >= self.settings.unknown_s:
            track.answer = UNKNOWN
            # An unreadable card is read on at every frame: glare goes, hands go.
            track.read_at = now - self.settings.recheck_s

    # --- telling -------------------------------------------------------------------------------------------

    def _answers(self, now: float) -> list[Sighting]:
        found = []
        undecided = [t.still_since for t in self.tracks if t.settling and self._holds_order(t, now)]
        for track in sorted(self.tracks, key=lambda track: track.still_since):
            if track.answer is None or track.missing_since is not None:
                continue
            if any(since < track.still_since for since in undecided):
                continue
            position = self._places.at(track.middle)
            told = (position, track.answer) if position is not None else None
            if told == track.told:
                continue
            if track.told is not None and track.told[0] != position:
                found += self._left(track, track.told[0], now)
            track.told, track.place = told, track.quad
            if told is not None:
                reason = self._reason(track) if track.answer == UNKNOWN else ""
                found.append(Sighting(told[0], told[1], track.still_since, track.number, reason))
        return found

    def _holds_order(self, track: Track, now: float) -> bool:
        """``track`` lies at a position, nothing was told of it yet, and it may still be named soon."""
        return (
            track.told is None
            and track.missing_since is None
            and self._is_still(track, now)
            and now - track.still_since < self.settings.order_s
            and self._places.at(track.middle) is not None
        )

    def _reason(self, track: Track) -> str:
        names = {name for name, _ in track.readings if name != UNKNOWN}
        if len(names) > 1:
            return "the readings disagree"
        reasons = Counter(reason for name, reason in track.readings if name == UNKNOWN and reason)
        return reasons.most_common(1)[0][0] if reasons else "not read often enough"

    def _gone(self, now: float, bare: Bare) -> list[Sighting]:
        """Missing tracks whose place is felt again, or taken by another card that lies still."""
        found: list[Sighting] = []
        for track in [t for t in self.tracks if t.missing_since is not None]:
            heir = self._heir(track, now)
            if heir is None and not self._is_away(track, now, bare):
                continue
            self.tracks.remove(track)
            if track.told is None:
                continue
            if heir is not None and heir.told is None and self._places.at(heir.middle) == track.told[0]:
                heir.told, heir.place = track.told, track.place  # told again if it is another card
            else:
                found += self._left(track, track.told[0], now)
        return found

    def _is_away(self, track: Track, now: float, bare: Bare) -> bool:
        """A missing track that is not only covered."""
        if track.told is None:  # nobody heard of it: nothing to take back
            return track.missing_since is not None and now - track.missing_since > self.settings.gone_s
        if not bare(track.quad if track.place is None else track.place):
            track.bare_since = None
            return False
        if track.bare_since is None:
            track.bare_since, track.bare_frames = now, 0
        track.bare_frames += 1
        long_enough = now - track.bare_since >= self.settings.gone_s
        return long_enough and track.bare_frames >= self.settings.gone_frames

    def _heir(self, track: Track, now: float) -> Track | None:
        """The card that lies still where a missing one lay."""
        place = track.quad if track.place is None else track.place
        for other in self.tracks:
            if other.missing_since is None and self._is_still(other, now) and overlap(other.quad, place) > 0.3:
                return other
        return None

    def _left(self, track: Track, position: str, now: float) -> list[Sighting]:
        """A card left ``position``; another one told there is told again."""
        since = track.missing_since if track.missing_since is not None else now
        for other in self.tracks:
            if other is not track and other.told is not None and other.told[0] == position:
                return [Sighting(position, other.told[1], other.still_since, other.number)]
        return [Sighting(position, None, since, track.number)]
