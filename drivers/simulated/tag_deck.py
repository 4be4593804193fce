"""The tags in the simulated cards: which number each of them has.

Not simulated: tags that lose their number, and two tags of one number.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Final

from controller.cards import CUT, full_shoe
from drivers.simulated.shoe import Item
from drivers.tags import TagRegistry

# NXP ICODE, as in the vectors of the hardware page.
_GENUINE: Final = "E00401"
_STRANGE: Final = "E00701"


def made_registry(seed: int, shoe: str = "simulated") -> TagRegistry:
    """A whole shoe of tags and one of the cut card, drawn from ``seed``."""
    rng = Random(f"{seed}/tags")
    numbers = rng.sample(range(1 << 40), len(full_shoe()) + 1)
    cards = [*full_shoe(), CUT]
    return TagRegistry(shoe, {f"{_GENUINE}{n:010X}": card for n, card in zip(numbers, cards, strict=True)})


class TagDeck:
    """Gives every card of every shuffle a tag of the registry; which of its face's tags is drawn from ``seed``."""

    def __init__(self, registry: TagRegistry, seed: int) -> None:
        self._seed = seed
        self._tags: dict[str, list[str]] = {}
        for uid, card in registry.cards.items():
            self._tags.setdefault(card, []).append(uid)
        self._given: dict[Item, str | None] = {}
        self._counts: Counter[tuple[int, str]] = Counter()

    def uid(self, item: Item) -> str | None:
        """The tag in ``item``, always the same; None if it has none, which only a cut card may not have.

        A face that is in the shoe more often than the registry has tags for it gets tags that nobody knows.
        """
        if item not in self._given:
            number = self._counts[item.shoe, item.card]
            self._counts[item.shoe, item.card] += 1
            tags = sorted(self._tags.get(item.card, []))
            Random(f"{self._seed}/{item.shoe}/{item.card}").shuffle(tags)
            spare = None if item.card == CUT else strange_uid(Random(f"{self._seed}/{item}"))
            self._given[item] = tags[number] if number < len(tags) else spare
        return self._given[item]


def strange_uid(rng: Random) -> str:
    """A tag that is in no registry made here."""
    return f"{_STRANGE}{rng.getrandbits(40):010X}"
