"""Accounts and transactions: where a player's money is, and the ids by which a wallet knows each movement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from controller.book.layered import Layered
from controller.book.rows import Instruction, InstructionKind, Paid, Refund, Row, StakeItem


class Money:
    """Balances and what moved, for both kinds of wallet.

    Embedded: ``balances`` are the accounts. Platform: what the wallet last said it has available, less what was taken
    since; forgotten with each round. ``taken`` and ``paid`` count what moved in the life of the book.
    """

    __slots__ = ("balances", "deposited", "embedded", "paid", "taken", "transactions")

    def __init__(self, *, embedded: bool) -> None:
        self.embedded = embedded
        self.balances: Layered[int] = Layered()
        self.transactions: Layered[bool] = Layered()  # of bets of this round, platform only
        self.deposited = 0
        self.taken = 0
        self.paid = 0

    def copy(self) -> Money:
        """A draft."""
        new = Money.__new__(Money)
        new.embedded = self.embedded
        new.balances, new.transactions = self.balances.copy(), self.transactions.copy()
        new.deposited, new.taken, new.paid = self.deposited, self.taken, self.paid
        return new

    def commit(self) -> None:
        """Make the draft the only one."""
        self.balances.commit()
        self.transactions.commit()

    def new_round(self) -> tuple[Layered[Any], ...]:
        """A platform's word on a balance is good for one round. Returns what is no longer read."""
        if self.embedded:
            return ()
        old = (self.balances, self.transactions)
        self.balances, self.transactions = Layered(), Layered()
        return old

    def available(self, player: str) -> int:
        """What the player can still stake."""
        return self.balances.get(player) or 0

    def take_bet(self, player: str, stake: int, transaction: str | None, available: int | None) -> None:
        """A bet's stake leaves the player; a platform took it already and says what is left. The caller keeps
        ``taken``."""
        if available is None:
            self.balances.set(player, (self.balances.get(player) or 0) - stake)
        else:
            self.balances.set(player, available)
            self.transactions.set(transaction or "", True)

    def take(self, player: str, stake: int) -> None:
        """A further stake leaves the player."""
        if stake:
            self.taken += stake
            self.balances.set(player, self.available(player) - stake)

    def give(self, player: str, amount: int) -> None:
        """Money goes back to the player, or from him if a correction is negative. Such a correction may overdraw."""
        if amount:
            self.paid += amount
            if self.embedded:
                self.balances.set(player, self.available(player) + amount)

    def reset(self, player: str, balance: int) -> None:
        """The account is set from outside."""
        self.deposited += balance - self.available(player)
        self.balances.set(player, balance)

    def __eq__(self, other: object) -> bool:
        """The same money at the same players."""
        if not isinstance(other, Money):
            return NotImplemented
        return (
            (self.embedded, self.deposited, self.taken, self.paid)
            == (other.embedded, other.deposited, other.taken, other.paid)
            and self.balances == other.balances
            and self.transactions == other.transactions
        )

    __hash__ = None  # type: ignore[assignment]


def transaction_id(table: str, round_: str, version: int, kind: str, what: str, player: str) -> str:
    """The wallet transaction of one movement. The player's id comes last: it alone may hold a colon."""
    return f"{table}:{round_}:{version}:{kind}:{what}:{player}"


def instructions(
    rows: Iterable[Row], stakes: Iterable[tuple[str, StakeItem]], *, table: str, round_: str
) -> Iterator[Instruction]:
    """What a wallet must do: take ``stakes`` (player, item), pay or take back what ``rows`` settle, refund.

    A first version settles every player, if only with nothing, which closes the round at the wallet; a correction
    moves a difference and nothing else.
    """
    for player, item in stakes:
        yield Instruction("debit", player, item.amount, item.transaction)
    for row in rows:
        if isinstance(row, Refund):
            for item in row.items:
                what = f"{item.kind}/{item.what}"
                own = transaction_id(table, round_, 1, "refund", what, row.player)
                yield Instruction("refund", row.player, item.amount, own, item.transaction)
        elif isinstance(row, Paid) and (row.amount or row.version == 1):
            kind: InstructionKind = "credit" if row.amount >= 0 else "debit"
            yield Instruction(kind, row.player, abs(row.amount), row.transaction, row.corrects)
