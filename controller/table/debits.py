"""The platform's debits: each transaction id is good for one bet, in any round (design page 6).

The book knows those of its own round. What came with earlier rounds the shell looks up before it asks the table, and
keeps with the facts: ``named`` and ``taken`` say which.
"""

from __future__ import annotations

from collections.abc import Iterable

from controller import commands as c
from controller import facts as f


def named(command: c.Command) -> list[str]:
    """The debits that a command names."""
    if not isinstance(command.args, c.PlaceBets):
        return []
    return [bet.transaction for bet in command.args.bets if bet.transaction is not None]


def taken(facts: Iterable[f.Fact]) -> list[str]:
    """The debits that came with bets just accepted."""
    return [
        row.transaction
        for fact in facts
        if isinstance(fact, f.BetsAccepted)
        for row in fact.rows
        if row.transaction is not None
    ]
