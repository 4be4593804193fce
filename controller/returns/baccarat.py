"""Exact returns of Baccarat: every deal of four to six cards from a full shoe, by value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import perm, sqrt
from typing import Final

from controller.cards import DECKS, FACES, SHOE_SIZE
from controller.rules.scores import BACCARAT_VALUE, baccarat_value, banker_draws, player_draws

_VALUES: Final = range(10)
#: One face of each value; suits and court ranks make no difference to a baccarat hand.
_FACE: Final = tuple(next(face for face in FACES if BACCARAT_VALUE[face[0]] == value) for value in _VALUES)
_COUNTS: Final = tuple(DECKS * sum(BACCARAT_VALUE[face[0]] == value for face in FACES) for value in _VALUES)
#: Deals are counted as orders of this many cards.
_HORIZON: Final = 6

#: Returned for one unit staked, the stake included: BAC-12, BAC-13 (5% commission, before rounding), BAC-14.
PAID: Final = {
    "BANKER": {"banker": Fraction(195, 100), "tie": Fraction(1)},
    "PLAYER": {"player": Fraction(2), "tie": Fraction(1)},
    "TIE": {"tie": Fraction(9)},
}


@cache
def outcome_chances() -> dict[str, Fraction]:
    """Chances of ``player``, ``banker`` and ``tie`` on a full shoe."""
    counts: Counter[str] = Counter()
    have = list(_COUNTS)
    for player, player_orders in _pairs(have):
        for banker, banker_orders in _pairs(have):
            for winner, deals in _thirds(have, player, banker):
                counts[winner] += player_orders * banker_orders * deals
    return {winner: Fraction(counts[winner], perm(SHOE_SIZE, _HORIZON)) for winner in ("player", "banker", "tie")}


def bet_return(bet: str) -> Fraction:
    """What one unit on ``BANKER``, ``PLAYER`` or ``TIE`` returns on average."""
    chances = outcome_chances()
    return sum((chances[winner] * paid for winner, paid in PAID[bet].items()), Fraction(0))


def bet_spread(bet: str) -> float:
    """The standard deviation of what one unit on the bet returns."""
    chances = outcome_chances()
    squares = sum((chances[winner] * paid**2 for winner, paid in PAID[bet].items()), Fraction(0))
    return sqrt(squares - bet_return(bet) ** 2)


def _pairs(have: list[int]) -> Iterator[tuple[list[str], int]]:
    """Two cards, in how many orders they come; they are gone from ``have`` until the next pair is asked for."""
    for first, second in combinations_with_replacement(_VALUES, 2):
        orders = have[first] * (have[second] - (first == second)) * (1 if first == second else 2)
        have[first] -= 1
        have[second] -= 1
        yield [_FACE[first], _FACE[second]], orders
        have[first] += 1
        have[second] += 1


def _thirds(have: list[int], player: list[str], banker: list[str]) -> Iterator[tuple[str, int]]:
    """Winner and count for each way to complete two hands of two cards (BAC-07..11)."""
    if not player_draws(player, banker):
        yield from _bankers_third(have, player, banker, 1)
        return
    for value in _VALUES:
        orders = have[value]
        have[value] -= 1
        yield from _bankers_third(have, [*player, _FACE[value]], banker, orders)
        have[value] += 1


def _bankers_third(have: list[int], player: list[str], banker: list[str], orders: int) -> Iterator[tuple[str, int]]:
    """As ``_thirds`` once PLAYER's hand is complete, ``orders`` being how often it came to that."""
    dealt = len(player) + len(banker)
    if not banker_draws(player, banker):
        yield _winner(player, banker), orders * perm(SHOE_SIZE - dealt, _HORIZON - dealt)
        return
    rest = perm(SHOE_SIZE - dealt - 1, _HORIZON - dealt - 1)
    for value in _VALUES:
        yield _winner(player, [*banker, _FACE[value]]), orders * have[value] * rest


def _winner(player: list[str], banker: list[str]) -> str:
    """BAC-11."""
    mine, theirs = baccarat_value(player), baccarat_value(banker)
    return "player" if mine > theirs else "banker" if theirs > mine else "tie"
