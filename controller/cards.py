"""Card notation and the composition of a shoe (SHOE-01).

A card is the two-character string rank + suit, ``"TD"`` = ten of diamonds. ``HIDDEN`` stands for a face that is
not known or not shown, ``CUT`` for the cut card. Both are never playing cards.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Final

RANKS: Final = "A23456789TJQK"
SUITS: Final = "SHDC"
HIDDEN: Final = "**"
CUT: Final = "CUT"
DECKS: Final = 8
FACES: Final = tuple(rank + suit for suit in SUITS for rank in RANKS)
SHOE_SIZE: Final = DECKS * len(FACES)

_FACES = frozenset(FACES)


def is_card(text: str) -> bool:
    """True if ``text`` names one of the 52 faces, exactly as written here."""
    return text in _FACES


def full_shoe() -> list[str]:
    """The 416 cards of eight decks, unshuffled (SHOE-01)."""
    return [face for _ in range(DECKS) for face in FACES]


def shuffled_shoe(rng: Random) -> list[str]:
    """The 416 cards in an order drawn from ``rng``."""
    cards = full_shoe()
    rng.shuffle(cards)
    return cards


def composition_faults(cards: Iterable[str]) -> list[str]:
    """What keeps ``cards`` from being eight standard decks (SHOE-01), in words; empty if nothing does."""
    counts = dict.fromkeys(FACES, 0)
    faults = []
    total = 0
    for card in cards:
        total += 1
        if card in counts:
            counts[card] += 1
        else:
            faults.append(f"{card!r} is not a card")
    faults += [f"{face} occurs {n} times, not {DECKS}" for face, n in counts.items() if n != DECKS]
    if total != SHOE_SIZE:
        faults.append(f"{total} cards, not {SHOE_SIZE}")
    return faults
