"""One corner of a card read by two readers that know nothing of each other, and by its colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from controller.cards import RANKS, SUITS
from vision import ink
from vision.glyphs import GlyphReader, Match
from vision.network import Network
from vision.pips import Pips
from vision.pixels import Image, Plane, as_image
from vision.profiles import DeckProfile, Zone
from vision.segment import FACE, Box, Index, find_beside, find_over

RED_SUITS: Final = "HD"
#: What the network alone is so sure of speaks against another corner.
_HINT: Final = 0.9
#: How sure the network must be of the suit, at the median of the pips.
_FEW_PIPS: Final = 0.9
_MANY_PIPS: Final = 0.6
#: Ink that is neither red nor black, as under glare, needs an enrolled suit as sure as this.
_SURE_OF_FADED: Final = 0.95
#: A lead over the next name that settles it.
_CLEAR_LEAD: Final = 0.3


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
    #: With glyphs of the very deck the comparison says more, so the network may be less sure.
    own_network: float = 0.35
    own_likeness: float = 0.70
    own_lead: float = 0.06


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
    #: Read as rank over suit, so the face may have pips.
    over: bool

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
    balanced: Image
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
        return Face(
            as_image(cv2.flip(self.picture, -1)),
            as_image(cv2.flip(self.balanced, -1)),
            np.asarray(cv2.flip(self.shares, -1), np.float32),
            as_image(cv2.flip(self.mask, -1)),
        )


class _Deck:
    """A profile, ready to compare with."""

    def __init__(self, profile: DeckProfile) -> None:
        self.profile = profile
        self.reader = GlyphReader(profile.glyphs)

    def search(self, face: Face) -> Index | None:
        """The index by likeness alone, near where this deck has it: for print that blur has run together."""
        zones = self.profile.rank_zone, self.profile.suit_zone
        if zones[0] is None or zones[1] is None:
            return None
        rank = self.reader.search_rank(face.shares, zones[0].on(FACE))
        suit = self.reader.search_suit(face.shares, zones[1].on(FACE))
        return None if rank is None or suit is None else Index(rank, suit)


class CornerReader:
    """Reads upper left corners by the profiles' glyphs and the network."""

    def __init__(self, profiles: Sequence[DeckProfile], network: Network, demands: Demands | None = None) -> None:
        self._decks = [_Deck(profile) for profile in profiles]
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
            for index, decks in some:
                corners.append(self._judge(face, index, decks, ranks[place], suits[place + 1]))
                place += 2
            answers.append(sorted(corners, key=lambda corner: (corner.card is None, -corner.sure)))
        return answers

    def judge(self, indices: Sequence[tuple[Face, Index]]) -> list[Corner]:
        """What rank-over-suit ``indices`` say whose places are known already; nothing if no deck is laid out so."""
        decks = [deck for deck in self._decks if deck.profile.layout == "over"]
        if not indices or not decks:
            return []
        cut = [self._network.patches(face.shares, list(index_boxes(index))) for face, index in indices]
        ranks, suits = self._network.read(np.concatenate(cut))
        return [
            self._judge(face, index, decks, ranks[2 * n], suits[2 * n + 1]) for n, (face, index) in enumerate(indices)
        ]

    def read_pips(self, face: Face, pips: Pips) -> tuple[str, float]:
        """The card that ``pips`` show, if network, glyphs and colour agree on the suit of most of them; how sure."""
        turned = face.turned()
        here = [(face, box) for box in pips.upright]
        here += [(turned, Box(FACE[0] - box.right, FACE[1] - box.bottom, box.w, box.h)) for box in pips.inverted]
        if pips.rank == "A":
            here += [(turned, Box(FACE[0] - b.right, FACE[1] - b.bottom, b.w, b.h)) for b in pips.upright]
        cut = np.concatenate([self._network.patches(one.shares, [box]) for one, box in here])
        rows = self._network.read(cut)[1]
        if pips.rank == "A":  # it stands one way or the other: upright is where it looks like a suit
            best = int(rows[:, : len(SUITS)].max(axis=1).argmax())
            here, rows = [here[best]], rows[best : best + 1]
        named = rows[:, : len(SUITS)].argmax(axis=1)
        top = int(np.bincount(named, minlength=len(SUITS)).argmax())
        sure = float(np.median(rows[:, top]))
        alike = [
            max((d.reader.suit(f.shares, box) for d in self._decks), key=lambda m: m.score).name for f, box in here
        ]
        demanded = _FEW_PIPS if len(here) < 4 else _MANY_PIPS
        most = float((named == top).mean()) >= 0.7 and alike.count(SUITS[top]) >= 0.6 * len(alike)
        if not most or sure < demanded:
            return "", 0.0
        reds = [
            ink.redness(f.balanced[b.y : b.bottom, b.x : b.right], f.mask[b.y : b.bottom, b.x : b.right])
            for f, b in here
        ]
        if ink.colour(float(np.median(reds))) != ("red" if SUITS[top] in RED_SUITS else "black"):
            return "", 0.0
        return pips.rank + SUITS[top], sure

    def _candidates(self, face: Face) -> list[tuple[Index, list[_Deck]]]:
        """Where rank and suit can be, with the decks that allow it."""
        found: list[tuple[Index, list[_Deck]]] = []
        for layout, find in (("over", find_over), ("beside", find_beside)):
            decks = [deck for deck in self._decks if deck.profile.layout == layout]
            for index in find(face.mask) if decks else ():
                allow = [deck for deck in decks if _fits(deck.profile, index)]
                if allow:
                    found.append((index, allow))
        for deck in self._decks:
            if not any(deck in allow for _, allow in found):
                index_there = deck.search(face)
                if index_there is not None:
                    found.append((index_there, [deck]))
        return found

    def _judge(self, face: Face, index: Index, decks: list[_Deck], ranks: Plane, suits: Plane) -> Corner:
        rank = self._agree("rank", RANKS, ranks, [(d.reader.rank(face.shares, index.rank), d) for d in decks])
        suit = self._agree("suit", SUITS, suits, [(d.reader.suit(face.shares, index.suit), d) for d in decks])
        over = any(deck.profile.layout == "over" for deck in decks)
        reasons = [verdict.reason for verdict in (rank, suit) if verdict.reason]
        named = suit.name
        if named:
            box = index.suit
            part = (slice(max(0, box.y), box.bottom), slice(max(0, box.x), box.right))
            seen = ink.colour(ink.redness(face.balanced[part], face.mask[part]))
            faded = not seen and suit.own and suit.sure > _SURE_OF_FADED
            if not faded and seen != ("red" if named in RED_SUITS else "black"):
                reasons.append(f"suit {named} looks {seen or 'neither red nor black'}")
                named = ""
        hints = (rank.hint if suit.hint else "", suit.hint if rank.hint else "")
        return Corner(rank.name, named, rank.sure, suit.sure, hints, "; ".join(reasons), index, over)

    def _agree(self, what: str, names: str, row: Plane, matches: list[tuple[Match, _Deck]]) -> _Verdict:
        """Do the network and the most similar glyph name the same?"""
        demands = self._demands
        match, deck = max(matches, key=lambda pair: pair[0].score)
        top = int(row[: len(names)].argmax())
        said, sure = names[top], float(row[top])
        hint = said if sure > _HINT else ""
        own = match.name in deck.profile.own
        none = sure < float(row[len(names)])
        if said != match.name or (none and not own):
            return _Verdict(
                "", sure, hint, f"readers disagree on the {what}: {'none' if none else said}, {match.name}"
            )
        if own:
            likely = sure / max(float(row[: len(names)].sum()), 1e-6)
            strength = min(max(match.margin / _CLEAR_LEAD, 0.0), 0.95)
            if (
                sure >= demands.own_network
                and match.score >= demands.own_likeness
                and match.margin >= demands.own_lead
            ):
                return _Verdict(said, 1 - (1 - likely) * (1 - strength), hint, "", own=True)
        likeness, lead = (
            (demands.rank_likeness, demands.rank_lead)
            if what == "rank"
            else (demands.suit_likeness, demands.suit_lead)
        )
        if none or sure < demands.network or match.score < likeness or match.margin < lead:
            return _Verdict("", sure, hint, f"{what} {said} is not sure")
        return _Verdict(said, sure, hint, "")


@dataclass(frozen=True, slots=True)
class _Verdict:
    """``name``: what both readers say, or empty with a ``reason``; ``hint``: what the network is sure of alone."""

    name: str
    sure: float
    hint: str
    reason: str
    #: By a glyph of this very deck.
    own: bool = False


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
