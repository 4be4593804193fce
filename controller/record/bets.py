"""The bet record: one row for every amount staked, settled or refunded, and one for every round.

Rows are in the order of their facts. ``amount`` is what moved, from the player's side: its sum over a player is what
he won or lost. ``returned`` is what a hand or bet gives back under one version of the result: rows of a later version
replace those of an earlier one, and their ``amount`` is the difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final, NamedTuple

from controller import facts as f
from controller.book import open_book
from controller.book.base import Book
from controller.book.rows import BetPaid, Paid, Refund, Row
from controller.book.setting import BookSetting, Game

#: How a refund's result reads.
VOID: Final = "void"
#: Types of the facts that the record is made of.
TYPES: Final = frozenset(
    {
        "bets_accepted",
        "insurance_taken",
        "decisions_taken",
        "follows_taken",
        "bets_settled",
        "settlement_posted",
        "refunds_posted",
        "round_voided",
    }
)


class Timed(NamedTuple):
    """A fact with its round and its wall-clock time: UTC, milliseconds since 1970."""

    at_ms: int
    round: str
    fact: f.Fact


class BetRow(NamedTuple):
    """One amount. ``what``: what was staked (``bet``, ``insurance``, ``double``, ``split``, ``follow-split``,
    ``follow-double``), or ``settlement``, or ``refund``; ``reference`` is the transaction that a refund undoes."""

    at_ms: int
    round: str
    version: int
    player: str
    what: str
    bet: str
    box: int | None = None
    behind: bool = False
    line: str | None = None
    stake: int = 0
    result: str | None = None
    returned: int | None = None
    amount: int = 0
    transaction: str | None = None
    reference: str | None = None


class Totals(NamedTuple):
    """A round in one row: what was staked, what came back under the latest version of the result.

    ``state``: ``open`` before a result, ``posting`` while players are still to be paid, then ``settled`` or ``void``.
    ``agrees``: the rows add up to the totals that the table announced; None while that cannot be said.
    """

    at_ms: int
    round: str
    version: int
    state: str
    players: int
    stake: int
    returned: int
    amount: int
    agrees: bool | None = None


#: What a player's settled hand or bet is known by in its round: bet, box, behind, line.
_Key = tuple[str, int | None, bool, str | None]


class BetRecord:
    """Makes rows of the facts of one table, given in their order."""

    def __init__(self, table: str, game: Game) -> None:
        # The book knows by which transaction it took an amount; whose wallet it is makes no difference to that.
        self._book: Book = open_book(BookSetting(table=table, game=game, wallet="embedded"))
        self._stakes: dict[str, BetRow] = {}  # of the round in progress, by transaction
        self._returned: dict[str, dict[_Key, int]] = {}  # by player in the same round, under the version before

    def rows(self, timed: Timed) -> Iterator[BetRow]:
        """The rows of the next fact."""
        if timed.round != self._book.round:
            self._book.round = timed.round
            self._stakes, self._returned = {}, {}
        match timed.fact:
            case f.BetsAccepted(rows=bets):
                for bet in bets:
                    yield from self._taken(timed, bet, "bet", bet.bet, bet.box, bet.behind)
            case f.InsuranceTaken(rows=insured):
                for row in insured:
                    yield from self._taken(timed, row, "insurance", "insurance")
            case f.DecisionsTaken(rows=decisions):
                for choice in decisions:
                    box = _box(choice.line)
                    yield from self._taken(timed, choice, choice.effect, "main", box, line=choice.line)
            case f.FollowsTaken(rows=follows):
                for follow in follows:
                    what, box = f"follow-{follow.kind}", _box(follow.line)
                    yield from self._taken(timed, follow, what, "main", box, True, follow.line)
            case f.SettlementPosted(rows=paid):
                for settled in paid:
                    yield from self._settled(timed, settled)
            case f.RefundsPosted(rows=refunds):
                for refund in refunds:
                    yield from self._refunded(timed, refund)

    def _taken(
        self,
        timed: Timed,
        row: Row,
        what: str,
        bet: str,
        box: int | None = None,
        behind: bool = False,
        line: str | None = None,
    ) -> Iterator[BetRow]:
        """What a row took from its player; nothing if it took nothing."""
        for taken in self._book.instructions([row]):
            self._stakes[taken.transaction] = found = BetRow(
                timed.at_ms,
                timed.round,
                1,
                taken.player,
                what,
                bet,
                box,
                behind,
                line,
                stake=taken.amount,
                amount=-taken.amount,
                transaction=taken.transaction,
            )
            yield found

    def _settled(self, timed: Timed, paid: Paid) -> Iterator[BetRow]:
        before = self._returned.get(paid.player, {})
        now = self._returned[paid.player] = {}
        declared_void = any(bet.result == VOID for bet in paid.bets)
        for row in self._given_back(timed, paid) if declared_void else self._results(timed, paid):
            key = (row.bet, row.box, row.behind, row.line)
            now[key] = now.get(key, 0) + (row.returned or 0)
            yield row._replace(amount=(row.returned or 0) - before.pop(key, 0))
        # A round declared void later pays stakes back, not hands: what hands had brought goes back.
        for (bet, box, behind, line), returned in before.items():
            row = self._result(timed, paid, bet, 0, VOID, 0, box, behind, line)
            yield row._replace(amount=-returned)

    def _given_back(self, timed: Timed, paid: Paid) -> Iterator[BetRow]:
        """Of a round declared void by a correction: every stake under the names it was taken by, in that order."""
        taken = [row for row in self._stakes.values() if row.player == paid.player]
        for row, bet in zip(taken, paid.bets, strict=True):
            yield row._replace(
                at_ms=timed.at_ms,
                version=paid.version,
                what="settlement",
                result=VOID,
                returned=bet.returned,
                transaction=paid.transaction,
            )

    def _results(self, timed: Timed, paid: Paid) -> Iterator[BetRow]:
        for hand in paid.hands:
            yield self._result(
                timed, paid, "main", hand.stake, hand.result, hand.returned, _box(hand.line), hand.behind, hand.line
            )
        for bet in paid.bets if paid.insurance is None else (*paid.bets, paid.insurance):
            yield self._bet_result(timed, paid, bet)

    def _bet_result(self, timed: Timed, paid: Paid, bet: BetPaid) -> BetRow:
        return self._result(timed, paid, bet.bet, bet.stake, bet.result, bet.returned, bet.box, bet.behind)

    def _result(
        self,
        timed: Timed,
        paid: Paid,
        bet: str,
        stake: int,
        result: str,
        returned: int,
        box: int | None,
        behind: bool,
        line: str | None = None,
    ) -> BetRow:
        return BetRow(
            at_ms=timed.at_ms,
            round=timed.round,
            version=paid.version,
            player=paid.player,
            what="settlement",
            bet=bet,
            box=box,
            behind=behind,
            line=line,
            stake=stake,
            result=result,
            returned=returned,
            transaction=paid.transaction,
        )

    def _refunded(self, timed: Timed, refund: Refund) -> Iterator[BetRow]:
        for order in self._book.instructions([refund]):
            yield self._stakes[order.reference or ""]._replace(
                at_ms=timed.at_ms,
                what="refund",
                stake=order.amount,
                result=VOID,
                returned=order.amount,
                amount=order.amount,
                transaction=order.transaction,
                reference=order.reference,
            )


def _box(line: str) -> int | None:
    """The seat of ``seat/S/hand/H``; None for a shared line."""
    return int(line.split("/")[1]) if line.startswith("seat/") else None


def bet_rows(record: BetRecord, facts: Iterable[Timed], player: str | None = None) -> Iterator[BetRow]:
    """The rows of these facts, those of one player if he is named."""
    for timed in facts:
        for row in record.rows(timed):
            if player is None or row.player == player:
                yield row


class _Round:
    """Adds up one round."""

    def __init__(self, record: BetRecord, player: str | None) -> None:
        self._record, self._player = record, player
        self._players: set[str] = set()
        self._stake = self._amount = self._at_ms = 0
        self._returned: dict[int, int] = {}
        self._posted: dict[int, int] = {}
        self._told: f.BetsSettled | None = None
        self._void = False

    def add(self, timed: Timed) -> None:
        """Take the next fact."""
        fact = timed.fact
        self._at_ms = timed.at_ms
        self._void = self._void or isinstance(fact, f.RoundVoided)
        if isinstance(fact, f.BetsSettled):
            self._told = fact
        elif isinstance(fact, f.SettlementPosted | f.RefundsPosted):
            version = fact.version if isinstance(fact, f.SettlementPosted) else 1
            self._posted[version] = self._posted.get(version, 0) + len(fact.rows)
        for row in self._record.rows(timed):
            if self._player is not None and row.player != self._player:
                continue
            self._players.add(row.player)
            self._amount += row.amount
            if row.returned is None:
                self._stake += row.stake
            else:
                self._returned[row.version] = self._returned.get(row.version, 0) + row.returned

    def totals(self, round_: str) -> Totals | None:
        """The round so far; None if it has no bets here."""
        told, players = self._told, len(self._players)
        if not players and (told is None or self._player is not None):
            return None
        version = 1 if told is None else told.version
        state, agrees = "open", None
        returned = self._returned.get(version, 0)
        if told is not None:
            posted = self._posted.get(version, 0)
            state = "posting" if posted < told.players else "void" if self._void else "settled"
            if state != "posting" and self._player is None:
                agrees = (self._stake, returned, players) == (told.stake, told.returned, told.players)
        return Totals(self._at_ms, round_, version, state, players, self._stake, returned, self._amount, agrees)


def round_totals(record: BetRecord, facts: Iterable[Timed], player: str | None = None) -> Iterator[Totals]:
    """One row a round that had bets; only what one player had in it, if he is named."""
    for round_, group in groupby(facts, key=lambda timed: timed.round):
        adding = _Round(record, player)
        for timed in group:
            adding.add(timed)
        found = adding.totals(round_)
        if found is not None:
            yield found
