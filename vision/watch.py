"""A frame in, sightings out: straighten, locate, track, read what needs reading.

Most frames of a table show what the one before showed. Cards are located anew only where the picture differs from
the one they were last located in, by more than noise does, and now and then all the same. What looks like the table
without cards is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.background import COLOUR, LIGHTNESS, WIDTH, Background, most, small
from vision.geometry import overlap
from vision.layout import Layout, Places, View
from vision.locate import Region
from vision.tracking import Quad, Reading, Sighting, Track, Tracker, Tracking

Image = NDArray[np.uint8]
_STEP: Final = 4
#: In a picture of ``WIDTH`` cells, each a mean of many pixels, a change is this many grey levels.
_CHANGE: Final = 6
#: At least this often (s) cards are located whatever the picture does.
_AGAIN_S: Final = 0.5
#: A quad that looks like the table without cards to this share is none; its place is bare, at the other share.
_NO_CARD: Final = 0.7
_BARE: Final = 0.8
#: Two quads that overlap so much are of one card; so much, and it has not stirred.
_SAME: Final = 0.2
_STILL_THERE: Final = 0.9
#: A card that looks as before is read again after this long (s) all the same.
_READ_ANYWAY_S: Final = 10.0


class Recogniser(Protocol):
    """What this module needs of ``vision.recognise.Recogniser``."""

    def locate(self, image: Image, within: Region | None = None) -> Sequence[Quad]:
        """Quads (4 x 2, px) that may be cards, in a part of the picture if ``within`` is given."""

    def read_quad(self, image: Image, quad: Quad) -> Reading:
        """What one quad shows."""


class Watcher:
    """Watches one table. Not for several threads."""

    def __init__(self, recogniser: Recogniser, layout: Layout, tracking: Tracking | None = None) -> None:
        self.layout = layout
        self.tracker = Tracker(layout, tracking)
        self.background = Background(layout)
        self.quads: list[Quad] = []
        self._recogniser = recogniser
        self._view = View(layout)
        self._hull = layout.felt_px()
        self._geometry = layout.geometry()
        self._places = Places(layout)
        self._reach = _card_px(layout)
        self._located: tuple[NDArray[np.uint8], float] | None = None
        self._found: list[Quad] = []
        #: How each card looked when it was last read, by the number of its track.
        self._looks: dict[int, _Look] = {}

    def straighten(self, image: Image) -> Image:
        """``image`` as the layout speaks of it. Raises ``ValueError`` for another shape."""
        return self._view.apply(image)

    def frame(self, image: Image, now: float) -> list[Sighting]:
        """One straightened frame, taken at ``now`` (s). What changed on the table, in order of appearance."""
        cells = small(image)
        located = self._locate(image, cells, now)
        self.background.look(cells, now, self._cards, busy=located)
        if located:
            self.quads = [quad for quad in self._found if self.background.like(quad) < _NO_CARD]
        felt = FeltColour(image, self._hull)
        there = {track.number for track in self.tracker.tracks}
        self._looks = {number: look for number, look in self._looks.items() if number in there}
        return self.tracker.observe(
            now,
            self.quads,
            lambda quad: self._recogniser.read_quad(image, quad),
            lambda quad: self._bare(felt, quad),
            lambda track: self._same(track, cells, now),
        )

    def empty(self, image: Image) -> list[str]:
        """The positions of a straightened frame where felt shows and nothing was told to lie."""
        felt = FeltColour(image, self._hull)
        taken = {track.told[0] for track in self.tracker.tracks if track.told is not None}
        return [
            position
            for position, polygon in self.layout.positions.items()
            if position not in taken and felt.bare(self._geometry.to_px(polygon))
        ]

    def _bare(self, felt: FeltColour, quad: Quad) -> bool:
        return felt.bare(quad) or self.background.like(_shrunk(quad, 0.85)) > _BARE

    def _same(self, track: Track, cells: Image, now: float) -> bool:
        """Does it look as when it was last read? It is read again all the same before long."""
        look = self._looks.get(track.number)
        if look is not None and now - look.when < _READ_ANYWAY_S and overlap(track.quad, look.quad) > _STILL_THERE:
            part = cells[look.rows, look.columns]
            if int(cv2.absdiff(part, look.cells).max()) < _CHANGE:
                return True
        corners = track.quad * (WIDTH / self.layout.size[0])
        low = np.maximum(np.floor(corners.min(axis=0)).astype(int), 0)
        high = np.maximum(np.ceil(corners.max(axis=0)).astype(int) + 1, low + 1)
        rows, columns = slice(int(low[1]), int(high[1])), slice(int(low[0]), int(high[0]))
        if cells[rows, columns].size:
            self._looks[track.number] = _Look(track.quad, rows, columns, cells[rows, columns], now)
        return False

    def _cards(self) -> list[Quad]:
        """What lies at a position, or did until a hand covered it: never a part of the table."""
        tracks = self.tracker.tracks
        seen = [quad for track in tracks for quad in (track.quad, track.place) if quad is not None] + self._found
        middles = [self._geometry.to_mm(quad).mean(axis=0) for quad in seen]
        return [quad for quad, middle in zip(seen, middles, strict=True) if self._places.at(middle) is not None]

    def _locate(self, image: Image, cells: Image, now: float) -> bool:
        """Locate anew what has changed; False if nothing has."""
        everything = self._located is None
        if self._located is not None:
            before, when = self._located
            _, mask = cv2.threshold(most(cv2.absdiff(before, cells)), _CHANGE - 1, 1, cv2.THRESH_BINARY)
            changed = np.asarray(cv2.dilate(mask, _AROUND), np.uint8)
            everything = not 0 <= now - when < _AGAIN_S
            if not everything and not changed.any():
                return False
        if everything:
            self._located = (cells, now)
            self._found = _quads(self._recogniser.locate(image))
            return True
        self._located = (cells, when)
        scale = image.shape[1] / WIDTH
        x, y, w, h = (round(scale * value) for value in cv2.boundingRect(changed))
        part = (x - self._reach, y - self._reach, x + w + self._reach, y + h + self._reach)
        # Around a change wide enough for a whole card: what it touches is found whole, or is no longer there.
        new = [quad for quad in _quads(self._recogniser.locate(image, part)) if _touches(changed, quad / scale)]
        old = [quad for quad in self._found if not _touches(changed, quad / scale)]
        self._found = [quad for quad in old if all(overlap(quad, other) < _SAME for other in new)] + new
        return True


class _Look(NamedTuple):
    """The cells around a card when it was read."""

    quad: Quad
    rows: slice
    columns: slice
    cells: Image
    when: float


_AROUND: Final = np.ones((3, 3), np.uint8)


def _quads(located: Sequence[Quad]) -> list[Quad]:
    return [np.asarray(quad, np.float64).reshape(4, 2) for quad in located]


def _touches(changed: NDArray[np.uint8], quad: Quad) -> bool:
    """Does ``quad`` (in cells) hold anything that changed?"""
    mask = np.zeros_like(changed)
    cv2.fillConvexPoly(mask, np.round(quad).astype(np.int32), 1)
    return bool((mask & changed).any())


def _card_px(layout: Layout) -> int:
    """The diagonal of a card in pixels where it looks largest."""
    geometry, (width, height) = layout.geometry(), layout.card_mm
    spans = []
    for position in layout.positions:
        x, y = layout.middle_mm(position)
        ends = geometry.to_px([(x - width / 2, y - height / 2), (x + width / 2, y + height / 2)])
        spans.append(float(np.hypot(*(ends[1] - ends[0]))))
    return round(1.2 * max(spans))


class FeltColour:
    """Which parts of one frame look like felt: like most of the area where cards may lie. Computed when asked."""

    def __init__(self, image: Image, hull: NDArray[np.int32]) -> None:
        self._image = image
        self._hull = hull
        self._typical: NDArray[np.float64] | None = None

    def bare(self, quad: Quad) -> bool:
        """True if most of ``quad`` (4 x 2, px) has the felt's colour; print on it is no matter."""
        if self._typical is None:
            self._typical = np.median(self._pixels(self._hull), axis=0)
        inside = self._pixels(np.round(_shrunk(quad, 0.85)).astype(np.int32))
        if len(inside) == 0:
            return True  # outside the picture
        away = np.abs(inside - self._typical)
        like = (away[:, 1] < COLOUR) & (away[:, 2] < COLOUR) & (away[:, 0] < LIGHTNESS)
        return bool(like.mean() > 0.6)

    def _pixels(self, polygon: NDArray[np.int32]) -> NDArray[np.float64]:
        """Every fourth pixel each way of ``polygon``, in Lab."""
        height, width = self._image.shape[:2]
        low = np.clip(polygon.min(axis=0), 0, (width, height))
        high = np.clip(polygon.max(axis=0) + 1, 0, (width, height))
        part = self._image[low[1] : high[1] : _STEP, low[0] : high[0] : _STEP]
        if part.size == 0:
            return np.zeros((0, 3))
        mask = np.zeros(part.shape[:2], np.uint8)
        cv2.fillConvexPoly(mask, ((polygon - low) // _STEP).astype(np.int32), 1)
        lab = np.asarray(cv2.cvtColor(np.ascontiguousarray(part), cv2.COLOR_BGR2LAB), np.float64)
        return np.asarray(lab[mask > 0], np.float64)


def _shrunk(quad: Quad, share: float) -> Quad:
    middle = quad.mean(axis=0)
    return np.asarray(middle + (quad - middle) * share, np.float64)
