"""The book of Baccarat: PLAYER, BANKER and TIE (BAC-12..14, BAC-18)."""

from __future__ import annotations

from collections.abc import Mapping

from controller.book.base import Book
from controller.book.lines import Sum
from controller.book.pay import LOSES, Groups, Payer, Pays
from controller.book.rows import BetGroup, BetPaid, Entry
from controller.rules.scores import baccarat_value

PLAYER, BANKER, TIE = "PLAYER", "BANKER", "TIE"


def banker_profit(stake: int) -> int:
    """95% of a BANKER stake, floored to the minor unit (BAC-13)."""
    return stake * 95 // 100


class BaccaratPayer(Payer):
    """One version of a coup's result."""

    def __init__(self, winner: str, sums: Mapping[str, Sum]) -> None:
        self._winner, self._sums = winner, sums

    def _pay(self, bet: str, stake: int, profit: int) -> tuple[str, int]:
        """Result and return; ``profit`` is what these stakes win on BANKER (BAC-13; nothing else pays commission)."""
        if bet == self._winner:
            return "win", stake + {PLAYER: stake, BANKER: profit, TIE: 8 * stake}[bet]
        return ("push", stake) if self._winner == TIE else (LOSES, 0)

    def pay(self, player: str, entry: Entry) -> Pays:  # noqa: ARG002 - every payer is called alike
        """See ``Payer.pay``."""
        bets = []
        for bet in entry.bets:
            result, back = self._pay(bet.bet, bet.stake, banker_profit(bet.stake))
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

    def _part(self, stake: int) -> int:
        return banker_profit(stake)

    def _payer(self, cards: dict[str, tuple[str, ...]]) -> Payer:
        mine, theirs = baccarat_value(cards["player"]), baccarat_value(cards["banker"])
        return BaccaratPayer(PLAYER if mine > theirs else BANKER if theirs > mine else TIE, self.sums)
