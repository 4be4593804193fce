"""A table without a table: the procedure of a game deals from a list of cards, the book takes what people ask.

Everything is done three times: on a draft that is dropped, on one that is committed, and on a mirror that only ever
gets the rows. The first must leave no trace and the last two must be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import pytest

from controller.book import open_book
from controller.book.bets import BookFault
from controller.book.hands import HandBook
from controller.book.rows import (
    BalanceRequest,
    BetRequest,
    DecisionRequest,
    FollowRequest,
    Instruction,
    InsuranceRequest,
)
from controller.book.setting import BookSetting, Limits
from controller.rules import PROCEDURES
from controller.rules.boundless import line_cards
from controller.rules.options import GameOptions
from controller.rules.round import Demand, Round, RoundCard

ROUND = "20261129-0001-{:03d}"


class People:
    """Who sits at the table: by default nobody does anything."""

    def insure(self) -> list[str]:
        """Players who want insurance."""
        return []

    def decide(self, line: str, n: int, legal: Sequence[str]) -> list[tuple[str, str]]:  # noqa: ARG002
        """(player, request) in a window."""
        return []

    def follow(self, line: str, kind: str) -> list[tuple[str, bool]]:  # noqa: ARG002
        """(player, follow) in a follow window."""
        return []

    def window(self, felt: Felt, line: str, cards: Sequence[str], legal: Sequence[str]) -> None:
        """A window is about to be decided."""

    def locked(self, felt: Felt, line: str, n: int) -> None:
        """It is locked."""


class Felt:
    """One table: ``bets`` then ``play``, or step by step."""

    def __init__(self, game: str, **options: Any) -> None:
        book = {name: options.pop(name) for name in ("wallet", "limits", "obo", "idle_rounds_to_vacate")
                if name in options}  # fmt: skip
        book["limits"] = {bet: Limits(min=pair[0], max=pair[1]) for bet, pair in book.pop("limits", {}).items()}
        if "seats" in options:
            book["seats"] = options["seats"]
        self.rules = GameOptions(game=game, **options)  # type: ignore[arg-type]
        self.setting = BookSetting(table="t-1", game=game, **book)  # type: ignore[arg-type]
        self.procedure = PROCEDURES[game]
        self.book: Any = open_book(self.setting)
        self.mirror: Any = open_book(self.setting)
        self.round = Round("", 0)
        self.number = 0
        self.instructions: list[Instruction] = []
        self.refused: list[Any] = []

    # --- the three ways --------------------------------------------------------------------------------------------

    def do(self, change: Callable[[Any], Any]) -> Any:
        """Change the book as a table does."""
        before = self.book.money.taken, self.book.money.paid, self.book.phase
        dropped = self.book.copy()
        change(dropped)
        dropped.check()
        assert (self.book.money.taken, self.book.money.paid, self.book.phase) == before
        draft = self.book.copy()
        found = change(draft)
        draft.commit()
        self.book = draft
        change(self.mirror)
        self.book.check()
        return found

    def rows(self, checked: Any, apply: str) -> Any:
        """Apply the rows of a check, as they come back from a journal."""
        if checked.rows:
            kind = type(checked.rows[0])
            rows = msgspec.json.decode(msgspec.json.encode(checked.rows), type=list[kind])  # type: ignore[valid-type]
            assert rows == checked.rows
            self.do(lambda book: getattr(book, apply)(rows))
            self.instructions += self.book.instructions(rows)
        self.refused += checked.refused
        return checked

    # --- a round ---------------------------------------------------------------------------------------------------

    def fund(self, **balances: int) -> None:
        """Set accounts."""
        rows = self.book.check_balances([BalanceRequest(player, amount) for player, amount in balances.items()])
        assert not rows.refused, rows.refused
        self.rows(rows, "apply_balances")

    def open(self, round_in_shoe: int | None = None) -> None:
        """Open betting on the next round."""
        self.number += 1
        name, number = ROUND.format(self.number), round_in_shoe or self.number
        self.do(lambda book: book.open_round(name, number))
        self.round = Round(name, number)

    def bet(self, *requests: BetRequest) -> Any:
        """Send one batch of bets."""
        return self.rows(self.book.check_bets(list(requests)), "apply_bets")

    def play(self, cards: Iterator[str], people: People | None = None) -> Any:
        """Deal the round to its end and post every row; returns the settlement."""
        if self.book.phase == "betting":
            self.close()
        for _ in range(400):
            if self.step(cards, people or People()):
                return self.finish()
        raise AssertionError("the round does not end")

    def close(self) -> None:
        """No more bets."""
        self.do(lambda book: book.close_bets())
        if self.setting.game == "classic":
            self.round.seats = self.book.occupied

    def step(self, cards: Iterator[str], people: People) -> bool:
        """One step of the procedure; True when the round can be settled."""
        step = self.procedure.next_step(self.round, self.rules)
        parting = getattr(self.procedure, "parting", lambda _round, _step: None)(self.round, step)
        if parting is not None:
            self.round.part(parting)
            return False
        match step.kind:
            case "draw":
                self.round.place(RoundCard(step.position or "", next(cards), not step.hidden))
            case "insurance":
                self.insurance(people)
            case "peek":
                self.round.peeked = self.procedure.peek(self.round)
            case "decide" if step.line == "dealer":
                draw = self.book.dealer_needed(self.cards())
                self.demand("dealer", step.prefix_len or 0, draw, False)
            case "decide":
                self.decide(step.line or "", step.options, people)
            case "reveal":
                self.round.reveal(step.position or "", self.round.at(step.position or "") or "")
            case "finish":
                return True
            case _:
                raise AssertionError(step)
        return False

    def insurance(self, people: People) -> None:
        """The insurance window."""
        self.do(lambda book: book.open_insurance())
        self.rows(self.book.check_insurance([InsuranceRequest(p) for p in people.insure()]), "apply_insurance")
        self.do(lambda book: book.close_insurance())
        self.round.insurance = "closed"

    def decide(self, line: str, legal: Sequence[str], people: People) -> None:
        """One decision window, its lock, and the follow window it opens."""
        cards = self.line(line)
        n = len(cards)
        people.window(self, line, cards, legal)
        if self.book.deciders(line, n):
            self.do(lambda book: book.open_window(line, cards, legal))
            requests = [DecisionRequest(player, line, n, what) for player, what in people.decide(line, n, legal)]
            self.rows(self.book.check_decisions(requests), "apply_decisions")
        expected = self.book.demand(line, cards)
        lock = self.do(lambda book: book.lock(line, cards))
        assert lock == expected
        self.demand(line, n, lock.draw, lock.split)
        people.locked(self, line, n)
        if self.setting.game == "classic" and (lock.split or lock.double):
            self.follow(line, "split" if lock.split else "double", people)

    def follow(self, line: str, kind: Any, people: People) -> None:
        """The window for bettors behind."""
        if not self.book.followers(line):
            return
        self.do(lambda book: book.open_follow(line, kind))
        requests = [FollowRequest(player, line, follow) for player, follow in people.follow(line, kind)]
        self.rows(self.book.check_follows(requests), "apply_follows")
        self.do(lambda book: book.close_follow())

    def demand(self, line: str, n: int, draw: bool, split: bool) -> None:
        """Tell the procedure what the book came to."""
        self.round.demands[line, n] = Demand(f"{line}/{n}/{len(self.round.cards)}", line, n, draw, split)

    def line(self, line: str) -> list[str]:
        """Faces of a line."""
        return line_cards(self.round, line) if self.setting.game == "boundless" else self.round.line(line)

    def cards(self) -> dict[str, list[str]]:
        """Faces of every line, the dealer's included."""
        result = self.procedure.result(self.round)
        return {line: hand["cards"] for line, hand in result["hands"].items()}

    def finish(self) -> Any:
        """Settle and post in slices of two."""
        cards = self.cards()
        settlement = self.do(lambda book: book.settle(cards))
        self.post()
        return settlement

    def post(self, slice_: int = 2) -> list[Any]:
        """Post all rows that are due."""
        posted = []
        while self.book.unposted:
            rows = self.book.due(slice_)
            encoded = msgspec.json.encode(rows)
            assert msgspec.json.decode(encoded, type=list[type(rows[0])]) == rows
            self.do(lambda book, rows=rows: book.apply_posted(rows))
            self.instructions += self.book.instructions(rows)
            posted += rows
        assert self.book == self.mirror
        return posted

    def void(self) -> list[Any]:
        """Void the round and refund it."""
        self.do(lambda book: book.void())
        return self.post()

    def balance(self, player: str) -> int:
        """A player's account."""
        return int(self.book.money.available(player))


@pytest.fixture
def felt() -> type[Felt]:
    """Makes tables."""
    return Felt


@pytest.fixture
def people() -> type[People]:
    """Base of scripted players."""
    return People


__all__ = ["BookFault", "Felt", "HandBook", "People"]
