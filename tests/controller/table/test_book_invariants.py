"""The table with its bet book under anything people, shoe and crashes may do (procedures 2.6 and 5.2, design 9).

A reference that knows neither lines nor groups follows the facts: every hand is a list of cards that grows when its
player asked for one, every account a number. It says which decisions must stand, which cards may leave the shoe, what
every player must be paid or refunded; the table must agree after every step.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from controller import facts as f
from controller.book.refusals import CODES as BOOK_CODES
from controller.book.rows import BalanceRequest
from controller.book.setting import BookSetting
from controller.cards import HIDDEN, shuffled_shoe
from controller.frames import decode_frame, frame_bytes
from controller.refusal import CODES
from controller.rules.options import GameOptions
from controller.simulation.soak_hands import Owned
from controller.simulation.soak_odds import coup_due, natural, points, side_odds, ten_or_ace, total
from controller.table import betting
from controller.table.draft import Setting
from controller.table.inputs import BalancesInput, DeadlineInput, Input, ServerInput, ShoeInput
from controller.table.table import Outcome, Table
from drivers import events as e

MARK = "zq"  # begins every player's id and nothing else
PLAYERS = [f"{MARK}-{n}" for n in range(7)]
STRANGER = f"{MARK}-stranger"
SIDES = ("pairs", "bust_bonus", "lucky_trio", "poker_trio")
MAINS = ("main", "PLAYER", "BANKER", "TIE")


# --- the reference: a table's money --------------------------------------------------------------------------------


class Reference:
    """What must be true of every player, from the facts alone."""

    def __init__(self, rules: GameOptions, *, embedded: bool) -> None:
        self.rules, self.embedded = rules, embedded
        self.game = rules.game
        self.have: dict[str, int] = {}  # what each player can still stake
        self.deposited = self.taken = self.paid = 0
        self.transactions: set[str] = set()  # of every movement ever
        self.rounds: dict[str, str] = {}  # how each ended
        self.round = ""
        self.open("", 0)

    def open(self, round_: str, number: int) -> None:
        """A new round; everything of the one before must be done."""
        if self.round:
            self.finished()
        self.round, self.number = round_, number
        self.betting = True
        self.bets: dict[str, list[Any]] = {}
        self.debits: dict[str, tuple[str, int]] = {}  # open amounts by transaction
        self.staked: Counter[str] = Counter()
        self.insured: dict[str, int] = {}
        self.lines: dict[str, list[str]] = {}
        self.hands: list[Owned] = []
        self.first: dict[str, list[str]] = {}  # two cards of each seat, before any split
        self.asleep: set[str] = set()
        self.choices: dict[str, str] = {}
        self.window: tuple[str, int] | None = None
        self.following: tuple[str, str] | None = None
        self.follows: dict[tuple[str, str, str], int] = {}
        self.posted: dict[str, int] = {}
        self.settled: f.BetsSettled | None = None

    def finished(self) -> None:
        """Everybody in the round was paid or refunded, exactly once."""
        assert self.rounds[self.round] in ("settled", "voided")
        assert set(self.posted) == set(self.bets)
        if self.settled is not None:
            assert self.settled.stake == sum(self.staked.values())
            assert self.settled.returned == sum(self.posted.values())
        if self.rounds[self.round] == "voided":
            assert self.debits == {}, "a stake of a void round was not refunded"
            assert self.posted == {player: self.staked[player] for player in self.bets}

    def main(self, player: str) -> Any:
        """The bet of his own that a hand is played for."""
        return next((b for b in self.bets.get(player, ()) if b.bet == "main" and not b.behind), None)

    def line_of(self, bet: Any) -> str:
        return "main" if self.game == "boundless" else f"seat/{bet.box}/hand/0"

    def take(self, fact: f.Fact, instructions: Callable[[Any], list[Any]]) -> None:
        """One fact. ``instructions``: what the wallet does because of rows."""
        match fact:
            case f.BalancesSet():
                for row in fact.rows:
                    self.deposited += row.balance - self.have.get(row.player, 0)
                    self.have[row.player] = row.balance
            case f.BettingOpened():
                assert fact.round not in self.rounds
                self.open(fact.round, self.number)
                self.rounds[fact.round] = "open"
            case f.BetsAccepted():
                self.accepted(fact)
            case f.BettingClosed():
                self.betting = False
                if self.game == "classic":
                    assert list(fact.seats) == sorted(b.box for p in self.bets if (b := self.main(p)) is not None)
            case f.CardDealt():
                self.dealt(fact.position, fact.face)
            case f.InsuranceTaken():
                for row in fact.rows:
                    assert row.stake == self.main(row.player).stake // 2
                    assert self.lines["dealer"][0][0] == "A"
                    self.insured[row.player] = row.stake
            case f.DecisionOpened() if fact.line != "dealer":
                assert self.window is None
                assert any(self.may_decide(p, fact.line, fact.prefix_len) for p in self.bets)
                assert set(fact.options) == self.legal(fact.line, fact.prefix_len)
                self.window = (fact.line, fact.prefix_len)
            case f.DecisionsTaken():
                for row in fact.rows:
                    assert row.player not in self.choices
                    self.choices[row.player] = row.effect
            case f.DecisionClosed():
                self.lock(fact)
            case f.FollowOpened():
                self.following = (fact.line, fact.kind)
            case f.FollowsTaken():
                for row in fact.rows:
                    self.follows[row.player, row.line, row.kind] = row.extra
            case f.FollowClosed():
                assert self.following is not None
                self.following = None
            case f.RoundResult():
                self.ended("settled")
                self.complete()
            case f.RoundVoided():
                self.ended("voided")
            case f.BetsSettled():
                assert self.settled is None
                self.settled = fact
        rows = getattr(fact, "rows", ())
        if isinstance(fact, (f.BetsAccepted, f.InsuranceTaken, f.DecisionsTaken, f.FollowsTaken)):
            self.stakes(rows, instructions(rows))
        elif isinstance(fact, f.SettlementPosted):
            self.pay(rows, instructions(rows))
        elif isinstance(fact, f.RefundsPosted):
            self.refund(rows, instructions(rows))

    def ended(self, how: str) -> None:
        assert self.rounds[self.round] == "open", "a round ended twice"
        self.rounds[self.round] = how
        self.betting, self.window, self.following = False, None, None

    # --- stakes ---

    def accepted(self, fact: f.BetsAccepted) -> None:
        assert self.betting
        assert (fact.count, fact.total) == (len(fact.rows), sum(row.stake for row in fact.rows))
        for row in fact.rows:
            mine = self.bets.setdefault(row.player, [])
            assert type(row.stake) is int
            assert row.stake > 0
            assert not any((b.bet, b.box) == (row.bet, row.box) for b in mine)
            if row.bet in SIDES:
                assert self.number <= (40 if row.bet == "pairs" else 45)
            if self.game == "classic":
                assert 1 <= row.box <= self.rules.seats
                assert all(b.behind == row.behind for b in mine)
                assert row.behind or all(b.box == row.box for b in mine)
                at = {b.box: p for p in self.bets if (b := self.main(p)) is not None}
                assert at.get(row.box, row.player) == row.player or row.behind
                assert not row.behind or row.box in at
                assert row.bet == "main" or any(b.bet == "main" and b.box == row.box for b in mine)
            mine.append(row)

    def stakes(self, rows: Sequence[Any], told: Sequence[Any]) -> None:
        """Money leaves players; every amount has a transaction of its own."""
        found = [(t.player, t.amount, t.transaction) for t in told]
        assert all(t.kind == "debit" for t in told)
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
            assert self.have[row.player] >= 0
            expected.append((row.player, amount))
            self.staked[row.player] += amount
            self.taken += amount
        assert Counter((p, a) for p, a, _ in found) == Counter(expected)
        for player, amount, transaction in found:
            self.fresh(transaction)
            self.debits[transaction] = (player, amount)

    def fresh(self, transaction: str) -> None:
        assert transaction not in self.transactions, "one transaction for two movements"
        self.transactions.add(transaction)

    def give(self, player: str, amount: int) -> None:
        assert player not in self.posted, "paid twice"
        self.posted[player] = amount
        self.paid += amount
        if self.embedded:
            self.have[player] += amount

    def refund(self, rows: Sequence[Any], told: Sequence[Any]) -> None:
        assert self.rounds[self.round] == "voided", "a settled round is never refunded"
        for row in rows:
            self.give(row.player, row.amount)
        for one in told:
            self.fresh(one.transaction)
            assert one.kind == "refund"
            assert self.debits.pop(one.reference) == (one.player, one.amount)

    def pay(self, rows: Sequence[Any], told: Sequence[Any]) -> None:
        assert self.rounds[self.round] == "settled", "a void round is never paid"
        for one in told:
            self.fresh(one.transaction)
        assert [(t.kind, t.player, t.amount) for t in told] == [("credit", r.player, r.returned) for r in rows]
        for row in rows:
            self.give(row.player, row.amount)
            assert row.amount == row.returned
            assert row.stake == self.staked[row.player]
            hands = Counter((h.line, h.length, h.stake, h.returned, h.doubled, h.behind) for h in row.hands)
            assert hands == Counter(self.hands_paid(row.player))
            bets = Counter((b.bet, b.box, b.behind, b.stake, b.returned) for b in row.bets)
            assert bets == Counter(self.bets_paid(row.player))
            insurance = self.insured.get(row.player)
            assert (row.insurance is None) == (insurance is None)
            if insurance is not None:
                assert row.insurance.returned == (3 * insurance if natural(self.lines["dealer"]) else 0)
            found = sum(n * h[3] for h, n in hands.items()) + sum(n * b[4] for b, n in bets.items())
            assert row.returned == found + (row.insurance.returned if row.insurance else 0)

    # --- hands ---

    def legal(self, line: str, n: int) -> set[str]:
        cards, found = self.lines[line], {"hit", "stand"}
        split = line.startswith("split/") or f"{line[:-1]}1" in self.lines
        if n == 2 and (not split or self.rules.double_after_split):
            found.add("double")
        if n == 2 and not split:
            if len({c[0] if c[0] not in "TJQK" else "T" for c in cards}) == 1:
                found.add("split")
            barred = "A" if self.rules.surrender_against == "two_to_ten" else "ATJQK"
            if self.lines["dealer"][0][0] not in barred:
                found.add("surrender")
        return found

    def may_decide(self, player: str, line: str, n: int) -> bool:
        return player not in self.asleep and any(
            h.owner == player and h.line == line and len(h.cards) == n and h.in_play for h in self.hands
        )

    def lock(self, fact: f.DecisionClosed) -> None:
        if fact.line == "dealer":
            assert fact.draw == self.dealer_needed()
            return
        assert self.window in (None, (fact.line, fact.prefix_len))
        self.window = None
        parted = False
        mine = [h for h in self.hands if h.line == fact.line and h.in_play]
        for hand in mine:
            assert len(hand.cards) == fact.prefix_len
            effect = self.choices.pop(hand.owner, None)
            if effect is None:
                self.asleep.add(hand.owner)
                effect = "hit" if total(hand.cards) <= 11 else "stand"
            hand.done = effect in ("stand", "double", "surrender")
            hand.gone, hand.doubled = effect == "surrender", effect == "double"
            hand.waits = effect in ("hit", "double")
            if effect == "split":
                parted = True
                self.split(hand)
        assert not self.choices, "a decision on no hand"
        assert fact.split == parted
        assert fact.draw == any(h.waits for h in mine)  # I8: demanded by somebody, or not drawn

    def split(self, hand: Owned) -> None:
        names = ("split/0", "split/1") if self.game == "boundless" else (hand.line, f"{hand.line[:-1]}1")
        self.hands.remove(hand)
        for name, card in zip(names, hand.cards, strict=True):
            self.lines[name] = [card]
            self.hands.append(Owned(hand.owner, name, [card], hand.stake, split=True))

    def dealt(self, position: str, face: str) -> None:
        """A card of the round: was it due, and whose is it?"""
        assert not self.betting
        assert self.window is None  # I5: decided before it is drawn
        assert self.following is None
        assert face != HIDDEN or self.game == "baccarat"
        head, index = position.rsplit("/", 1)
        line = "main" if head == "player" and self.game == "boundless" else head
        if self.game == "baccarat":
            assert coup_due(self.lines.get("player", ()), self.lines.get("banker", ())) == line
        cards = self.lines.setdefault(line, [])
        assert len(cards) == int(index)  # I1
        if line == "dealer" and self.hands and len(cards) >= (2 if self.game == "boundless" else 1):
            assert not any(h.waits or (h.in_play and not h.done) for h in self.hands)
            assert total(cards) < 17
            assert self.rules.dealer_draws == "always" or self.dealer_needed() or len(cards) > 2
        waiting = [h for h in self.hands if h.line == line and h.waits]
        if line not in ("dealer", "player", "banker") and len(cards) >= 2:
            assert total(cards) < 21  # I4
            assert waiting, "nobody asked for this card"  # I3: it will end the hands of those who wait
        cards.append(face)
        for hand in waiting:
            hand.cards.append(face)
            hand.waits = False
        if self.game != "baccarat" and len(cards) == 2 and line != "dealer" and not waiting:
            self.first[line] = list(cards)
            for player in self.bets:
                bet = self.main(player)
                if bet is not None and self.line_of(bet) == line:
                    self.hands.append(Owned(player, line, list(cards), bet.stake))

    def dealer_needed(self) -> bool:
        """BJS-62; a dealer of one card must also answer insurance and naturals."""
        if any(h.live for h in self.hands) or any(b.bet == "bust_bonus" for m in self.bets.values() for b in m):
            return True
        dealer = self.lines["dealer"]
        return len(dealer) == 1 and ten_or_ace(dealer[0]) and (
            bool(self.insured) or any(natural(h.cards) and not h.split for h in self.hands)
        )  # fmt: skip

    def complete(self) -> None:
        """The round has a result: no hand waits, every hand is a prefix, every card ends one."""
        if self.game == "baccarat":
            assert coup_due(self.lines["player"], self.lines["banker"]) is None
            return
        dealt_out = self.game == "boundless" and natural(self.lines["dealer"])
        for hand in self.hands:
            assert hand.cards == self.lines[hand.line][: len(hand.cards)]  # I2, I6
            assert not hand.waits
            assert not hand.in_play or dealt_out
        for line, cards in self.lines.items():
            mine = [h for h in self.hands if h.line == line]
            if line != "dealer" and len(cards) > 2:
                assert any(len(h.cards) == len(cards) for h in mine)  # I3
            if line.startswith(("main", "split/")) and mine:
                kinds = {(len(h.cards), h.doubled, h.gone) for h in mine}
                assert len(kinds) <= len(cards) - 1 + 1 + 1 + len({n for n, d, _ in kinds if d})  # I7

    # --- pay ---

    def hands_paid(self, player: str) -> Iterator[tuple[Any, ...]]:
        dealer = self.lines.get("dealer", [])
        kept = self.rules.obo and natural(dealer)
        for hand in [h for h in self.hands if h.owner == player]:
            yield self.hand_paid(hand, hand.stake, hand.doubled, False, kept)
        for bet in [b for b in self.bets[player] if b.behind and b.bet == "main"]:
            first = self.line_of(bet)
            for hand in [h for h in self.hands if h.line.startswith(first[:-1])]:
                if hand.line != first and not self.follows.get((player, first, "split")):
                    continue
                doubled = bool(self.follows.get((player, hand.line, "double")))
                yield self.hand_paid(hand, bet.stake, doubled, True, kept)

    def hand_paid(self, hand: Owned, first: int, doubled: bool, behind: bool, kept: bool) -> tuple[Any, ...]:
        stake = 2 * first if doubled else first
        back = 0
        if kept:
            back = stake if hand.line.endswith("/1") else first if doubled else 0
        return hand.line, len(hand.cards), stake, hand.returned(self.lines["dealer"], stake, back), doubled, behind

    def bets_paid(self, player: str) -> Iterator[tuple[Any, ...]]:
        for bet in self.bets[player]:
            if self.game == "baccarat":
                mine, theirs = points(self.lines["player"]), points(self.lines["banker"])
                winner = "PLAYER" if mine > theirs else "BANKER" if theirs > mine else "TIE"
                odds = {"PLAYER": 200, "BANKER": 195, "TIE": 900}
                back = bet.stake * odds[winner] // 100 if bet.bet == winner else bet.stake if winner == "TIE" else 0
            elif bet.bet == "main":
                continue
            else:
                found = side_odds(bet.bet, self.first[self.line_of(bet)], self.lines["dealer"])
                back = 0 if found is None else bet.stake * (found + 1)
            yield bet.bet, bet.box, bet.behind, bet.stake, back


# --- the machine ---------------------------------------------------------------------------------------------------


def book_table(bench: type[Any], game: str, wallet: str, **rules: Any) -> Any:
    """A bench at a table with a book and either wallet; its fold is checked fact by fact, wholly at every restart."""

    class Booked(bench):  # type: ignore[misc]
        def __init__(self) -> None:
            self.mirror: Any = None
            super().__init__(game, decisions="book", **rules)
            book = BookSetting(
                table="t-1", game=game, wallet=wallet, seats=self.setting.rules.seats,  # type: ignore[arg-type]
                obo=self.setting.rules.obo, idle_rounds_to_vacate=self.setting.rules.idle_rounds_to_vacate,
            )  # fmt: skip
            self.setting = Setting("t-1", self.setting.rules, self.setting.traits, book)
            self.table, self.mirror, self.records = Table(self.setting), Table(self.setting), []
            self.boundaries: list[int] = []
            self.start()

        def check_fold(self) -> None:
            if self.mirror is not None:
                new = self.records[self.mirror.state.n :]
                self.mirror.replay(f.decode_fact(f.encode_fact(r.fact)) for r in new)
                assert self.mirror.state == self.state
                self.boundaries.append(len(self.records))

        def restart(self) -> None:
            super().check_fold()
            super().restart()

        def again(self, records: Sequence[f.Record]) -> Any:
            """Another process on the first of these records."""
            new = Booked()
            new.records, new._ids, new.now = list(records), self._ids, self.now
            new.mirror, new.table = Table(new.setting), Table(new.setting)
            new.table.replay(r.fact for r in records)
            new.start()
            return new

    return Booked()


EVENTS = st.sampled_from(
    [
        e.NoRead("NR"), e.UnknownCode("?"), e.Repeated("TC"), e.CutCard(), e.PortLost("gone"), e.Gap("1", "4"),
        e.Started(), e.OutOfGame("9D", "player", 1), e.ErrorRaised(1, True), e.ErrorRaised(2, False),
        e.ErrorRaised(4, True), e.ErrorCleared(2, False),
    ]
)  # fmt: skip
REQUESTS = ("hit", "hit", "stand", "double", "split", "split", "split", "surrender", "fold")
SEED = st.integers(0, 2**32 - 1)


class Money(RuleBasedStateMachine):
    """One table and the reference. Rules draw seeds: what is done depends on where the table stands."""

    game = "boundless"
    wallet = "embedded"
    bench: ClassVar[Any] = None
    actions: ClassVar[Counter[str]] = Counter()

    @initialize(seed=SEED)
    def begin(self, seed: int) -> None:
        rng = random.Random(seed)
        rules: dict[str, Any] = {"last_round_policy": rng.choice(["next", "current"]), "auto_void_after_s": 30.0}
        if self.game != "baccarat":
            rules |= {
                "double_after_split": rng.random() < 0.6, "dealer_draws": rng.choice(["needed", "always"]),
                "split_second": rng.choice(["both", "as_played"]),
                "surrender_against": rng.choice(["two_to_nine", "two_to_nine", "two_to_ten"]),
            }  # fmt: skip
        if self.game == "boundless":
            rules["split_order"] = rng.choice(["main_first", "split_first"])
        if self.game == "baccarat" and rng.random() < 0.3:
            rules |= {"shuffle": "every_round", "burn": "none"}
        if self.game == "classic":
            rules |= {"seats": rng.randrange(1, 5), "obo": rng.random() < 0.5, "idle_rounds_to_vacate": 2}
        self.b = book_table(self.bench, self.game, self.wallet, **rules)
        self.rules = self.b.setting.rules
        self.embedded = self.wallet == "embedded"
        self.ref = Reference(self.rules, embedded=self.embedded)
        self.deck: list[str] = []
        self.liked = rng.choice(["A8T", "8T", "A", "2345", "678"])
        self.done = self.debits = 0
        self.numbers: set[int] = set()  # stakes and balances: never in a public frame
        self.sound = False
        self.follow_facts()
        self.order("start_shift")

    # --- the one way in ---

    def put(self, what: Input) -> Outcome:
        self.sound = False
        before = self.b.state
        outcome: Outcome = self.b.put(what)
        Money.actions[self.game] += 1
        if outcome.refusal is not None:
            assert outcome.refusal.code in CODES or outcome.refusal.code in BOOK_CODES
            assert outcome.records == ()
            assert self.b.state is before
        self.follow_facts()
        return outcome

    def follow_facts(self) -> None:
        """Everything new in the journal, however it came there."""
        for record in self.b.records[self.done :]:
            fact = f.decode_fact(f.encode_fact(record.fact))
            if isinstance(fact, f.ShoeLoaded):
                self.deck = shuffled_shoe(random.Random(fact.shoe + str(self.done)))
            if isinstance(fact, f.BettingOpened):
                self.ref.number = record.round_in_shoe
                if fact.reshuffled:
                    self.deck = shuffled_shoe(random.Random(fact.round))
            self.ref.take(fact, self.b.state.book.instructions)
            self.public(record)
        self.done = len(self.b.records)

    def public(self, record: f.Record) -> None:
        """No player, stake or balance leaves the table."""
        if record.seq is None:
            return
        body = frame_bytes(record, feed="f", table="t-1", epoch=1, at_ms=self.b.now)
        assert MARK.encode() not in body
        data = decode_frame(body)["data"]
        match record.fact.type:
            case "bets_accepted":
                assert set(data) == {"count", "total"}
            case "bets_settled":
                assert set(data) == {"version", "stake", "returned"}
            case _:
                assert not self.numbers & set(_numbers(data))

    def order(self, name: str, **args: Any) -> Outcome:
        self.sound = False
        args = {"round": self.b.state.round.id if self.b.state.round else "none"} | args if name in BOOKED else args
        before = self.b.state
        outcome: Outcome = self.b.order(name, **args)
        Money.actions[self.game] += 1
        if outcome.refusal is not None:
            assert outcome.refusal.code in CODES
            assert outcome.records == ()
            assert self.b.state is before
        for row in outcome.reply.get("refused", ()):
            assert row["code"] in BOOK_CODES
        if not self.embedded and name in BOOKED:
            further = (f.InsuranceTaken, f.DecisionsTaken, f.FollowsTaken)
            rows = [row for kind in further for row in self.rows(outcome, kind)]
            told = outcome.reply.get("instructions", [])
            debited = [row.extra if hasattr(row, "extra") else row.stake for row in rows]
            assert [one["amount"] for one in told if one["kind"] == "debit"] == [n for n in debited if n]
        self.follow_facts()
        return outcome

    def tick(self) -> None:
        found = self.b.table.deadline()
        if found is not None:
            self.b.now = max(self.b.now, found[1])
            self.put(DeadlineInput(found[0]))

    def card(self, rng: random.Random) -> str:
        """From the shoe, in an order that likes some ranks."""
        if rng.random() < 0.5:
            wanted = [i for i in range(len(self.deck)) if self.deck[i][0] in self.liked]
            if wanted:
                return self.deck.pop(rng.choice(wanted))
        return self.deck.pop()

    # --- what people do ---

    def place_bets(self, rng: random.Random) -> None:
        rows = [self.bet(rng) for _ in range(rng.choice([1, 3, 8]))]
        if rng.random() < 0.7:  # seats first, so that there is somebody to bet behind
            rows.sort(key=lambda row: (row.get("behind", False), row["bet"] != "main"))
        expected = list(self.standing(rows)) if self.game != "classic" else None
        outcome = self.order("place_bets", bets=rows)
        if expected is not None and outcome.refusal is None:
            assert outcome.reply["accepted"] == len(expected)
        if outcome.refusal is None:
            assert outcome.reply["accepted"] + len(outcome.reply["refused"]) == len(rows)
            for record in outcome.records:
                if isinstance(record.fact, f.BetsAccepted):
                    asked = [(r["player"], r["bet"], r["stake"], r.get("box")) for r in rows]
                    assert all((r.player, r.bet, r.stake, r.box) in asked for r in record.fact.rows)

    def bet(self, rng: random.Random) -> dict[str, Any]:
        stake: Any = 100_001 + rng.randrange(60_000)
        names = {"boundless": ("main", "main", *SIDES), "classic": ("main", "main", "pair")}.get(self.game, MAINS[1:])
        row: dict[str, Any] = {"player": rng.choice(PLAYERS), "bet": rng.choice(names)}
        if self.game == "classic":
            row |= {"box": rng.randrange(1, self.rules.seats + 1), "behind": rng.random() < 0.4}
        if rng.random() < 0.15:
            row |= rng.choice(
                [{"player": STRANGER}, {"player": f"{MARK} \n"}, {"bet": "jackpot"}, {"box": 9}, {"behind": True}]
            )
            stake = rng.choice([stake, -5, 0, 1.5, stake + 0.5, 10**12 + 1, 3])
        if not self.embedded and rng.random() < 0.95:
            self.debits += rng.random() < 0.95
            row |= {"transaction": f"{self.ref.round}/{self.debits}", "available": rng.randrange(500_000)}
        if type(stake) is int and stake > 100_000:
            self.numbers |= {n for n in (stake, row.get("available", 0)) if n > 100_000}
        return row | {"stake": stake}

    def standing(self, rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Which bets without boxes stand."""
        spent: Counter[str] = Counter()
        known = {(p, b.bet) for p, mine in self.ref.bets.items() for b in mine} if self.ref.betting else set()
        used = {b.transaction for mine in self.ref.bets.values() for b in mine}
        number = self.b.state.shoe.rounds if self.b.state.shoe else 0
        names = ("main", *SIDES) if self.game == "boundless" else MAINS[1:]
        for row in rows:
            player, bet, stake, debit = row["player"], row["bet"], row["stake"], row.get("transaction")
            if row.get("box") is not None or row.get("behind") or bet not in names or (player, bet) in known:
                continue
            if type(stake) is not int or not 1 <= stake <= 10**12 or " " in player:
                continue
            if bet in SIDES and number > (40 if bet == "pairs" else 45):
                continue
            if self.embedded and self.ref.have.get(player, -1) - spent[player] < stake:
                continue
            if not self.embedded and (debit is None or debit in used):
                continue
            used.add(debit)
            known.add((player, bet))
            spent[player] += stake
            yield row

    def insure(self, rng: random.Random) -> None:
        who = [rng.choice([*PLAYERS, STRANGER]) for _ in range(rng.randrange(1, 6))]
        ref, expected = self.ref, []
        for player in dict.fromkeys(who):
            main = ref.main(player)
            if main is not None and player not in ref.insured and 0 < main.stake // 2 <= ref.have[player]:
                expected.append(player)
        allowed = not self.b.state.holds and self.b.state.step.kind == "insurance"
        outcome = self.order("insure", players=[{"player": p} for p in who])
        assert self.taken(outcome, f.InsuranceTaken) == (expected if allowed else [])

    def decide(self, rng: random.Random, *, everybody: bool = False) -> None:
        state, ref = self.b.state, self.ref
        line, n = ref.window or ("main", 2)
        rows = []
        for player in PLAYERS if everybody else [rng.choice([*PLAYERS, STRANGER]) for _ in range(3)]:
            own = (line, n) if rng.random() < 0.9 else (rng.choice(["main", "split/1", "seat/1/hand/1"]), n + 1)
            rows.append({"player": player, "line": own[0], "n": own[1], "request": rng.choice(REQUESTS)})
        expected = []
        for row in rows:
            player, request = row["player"], row["request"]
            if (row["line"], row["n"]) != ref.window or any(x[0] == player for x in expected):
                continue
            if not ref.may_decide(player, line, n) or player in ref.choices or request not in ref.legal(line, n):
                continue
            effect, extra = request, 0
            if request in ("double", "split"):
                extra = ref.main(player).stake
                if ref.have[player] < extra:
                    if self.game == "classic":
                        continue
                    effect, extra = "hit" if total(ref.lines[line]) <= 11 else "stand", 0
            expected.append((player, effect, extra))
        if state.holds:
            expected = []
        outcome = self.order("decide", decisions=rows)
        found = [(r.player, r.effect, r.extra) for r in self.rows(outcome, f.DecisionsTaken)]
        assert found == expected

    def follow(self, rng: random.Random) -> None:
        ref, expected = self.ref, []
        line, kind = ref.following or ("seat/1/hand/0", "split")
        rows = [
            {"player": rng.choice(PLAYERS), "line": line if rng.random() < 0.9 else "seat/2/hand/1",
             "follow": rng.random() < 0.7} for _ in range(rng.randrange(1, 5))
        ]  # fmt: skip
        for row in rows:
            player, mine = row["player"], ref.bets.get(row["player"], ())
            seat = int(line.split("/")[1])
            stake = next((b.stake for b in mine if b.behind and b.bet == "main" and b.box == seat), None)
            if row["line"] != line or stake is None or any(player == p for p, _ in expected):
                continue
            if line.endswith("/1") and not ref.follows.get((player, f"{line[:-1]}0", "split")):
                continue
            if (player, line, kind) in ref.follows or (row["follow"] and ref.have[player] < stake):
                continue
            expected.append((player, stake if row["follow"] else 0))
        allowed = not self.b.state.holds and ref.following is not None
        outcome = self.order("follow", answers=rows)
        found = [(r.player, r.extra) for r in self.rows(outcome, f.FollowsTaken)]
        assert found == (expected if allowed else [])

    def rows(self, outcome: Outcome, kind: type[f.Fact]) -> list[Any]:
        return [row for r in outcome.records if isinstance(r.fact, kind) for row in r.fact.rows]  # type: ignore[attr-defined]

    def taken(self, outcome: Outcome, kind: type[f.Fact]) -> list[str]:
        return [row.player for row in self.rows(outcome, kind)]

    # --- what the table waits for ---

    def step_on(self, rng: random.Random) -> None:
        state = self.b.state
        found = self.b.table.deadline()
        if found is not None and found[0] == "post" and rng.random() < 0.7:
            self.tick()
            return
        match state.step.kind:
            case "start_shift" | "load_shoe":
                self.order(state.step.kind)
            case "open_bets":
                self.fund(rng)
                self.order("open_bets")
            case "reopen":
                self.order("reopen", reason="cleared")
            case "close_bets":
                for _ in range(rng.randrange(1, 4)):
                    self.place_bets(rng)
                if rng.random() < 0.8:
                    self.order("close_bets")
                else:
                    self.tick()
            case "insurance":
                self.insure(rng)
                self.close_window(rng, "insurance")
            case "decide":
                self.decide(rng, everybody=rng.random() < 0.7)
                if rng.random() < 0.6:
                    self.decide(rng, everybody=True)
                if self.ref.window == (state.step.line, state.step.prefix_len) and rng.random() < 0.7:
                    self.close_window(rng, str(state.step.line))
            case "follow":
                self.follow(rng)
                if self.ref.following is not None and rng.random() < 0.7:
                    self.close_window(rng, str(state.step.line))
            case "peek":
                self.tick()
            case "draw" if self.deck:
                self.put(ShoeInput(e.CardDrawn(self.card(rng))))
            case "draw":
                self.order("void", reason="the shoe is empty", shoe=True)
            case "rescan":
                rescan = state.rescan
                felt = rescan.expected[rescan.done :]
                self.put(ShoeInput(e.CardDrawn(felt[0] if felt and felt[0] != HIDDEN else self.card(rng))))

    def close_window(self, rng: random.Random, window: str) -> None:
        if rng.random() < 0.5:
            self.order("close_decisions", window=window)
        else:
            self.tick()

    def fund(self, rng: random.Random) -> None:
        """Between rounds, poor and rich players; while bets are at stake it is refused."""
        if self.embedded and (not self.ref.have or rng.random() < 0.3):
            rows = tuple(BalanceRequest(p, rng.choice([0, 150_001, 330_007, 910_003, 1_900_009])) for p in PLAYERS)
            self.numbers |= {int(r.balance) for r in rows} - {0}
            self.put(BalancesInput(rows))

    def lift(self, rng: random.Random) -> None:
        """A supervisor ends one hold with a legal choice."""
        state = self.b.state
        if "shoe" in state.devices_lost:
            self.put(ShoeInput(e.PortRestored("pty")))
        elif "game_server" in state.devices_lost:
            self.put(ServerInput(here=True))
        elif state.incidents:
            number = rng.choice(sorted(state.incidents))
            legal = state.incidents[number].resolutions
            self.order("resolve", incident=number, resolution=rng.choice(legal), reason="seen")
        elif state.holds:
            self.order("resume", reason="seen", how=rng.choice(["felt_agrees", "felt_agrees", "rescan"]))

    def go_on(self, rng: random.Random) -> None:
        if self.b.state.holds and self.b.state.step.kind != "rescan":
            self.lift(rng)
        else:
            self.step_on(rng)

    # --- rules ---

    @rule(seed=SEED, times=st.integers(1, 8))
    def play(self, seed: int, times: int) -> None:
        self.play_on(seed, 5 * times)

    @rule(seed=SEED)
    def play_a_round(self, seed: int) -> None:
        """Half of what happens is right: without this, runs would hardly get beyond the first card."""
        self.play_on(seed, 40)

    @rule(seed=SEED)
    def play_two_rounds(self, seed: int) -> None:
        self.play_on(seed, 80)

    def play_on(self, seed: int, times: int) -> None:
        rng = random.Random(seed)
        for _ in range(times):
            self.go_on(rng)
            self.holds()

    @rule(event=EVENTS)
    def trouble(self, event: e.Event) -> None:
        self.put(ShoeInput(event))

    @rule(here=st.booleans())
    def the_game_server_goes_or_comes(self, here: bool) -> None:
        self.put(ServerInput(here))

    @rule(seed=SEED)
    def a_card_too_many(self, seed: int) -> None:
        if self.deck:
            self.put(ShoeInput(e.CardDrawn(self.card(random.Random(seed)))))

    @rule(seed=SEED)
    def out_of_turn(self, seed: int) -> None:
        """Bets, decisions and answers whenever; mostly refused, and then nothing has changed."""
        rng = random.Random(seed)
        what = rng.choice(["bet", "insure", "decide", "follow", "fund", "round"])
        if what == "round":
            name, rows = rng.choice([("place_bets", "bets"), ("decide", "decisions"), ("insure", "players")])
            outcome = self.order(name, round="20000101-0001-001", **{rows: []})
            assert outcome.refusal is not None
        elif what == "fund":
            self.fund(rng)
        elif what == "bet":
            self.place_bets(rng)
        elif self.game == "baccarat":
            outcome = self.order("decide", decisions=[])
            assert outcome.refusal is not None
        elif what == "follow" and self.game == "classic":
            self.follow(rng)
        elif what == "insure":
            self.insure(rng)
        else:
            self.decide(rng)

    @rule(name=st.sampled_from(["pause", "void", "shoe", "end_shift", "open_bets", "close_bets", "load_shoe"]))
    def any_order(self, name: str) -> None:
        reason = {"reason": "x"}
        if name == "shoe":
            self.order("void", shoe=True, **reason)
        else:
            self.order(name, **(reason if name in ("pause", "void") else {}))

    @rule()
    def time_passes(self) -> None:
        self.tick()

    @rule()
    def restart(self) -> None:
        self.sound = False
        before = self.b.state.book.copy()
        self.b.restart()
        assert self.b.state.book == before
        self.follow_facts()

    @rule(seed=SEED)
    def crash_before_the_facts_are_durable(self, seed: int) -> None:
        """Decided, never accepted: nobody was told, so nothing happened."""
        rng = random.Random(seed)
        before = self.b.state.book.copy()
        found = self.b.table.deadline()
        what: list[Input] = [ShoeInput(e.CardDrawn(self.deck[-1]))] if self.deck else []
        what += [DeadlineInput(found[0])] if found is not None else []
        for one in rng.sample(what, len(what)):
            self.b.table.decide(one, max(self.b.now, found[1] if found else 0), b"\x01" * 32)
            assert self.b.state.book == before
            self.b.check_fold()
        if rng.random() < 0.5:
            self.restart()

    # --- what holds always ---

    @invariant()
    def holds(self) -> None:
        if not hasattr(self, "ref"):
            return
        state, ref = self.b.state, self.ref
        book = state.book
        audit = book.check()  # deposited == balances + at risk + unpaid + house
        assert (audit.deposited, book.money.taken, book.money.paid) == (ref.deposited, ref.taken, ref.paid)
        if self.embedded:
            assert {p: book.money.available(p) for p in ref.have} == ref.have
            assert all(amount >= 0 for amount in ref.have.values())
            assert audit.deposited + ref.paid - ref.taken == sum(ref.have.values())
        else:
            assert all(book.money.available(p) == ref.have[p] for p in ref.bets)
        open_ = ref.rounds.get(ref.round) == "open"
        assert state.round_open == open_
        assert book.staked == sum(ref.staked.values())
        if open_:
            assert audit.at_risk == book.staked
        if ref.rounds.get(ref.round) in ("settled", "voided"):
            assert book.unposted == len(ref.bets) - len(ref.posted)
            assert ref.settled is not None
            if not book.unposted:
                ref.finished()
                assert (audit.at_risk, audit.unpaid) == (0, 0)
        if state.round is not None:
            places = [c.position for c in state.round.cards]
            assert len(places) == len(set(places))  # I1
        if not state.holds and open_ and state.step.kind == "decide" and state.step.line != "dealer":
            assert ref.window == (state.step.line, state.step.prefix_len)
        self.sound = True

    def teardown(self) -> None:
        if self.sound:
            self.recover()

    def recover(self) -> None:
        """Whatever happened, legal commands bring the table to a new round with every player paid."""
        before, rng = self.ref.round, random.Random(1)
        for n in range(200):
            state = self.b.state
            if state.phase == "betting" and self.ref.round != before:
                return
            if state.round_open and "shoe" not in state.devices_lost and (state.holds or n > 20):
                self.order("void", reason="x", shoe=False)
            elif state.incidents and "shoe" not in state.devices_lost:
                number = min(state.incidents)
                self.order("resolve", incident=number, resolution=state.incidents[number].resolutions[-1], reason="x")
            else:
                self.go_on(rng)
            self.holds()
        raise AssertionError(f"no way on from {self.b.state}")


