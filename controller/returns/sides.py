"""Exact returns of the side bets from a full shoe: every row of every paytable counted through its own test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import comb, prod, sqrt

from controller.cards import DECKS, FACES
from controller.returns import dealer
from controller.returns.composition import faces
from controller.rules.scores import blackjack_score
from controller.rules.side_bets import PAYTABLES, evaluate

_CARDS = {"player": 2, "player_and_up": 3}


@cache
def row_chances(bet: str) -> dict[str, Fraction]:
    """The chance that each row of ``bet`` pays, by row key, highest odds first.

    ``bust_bonus``: the dealer always plays his hand out (BJS-62).
    """
    decided_by = PAYTABLES[bet].decided_by
    deals = _dealer_hands() if decided_by == "dealer" else _first_cards(_CARDS[decided_by])
    total = 0
    paid: Counter[str] = Counter()
    for cards, count in deals:
        total += count
        row = evaluate(bet, cards)
        if row is not None:
            paid[row.key] += count
    return {row.key: Fraction(paid[row.key], total) for row in PAYTABLES[bet].rows}


def bet_return(bet: str) -> Fraction:
    """What one unit on the bet returns on average, the stake of a winning bet included."""
    chances = row_chances(bet)
    return sum((chances[row.key] * (row.odds + 1) for row in PAYTABLES[bet].rows), Fraction(0))


def bet_spread(bet: str) -> float:
    """The standard deviation of what one unit on the bet returns."""
    chances = row_chances(bet)
    squares = sum((chances[row.key] * (row.odds + 1) ** 2 for row in PAYTABLES[bet].rows), Fraction(0))
    return sqrt(squares - bet_return(bet) ** 2)


def bust_chances() -> dict[int, Fraction]:
    """The chance that the dealer busts with each number of cards, from a full shoe."""
    counts: Counter[int] = Counter()
    total = 0
    for hand, count in _dealer_hands():
        total += count
        if blackjack_score(hand).bust:
            counts[len(hand)] += count
    return {cards: Fraction(counts[cards], total) for cards in sorted(counts)}


def _first_cards(number: int) -> Iterator[tuple[tuple[str, ...], int]]:
    """Every set of faces that can be dealt, and in how many ways out of eight decks."""
    for cards in combinations_with_replacement(FACES, number):
        yield cards, prod(comb(DECKS, copies) for copies in Counter(cards).values())


def _dealer_hands() -> Iterator[tuple[list[str], int]]:
    for hand, count in dealer.final_hands():
        yield faces(hand), count
