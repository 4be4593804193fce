"""The rules of one table as configured: the ``[game]`` section of a table file.

Defaults are those of the game rules; ``GameOptions`` refuses what no game allows, and ``problems`` names what
contradicts the chosen game.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

Game = Literal["boundless", "classic", "baccarat"]

#: Cards that must be left before a round may open: the longest round seen in 60,000 simulated rounds took 19
#: (boundless), seven seats are warned of below 60 (classic), a coup takes at most 6 (baccarat).
RESERVE = {"boundless": 40, "classic": 60, "baccarat": 6}
#: What the games differ in where the file says nothing (A-06, BJ7-24, BJ7-40, BJS-62).
_BY_GAME = {
    "boundless": {"dealer_draws": "needed", "double_after_split": True},
    "classic": {"dealer_draws": "always", "double_after_split": False},
    "baccarat": {"dealer_draws": "needed", "double_after_split": True},
}
#: What a void costs, and what becomes of a round after a restart (C-05, ERR-03..05, ERR-07).
_POLICIES = {
    "boundless": {"on_error": "pause_and_resolve", "on_restart": "resume"},
    "classic": {"on_error": "cancel_and_reshuffle", "on_restart": "void_round_and_shoe"},
    "baccarat": {"on_error": "void_affected", "on_restart": "resume"},
}
#: Rule choices that mean nothing for a game.
_FOREIGN = {
    "boundless": ("seats", "shuffle", "obo", "idle_rounds_to_vacate"),
    "classic": ("split_order", "shuffle"),
    "baccarat": (
        "split_order",
        "split_second",
        "dealer_draws",
        "surrender_against",
        "double_after_split",
        "seats",
        "obo",
        "idle_rounds_to_vacate",
    ),
}
#: Settings that only the table's own book reads.
BOOK_ONLY: Final = ("obo", "idle_rounds_to_vacate", "follow_s")


class GameOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Every rule choice of a table. Times in seconds; ids in brackets are the rules they configure."""

    #: The game; it sets the defaults below.
    game: Game
    #: A-01: which round is the last once the cut card is out.
    last_round_policy: Literal["next", "current"] = "next"
    #: SHOE-07..12: exposed card and as many face down, one card face down, or no burn.
    burn: Literal["by_first_card", "one", "none"] = "by_first_card"
    #: BAC-02, C-01: a shoe with a cut card, or a machine that shuffles all cards before each coup.
    shuffle: Literal["cut_card", "every_round"] = "cut_card"
    #: A-08: the main hand is finished before or after the split hands.
    split_order: Literal["main_first", "split_first"] = "main_first"
    #: Second cards of both split hands at once, or each when its hand's turn comes.
    split_second: Literal["both", "as_played"] = "both"
    #: BJS-62, BJ7-40: the dealer draws only when the platform says so, or always. None: the game's own default,
    #: as below; a finished ``GameOptions`` holds no None but in ``reserve``.
    dealer_draws: Literal["needed", "always"] | None = None
    #: BJS-33, C-08.
    surrender_against: Literal["two_to_nine", "two_to_ten"] = "two_to_nine"
    #: BJS-34, BJ7-24, A-06.
    double_after_split: bool | None = None
    #: BJ7-48: places at a classic table.
    seats: int = 7
    #: Who keeps the bets and derives the draws: the table's book, or a platform by ``branch_demand``, without which
    #: the table holds.
    decisions: Literal["book", "platform"] = "book"
    #: BJ7-44, A-19: against a dealer Blackjack only the first stake of a hand loses.
    obo: bool = False
    #: BJ7-05, A-13: rounds in a row without any action after which a seat is vacated.
    idle_rounds_to_vacate: int = 1
    #: BJ7-29, BJ7-30: how long bettors behind may follow.
    follow_s: float = 5.0
    #: What a void costs. ERR-01..03, ERR-07: the round alone is void; ERR-04, ERR-10: the shoe goes out with it.
    #: None: the game's own policy.
    on_error: Literal["pause_and_resolve", "cancel_and_reshuffle", "void_affected"] | None = None
    #: Cards at the wrong place (M-11..M-13): they stay and the place left out is dealt next, or they are moved to
    #: where they belong, or the round is void.
    position_error_policy: Literal["leave_and_compensate", "reassign", "void"] = "leave_and_compensate"
    #: After a restart with a round open: go on once the order of cards is proven, or, if the table was away longer
    #: than ``host_loss_void_after_s``, void round and shoe (ERR-05). None: the game's own policy.
    on_restart: Literal["resume", "void_round_and_shoe"] | None = None
    #: With ``void_round_and_shoe``: how long the table may be away.
    host_loss_void_after_s: float = 30.0
    #: An incident or lost device voids the round after this long; 0 never does.
    auto_void_after_s: float = 300.0
    #: REG-24: how long another person has to approve a card entered by hand, or a correction.
    approval_s: float = 120.0
    #: REG-22, M-34: betting opens only with a dealer logged on.
    dealer_log_on: Literal["required", "optional"] = "optional"
    #: REG-22: without a card or a command of the dealer for this long, the next betting waits for a log-on; 0 never.
    lock_after_s: float = 300.0
    #: M-23, M-24: the dealer confirms that felt and screen agree before the result is published.
    confirm_result: bool = False
    #: How long the dealer has for that.
    confirm_s: float = 20.0
    #: How long bets are taken.
    betting_s: float = 15.0
    #: How long insurance is offered.
    insurance_s: float = 8.0
    #: How long players may decide on a hand.
    decision_s: float = 12.0
    #: The peek's answer is published this long after insurance closes, for yes and no alike.
    peek_delay_s: float = 1.5
    #: A shoe that reports stand-by must do so this long after the result.
    standby_s: float = 10.0
    #: Cards left behind the cut card; coming out more than 15 cards from there is an incident. None: not checked.
    cut_card_left: int | None = None
    #: M-28: before the next shoe, the cards left in the old one are counted, or all read to the end.
    reconcile: Literal["off", "count", "read"] = "off"
    #: Cards that must be left before a round opens; None takes the game's own figure.
    reserve: int | None = None

    def __post_init__(self) -> None:
        for name, value in (_BY_GAME[self.game] | _POLICIES[self.game]).items():
            if getattr(self, name) is None:
                msgspec.structs.force_setattr(self, name, value)

    def problems(self) -> list[str]:
        """What is out of range or contradicts the game, one sentence each."""
        found = [
            f"{name} must be at least {low:g}, not {value:g}"
            for name, value, low in (
                ("auto_void_after_s", self.auto_void_after_s, 0),
                ("betting_s", self.betting_s, 0.001),
                ("insurance_s", self.insurance_s, 0.001),
                ("decision_s", self.decision_s, 0.001),
                ("follow_s", self.follow_s, 0.001),
                ("peek_delay_s", self.peek_delay_s, 0),
                ("standby_s", self.standby_s, 0.001),
                ("confirm_s", self.confirm_s, 0.001),
                ("approval_s", self.approval_s, 0.001),
                ("lock_after_s", self.lock_after_s, 0),
                ("host_loss_void_after_s", self.host_loss_void_after_s, 0),
            )
            if value < low
        ]
        if self.reserve is not None and not 0 <= self.reserve <= 416:
            found.append(f"reserve must be 0 to 416 cards, not {self.reserve}")
        if self.cut_card_left is not None and not 1 <= self.cut_card_left <= 415:
            found.append(f"cut_card_left must be 1 to 415 cards, not {self.cut_card_left}")
        if self.shuffle == "every_round" and (self.cut_card_left is not None or self.reconcile != "off"):
            found.append('shuffle = "every_round" has no cut card and no last card: remove cut_card_left, reconcile')
        if not 1 <= self.seats <= 7:
            found.append(f"seats must be 1 to 7, not {self.seats}")
        if self.shuffle == "every_round" and self.burn != "none":
            found.append('shuffle = "every_round" has no burn: set burn = "none"')
        plain = GameOptions(game=self.game)
        found += [
            f"{name} means nothing for {self.game}: remove it"
            for name in _FOREIGN[self.game]
            if getattr(self, name) != getattr(plain, name)
        ]
        return found

    @property
    def reserve_cards(self) -> int:
        """Cards that must be left in the shoe before a round opens."""
        return RESERVE[self.game] if self.reserve is None else self.reserve
