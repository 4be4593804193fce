"""Where cards lie: bright quadrilaterals with straight sides, from masks at several levels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import combinations
from typing import Final, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Geometry
from vision.ink import darkest
from vision.pixels import Image, Plane, Points, as_points

#: Left, top, right, bottom in pixels, the latter two beyond it.
Region: TypeAlias = tuple[int, int, int, int]
_Floats: TypeAlias = NDArray[np.float64]
#: A card's long side over its short side, as it appears; perspective shortens either.
_ASPECT: Final = (1.08, 2.1)
#: With a calibrated table: the true aspect of a card, and its size, within these shares.
_ASPECT_TRUE: Final = (1.25, 1.7)
_SIZE_TOLERANCE: Final = 0.14
#: A contour covers so much of its quadrilateral: round corners and frayed edges cost a little.
_FILLED: Final = 0.93
#: Largest picture in which cards are sought, in pixels of its longer side; larger ones are shrunk for it.
_LARGEST: Final = 1600
#: A calibrated picture is shrunk by the largest whole number that leaves its longer side so many pixels.
_LARGE_ENOUGH: Final = 960
_SMALLEST_SHORT_SIDE: Final = 28.0
_SMALLEST_AREA: Final = _SMALLEST_SHORT_SIDE * _SMALLEST_SHORT_SIDE * 1.2
#: Boxes around outlines are of one thing if place and size differ by so many pixels altogether.
_ALIKE: Final = 8
#: Pixels from the line beyond which a point counts less, and how often lines are fitted with such weights.
_HUBER: Final = 1.345
_TURNS: Final = 4
_LEVELS: Final = (55, 80, 105, 130, 155, 180, 205)


def locate(image: Image, geometry: Geometry | None = None, within: Region | None = None) -> list[Points]:
    """Quadrilaterals that can be cards, face up or down: 4 corners clockwise, the first side a short one.

    ``geometry`` gives the size that a card must have; without it the shape alone decides. Of a calibrated table only
    the part ``within`` is looked at, if given; a card that it cuts may be found cut, or not at all.
    """
    if geometry is None:
        return _located(image, min(1.0, _LARGEST / max(image.shape[:2])), (0, 0), _LEVELS, None)
    step = max(
        1, max(image.shape[:2]) // _LARGE_ENOUGH
    )  # whole pixels are averaged ten times as fast as parts of them
    left, top, right, bottom = within or (0, 0, image.shape[1], image.shape[0])
    left, top = max(0, left) // step * step, max(0, top) // step * step
    levels = _levels_of(image[:: 4 * step, :: 4 * step])
    return _located(image[top : max(top, bottom), left : max(left, right)], 1 / step, (left, top), levels, geometry)


def _located(
    image: Image, scale: float, origin: tuple[int, int], levels: tuple[int, ...], geometry: Geometry | None
) -> list[Points]:
    """The quadrilaterals of ``image``, sought at ``scale``; its upper left pixel is ``origin`` of the whole."""
    if 0 in image.shape:
        return []
    small = image
    if scale < 1:
        small = np.asarray(cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    sizes = _expected_area(geometry, scale) if geometry is not None else (_SMALLEST_AREA, 0.9 * small[..., 0].size)
    found: list[tuple[float, Points]] = []
    done: list[tuple[int, int, int, int]] = []
    for outline, box in _outlines(small, levels, sizes):
        if geometry is not None and any(_apart(box, other) <= _ALIKE for other in done):
            continue  # of a calibrated table one level that fits is enough
        fitted = fit_quad(outline)
        if fitted is None:
            continue
        score, quad = fitted
        quad = np.asarray((quad + 0.5) / scale - 0.5 + origin, np.float32)
        if shaped(quad, geometry):
            found.append((score, quad))
            done.append(box)
    return distinct(found)


def _apart(a: tuple[int, int, int, int], b: tuple[int, int, int, int]) -> int:
    return abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(a[2] - b[2]) + abs(a[3] - b[3])


@lru_cache(maxsize=8)
def _expected_area(geometry: Geometry, scale: float) -> tuple[float, float]:
    """Smallest and largest area of a card's outline in a picture of ``scale``."""
    width, height = geometry.card_mm
    places = geometry.to_mm([[x * geometry.size[0], y * geometry.size[1]] for x in (0, 0.5, 1) for y in (0, 0.5, 1)])
    areas = []
    for x, y in places:
        card = geometry.to_px([[x, y], [x + width, y], [x + width, y + height], [x, y + height]])
        areas.append(float(cv2.contourArea(card.astype(np.float32).reshape(-1, 1, 2))) * scale * scale)
    return 0.6 * min(areas), 1.5 * max(areas)


