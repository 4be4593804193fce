"""How facts of the bet book change it: the part of the fold that moves money."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from controller import facts as f
from controller.book.classic import ClassicBook
from controller.book.hands import HandBook
from controller.table.state import TableState


def _bets_accepted(state: TableState, fact: f.BetsAccepted, now: int) -> None:  # noqa: ARG001
    assert state.betting is not None
    state.betting.apply_bets(fact.rows)


def _balances_set(state: TableState, fact: f.BalancesSet, now: int) -> None:  # noqa: ARG001
    assert state.book is not None
    state.book.apply_balances(fact.rows)


def _insurance_taken(state: TableState, fact: f.InsuranceTaken, now: int) -> None:  # noqa: ARG001
    assert isinstance(state.betting, HandBook)
    state.betting.apply_insurance(fact.rows)


def _decisions_taken(state: TableState, fact: f.DecisionsTaken, now: int) -> None:  # noqa: ARG001
    assert isinstance(state.betting, HandBook)
    state.betting.apply_decisions(fact.rows)


def _follow_opened(state: TableState, fact: f.FollowOpened, now: int) -> None:  # noqa: ARG001
    assert isinstance(state.betting, ClassicBook)
    state.betting.open_follow(fact.line, fact.kind)


def _follows_taken(state: TableState, fact: f.FollowsTaken, now: int) -> None:  # noqa: ARG001
    assert isinstance(state.betting, ClassicBook)
    state.betting.apply_follows(fact.rows)


def _follow_closed(state: TableState, fact: f.FollowClosed, now: int) -> None:  # noqa: ARG001
    assert isinstance(state.betting, ClassicBook)
    state.betting.close_follow()


def _posted(state: TableState, fact: f.SettlementPosted | f.RefundsPosted, now: int) -> None:  # noqa: ARG001
    assert state.betting is not None
    state.betting.apply_posted(fact.rows)


BOOK: dict[type[f.Fact], Callable[[TableState, Any, int], None]] = {
    f.BetsAccepted: _bets_accepted,
    f.BalancesSet: _balances_set,
    f.InsuranceTaken: _insurance_taken,
    f.DecisionsTaken: _decisions_taken,
    f.FollowOpened: _follow_opened,
    f.FollowsTaken: _follows_taken,
    f.FollowClosed: _follow_closed,
    f.SettlementPosted: _posted,
    f.RefundsPosted: _posted,
}
