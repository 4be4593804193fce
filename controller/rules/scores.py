"""Scores of hands, the one place where a card has a value.

Blackjack: SHOE-03, BJS-10..13. Baccarat: BAC-05, BAC-06, BAC-07..10.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

#: Ace counted as 1; Score.soft says whether the hand may count ten more.
BLACKJACK_VALUE: Final = {"A": 1, "T": 10, "J": 10, "Q": 10, "K": 10} | {str(n): n for n in range(2, 10)}
BACCARAT_VALUE: Final = {"A": 1, "T": 0, "J": 0, "Q": 0, "K": 0} | {str(n): n for n in range(2, 10)}
BLACKJACK: Final = 21
DEALER_STANDS: Final = 17


class Score(NamedTuple):
    """A blackjack total; ``soft`` if an ace counts 11 in it."""

    total: int
    soft: bool

    @property
    def bust(self) -> bool:
        """Over 21 (BJS-11)."""
        return self.total > BLACKJACK


def blackjack_value(card: str) -> int:
    """1 for an ace, else the pips, ten for T, J, Q, K (SHOE-03). ``card`` is a face."""
    return BLACKJACK_VALUE[card[0]]


def blackjack_score(cards: Sequence[str]) -> Score:
    """The best total of faces: one ace counts 11 unless that busts (BJS-10)."""
    total, ace = 0, False
    for card in cards:
        value = BLACKJACK_VALUE[card[0]]
        total += value
        ace = ace or value == 1
    soft = ace and total <= BLACKJACK - 10
    return Score(total + 10 if soft else total, soft)


def is_blackjack(cards: Sequence[str]) -> bool:
    """Two cards, one ace and one ten-valued (BJS-12). The caller excludes split hands (BJS-13)."""
    return len(cards) == 2 and {BLACKJACK_VALUE[c[0]] for c in cards} == {1, 10}


def is_ten_or_ace(card: str) -> bool:
    """True for the up-cards that call for a peek (BJS-21)."""
    return BLACKJACK_VALUE[card[0]] in (1, 10)


def burn_count(card: str) -> int:
    """How many cards follow the exposed first card face down; an ace is one (SHOE-08)."""
    return BLACKJACK_VALUE[card[0]]


def baccarat_value(cards: Sequence[str]) -> int:
    """Sum modulo 10 (BAC-06)."""
    return sum(BACCARAT_VALUE[card[0]] for card in cards) % 10


def is_natural(cards: Sequence[str]) -> bool:
    """Two cards worth 8 or 9 (BAC-07)."""
    return len(cards) == 2 and baccarat_value(cards) >= 8


#: BAC-10: for each BANKER value the PLAYER third-card values on which BANKER draws.
BANKER_DRAWS_ON: Final = {
    0: frozenset(range(10)),
    1: frozenset(range(10)),
    2: frozenset(range(10)),
    3: frozenset(range(10)) - {8},
    4: frozenset({2, 3, 4, 5, 6, 7}),
    5: frozenset({4, 5, 6, 7}),
    6: frozenset({6, 7}),
    7: frozenset[int](),
}


def player_draws(player: Sequence[str], banker: Sequence[str]) -> bool:
    """PLAYER's third card is due: no natural (BAC-07) and 0 to 5 (BAC-08). Two cards each."""
    return not is_natural(player) and not is_natural(banker) and baccarat_value(player) <= 5


def banker_draws(player: Sequence[str], banker: Sequence[str]) -> bool:
    """BANKER's third card is due, PLAYER's hand being complete (BAC-07, BAC-09, BAC-10)."""
    if is_natural(player[:2]) or is_natural(banker):
        return False
    value = baccarat_value(banker)
    if len(player) == 2:
        return value <= 5
    return BACCARAT_VALUE[player[2][0]] in BANKER_DRAWS_ON[value]
