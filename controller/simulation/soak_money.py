"""Every player's money from the facts alone: what was staked, what must be paid or refunded, that nothing is lost.

Independent of the book: accounts are numbers, a round is a list of rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from controller import facts as f
from controller.simulation.soak_hands import SIDES, Hands, Rules
from controller.simulation.soak_odds import must, natural

_STAKED = (f.BetsAccepted, f.InsuranceTaken, f.DecisionsTaken, f.FollowsTaken)
#: Transactions of this many rounds are remembered to be used once.
_ROUNDS_KEPT = 3


class Ledger:
    """What must be true of every player of a table whose book keeps the bets."""

    def __init__(self, rules: Rules, *, embedded: bool) -> None:
        self.rules, self.embedded = rules, embedded
        self.have: dict[str, int] = {}  # what each player can still stake
        self.deposited = self.taken = self.paid = 0
        self.transactions: set[str] = set()
        self._old: list[set[str]] = []
        self.status = ""  # of the round: open, settled, voided
        self.number = 0
        self._new("")

    def _new(self, round_: str) -> None:
        self.round = round_
        self.bets: dict[str, list[Any]] = {}
        self.hands = Hands(self.rules, self.bets, booked=True)
        self.debits: dict[str, tuple[str, int]] = {}  # open amounts by transaction
        self.staked: Counter[str] = Counter()
        self.posted: dict[str, int] = {}
        self.settled: f.BetsSettled | None = None
        self.version = 1
        self.undone = False  # the latest version says that the round was void
        self.due: set[str] = set()  # players whom a later version has not reached yet
        self._old.append(self.transactions)
        self.transactions = set()
        del self._old[:-_ROUNDS_KEPT]

    def finished(self) -> None:
        """Everybody in the round was paid or refunded, exactly once."""
        must(self.status in ("settled", "voided"), "a round ends settled or void before the next one opens")
        must(set(self.posted) == set(self.bets) and not self.due, "every player of a round is paid or refunded")
        if self.settled is not None:
            must(self.settled.stake == sum(self.staked.values()), "the stake told is the stake taken")
            must(self.settled.returned == sum(self.posted.values()), "the sum told is the sum returned")
        if self.status == "voided":
            must(not self.debits, "every stake of a void round is refunded")
            same = all(self.posted[player] == self.staked[player] for player in self.bets)
            must(same, "a void round gives back what was staked")

    def take(self, fact: f.Fact, number: int | None, instructions: Callable[[Any], list[Any]]) -> None:
        """One fact. ``instructions``: what the wallet does because of rows. Raises ``Broken``."""
        match fact:
            case f.BalancesSet():
                for row in fact.rows:
                    self.deposited += row.balance - self.have.get(row.player, 0)
                    self.have[row.player] = row.balance
            case f.BettingOpened():
                if self.round:
                    self.finished()
                self._new(fact.round)
                self.status, self.number = "open", number or 0
            case f.BetsAccepted():
                self._accepted(fact)
            case f.RoundResult() | f.RoundVoided():
                must(self.status == "open", "a round ends once")
                self.status = "settled" if isinstance(fact, f.RoundResult) else "voided"
            case f.ResultCorrected():
                must(self.status == "settled" and not self.due, "only a settled round is corrected")
                must(fact.supersedes == self.version, "a correction follows the latest version")
                self.version, self.undone, self.settled = self.version + 1, fact.voided, None
                self.due = set(self.bets)
            case f.BetsSettled():
                must(self.settled is None and fact.version == self.version, "a version is settled once")
                self.settled = fact
            case f.InsuranceTaken():
                for premium in fact.rows:
                    half = self.hands.main(premium.player).stake // 2
                    must(premium.stake == half, "insurance is half of the main bet")
        self.hands.take(fact)
        if isinstance(fact, _STAKED):
            self._stakes(fact.rows, instructions(fact.rows))
        elif isinstance(fact, f.SettlementPosted):
            self._pay(fact.rows, instructions(fact.rows))
        elif isinstance(fact, f.RefundsPosted):
            self._refund(fact.rows, instructions(fact.rows))

    # --- stakes ---

    def _accepted(self, fact: f.BetsAccepted) -> None:
        must(self.hands.betting and self.status == "open", "bets are taken while betting is open")
        told = (fact.count, fact.total) == (len(fact.rows), sum(row.stake for row in fact.rows))
        must(told, "the totals told are those of the rows")
        for row in fact.rows:
            mine = self.bets.setdefault(row.player, [])
            must(type(row.stake) is int and row.stake > 0, "a stake is a positive whole number")
            must(not any((b.bet, b.box) == (row.bet, row.box) for b in mine), "each bet once")
            if row.bet in SIDES:
                must(self.number <= (40 if row.bet == "pairs" else 45), "side bets end with their last round")
            if self.rules.game == "classic":
                self._seat(row, mine)
            mine.append(row)

    def _seat(self, row: Any, mine: list[Any]) -> None:
        must(1 <= row.box <= self.rules.seats, "the seat exists")
        must(all(b.behind == row.behind for b in mine), "a player sits or bets behind")
        must(row.behind or all(b.box == row.box for b in mine), "a player has one seat")
        at = {b.box: p for p in self.bets if (b := self.hands.main(p)) is not None}
        must(at.get(row.box, row.player) == row.player or row.behind, "a seat has one player")
        must(not row.behind or row.box in at, "nobody bets behind an empty seat")
        owned = row.bet == "main" or any(b.bet == "main" and b.box == row.box for b in mine)
        must(owned, "a side bet needs a main bet at its seat")

    def _stakes(self, rows: Sequence[Any], told: Sequence[Any]) -> None:
        """Money leaves players; every amount has a transaction of its own."""
        must(all(t.kind == "debit" for t in told), "a stake is a debit")
        found = [(t.player, t.amount, t.transaction) for t in told]
        expected = []
        for row in rows:
            amount = row.stake if hasattr(row, "stake") else row.extra
            if not amount:
                continue
            if hasattr(row, "behind") and not self.embedded:
                self.have[row.player] = row.available
                found.append((row.player, amount, row.transaction))
            else:
                self.have[row.player] -= amount
            must(self.have[row.player] >= 0, "nobody stakes what he does not have")
            expected.append((row.player, amount))
            self.staked[row.player] += amount
            self.taken += amount
        must(Counter((p, a) for p, a, _ in found) == Counter(expected), "each stake is debited once")
        for player, amount, transaction in found:
            self._fresh(transaction)
            self.debits[transaction] = (player, amount)

    def _fresh(self, transaction: str) -> None:
        used = transaction in self.transactions or any(transaction in old for old in self._old)
        must(not used, "one transaction for one movement")
        self.transactions.add(transaction)

    # --- pay ---

    def _give(self, player: str, amount: int) -> None:
        must(player not in self.posted, "nobody is paid twice")
        self.posted[player] = amount
        self.paid += amount
        if self.embedded:
            self.have[player] += amount

    def _refund(self, rows: Sequence[Any], told: Sequence[Any]) -> None:
        must(self.status == "voided", "only a void round is refunded")
        for row in rows:
            self._give(row.player, row.amount)
        for one in told:
            self._fresh(one.transaction)
            same = self.debits.pop(one.reference, None) == (one.player, one.amount)
            must(one.kind == "refund" and same, "a refund gives one debit back")

    def _pay(self, rows: Sequence[Any], told: Sequence[Any]) -> None:
        must(self.status == "settled", "only a settled round is paid")
        for one in told:
            self._fresh(one.transaction)
        if self.version == 1:
            paid = [(t.kind, t.player, t.amount) for t in told] == [("credit", r.player, r.returned) for r in rows]
            must(paid, "each player gets one credit")
        else:
            moved = [("credit" if r.amount > 0 else "debit", r.player, abs(r.amount)) for r in rows if r.amount]
            must([(t.kind, t.player, t.amount) for t in told] == moved, "a correction moves the difference, once")
        for row in rows:
            must(row.version == self.version, "what is posted is the latest version")
            if self.version == 1:
                self._give(row.player, row.amount)
                must(row.amount == row.returned, "the first version moves all it returns")
            else:
                self._give_more(row)
            must(row.stake == self.staked[row.player], "what is settled is what was staked")
            if self.undone:
                must(row.returned == row.stake, "a round declared void gives back what was staked")
            else:
                self._by_the_rules(row)

    def _give_more(self, row: Any) -> None:
        """A later version moves what it returns beyond the version before."""
        must(row.player in self.due, "nobody is paid twice")
        self.due.discard(row.player)
        must(row.amount == row.returned - self.posted[row.player], "a correction moves the difference")
        self.posted[row.player] = row.returned
        self.paid += row.amount
        if self.embedded:
            self.have[row.player] += row.amount

    def _by_the_rules(self, row: Any) -> None:
        hands = Counter((h.line, h.length, h.stake, h.returned, h.doubled, h.behind) for h in row.hands)
        must(hands == self.hands.hands_paid(row.player), "every hand is paid by the rules")
        bets = Counter((b.bet, b.box, b.behind, b.stake, b.returned) for b in row.bets)
        must(bets == self.hands.bets_paid(row.player), "every bet is paid by the rules")
        premium = self.hands.insured.get(row.player)
        must((row.insurance is None) == (premium is None), "insurance is settled where it was bought")
        if premium is not None:
            due = 3 * premium if natural(self.hands.lines["dealer"]) else 0
            must(row.insurance.returned == due, "insurance pays two to one on a dealer's Blackjack")
        found = sum(n * h[3] for h, n in hands.items()) + sum(n * b[4] for b, n in bets.items())
        found += row.insurance.returned if row.insurance else 0
        must(row.returned == found, "a player's return is the sum of his bets'")

    def balanced(self, book: Any) -> None:
        """The book's own totals agree with these. Raises ``Broken``."""
        audit = book.audit()
        known = (audit.deposited, book.money.taken, book.money.paid) == (self.deposited, self.taken, self.paid)
        must(known, "money in, taken and paid agree")
        if self.embedded:
            total = sum(self.have.values())
            must(audit.balances == total, "the accounts agree")
            must(self.deposited + self.paid - self.taken == total, "no money appears or disappears")
        if self.status == "open":
            must(audit.at_risk == sum(self.staked.values()), "all stakes of an open round are at risk")