def _levels_of(thumb: Image) -> tuple[int, ...]:
    """Two levels between the brightness of the felt, which is most of the picture, and that of paper."""
    felt, paper = percentiles(darkest(np.ascontiguousarray(thumb)), (0.5, 0.995))
    return round(felt + 0.42 * (paper - felt)), round(felt + 0.65 * (paper - felt))


def percentiles(grey: Image, shares: Sequence[float]) -> list[float]:
    """The grey levels below which ``shares`` of all pixels lie."""
    counts = np.bincount(grey.reshape(-1), minlength=256).cumsum()
    return [float(np.searchsorted(counts, share * (grey.size - 1), side="right")) for share in shares]


def _outlines(
    image: Image, levels: tuple[int, ...], sizes: tuple[float, float]
) -> list[tuple[Points, tuple[int, int, int, int]]]:
    """Outlines of bright areas at several levels with the boxes around them (left, top, width, height), those left
    out that another level has nearly alike."""
    grey = cv2.blur(darkest(image), (3, 3))
    kept: list[tuple[Points, tuple[int, int, int, int]]] = []
    for level in levels:
        _, mask = cv2.threshold(grey, level, 255, cv2.THRESH_BINARY)
        outlines, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
        for outline in outlines:
            if len(outline) < 90 or not sizes[0] < cv2.contourArea(outline) < sizes[1]:
                continue
            x, y, w, h = cv2.boundingRect(outline)
            if not any(_apart((x, y, w, h), other) <= 4 for _, other in kept):
                kept.append((as_points(outline), (x, y, w, h)))
    return kept


def fit_quad(outline: Points) -> tuple[float, Points] | None:
    """The quadrilateral of ``outline`` by a line along each side, with the share of it that is filled."""
    hull = cv2.convexHull(outline).reshape(-1, 1, 2)
    area = cv2.contourArea(outline.reshape(-1, 1, 2))
    if area < _FILLED * 0.97 * cv2.contourArea(hull) or len(hull) < 4:
        return None
    rough = _largest_quad(as_points(hull))
    quad = None if rough is None else _along_sides(outline, rough)
    if quad is None:
        return None
    filled = area / max(cv2.contourArea(quad.reshape(-1, 1, 2)), 1.0)
    if not _FILLED <= filled <= 1.03:
        return None
    return min(filled, 2 - filled), portrait(quad)


def _largest_quad(hull: Points) -> Points | None:
    """The four points of ``hull`` that span most."""
    points = as_points(cv2.approxPolyDP(hull, 0.012 * cv2.arcLength(hull, True), True))
    if not 4 <= len(points) <= 14:
        return None
    corners = points[_fours(len(points))]
    one, two = corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1]
    area = np.abs(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0])
    return np.asarray(corners[int(area.argmax())], np.float32)


@cache
def _fours(count: int) -> NDArray[np.intp]:
    """Every choice of four of ``count`` points, in their order."""
    return np.array(list(combinations(range(count), 4)), np.intp)


def _along_sides(outline: Points, rough: Points) -> Points | None:
    """Corners where the lines cross that fit the middle of each of the four sides of ``rough``."""
    along = rough[[1, 2, 3, 0]] - rough
    length = np.sqrt((along * along).sum(axis=1))
    if float(length.min()) < 12:
        return None
    unit = along / length[:, None]
    x, y = outline[:, 0], outline[:, 1]
    dx, dy = x - rough[:, :1], y - rough[:, 1:]  # 4 x n: from the start of each side
    position = (dx * unit[:, :1] + dy * unit[:, 1:]) / length[:, None]
    distance = np.abs(dy * unit[:, :1] - dx * unit[:, 1:])
    near = (position > 0.14) & (position < 0.86) & (distance < np.maximum(3.0, 0.05 * length)[:, None])
    if (near.sum(axis=1) < 0.35 * length).any():
        return None
    origin = rough[0].astype(np.float64)  # near the points, for the sake of precision
    p, d = _lines(x - origin[0], y - origin[1], near.astype(np.float64))
    q, e = p[[3, 0, 1, 2]], d[[3, 0, 1, 2]]  # each side's predecessor
    across = e[:, 0] * d[:, 1] - e[:, 1] * d[:, 0]
    if (np.abs(across) < 0.15).any():
        return None
    t = ((p[:, 0] - q[:, 0]) * d[:, 1] - (p[:, 1] - q[:, 1]) * d[:, 0]) / across
    return np.asarray(q + t[:, None] * e + origin, np.float32)


