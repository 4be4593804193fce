"""The felt's print as fixed points: found at calibration, found again to notice a moved or blurred camera.

Points are corners of lettering and lines, as coordinates only. They are matched by the one shift that carries most
of them onto corners of the present picture, so cards and hands that hide some, or add some, do not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Points
from vision.layout import Layout

Gray = NDArray[np.uint8]
#: As many points as a table needs; fewer than ``MIN_POINTS`` say nothing.
MAX_POINTS: Final = 150
MIN_POINTS: Final = 12
#: A camera that moved farther than this (share of the picture's width) shows another view.
_REACH: Final = 0.06
_BIN_PX: Final = 3.0
#: Corners of the present picture per reference point that take part.
_CROWD: Final = 4
_PATCH_PX: Final = 10


@dataclass(frozen=True, slots=True)
class Shift:
    """How the view moved: the homography-free part of it, ``matrix`` (2 x 3, px to px), ``found`` the share of
    reference points seen again (0 to 1)."""

    matrix: Points
    found: float

    def moved_px(self, points: Points) -> float:
        """The largest movement of ``points`` (n x 2, px)."""
        moved = points @ self.matrix[:, :2].T + self.matrix[:, 2]
        return float(np.linalg.norm(moved - points, axis=1).max())


def gray(image: NDArray[np.uint8]) -> Gray:
    """BGR to grey levels."""
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), np.uint8)


def corners(picture: Gray, count: int = MAX_POINTS, *, avoid: Sequence[Points] = ()) -> Points:
    """Up to ``count`` strong corners (n x 2, px) of a picture in grey levels, strongest first, none in ``avoid``."""
    smooth = cv2.GaussianBlur(picture, (0, 0), 1.2)
    distance = max(6, picture.shape[1] // 120)
    mask = np.full(picture.shape, 255, np.uint8)
    for area in avoid:
        cv2.fillConvexPoly(mask, np.round(area).astype(np.int32), 0)
    found: Any = cv2.goodFeaturesToTrack(smooth, count, 0.02, distance, mask=mask, blockSize=5)
    return np.zeros((0, 2)) if found is None else np.asarray(found, np.float64).reshape(-1, 2)


def shift(reference: Points, picture: Gray) -> Shift | None:
    """How the print moved since the calibration that found ``reference``; None if too little of it is seen."""
    if len(reference) < MIN_POINTS:
        return None
    now = corners(picture, _CROWD * MAX_POINTS)
    if len(now) == 0:
        return None
    reach = _REACH * picture.shape[1]
    steps = now[None, :, :] - reference[:, None, :]
    near = (np.abs(steps) <= reach).all(axis=2)
    peak = _peak(steps[near], reach)
    if peak is None:
        return None
    source, target = _pairs(reference, now, peak, 4 * _BIN_PX)
    if len(source) < MIN_POINTS // 2:
        return None
    fit: Any = cv2.estimateAffinePartial2D(source, target, method=cv2.RANSAC, ransacReprojThreshold=2.0)
    matrix, inside = fit
    if matrix is None:
        return None
    found = int(np.count_nonzero(inside)) / len(reference)
    return Shift(np.asarray(matrix, np.float64), found)


def _peak(steps: Points, reach: float) -> Points | None:
    """The step that most pairs share."""
    if len(steps) == 0:
        return None
    bins = int(2 * reach / _BIN_PX) + 1
    counts, x_edges, y_edges = np.histogram2d(
        steps[:, 0], steps[:, 1], bins=bins, range=[[-reach, reach], [-reach, reach]]
    )
    counts = np.asarray(cv2.blur(counts, (3, 3)), np.float64)
    i, j = np.unravel_index(int(np.argmax(counts)), counts.shape)
    return np.array([(x_edges[i] + x_edges[i + 1]) / 2, (y_edges[j] + y_edges[j + 1]) / 2])


def _pairs(reference: Points, now: Points, peak: Points, within: float) -> tuple[Points, Points]:
    """Each reference point with the corner nearest to where ``peak`` carries it."""
    away = np.linalg.norm(reference[:, None, :] + peak - now[None, :, :], axis=2)
    nearest = away.argmin(axis=1)
    good = away[np.arange(len(reference)), nearest] <= within
    return reference[good], now[nearest[good]]


def sharpness(picture: Gray, points: Points) -> float:
    """How sharp the print is: the median, over patches at ``points``, of the steepest second difference in grey
    levels, as a share of the patch's contrast. Light cancels out; cards over some of the points do not matter."""
    height, width = picture.shape
    steep: Any = np.abs(cv2.Laplacian(cv2.GaussianBlur(picture, (0, 0), 0.8), cv2.CV_32F, ksize=3))
    values = []
    for x, y in np.round(points).astype(int):
        if not (_PATCH_PX <= x < width - _PATCH_PX and _PATCH_PX <= y < height - _PATCH_PX):
            continue
        window = np.s_[y - _PATCH_PX : y + _PATCH_PX, x - _PATCH_PX : x + _PATCH_PX]
        contrast = float(np.ptp(picture[window]))
        if contrast > 10:
            values.append(float(steep[window].max()) / contrast)
    return float(np.median(values)) if values else 0.0


def brightness(picture: Gray, layout: Layout) -> float:
    """The felt's median grey level."""
    hull = layout.felt_px()
    mask = np.zeros((picture.shape[0] // 4, picture.shape[1] // 4), np.uint8)
    cv2.fillConvexPoly(mask, hull // 4, 255)
    small = picture[::4, ::4][: mask.shape[0], : mask.shape[1]]
    inside = small[mask > 0]
    return float(np.median(inside)) if inside.size else 0.0
