"""What a page of rules must know of the bet book, which stands above the rules and hands it down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Terms(Protocol):
    """How a table's own book takes bets and pays, found by asking the book."""

    @property
    def bets(self) -> Sequence[str]:
        """The names of the bets."""

    @property
    def stake_max(self) -> int:
        """The largest stake of any bet, in minor units."""

    def limits(self, bet: str) -> tuple[int | None, int | None]:
        """Smallest and largest stake; None is no limit."""

    @property
    def hand_results(self) -> Sequence[str]:
        """How a hand may end."""

    def hand_return(self, result: str, stake: int) -> int:
        """What a hand returns, its stake included."""

    def first_stake_only(self) -> int:
        """What a hand of 100 doubled to 200 returns against a dealer Blackjack."""

    def insurance_stake(self, main: int) -> int:
        """What insurance costs."""

    def insurance_return(self, stake: int) -> int:
        """What insurance returns if the dealer has Blackjack."""

    def extra(self, request: str, main: int) -> int:
        """What a double or split costs."""

    def short(self, request: str, cards: Sequence[str]) -> str | None:
        """What a double or split becomes that the balance does not cover; None if it is refused."""

    def automatic(self, score: int) -> str:
        """What is done for a player who does not decide."""

    def coup_return(self, bet: str, winner: str, stake: int) -> int:
        """What a bet on a Baccarat hand returns, its stake included."""
