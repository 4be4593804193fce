"""Is a card that shows no index face down, and does its back belong to this deck?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import cv2
import numpy as np

from vision.pixels import Image, Plane
from vision.profiles import BACK_SIZE, DeckProfile

#: Photographed backs of one deck are 0.80 to 0.99 alike, those in another colour and faces 0.34 at most.
_SAME: Final = 0.65
_EDGE: Final = 2


class Backs:
    """The backs that the decks in use are known to have."""

    def __init__(self, profiles: Sequence[DeckProfile]) -> None:
        #: False if the back of any deck is unknown: then every back may be its.
        self.known = all(len(profile.backs) for profile in profiles)
        self._rows = [_row(back) for profile in profiles for back in profile.backs]

    def match(self, face: Image) -> bool:
        """Does a rectified card look like one of the backs, either way up?"""
        if not self._rows:
            return False
        small = np.asarray(cv2.resize(face, BACK_SIZE, interpolation=cv2.INTER_AREA), np.uint8)
        ways = _row(small), _row(small[::-1, ::-1])
        return max(float(row @ way) for row in self._rows for way in ways) > _SAME


def _row(picture: Image) -> Plane:
    """Without the edge, brightness and contrast: products are correlations. Colour stays, it tells backs apart."""
    values = picture[_EDGE:-_EDGE, _EDGE:-_EDGE].astype(np.float32).reshape(-1)
    values -= values.mean()
    return np.asarray(values / max(float(np.linalg.norm(values)), 1e-6), np.float32)
