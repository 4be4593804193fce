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
#: Pixels that are looked at for it.
_ENOUGH: Final = 1500


def white_balance(face: Image) -> Image:
    """``face`` relative to the card's own white at each place: 255 is white, 0 is black.

    The white is the brightest that lies near, smoothed: light that falls off over a card does not darken its paper.
    """
    half = cv2.resize(face, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)  # in two steps: half as dear
    small = cv2.resize(half, (18, 24), interpolation=cv2.INTER_AREA)
    bright = cv2.blur(cv2.dilate(small, np.ones((9, 9), np.uint8), borderType=cv2.BORDER_REPLICATE), (7, 7))
    white = cv2.resize(np.maximum(bright, 24), (face.shape[1], face.shape[0]), interpolation=cv2.INTER_LINEAR)
    return np.asarray(cv2.divide(face, white, scale=255), np.uint8)


def ink(balanced: Image) -> Plane:
    """Share of white that is missing in the channel where most is missing: 0 paper, 1 full ink of any colour."""
    return np.asarray(cv2.bitwise_not(darkest(balanced)) * np.float32(1 / 255), np.float32)


def darkest(image: Image) -> Image:
    """The least of the three channels: low where there is ink or colour, high only on white."""
    blue, green, red = cv2.split(image)
    return np.asarray(cv2.min(cv2.min(blue, green), red), np.uint8)


def printed(shares: Plane) -> Image:
    """Mask of what is printed: 255 ink, 0 paper."""
    grey = cv2.convertScaleAbs(shares, alpha=255)
    level, _ = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    low, high = _THRESHOLDS
    return np.asarray(
        cv2.threshold(grey, 255 * min(max(level / 255, low), high), 255, cv2.THRESH_BINARY)[1], np.uint8
    )


def redness(balanced: Image, mask: Image) -> float:
    """How red the ink under ``mask`` is, 0 black to 1 pure red, by the darker half of its pixels."""
    step = 1 + int((mask.size / _ENOUGH) ** 0.5)  # of a large suit every so-many-th pixel says as much
    pixels = balanced[::step, ::step][mask[::step, ::step] > 0]
    if len(pixels) < 6:
        return 0.5
    lightest = np.minimum(np.minimum(pixels[:, 0], pixels[:, 1]), pixels[:, 2])
    half = np.partition(lightest, ((len(lightest) - 1) // 2, len(lightest) // 2))
    middle = (int(half[(len(half) - 1) // 2]) + int(half[len(half) // 2])) / 2
    blue, green, red = (float(v) / 255 for v in pixels[lightest <= middle].mean(axis=0))
    lost = 1.0 - min(blue, green)
    return (red - (blue + green) / 2) / max(lost, 0.05)


def colour(value: float) -> Literal["red", "black", ""]:
    """The colour that ``redness`` means; empty between the two."""
    if value >= _RED:
        return "red"
    return "black" if value <= _BLACK else ""
