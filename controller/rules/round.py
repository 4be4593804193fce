"""One round as its facts leave it: cards at positions, demands, reveals. Procedures read it, the table writes it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeVar

from controller.cards import HIDDEN

T = TypeVar("T")


def shallow_copy(one: T) -> T:
    """An object with the same fields. Made for every input: what it copies has no slots, so that one call does it."""
    new = object.__new__(type(one))
    new.__dict__.update(one.__dict__)
    return new


@dataclass(frozen=True, slots=True)
class RoundCard:
    """The n-th card of a round. ``card`` may be ``HIDDEN`` where the device gave no face."""

    position: str
    card: str
    public: bool
    commitment: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Demand:
    """What the game server asked for a line at a prefix (procedures page 2.6)."""

    key: str
    line: str
    prefix_len: int
    draw: bool
    split: bool = False


@dataclass
class Round:
    """A round from betting to result. ``cards`` keeps physical order."""

    id: str
    number: int
    cards: list[RoundCard] = field(default_factory=list)
    demands: dict[tuple[str, int], Demand] = field(default_factory=dict)
    answered: dict[str, Demand] = field(default_factory=dict)  # every demand under its key
    seats: tuple[int, ...] = ()  # occupied, in dealing order
    decided_at: int = 0  # so many cards lay there when players last decided something
    booked: bool = False  # its bets are in the table's own book
    parted: frozenset[str] = frozenset()  # lines that began as one hand
    insurance: str = "none"  # none, open, closed
    peeked: bool | None = None
    window: tuple[str, int] | None = None  # the open decision window
    shoe_result: dict[str, object] | None = None
    confirmed: bool = False  # felt and screen agree, says a person
    turned: tuple[str, ...] = ()  # places whose turned face neither the camera nor a person answers for yet
    version: int = 1
    outcome: dict[str, object] | None = None

    def copy(self) -> Round:
        """A draft that shares only immutable parts."""
        new = shallow_copy(self)
        new.cards, new.demands, new.answered = list(self.cards), dict(self.demands), dict(self.answered)
        return new

    def at(self, position: str) -> str | None:
        """The face at ``position``, ``HIDDEN`` if it is not known, None if no card lies there."""
        for card in self.cards:
            if card.position == position:
                return card.card
        return None

    @property
    def laid(self) -> set[str]:
        """Positions where a card lies."""
        return {card.position for card in self.cards}

    def line(self, prefix: str) -> list[str]:
        """Faces of ``prefix/0``, ``prefix/1`` … in order."""
        head = prefix + "/"
        return [c.card for c in self.cards if c.position.startswith(head)]

    @property
    def faces_known(self) -> bool:
        """No card of this round is face down to the table itself."""
        return all(card.card != HIDDEN for card in self.cards)

    def place(self, card: RoundCard) -> None:
        """Add a card at its position."""
        self.cards.append(card)

    def part(self, lines: tuple[str, str]) -> None:
        """A hand becomes two. A seat's second card moves to the new hand and frees its place, so the decisions on
        the first hand begin again; shared cards stay where they are."""
        self.parted |= set(lines)
        first, second = lines
        if first.startswith("seat/"):
            self.cards = [replace(c, position=f"{second}/0") if c.position == f"{first}/1" else c for c in self.cards]
            self.demands.pop((first, 2), None)

    def move(self, position: str, to: str) -> None:
        """A card lies elsewhere than was recorded."""
        self.cards = [replace(c, position=to) if c.position == position else c for c in self.cards]

    def correct(self, position: str, card: str) -> None:
        """The face at ``position`` was another one. Whether the dealer draws for a hand is asked anew."""
        self.cards = [replace(c, card=card) if c.position == position else c for c in self.cards]
        if self.outcome is None and not position.startswith("dealer/"):
            ahead = [
                d for d in self.demands.values() if d.line == "dealer" and d.prefix_len >= len(self.line("dealer"))
            ]
            for demand in ahead:
                del self.demands[demand.line, demand.prefix_len], self.answered[demand.key]

    def reveal(self, position: str, card: str) -> None:
        """Make the face at ``position`` known and public."""
        for i, old in enumerate(self.cards):
            if old.position == position:
                self.cards[i] = replace(old, card=card, public=True)
                return
        raise KeyError(position)
