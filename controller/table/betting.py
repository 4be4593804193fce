"""The bet book inside the table: bets, decisions and follows as facts, locks, settlement in slices.

Only with ``[game] decisions = "book"``; the platform's way of deciding has no book.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from controller import commands as c
from controller import facts as f
from controller.book.base import Book
from controller.book.classic import ClassicBook
from controller.book.hands import HandBook
from controller.book.refusals import BookRefusal, Checked
from controller.book.rows import Paid, Refund
from controller.refusal import Refusal
from controller.rules.blackjack import line_cards
from controller.rules.steps import Step
from controller.table.draft import Draft
from controller.table.lines import cards_by_line

#: Players whose settlement is made durable at once; a shoe event waits for one slice at most.
SLICE: Final = 1_000
#: How a decision window closed by the book is keyed: the platform's keys are its own.
KEY: Final = "book"


def book_of(draft: Draft) -> Book:
    """The book. Raises ``Refusal`` (``wrong_mode``) where the platform decides."""
    book = draft.state.book
    if book is None:
        raise Refusal("wrong_mode", 'this table has decisions = "platform": the platform keeps the bets')
    return book


def hand_book(draft: Draft) -> HandBook:
    """The book of a game with decisions."""
    book = book_of(draft)
    if not isinstance(book, HandBook):
        raise Refusal("wrong_mode", f"{draft.setting.rules.game} has no decisions")
    return book


# --- commands --------------------------------------------------------------------------------------------------


def _checked(draft: Draft, check: Callable[[], Checked[Any]]) -> list[Any]:
    """The rows of a batch that stand; those refused go into the reply, one by one."""
    try:
        checked = check()
    except BookRefusal as refusal:
        raise Refusal(refusal.code, refusal.message) from refusal
    draft.reply |= {
        "accepted": len(checked.rows) + len(checked.repeated),
        "refused": [
            {"index": r.index, "player": r.player, "code": r.code, "message": r.message} for r in checked.refused
        ],
    }
    return checked.rows


def _instruct(draft: Draft, rows: list[Any]) -> None:
    """What a platform's wallet must take because of ``rows`` just accepted."""
    book = draft.state.betting
    if book is not None and not book.money.embedded:
        draft.reply["instructions"] = [msgspec.to_builtins(one) for one in book.instructions(rows)]


def place_bets(draft: Draft, args: c.PlaceBets) -> None:
    """Take a batch of bets; a batch is one fact."""
    book = book_of(draft)
    rows = _checked(draft, lambda: book.check_bets(args.bets, draft.spent))
    if rows:
        draft.emit(f.BetsAccepted(count=len(rows), total=sum(row.stake for row in rows), rows=tuple(rows)))


def insure(draft: Draft, args: c.Insure) -> None:
    """Take a batch of insurance."""
    book = hand_book(draft)
    rows = _checked(draft, lambda: book.check_insurance(args.players))
    if rows:
        draft.emit(f.InsuranceTaken(rows=tuple(rows)))
        _instruct(draft, rows)


def decide(draft: Draft, args: c.Decide) -> None:
    """Take a batch of decisions; when everybody has decided the window closes."""
    book = hand_book(draft)
    rows = _checked(draft, lambda: book.check_decisions(args.decisions))
    if rows:
        draft.emit(f.DecisionsTaken(rows=tuple(rows)))
        _instruct(draft, rows)
    book = hand_book(draft)
    draft.reply["undecided"] = book.undecided()
    if book.window is not None and book.undecided() == 0:
        close_window(draft)


def follow(draft: Draft, args: c.FollowBets) -> None:
    """Bettors behind answer a split or double."""
    found = book_of(draft)
    if not isinstance(found, ClassicBook):
        raise Refusal("wrong_mode", f"{draft.setting.rules.game} has no bets behind")
    book: ClassicBook = found
    rows = _checked(draft, lambda: book.check_follows(args.answers))
    if rows:
        draft.emit(f.FollowsTaken(rows=tuple(rows)))
        _instruct(draft, rows)
    answered = draft.state.betting
    if isinstance(answered, ClassicBook) and answered.follow is not None:
        draft.reply["undecided"] = answered.unanswered()
        if answered.unanswered() == 0:
            draft.emit(f.FollowClosed(line=answered.follow.line))


