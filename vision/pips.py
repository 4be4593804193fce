"""Number cards read by their pips: how many stand in each column, and which suit most of them show.

It needs no index, so it reads cards whose corners are too small or worn, and it contradicts a misread index.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.pixels import Image, Plane
from vision.segment import Box, components

#: Pips in the left, middle and right column → rank.
_COLUMNS: Final = {
    (0, 1, 0): "A", (0, 2, 0): "2", (0, 3, 0): "3", (2, 0, 2): "4", (2, 1, 2): "5",
    (3, 0, 3): "6", (3, 1, 3): "7", (3, 2, 3): "8", (4, 1, 4): "9", (4, 2, 4): "T",
}  # fmt: skip
#: Rows of the outer columns and of the middle one, as shares of the height between the first and the last pip.
_ROWS: Final = {
    "4": ((0, 1), ()), "5": ((0, 1), (0.5,)), "6": ((0, 0.5, 1), ()), "7": ((0, 0.5, 1), (0.25,)),
    "8": ((0, 0.5, 1), (0.25, 0.75)), "9": ((0, 1 / 3, 2 / 3, 1), (0.5,)),
    "T": ((0, 1 / 3, 2 / 3, 1), (1 / 6, 5 / 6)),
    "2": ((), (0, 1)), "3": ((), (0, 0.5, 1)),
}  # fmt: skip
_OFF: Final = 0.05
#: The middle of a column as a share of the width; outer columns lie between these distances from the middle.
_MIDDLE: Final = 0.07
_OUTER: Final = (0.12, 0.32)


@dataclass(frozen=True, slots=True)
class Pips:
    """The rank that the pips' places mean; the boxes of those that stand upright, and of those upside down.

    Pips at half height are in neither: which way they stand cannot be known.
    """

    rank: str
    upright: tuple[Box, ...]
    inverted: tuple[Box, ...]


def find_pips(mask: Image) -> Pips | None:
    """The pips of a face, upright or turned by half, if they stand as on a number card; None if not."""
    height, width = mask.shape
    inner = [box for box in components(mask, 0.001 * mask.size) if _inner(box, width, height)]
    if not inner or len(inner) > 14:
        return None
    tall = float(np.median([box.h for box in inner]))
    wide = float(np.median([box.w for box in inner]))
    pips = [box for box in inner if 0.72 < box.h / tall < 1.35 and 0.72 < box.w / wide < 1.35]
    if len(pips) != len(inner) or not 0.55 < wide / tall < 1.45:
        return None
    return _arranged(pips, width, height)


def _inner(box: Box, width: int, height: int) -> bool:
    """Is it where pips stand, not an index or the edge?"""
    x, y = (box.x + box.w / 2) / width, (box.y + box.h / 2) / height
    in_index = abs(x - 0.5) > 0.5 - 0.17 and abs(y - 0.5) > 0.5 - 0.3
    edge = box.x <= 0 or box.y <= 0 or box.right >= width or box.bottom >= height
    return not in_index and not edge and box.h > 0.035 * height


def _arranged(pips: list[Box], width: int, height: int) -> Pips | None:
    across = np.array([(box.x + box.w / 2) / width - 0.5 for box in pips])
    down = np.array([(box.y + box.h / 2) / height for box in pips])
    middle = np.abs(across) < _MIDDLE
    outer = (np.abs(across) > _OUTER[0]) & (np.abs(across) < _OUTER[1])
    left, right = outer & (across < 0), outer & (across > 0)
    rank = _COLUMNS.get((int(left.sum()), int(middle.sum()), int(right.sum())))
    if rank is None or not (middle | outer).all():
        return None
    if rank == "A":
        large = pips[0].h > 0.085 * height and abs(float(down[0]) - 0.5) < 0.06
        return Pips(rank, tuple(pips), ()) if large else None
    if not _in_rows(rank, np.sort(down[left]), np.sort(down[middle]), np.sort(down[right])):
        return None
    upright = tuple(box for box, y in zip(pips, down, strict=True) if y < 0.44)
    return Pips(rank, upright, tuple(box for box, y in zip(pips, down, strict=True) if y > 0.56))


def _in_rows(rank: str, left: NDArray[np.float64], middle: NDArray[np.float64], right: NDArray[np.float64]) -> bool:
    """Do the pips stand in the rows of ``rank``, upright or turned by half?"""
    every = np.concatenate([left, middle, right])
    top, bottom = float(every.min()), float(every.max())
    if not (top < 0.33 and bottom > 0.67 and abs(top + bottom - 1) < 0.1):
        return False
    outer, inner = (np.array(rows, np.float64) for rows in _ROWS[rank])

    def fits(a: NDArray[np.float64], rows: NDArray[np.float64]) -> bool:
        return bool(np.abs((a - top) / (bottom - top) - rows).max(initial=0.0) < _OFF / (bottom - top))

    if not (fits(left, outer) and fits(right, outer)):
        return False
    return fits(middle, inner) or fits(middle, np.sort(1 - inner))


def layout_match(shares: Plane) -> tuple[str, float]:
    """The rank whose layout, drawn as blobs, is most like the middle of the face, and its lead over the next."""
    small = cv2.resize(shares, (30, 42), interpolation=cv2.INTER_AREA)[4:38, 5:25]
    row = np.asarray(small, np.float32).reshape(-1) - float(small.mean())
    row = row / max(float(np.linalg.norm(row)), 1e-6)
    names, known = _drawn()
    likeness = np.maximum(known @ row, known[:, ::-1] @ row)
    order = np.argsort(-likeness)
    return names[int(order[0])], float(likeness[order[0]] - likeness[order[1]])


@cache
def _drawn() -> tuple[str, Plane]:
    names = "".join(_COLUMNS.values())
    return names, np.stack([_blobs(rank) for rank in names])


def _blobs(rank: str) -> Plane:
    outer, inner = _ROWS.get(rank, ((), (0.5,)))
    face = np.zeros((42, 30), np.float32)
    places = [(x, y) for y in outer for x in (0.3, 0.7)] + [(0.5, y) for y in inner]
    size = 2.6 if rank == "A" else 2.0
    for x, y in places:
        down = 0.18 + 0.64 * y
        yy, xx = np.mgrid[0:42, 0:30]
        face += np.exp(-(((xx + 0.5 - 30 * x) ** 2) + (yy + 0.5 - 42 * down) ** 2) / (2 * size * size)).astype(
            np.float32
        )
    cut = face[4:38, 5:25].reshape(-1)
    cut = cut - cut.mean()
    return np.asarray(cut / np.linalg.norm(cut), np.float32)
