"""Rules through the real table, one by one, where no other test names them (SHOE-, BJS-, BJ7-, BAC-, ERR-)."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from rich.console import Console

from controller import facts as f
from controller import public
from controller.book.lines import automatic
from controller.book.rows import BalanceRequest
from controller.cli.view import picture
from controller.commands import Envelope, authorise
from controller.frames import frame_bytes
from controller.refusal import Refusal
from controller.table.inputs import BalancesInput


def seated(bench: Any, game: str, *rows: dict[str, Any], **rules: Any) -> Any:
    """A table without a burn whose players have bet; p1 to p4 held 1,000 each."""
    b = bench(game, decisions="book", burn="none", **rules)
    b.ok("start_shift")
    b.ok("load_shoe")
    b.put(BalancesInput(tuple(BalanceRequest(f"p{n}", 1000) for n in range(1, 5))))
    b.ok("open_bets")
    outcome = b.order("place_bets", round=b.state.round.id, bets=list(rows))
    assert outcome.reply["refused"] == []
    return b


def main(player: str, stake: int, box: int | None = None, **more: Any) -> dict[str, Any]:
    return {"player": player, "bet": "main", "stake": stake} | ({} if box is None else {"box": box}) | more


def choose(b: Any, line: str, n: int, player: str, request: str) -> Any:
    row = {"player": player, "line": line, "n": n, "request": request}
    return b.order("decide", round=b.state.round.id, decisions=[row])


def money(b: Any, player: str) -> int:
    while b.table.deadline() is not None and b.table.deadline()[0] == "post":
        b.wait()
    return int(b.state.book.money.available(player))


# --- one shared hand ------------------------------


def test_BJS_31_a_hand_is_hit_until_it_stands(bench: Any) -> None:
    b = bench().open_round()
    b.cards("2C 7H 2S TD")
    for n, card in enumerate(["2D", "2H", "3C", "3S"], 2):
        b.demand("main", n, True)
        assert b.step == f"draw player/{n}"
        b.cards(card)
    assert b.step == "decide main@6"


@pytest.mark.parametrize("last", ["5S", "KS"])
def test_BJS_56_BJS_32_21_or_more_closes_a_line(bench: Any, last: str) -> None:
    b = bench().open_round()
    b.cards("TC 6H 6S TD")
    b.demand("main", 2, True)
    b.cards(last)
    assert b.step == "decide dealer@2"


def test_BJS_54_each_split_line_begins_with_its_own_card(bench: Any) -> None:
    b = bench().open_round()
    b.cards("KC 7H TS TD")
    b.demand("main", 2, False, split=True)
    b.cards("2D 3D")
    b.demand("split/0", 2, False)
    b.demand("split/1", 2, False)
    hands = b.last(f.RoundResult).hands
    assert [hands[line]["cards"] for line in ("main", "split/0", "split/1")] == [
        ["KC", "TS"],
        ["KC", "2D"],
        ["TS", "3D"],
    ]


def test_BJS_40_BJ7_27_nobody_decides_hit_to_11_and_stand_above() -> None:
    assert [automatic(score) for score in (4, 10, 11, 12, 13, 16)] == ["hit"] * 3 + ["stand"] * 3


def test_BJS_41_the_bets_of_who_is_silent_stand_and_are_settled(bench: Any) -> None:
    b = seated(bench, "boundless", main("p1", 100))
    b.ok("close_bets")
    b.cards("5C 6H 4S TD")
    b.wait()  # 9: hits
    assert b.step == "draw player/2"
    b.cards("TS")  # 19: stands
    b.cards("KD")  # dealer 26
    assert money(b, "p1") == 1100
    assert b.last(f.BetsSettled).returned == 200


def test_BJS_60_the_fourth_card_is_the_one_revealed(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 7H 9S TD")
    dealt = [r.fact for r in b.records if isinstance(r.fact, f.CardDealt)]
    assert [fact.position for fact in dealt if fact.card == "**"] == ["dealer/1"] == [dealt[3].position]
    assert not any(isinstance(r.fact, f.CardRevealed) for r in b.records)
    b.demand("main", 2, False)
    shown = b.last(f.CardRevealed)
    assert (shown.position, shown.card) == ("dealer/1", dealt[3].face)


def test_BJS_05_the_score_shown_for_the_dealer_leaves_the_hole_card_out(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 7H 9S AD")
    state, frame = public.initial(), {}
    for record in b.records:
        if record.seq is not None:
            frame = json.loads(frame_bytes(record, feed="f", table="t-1", epoch=1, at_ms=0))
            public.apply(state, frame)
    out = io.StringIO()
    Console(file=out, width=110).print(picture(state, [], frame))
    shown = [line.strip(" │").split() for line in out.getvalue().splitlines()]
    scores = {words[0]: words[-1] for words in shown if words and words[0] in ("player", "dealer")}
    assert scores == {"player": "19", "dealer": "7"}


# --- seats ------------------------------


def test_BJ7_03_nobody_sits_down_or_bets_behind_during_a_round(bench: Any) -> None:
    b = seated(bench, "classic", main("p1", 10, 1))
    b.ok("close_bets")
    b.cards("TC 9H")
    for row in (main("p2", 10, 2), main("p2", 10, 1, behind=True)):
        assert b.refused("place_bets", round=b.state.round.id, bets=[row]).code == "betting_closed"


def test_BJ7_13_seats_play_in_order_and_finish_both_hands(bench: Any) -> None:
    b = seated(bench, "classic", main("p1", 10, 5), main("p2", 10, 2))
    b.ok("close_bets")
    assert b.state.round.seats == (2, 5)
    b.cards("8C TH 6D 8S 9C")
    choose(b, "seat/2/hand/0", 2, "p2", "split")
    b.cards("2D 3D")
    assert b.step == "decide seat/2/hand/0@2"
    choose(b, "seat/2/hand/0", 2, "p2", "stand")
    assert b.step == "decide seat/2/hand/1@2"
    choose(b, "seat/2/hand/1", 2, "p2", "stand")
    assert b.step == "decide seat/5/hand/0@2"


@pytest.mark.parametrize(("up", "offered"), [("AH", True), ("TH", False), ("KH", False), ("9H", False)])
def test_BJ7_26_insurance_against_an_ace_only(bench: Any, up: str, offered: bool) -> None:
    b = seated(bench, "classic", main("p1", 10, 1))
    b.ok("close_bets")
    b.cards(f"TC {up} 9S")
    assert (b.state.step.kind == "insurance") is offered


def test_BJ7_26_insurance_is_half_floored_and_not_for_bettors_behind(bench: Any) -> None:
    b = seated(bench, "classic", main("p1", 25, 1), main("p2", 25, 1, behind=True))
    b.ok("close_bets")
    b.cards("TC AH 9S")
    outcome = b.order("insure", round=b.state.round.id, players=[{"player": "p1"}, {"player": "p2"}])
    assert [(r["player"], r["code"]) for r in outcome.reply["refused"]] == [("p2", "not_seated")]
    assert b.state.book.money.available("p1") == 1000 - 25 - 12
    b.ok("close_decisions", round=b.state.round.id)
    choose(b, "seat/1/hand/0", 2, "p1", "stand")
    b.cards("KD")
    assert (money(b, "p1"), money(b, "p2")) == (1000 - 37 + 36, 975)


def test_BJ7_27_ERR_06_a_silent_seat_hits_to_11_and_is_never_bust(bench: Any) -> None:
    b = seated(bench, "classic", main("p1", 10, 1))
    b.ok("close_bets")
    b.cards("5C 9H 4S")
    b.wait()
    assert b.step == "draw seat/1/hand/0/2"
    b.cards("2D")  # 11
    assert b.step == "draw seat/1/hand/0/3"
    b.cards("AD")  # 12
    assert b.step == "draw dealer/1"


def test_BJ7_21_a_double_is_one_more_card_for_as_much_again(bench: Any) -> None:
    b = seated(bench, "classic", main("p1", 100, 1))
    b.ok("close_bets")
    b.cards("6C TH 5S")
    choose(b, "seat/1/hand/0", 2, "p1", "double")
    assert b.step == "draw seat/1/hand/0/2"
    b.cards("9S")  # 20, and no further choice
    assert b.step == "draw dealer/1"
    b.cards("9D")  # 19
    assert money(b, "p1") == 1200


def test_BJ7_28_a_bust_hand_gets_no_more_cards(bench: Any) -> None:
    b = seated(bench, "classic", main("p1", 10, 1))
    b.ok("close_bets")
    b.cards("TC 9H 6S")
    choose(b, "seat/1/hand/0", 2, "p1", "hit")
    b.cards("KS")
    assert (b.step, b.state.step.hidden) == ("draw dealer/1", False)  # BJ7-40
    b.cards("KD")
    assert b.last(f.RoundResult).outcomes[0]["result"] == "bust"
    assert money(b, "p1") == 990


@pytest.mark.parametrize("request_", ["split", "double"])
def test_BJ7_29_BJ7_30_five_seconds_to_follow(bench: Any, request_: str) -> None:
    b = seated(bench, "classic", main("p1", 10, 1), main("p2", 10, 1, behind=True))
    b.ok("close_bets")
    b.cards("5C 9H 5S")
    choose(b, "seat/1/hand/0", 2, "p1", request_)
    assert (b.state.step.kind, b.state.step_ms) == ("follow", 5000)
    b.wait()  # no answer is a refusal
    assert b.state.step.kind == "draw"
    assert b.state.book.money.available("p2") == 990


# --- baccarat ------------------------------


@pytest.mark.parametrize(("shuffle", "seen"), [("every_round", 0), ("cut_card", 4)])
def test_BAC_02_all_cards_are_back_before_each_coup_or_stay_out(bench: Any, shuffle: str, seen: int) -> None:
    b = bench("baccarat", burn="none", shuffle=shuffle).open_round()
    b.cards("TS KD 9S 6D")
    assert b.state.shoe.out == 4
    b.ok("open_bets")
    assert b.last(f.BettingOpened).reshuffled is (shuffle == "every_round")
    assert (b.state.shoe.out, sum(b.state.shoe.seen.values())) == (seen, seen)


def test_BAC_16_ERR_07_a_void_coup_gives_every_bet_back(bench: Any) -> None:
    rows = [{"player": "p1", "bet": bet, "stake": 30} for bet in ("PLAYER", "BANKER", "TIE")]
    b = seated(bench, "baccarat", *rows)
    b.ok("close_bets")
    b.cards("9S 2H")
    assert money(b, "p1") == 910
    b.ok("void", reason="the reader is broken")
    assert money(b, "p1") == 1000
    assert not any(isinstance(r.fact, f.RoundResult) for r in b.records)


# --- errors ------------------------------


@pytest.mark.parametrize("name", ["void", "resolve", "reopen", "resume", "pause"])
def test_ERR_08_a_decision_needs_a_reason(name: str) -> None:
    args: dict[str, Any] = {"incident": 1, "resolution": "resume"} if name == "resolve" else {}
    for reason in ({}, {"reason": ""}, {"reason": "  "}):
        with pytest.raises(Refusal) as refused:
            authorise(Envelope(id="test-0001", command=name, args=args | reason), role="supervisor", person="pat")
        assert refused.value.code == "bad_args"


def test_ERR_01_ERR_02_ERR_08_held_until_a_named_person_decides(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 6H 9S TD 8S")
    assert b.step == "wait"
    assert b.refused("close_decisions", round=b.state.round.id, window="insurance").code == "held"
    b.resolve("burn_card")
    done = b.last(f.IncidentResolved)
    assert (done.by, done.reason) == ("supervisor:pat", "seen")
    assert b.step == "decide main@2"


def test_ERR_03_ERR_10_a_void_round_leaves_the_shoe(bench: Any) -> None:
    b = bench(auto_void_after_s=60.0).open_round()
    b.cards("TC 6H 9S TD 8S")
    b.wait()
    assert (b.state.phase, b.state.shoe.void) == ("voided", False)
    b.ok("reopen", reason="cleared")
    assert (b.state.phase, b.step) == ("result", "open_bets")
