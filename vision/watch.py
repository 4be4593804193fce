"""A frame in, sightings out: straighten, locate, track, read what needs reading.

Most frames of a table show what the one before showed. Cards are located anew only when the picture differs from
the one they were last located in, by more than noise does, and now and then all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.layout import Layout, View
from vision.tracking import Quad, Reading, Sighting, Tracker, Tracking

Image = NDArray[np.uint8]
#: Felt differs from the table's typical colour by at most this much of a and b, and L, in 8-bit Lab. Measured felts,
#: drawn and filmed, stay within 4 and 28; a dark sleeve over dark felt is 8 away.
_COLOUR: Final = 6.0
_LIGHTNESS: Final = 34.0
_STEP: Final = 4
#: A picture this wide, every pixel a mean of many, tells change from noise; a change is this many grey levels.
_THUMB_WIDTH: Final = 240
_CHANGE: Final = 6
#: At least this often (s) cards are located whatever the picture does.
_AGAIN_S: Final = 0.5


class Recogniser(Protocol):
    """What this module needs of ``vision.recognise.Recogniser``."""

    def locate(self, image: Image) -> Sequence[Quad]:
        """Quads (4 x 2, px) that may be cards."""

    def read_quad(self, image: Image, quad: Quad) -> Reading:
        """What one quad shows."""


class Watcher:
    """Watches one table. Not for several threads."""

    def __init__(self, recogniser: Recogniser, layout: Layout, tracking: Tracking | None = None) -> None:
        self.layout = layout
        self.tracker = Tracker(layout, tracking)
        self.quads: list[Quad] = []
        self._recogniser = recogniser
        self._view = View(layout)
        self._hull = layout.felt_px()
        self._located: tuple[NDArray[np.uint8], float] | None = None

    def straighten(self, image: Image) -> Image:
        """``image`` as the layout speaks of it. Raises ``ValueError`` for another shape."""
        return self._view.apply(image)

    def frame(self, image: Image, now: float) -> list[Sighting]:
        """One straightened frame, taken at ``now`` (s). What changed on the table, in order of appearance."""
        if self._changed(image, now):
            self.quads = [np.asarray(quad, np.float64).reshape(4, 2) for quad in self._recogniser.locate(image)]
        felt = FeltColour(image, self._hull)
        return self.tracker.observe(
            now, self.quads, lambda quad: self._recogniser.read_quad(image, quad), lambda quad: felt.bare(quad)
        )

    def empty(self, image: Image) -> list[str]:
        """The positions of a straightened frame where felt shows and nothing was told to lie."""
        felt = FeltColour(image, self._hull)
        geometry = self.layout.geometry()
        taken = {track.told[0] for track in self.tracker.tracks if track.told is not None}
        return [
            position
            for position, polygon in self.layout.positions.items()
            if position not in taken and felt.bare(geometry.to_px(polygon))
        ]

    def _changed(self, image: Image, now: float) -> bool:
        """True if cards must be located in ``image``, which is then the one to compare with."""
        height = round(image.shape[0] * _THUMB_WIDTH / image.shape[1])
        small: Any = cv2.resize(image, (_THUMB_WIDTH, height), interpolation=cv2.INTER_AREA)
        if self._located is not None:
            before, when = self._located
            if 0 <= now - when < _AGAIN_S and int(cv2.absdiff(before, small).max()) < _CHANGE:
                return False
        self._located = (np.asarray(small, np.uint8), now)
        return True


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
        like = (away[:, 1] < _COLOUR) & (away[:, 2] < _COLOUR) & (away[:, 0] < _LIGHTNESS)
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
