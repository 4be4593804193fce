"""Where rank and suit of a card's index are, found by the printed parts near its corner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import cv2
import numpy as np

from vision.pixels import Image, Plane

#: Size of a rectified face in pixels: width, height.
FACE: Final = (240, 336)


class Box(NamedTuple):
    """A rectangle in pixels of a face."""

    x: int
    y: int
    w: int
    h: int

    @property
    def right(self) -> int:
        """First column beyond it."""
        return self.x + self.w

    @property
    def bottom(self) -> int:
        """First row beyond it."""
        return self.y + self.h

    def union(self, other: Box) -> Box:
        """The smallest box that holds both."""
        x, y = min(self.x, other.x), min(self.y, other.y)
        return Box(x, y, max(self.right, other.right) - x, max(self.bottom, other.bottom) - y)


@dataclass(frozen=True, slots=True)
class Index:
    """Rank and suit of one corner, in pixels of the face."""

    rank: Box
    suit: Box


def parts(mask: Image, smallest: int = 14) -> list[Box]:
    """Boxes of what hangs together in ``mask`` and does not touch its upper or left edge."""
    return [box for box in components(mask, smallest) if box.x > 0 and box.y > 0]


def components(mask: Image, smallest: float) -> list[Box]:
    """Boxes of what hangs together in ``mask``, from top to bottom, if it has ``smallest`` pixels, holes included.

    By their outlines: several times as fast as labelling every pixel.
    """
    outlines, tree = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    found = []
    for outline, parent in zip(
        outlines, () if tree is None else np.reshape(tree, (-1, 4))[:, 3].tolist(), strict=True
    ):
        # Pixels on and within a chain of neighbours, by Pick's theorem.
        if parent < 0 and cv2.contourArea(outline) + len(outline) / 2 + 1 >= smallest:
            x, y = outline.reshape(-1, 2)[0].tolist()
            found.append(((y, x), Box(*cv2.boundingRect(outline))))
    return [box for _, box in sorted(found)]


def find_over(mask: Image) -> list[Index]:
    """Candidates of an index, rank over suit at the upper left, best first; ``mask`` is of a whole face."""
    width, height = mask.shape[1], mask.shape[0]
    boxes = parts(mask[: height * 55 // 100, : width * 52 // 100])
    found = []
    for first in boxes:
        if first.x > width * 0.2 or first.y > height * 0.2 or not _rank_sized(first, width, height):
            continue
        for rank in whole_ranks(first, boxes):
            suit = _suit_under(rank, boxes)
            if suit is not None:
                cost = (rank.x / width + rank.y / height) - 0.2 * (rank != first)
                found.append((cost, Index(rank, suit)))
    found.sort(key=lambda pair: pair[0])
    return [index for _, index in found[:3]]


def find_beside(mask: Image) -> list[Index]:
    """Candidates of an index with the rank at the upper left and the suit at the upper right."""
    width, height = mask.shape[1], mask.shape[0]
    boxes = parts(mask[: height * 55 // 100, : width - 1])
    found = []
    for first in boxes:
        if first.x > width * 0.3 or first.y > height * 0.25 or not 0.13 * height <= first.h <= 0.42 * height:
            continue
        for rank in whole_ranks(first, boxes):
            suit = _suit_beside(rank, boxes, width)
            if suit is not None and rank.w < width * 0.55:
                found.append((rank.x / width + rank.y / height - 0.2 * (rank != first), Index(rank, suit)))
    found.sort(key=lambda pair: pair[0])
    return [index for _, index in found[:2]]


def _rank_sized(box: Box, width: int, height: int) -> bool:
    return 0.045 * height <= box.h <= 0.26 * height and 0.008 * width <= box.w <= 0.3 * width


def whole_ranks(first: Box, boxes: list[Box]) -> list[Box]:
    """``first`` with what belongs to it: the other digit of a ten, or pieces that print or light broke off."""
    whole = first
    for box in boxes:
        if box is not first and _overlap(box, first, axis="y") > 0.6 * box.h and _gap(box, first) < 0.08 * first.h:
            whole = whole.union(box)
    for box in boxes:
        similar = 0.7 < box.h / first.h < 1.4 and _overlap(box, first, axis="y") > 0.7 * min(box.h, first.h)
        if similar and 0 <= box.x - whole.right < 0.4 * first.h and box.w < 0.95 * box.h:
            ten = whole.union(box)
            return [ten, whole] if ten.w < 1.5 * ten.h else [whole]
    return [whole]


def _gap(a: Box, b: Box) -> int:
    return max(a.x - b.right, b.x - a.right)


def _overlap(a: Box, b: Box, axis: str) -> int:
    if axis == "y":
        return min(a.bottom, b.bottom) - max(a.y, b.y)
    return min(a.right, b.right) - max(a.x, b.x)


def _suit_under(rank: Box, boxes: list[Box]) -> Box | None:
    """The part below the rank that can be its suit."""
    best: tuple[float, Box] | None = None
    centre = rank.x + rank.w / 2
    for box in boxes:
        gap = box.y - rank.bottom
        if not -0.12 * rank.h <= gap <= 0.75 * rank.h or not 0.3 <= box.h / rank.h <= 1.35:
            continue
        off = abs(box.x + box.w / 2 - centre)
        if off > 0.45 * max(rank.w, 0.6 * rank.h) or not 0.5 <= box.w / box.h <= 1.7:
            continue
        cost = off / rank.h + max(gap, 0) / rank.h
        if best is None or cost < best[0]:
            best = (cost, box)
    return None if best is None else _with_pieces(best[1], boxes, rank)


def _with_pieces(suit: Box, boxes: list[Box], rank: Box) -> Box:
    """``suit`` with small pieces that lie within its column: the leaves of a club at low resolution."""
    whole = suit
    for box in boxes:
        inside = _overlap(box, suit, axis="x") > 0.6 * box.w and box.y >= rank.bottom
        if box is not suit and inside and box.h < 0.6 * suit.h and -2 < box.y - whole.bottom < 0.15 * suit.h:
            whole = whole.union(box)
    return whole


def _suit_beside(rank: Box, boxes: list[Box], width: int) -> Box | None:
    """The part to the right of the rank that can be its suit."""
    found = [
        box
        for box in boxes
        if box.x >= rank.right - 2
        and box.x + box.w / 2 > width * 0.55
        and 0.45 <= box.h / rank.h <= 1.4
        and _overlap(box, rank, axis="y") > 0.5 * min(box.h, rank.h)
        and 0.5 <= box.w / box.h <= 1.6
    ]
    return min(found, key=lambda box: abs(box.y - rank.y), default=None)


def patch(shares: Plane, box: Box, margin: float, size: tuple[int, int]) -> Plane:
    """``box`` of ``shares`` with ``margin`` (share of its longer side) around it, as a picture of ``size``."""
    extra = margin * max(box.w, box.h)
    room = round(extra) + 4
    x0, y0 = max(0, box.x - room), max(0, box.y - room)
    shares = shares[y0 : box.bottom + room, x0 : box.right + room]
    scale = np.array([size[0] / (box.w + 2 * extra), size[1] / (box.h + 2 * extra)])
    if min(scale) < 0.6:  # warpAffine does not average: blur first by what is to be lost
        shares = np.asarray(cv2.GaussianBlur(shares, (0, 0), 0.45 / float(min(scale))), np.float32)
    x, y = box.x - x0 - extra, box.y - y0 - extra
    matrix = np.array([[scale[0], 0, -x * scale[0]], [0, scale[1], -y * scale[1]]])
    matrix[:, 2] += 0.5 * (scale - 1)
    cut = cv2.warpAffine(shares, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(cut, np.float32)
