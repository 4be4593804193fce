"""Design 9.4: rounds that differ only in a hidden card of the same class give the same bytes up to its reveal."""

from __future__ import annotations

import re
from typing import Any

import pytest

from controller import facts as f
from controller.commands import Envelope, authorise
from controller.frames import frame_bytes
from controller.table.inputs import CommandInput, DeadlineInput, Input, ShoeInput, Start
from controller.table.table import Outcome, Table
from drivers import events as e

COMMITMENT = re.compile(rb'"commitment":"[0-9a-f]{64}"')


class Wire:
    """A table of which only the bytes on the feed are looked at."""

    def __init__(self, bench: Any, **rules: Any) -> None:
        self.table = Table(bench(**rules).setting)
        self.now = 1000
        self.frames: list[bytes] = []
        self.records: list[f.Record] = []
        self._inputs = 0
        self.put(Start("test", "digest", "{}"))
        self.put(ShoeInput(e.PortRestored("pty")))

    def put(self, what: Input) -> Outcome:
        self._inputs += 1
        self.now += 7
        outcome = self.table.decide(what, self.now, self._inputs.to_bytes(32, "big"))
        self.table.accept(outcome)
        for r in outcome.records:
            self.records.append(r)
            if r.seq is not None:
                self.frames.append(frame_bytes(r, feed="f", table="t-1", epoch=1, at_ms=self.now))
        return outcome

    def shoe(self, *events: e.Event) -> None:
        for event in events:
            self.put(ShoeInput(event))

    def cards(self, text: str) -> None:
        self.shoe(*(e.CardDrawn(card) for card in text.split()))

    def order(self, role: str, name: str, **args: Any) -> None:
        envelope = Envelope(id=f"test-{self._inputs:06d}", command=name, args=args, seen_seq=self.table.state.seq)
        outcome = self.put(CommandInput(authorise(envelope, role=role, person="pat"), "20261129"))
        assert outcome.refusal is None, outcome.refusal

    def wait(self) -> None:
        found = self.table.deadline()
        assert found is not None
        self.now = found[1]
        self.put(DeadlineInput(found[0]))

    def open_round(self, burn: str) -> None:
        self.order("supervisor", "start_shift")
        self.order("dealer", "load_shoe")
        self.cards(burn)
        self.order("game_server", "open_bets")
        self.order("game_server", "close_bets")

    def masked(self, upto: int | None = None) -> list[bytes]:
        return [COMMITMENT.sub(b'"commitment":"?"', frame) for frame in self.frames[:upto]]

    def index(self, kind: str) -> int:
        return next(i for i, frame in enumerate(self.frames) if f'"type":"{kind}"'.encode() in frame)


def troubled(w: Wire, hole: str, trouble: str) -> None:
    """The hole card comes, with one of many things that can happen around it."""
    match trouble:
        case "none":
            w.cards(hole)
        case "paused":
            w.order("supervisor", "pause", reason="x")
            w.cards(hole)
            w.order("supervisor", "resume", reason="x")
        case "unread_first":
            w.shoe(e.NoRead("NR"))
            w.order("supervisor", "resolve", incident=1, resolution="rescan", reason="x")
            w.cards(hole)
        case "two_in_a_pause":
            w.order("supervisor", "pause", reason="x")
            w.cards(hole + " 2C")
            w.order("supervisor", "resolve", incident=1, resolution="burn_card", reason="x")
            w.order("supervisor", "resume", reason="x")
        case "rescan":
            w.cards(hole)
            w.shoe(e.Gap("1", "4"))
            w.order("supervisor", "resolve", incident=1, resolution="rescan", reason="x")
            w.cards("TC " + w.table.state.round.cards[1].card + " 9S " + hole)  # type: ignore[union-attr]
        case "rescan_wrong":
            w.cards(hole)
            w.shoe(e.Gap("1", "4"))
            w.order("supervisor", "resolve", incident=1, resolution="rescan", reason="x")
            w.cards("TC " + w.table.state.round.cards[1].card + " 9S 4D")  # type: ignore[union-attr]
            w.order("supervisor", "resolve", incident=2, resolution="resume", reason="x")
            w.order("supervisor", "resolve", incident=1, resolution="resume", reason="x")
        case "repeated":
            w.cards(hole)
            w.shoe(e.Repeated(hole))
        case "extra":
            w.cards(hole + " " + hole)
            w.order("supervisor", "resolve", incident=1, resolution="burn_card", reason="x")
        case "restart":
            w.cards(hole)
            w.put(Start("test", "digest", "{}"))
            w.shoe(e.PortRestored("pty"))
            w.order("supervisor", "resume", reason="x", how="felt_agrees")


