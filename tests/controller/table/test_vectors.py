"""The rule vectors of the shared notes through the real table: order of cards, windows, peeks, reveals, shoe changes.

The vectors come from an independent implementation. ``DEALERD_SHARED`` names the folder of the shared notes; without
it ``../shared`` beside the repository is taken, and without that the tests are skipped.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from controller import facts as f
from controller.cards import CUT
from controller.table.inputs import Input
from controller.table.table import Outcome
from drivers import events as e

SHARED = Path(os.environ.get("DEALERD_SHARED", Path(__file__).parents[3].parent / "shared"))
WORDS = {
    "cut": "last_round_policy",
    "burn": "burn",
    "split_order": "split_order",
    "split_second": "split_second",
    "dealer": "dealer_draws",
}
BURN = {"additional": "by_first_card", "none": "none", "one": "one"}

FILES = ["boundless", "boundless_variants", "boundless_cut_first", "boundless_cut_first_current"]
Row = dict[str, Any]


def rows(name: str) -> list[Row]:
    path = SHARED / "vectors" / f"{name}.jsonl"
    if not path.exists():
        pytest.skip(f"shared material is absent: no rule vectors at {path} (DEALERD_SHARED names another folder)")
    return [json.loads(line) for line in path.read_text().splitlines()]


def rules_of(header: Row) -> Row:
    found = {WORDS[word]: value for word, value in header["readings"].items()}
    found["burn"] = BURN[found["burn"]]
    return found


class Source:
    """A physical shoe: cards in order, the cut card lying before one of them."""

    def __init__(self, cards: list[str], cut: int) -> None:
        self.cards, self.cut, self.at = cards, cut, 0

    def draw(self) -> list[str]:
        """What leaves the shoe until a playing card is out."""
        card = self.cards[self.at]
        out = [CUT, card] if self.at == self.cut else [card]
        self.at += 1
        return out


def fast(bench: Any, **rules: Any) -> Any:
    """A bench that folds once at the end instead of after every input: a shoe has some thousand inputs."""

    class Fast(bench):  # type: ignore[misc]
        def put(self, what: Input) -> Outcome:
            self._inputs += 1
            outcome = self.table.decide(what, self.now, self._inputs.to_bytes(32, "big"))
            self.table.accept(outcome)
            self.records += outcome.records
            return outcome

    return Fast(**rules)


def events_of(facts: list[f.Fact]) -> list[Row]:
    """Our facts in the words of the vectors, ``pos`` excepted."""
    found: list[Row] = []
    for fact in facts:
        match fact:
            case f.CardDealt():
                face = "down" if fact.card == "**" else "up"
                found.append({"e": "deal", "card": fact.face, "face": face, "slot": fact.position})
            case f.CutCardDrawn():
                found.append({"e": "cut_card"})
            case f.InsuranceOffered():
                found.append({"e": "insurance_offer"})
            case f.DealerPeeked():
                found.append({"e": "peek", "dealer_bj": fact.blackjack})
            case f.DecisionOpened() if fact.line != "dealer":
                found.append({"e": "decide", "hand": fact.line, "n": fact.prefix_len})
            case f.HandSplit():
                found.append({"e": "split"})
            case f.CardRevealed():
                found.append({"e": "reveal", "card": fact.card, "slot": fact.position})
            case f.RoundResult():
                found.append({"e": "round_end"})
    return found


def wanted_events(row: Row) -> list[Row]:
    return [{k: v for k, v in event.items() if k not in ("pos", "before_pos", "players", "reason")}
            for event in row["events"]]  # fmt: skip


def without_idle_windows(ours: list[Row], wanted: list[Row]) -> list[Row]:
    """Drop windows that the vectors do not list because no player could decide in them (all on autoplay, or side
    bets only): the table cannot know that and asks the game server."""
    listed = {(w["hand"], w["n"]) for w in wanted if w["e"] == "decide"}
    return [o for o in ours if o["e"] != "decide" or (o["hand"], o["n"]) in listed]


def play_round(b: Any, source: Source, row: Row) -> list[f.Fact]:
    """Drive one round as the vector says it went; everything the table does is collected."""
    first = len(b.records)
    b.ok("open_bets")
    b.ok("close_bets")
    split = any(event["e"] == "split" for event in row["events"])
    slots = {event["slot"] for event in row["events"] if event["e"] == "deal"}
    for _ in range(100):
        step = b.state.step
        if step.kind == "draw":
            for card in source.draw():
                b.shoe(e.CutCard() if card == CUT else e.CardDrawn(card))
        elif step.kind == "insurance":
            b.ok("close_decisions", round=b.state.round.id)
        elif step.kind == "peek":
            b.wait()
        elif step.kind == "decide":
            name = {"main": "player"}.get(step.line, step.line)
            draw = f"{name}/{step.prefix_len}" in slots
            b.demand(step.line, step.prefix_len, draw, split=split and (step.line, step.prefix_len) == ("main", 2))
        else:
            break
    return [r.fact for r in b.records[first:]]


@pytest.mark.parametrize("name", FILES)
def test_vectors_card_by_card(bench: Any, name: str) -> None:
    header, *rest = rows(name)
    b = fast(bench, **rules_of(header))
    b.ok("start_shift")
    source: Source | None = None
    for row in rest:
        if row["type"] == "shoe":
            assert b.step == "load_shoe", f"before shoe {row['shoe']}: {b.step}"
            b.ok("load_shoe")
            source = Source(row["cards"], row["cut"])
            first = len(b.records)
            while b.state.step.kind == "draw":
                b.cards(*source.draw())
            burn = [r.fact for r in b.records[first:]]
            got = [(x.type, x.card) for x in burn if isinstance(x, (f.BurnIndicatorDrawn, f.CardBurned))]
            names = {"burn_indicator": "burn_indicator_drawn", "burn": "card_burned"}
            assert got == [(names[x["e"]], x["card"]) for x in row["burn"]["events"]]
            continue
        assert source is not None
        assert source.at == row["start_pos"]
        facts = play_round(b, source, row)
        wanted = wanted_events(row)
        ours = without_idle_windows(events_of(facts), wanted)
        assert ours == wanted, f"{name} round {row['round']}"
        assert source.at == row["end_pos"]
        assert b.state.phase == ("shoe_change" if row["last_round"] else "result"), f"{name} round {row['round']}"
        assert b.state.holds == {}
        result = b.last(f.RoundResult)
        assert result.hands["dealer"]["cards"] == row["dealer"]["cards"]
        assert result.hands["dealer"]["score"] == row["dealer"]["score"]
        check_players(facts, result, row)
    b.check_fold()


def check_players(facts: list[f.Fact], result: Any, row: Row) -> None:
    """Every hand's cards, result and legal decisions as the vectors have them (BJS-13, 30..38, 63..66)."""
    options = {(x.line, x.prefix_len): set(x.options) for x in facts if isinstance(x, f.DecisionOpened)}
    outcomes = {(o["line"], o["length"]): o["result"] for o in result.outcomes}
    for player in row["players"]:
        for hand in player["hands"]:
            n = len(hand["cards"])
            assert result.hands[hand["hand"]]["cards"][:n] == hand["cards"]
            if hand["result"] != "surrender":
                assert outcomes[hand["hand"], n] == hand["result"], (row["round"], player["id"], hand)
        for asked in player["decisions"]:
            if (asked["hand"], asked["n"]) in options:
                assert set(asked["legal"]) == options[asked["hand"], asked["n"]], (row["round"], asked)
