"""Side bets of both blackjack games as data: PAY-S1..S5 (boundless), BJ7-46 (classic), limits of SHOE-13.

The rows of a paytable stand highest odds first, and the first row that matches is the one that pays. Odds are
profit per unit staked ("to"): 30 means 30:1, a winning stake of 1 returns 31.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from controller.cards import RANKS
from controller.rules.scores import BLACKJACK, blackjack_score

#: Which cards decide a bet: the hand's first two, those and the up-card, or the dealer's whole hand.
DecidedBy = Literal["player", "player_and_up", "dealer"]

Matches = Callable[[Sequence[str]], bool]

_RED = frozenset("HD")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a paytable. ``odds`` is profit per unit staked; ``matches`` judges the deciding cards."""

    key: str
    name: str
    odds: int
    matches: Matches


@dataclass(frozen=True, slots=True)
class Paytable:
    """One side bet. ``rounds`` is the last round of a shoe that offers it (SHOE-13, A-04), None without limit."""

    bet: str
    name: str
    game: str
    rule: str
    decided_by: DecidedBy
    rounds: int | None
    rows: tuple[Row, ...]

    def deciding(self, player: Sequence[str], dealer: Sequence[str]) -> list[str]:
        """The cards this bet looks at. ``player``: the hand from its first card; ``dealer``: up-card first."""
        if self.decided_by == "dealer":
            return list(dealer)
        return list(player[:2]) + (list(dealer[:1]) if self.decided_by == "player_and_up" else [])

    def offered(self, round_in_shoe: int) -> bool:
        """The bet is open in this round; rounds of a shoe count from 1, void rounds included (A-04)."""
        return self.rounds is None or round_in_shoe <= self.rounds


def _suited(cards: Sequence[str]) -> bool:
    """All of one suit (PAY-S5)."""
    return len({card[1] for card in cards}) == 1


def _one_rank(cards: Sequence[str]) -> bool:
    """All of one rank: a pair is two equal ranks, not two equal values (A-10)."""
    return len({card[0] for card in cards}) == 1


def _one_colour(cards: Sequence[str]) -> bool:
    return len({card[1] in _RED for card in cards}) == 1


def _ranks(cards: Sequence[str], ranks: str) -> bool:
    """Exactly these ranks, in any order."""
    return sorted(card[0] for card in cards) == sorted(ranks)


def _total(cards: Sequence[str]) -> int:
    """The best total: an ace is 1 or 11 (A-11)."""
    return blackjack_score(cards).total


def _straight(cards: Sequence[str]) -> bool:
    """Three ranks in sequence; the ace is low or high, never in the middle (PAY-S4)."""
    low = sorted(RANKS.index(card[0]) for card in cards)
    return low[1] - low[0] == low[2] - low[1] == 1 or _ranks(cards, "QKA")


def _bust_with(count: int) -> Matches:
    return lambda cards: len(cards) == count and blackjack_score(cards).bust


_PAIRS = (
    Row("perfect", "Perfect pair: same rank and suit", 30, lambda c: _one_rank(c) and _suited(c)),
    Row(
        "coloured",
        "Coloured pair: same rank and colour, different suits",
        10,
        lambda c: _one_rank(c) and _one_colour(c),
    ),
    Row("mixed", "Mixed pair: same rank, different colours", 5, _one_rank),
)
_BUST_BONUS = (
    Row("bust_8", "Dealer busts with 8 or more cards", 250, lambda c: len(c) >= 8 and blackjack_score(c).bust),
    Row("bust_7", "Dealer busts with 7 cards", 100, _bust_with(7)),
    Row("bust_6", "Dealer busts with 6 cards", 50, _bust_with(6)),
    Row("bust_5", "Dealer busts with 5 cards", 9, _bust_with(5)),
    Row("bust_4", "Dealer busts with 4 cards", 2, _bust_with(4)),
    Row("bust_3", "Dealer busts with 3 cards", 1, _bust_with(3)),
)
_LUCKY_TRIO = (
    Row("777_suited", "7-7-7 suited", 200, lambda c: _ranks(c, "777") and _suited(c)),
    Row("678_suited", "6-7-8 suited", 100, lambda c: _ranks(c, "678") and _suited(c)),
    Row("777_unsuited", "7-7-7, not all of one suit", 50, lambda c: _ranks(c, "777")),
    Row("678_unsuited", "6-7-8, not all of one suit", 30, lambda c: _ranks(c, "678")),
    Row("total_21_suited", "Total 21 suited", 10, lambda c: _total(c) == BLACKJACK and _suited(c)),
    Row("total_21_unsuited", "Total 21, not all of one suit", 3, lambda c: _total(c) == BLACKJACK),
    Row("total_19_20", "Total 19 or 20", 2, lambda c: _total(c) in (19, 20)),
)
_POKER_TRIO = (
    # the row the texts call "three cards of one suit (same value, same suit)".
    Row("suited_trips", "Three of a kind suited", 100, lambda c: _one_rank(c) and _suited(c)),
    Row("straight_flush", "Straight flush", 40, lambda c: _straight(c) and _suited(c)),
    Row("three_of_a_kind", "Three of a kind, not all of one suit", 30, _one_rank),
    Row("straight", "Straight, not all of one suit", 10, _straight),
    Row("flush", "Flush: all of one suit", 5, _suited),
)
_PAIR = (Row("pair", "Pair: same rank", 11, _one_rank),)

PAYTABLES: Final[Mapping[str, Paytable]] = MappingProxyType(
    {
        table.bet: table
        for table in (
            Paytable("pairs", "Pair", "boundless", "PAY-S1", "player", 40, _PAIRS),
            Paytable("bust_bonus", "Bust Bonus", "boundless", "PAY-S2", "dealer", 45, _BUST_BONUS),
            Paytable("lucky_trio", "Lucky Trio", "boundless", "PAY-S3", "player_and_up", 45, _LUCKY_TRIO),
            Paytable("poker_trio", "Poker Trio", "boundless", "PAY-S4", "player_and_up", 45, _POKER_TRIO),
            Paytable("pair", "Pair", "classic", "BJ7-46", "player", None, _PAIR),
        )
    }
)

_CARDS_NEEDED: Final = {"player": 2, "player_and_up": 3}


def evaluate(bet: str, cards: Sequence[str]) -> Row | None:
    """The one row that pays, None if the bet loses. ``cards`` are ``Paytable.deciding``'s, for ``bust_bonus`` the
    dealer's complete hand. Raises ``KeyError`` for an unknown bet, ``ValueError`` for a wrong number of cards."""
    table = PAYTABLES[bet]
    needed = _CARDS_NEEDED.get(table.decided_by, len(cards))
    if len(cards) != needed:
        raise ValueError(f"{bet} is decided by {needed} cards, not {len(cards)}")
    return next((row for row in table.rows if row.matches(cards)), None)


def bets_of(game: str) -> tuple[Paytable, ...]:
    """The side bets of a game, in the order they are shown."""
    return tuple(table for table in PAYTABLES.values() if table.game == game)