TROUBLES = [
    "none", "paused", "unread_first", "two_in_a_pause", "rescan", "rescan_wrong", "repeated", "extra", "restart",
]  # fmt: skip


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize(
    ("up", "one", "other"),
    [
        ("7H", "2D", "KS"),  # no peek at all: every hole card is of one class
        ("7H", "AS", "7H"),
        ("AH", "2D", "9S"),  # peek: no
        ("AH", "KH", "QS"),  # peek: yes
        ("TH", "2D", "TS"),
        ("TH", "AD", "AS"),
    ],
)
def test_the_hole_card_leaves_no_trace_before_its_reveal(
    bench: Any, up: str, one: str, other: str, trouble: str
) -> None:
    runs = []
    for hole in (one, other):
        w = Wire(bench, peek_delay_s=1.5)
        w.open_round("AS 2H")
        w.cards(f"TC {up} 9S")
        troubled(w, hole, trouble)
        if up[0] == "A":
            w.order("game_server", "close_decisions", round=w.table.state.round.id)  # type: ignore[union-attr]
        if up[0] in "AT":
            w.wait()
        if w.table.state.phase == "deciding":
            w.order(
                "game_server", "branch_demand", round=w.table.state.round.id, line="main", prefix_len=2,  # type: ignore[union-attr]
                draw=False, key="k",
            )  # fmt: skip
        runs.append((w, w.index("card_revealed")))
    (a, n), (b, m) = runs
    assert n == m
    assert a.masked(n) == b.masked(n)
    for w in (a, b):
        dealt = next(r.fact for r in w.records if isinstance(r.fact, f.CardDealt) and r.fact.position == "dealer/1")
        assert dealt.key.encode() not in b"".join(w.frames[:n])
        assert dealt.key.encode() in w.frames[n]


@pytest.mark.parametrize("trouble", ["window_times_out", "void", "paused_before_the_reveal"])
def test_the_hole_card_of_a_round_that_does_not_end(bench: Any, trouble: str) -> None:
    runs = []
    for hole in ("2D", "KS"):
        w = Wire(bench)
        w.open_round("AS 2H")
        w.cards(f"TC 7H 9S {hole}")
        if trouble == "window_times_out":
            w.wait()
            w.wait()  # auto void
        else:
            if trouble != "void":
                w.order("supervisor", "pause", reason="x")
            w.order("supervisor", "void", reason="x")
        if trouble == "paused_before_the_reveal":
            w.order("supervisor", "resume", reason="x")
        w.order("supervisor", "reopen", reason="x")
        w.order("game_server", "open_bets")
        w.order("game_server", "close_bets")
        w.cards("3C")
        runs.append(w.masked())
    assert runs[0] == runs[1]


def test_burned_cards_leave_no_trace_before_the_shoe_has_ended(bench: Any) -> None:
    runs = []
    for burned in ("2H 3H", "KS QD"):
        w = Wire(bench)
        w.open_round("2S " + burned)
        w.cards("TC 7H 9S TD")
        w.order(
            "game_server", "branch_demand", round=w.table.state.round.id, line="main", prefix_len=2,  # type: ignore[union-attr]
            draw=False, key="k",
        )  # fmt: skip
        w.order("supervisor", "end_shift")
        runs.append(w)
    a, b = runs
    n = a.index("shoe_ended")
    assert a.masked(n) == b.masked(n)
    assert n == b.index("shoe_ended")
    keys = [r.fact.key.encode() for r in a.records if isinstance(r.fact, f.CardBurned)]
    assert len(keys) == 2
    for key in keys:
        assert key not in b"".join(a.frames[:n])
        assert key in a.frames[n]


def test_commitments_of_the_same_card_differ(bench: Any) -> None:
    w = Wire(bench)
    w.open_round("2S 2H 2H")
    made = [r.fact.commitment for r in w.records if isinstance(r.fact, f.CardBurned)]
    assert len(set(made)) == 2