BOOKED = ("place_bets", "insure", "decide", "follow", "close_decisions")


def _numbers(data: Any) -> Iterator[int]:
    if isinstance(data, dict):
        for value in data.values():
            yield from _numbers(value)
    elif isinstance(data, list):
        for value in data:
            yield from _numbers(value)
    elif isinstance(data, int):
        yield data


#: Drawn seeds do not shrink to anything simpler, so no time goes into that.
SETTINGS = settings(
    max_examples=20, stateful_step_count=16, deadline=None, suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),
)  # fmt: skip


@pytest.mark.parametrize("wallet", ["embedded", "platform"])
@pytest.mark.parametrize("game", ["boundless", "classic", "baccarat"])
def test_money_and_hands(bench: type[Any], monkeypatch: pytest.MonkeyPatch, game: str, wallet: str) -> None:
    monkeypatch.setattr(betting, "SLICE", 2)  # a settlement is posted between other inputs
    machine = type(f"{game}_{wallet}", (Money,), {"game": game, "wallet": wallet, "bench": bench})
    run_state_machine_as_test(machine, settings=SETTINGS)


# --- crashes, one by one -------------------------------------------------------------------------------------------

SCRIPTS: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    # a pair of eights against an ace: insurance, a split, a double and a surrender that is not legal
    "boundless": ("8C AH 8D 6S TD 3C 9H 2S 4D KH 7C QS 5D", [("main", None), ("pairs", None), ("bust_bonus", None)]),
    "classic": ("8C 6C AH 8H 5D 3S TD KS 9C 2H 4S 7D QH", [("main", 1), ("pair", 1), ("main", 2)]),
    "baccarat": ("2C 3H 3C 2D 9S KD", [("PLAYER", None), ("BANKER", None), ("TIE", None)]),
}


