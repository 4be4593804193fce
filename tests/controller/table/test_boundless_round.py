"""Boundless rounds through the real table: deal order, windows, lines, dealer (BJS-, procedures page 2.6)."""

from __future__ import annotations

from typing import Any

import pytest

from controller import facts as f
from controller.table.commitments import verify


def test_BJS_04_initial_deal_order_and_hidden_hole(bench: Any) -> None:
    b = bench().open_round()
    steps = []
    for card in ("TC", "6C", "JH", "AD"):
        steps.append(b.step)
        b.cards(card)
    assert steps == ["draw player/0", "draw dealer/0", "draw player/1", "draw dealer/1"]
    hole = b.last(f.CardDealt)
    assert (hole.position, hole.card, hole.face) == ("dealer/1", "**", "AD")
    assert "AD" not in str(hole.public_data())
    assert b.step == "decide main@2"


def test_a_full_round_hit_split_and_dealer_draw(bench: Any) -> None:
    b = bench().open_round()
    b.cards("8C 6C 8H TD")
    assert b.last(f.DecisionOpened).options == ("hit", "stand", "double", "split", "surrender")
    b.demand("main", 2, True, split=True)
    assert b.step == "draw player/2"
    b.cards("2D")
    b.demand("main", 3, False)
    assert b.step == "draw split/0/1"
    b.cards("3S")
    assert b.step == "draw split/1/1"  # both second cards before decisions open
    b.cards("TS")
    b.demand("split/0", 2, True)
    b.cards("TH")
    assert b.step == "decide split/1@2"  # split/0 closed itself at 21
    b.demand("split/1", 2, False)
    assert b.last(f.CardRevealed).card == "TD"
    b.demand("dealer", 2, True)
    b.cards("9D")
    result = b.last(f.RoundResult)
    assert result.hands["dealer"] == {
        "cards": ["6C", "TD", "9D"], "score": 25, "blackjack": False, "bust": True,
    }  # fmt: skip
    assert {(o["line"], o["length"]): o["result"] for o in result.outcomes} == {
        ("main", 2): "win", ("main", 3): "win", ("split/0", 2): "win", ("split/0", 3): "win", ("split/1", 2): "win",
    }  # fmt: skip
    assert b.state.phase == "result"
    assert b.step == "open_bets"


def test_BJS_20_dealer_blackjack_ends_the_round_without_a_card(bench: Any) -> None:
    b = bench(peek_delay_s=1.5).open_round()
    b.cards("TC TH 9S AD")
    assert b.step == "peek"
    b.wait()
    assert b.types()[-4:] == ["dealer_peeked", "card_revealed", "round_result", "step_opened"]
    assert b.last(f.RoundResult).outcomes == [{"line": "main", "length": 2, "result": "lose"}]


def test_BJS_22_insurance_comes_before_the_peek(bench: Any) -> None:
    b = bench(peek_delay_s=1.5).open_round()
    b.cards("TC AH 9S 5D")
    assert (b.state.phase, b.step) == ("insurance", "insurance")
    b.ok("close_decisions", round=b.state.round.id)
    assert b.step == "peek"
    b.wait()
    assert b.last(f.DealerPeeked).blackjack is False
    assert b.step == "decide main@2"


def test_BJS_32_player_blackjack_opens_no_window(bench: Any) -> None:
    b = bench().open_round()
    b.cards("AC 7H KS TD")
    assert b.last(f.RoundResult).outcomes == [{"line": "main", "length": 2, "result": "bj"}]


def test_BJS_37_split_aces_take_one_card_each(bench: Any) -> None:
    b = bench().open_round()
    b.cards("AC 7H AS TD")
    b.demand("main", 2, False, split=True)
    b.cards("KD 4D")
    result = b.last(f.RoundResult)
    by_hand = {(o["line"], o["length"]): o["result"] for o in result.outcomes}
    assert by_hand[("split/0", 2)] == "win"  # BJS-13: 21, not Blackjack
    assert by_hand[("split/1", 2)] == "lose"


@pytest.mark.parametrize(
    ("order", "second", "places"),
    [
        ("main_first", "both", ["player/2", "split/0/1", "split/1/1"]),
        ("main_first", "as_played", ["player/2", "split/0/1", "split/1/1"]),
        ("split_first", "both", ["split/0/1", "split/1/1", "player/2"]),
        ("split_first", "as_played", ["split/0/1", "split/1/1", "player/2"]),
    ],
)
def test_A_08_order_of_lines_is_configuration(bench: Any, order: str, second: str, places: list[str]) -> None:
    b = bench(split_order=order, split_second=second).open_round()
    b.cards("8C 7H 8H TD")
    b.demand("main", 2, True, split=True)
    seen = []
    while b.state.step.kind in ("draw", "decide") and b.state.step.line != "dealer":
        if b.state.step.kind == "decide":
            b.demand(b.state.step.line, b.state.step.prefix_len, False)
        else:
            seen.append(b.state.step.position)
            b.cards("2S")
    assert seen == places


def test_as_played_opens_the_first_split_hand_before_the_second_gets_its_card(bench: Any) -> None:
    b = bench(split_second="as_played").open_round()
    b.cards("8C 7H 8H TD")
    b.demand("main", 2, False, split=True)
    b.cards("2S")
    assert b.step == "decide split/0@2"


def test_BJS_62_without_word_the_table_holds_and_never_draws(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 6H 9S TD")
    b.demand("main", 2, False)
    assert b.step == "decide dealer@2"
    b.wait()
    assert b.step == "wait"
    assert [h.name for h in b.state.holds.values()] == ["device"]
    b.demand("dealer", 2, True)
    assert b.types()[-3:] == ["device_restored", "decision_closed", "step_opened"]
    assert b.step == "draw dealer/2"


def test_dealer_draws_always_needs_no_word(bench: Any) -> None:
    b = bench(dealer_draws="always").open_round()
    b.cards("TC 6H 9S TD")
    b.demand("main", 2, False)
    assert b.step == "draw dealer/2"


def test_BJS_61_dealer_stands_on_soft_17(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 6H 9S AD")
    b.demand("main", 2, False)
    assert b.last(f.RoundResult).hands["dealer"]["score"] == 17


def test_I9_a_repeated_demand_is_answered_again_and_not_drawn_twice(bench: Any) -> None:
    b = bench().open_round()
    b.cards("2C 6H 3S AD")
    b.demand("main", 2, True)
    facts = b.demand("main", 2, True)
    assert facts == []
    refusal = b.refused("branch_demand", round=b.state.round.id, line="main", prefix_len=2, draw=False, key="main:2")
    assert refusal.code == "key_reused"


def test_the_commitment_opens_at_the_reveal(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 7H 9S TD")
    dealt = b.last(f.CardDealt)
    b.demand("main", 2, False)
    shown = b.last(f.CardRevealed)
    where = {"table": "t-1", "round_": b.state.round.id, "position": "dealer/1"}
    assert verify(dealt.commitment, shown.key, card="TD", **where)
    assert not verify(dealt.commitment, shown.key, card="TC", **where)
    assert not verify(dealt.commitment, shown.key[:-2], card="TD", **where)
