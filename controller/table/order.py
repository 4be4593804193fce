"""Orders that no shuffle leaves behind: the run of an earlier shoe, or cards in the order of a new deck (M-29).

Runs are kept as keyed hashes, so that neither the state nor a milestone of it tells an order. Only cards that
everybody has seen are compared: an alarm must not depend on a hidden one.

How often a shuffled shoe raises a false alarm: ``RUN`` cards in a row equal one of at most ``SHOES`` x 416 earlier
runs with probability 12,480 / 52**8 = 2.3e-10, at 400 places of a shoe 9e-8. A run of ``SORTED`` cards of one suit,
each next to the one before in the same direction, has probability (8/415)**6 x 2 = 1e-10 a place, 4e-8 a shoe.
Together about one in seven million shoes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from controller.cards import RANKS

#: Cards in a row that make a run, and earlier shoes whose runs are remembered.
RUN: Final = 8
SHOES: Final = 30
#: Cards in a row in the order of a new deck.
SORTED: Final = 7
#: A card that nobody saw: no run goes over it.
UNSEEN: Final = ""


def run_hash(salt: str, cards: Sequence[str]) -> int:
    """One run as 64 bits."""
    digest = hashlib.blake2b("".join(cards).encode(), key=salt.encode()[:64], digest_size=8).digest()
    return int.from_bytes(digest, "big")


def runs(salt: str, cards: Sequence[str], start: int = 0) -> list[int]:
    """Hashes of every run that ends at ``start`` or later."""
    found = []
    for end in range(max(start, RUN - 1), len(cards)):
        run = cards[end - RUN + 1 : end + 1]
        if UNSEEN not in run:
            found.append(run_hash(salt, run))
    return found


def repeated(new: Iterable[int], earlier: Iterable[frozenset[int]]) -> bool:
    """A run of this shoe was dealt before."""
    known = list(earlier)
    return any(one in shoe for one in new for shoe in known)


def sorted_run(cards: Sequence[str], start: int = 0) -> bool:
    """Cards of one suit, each next to the one before, in one direction; the last of them at ``start`` or later."""
    length, way = 1, 0
    for i in range(max(1, start - SORTED + 1), len(cards)):
        step = _step(cards[i - 1], cards[i])
        length = length + 1 if step and step == way else 2 if step else 1
        way = step
        if length >= SORTED and i >= start:
            return True
    return False


def _step(before: str, card: str) -> int:
    """1 or -1 if ``card`` follows ``before`` in the order of a new deck, up or down; else 0."""
    if UNSEEN in (before, card) or before[1] != card[1]:
        return 0
    way = RANKS.index(card[0]) - RANKS.index(before[0])
    return way if abs(way) == 1 else 0
