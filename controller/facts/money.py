"""Facts of the bet book. Who bet what stays in the journal."""

from __future__ import annotations

from typing import Literal

from controller.book.rows import Balance, Bet, Decision, Follow, Insurance, Paid, Refund
from controller.facts.base import Fact


class BetsAccepted(Fact, frozen=True, kw_only=True, tag="bets_accepted"):
    """A batch of bets that stand. Who bet what stays in the journal."""

    SECRET = ("rows",)
    count: int
    total: int
    rows: tuple[Bet, ...]


class BalancesSet(Fact, frozen=True, kw_only=True, tag="balances_set"):
    """Accounts of the embedded wallet set from outside."""

    PUBLIC = False
    rows: tuple[Balance, ...]


class InsuranceTaken(Fact, frozen=True, kw_only=True, tag="insurance_taken"):
    """A batch of insurance."""

    PUBLIC = False
    rows: tuple[Insurance, ...]


class DecisionsTaken(Fact, frozen=True, kw_only=True, tag="decisions_taken"):
    """A batch of decisions."""

    PUBLIC = False
    rows: tuple[Decision, ...]


class FollowOpened(Fact, frozen=True, kw_only=True, tag="follow_opened"):
    """Bettors behind may follow the split or double of the hand ``line`` (BJ7-29, BJ7-30)."""

    PUBLIC = False
    line: str
    kind: Literal["split", "double"]


class FollowsTaken(Fact, frozen=True, kw_only=True, tag="follows_taken"):
    """A batch of their answers."""

    PUBLIC = False
    rows: tuple[Follow, ...]


class FollowClosed(Fact, frozen=True, kw_only=True, tag="follow_closed"):
    """No more answers; who gave none declined."""

    PUBLIC = False
    line: str


class BetsSettled(Fact, frozen=True, kw_only=True, tag="bets_settled"):
    """What a round comes to, in minor units; stakes are part of what is returned. Void: all of it."""

    SECRET = ("players",)
    version: int
    stake: int
    returned: int
    players: int


class SettlementPosted(Fact, frozen=True, kw_only=True, tag="settlement_posted"):
    """A slice of players is paid."""

    PUBLIC = False
    version: int
    rows: tuple[Paid, ...]


class RefundsPosted(Fact, frozen=True, kw_only=True, tag="refunds_posted"):
    """A slice of players is refunded."""

    PUBLIC = False
    rows: tuple[Refund, ...]
