"""Classic rounds through the real table: deal order, seats, splits, the dealer without a hole card (BJ7-)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from controller import facts as f
from controller.cards import CUT
from drivers import events as e

Row = dict[str, Any]


def dealing(bench: Any, seats: list[int], **rules: Any) -> Any:
    b = bench("classic", burn="none", **rules)
    b.ok("start_shift")
    b.ok("load_shoe")
    b.ok("open_bets")
    b.ok("close_bets", seats=seats)
    return b


def test_BJ7_10_two_passes_with_the_dealer_between(bench: Any) -> None:
    b = dealing(bench, [2, 5])
    steps = []
    for card in ["TC", "9H", "6C", "8D", "7S"]:
        steps.append(b.step)
        b.cards(card)
    assert steps == [
        "draw seat/2/hand/0/0",
        "draw seat/5/hand/0/0",
        "draw dealer/0",
        "draw seat/2/hand/0/1",
        "draw seat/5/hand/0/1",
    ]
    assert b.step == "decide seat/2/hand/0@2"
    assert all(fact.card != "**" for fact in (r.fact for r in b.records) if isinstance(fact, f.CardDealt))


def test_BJ7_23_a_split_moves_the_second_card_and_frees_its_place(bench: Any) -> None:
    b = dealing(bench, [3])
    b.cards("8C 6C 8H")
    b.demand("seat/3/hand/0", 2, False, split=True)
    assert b.last(f.HandSplit).lines == ("seat/3/hand/0", "seat/3/hand/1")
    assert b.state.round.at("seat/3/hand/1/0") == "8H"
    assert b.step == "draw seat/3/hand/0/1"
    b.cards("2D 3S")
    assert b.step == "decide seat/3/hand/0@2"
    assert b.state.step.options == ("hit", "stand")  # BJ7-24
    assert (
        b.refused(
            "branch_demand",
            round=b.state.round.id,
            line="seat/3/hand/0",
            prefix_len=2,
            draw=True,
            key="seat/3/hand/0:2",
        ).code
        == "key_reused"
    )  # the split was asked for under that key
    b.ok("branch_demand", round=b.state.round.id, line="seat/3/hand/0", prefix_len=2, draw=True, key="hit")
    assert b.step == "draw seat/3/hand/0/2"


def test_BJ7_25_split_aces_take_one_card_each_and_the_dealer_draws(bench: Any) -> None:
    b = dealing(bench, [1])
    b.cards("AC 6C AH")
    b.demand("seat/1/hand/0", 2, False, split=True)
    b.cards("KD 5S")
    assert b.step == "draw dealer/1"
    b.cards("TD TS")
    assert b.state.phase == "result"
    assert [o["result"] for o in b.last(f.RoundResult).outcomes] == ["win", "win"]  # 21 is no Blackjack


def test_BJ7_41_dealer_stands_on_soft_17(bench: Any) -> None:
    b = dealing(bench, [1])
    b.cards("TC 6C 9H")
    b.demand("seat/1/hand/0", 2, False)
    b.cards("AD")
    assert b.last(f.RoundResult).hands["dealer"]["score"] == 17


def test_dealer_draws_needed_asks_and_a_no_ends_the_round(bench: Any) -> None:
    b = dealing(bench, [1], dealer_draws="needed")
    b.cards("TC 6C 6H")
    b.demand("seat/1/hand/0", 2, True)
    b.cards("KD")  # bust
    assert b.step == "decide dealer@1"
    b.demand("dealer", 1, False)
    assert b.last(f.RoundResult).hands["dealer"]["cards"] == ["6C"]


@pytest.mark.parametrize("seats", [[], [0], [8], [2, 2], [3, 1]])
def test_wrong_seats_are_refused(bench: Any, seats: list[int]) -> None:
    b = bench("classic", burn="none")
    b.ok("start_shift")
    b.ok("load_shoe")
    b.ok("open_bets")
    assert b.refused("close_bets", seats=seats).code == "bad_args"


def test_seats_belong_to_classic(bench: Any) -> None:
    b = bench(burn="none")
    b.ok("start_shift")
    b.ok("load_shoe")
    b.ok("open_bets")
    assert b.refused("close_bets", seats=[1]).code == "bad_args"


def test_bets_do_not_close_by_themselves_while_nobody_says_who_sits(bench: Any) -> None:
    b = bench("classic", burn="none")
    b.ok("start_shift")
    b.ok("load_shoe")
    b.ok("open_bets")
    b.wait()
    assert [h.name for h in b.state.holds.values()] == ["device"]
    b.ok("close_bets", seats=[4])
    assert b.step == "draw seat/4/hand/0/0"


# --- the vectors -----------------------------------------------------------------------------------------------


def rules_of(readings: Row) -> Row:
    return {
        "last_round_policy": readings["cut"],
        "burn": {"additional": "by_first_card", "none": "none"}[readings["burn"]],
        "double_after_split": readings["das"],
        "surrender_against": {"no_AT": "two_to_nine", "no_A": "two_to_ten"}[readings["surrender"]],
        "dealer_draws": readings["dealer"],
        "split_second": readings["split_second"],
        "reserve": 0,
    }


def events_of(facts: list[f.Fact]) -> list[Row]:
    found: list[Row] = []
    for fact in facts:
        match fact:
            case f.CardDealt():
                found.append({"e": "deal", "card": fact.face, "face": "up", "slot": fact.position})
            case f.CutCardDrawn():
                found.append({"e": "cut_card"})
            case f.InsuranceOffered():
                found.append({"e": "insurance_offer"})
            case f.HandSplit():
                found.append({"e": "split", "seat": int(fact.lines[0].split("/")[1])})
            case f.RoundResult():
                found.append({"e": "round_end"})
    return found


@pytest.mark.parametrize("name", ["classic", "classic_variants"])
def test_classic_vectors_card_by_card(bench: Any, shared: Path, name: str) -> None:
    header, *rest = [json.loads(line) for line in (shared / "vectors" / f"{name}.jsonl").read_text().splitlines()]
    b = bench("classic", **rules_of(header["readings"]))
    b.check_fold = lambda: None  # once at the end
    b.ok("start_shift")
    cards: list[str] = []
    for row in rest:
        if row["type"] == "shoe":
            b.ok("load_shoe")
            cards = [*row["cards"][: row["cut"]], CUT, *row["cards"][row["cut"] :]]
            while b.state.step.kind == "draw":
                b.shoe(e.CardDrawn(cards.pop(0)))
            continue
        first = len(b.records)
        _play(b, cards, row)
        wanted = [
            {k: v for k, v in event.items() if k in ("e", "card", "face", "slot", "seat")}
            for event in row["events"]
            if event["e"] != "decision"
        ]
        assert events_of([r.fact for r in b.records[first:]]) == wanted, f"round {row['round']}"
        outcomes = {o["line"]: o["result"] for o in b.last(f.RoundResult).outcomes}
        for seat in row["seats"]:
            for hand in seat["hands"]:
                if hand["result"] != "surrender":
                    assert outcomes[f"seat/{seat['seat']}/hand/{hand['hand']}"] == hand["result"], row["round"]
        assert b.state.phase == ("shoe_change" if row["last_round"] else "result"), f"round {row['round']}"
    del b.check_fold
    b.check_fold()


def _play(b: Any, cards: list[str], row: Row) -> None:
    """Cards from the shoe; decisions as the vector's own events say what followed."""
    b.ok("open_bets")
    b.ok("close_bets", seats=[seat["seat"] for seat in row["seats"]])
    told = {(x["seat"], x["hand"]): [] for x in row["events"] if x["e"] == "decision"}  # type: ignore[var-annotated]
    for x in row["events"]:
        if x["e"] == "decision":
            told[x["seat"], x["hand"]].append(x["effect"])
    dealers = sum(x["e"] == "deal" and x["slot"].startswith("dealer/") for x in row["events"])
    for number in range(100):
        step = b.state.step
        if step.kind == "draw":
            card = cards.pop(0)
            b.shoe(e.CutCard() if card == CUT else e.CardDrawn(card))
        elif step.kind == "insurance":
            b.ok("close_decisions", round=b.state.round.id)
        elif step.kind == "decide":
            if step.line == "dealer":
                effect = "hit" if dealers > step.prefix_len else "stand"
            else:
                _, seat, _, hand = step.line.split("/")
                left = told.get((int(seat), int(hand)), [])
                effect = left.pop(0) if left else "stand"
            b.ok(
                "branch_demand", round=b.state.round.id, line=step.line, prefix_len=step.prefix_len,
                draw=effect in ("hit", "double"), split=effect == "split", key=f"{step.line}/{number}",
            )  # fmt: skip
        else:
            return
