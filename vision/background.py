"""What the table looks like without cards: the felt with its print, and whatever else lies still outside the places.

Learnt while the table is watched, in cells of a small picture, so that noise averages out. A card is never learnt: a
cell within a position's polygon only while that polygon is bare felt but for print, and nowhere under a card that is
located or followed. The light is followed everywhere, under cards and hands as well. What looks like the model is no
card, be it lettering, a rack of chips or a screen; what is not known yet counts as different.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.layout import Layout
from vision.pixels import Image, Plane
from vision.tracking import Quad

#: Width of the small picture; a cell is the mean of 8 x 8 pixels at 1080p.
WIDTH: Final = 240
#: Felt differs from the table's typical colour by at most this much of a and b, and L, in 8-bit Lab. Measured felts,
#: drawn and filmed, stay within 4 and 28; a dark sleeve over dark felt is 8 away.
COLOUR: Final = 6.0
LIGHTNESS: Final = 34.0
#: A polygon is bare if this share of it has the felt's colour: a card leaves a quarter, print more than half.
_BARE: Final = 0.6
#: A cell differs by more than this many grey levels, and this share of the model's.
_LEVELS: Final = 9.0
_SHARE: Final = 0.09
#: Learnt after lying still so long: felt, and anything else (s).
_FELT_S: Final = 2.0
_STILL_S: Final = 20.0
#: How much of each look goes into the model, and the time between looks (s), in frames that cost much anyway as well.
_RATE: Final = 0.1
_EVERY_S: Final = 0.2
_BUSY_S: Final = 1.0
#: Fewer known cells than this share say nothing of the light; fewer that look like the model, and nothing is learnt.
_ENOUGH: Final = 0.1
_LIKE: Final = 0.5
#: The light changes from one look to the next by at most this factor.
_FACTOR: Final = 3.0
#: Every so-many-th cell says enough of felt and light.
_NTH: Final = 5

_Mask = NDArray[np.bool_]


def small(image: Image) -> Image:
    """``image`` as ``WIDTH`` cells across; halved first, which is faster and gives the same means."""
    height = _rows(image.shape[1], image.shape[0])
    picture: Any = image
    while picture.shape[1] >= 4 * WIDTH and picture.shape[0] % 2 == 0 and picture.shape[1] % 2 == 0:
        picture = cv2.resize(picture, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.resize(picture, (WIDTH, height), interpolation=cv2.INTER_AREA), np.uint8)


def _rows(width: int, height: int) -> int:
    return max(1, round(height * WIDTH / width))


def most(picture: Any) -> Any:
    """The largest of the three channels of each pixel."""
    blue, green, red = cv2.split(picture)
    return cv2.max(cv2.max(blue, green), red)


class Background:
    """The model of one table's empty view. Not for several threads."""

    def __init__(self, layout: Layout) -> None:
        self._scale = WIDTH / layout.size[0]
        self._shape = (_rows(*layout.size), WIDTH)
        geometry = layout.geometry()
        #: The number of the position that a cell belongs to, from 1; 0 elsewhere.
        self._place = np.zeros(self._shape, np.int32)
        for number, polygon in enumerate(layout.positions.values(), 1):
            cv2.fillConvexPoly(self._place, self._corners(geometry.to_px(polygon)), number)
        self._sizes = np.maximum(np.bincount(self._place.reshape(-1), minlength=len(layout.positions) + 1), 1)
        hull = np.zeros(self._shape, np.uint8)
        cv2.fillConvexPoly(hull, self._corners(layout.felt_px().astype(np.float64)), 1)
        rows, columns = np.nonzero(hull)
        self._hull = rows[::_NTH], columns[::_NTH]
        self._mean = np.zeros((*self._shape, 3), np.float32)
        self._known = np.zeros(self._shape, np.bool_)
        self._seen = np.full((*self._shape, 3), -1e3, np.float32)
        self._since = np.full(self._shape, -np.inf)
        self._differs = np.ones(self._shape, np.bool_)
        self._looked = -np.inf
        self._strange_since: float | None = None

    @property
    def foreground(self) -> _Mask:
        """Where the last frame differs from the model, or nothing is known; one value a cell."""
        return self._differs

    def look(self, cells: Image, now: float, cards: Callable[[], Iterable[Quad]], *, busy: bool = False) -> None:
        """A frame as ``small`` makes it, taken at ``now`` (s). Asked only when the model learns: the ``cards``
        (4 x 2, px each) that lie there, seen or covered. While ``busy`` it learns less often."""
        if 0 <= now - self._looked < (_BUSY_S if busy else _EVERY_S):
            self._differs = self._different(cells.astype(np.float32))
            return
        self._looked = now
        frame = cells.astype(np.float32)
        taken = np.zeros(self._shape, np.uint8)
        for quad in cards():
            cv2.fillConvexPoly(taken, self._corners(quad), 1)
        free = cv2.dilate(taken, np.ones((3, 3), np.uint8)) == 0
        if self._follow_light(frame, free):
            self._strange_since = None
            self._learn(cells, now, free)
        elif self._strange_since is None:
            self._strange_since = now
        elif now - self._strange_since > _STILL_S:
            self._known[:] = False  # another view: learn it anew
        self._differs = self._different(frame)

    def like(self, quad: Quad) -> float:
        """The share of ``quad`` (4 x 2, px) that looks like the model in the last frame; 0 outside the picture."""
        corners = self._corners(quad)
        low = np.clip(corners.min(axis=0), 0, (self._shape[1], self._shape[0])).tolist()
        high = np.clip(corners.max(axis=0) + 1, 0, (self._shape[1], self._shape[0])).tolist()
        part = self._differs[low[1] : high[1], low[0] : high[0]]
        if not part.size:
            return 0.0
        mask = np.zeros(part.shape, np.uint8)
        cv2.fillConvexPoly(mask, corners - low, 1)
        cells = part[mask > 0]
        return 1.0 - float(cells.mean()) if cells.size else 0.0

    def _different(self, frame: Plane) -> _Mask:
        off = most(cv2.absdiff(frame, self._mean))
        return np.asarray((off > _LEVELS + _SHARE * most(self._mean)) | ~self._known, np.bool_)

    def _follow_light(self, frame: Plane, free: _Mask) -> bool:
        """Brighten or darken the model as most of what is known did; False if the frame shows another scene."""
        known = self._known & free
        if known.mean() < _ENOUGH:
            return True
        some = np.flatnonzero(known)[::_NTH]
        ratio = np.median((frame.reshape(-1, 3)[some] + 2) / (self._mean.reshape(-1, 3)[some] + 2), axis=0)
        lit = self._mean * np.clip(ratio, 1 / _FACTOR, _FACTOR).astype(np.float32)
        before, self._mean = self._mean, lit
        if (known & ~self._different(frame)).sum() < _LIKE * known.sum():
            self._mean = before
            return False
        return True

    def _learn(self, cells: Image, now: float, free: _Mask) -> None:
        frame = cells.astype(np.float32)
        differs = self._different(frame)
        self._mean += (np.float32(_RATE) * (free & ~differs))[..., None] * (frame - self._mean)
        felt = self._felt(cells)
        bare = np.bincount(self._place.reshape(-1), felt.reshape(-1), len(self._sizes)) / self._sizes > _BARE
        bare[0] = True  # beside the positions a card is nobody's
        begins = most(cv2.absdiff(frame, self._seen)) > _LEVELS + _SHARE * most(frame)
        begins |= ~(free & differs & bare[self._place])
        np.copyto(self._since, now, where=begins)
        np.copyto(self._seen, frame, where=begins[..., None])
        ripe = ~begins & (now - self._since >= np.where(felt, _FELT_S, _STILL_S))
        np.copyto(self._mean, frame, where=ripe[..., None])
        self._known |= ripe

    def _felt(self, cells: Image) -> _Mask:
        lab = np.asarray(cv2.cvtColor(cells, cv2.COLOR_BGR2LAB), np.uint8)
        typical = np.median(lab[self._hull], axis=0)
        limits = np.array([LIGHTNESS, COLOUR, COLOUR])
        # Exactly that far away is too far, as for FeltColour.
        low, high = np.floor(typical - limits) + 1, np.ceil(typical + limits) - 1
        return np.asarray(cv2.inRange(lab, low, high), np.uint8) > 0

    def _corners(self, polygon: Quad) -> NDArray[np.int32]:
        return np.round((polygon + 0.5) * self._scale - 0.5).astype(np.int32)
