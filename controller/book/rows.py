"""The rows of the book: what is asked, what is accepted, what is paid. Money is integer minor units throughout.

Requests are what a game server sends; the checks of the book turn them into rows, and rows alone change the book, so
a journal of rows gives the same book again. All rows encode to JSON and decode from it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Effect = Literal["hit", "stand", "double", "split", "surrender"]
FollowKind = Literal["split", "double"]
StakeKind = Literal["bet", "double", "split", "insurance", "follow-split", "follow-double"]
InstructionKind = Literal["debit", "credit", "refund"]


class Request(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """Base of all requests."""


class BetRequest(Request, frozen=True, gc=False):
    """One bet asked for. ``box``: the seat, classic only; ``behind``: behind that seat, not at it.

    A platform wallet gives the debit's ``transaction`` and the balance ``available`` after it, an embedded one
    neither. ``stake`` may arrive as a fraction so that it can be refused by itself.
    """

    player: str
    bet: str
    stake: int | float
    box: int | None = None
    behind: bool = False
    transaction: str | None = None
    available: int | float | None = None


class InsuranceRequest(Request, frozen=True, gc=False):
    """The player takes insurance (BJS-22, BJ7-26)."""

    player: str


class DecisionRequest(Request, frozen=True, gc=False):
    """A decision on the hand that is the first ``n`` cards of ``line``."""

    player: str
    line: str
    n: int
    request: str


class FollowRequest(Request, frozen=True, gc=False):
    """A bettor behind follows the split or double of the hand ``line``, or declines (BJ7-29, BJ7-30)."""

    player: str
    line: str
    follow: bool = True


class BalanceRequest(Request, frozen=True, gc=False):
    """Set an account of the embedded wallet to ``balance``."""

    player: str
    balance: int | float


class Row(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Base of all accepted rows."""


class Bet(Row, frozen=True, gc=False):
    """An accepted bet, the same row for both kinds of wallet (``BetRequest``)."""

    player: str
    bet: str
    stake: int
    box: int | None = None
    behind: bool = False
    transaction: str | None = None
    available: int | None = None


class Insurance(Row, frozen=True, gc=False):
    """Insurance bought for ``stake``."""

    player: str
    stake: int


class Decision(Row, frozen=True, gc=False):
    """A decision taken. ``effect`` differs from ``request`` where the balance did not cover it (BJS-39); ``extra`` is
    the stake it added."""

    player: str
    line: str
    n: int
    request: str
    effect: Effect
    extra: int = 0


class Follow(Row, frozen=True, gc=False):
    """A bettor behind answered for the hand ``line``; ``extra`` is the stake added, 0 if declined."""

    player: str
    line: str
    kind: FollowKind
    extra: int


class Balance(Row, frozen=True, gc=False):
    """An account of the embedded wallet is set to ``balance``."""

    player: str
    balance: int


class Entry(msgspec.Struct, frozen=True, gc=False):
    """All that one player has in a round, in the order it came."""

    bets: tuple[Bet, ...] = ()
    decisions: tuple[Decision, ...] = ()
    insurance: Insurance | None = None
    follows: tuple[Follow, ...] = ()


class Play(Row, frozen=True, gc=False):
    """One window a hand went through. ``request`` is ``none`` if the player let it pass, None if he was already
    played for; ``auto``: the table decided."""

    line: str
    n: int
    request: str | None
    effect: Effect
    auto: bool


class StakeItem(Row, frozen=True, gc=False):
    """One amount taken from a player, with the wallet transaction that took it. ``what`` names bet, box and hand."""

    kind: StakeKind
    what: str
    amount: int
    transaction: str


class HandPaid(Row, frozen=True, gc=False):
    """One final hand: the first ``length`` cards of ``line``. ``returned`` includes the stake."""

    line: str
    length: int
    stake: int
    result: str
    returned: int
    doubled: bool = False
    behind: bool = False


class BetPaid(Row, frozen=True, gc=False):
    """One bet that is not a hand. ``result`` is the paytable row that pays, or win, push, lose; ``odds`` the profit
    per unit where there is a paytable."""

    bet: str
    stake: int
    result: str
    returned: int
    odds: int = 0
    box: int | None = None
    behind: bool = False


class Paid(Row, frozen=True, gc=False, tag="paid"):
    """A player's settlement under ``version`` of the result. ``amount`` is what moves now: ``returned`` less what an
    earlier version returned; negative takes money back. ``corrects``: the settlement of the version before."""

    player: str
    version: int
    stake: int
    returned: int
    amount: int
    transaction: str
    hands: tuple[HandPaid, ...] = ()
    bets: tuple[BetPaid, ...] = ()
    insurance: BetPaid | None = None
    forced_to_leave: bool = False
    corrects: str | None = None


class Refund(Row, frozen=True, gc=False, tag="refund"):
    """Everything a player staked in a void round (ERR-09), by the transactions that took it."""

    player: str
    amount: int
    items: tuple[StakeItem, ...]


class Instruction(Row, frozen=True, gc=False):
    """What a wallet does: at a platform an instruction to it, embedded the record of what the book did.

    ``transaction`` is derived from table, round, version, kind, bet and player alone, so a repeated instruction is
    known by it. ``reference``: the transaction that a refund gives back, or the settlement that is corrected.
    """

    kind: InstructionKind
    player: str
    amount: int
    transaction: str
    reference: str | None = None


class GroupPaid(Row, frozen=True, gc=False):
    """Hands that are alike: ``count`` of them with ``stake`` and ``returned`` together."""

    line: str
    length: int
    doubled: bool
    result: str
    count: int
    stake: int
    returned: int
    behind: bool = False


class BetGroup(Row, frozen=True, gc=False):
    """All bets of one kind (and box) together."""

    bet: str
    result: str
    odds: int
    count: int
    stake: int
    returned: int
    box: int | None = None


class Settlement(msgspec.Struct, frozen=True):
    """What a version of the result comes to, without looking at any player: found in the time of the groups.

    ``previous`` is what the version before returned. ``players`` have rows to be posted.
    """

    version: int
    players: int
    stake: int
    returned: int
    previous: int
    groups: tuple[GroupPaid, ...]
    bets: tuple[BetGroup, ...]


class Lock(Row, frozen=True, gc=False):
    """What a locked window demands: ``draw`` a card on the line, ``split`` the initial hand. The counts say how many
    hands did what by choice; ``auto`` hands were played by the table, all with the effect ``auto_effect``."""

    draw: bool
    split: bool
    hit: int
    stand: int
    double: int
    splits: int
    surrender: int
    auto: int
    auto_effect: Effect


class Audit(msgspec.Struct, frozen=True):
    """Where all money is, in minor units: ``deposited == balances + at_risk + unpaid + house``. At a platform the
    balances are not the book's: ``balances`` is then what was paid back less what was taken, ``deposited`` is 0."""

    deposited: int
    balances: int
    at_risk: int
    unpaid: int
    house: int
