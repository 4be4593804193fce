"""The book of Baccarat: PLAYER, BANKER and TIE (BAC-12..14, BAC-18)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from controller.book.base import Book
from controller.book.lines import Sum
from controller.book.pay import LOSES, Groups, Payer, Pays
from controller.book.rows import BetGroup, BetPaid, Entry
from controller.rules.scores import baccarat_value

PLAYER, BANKER, TIE = "PLAYER", "BANKER", "TIE"
#: What a win returns of 100, the stake included, floored to the minor unit: 2 for 1, 1.95 for 1, 9 for 1.
RETURNS: Final = {PLAYER: 200, BANKER: 195, TIE: 900}


def win_return(bet: str, stake: int) -> int:
    """What a winning stake returns (BAC-12..14)."""
    return stake * RETURNS[bet] // 100


def winner(cards: Mapping[str, Sequence[str]]) -> str:
    """The bet that these hands win (BAC-11)."""
    mine, theirs = baccarat_value(cards["player"]), baccarat_value(cards["banker"])
    return PLAYER if mine > theirs else BANKER if theirs > mine else TIE


class BaccaratPayer(Payer):
    """One version of a coup's result. ``Sum.part`` is what the stakes return if their bet wins."""

    def __init__(self, won: str, sums: Mapping[str, Sum]) -> None:
        self._winner, self._sums = won, sums

    def _pay(self, bet: str, stake: int, won: int) -> tuple[str, int]:
        """Result and return; on a tie PLAYER and BANKER get their stake back without commission (BAC-14, BAC-18)."""
        if bet == self._winner:
            return "win", won
        return ("push", stake) if self._winner == TIE else (LOSES, 0)

    def pay(self, player: str, entry: Entry) -> Pays:  # noqa: ARG002 - every payer is called alike
        """See ``Payer.pay``."""
        bets = []
        for bet in entry.bets:
            result, back = self._pay(bet.bet, bet.stake, win_return(bet.bet, bet.stake))
            bets.append(BetPaid(bet.bet, bet.stake, result, back))
        return (), tuple(bets), None

    def _groups(self) -> Groups:
        bets = []
        for bet, found in self._sums.items():
            result, back = self._pay(bet, found.stake, found.part)
            bets.append(BetGroup(bet, result, 0, found.count, found.stake, back))
        return (), tuple(bets)


class BaccaratBook(Book):
    """Bets on two hands that nobody decides for. Cards come as ``player`` and ``banker``."""

    BETS = (PLAYER, BANKER, TIE)

    def _part(self, bet: str, stake: int) -> int:
        return win_return(bet, stake)

    def _payer(self, cards: dict[str, tuple[str, ...]]) -> Payer:
        return BaccaratPayer(winner(cards), self.sums)
