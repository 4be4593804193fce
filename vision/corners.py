"""One corner of a card read by two readers that know nothing of each other, and by its colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np

from controller.cards import RANKS, SUITS
from vision import ink
from vision.glyphs import GlyphReader, Match, rank_patch, suit_patch, unit
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
    #: One legible corner alone must be this sure; two that agree may each be less.
    alone: float = 0.95
    #: An index outside every outline must be this sure.
    loose: float = 0.97


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
            as_image(self.picture[::-1, ::-1]),
            as_image(self.balanced[::-1, ::-1]),
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


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What both readers say of one index, before anything is decided. ``ranks`` and ``suits``: the network's
    probabilities; the matches are those of each deck that allows an index there."""

    face: Face
    index: Index
    decks: Sequence[DeckProfile]
    ranks: Plane
    suits: Plane
    rank_matches: Sequence[Match]
    suit_matches: Sequence[Match]


class CornerReader:
    """Reads upper left corners by the profiles' glyphs and the network."""

    def __init__(self, profiles: Sequence[DeckProfile], network: Network, demands: Demands | None = None) -> None:
        self._decks = [_Deck(profile) for profile in profiles]
        self._network = network
        self.demands = demands or Demands()

    def read(self, faces: Sequence[Face]) -> list[list[Corner]]:
        """The corners that each of ``faces`` can be said to show, most likely first."""
        found = [(n, face, *one) for n, face in enumerate(faces) for one in self._candidates(face)]
        answers: list[list[Corner]] = [[] for _ in faces]
        for (n, *_), corner in zip(found, self._judged([one[1:] for one in found]), strict=True):
            answers[n].append(corner)
        return [sorted(corners, key=lambda corner: (corner.card is None, -corner.sure)) for corners in answers]

    def judge(self, indices: Sequence[tuple[Face, Index]]) -> list[Corner]:
        """What rank-over-suit ``indices`` say whose places are known already; nothing if no deck is laid out so."""
        decks = [deck for deck in self._decks if deck.profile.layout == "over"]
        return self._judged([(face, index, decks) for face, index in indices]) if decks else []

    def _judged(self, found: Sequence[tuple[Face, Index, list[_Deck]]]) -> list[Corner]:
        return [self._judge(one) for one in self.evidence(found)]

    def evidence(self, found: Sequence[tuple[Face, Index, list[_Deck]]]) -> list[Evidence]:
        """Ask both readers about every index at once."""
        if not found:
            return []
        patches = self._network.patches((face.shares, box) for face, index, _ in found for box in index_boxes(index))
        ranks, suits = self._network.read(patches)
        rank_rows = unit(np.stack([rank_patch(f.shares, index.rank).reshape(-1) for f, index, _ in found]))
        suit_rows = unit(np.stack([suit_patch(f.shares, index.suit).reshape(-1) for f, index, _ in found]))
        told: list[tuple[list[Match], list[Match]]] = [([], []) for _ in found]
        for deck in self._decks:
            mine = [n for n, (_, _, decks) in enumerate(found) if deck in decks]
            matches = deck.reader.ranks(rank_rows[mine]), deck.reader.suits(suit_rows[mine])
            for n, rank, suit in zip(mine, *matches, strict=True):
                told[n][0].append(rank)
                told[n][1].append(suit)
        return [
            Evidence(
                face, index, [d.profile for d in self._decks if d in decks], ranks[2 * n], suits[2 * n + 1], *told[n]
            )
            for n, (face, index, decks) in enumerate(found)
        ]

    def read_pips(self, face: Face, pips: Pips) -> tuple[str, float]:
        """The card that ``pips`` show, if network, glyphs and colour agree on the suit of most of them; how sure."""
        turned = face.turned()
        here = [(face, box) for box in pips.upright]
        here += [(turned, Box(FACE[0] - box.right, FACE[1] - box.bottom, box.w, box.h)) for box in pips.inverted]
        if pips.rank == "A":
            here += [(turned, Box(FACE[0] - b.right, FACE[1] - b.bottom, b.w, b.h)) for b in pips.upright]
        rows = self._network.read(self._network.patches((one.shares, box) for one, box in here))[1]
        if pips.rank == "A":  # it stands one way or the other: upright is where it looks like a suit
            best = int(rows[:, : len(SUITS)].max(axis=1).argmax())
            here, rows = [here[best]], rows[best : best + 1]
        named = rows[:, : len(SUITS)].argmax(axis=1)
        top = int(np.bincount(named, minlength=len(SUITS)).argmax())
        sure = float(np.median(rows[:, top]))
        cut = unit(np.stack([suit_patch(one.shares, box).reshape(-1) for one, box in here]))
        matches = zip(*(deck.reader.suits(cut) for deck in self._decks), strict=True)
        alike = [max(some, key=lambda match: match.score).name for some in matches]
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

    def _judge(self, one: Evidence) -> Corner:
        face, index, decks = one.face, one.index, one.decks
        rank = self._agree("rank", RANKS, one.ranks, one.rank_matches, decks)
        suit = self._agree("suit", SUITS, one.suits, one.suit_matches, decks)
        over = any(deck.layout == "over" for deck in decks)
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

    def _agree(
        self, what: str, names: str, row: Plane, matches: Sequence[Match], decks: Sequence[DeckProfile]
    ) -> _Verdict:
        """Do the network and the most similar glyph name the same?"""
        demands = self.demands
        match, deck = max(zip(matches, decks, strict=True), key=lambda pair: pair[0].score)
        top = int(row[: len(names)].argmax())
        said, sure = names[top], float(row[top])
        hint = said if sure > _HINT else ""
        own = match.name in deck.own
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


def _fits(profile: DeckProfile, index: Index) -> bool:
    """Is the index where this deck has it?"""
    pairs = ((profile.rank_zone, index.rank), (profile.suit_zone, index.suit))
    return all(zone is None or _near(zone, box) for zone, box in pairs)


def _near(zone: Zone, box: Box) -> bool:
    x, y = (box.x + box.w / 2) / FACE[0], (box.y + box.h / 2) / FACE[1]
    off = abs(x - (zone.x + zone.w / 2)) < 0.055 and abs(y - (zone.y + zone.h / 2)) < 0.045
    return off and 0.7 < box.h / FACE[1] / zone.h < 1.4
