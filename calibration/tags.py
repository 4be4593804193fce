"""Enrolling the tags of a shoe: from a list, or card by card at a reader. Pure: no port, no file."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from controller.cards import CUT, DECKS, FACES, is_card
from drivers.events import Event, NoRead, PortLost, PortRestored, TagsTogether, TagUnknown
from drivers.tags import TagRegistry, is_uid

_HEADER: Final = ["uid", "card"]

Result = Literal["enrolled", "again", "line"]


class Count(NamedTuple):
    """How a registry stands: faces that are short or over, by how many."""

    tags: int
    missing: Mapping[str, int]
    surplus: Mapping[str, int]

    @property
    def whole(self) -> bool:
        """It is one shoe: eight tags of each face."""
        return not self.missing and not self.surplus


class Told(NamedTuple):
    """What became of something the reader said, in words for the person at it."""

    result: Result
    text: str


def count(registry: TagRegistry) -> Count:
    """``registry`` against one shoe; tags of the cut card are not counted."""
    counts = Counter(registry.cards.values())
    off = {face: DECKS - counts[face] for face in FACES if counts[face] != DECKS}
    return Count(
        sum(counts[face] for face in FACES),
        {face: n for face, n in off.items() if n > 0},
        {face: -n for face, n in off.items() if n < 0},
    )


def parse_deck(text: str) -> dict[str, str]:
    """The tags of a list, a line ``uid,card`` each, with or without that as a header; empty lines are skipped.

    Raises ``ValueError`` naming the line.
    """
    cards: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, row in enumerate(csv.reader(text.splitlines()), 1):
        words = [word.strip() for word in row]
        if not any(words) or (number == 1 and [word.lower() for word in words] == _HEADER):
            continue
        if len(words) != len(_HEADER):
            raise ValueError(f"line {number}: write uid,card, such as E004010012345678,TD")
        uid, card = words[0].upper(), words[1].upper()
        if not is_uid(uid):
            raise ValueError(f"line {number}: {words[0][:20]!r} is no tag: 16 hexadecimal digits, the first two E0")
        if not (is_card(card) or card == CUT):
            raise ValueError(f"line {number}: {words[1][:20]!r} is not a card such as TD, nor {CUT}")
        if uid in cards:
            raise ValueError(f"line {number}: tag {uid} is in line {lines[uid]} already")
        cards[uid], lines[uid] = card, number
    return cards


class Enrolment:
    """Asks for one card after the other and takes the tag that comes. What a registry has already is not asked for.

    The reader's driver must know no tag, so that each one is ``TagUnknown``.
    """

    def __init__(self, registry: TagRegistry, cut_tags: int = 0) -> None:
        self._shoe = registry.shoe
        self._cards = dict(registry.cards)
        self._wanted = dict.fromkeys(FACES, DECKS) | {CUT: cut_tags}
        self._counts = Counter(self._cards.values())

    @property
    def registry(self) -> TagRegistry:
        """What was enrolled so far."""
        return TagRegistry(self._shoe, dict(self._cards))

    @property
    def left(self) -> int:
        """Tags still to come."""
        return sum(max(0, wanted - self._counts[card]) for card, wanted in self._wanted.items())

    @property
    def due(self) -> str | None:
        """The card to be shown now; None when all are there."""
        return next((card for card, wanted in self._wanted.items() if self._counts[card] < wanted), None)

    def prompt(self) -> str:
        """What to tell the person at the reader."""
        card = self.due
        if card is None:
            return "all tags are enrolled"
        return f"show {card}, number {self._counts[card] + 1} of {self._wanted[card]} ({self.left} left)"

    def take(self, event: Event) -> Told | None:
        """Take in what the reader's driver said; None for what does not matter here."""
        match event:
            case TagUnknown(tag=uid):
                return self._tag(uid)
            case TagsTogether():
                return Told("again", "several tags at once: take all away, then show one card")
            case NoRead():
                return Told("again", "the tag cannot be read: show the card again, flat and alone")
            case PortLost(reason=reason):
                return Told("line", reason)
            case PortRestored():
                return Told("line", "the reader answers")
        return None

    def _tag(self, uid: str) -> Told:
        if not is_uid(uid):
            return Told("again", f"tag {uid} is not of the kind used in cards (its number must begin with E0)")
        if uid in self._cards:
            return Told("again", f"this tag is enrolled as {self._cards[uid]}: show another card")
        card = self.due
        if card is None:
            return Told("again", "nothing is to be enrolled any more")
        self._cards[uid] = card
        self._counts[card] += 1
        return Told("enrolled", f"{card} {uid}")
