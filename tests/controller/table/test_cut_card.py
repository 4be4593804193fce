"""The cut card: A-01, SHOE-05, M-21, and how many rounds follow it."""

from __future__ import annotations

from typing import Any

import pytest

from controller import facts as f
from drivers import events as e


def play(b: Any, *, cut_before: int | None = None, opened: bool = False) -> None:
    """One plain round that nobody draws in; ``cut_before`` n: the cut card comes before its card n."""
    if not opened:
        b.ok("open_bets")
        b.ok("close_bets")
    for n, card in enumerate(("TC", "7H", "9S", "TD")):
        if n == cut_before:
            b.shoe(e.CutCard())
        b.cards(card)
    b.demand("main", 2, False)


def rounds_until_change(b: Any) -> int:
    """Rounds that can still be played before the shoe goes out."""
    played = 0
    while b.state.phase != "shoe_change":
        assert played < 5
        play(b)
        played += 1
    return played


def ready(bench: Any, policy: str = "next") -> Any:
    b = bench(last_round_policy=policy)
    b.ok("start_shift")
    b.ok("load_shoe")
    b.cards("AS 2H")
    return b


@pytest.mark.parametrize(
    ("policy", "before", "follow"), [("next", 0, 0), ("current", 0, 0), ("next", 2, 1), ("current", 2, 0)]
)
def test_A_01_cut_card_in_its_turn(bench: Any, policy: str, before: int, follow: int) -> None:
    b = ready(bench, policy)
    play(b)
    play(b, cut_before=before)
    assert "incident_raised" not in b.types()
    drawn = b.last(f.CutCardDrawn)
    assert drawn.last_round == 2 + follow
    assert rounds_until_change(b) == follow
    assert b.step == "load_shoe"
    assert b.last(f.ShoeChangeStarted).reason == "last round played"


def test_M_21_the_cut_card_never_takes_a_place(bench: Any) -> None:
    b = ready(bench)
    b.ok("open_bets")
    b.ok("close_bets")
    b.shoe(e.CutCard())
    assert (b.step, b.state.shoe.out, b.state.round.cards) == ("draw player/0", 2, [])


def test_the_dealer_is_told_to_draw_again_after_the_cut_card(bench: Any) -> None:
    b = ready(bench)
    b.ok("open_bets")
    b.ok("close_bets")
    facts = b.shoe(e.CutCard())
    assert b.types(facts) == ["cut_card_drawn", "step_opened"]


def test_the_last_round_says_so(bench: Any) -> None:
    b = ready(bench)
    play(b, cut_before=2)
    b.ok("open_bets")
    assert b.last(f.BettingOpened).last_round is True


@pytest.mark.parametrize("policy", ["next", "current"])
@pytest.mark.parametrize("policy_hold", [False, True])
def test_M_21_cut_card_in_betting_is_out_of_turn(bench: Any, policy: str, policy_hold: bool) -> None:
    b = ready(bench, policy)
    b.ok("open_bets")
    if policy_hold:
        b.ok("pause", reason="a question")
    b.shoe(e.CutCard())
    assert b.incident == "M-21"
    assert b.last(f.IncidentRaised).resolutions == ("resume", "void_round", "void_round_and_shoe")
    b.resolve("resume")
    if policy_hold:
        b.ok("resume", reason="answered")
    b.ok("close_bets")
    play(b, opened=True)
    assert b.state.phase == "shoe_change"  # it came before the first card of this round


@pytest.mark.parametrize("policy", ["next", "current"])
def test_M_21_cut_card_in_the_burn(bench: Any, policy: str) -> None:
    b = bench(last_round_policy=policy)
    b.ok("start_shift")
    b.ok("load_shoe")
    b.cards("2H 3S")
    b.shoe(e.CutCard())
    assert b.incident == "M-21"
    b.resolve("resume")
    assert b.step == "draw burn/2"
    b.cards("4S")
    assert rounds_until_change(b) == 1


@pytest.mark.parametrize(("policy", "follow"), [("next", 1), ("current", 0)])
def test_M_21_cut_card_in_a_decision_window(bench: Any, policy: str, follow: int) -> None:
    b = ready(bench, policy)
    b.ok("open_bets")
    b.ok("close_bets")
    b.cards("TC 7H 9S TD")
    b.now += 4000
    b.shoe(e.CutCard())
    assert b.incident == "M-21"
    b.now += 60_000
    b.resolve("resume")
    assert (b.step, b.state.step_ms) == ("decide main@2", 8000)  # the time that was left
    b.demand("main", 2, False)
    assert rounds_until_change(b) == follow


@pytest.mark.parametrize("policy", ["next", "current"])
def test_M_21_cut_card_between_rounds(bench: Any, policy: str) -> None:
    b = ready(bench, policy)
    play(b)
    b.shoe(e.CutCard())
    assert b.incident == "M-21"
    b.resolve("resume")
    assert rounds_until_change(b) == 1


def test_M_21_cut_card_before_a_hit(bench: Any) -> None:
    b = ready(bench)
    b.ok("open_bets")
    b.ok("close_bets")
    b.cards("2C 7H 9S TD")
    b.demand("main", 2, True)
    b.shoe(e.CutCard())
    assert (b.step, b.state.holds) == ("draw player/2", {})
    b.cards("8S")
    b.demand("main", 3, False)
    assert rounds_until_change(b) == 1


def test_M_21_a_second_cut_card_is_an_incident(bench: Any) -> None:
    b = ready(bench)
    play(b, cut_before=2)
    last = b.state.shoe.last_round
    b.ok("open_bets")
    b.ok("close_bets")
    b.shoe(e.CutCard())
    assert b.incident == "M-21"
    assert b.types().count("cut_card_drawn") == 1
    b.resolve("resume")
    play(b, opened=True)
    assert (b.state.shoe.last_round, b.state.phase) == (last, "shoe_change")


def test_SHOE_05_a_void_last_round_ends_the_shoe_too(bench: Any) -> None:
    b = ready(bench)
    play(b, cut_before=2)
    b.ok("open_bets")
    b.ok("close_bets")
    b.cards("TC")
    b.ok("void", reason="felt disturbed")
    b.ok("reopen", reason="felt cleared")
    assert b.state.phase == "shoe_change"


def test_M_27_no_round_opens_without_the_reserve(bench: Any) -> None:
    b = bench(reserve=414)
    b.ok("start_shift")
    b.ok("load_shoe")
    b.cards("AS 2H")  # 414 left
    b.ok("open_bets")
    b.ok("close_bets")
    play(b, opened=True)
    facts = b.ok("open_bets")
    assert b.types(facts) == ["shoe_ended", "shoe_change_started", "step_opened"]