def _lines(x: _Floats, y: _Floats, weights: _Floats) -> tuple[_Floats, _Floats]:
    """Through the points of weight 1 in each row of ``weights``: a point of the line and its direction.

    Least squares across the line, outliers weighed down three times over as Huber does.
    """
    given = weights
    moments = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=1)
    for turn in range(_TURNS):
        total, mx, my, xx, xy, yy = (weights @ moments).T
        mx, my = mx / total, my / total
        angle = 0.5 * np.arctan2(2 * (xy / total - mx * my), (xx - yy) / total - mx * mx + my * my)
        cos, sin = np.cos(angle), np.sin(angle)
        if turn + 1 < _TURNS:
            off = np.abs(np.outer(cos, y) - np.outer(sin, x) + (sin * mx - cos * my)[:, None])
            weights = given * (_HUBER / np.maximum(off, _HUBER))
    return np.stack([mx, my], axis=1), np.stack([cos, sin], axis=1)


def portrait(quad: Points) -> Points:
    """The corners clockwise (y down), the first side a short one."""
    if cv2.contourArea(quad.reshape(-1, 1, 2), oriented=True) < 0:
        quad = quad[::-1]
    sides = side_lengths(quad)
    if sides[0] + sides[2] > sides[1] + sides[3]:
        quad = quad[[1, 2, 3, 0]]
    return np.asarray(quad, np.float32)


def side_lengths(quad: Points) -> Plane:
    """Lengths of the four sides, the first between the first two corners."""
    along = quad[[1, 2, 3, 0]] - quad
    return np.asarray(np.sqrt((along * along).sum(axis=1)), np.float32)


def shaped(quad: Points, geometry: Geometry | None) -> bool:
    """Can a card look so?"""
    if not cv2.isContourConvex(quad.reshape(-1, 1, 2)):
        return False
    if geometry is not None:
        sides = side_lengths(np.asarray(geometry.to_mm(quad), np.float32))
        short, long = (sides[0] + sides[2]) / 2, (sides[1] + sides[3]) / 2
        width, height = geometry.card_mm
        fits = abs(short / width - 1) < _SIZE_TOLERANCE and abs(long / height - 1) < _SIZE_TOLERANCE
        return bool(fits and _ASPECT_TRUE[0] < long / short < _ASPECT_TRUE[1])
    sides = side_lengths(quad)
    short, long = (sides[0] + sides[2]) / 2, (sides[1] + sides[3]) / 2
    even = (
        min(sides[0], sides[2]) / max(sides[0], sides[2]) > 0.55
        and min(sides[1], sides[3]) / max(sides[1], sides[3]) > 0.55
    )
    return bool(
        even and min(sides[0], sides[2]) >= 0.8 * _SMALLEST_SHORT_SIDE and _ASPECT[0] < long / short < _ASPECT[1]
    )


def distinct(found: list[tuple[float, Points]]) -> list[Points]:
    """One quadrilateral for each place, the best filled; an inner frame gives way to the border around it."""
    order = sorted(found, key=lambda pair: -pair[0])
    kept: list[tuple[float, Points]] = []
    for score, quad in order:
        for place, (other_score, other) in enumerate(kept):
            shared = overlap(quad, other)
            if shared > 0.55:
                if score > other_score - 0.02 and _area(quad) > 1.06 * _area(other):
                    kept[place] = (score, quad)
                break
        else:
            kept.append((score, quad))
    return [quad for _, quad in kept]


def overlap(a: Points, b: Points) -> float:
    """Shared area over the smaller of both areas; both convex."""
    (ax0, ay0), (ax1, ay1) = a.min(axis=0).tolist(), a.max(axis=0).tolist()
    (bx0, by0), (bx1, by1) = b.min(axis=0).tolist(), b.max(axis=0).tolist()
    if ax1 <= bx0 or bx1 <= ax0 or ay1 <= by0 or by1 <= ay0:
        return 0.0
    shared, _ = cv2.intersectConvexConvex(a.reshape(-1, 1, 2), b.reshape(-1, 1, 2))
    return float(shared / max(min(_area(a), _area(b)), 1.0))


def _area(quad: Points) -> float:
    return float(cv2.contourArea(quad.reshape(-1, 1, 2)))
