"""Indices anywhere in a picture, at any angle: for cards whose outline is not whole, such as overlapping ones.

Only for free photographs. Every printed part that can be a suit is tried with every part near it that can be the
rank above it; the pair gives the direction and the size, and the two readers judge it as they judge a corner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.corners import CornerReader, Face
from vision.ink import darkest
from vision.pixels import Image, Points
from vision.segment import Box, Index, parts, whole_ranks

#: A straightened index: size of the picture, middle of the rank in it, and from there down to that of the suit.
_CANVAS: Final = (112, 160)
_RANK_AT: Final = np.array([44.0, 46.0])
_DOWN: Final = 34.0
_LARGEST: Final = 1600
_LONGER_SIDE: Final = (7, 130)
_AT_MOST: Final = 260


@dataclass(frozen=True, slots=True, eq=False)
class Loose:
    """An index that was read: where (middle of the rank, pixels), which way is down (unit vector), how large."""

    card: str
    sure: float
    middle: NDArray[np.float64]
    down: NDArray[np.float64]
    height: float

    def quad(self) -> Points:
        """The index as a quadrilateral around rank and suit."""
        across = 0.7 * self.height * np.array([self.down[1], -self.down[0]])
        top, end = self.middle - 0.7 * self.height * self.down, self.middle + 1.6 * self.height * self.down
        return np.asarray([top - across, top + across, end + across, end - across], np.float32)


def scan(image: Image, reader: CornerReader, taken: list[Points]) -> list[Loose]:
    """One reading for each card that shows an index outside the quadrilaterals ``taken``."""
    scale = min(1.0, _LARGEST / max(image.shape[:2]))
    if scale < 1:
        image = np.asarray(cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    boxes = [box for box in printed_parts(image) if not _inside_any(box, taken, scale)]
    found = []
    straight = [
        one for rank, suit in pairs(boxes) if (one := straighten(image, _middle(rank), _middle(suit))) is not None
    ]
    corners = reader.judge([(one.face, one.index) for one in straight])
    for one, corner in zip(straight, corners, strict=True):
        if corner.card is not None and corner.sure >= reader.demands.loose:
            found.append(Loose(corner.card, corner.sure, one.middle / scale, one.down, one.height / scale))
    return one_a_card(found)


def pairs(boxes: list[Box]) -> list[tuple[Box, Box]]:
    """(rank, suit): parts that can belong to one index by size and distance."""
    if len(boxes) < 2:
        return []
    middles = np.array([_middle(box) for box in boxes])
    sizes = np.array([max(box.w, box.h) for box in boxes], np.float64)
    apart = np.linalg.norm(middles[:, None] - middles[None], axis=2) / sizes[:, None]
    ratio = sizes[None] / sizes[:, None]
    fits = (apart > 0.5) & (apart < 1.6) & (ratio > 0.35) & (ratio < 1.4)
    chosen = []
    for rank in np.flatnonzero(fits.any(axis=1)):
        near = np.flatnonzero(fits[rank])
        for suit in near[np.argsort(apart[rank, near])][:4]:
            chosen.append((float(apart[rank, suit]), int(rank), int(suit)))
    chosen.sort()
    return [(boxes[rank], boxes[suit]) for _, rank, suit in chosen[:_AT_MOST]]


@dataclass(frozen=True, slots=True, eq=False)
class Straight:
    """An index turned upright: the picture, its boxes, and where it is in the photograph."""

    face: Face
    index: Index
    middle: NDArray[np.float64]
    down: NDArray[np.float64]
    height: float


def straighten(image: Image, rank: NDArray[np.float64], suit: NDArray[np.float64]) -> Straight | None:
    """Turn the index with these middles upright, twice: the second time by the middles found in the first."""
    for attempt in range(2):
        down = suit - rank
        length = float(np.hypot(*down))
        if length < 4:
            return None
        unit = down / length
        zoom = _DOWN / length
        linear = zoom * np.array([[unit[1], -unit[0]], [unit[0], unit[1]]])
        shift = _RANK_AT - linear @ rank
        matrix = np.hstack([linear, shift[:, None]])
        picture = cv2.warpAffine(image, matrix, _CANVAS, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        face = Face.of(np.asarray(picture, np.uint8))
        index = _at_middles(face)
        if index is None:
            return None
        inverse = np.linalg.inv(linear)
        rank = inverse @ (np.array(_middle(index.rank)) - shift)
        suit = inverse @ (np.array(_middle(index.suit)) - shift)
        if attempt:
            return Straight(face, index, rank, unit, index.rank.h / zoom)
    return None


def _at_middles(face: Face) -> Index | None:
    """The boxes at the places where rank and suit must be."""
    boxes = [box for box in parts(face.mask) if max(box.w, box.h) < 66]
    rank = min(boxes, key=lambda box: float(np.hypot(*(_middle(box) - _RANK_AT))), default=None)
    if rank is None or np.hypot(*(_middle(rank) - _RANK_AT)) > 13:
        return None
    suit_at = _RANK_AT + np.array([0, _DOWN])
    rest = [box for box in boxes if box != rank]
    suit = min(rest, key=lambda box: float(np.hypot(*(_middle(box) - suit_at))), default=None)
    if suit is None or np.hypot(*(_middle(suit) - suit_at)) > 13:
        return None
    rank = whole_ranks(rank, [box for box in boxes if box != suit])[0]
    if suit.y < rank.bottom - 0.2 * rank.h or not 0.35 < suit.h / rank.h < 1.3 or not 0.5 < suit.w / suit.h < 1.7:
        return None
    return Index(rank, suit)


def one_a_card(found: list[Loose]) -> list[Loose]:
    """Several indices of one card tell of one card; places that tell of two cards tell of none."""
    kept: list[Loose] = []
    for one in sorted(found, key=lambda loose: -loose.sure):
        same = [k for k in kept if np.hypot(*(k.middle - one.middle)) < 0.8 * max(k.height, one.height)]
        if any(k.card != one.card for k in same):
            kept = [k for k in kept if k not in same]
            continue
        near = any(
            k.card == one.card and np.hypot(*(k.middle - one.middle)) < 16 * max(k.height, one.height) for k in kept
        )
        if not near:
            kept.append(one)
    return kept


def _middle(box: Box) -> NDArray[np.float64]:
    return np.array([box.x + box.w / 2, box.y + box.h / 2])


def _inside_any(box: Box, quads: list[Points], scale: float) -> bool:
    x, y = _middle(box) / scale
    return any(cv2.pointPolygonTest(quad.reshape(-1, 1, 2), (float(x), float(y)), False) >= 0 for quad in quads)


def printed_parts(image: Image) -> list[Box]:
    """Boxes of dark or coloured parts that lie on something brighter, of the size of ranks and suits."""
    grey = darkest(image)
    found: dict[tuple[int, int, int, int], Box] = {}
    for window in (25, 61):
        around = cv2.boxFilter(cv2.dilate(grey, np.ones((3, 3), np.uint8)), -1, (window, window)).astype(np.float32)
        mask = np.asarray((grey < 0.74 * around) * np.uint8(255), np.uint8)
        _, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
        for x, y, w, h, area in stats[1:].tolist():
            if (
                _LONGER_SIDE[0] <= max(w, h) <= _LONGER_SIDE[1]
                and min(w, h) >= 3
                and area > 0.15 * w * h
                and area >= 16
            ):
                found.setdefault((x // 3, y // 3, w // 3, h // 3), Box(x, y, w, h))
    return [box for box in found.values() if _on_paper(image, box)]


def _on_paper(image: Image, box: Box) -> bool:
    """Is most of what surrounds ``box`` bright and without much colour?"""
    pad = max(2, round(0.25 * max(box.w, box.h)))
    area = image[max(0, box.y - pad) : box.bottom + pad, max(0, box.x - pad) : box.right + pad]
    low, high = area.min(axis=2), area.max(axis=2)
    bright = np.percentile(low, 85)
    paper = (low > 0.72 * bright) & (high.astype(np.int16) - low < 0.42 * high)
    return bool(bright > 45 and paper.mean() > 0.28)
