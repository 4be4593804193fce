"""The cards of the simulated shoe: which order, what has left, what lies on the felt. Pure.

Not simulated: how cards are shuffled (any order is as likely as any other), cards that stick or turn over, a
shoe that is opened or refilled in play, foreign or missing cards (a cards file may name any).
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from controller.cards import CUT, SHOE_SIZE, shuffled_shoe
from drivers.simulated.steps import Refused

# The dealer's cut lies this many cards from the end of a shuffled shoe.
CUT_FROM_END: Final = (60, 120)


@dataclass(frozen=True)
class Item:
    """One thing in the shoe. ``index`` counts from 0 what left before it, the cut card included."""

    shoe: int
    index: int
    card: str


class SimulatedShoe:
    """A shoe that can be loaded again and again; shoe 1 is in it from the start.

    Shoe ``k`` of seed ``s`` is ``Random(f"{s}/{k}")``'s shuffle, whatever was dealt before. With ``cards`` every
    shoe has that order, until ``load`` gives a seed. ``cut`` puts the cut card behind that many cards; None is a
    seeded place in a shuffled shoe, and wherever ``cards`` has it, if at all. Raises ``ValueError`` for a ``cut``
    that cannot be.
    """

    def __init__(self, seed: int, *, cards: list[str] | None = None, cut: int | None = None) -> None:
        if cards is not None and cut is not None and CUT in cards:
            raise ValueError(f"the cards already say where the cut card lies ({CUT}): leave the cut out")
        size = SHOE_SIZE if cards is None else len(cards)
        if cut is not None and not 0 <= cut <= size:
            raise ValueError(f"the cut card cannot lie behind {cut} cards: this shoe has {size}, give 0 to {size}")
        self._seed = seed
        self._cards = cards
        self._cut = cut
        self._number = 0
        self._items: list[str] = []
        self._gone = 0
        self._felt: list[Item] = []
        self._last: Item | None = None
        self.load()

    @property
    def number(self) -> int:
        """Which shoe this is, from 1."""
        return self._number

    @property
    def left(self) -> int:
        """Cards still in the shoe; the cut card does not count."""
        return len(self._items) - self._gone - self._items[self._gone :].count(CUT)

    @property
    def drawn(self) -> int:
        """Cards that left this shoe; the cut card does not count."""
        return self._gone - self._items[: self._gone].count(CUT)

    @property
    def felt(self) -> tuple[Item, ...]:
        """Cards drawn since the last ``collect``, in order."""
        return tuple(self._felt)

    @property
    def last(self) -> Item | None:
        """What left last, if it can still be pushed back or shown to the reader again."""
        return self._last

    @property
    def next_is_card(self) -> bool:
        """True if the next thing to leave is a card, not the cut card or nothing."""
        return self._gone < len(self._items) and self._items[self._gone] != CUT

    def load(self, seed: int | None = None) -> None:
        """Put in the next shoe and clear the felt; ``seed`` shuffles this and all later ones."""
        if seed is not None:
            self._seed = seed
            self._cards = None
        self._number += 1
        rng = Random(f"{self._seed}/{self._number}")
        if self._cards is not None:
            self._items = list(self._cards)
            cut = self._cut
        else:
            self._items = shuffled_shoe(rng)
            from_end = rng.randint(*CUT_FROM_END)
            cut = SHOE_SIZE - from_end if self._cut is None else self._cut
        if cut is not None:
            self._items.insert(cut, CUT)
        self._gone = 0
        self._felt.clear()
        self._last = None

    def take(self, *, to_felt: bool = True) -> Item:
        """The next item leaves the shoe; a card comes to lie on the felt. Raises ``Refused`` if none is left."""
        if self._gone == len(self._items):
            raise Refused("the shoe is empty: load the next one")
        item = Item(self._number, self._gone, self._items[self._gone])
        self._gone += 1
        self._last = None
        if item.card == CUT:
            self._last = item
        elif to_felt:
            self.put(item)
        return item

    def put(self, item: Item) -> None:
        """A card that left before comes to lie on the felt."""
        self._felt.append(item)
        self._last = item

    def push_back(self) -> Item:
        """What left last goes back in; once only. Raises ``Refused`` if it is not at the exit any more."""
        item = self._last
        if item is None or item.index != self._gone - 1:
            raise Refused("nothing at the exit to push back: draw first")
        self._gone -= 1
        if self._felt and self._felt[-1] == item:
            self._felt.pop()
        self._last = None
        return item

    def collect(self) -> int:
        """The cards on the felt go to the discard rack; how many."""
        count = len(self._felt)
        self._felt.clear()
        self._last = None
        return count