class Script:
    """People whose acts follow from the table's state alone, so that a restarted table sees the same ones."""

    def __init__(self, bench: type[Any], game: str, wallet: str, *, void: bool) -> None:
        self.game, self.void, self.embedded = game, void, wallet == "embedded"
        self.b = book_table(bench, game, wallet, burn="none")
        self.b.ok("start_shift")
        self.b.ok("load_shoe")
        if self.embedded:
            self.b.put(BalancesInput(tuple(BalanceRequest(p, 10_000) for p in PLAYERS)))
        self.b.ok("open_bets")

    def after(self, cut: int) -> Script:
        """The same people at a table that crashed after ``cut`` facts."""
        new = object.__new__(Script)
        new.__dict__ |= self.__dict__
        new.b = self.b.again(self.b.records[:cut])
        new.b.put(ShoeInput(e.PortRestored("pty")))
        return new

    def bet(self) -> None:
        """Every player has his bets; those the table knows already are refused."""
        rows: list[dict[str, Any]] = []
        for n, player in enumerate(PLAYERS):
            for at, (name, box) in enumerate(SCRIPTS[self.game][1]):
                row: dict[str, Any] = {"player": player, "bet": name, "stake": 101 + 10 * n + at}
                if box is not None:
                    if n < 2 and box != n + 1:
                        continue
                    row |= {"box": box, "behind": n >= 2}
                if not self.embedded:
                    row |= {"transaction": f"w-{player}-{name}-{box}", "available": 10_000}
                rows.append(row)
        self.b.ok("place_bets", round=self.b.state.round.id, bets=rows)

    def answer(self) -> None:
        """One act for the step the table waits at."""
        b, step = self.b, self.b.state.step
        cards = SCRIPTS[self.game][0].split()
        here = {"round": b.state.round.id}
        match step.kind:
            case "wait" if b.state.incidents:
                b.resolve(b.state.incidents[max(b.state.incidents)].resolutions[0])
            case "wait":
                b.ok("resume", reason="seen", how="felt_agrees")
            case "close_bets":
                self.bet()
                b.ok("close_bets")
            case "draw":
                if self.void and len(b.state.round.cards) == len(cards) // 2:
                    b.ok("void", reason="a card fell")
                else:
                    b.cards(cards[len(b.state.round.cards)])
            case "insurance":
                b.ok("insure", players=[{"player": p} for p in PLAYERS[::2]], **here)
                b.ok("close_decisions", window="insurance", **here)
            case "peek":
                b.wait()
            case "decide":
                wanted = ("split", "double", "hit", "stand", "split", "double", "stand")
                rows = []
                for player, first in zip(PLAYERS, wanted, strict=True):
                    request = first if first in step.options else "stand"
                    rows.append({"player": player, "line": step.line, "n": step.prefix_len, "request": request})
                b.ok("decide", decisions=rows, **here)
                if b.state.step == step:
                    b.ok("close_decisions", window=step.line, **here)
            case "follow":
                answers = [{"player": p, "line": step.line, "follow": n % 2 == 0} for n, p in enumerate(PLAYERS)]
                b.ok("follow", answers=answers, **here)
                if b.state.step == step:
                    b.ok("close_decisions", window=step.line, **here)
            case _:
                raise AssertionError(step)

    def play(self) -> None:
        """To the last posting."""
        for _ in range(200):
            found = self.b.table.deadline()
            if found is not None and found[0] == "post":
                self.b.wait()
            elif self.b.state.step.kind in ("open_bets", "reopen"):
                return
            elif self.b.state.holds or self.b.state.round_open:
                self.answer()
            else:
                self.b.ok("resume", reason="seen", how="felt_agrees")
        raise AssertionError(self.b.state.step)

    def moved(self) -> dict[str, tuple[Any, ...]]:
        """Every movement of money in the journal, by transaction."""
        found: dict[str, tuple[Any, ...]] = {}
        for record in self.b.records:
            fact = record.fact
            if hasattr(fact, "rows") and not isinstance(fact, f.BalancesSet):
                for one in self.b.state.book.instructions(fact.rows):
                    assert one.transaction not in found, "moved twice"
                    found[one.transaction] = (one.kind, one.player, one.amount, one.reference)
        return found

    def money(self) -> tuple[Any, ...]:
        book = self.b.state.book
        book.check()
        have = {p: book.money.available(p) for p in PLAYERS} if self.embedded else None
        return have, book.money.taken, book.money.paid, self.moved()


