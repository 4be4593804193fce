"""How the book says no: to a whole request, or to one row of a batch."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

import msgspec

#: Every code a refusal of the book may carry, with its meaning.
CODES: Final = {
    "betting_closed": "no betting window is open: no more bets",
    "batch_too_large": "more rows than one batch may carry",
    "unknown_player": "the wallet holds no account of this player",
    "bad_player": "a player id is 1 to 64 printable ASCII characters without spaces",
    "unknown_bet": "the game has no such bet",
    "bad_stake": "a stake is a whole, positive number of minor units",
    "below_minimum": "the stake is below the table's minimum for this bet",
    "above_maximum": "the stake is above the table's maximum for this bet",
    "round_limit": "the bet is no longer offered in this round of the shoe (SHOE-13)",
    "bad_box": "the bet names no box, or one that this table does not have",
    "already_placed": "the player has this bet in this round",
    "one_seat": "a player may take one seat only (BJ7-02)",
    "seat_taken": "the seat belongs to another player",
    "seat_empty": "nobody plays at this seat, so nobody can bet behind it (BJ7-06)",
    "seat_and_behind": "a player bets at a seat or behind, not both in one round (BJ7-06)",
    "main_first": "this side bet needs a confirmed main bet (BJ7-04)",
    "bad_transaction": "the wallet's transaction or balance is missing, malformed or not of this kind of wallet",
    "transaction_known": "another bet, of this or an earlier round, came with the same transaction",
    "insufficient_balance": "the player's balance does not cover it",
    "no_insurance": "the insurance window is not open",
    "not_seated": "the player has no main bet in this round",
    "nothing_to_insure": "half of the main bet is less than one minor unit",
    "already_insured": "the player has bought insurance in this round",
    "no_window": "this decision window is not open",
    "not_your_hand": "the player has no hand there",
    "hand_finished": "the hand is complete",
    "on_autoplay": "the player missed a decision and is played for in the rest of the round",
    "already_decided": "the player has decided in this window",
    "not_legal": "the rules do not allow this decision on this hand",
    "no_follow": "this follow window is not open",
    "not_behind": "the player has no bet behind this hand",
    "already_answered": "the player has answered in this window",
    "bad_balance": "a balance is a whole number of minor units, not negative",
    "round_open": "the player has bets in a round that is not settled",
}

#: Rows that one batch may carry.
BATCH_MAX: Final = 2_000


class BookRefusal(Exception):
    """The whole request is refused and nothing was changed. ``code`` is one of ``CODES``."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Refused(msgspec.Struct, frozen=True, gc=False):
    """One row of a batch that is refused; the others stand. ``index`` is its place in the batch, from 0."""

    index: int
    player: str
    code: str
    message: str


R = TypeVar("R")


class Checked(msgspec.Struct, Generic[R], frozen=True):
    """What a batch comes to: rows to apply, in order, and rows refused one by one. ``repeated``: places of rows that
    stand already, sent again by a wallet."""

    rows: list[R]
    refused: list[Refused]
    repeated: list[int] = []
