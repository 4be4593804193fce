"""Reading by comparison: normalised cross-correlation of printed glyphs with a deck's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from controller.cards import RANKS, SUITS
from vision.pixels import Plane
from vision.segment import Box, patch

#: Width and height of a compared rank and of a suit.
RANK_SIZE: Final = (20, 28)
SUIT_SIZE: Final = (22, 22)
_MARGIN: Final = 0.04
#: What a search takes for a glyph at all.
_SEARCHED: Final = 0.6


class Match(NamedTuple):
    """The most similar glyph: ``score`` -1 to 1, ``margin`` to the best of another name."""

    name: str
    score: float
    margin: float


@dataclass(frozen=True, slots=True, eq=False)
class Glyphs:
    """Ranks and suits of one deck; a name may have several forms.

    ``ranks`` is n x 28 x 20, ``suits`` n x 22 x 22, both bytes: 0 paper, 255 ink, cut at the edge of the glyph.
    """

    ranks: NDArray[np.uint8]
    rank_names: str
    suits: NDArray[np.uint8]
    suit_names: str

    def __post_init__(self) -> None:
        for pictures, names, size, known in (
            (self.ranks, self.rank_names, RANK_SIZE, RANKS),
            (self.suits, self.suit_names, SUIT_SIZE, SUITS),
        ):
            if pictures.shape != (len(names), size[1], size[0]):
                raise ValueError(f"glyphs of shape {pictures.shape} for {len(names)} names")
            if not set(names) <= set(known):
                raise ValueError(f"{names!r} names more than {known}")


class GlyphReader:
    """Compares patches with the glyphs of one deck."""

    def __init__(self, glyphs: Glyphs) -> None:
        self._rank_forms = _Forms(glyphs.ranks, glyphs.rank_names)
        self._suit_forms = _Forms(glyphs.suits, glyphs.suit_names)

    def ranks(self, rows: Plane) -> list[Match]:
        """The rank that each of ``rows`` shows: cut by ``rank_patch``, flat, through ``unit``."""
        return self._rank_forms.best(rows)

    def suits(self, rows: Plane) -> list[Match]:
        """The suit that each of ``rows`` shows: cut by ``suit_patch``, flat, through ``unit``."""
        return self._suit_forms.best(rows)

    def search_rank(self, shares: Plane, box: Box) -> Box | None:
        """Where near ``box`` something most like a rank is; None if nothing is."""
        cut = [(one, rank_patch(shares, one)) for one in _around(box, (0.8, 1.0, 1.3))]
        return _most_like(self._rank_forms.rows, cut)

    def search_suit(self, shares: Plane, box: Box) -> Box | None:
        """Where near ``box`` something most like a suit is; None if nothing is."""
        cut = [(one, suit_patch(shares, one)) for one in _around(box, (1.0,))]
        return _most_like(self._suit_forms.rows, cut)


class _Forms:
    """Known glyphs as rows whose products are correlations, the forms of one name together."""

    def __init__(self, pictures: NDArray[np.uint8], names: str) -> None:
        order = sorted(range(len(names)), key=lambda n: names[n])
        self.rows = unit(pictures[order].reshape(len(names), -1).astype(np.float32))
        self._names = sorted(set(names))
        self._first = [sorted(names).index(name) for name in self._names]

    def best(self, rows: Plane) -> list[Match]:
        """For each row the name with the most similar form, and how far it leads."""
        if len(rows) == 0:
            return []
        # Row by row: a large product would start threads, which wait for each other on a busy machine.
        likeness = np.maximum.reduceat([self.rows @ row for row in rows], self._first, axis=1)
        found = []
        for row, top in zip(likeness, likeness.argmax(axis=1).tolist(), strict=True):
            score, others = float(row[top]), np.delete(row, top)
            found.append(Match(self._names[top], score, score - (float(others.max()) if len(others) else -1.0)))
        return found


def _most_like(known: Plane, cut: list[tuple[Box, Plane]]) -> Box | None:
    rows = unit(np.stack([patch.reshape(-1) for _, patch in cut]))
    likeness = (rows @ known.T).max(axis=1)
    top = int(likeness.argmax())
    return cut[top][0] if likeness[top] > _SEARCHED else None


def _around(box: Box, widths: tuple[float, ...]) -> list[Box]:
    """``box`` moved a little each way, and as wide as other glyphs are."""
    step = max(2, round(box.h / 9))
    found = []
    for share in widths:
        w = round(box.w * share)
        for dx in range(-2 * step, 2 * step + 1, step):
            for dy in range(-2 * step, 2 * step + 1, step):
                x, y = round(box.x + (box.w - w) / 2) + dx, box.y + dy
                if x >= 0 and y >= 0:
                    found.append(Box(x, y, w, box.h))
    return found


def rank_patch(shares: Plane, box: Box) -> Plane:
    """The rank cut at its edge, RANK_SIZE."""
    return np.asarray(patch(shares, box, _MARGIN, RANK_SIZE), np.float32)


def suit_patch(shares: Plane, box: Box) -> Plane:
    """The suit cut at its edge, SUIT_SIZE."""
    return np.asarray(patch(shares, box, _MARGIN, SUIT_SIZE), np.float32)


def unit(rows: Plane) -> Plane:
    """Rows without their mean, of length one: their products are correlations."""
    rows = rows - rows.mean(axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6), np.float32)
