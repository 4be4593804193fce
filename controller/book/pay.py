"""What cards return: BJS-63..66, PAY-S, BJ7-42..47, BAC-12..14. Stakes in minor units, every odd fraction floored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Final

from controller.book.lines import Sum
from controller.book.rows import Bet, BetGroup, BetPaid, Entry, GroupPaid, HandPaid
from controller.rules.blackjack import outcome
from controller.rules.scores import is_blackjack
from controller.rules.side_bets import PAYTABLES, evaluate

Faces = tuple[str, ...]
Pays = tuple[tuple[HandPaid, ...], tuple[BetPaid, ...], BetPaid | None]
Groups = tuple[tuple[GroupPaid, ...], tuple[BetGroup, ...]]
#: How a losing bet's row reads.
LOSES: Final = "lose"
#: Insurance pays 2:1 (BJS-23, BJ7-47): three times the stake comes back.
INSURANCE_RETURNS: Final = 3
#: What a hand returns: whole stakes, and halves of a stake, each floored. 3:2 for a Blackjack, 1:1 for any other win
#: (PAY-S6, BJ7-47), the stake for a push, half of it for a surrender (BJS-33, BJ7-22).
HAND_RETURNS: Final = {
    "bj": (2, 1),
    "win": (2, 0),
    "push": (1, 0),
    "surrender": (0, 1),
    "lose": (0, 0),
    "bust": (0, 0),
}


def hand_result(hand: Faces, dealer: Faces, *, surrendered: bool, split: bool) -> str:
    """How a final hand ends against the dealer's: a key of ``HAND_RETURNS`` (BJS-63..66, BJ7-42, BJ7-43)."""
    return "surrender" if surrendered else outcome(list(hand), list(dealer), split=split)


def hand_return(result: str, stake: int, part: int, kept: int = 0) -> int:
    """What a hand of ``stake`` returns, or hands that add up to it. ``part``: half of each stake, floored. ``kept``:
    what comes back of a hand that only loses its first stake (BJ7-44)."""
    stakes, halves = HAND_RETURNS[result]
    return stakes * stake + halves * part + (kept if result == "lose" else 0)


class Payer(ABC):
    """One version of a result, ready to be paid."""

    @abstractmethod
    def pay(self, player: str, entry: Entry) -> Pays:
        """A player's hands, other bets and insurance."""

    @abstractmethod
    def _groups(self) -> Groups: ...

    @cached_property
    def _found(self) -> Groups:
        return self._groups()

    def groups(self) -> Groups:
        """Hands and bets that are alike, together."""
        return self._found

    def total(self) -> int:
        """What all players together get back, stakes included."""
        hands, bets = self._found
        return sum(g.returned for g in hands) + sum(b.returned for b in bets)


class SideBets:
    """The side bets of one hand of cards: the row that pays and its odds."""

    def __init__(self, player: Faces, dealer: Faces) -> None:
        self._player, self._dealer = player, dealer
        self._known: dict[str, tuple[str, int]] = {}

    def row(self, bet: str) -> tuple[str, int]:
        """Key and odds of the paytable row that pays; ``("lose", 0)`` if none does."""
        if bet not in self._known:
            row = evaluate(bet, PAYTABLES[bet].deciding(self._player, self._dealer))
            self._known[bet] = (LOSES, 0) if row is None else (row.key, row.odds)
        return self._known[bet]

    def pay(self, bet: Bet) -> BetPaid:
        """One bet."""
        key, odds = self.row(bet.bet)
        back = bet.stake * (odds + 1) if key != LOSES else 0
        return BetPaid(bet.bet, bet.stake, key, back, odds, bet.box, bet.behind)

    def group(self, bet: str, bets: Sum, box: int | None = None) -> BetGroup:
        """All bets of a kind."""
        key, odds = self.row(bet)
        back = bets.stake * (odds + 1) if key != LOSES else 0
        return BetGroup(bet, key, odds, bets.count, bets.stake, back, box)


class Insured:
    """Insurance against this dealer's hand."""

    def __init__(self, dealer: Faces, bought: Sum) -> None:
        self._wins = is_blackjack(dealer)
        self._bought = bought

    def pay(self, entry: Entry) -> BetPaid | None:
        """A player's insurance, None if he has none."""
        if entry.insurance is None:
            return None
        stake = entry.insurance.stake
        return BetPaid("insurance", stake, self._result, stake * INSURANCE_RETURNS if self._wins else 0)

    @property
    def _result(self) -> str:
        return "win" if self._wins else LOSES

    def groups(self) -> tuple[BetGroup, ...]:
        """All insurance together; nothing if nobody has any."""
        bought = self._bought
        if not bought.count:
            return ()
        back = bought.stake * INSURANCE_RETURNS if self._wins else 0
        return (BetGroup("insurance", self._result, 0, bought.count, bought.stake, back),)
