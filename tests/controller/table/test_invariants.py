"""What must always hold (design 9), under random shoe events, commands of any role, deadlines and restarts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from controller import facts as f
from controller import public
from controller.cards import FACES, HIDDEN, SHOE_SIZE, shuffled_shoe
from controller.commands import COMMANDS, QUERIES, ROLES, Envelope, authorise
from controller.frames import decode_frame, frame_bytes
from controller.refusal import CODES, Refusal
from controller.rules.boundless import line_cards
from controller.rules.options import GameOptions
from controller.rules.scores import blackjack_score
from controller.table.draft import Draft, Setting
from controller.table.fold import Fold
from controller.table.incidents import REPORTABLE
from controller.table.inputs import CommandInput, DeadlineInput, Input, ShoeInput, Start
from controller.table.state import Traits
from controller.table.table import Table
from drivers import events as e

ANGEL = Traits(positions=True, results=True, standby=True, actions=("lock", "clear_error"))
RESOLUTIONS = ("resume", "rescan", "burn_card", "use_as_next", "void_round", "void_round_and_shoe", "nonsense")
NAMES = tuple(sorted(set(COMMANDS) - QUERIES))
EVENTS = st.sampled_from(
    [
        e.NoRead("NR"), e.UnknownCode("?"), e.Repeated("TC"), e.CutCard(), e.PortLost("gone"), e.PortRestored("pty"),
        e.Gap("1", "4"), e.Started(), e.StandBy(), e.Lock(True), e.Preset("01", "0001"), e.ErrorRaised(1, True),
        e.ErrorRaised(2, False), e.ErrorRaised(4, True), e.ErrorRaised(7, True), e.ErrorCleared(2, False),
        e.RoundResult("player", False, False), e.RoundResult("forced", False, True),
    ]
)  # fmt: skip
TARGETS = st.sampled_from(["player", "banker", "burn", "first", "burn_left"])


def cards_in(fact: f.Fact) -> Iterator[str]:
    """Every card a fact accounts for."""
    match fact:
        case f.CardDealt():
            yield fact.face
        case f.BurnIndicatorDrawn() | f.CardBurned() | f.CardHeld() | f.CardRescanned() | f.CardRevealed():
            yield fact.card
        case f.ReadRepeated() | f.ReadOutOfGame():
            yield fact.card
        case f.IncidentRaised():
            yield from fact.cards
        case f.DeviceReported():
            yield fact.event.get("card", "")


class Rounds(RuleBasedStateMachine):
    """One table, its journal's fold and its feed's fold, side by side."""

    game = "boundless"
    traits = Traits()
    hidden = False

    @initialize(seed=st.integers(0, 2**32 - 1), policy=st.sampled_from(["next", "current"]))
    def begin(self, seed: int, policy: Any) -> None:
        self.random = random.Random(seed)
        rules = GameOptions(game=self.game, last_round_policy=policy, auto_void_after_s=30.0)  # type: ignore[arg-type]
        self.setting = Setting("t-1", rules, self.traits)
        self.table = Table(self.setting)
        self.journal = Table(self.setting)
        self.now = 1000
        self.inputs = self.ids = 0
        self.feed = public.initial()
        self.seq = 0
        self.sealed: set[bytes] = set()
        self.deck: list[str] = []
        self.events: list[str] = []
        self.unread = False  # the ledger can no longer be exact
        self.put(Start("test", "digest", "{}"))
        self.put(ShoeInput(e.PortRestored("pty")))
        self.command("supervisor", "start_shift")

    # --- the one way in ------------------------------------------------------------------------------------------

    def put(self, what: Input) -> list[f.Fact]:
        self.inputs += 1
        self.now += 50
        before = self.table.state
        outcome = self.table.decide(what, self.now, self.inputs.to_bytes(32, "big"))
        if outcome.refusal is not None:
            assert outcome.refusal.code in CODES
            assert outcome.records == ()
            assert outcome.state is before
        self.table.accept(outcome)
        for record in outcome.records:
            self.take(record)
        assert self.journal.state == self.table.state, "fold(facts) is not the draft"
        if isinstance(what, ShoeInput):
            named = [card for r in outcome.records for card in cards_in(r.fact)]
            card = getattr(what.event, "card", None)
            if card is not None:
                assert card in named, f"{what.event} left no trace"
        return [r.fact for r in outcome.records]

    def take(self, record: f.Record) -> None:
        """One fact: into the journal's fold and, if public, the feed's."""
        fact = f.decode_fact(f.encode_fact(record.fact))
        if isinstance(fact, (f.CardDealt, f.CardBurned, f.BurnIndicatorDrawn)):
            self.check_step(fact)
        if isinstance(fact, f.IncidentRaised):
            assert fact.resolutions, "an incident that nobody can resolve"
        if isinstance(fact, f.ShoeLoaded):
            self.deck = shuffled_shoe(self.random)
            self.unread = False
        self.journal.replay([fact])
        if isinstance(fact, (f.CardDealt, f.CardBurned)) and fact.key:
            self.sealed.add(fact.key.encode())
        if isinstance(fact, f.CardRevealed) and fact.key:
            self.sealed.discard(fact.key.encode())
        if isinstance(fact, f.ShoeEnded):
            opened = {key["key"].encode() for key in fact.burn_keys}
            assert opened == self.sealed, "a commitment stays closed for ever"
            self.sealed.clear()
        if record.seq is None:
            return
        assert record.seq == self.seq + 1
        self.seq = record.seq
        body = frame_bytes(record, feed="f", table="t-1", epoch=1, at_ms=self.now)
        for key in self.sealed:
            assert key not in body
        frame = decode_frame(body)
        if record.fact.type in ("card_dealt", "card_burned", "card_held"):
            assert not {"face", "key", "from_hold"} & set(frame["data"])
            if frame["data"].get("position") == "dealer/1":
                assert frame["data"].get("card", HIDDEN) == HIDDEN
            if record.fact.type != "card_dealt":
                assert "card" not in frame["data"]
        public.apply(self.feed, frame)

    def check_step(self, fact: Any) -> None:
        """Design 9.1: the procedure asked for exactly this card, just before."""
        step = Draft(self.setting, self.journal.state, Fold(), self.now, b"").next_step()
        assert step.kind == "draw"
        if isinstance(fact, f.CardDealt):
            assert step.takes(fact.position)
            assert (fact.card == HIDDEN) == (step.hidden or fact.face == HIDDEN)
        else:
            assert (step.position or "").startswith("burn/")
            assert step.hidden == isinstance(fact, f.CardBurned)
        if not fact.from_hold:
            assert not self.table_was_held(), "a card was dealt on a held table"

    def table_was_held(self) -> bool:
        return bool(self.journal.state.holds)

    def command(self, role: str, name: str, *, seen: int | None = None, **args: Any) -> None:
        self.ids += 1
        seq = self.table.state.seq if seen is None else seen
        try:
            command = authorise(
                Envelope(id=f"test-{self.ids:06d}", command=name, args=args, seen_seq=seq),
                role=role,
                person="kim" if name == "approve" else "pat",
            )
        except Refusal:
            return
        self.put(CommandInput(command, "20261129"))

    # --- rules ---------------------------------------------------------------------------------------------------

    def draw(self, *, place: str | None = None) -> None:
        if not self.deck:
            return
        if self.table.state.rescan is not None:
            self.unread = True  # a fresh card among those read again: a person must say which it was
        card = HIDDEN if self.hidden and (place or "").split("/")[0] in ("player", "banker") else self.deck.pop()
        target = index = None
        if self.traits.positions and place:
            side, number = place.split("/")
            if side == "burn":
                shoe = self.table.state.shoe
                of = shoe.burn_of if shoe is not None and shoe.burn_of is not None else 1
                target, index = ("first", 0) if number == "0" else ("burn_left", of - int(number))
            else:
                target, index = side, int(number) + 1
        self.put(ShoeInput(e.CardDrawn(card, target, index)))  # type: ignore[arg-type]

    @rule(draw=st.booleans(), split=st.booleans(), times=st.integers(1, 8))
    def go_on(self, draw: bool, split: bool, times: int) -> None:
        """What the step asks for, a few times over."""
        for _ in range(times):
            self.do_step(draw, split)

    def do_step(self, draw: bool, split: bool) -> None:
        state = self.table.state
        step = state.step
        match step.kind:
            case "start_shift":
                self.command("supervisor", "start_shift")
            case "load_shoe":
                self.command("dealer", "load_shoe")
            case "open_bets" | "close_bets":
                self.command("game_server", step.kind)
            case "draw":
                place = step.position
                if step.others and not draw:
                    place = next((p for p in step.others if p != "reveal"), place)
                self.draw(place=place)
            case "insurance":
                self.command("game_server", "close_decisions", round=state.round.id)  # type: ignore[union-attr]
            case "peek":
                self.tick()
            case "decide":
                self.ids += 1
                self.command(
                    "game_server", "branch_demand", round=state.round.id, line=step.line,  # type: ignore[union-attr]
                    prefix_len=step.prefix_len, draw=draw, split=split and "split" in step.options,
                    key=f"k{self.ids}",
                )  # fmt: skip
            case "reveal":
                side, number = (step.position or "").split("/")
                if self.deck:
                    self.put(ShoeInput(e.CardRevealed(self.deck.pop(), side, int(number) + 1)))  # type: ignore[arg-type]
            case "shoe_result":
                self.put(ShoeInput(e.RoundResult(self.random.choice(["player", "banker", "tie"]), False, False)))
            case "standby":
                self.put(ShoeInput(e.StandBy()))
            case "reopen":
                self.command("supervisor", "reopen", reason="go on")
            case "rescan":
                rescan = state.rescan
                assert rescan is not None
                felt = rescan.expected[rescan.done :]
                if felt or self.deck:
                    self.put(ShoeInput(e.CardDrawn(felt[0] if felt else self.deck.pop())))

    @rule(choices=st.lists(st.integers(0, 9), min_size=2, max_size=12), draw=st.booleans(), split=st.booleans())
    def play_on(self, choices: list[int], draw: bool, split: bool) -> None:
        """Holds lifted, steps done: without this most runs would stand still."""
        for choice in choices:
            if self.table.state.holds and self.table.state.step.kind != "rescan":
                self.lift(choice=choice)
            else:
                self.do_step(draw, split)

    @rule(choice=st.integers(0, 9))
    def lift(self, choice: int) -> None:
        """A supervisor ends one hold with a legal choice."""
        state = self.table.state
        if "shoe" in state.devices_lost:
            self.put(ShoeInput(e.PortRestored("pty")))
        elif state.approvals:
            self.command("supervisor", "approve", approval=min(state.approvals), accept=False, reason="x")
        elif state.incidents:
            number = min(state.incidents)
            legal = state.incidents[number].resolutions
            self.command(
                "supervisor", "resolve", incident=number, resolution=legal[choice % len(legal)], reason="seen"
            )
        elif state.holds:
            how = "rescan" if choice == 0 else "felt_agrees"
            self.command("supervisor", "resume", reason="seen", how=how)

    @rule(event=EVENTS)
    def event(self, event: e.Event) -> None:
        if isinstance(event, (e.NoRead, e.UnknownCode, e.ErrorRaised)):
            self.unread = True
        self.put(ShoeInput(event))

    @rule(side=TARGETS, index=st.integers(0, 3), kind=st.integers(0, 4), face=st.sampled_from([*FACES, HIDDEN]))
    def foreign(self, side: Any, index: int, kind: int, face: str) -> None:
        """A card from nowhere."""
        types = (e.CardDrawn, e.CardRevealed, e.CardReused, e.OutOfGame, e.OverdrawnDiscarded)
        self.unread = True
        self.put(ShoeInput(types[kind](face, side, index)))

    @rule()
    def any_card(self) -> None:
        self.draw()

    @rule(
        name=st.sampled_from(NAMES), role=st.sampled_from(sorted(ROLES)), right=st.booleans(),
        number=st.integers(-1, 4), line=st.sampled_from(["main", "split/0", "split/1", "dealer"]), yes=st.booleans(),
        resolution=st.sampled_from(RESOLUTIONS), stale=st.integers(0, 9), shoe=st.booleans(),
    )  # fmt: skip
    def any_command(
        self, name: str, role: str, right: bool, number: int, line: str, yes: bool, resolution: str, stale: int,
        shoe: bool,
    ) -> None:  # fmt: skip
        state = self.table.state
        round_ = state.round.id if state.round is not None and right else "none"
        args: dict[str, Any] = {
            "close_decisions": {"round": round_},
            "branch_demand": {
                "round": round_, "line": line, "prefix_len": number, "draw": yes, "split": not right,
                "key": f"k{number}",
            },
            "resolve": {
                "incident": max(state.incidents, default=number), "resolution": resolution, "reason": "x",
                "cards": None if yes else number,
            },
            "resume": {"reason": "x", "how": "rescan" if yes else "felt_agrees", "cards": number if right else None},
            "void": {"reason": "x", "shoe": shoe},
            "pause": {"reason": "x"}, "reopen": {"reason": "x"},
            "report": {"code": sorted(REPORTABLE)[number % len(REPORTABLE)]},
            "enter_card": {
                "incident": max(state.incidents, default=number), "card": FACES[number % len(FACES)], "reason": "x",
            },
            "correct": {"round": round_, "cards": [], "void": yes, "reason": "x"},
            "approve": {"approval": state.approval_count, "accept": yes, "reason": "x"},
            "acknowledge": {"incident": number},
            "device_command": {"action": ["lock", "clear_error", "dance"][number % 3], "reason": "x"},
        }.get(name, {})  # fmt: skip
        if right:
            role = next(
                r for r in ("game_server", "dealer", "supervisor", "camera", "technician") if name in ROLES[r]
            )
        self.command(role, name, seen=0 if stale == 0 else None, **args)

    @rule()
    def tick(self) -> None:
        found = self.table.deadline()
        if found is not None:
            self.now = max(self.now, found[1])
            self.put(DeadlineInput(found[0]))

    @rule(name=st.sampled_from(["step", "void"]))
    def early_tick(self, name: Any) -> None:
        if self.table.deadline() is None:
            assert self.put(DeadlineInput(name)) == []

    @rule()
    def restart(self) -> None:
        table = Table(self.setting)
        table.replay([])
        table.state = self.journal.state.copy()
        self.table = table
        self.put(Start("test", "digest", "{}"))

    # --- what holds always ---------------------------------------------------------------------------------------

    @invariant()
    @precondition(lambda self: hasattr(self, "feed"))
    def the_feed_tells_the_state(self) -> None:
        state, feed = self.table.state, self.feed
        assert feed["phase"] == state.phase
        assert set(feed["holds"]) == set(state.holds)
        assert set(feed["incidents"]) == {str(n) for n in state.incidents}
        assert feed["devices_lost"] == sorted(state.devices_lost)
        assert (feed["round"] is None) == (state.round is None)
        assert feed["step"] is None or feed["step"]["step"] == state.step.kind
        if state.round is not None:
            assert feed["round"]["id"] == state.round.id
            shown = [(c.position, c.card if c.public else HIDDEN) for c in state.round.cards]
            assert [(c["position"], c["card"]) for c in feed["round"]["cards"]] == shown
            assert feed["round"]["peeked"] == state.round.peeked
        assert (feed["shoe"] is None) == (state.shoe is None)
        if state.shoe is not None:
            mine = state.shoe
            assert feed["shoe"]["id"] == mine.id
            assert (feed["shoe"]["burned"], feed["shoe"]["cut_out"]) == (mine.burned, mine.cut_out)
            assert (feed["shoe"]["last_round"], feed["shoe"]["rounds"]) == (mine.last_round, mine.rounds)
            assert feed["shoe"]["void"] == mine.void

    @invariant()
    @precondition(lambda self: hasattr(self, "feed"))
    def the_ledger_agrees_with_the_shoe(self) -> None:
        shoe = self.table.state.shoe
        if shoe is None:
            return
        assert all(n >= 0 for n in shoe.seen.values())
        assert sum(shoe.seen.values()) <= shoe.out
        if not self.unread and not self.hidden and self.table.state.phase not in ("shoe_change", "closed"):
            assert shoe.out == SHOE_SIZE - len(self.deck)
            left = Counter(self.deck)
            assert all(shoe.seen.get(face, 0) == 8 - left[face] for face in FACES)

    @invariant()
    @precondition(lambda self: hasattr(self, "feed"))
    def the_step_is_the_procedures(self) -> None:
        """At rest: a held table waits, a free one shows the step the procedure asks for; windows are timed."""
        state = self.table.state
        if state.holds:
            assert state.step.kind in ("wait", "rescan")
        else:
            step = Draft(self.setting, state, Fold(), self.now, b"").next_step()
            assert state.step == step
            if step.kind in ("close_bets", "insurance", "decide", "peek", "standby"):
                assert state.step_due is not None
            assert not state.deferred or all(x["event"] == "card_reused" for x in state.deferred)
            assert all(p.origin == "kept" for p in state.pending)
        if state.phase == "voided":
            assert not state.incidents

    @invariant()
    @precondition(lambda self: hasattr(self, "feed"))
    def cards_of_the_round(self) -> None:
        """I1, I3, I4 of the shared hand (procedures 2.6)."""
        round_ = self.table.state.round
        if round_ is None:
            return
        places = [c.position for c in round_.cards]
        assert len(places) == len(set(places))  # I1
        if self.game != "boundless":
            return
        assert HIDDEN not in [c.card for c in round_.cards]
        for line in ("main", "split/0", "split/1"):
            cards = line_cards(round_, line)
            for n in range(2, len(cards)):
                assert blackjack_score(cards[:n]).total < 21  # I4
                if line == "main" or n > 1:
                    demand = round_.demands.get((line, n))
                    assert demand is not None  # I3: every further card was demanded
                    assert demand.draw
        split = ("main", 2) in round_.demands and round_.demands["main", 2].split
        assert split or not any(p.startswith("split/") for p in places)

    def check(self) -> None:
        """All invariants, for walks that hypothesis does not steer."""
        self.the_feed_tells_the_state()
        self.the_ledger_agrees_with_the_shoe()
        self.the_step_is_the_procedures()
        self.cards_of_the_round()


class BaccaratOpen(Rounds):
    game = "baccarat"
    traits = ANGEL


class BaccaratHidden(Rounds):
    game = "baccarat"
    traits = ANGEL
    hidden = True


class BaccaratLine(Rounds):
    game = "baccarat"


MACHINES = [Rounds, BaccaratOpen, BaccaratHidden, BaccaratLine]
SETTINGS = settings(
    max_examples=40, stateful_step_count=40, deadline=None, derandomize=True, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@pytest.mark.parametrize("machine", MACHINES)
def test_invariants(machine: Any) -> None:
    run_state_machine_as_test(machine, settings=SETTINGS)


def walk(machine: Any, seed: int, steps: int, trouble: float) -> Any:
    """A long shift: mostly what is right, ``trouble`` of the time anything at all."""
    rng = random.Random(seed)
    m = machine()
    m.begin(seed=seed, policy=rng.choice(["next", "current"]))
    faults = list(EVENTS.elements)  # type: ignore[attr-defined]
    for _ in range(steps):
        state = m.table.state
        if rng.random() >= trouble:
            if state.holds and state.step.kind != "rescan":
                m.lift(choice=rng.randrange(10))
            else:
                m.do_step(rng.random() < 0.6, rng.random() < 0.5)
        else:
            match rng.randrange(8):
                case 0 | 1:
                    m.event(event=rng.choice(faults))
                case 2:
                    m.any_card()
                case 3:
                    m.restart()
                case 4:
                    m.tick()
                case 5:
                    m.foreign(
                        side=rng.choice(["player", "banker", "burn", "first", "burn_left"]), index=rng.randrange(4),
                        kind=rng.randrange(5), face=rng.choice([*FACES, HIDDEN]),
                    )  # fmt: skip
                case 6:
                    m.command("supervisor", "pause", reason="x")
                case _:
                    m.any_command(
                        name=rng.choice(NAMES), role=rng.choice(sorted(ROLES)), right=rng.random() < 0.7,
                        number=rng.randrange(-1, 5), line=rng.choice(["main", "split/0", "split/1", "dealer"]),
                        yes=rng.random() < 0.5, resolution=rng.choice(RESOLUTIONS), stale=rng.randrange(10),
                        shoe=rng.random() < 0.2,
                    )  # fmt: skip
        m.check()
    return m


def recover(m: Any) -> None:
    """Whatever happened, people with the legal commands can bring the table to a new round."""
    opened = False
    for n in range(120):
        before = m.table.state.round.id if m.table.state.round is not None else None
        state = m.table.state
        if opened:
            return
        if "shoe" in state.devices_lost:
            m.put(ShoeInput(e.PortRestored("pty")))
        elif state.approvals:
            m.command("supervisor", "approve", approval=min(state.approvals), accept=False, reason="x")
        elif state.locked:
            m.command("dealer", "log_on")
        elif state.incidents:
            number = min(state.incidents)
            last = state.incidents[number].resolutions[-1]
            m.command("supervisor", "resolve", incident=number, resolution=last, reason="x")
        elif state.round_open and (state.holds or n > 20):
            m.command("supervisor", "void", reason="x")
        elif state.holds:
            m.command("supervisor", "resume", reason="x", how="felt_agrees")
        else:
            m.do_step(False, False)
        now = m.table.state
        opened = now.phase == "betting" and now.round.id != before
    raise AssertionError(f"no way on from {m.table.state}")


@pytest.mark.parametrize("trouble", [0.0, 0.02, 0.15, 0.6])
@pytest.mark.parametrize("machine", MACHINES)
def test_a_long_shift(machine: Any, trouble: float) -> None:
    for seed in range(2):
        recover(walk(machine, seed, 300, trouble))