@pytest.mark.parametrize("void", [False, True], ids=["settled", "void"])
@pytest.mark.parametrize("wallet", ["embedded", "platform"])
@pytest.mark.parametrize("game", ["boundless", "classic", "baccarat"])
def test_a_crash_at_any_fact_moves_no_cent(
    bench: type[Any], monkeypatch: pytest.MonkeyPatch, game: str, wallet: str, void: bool
) -> None:
    """Between any two facts of a settlement or refund, and between any two inputs of the round before it."""
    monkeypatch.setattr(betting, "SLICE", 2)
    whole = Script(bench, game, wallet, void=void)
    start = len(whole.b.records)
    whole.play()
    ends = next(n for n, r in enumerate(whole.b.records) if isinstance(r.fact, (f.RoundResult, f.RoundVoided)))
    expected, postings = whole.money(), whole.b.types()[ends:]
    assert postings.count("refunds_posted" if void else "settlement_posted") == 4
    assert {move[1] for move in expected[-1].values()} == set(PLAYERS)
    cuts = [n for n in whole.b.boundaries if start <= n < ends]
    for cut in [*dict.fromkeys(cuts), *range(ends, len(whole.b.records) + 1)]:
        other = whole.after(cut)
        other.play()
        assert other.money() == expected, f"crashed after fact {cut}: {whole.b.types()[cut - 1]}"


@pytest.mark.parametrize("game", ["boundless", "classic", "baccarat"])
def test_nothing_ends_a_round_before_everybody_is_paid(
    bench: type[Any], monkeypatch: pytest.MonkeyPatch, game: str
) -> None:
    """Neither the next round nor the end of the shift: the table must keep what it still owes."""
    monkeypatch.setattr(betting, "SLICE", 2)
    table = Script(bench, game, "embedded", void=True)
    while table.b.state.phase != "voided":
        table.answer()
    while table.b.state.book.unposted:
        assert table.b.refused("end_shift").message.startswith("the last round is still being settled")
        assert table.b.refused("load_shoe").message.startswith("the last round is still being settled")
        table.b.wait()
    table.b.ok("end_shift")
    assert table.b.table.deadline() is None
