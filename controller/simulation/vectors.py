"""Rule vectors through the real table: given bets and decisions in, whole lines out (``dealerd vectors``).

Everything in an answer is read from the facts of the table or is given; money is the book's, in minor units.
Simulated are a shoe that deals the given cards, and players who ask what they are said to ask. Not simulated: what
``vectors_table`` names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from controller.book.base import Book
from controller.book.bets import BookFault
from controller.book.classic import ClassicBook
from controller.simulation.vectors_input import (
    BehindBet,
    BoundlessRound,
    ClassicRound,
    Coup,
    Header,
    Row,
    Shoe,
    VectorError,
    read,
    setting,
)
from controller.simulation.vectors_lines import Outcome, boundless_line, classic_line, coup_line, shoe_line
from controller.simulation.vectors_scribe import Scribe, seat_of
from controller.simulation.vectors_table import VirtualTable

Json = dict[str, Any]
Progress = Callable[[int, int], None]
#: Who bets in a coup: its bets name nobody.
BETTOR: Final = "bettor"


class VectorFault(Exception):
    """The table contradicts itself: a defect of this program, never of the vectors."""


class Answer(msgspec.Struct, frozen=True):
    """Whole lines, header first; ``notes`` say what was given and could not be done."""

    lines: list[Json]
    notes: list[str]


def answer(text: Iterable[str], progress: Progress | None = None) -> Answer:
    """Play the vectors in ``text``. Raises ``VectorError`` naming the line, ``VectorFault`` if a check fails."""
    header, given = read(text)
    table = Players(header)
    lines = [header.whole]
    for done, line in enumerate(given):
        if progress is not None:
            progress(done, len(given))
        try:
            lines.append(table.play(line.row))
        except VectorError as error:
            what = f"shoe {line.row.shoe}" if isinstance(line.row, Shoe) else f"round {line.row.round}"
            raise VectorError(f"line {line.number}: {what}: {error}") from error
    table.check()
    return Answer(lines, table.notes)


class Players:
    """A table with everybody the vectors tell of."""

    def __init__(self, header: Header) -> None:
        chosen = setting(header)
        self._scribe = Scribe(chosen)
        self._table = VirtualTable(chosen, self._scribe.take)
        self.notes: list[str] = []
        #: What players still ask, by line and cards, in the order given.
        self._asked: dict[str, list[tuple[str, int, str | None]]] = {}
        self._refused: dict[tuple[str, str, int], str] = {}
        self._follow: dict[int, list[tuple[str, BehindBet]]] = {}

    def play(self, row: Row) -> Json:
        """Play one row and return it whole."""
        match row:
            case Shoe():
                return self._shoe(row)
            case BoundlessRound():
                return self._boundless(row)
            case ClassicRound():
                return self._classic(row)
            case Coup():
                return self._coup(row)

    def check(self) -> None:
        """fold(facts) is the state, and every balance adds up. Raises ``VectorFault``."""
        if self._scribe.state != self._table.state:
            raise VectorFault("the fold of the facts differs from the table's state")
        try:
            self._book.check()
        except BookFault as fault:
            raise VectorFault(f"{self._book.round}: {fault}") from fault

    @property
    def _book(self) -> Book:
        book = self._scribe.state.book
        assert book is not None
        return book

    # --- rows ------------------------------------------------------------------------------------------------------

    def _shoe(self, row: Shoe) -> Json:
        if not self._table.waits_for("load_shoe"):
            raise VectorError(f"the shoe in play is not over: the table waits for {self._table.step.kind}")
        self._table.order("load_shoe")
        self._table.fill(row.cards, row.cut)
        while self._table.waits_for("draw"):
            self._table.draw()
        return shoe_line(row, self._scribe.burn)

    def _boundless(self, row: BoundlessRound) -> Json:
        self._asked = {p.id: [(d.hand, d.n, d.request) for d in p.decisions] for p in row.players}
        bets = [
            {"player": player.id, "bet": bet, "stake": stake}
            for player in row.players
            for bet, stake in player.bets.items()
        ]
        insured = [player.id for player in row.players if player.wants_insurance]
        rejected = self._round(row.round, {p.id: p.balance for p in row.players}, bets, insured)
        return boundless_line(row, self._outcome(), rejected)

    def _classic(self, row: ClassicRound) -> Json:
        self._asked = {
            seat.id: [(f"seat/{seat.seat}/hand/{d.hand}", d.n, d.request) for d in seat.decisions]
            for seat in row.seats
        }
        bets: list[Json] = [
            {"player": seat.id, "bet": bet, "stake": stake, "box": seat.seat}
            for seat in row.seats
            for bet, stake in seat.bets.items()
        ]
        self._follow = {}
        for bettor in row.behind:
            for bet in bettor.bets:
                self._follow.setdefault(bet.seat, []).append((bettor.id, bet))
                stakes = {"main": bet.main} | ({} if isinstance(bet.pair, msgspec.UnsetType) else {"pair": bet.pair})
                bets += [
                    {"player": bettor.id, "bet": name, "stake": stake, "box": bet.seat, "behind": True}
                    for name, stake in stakes.items()
                ]
        insured = [seat.id for seat in row.seats if seat.wants_insurance]
        balances = {who.id: who.balance for who in row.seats} | {who.id: who.balance for who in row.behind}
        self._note_refused(row.round, self._round(row.round, balances, bets, insured))
        return classic_line(row, self._outcome())

    def _coup(self, row: Coup) -> Json:
        if self._table.waits_for("load_shoe"):
            self._table.order("load_shoe")
        self._table.fill(row.cards, row.cut)
        bets = [{"player": BETTOR, "bet": bet, "stake": stake} for bet, stake in row.bets.items()]
        balance = sum(stake for stake in row.bets.values() if stake > 0)
        self._note_refused(row.round, self._round(row.round, {BETTOR: balance}, bets, []))
        return coup_line(row, self._scribe.round, self._scribe.round.paid.get(BETTOR))

    def _outcome(self) -> Outcome:
        return Outcome(self._scribe.round, self._book.money.available, self._refused)

    # --- playing ---------------------------------------------------------------------------------------------------

    def _round(self, number: int, balances: dict[str, int], bets: list[Json], insured: list[str]) -> dict[str, Any]:
        """From open betting to the last posted row; returns the refused bets by player."""
        table = self._table
        if not table.waits_for("open_bets"):
            raise VectorError(f"no round can open: the table waits for {table.step.kind}")
        self._refused = {}
        table.set_balances(balances)
        table.order("open_bets")
        rejected: dict[str, dict[str, int]] = {}
        for refused in table.batch("place_bets", "bets", bets):
            bet = bets[refused["index"]]
            rejected.setdefault(bet["player"], {})[bet["bet"]] = bet["stake"]
        table.order("close_bets")
        while table.state.round_open:
            self._step(insured)
        table.post()
        self.check()
        self._note_unasked(number)
        return rejected

    def _step(self, insured: list[str]) -> None:
        table, step = self._table, self._table.step
        match step.kind:
            case "draw":
                table.draw()
            case "insurance":
                table.batch("insure", "players", [{"player": player} for player in insured])
                table.order("close_decisions", round=table.state.round.id if table.state.round else "")
            case "decide":
                self._decide(step.line or "", step.prefix_len or 0)
            case "follow":
                self._answer(step.line or "")
            case "peek":
                table.wait()
            case _:
                raise VectorError(f"the table waits for {step.kind}, and nothing in the vectors answers")

    def _decide(self, line: str, n: int) -> None:
        """Everybody says what he is given for this window; who does not lets it pass."""
        requests = []
        for player, left in self._asked.items():
            asked = next((one for one in left if one[:2] == (line, n)), None)
            if asked is None:
                continue
            left.remove(asked)
            if asked[2] not in (None, "none"):
                requests.append({"player": player, "line": line, "n": n, "request": asked[2]})
        for refused in self._table.batch("decide", "decisions", requests):
            asked_for = requests[refused["index"]]
            self._refused[refused["player"], line, n] = str(asked_for["request"])
        if self._waits("decide", line, n):
            self._table.wait()

    def _answer(self, line: str) -> None:
        """Bettors behind follow or decline; who is not on this hand or cannot pay is refused."""
        book = self._table.state.book
        assert isinstance(book, ClassicBook)
        assert book.follow is not None
        split = book.follow.kind == "split"
        answers = [
            {"player": player, "line": line, "follow": bet.follow_split if split else bet.follow_double}
            for player, bet in self._follow.get(seat_of(line)[0], [])
        ]
        self._table.batch("follow", "answers", answers)
        if self._waits("follow", line, None):
            self._table.wait()

    def _waits(self, kind: str, line: str, n: int | None) -> bool:
        """The window is still open: somebody has not answered."""
        step = self._table.step
        return (step.kind, step.line, step.prefix_len) == (kind, line, n)

    def _note_unasked(self, number: int) -> None:
        for player, left in self._asked.items():
            for line, n, request in left:
                if request is not None:
                    what = f"{player}'s {request!r} on {line} at {n} cards"
                    self.notes.append(f"round {number}: {what} was not asked for: no such window opened for him")

    def _note_refused(self, number: int, rejected: dict[str, dict[str, int]]) -> None:
        for player, bets in rejected.items():
            for bet, stake in bets.items():
                self.notes.append(f"round {number}: {player}'s bet of {stake} on {bet} was refused")
