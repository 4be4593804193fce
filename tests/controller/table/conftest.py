"""A table on a bench: inputs with virtual time and fixed entropy, the fold checked after every one of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from controller import facts as f
from controller.book.setting import BookSetting
from controller.commands import Envelope, authorise
from controller.refusal import Refusal
from controller.rules.options import GameOptions
from controller.table.draft import Setting
from controller.table.inputs import CommandInput, DeadlineInput, Input, ShoeInput, Start
from controller.table.state import Traits
from controller.table.table import Outcome, Table
from drivers import events as e

SENDER = {
    "open_bets": "game_server", "close_bets": "game_server", "close_decisions": "game_server",
    "branch_demand": "game_server", "place_bets": "game_server", "decide": "game_server", "insure": "game_server",
    "follow": "game_server", "load_shoe": "dealer", "pause": "supervisor",
}  # fmt: skip

RESOLUTIONS = frozenset(
    {"resume", "rescan", "enter_card", "reassign", "burn_card", "use_as_next", "void_round", "void_round_and_shoe"}
)


class Bench:
    """Drives one table and keeps every record."""

    def __init__(
        self, game: str = "boundless", *, traits: Traits | None = None, sources: str = "shoe", **rules: Any
    ) -> None:
        options = GameOptions(game=game, **{"peek_delay_s": 0.0, "decisions": "platform"} | rules)  # type: ignore[arg-type]
        assert options.problems() == []
        book = BookSetting(table="t-1", game=game, wallet="embedded") if options.decisions == "book" else None  # type: ignore[arg-type]
        self.setting = Setting("t-1", options, traits or Traits(), book, sources)  # type: ignore[arg-type]
        self.table = Table(self.setting)
        self.records: list[f.Record] = []
        self.now = 1000
        self._inputs = 0
        self._ids = 0
        self.start()

    @property
    def state(self) -> Any:
        return self.table.state

    @property
    def step(self) -> str:
        """The published step in one word and place."""
        step = self.state.step
        place = step.position or (f"{step.line}@{step.prefix_len}" if step.line else "")
        return f"{step.kind} {place}".strip()

    def put(self, what: Input) -> Outcome:
        self._inputs += 1
        outcome = self.table.decide(what, self.now, self._inputs.to_bytes(32, "big"))
        self.table.accept(outcome)
        self.records += outcome.records
        self.check_fold()
        for record in outcome.records:
            if isinstance(record.fact, f.IncidentRaised):
                self.check_resolutions(record.fact)
        return outcome

    def check_fold(self) -> None:
        """fold(facts) equals the draft, through the journal's own encoding."""
        again = Table(self.setting)
        again.replay(f.decode_fact(f.encode_fact(r.fact)) for r in self.records)
        assert again.state == self.state

    def check_resolutions(self, raised: f.IncidentRaised) -> None:
        """Whatever is not listed as legal for an incident is refused, whoever asks."""
        for name in RESOLUTIONS.difference(raised.resolutions):
            args = {
                "incident": raised.incident,
                "resolution": name,
                "reason": "x",
                "position": "player/0",
                "cards": 4,
            }
            envelope = Envelope(id="test-illegal", command="resolve", args=args, seen_seq=self.state.seq)
            what = CommandInput(authorise(envelope, role="supervisor", person="pat"), "20261129")
            refusal = self.table.decide(what, self.now, bytes(32)).refusal
            assert refusal is not None, f"{raised.code}: {name}"
            assert refusal.code in ("not_legal", "no_incident"), f"{raised.code}: {name}: {refusal}"

    def start(self, away_ms: int = 0) -> None:
        self.put(Start("test", "digest", "{}", away_ms))
        self.put(ShoeInput(e.PortRestored("pty")))

    def restart(self, away_ms: int = 0) -> None:
        """The process died and came back on its journal."""
        table = Table(self.setting)
        table.replay(r.fact for r in self.records)
        self.table = table
        self.start(away_ms)

    def approve(self, *, accept: bool = True, person: str = "kim") -> list[f.Fact]:
        """Another supervisor answers what is asked."""
        (number,) = self.state.approvals
        return self.ok("approve", approval=number, accept=accept, reason="seen", person=person)

    def shoe(self, *events: e.Event) -> list[f.Fact]:
        found: list[f.Fact] = []
        for event in events:
            found += [r.fact for r in self.put(ShoeInput(event)).records]
        return found

    def cards(self, text: str) -> list[f.Fact]:
        return self.shoe(*(e.CardDrawn(card) for card in text.split()))

    def order(
        self, name: str, *, role: str | None = None, seen: Any = -1, person: str = "pat", **args: Any
    ) -> Outcome:
        self._ids += 1
        role = role or SENDER.get(name, "supervisor")
        if name == "sighting":  # there ``seen`` is what the camera sees
            args, seen = args | {"seen": seen}, -1
        seen_seq = self.state.seq if seen == -1 else seen
        envelope = Envelope(id=f"test-{self._ids:06d}", command=name, args=args, seen_seq=seen_seq)
        command = authorise(envelope, role=role, person=person)
        return self.put(CommandInput(command, "20261129"))

    def ok(self, name: str, **args: Any) -> list[f.Fact]:
        outcome = self.order(name, **args)
        assert outcome.refusal is None, outcome.refusal
        return [r.fact for r in outcome.records]

    def see(self, *seen: tuple[str, str | None]) -> list[f.Fact]:
        """The camera tells what lies at places, as (position, card)."""
        rows = [{"position": position, "card": card} for position, card in seen]
        return self.ok("sighting", seen=rows, role="camera")

    def refused(self, name: str, **args: Any) -> Refusal:
        before = self.state
        outcome = self.order(name, **args)
        assert outcome.refusal is not None, f"{name} was accepted: {outcome.records}"
        assert outcome.records == ()
        assert self.state == before
        return outcome.refusal

    def demand(self, line: str, n: int, draw: bool, *, split: bool = False) -> list[f.Fact]:
        key = f"{line}:{n}"
        return self.ok(
            "branch_demand", round=self.state.round.id, line=line, prefix_len=n, draw=draw, split=split, key=key
        )

    def wait(self) -> Outcome:
        """Let the next deadline pass."""
        found = self.table.deadline()
        assert found is not None, "nothing is timed"
        self.now = max(self.now, found[1])
        return self.put(DeadlineInput(found[0]))

    def resolve(self, resolution: str, **args: Any) -> list[f.Fact]:
        number = max(self.state.incidents)
        return self.ok("resolve", incident=number, resolution=resolution, reason="seen", **args)

    def open_round(self, *, burn: str = "AS 2H") -> Bench:
        """From a closed table to the first card of a round; an ace burns one card."""
        if self.state.phase == "closed":
            self.ok("start_shift")
        if self.state.phase == "shoe_change":
            self.ok("load_shoe")
            if self.setting.rules.burn == "by_first_card":
                self.cards(burn)
        self.ok("open_bets")
        self.ok("close_bets")
        return self

    def types(self, facts: Iterable[f.Fact] | None = None) -> list[str]:
        return [fact.type for fact in (facts if facts is not None else [r.fact for r in self.records])]

    @property
    def incident(self) -> str:
        """Public code of the newest open incident."""
        return str(self.state.incidents[max(self.state.incidents)].code)

    def last(self, kind: type[f.Fact]) -> Any:
        return next(r.fact for r in reversed(self.records) if isinstance(r.fact, kind))


@pytest.fixture
def bench() -> type[Bench]:
    """The class itself: tests choose game and rules."""
    return Bench
