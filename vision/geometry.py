"""Where the plane of the felt lies in the picture: millimetres to pixels and back, and the size of a card."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

Points = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """A calibrated table. ``matrix`` (3 x 3, float64) takes points of the felt in millimetres to pixels of a picture
    of ``size`` (width, height); ``card_mm`` is the (short, long) edge of this table's cards."""

    matrix: Points
    card_mm: tuple[float, float]
    size: tuple[int, int]
    _inverse: Points = field(init=False, repr=False)

    def __post_init__(self) -> None:
        matrix = np.asarray(self.matrix, np.float64)
        if matrix.shape != (3, 3) or not np.isfinite(matrix).all() or abs(np.linalg.det(matrix)) < 1e-12:
            raise ValueError("the matrix from millimetres to pixels must be 3 x 3 and invertible")
        if not 0 < self.card_mm[0] <= self.card_mm[1]:
            raise ValueError(f"card_mm {self.card_mm}: (short, long) edge in millimetres")
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "_inverse", np.asarray(np.linalg.inv(matrix), np.float64))

    def to_px(self, points: ArrayLike) -> Points:
        """Points of the felt (n x 2, mm) in the picture (n x 2, px)."""
        return project(self.matrix, points)

    def to_mm(self, points: ArrayLike) -> Points:
        """Points of the picture (n x 2, px) on the felt (n x 2, mm)."""
        return project(self._inverse, points)

    def scaled(self, size: tuple[int, int]) -> Geometry:
        """The same table in a picture of the same view, ``size`` pixels wide and high."""
        scale = np.diag([size[0] / self.size[0], size[1] / self.size[1], 1.0])
        return Geometry(np.asarray(scale @ self.matrix, np.float64), self.card_mm, size)


def project(matrix: Points, points: ArrayLike) -> Points:
    """``points`` (n x 2) through the homography ``matrix`` (3 x 3)."""
    array = np.asarray(points, np.float64).reshape(-1, 1, 2)
    moved: Any = cv2.perspectiveTransform(array, matrix)
    return np.asarray(moved, np.float64).reshape(-1, 2)


def quad_area(quad: ArrayLike) -> float:
    """Area of a polygon (n x 2), in the square of its unit."""
    array = np.asarray(quad, np.float64).reshape(-1, 2)
    x, y = array[:, 0], array[:, 1]
    return 0.5 * abs(float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))))


def overlap(a: ArrayLike, b: ArrayLike) -> float:
    """Intersection over union of two convex polygons (n x 2); 0 where they do not meet."""
    first, second = (np.asarray(quad, np.float32).reshape(-1, 1, 2) for quad in (a, b))
    common, _ = cv2.intersectConvexConvex(first, second)
    union = quad_area(a) + quad_area(b) - common
    return float(common / union) if union > 0 else 0.0
