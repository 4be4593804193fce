"""What is printed on a white card, whatever the light: white balance, ink, red or black."""

from __future__ import annotations

from typing import Final, Literal

import cv2
import numpy as np

from vision.pixels import Image, Plane

#: Ink darker than this share of white counts as printed at the least, and at the most, whatever the histogram says.
_THRESHOLDS: Final = (0.22, 0.6)
#: Red ink loses so much more green and blue than red, as a share of its darkness; black ink does not.
_RED: Final = 0.42
_BLACK: Final = 0.24


def white_balance(face: Image) -> Plane:
    """``face`` as shares of the card's own white at each place: 1 is white, 0 is black.

    The white is the brightest that lies near, smoothed: light that falls off over a card does not darken its paper.
    """
    small = cv2.resize(face, (18, 24), interpolation=cv2.INTER_AREA)
    bright = cv2.blur(cv2.dilate(small, np.ones((9, 9), np.uint8), borderType=cv2.BORDER_REPLICATE), (7, 7))
    white = cv2.resize(bright, (face.shape[1], face.shape[0]), interpolation=cv2.INTER_LINEAR).astype(np.float32)
    return np.minimum(face / np.maximum(white, 24), 1.0, dtype=np.float32)


def ink(balanced: Plane) -> Plane:
    """Share of white that is missing in the channel where most is missing: 0 paper, 1 full ink of any colour."""
    return np.asarray(1.0 - balanced.min(axis=2), np.float32)


def printed(shares: Plane) -> Image:
    """Mask of what is printed: 255 ink, 0 paper."""
    grey = np.asarray(np.clip(shares * 255, 0, 255), np.uint8)
    level, _ = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    low, high = _THRESHOLDS
    return np.asarray((shares > min(max(level / 255, low), high)) * np.uint8(255), np.uint8)


def redness(balanced: Plane, mask: Image) -> float:
    """How red the ink under ``mask`` is, 0 black to 1 pure red, by the darker half of its pixels."""
    pixels = balanced[mask > 0]
    if len(pixels) < 6:
        return 0.5
    dark = 1.0 - pixels.min(axis=1)
    pixels = pixels[dark >= np.median(dark)]
    blue, green, red = pixels.mean(axis=0)
    lost = 1.0 - min(blue, green)
    return float((red - (blue + green) / 2) / max(lost, 0.05))


def colour(value: float) -> Literal["red", "black", ""]:
    """The colour that ``redness`` means; empty between the two."""
    if value >= _RED:
        return "red"
    return "black" if value <= _BLACK else ""
