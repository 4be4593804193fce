"""What the book must know of its table."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

Game = Literal["boundless", "classic", "baccarat"]
Wallet = Literal["embedded", "platform"]

#: Largest stake of one bet in minor units; it keeps every sum of a round within 64 bits.
STAKE_MAX: Final = 10**12
#: Largest balance of one player in minor units.
BALANCE_MAX: Final = 10**15
#: Seats of a classic table (BJ7-48).
SEATS_MAX: Final = 7


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Smallest and largest stake of one bet in minor units; None is no limit."""

    min: int | None = None
    max: int | None = None


class BookSetting(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The choices of one table that concern its money. What a hand may do comes with each window."""

    table: str
    game: Game
    #: ``embedded``: the book holds the balances. ``platform``: bets come debited, the book says what to do next.
    wallet: Wallet = "embedded"
    #: By bet name; a bet without an entry has no limits.
    limits: dict[str, Limits] = {}
    #: BJ7-48.
    seats: int = SEATS_MAX
    #: BJ7-44: against a dealer Blackjack only the first stake loses.
    obo: bool = False
    #: BJ7-05, A-13: rounds in a row without any action after which a seat is vacated.
    idle_rounds_to_vacate: int = 1

    def problems(self, bets: tuple[str, ...]) -> list[str]:
        """What is out of range, one sentence each. ``bets``: the names of the game's bets."""
        found = []
        if not 1 <= self.seats <= SEATS_MAX:
            found.append(f"seats must be 1 to {SEATS_MAX}, not {self.seats}")
        if self.idle_rounds_to_vacate < 1:
            found.append(f"idle_rounds_to_vacate must be at least 1, not {self.idle_rounds_to_vacate}")
        for bet, limits in self.limits.items():
            if bet not in bets:
                found.append(f"limits: {self.game} has no bet {bet!r}; its bets are {', '.join(bets)}")
            low, high = limits.min, limits.max
            if low is not None and not 1 <= low <= STAKE_MAX:
                found.append(f"limits.{bet}.min must be 1 to {STAKE_MAX}, not {low}")
            if high is not None and not 1 <= high <= STAKE_MAX:
                found.append(f"limits.{bet}.max must be 1 to {STAKE_MAX}, not {high}")
            if low is not None and high is not None and low > high:
                found.append(f"limits.{bet}: min {low} is above max {high}")
        return found
