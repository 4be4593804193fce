"""Cards in a picture: named where everything agrees, unknown with a reason where it does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vision.backs import Backs
from vision.corners import Corner, CornerReader, Demands, Face
from vision.geometry import Geometry
from vision.locate import Region, locate, overlap, portrait, side_lengths
from vision.network import Network
from vision.pips import Pips, find_pips, layout_match
from vision.pixels import Image, Points, as_image
from vision.profiles import DeckProfile
from vision.rectify import inside, rectify, sharpness
from vision.scan import scan

#: Below this long over short side a quadrilateral can lie either way.
_SQUARE: Final = 1.22
_CONFLICT: Final = ("corners disagree", "one corner reads")
_FOREIGN: Final = "face down, but the back is not that of this deck"
_PIP_LEVELS: Final = (0.35, 0.45, 0.55)
_LAYOUT_LEAD: Final = 0.02
_BLURRED: Final = 60.0
_GLARING: Final = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """One card, or what may be one. ``quad``: 4 x 2 corners in pixels, clockwise, the first side a short one.

    ``kind`` is ``card`` with ``card`` named, ``back``, or ``unknown`` with a ``reason``; ``confidence`` 0 to 1.
    """

    kind: Literal["card", "back", "unknown"]
    card: str | None
    quad: Points
    confidence: float
    reason: str = ""


class Recogniser:
    """Finds and reads cards of decks that ``profiles`` describe. For one thread at a time.

    ``geometry`` is the calibrated table; without it, pictures are taken as free photographs.
    """

    def __init__(
        self, profiles: Sequence[DeckProfile], geometry: Geometry | None = None, demands: Demands | None = None
    ) -> None:
        if not profiles:
            raise ValueError("a recogniser needs at least one deck profile")
        self._reader = CornerReader(profiles, Network(), demands)
        self._backs = Backs(profiles)
        self._geometry = geometry
        self._over = any(profile.layout == "over" for profile in profiles)
        self._has_pips = any(profile.pips for profile in profiles)

    def demand(self, demands: Demands) -> None:
        """From now on be so strict."""
        self._reader.demands = demands

    def locate(self, image: Image, within: Region | None = None) -> list[NDArray[np.float64]]:
        """Quadrilaterals, 4 x 2 in pixels, that can be cards, of a calibrated table ``within`` a part of the picture
        if given; nothing is read."""
        return [quad.astype(np.float64) for quad in locate(image, self._geometry, within)]

    def read(self, image: Image) -> list[Found]:
        """Every card of the picture. In a free photograph also cards that only show an index."""
        found = self.read_quads(image, self.locate(image))
        if self._geometry is not None or not self._over:
            return found
        named = [one.quad for one in found if one.kind == "card"]
        known = [(one.card, one.quad.mean(axis=0)) for one in found if one.kind == "card"]
        loose = [
            one
            for one in scan(image, self._reader, named)
            if not any(card == one.card and np.hypot(*(at - one.middle)) < 16 * one.height for card, at in known)
        ]
        places = [one.quad() for one in loose]
        found = [one for one in found if one.kind == "card" or not any(overlap(one.quad, p) > 0.5 for p in places)]
        return found + [Found("card", one.card, place, one.sure) for one, place in zip(loose, places, strict=True)]

    def read_quad(self, image: Image, quad: ArrayLike) -> Found:
        """What lies at ``quad``, 4 x 2 in pixels."""
        return self.read_quads(image, [quad])[0]

    def read_quads(self, image: Image, quads: Sequence[ArrayLike]) -> list[Found]:
        """What lies at each of ``quads``; the readers are asked about all of them at once."""
        ways = [_ways(np.asarray(quad, np.float32).reshape(4, 2)) for quad in quads]
        faces = [Face.of(rectify(image, view)) for views in ways for view in views]
        corners = self._reader.read([side for face in faces for side in (face, face.turned())])
        seen = iter(zip(faces, corners[::2], corners[1::2], strict=True))
        found = []
        for views in ways:
            best: Found | None = None
            for view in views:
                face, *both = next(seen)
                one = self._decide(image, view, face, both)
                if best is not None and one.kind == best.kind == "card" and one.card != best.card:
                    best = Found("unknown", None, views[0], 0.0, "reads differently upright and sideways")
                    break
                if best is None or one.kind == "card":
                    best = one
            assert best is not None
            found.append(best)
        return found

    def _decide(self, image: Image, quad: Points, face: Face, corners: Sequence[Sequence[Corner]]) -> Found:
        card, sure, reason = decide(corners, self._reader.demands.alone)
        pips = self._pips(face) if self._has_pips else None
        if card is not None:
            over = any(corner.over for some in corners for corner in some if corner.card)
            if over and pips is not None and pips.rank not in (card[0], "A"):
                return Found("unknown", None, quad, 0.0, f"the index reads {card}, the pips show {pips.rank}")
            return Found("card", card, quad, sure)
        if pips is not None and not reason.startswith(_CONFLICT) and self._enough(pips, corners):
            card, sure = self._reader.read_pips(face, pips)
            if card and not any(contradicts(corner, card) for some in corners for corner in some[:1]):
                return Found("card", card, quad, sure)
        if self._backs.match(face.picture):
            return Found("back", None, quad, 0.9)
        if not any(corners) and looks_like_back(face):
            if self._backs.known:
                return Found("unknown", None, quad, 0.0, _FOREIGN)
            return Found("back", None, quad, 0.9)
        return Found("unknown", None, quad, 0.0, why_unread(image, quad, face) or reason)

    @staticmethod
    def _enough(pips: Pips, corners: Sequence[Sequence[Corner]]) -> bool:
        """One pip alone is no ace: a corner must read an ace as well, if of a suit that it cannot tell."""
        return pips.rank != "A" or any(corner.rank == "A" for some in corners for corner in some)

    def _pips(self, face: Face) -> Pips | None:
        """Pips whose places and whose look as a whole mean the same rank."""
        pips = find_pips(face.mask)
        for level in _PIP_LEVELS:  # blur runs pips together, or fades them: elsewhere on the slope they stand apart
            if pips is not None:
                break
            pips = find_pips(as_image((face.shares > level) * np.uint8(255)))
        if pips is None:
            return None
        rank, lead = layout_match(face.shares)
        return pips if rank == pips.rank and lead > _LAYOUT_LEAD else None


def _ways(quad: Points) -> list[Points]:
    """``quad`` as a portrait; also lying, if it is too square to tell."""
    upright = portrait(quad)
    sides = side_lengths(upright)
    if sides[1] + sides[3] < _SQUARE * (sides[0] + sides[2]):
        return [upright, upright[[1, 2, 3, 0]]]
    return [upright]


def decide(corners: Sequence[Sequence[Corner]], alone: float) -> tuple[str | None, float, str]:
    """The card that the corners agree on, how sure, or why there is none. One corner ``alone`` must be so sure."""
    named = [corner for some in corners for corner in some if corner.card is not None]
    if not named:
        seen = [corner.reason for some in corners for corner in some[:1] if corner.reason]
        return None, 0.0, seen[0] if seen else "no index found"
    names = sorted({corner.card for corner in named if corner.card})
    if len(names) > 1:
        return None, 0.0, f"corners disagree: {' and '.join(names)}"
    card = names[0]
    for some in corners:
        for corner in some[:1]:
            if corner.card is None and contradicts(corner, card):
                return None, 0.0, f"one corner reads {card}; another: {corner.reason}"
    sides = sum(any(corner.card for corner in some) for some in corners)
    sure = max(corner.sure for corner in named)
    if sides < 2 and sure < alone:
        return None, 0.0, f"only one corner legible, and not sure: {card}"
    return card, sure, ""


def contradicts(corner: Corner, card: str) -> bool:
    """Is this unread corner sure of another rank or suit?"""
    rank, suit = corner.hints
    return bool((rank and rank != card[0]) or (suit and suit != card[1]))


def looks_like_back(face: Face) -> bool:
    """A border of paper around a printed middle, with no index."""
    height, width = face.mask.shape
    middle = face.mask[height // 6 : -height // 6, width // 6 : -width // 6]
    return bool((middle > 0).mean() > 0.45)


def why_unread(image: Image, quad: Points, face: Face) -> str:
    """What about the picture explains that nothing could be read; empty if nothing does."""
    if not inside(quad, image):
        return "cut off at the edge of the picture"
    if sharpness(face.picture) < _BLURRED:
        return "blurred"
    height, width = face.mask.shape
    corner = face.picture[: height // 3, : width // 3]
    if float((corner.min(axis=2) >= 254).mean()) > _GLARING:
        return "glare over the index"
    return ""
