"""What is left in the shoe, by blackjack value, and exact counting on it.

A composition or hand is a tuple of ten counts, index 0 the aces, index 9 the tens. Values and faces come from the
rule modules, so that a change there changes every return.
"""

from __future__ import annotations

from functools import cache
from math import perm
from typing import Final

from controller.cards import DECKS, FACES, SHOE_SIZE
from controller.rules.scores import Score, blackjack_score, blackjack_value

Hand = tuple[int, ...]

VALUES: Final = range(1, 11)
#: One face of each value, index 0 the ace: suits and court ranks make no difference to a blackjack score.
FACE: Final = tuple(next(face for face in FACES if blackjack_value(face) == value) for value in VALUES)
FULL: Final[Hand] = tuple(DECKS * sum(blackjack_value(face) == value for face in FACES) for value in VALUES)
EMPTY: Final[Hand] = (0,) * len(VALUES)


def add(hand: Hand, value: int) -> Hand:
    """``hand`` with one more card of ``value`` (1 to 10)."""
    return (*hand[: value - 1], hand[value - 1] + 1, *hand[value:])


def left(removed: Hand) -> Hand:
    """What a full shoe holds without ``removed``."""
    return tuple(full - gone for full, gone in zip(FULL, removed, strict=True))


def faces(hand: Hand) -> list[str]:
    """A hand as faces, for the rule modules."""
    return [face for face, count in zip(FACE, hand, strict=True) for _ in range(count)]


@cache
def score(hand: Hand) -> Score:
    """The blackjack score of a hand."""
    return blackjack_score(faces(hand))


def orders(removed: int, cards: int) -> int:
    """In how many orders ``cards`` cards can leave a shoe from which ``removed`` are gone."""
    return perm(SHOE_SIZE - removed, cards)