def set_balances(draft: Draft, requests: Sequence[Any]) -> None:
    """Set accounts of the embedded wallet."""
    book = book_of(draft)
    rows = _checked(draft, lambda: book.check_balances(requests))
    if rows:
        draft.emit(f.BalancesSet(rows=tuple(rows)))


# --- what the table does by itself -----------------------------------------------------------------------------


def close_window(draft: Draft) -> None:
    """Lock the decision window the table stands at; bettors behind may follow a split or double."""
    step, round_, book = draft.next_step(), draft.state.round, hand_book(draft)
    assert round_ is not None
    line, length = step.line or "", step.prefix_len or 0
    lock = book.demand(line, line_cards(round_, line))
    draw = lock.draw and not (lock.split and line.startswith("seat/"))
    key = f"{KEY}/{line}/{length}/{'parted' if line in round_.parted else 'whole'}"
    draft.emit(f.DecisionClosed(line=line, prefix_len=length, draw=draw, split=lock.split, key=key))
    locked = draft.state.betting
    if isinstance(locked, ClassicBook) and locked.followers(line) and (lock.split or lock.double):
        draft.emit(f.FollowOpened(line=line, kind="split" if lock.split else "double"))


def automatic(draft: Draft, step: Step) -> bool:
    """Windows in which nobody can decide lock at once; whether the dealer draws follows from the bets."""
    book, round_ = draft.state.betting, draft.state.round
    if not isinstance(book, HandBook) or round_ is None or step.kind != "decide":
        return False
    if step.line == "dealer":
        cards = cards_by_line(round_)
        draw: bool = book.dealer_needed(cards)  # type: ignore[attr-defined]
        length = step.prefix_len or 0
        draft.emit(f.DecisionClosed(line="dealer", prefix_len=length, draw=draw, key=f"{KEY}/dealer/{length}"))
        return True
    if book.deciders(step.line or "", step.prefix_len or 0):
        return False
    close_window(draft)
    return True


def post(draft: Draft) -> None:
    """Post the next slice of a settlement or of refunds."""
    book = draft.state.betting
    if book is None or not book.unposted:
        return
    rows = book.due(SLICE)
    refunds = tuple(row for row in rows if isinstance(row, Refund))
    paid = tuple(row for row in rows if isinstance(row, Paid))
    if refunds:
        draft.emit(f.RefundsPosted(rows=refunds))
    else:
        draft.emit(f.SettlementPosted(version=paid[0].version, rows=paid))


def settle(draft: Draft) -> None:
    """Publish the totals of a settled or void round, and post the first slice."""
    book = draft.state.betting
    if book is None:
        return
    if book.voided:
        draft.emit(f.BetsSettled(version=1, stake=book.staked, returned=book.staked, players=len(book.entries)))
    else:
        found = book.settlement()
        draft.emit(
            f.BetsSettled(version=found.version, stake=found.stake, returned=found.returned, players=found.players)
        )
    post(draft)


def settlement_page(book: Book, round_: str, version: int, after: str | None, limit: int) -> dict[str, Any]:
    """A page of the settlement of the round in the book, for the game server: rows and the wallet's instructions.

    Raises ``Refusal`` if that round is not settled, or has no such version or player.
    """
    if book.round != round_ or book.phase not in ("due", "idle"):
        raise Refusal("wrong_round", f"round {round_!r} is not settled yet", expected="bets_settled")
    if not book.voided and not 1 <= version <= len(book.versions):
        raise Refusal("bad_args", f"round {round_} has no version {version}", expected=f"1 to {len(book.versions)}")
    players = list(book.entries.keys(0, len(book.entries)))
    if after is not None and after not in book.entries:
        raise Refusal("bad_args", f"player {after!r} has no bet in round {round_}", expected="the last page's after")
    start = 0 if after is None else players.index(after) + 1
    page = players[start : start + limit]
    rows: list[Paid] | list[Refund]
    if book.voided:
        rows = [book.refund(player) for player in page]
    else:
        rows = [book.paid(player, version) for player in page]
    return {
        "rows": rows,
        "instructions": book.instructions(rows),
        "more": start + limit < len(players),
        "after": page[-1] if page else after,
    }
