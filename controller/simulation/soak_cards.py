"""The cards of a soak as they physically are: each one's face and what was heard of it, and the shoe they are in."""

from __future__ import annotations

from controller.cards import CUT
from drivers.simulated.shoe import Item, SimulatedShoe


class Card:
    """One physical card. ``told``: what a reading named it; ``seen``: what the camera took it for, if for another;
    ``shown``: the camera said that it lies there, face up;
    ``noise``: something else was heard with it."""

    __slots__ = ("dealt", "face", "item", "kinds", "named", "noise", "seen", "shown", "told")

    def __init__(self, item: Item, kinds: tuple[str, ...]) -> None:
        self.item, self.face, self.kinds = item, item.card, kinds
        self.told: str | None = None
        self.seen: str | None = None
        self.noise = self.dealt = self.named = self.shown = False


def blame(card: Card, kind: str) -> None:
    """What the dealer did with a card without any source noticing."""
    card.kinds = (*card.kinds, kind)


class PhysicalShoe(SimulatedShoe):
    """A shoe whose make-up can be wrong, and whose cards can be put aside one by one.

    ``skip``: so many cards of the felt were shown again already.
    """

    skip = 0

    @property
    def felt(self) -> tuple[Item, ...]:
        """See ``SimulatedShoe.felt``."""
        return tuple(self._felt[self.skip :])

    def make(self, *, ninth: str | None, cut_card: bool, cut_at: int | None, missing: int | None) -> None:
        """Spoil the shoe just loaded. ``missing``: the place of the card that is not there."""
        if missing is not None and self._items[missing] != CUT:
            del self._items[missing]
        if ninth is not None:
            self._items[40] = ninth
            self._items[45] = ninth
        if not cut_card or cut_at is not None:
            self._items.remove(CUT)
        if cut_at is not None:
            self._items.insert(cut_at, CUT)

    def put_aside(self, item: Item) -> None:
        """A card leaves the felt."""
        if item in self._felt:
            self._felt.remove(item)
            if self._last == item:
                self._last = None
