"""One corner of a card read by two readers that know nothing of each other, and by its colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from controller.cards import RANKS, SUITS
from vision import ink
from vision.glyphs import GlyphReader
from vision.network import Network
from vision.pixels import Image, Plane
from vision.profiles import DeckProfile, Zone
from vision.segment import FACE, Box, Index, find_beside, find_over

RED_SUITS: Final = "HD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """How sure the readers must be."""

    #: The network's probability, to agree at all.
    network: float = 0.80
    #: Likeness to a glyph and its lead over the next name.
    rank_likeness: float = 0.60
    suit_likeness: float = 0.60
    rank_lead: float = 0.015
    suit_lead: float = 0.015


@dataclass(frozen=True, slots=True)
class Corner:
    """What one corner says. ``rank`` and ``suit`` are named only where both readers agree and nothing contradicts.

    ``hint_rank`` and ``hint_suit``: what either reader is sure of, agreed or not; they can only contradict.
    """

    rank: str
    suit: str
    rank_sure: float
    suit_sure: float
    hints: tuple[str, ...]
    reason: str
    index: Index

    @property
    def card(self) -> str | None:
        """The face, if both are named."""
        return self.rank + self.suit if self.rank and self.suit else None

    @property
    def sure(self) -> float:
        """The lesser of both probabilities."""
        return min(self.rank_sure, self.suit_sure)


@dataclass(frozen=True, slots=True, eq=False)
class Face:
    """A rectified face, ready to be read."""

    picture: Image
    balanced: Plane
    shares: Plane
    mask: Image

    @classmethod
    def of(cls, picture: Image) -> Face:
        """Balance and separate the ink of ``picture``."""
        balanced = ink.white_balance(picture)
        shares = ink.ink(balanced)
        return cls(picture, balanced, shares, ink.printed(shares))

    def turned(self) -> Face:
        """The same face turned by half."""
        half = np.ascontiguousarray
        return Face(
            half(self.picture[::-1, ::-1]),
            half(self.balanced[::-1, ::-1]),
            half(self.shares[::-1, ::-1]),
            half(self.mask[::-1, ::-1]),
        )


class CornerReader:
    """Reads upper left corners by the profiles' glyphs and the network."""

    def __init__(self, profiles: Sequence[DeckProfile], network: Network, demands: Demands | None = None) -> None:
        self._profiles = [(profile, GlyphReader(profile.glyphs)) for profile in profiles]
        self._network = network
        self._demands = demands or Demands()

    def read(self, faces: Sequence[Face]) -> list[list[Corner]]:
        """The corners that each of ``faces`` can be said to show, most likely first."""
        found = [self._candidates(face) for face in faces]
        boxes = [
            (face, box)
            for face, some in zip(faces, found, strict=True)
            for index, _ in some
            for box in index_boxes(index)
        ]
        if not boxes:
            return [[] for _ in faces]
        ranks, suits = self._network.read(np.concatenate([self._network.patches(f.shares, [b]) for f, b in boxes]))
        answers, place = [], 0
        for face, some in zip(faces, found, strict=True):
            corners = []
            for index, readers in some:
                corners.append(self._judge(face, index, readers, ranks[place], suits[place + 1]))
                place += 2
            answers.append(sorted(corners, key=lambda corner: (corner.card is None, -corner.sure)))
        return answers

    def judge(self, indices: Sequence[tuple[Face, Index]]) -> list[Corner]:
        """What rank-over-suit ``indices`` say whose places are known already."""
        if not indices:
            return []
        readers = [reader for profile, reader in self._profiles if profile.layout == "over"]
        cut = [self._network.patches(face.shares, list(index_boxes(index))) for face, index in indices]
        ranks, suits = self._network.read(np.concatenate(cut))
        return [
            self._judge(face, index, readers, ranks[2 * n], suits[2 * n + 1])
            for n, (face, index) in enumerate(indices)
            if readers
        ]

    def _candidates(self, face: Face) -> list[tuple[Index, list[GlyphReader]]]:
        """Where rank and suit can be, with the profiles that allow it."""
        over = [p for p in self._profiles if p[0].layout == "over"]
        beside = [p for p in self._profiles if p[0].layout == "beside"]
        found = []
        for profiles, find in ((over, find_over), (beside, find_beside)):
            for index in find(face.mask) if profiles else ():
                readers = [reader for profile, reader in profiles if _fits(profile, index)]
                if readers:
                    found.append((index, readers))
        return found

    def _judge(self, face: Face, index: Index, readers: list[GlyphReader], ranks: Plane, suits: Plane) -> Corner:
        demands = self._demands
        rank_match = max((reader.rank(face.shares, index.rank) for reader in readers), key=lambda match: match.score)
        suit_match = max((reader.suit(face.shares, index.suit) for reader in readers), key=lambda match: match.score)
        rank_said, rank_sure = _said(ranks, RANKS)
        suit_said, suit_sure = _said(suits, SUITS)
        box = index.suit
        part = (slice(box.y, box.bottom), slice(box.x, box.right))
        seen = ink.colour(ink.redness(face.balanced[part], face.mask[part]))
        rank, suit, reasons = "", "", []
        if rank_said != rank_match.name or not rank_said:
            reasons.append(f"readers disagree on the rank: {rank_said or 'none'}, {rank_match.name}")
        elif (
            rank_sure < demands.network
            or rank_match.score < demands.rank_likeness
            or rank_match.margin < demands.rank_lead
        ):
            reasons.append(f"rank {rank_said} is not sure")
        else:
            rank = rank_said
        if suit_said != suit_match.name or not suit_said:
            reasons.append(f"readers disagree on the suit: {suit_said or 'none'}, {suit_match.name}")
        elif (
            suit_sure < demands.network
            or suit_match.score < demands.suit_likeness
            or suit_match.margin < demands.suit_lead
        ):
            reasons.append(f"suit {suit_said} is not sure")
        elif seen != ("red" if suit_said in RED_SUITS else "black"):
            reasons.append(f"suit {suit_said} looks {seen or 'neither red nor black'}")
        else:
            suit = suit_said
        hints = (
            rank_said if rank_sure > 0.9 and suit_said else "",
            suit_said if suit_sure > 0.9 and rank_said else "",
        )
        return Corner(rank, suit, rank_sure, suit_sure, hints, "; ".join(reasons), index)


def index_boxes(index: Index) -> tuple[Box, Box]:
    """Rank and suit."""
    return index.rank, index.suit


def _said(row: Plane, names: str) -> tuple[str, float]:
    top = int(row.argmax())
    return (names[top] if top < len(names) else "", float(row[top]))


def _fits(profile: DeckProfile, index: Index) -> bool:
    """Is the index where this deck has it?"""
    pairs = ((profile.rank_zone, index.rank), (profile.suit_zone, index.suit))
    return all(zone is None or _near(zone, box) for zone, box in pairs)


def _near(zone: Zone, box: Box) -> bool:
    x, y = (box.x + box.w / 2) / FACE[0], (box.y + box.h / 2) / FACE[1]
    off = abs(x - (zone.x + zone.w / 2)) < 0.055 and abs(y - (zone.y + zone.h / 2)) < 0.045
    return off and 0.7 < box.h / FACE[1] / zone.h < 1.4
