"""Shuffled, complete, the cut card where it was put (M-21, M-28, M-29, SHOE-01)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from controller import facts as f
from controller.cards import HIDDEN, full_shoe
from controller.table.order import RUN, SHOES, SORTED, UNSEEN, repeated, runs, sorted_run
from drivers import events as e

NATURAL = ("KC 8D 9H KS", "TD 9D 8C QC", "JC 8H 9S TH")  # nobody draws


def coups(bench: Any, hands: Any = NATURAL, **rules: Any) -> Any:
    b = bench("baccarat", burn="none", **rules)
    b.ok("start_shift")
    play(b, hands)
    return b


def play(b: Any, hands: Any) -> None:
    b.ok("load_shoe")
    for hand in hands:
        b.ok("open_bets")
        b.ok("close_bets")
        b.cards(hand)
        if b.state.incidents:
            return


def end_shoe(b: Any) -> None:
    b.ok("void", reason="over", shoe=True)
    b.ok("reopen", reason="x")
    assert b.step == "load_shoe"


# --- order -----------------------------------------------------------------------------------------------------


def test_M_29_an_old_shoe_dealt_again_is_noticed(bench: Any) -> None:
    b = coups(bench)
    end_shoe(b)
    assert len(b.last(f.ShoeOrderKept).runs) == 12 - RUN + 1
    play(b, NATURAL)
    assert b.incident == "M-29"
    assert b.state.shoe.rounds == 2  # eight cards
    assert b.last(f.IncidentRaised).resolutions == ("resume", "void_round_and_shoe")
    assert b.refused("open_bets").code == "held"
    b.resolve("void_round_and_shoe")
    assert b.state.shoe.void


def test_M_29_it_is_noticed_after_a_restart_too(bench: Any) -> None:
    b = coups(bench)
    end_shoe(b)
    b.restart()
    b.ok("resume", reason="x")
    play(b, NATURAL)
    assert b.incident == "M-29"


def test_M_29_another_order_of_the_same_cards_is_none(bench: Any) -> None:
    b = coups(bench)
    end_shoe(b)
    play(b, (NATURAL[1], NATURAL[0], NATURAL[2]))
    assert b.state.incidents == {}


def test_M_29_the_order_of_a_new_deck_is_noticed(bench: Any) -> None:
    b = coups(bench, ("TH 9H 8H 7H", "6H 5H 4H 3H"))  # a natural 8 ends each
    found = b.last(f.IncidentRaised)
    assert (found.code, found.actual) == ("M-29", "cards in the order of a new deck")


def test_a_card_that_nobody_saw_is_in_no_run() -> None:
    cards = [*"abcdefg", UNSEEN, *"hijklmno"]
    assert len(runs("s", cards)) == 1
    assert runs("s", ["AS"] * RUN) == runs("s", ["AS"] * RUN)
    assert runs("s", ["AS"] * RUN) != runs("t", ["AS"] * RUN)
    assert not sorted_run(["AS", "2S", "3S", UNSEEN, "4S", "5S", "6S", "7S"])


@pytest.mark.parametrize(
    ("cards", "found"),
    [("AS 2S 3S 4S 5S 6S 7S", True), ("7S 6S 5S 4S 3S 2S AS", True), ("AS 2S 3S 4S 5S 6S 7H", False),
     ("AS 2S 3S 4S 5S 6S 5S", False), ("AS 2S 3S 2S 3S 4S 5S 6S 7S 8S", True), ("2S 3S 4S 5S 6S 7S", False)],
)  # fmt: skip
def test_runs_in_the_order_of_a_new_deck(cards: str, found: bool) -> None:
    assert sorted_run(cards.split()) is found
    assert SORTED == 7


def test_M_29_shuffled_shoes_raise_no_alarm() -> None:
    rng = random.Random(29)
    known: list[frozenset[int]] = []
    for _ in range(2 * SHOES):
        shoe = full_shoe()
        rng.shuffle(shoe)
        found = runs("salt", shoe)
        assert not repeated(found, known[-SHOES:])
        assert not sorted_run(shoe)
        known.append(frozenset(found))


def test_only_so_many_shoes_are_remembered(bench: Any) -> None:
    b = coups(bench)
    end_shoe(b)
    for i in range(SHOES):
        play(b, NATURAL if i == SHOES - 1 else [NATURAL[i % 3], NATURAL[(i + 1) % 3], NATURAL[i % 3]])
        if b.state.incidents:
            b.resolve("resume")
        end_shoe(b)
    assert len(b.state.orders) == SHOES


# --- cut card --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("left", "word"), [(411, None), (397, None), (396, "earlier")])
def test_M_21_a_cut_card_far_from_its_place_is_looked_at(bench: Any, left: int, word: str | None) -> None:
    b = coups(bench, NATURAL[:1], cut_card_left=left)
    b.ok("open_bets")
    b.ok("close_bets")
    b.shoe(e.CutCard())  # 412 cards are left
    if word is None:
        assert b.state.incidents == {}
    else:
        raised = b.last(f.IncidentRaised)
        assert (raised.code, raised.actual) == ("M-21", f"it came much {word}")
        assert not any(ch.isdigit() for ch in raised.actual + raised.expected)
        b.resolve("resume")
        assert b.step == "draw player/0"


# --- all 416 ---------------------------------------------------------------------------------------------------


def test_M_28_the_next_shoe_waits_for_the_count_of_the_old_one(bench: Any) -> None:
    b = coups(bench, NATURAL[:1], reconcile="count")
    b.ok("open_bets")
    b.ok("close_bets")
    b.shoe(e.CutCard())
    b.cards(NATURAL[1])
    assert b.step == "load_shoe"
    b.ok("load_shoe", left=407)
    assert b.incident == "M-28"
    assert b.last(f.IncidentRaised).resolutions == ("resume",)
    b.resolve("resume")
    b.ok("load_shoe", left=407)
    assert b.state.phase == "burning"


def test_M_28_with_all_counted_the_next_shoe_comes(bench: Any) -> None:
    b = coups(bench, NATURAL[:1], reconcile="count")
    b.ok("open_bets")
    b.ok("close_bets")
    b.shoe(e.CutCard())
    b.cards(NATURAL[1])
    b.ok("load_shoe")
    assert "not counted" in b.last(f.IncidentRaised).actual
    b.resolve("resume")
    b.ok("load_shoe", left=408)
    assert b.state.phase == "burning"


@pytest.mark.parametrize("missing", [False, True])
def test_M_28_an_old_shoe_read_to_its_last_card(bench: Any, missing: bool) -> None:
    b = coups(bench, NATURAL[:1], reconcile="read", last_round_policy="current")
    b.ok("open_bets")
    b.ok("close_bets")
    b.cards(NATURAL[1].split()[0])
    b.shoe(e.CutCard())
    b.cards(" ".join(NATURAL[1].split()[1:]))
    assert b.step == "load_shoe"
    rest = full_shoe()
    for card in (*NATURAL[0].split(), *NATURAL[1].split()):
        rest.remove(card)
    b.check_fold = lambda: None  # once, at the end: 400 folds of a growing journal would be slow
    b.cards(" ".join(rest[missing:]))
    del b.check_fold
    facts = b.ok("load_shoe")
    assert ("incident_raised" in b.types(facts)) is missing
    assert ("shoe_loaded" in b.types(facts)) is not missing


def test_a_hidden_card_never_decides_about_an_alarm(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 6H 9S 5D")
    b.ok("void", reason="x")
    assert b.state.shoe.order[-1] == UNSEEN
    assert HIDDEN not in b.state.shoe.order


def test_M_27_a_shoe_that_runs_empty_goes_out_with_the_round(bench: Any) -> None:
    b = bench("baccarat", burn="none", reserve=0)
    b.ok("start_shift")
    b.ok("load_shoe")
    shoe = full_shoe()
    random.Random(27).shuffle(shoe)
    b.check_fold = lambda: None  # once, at the end
    while not b.state.incidents:
        if b.step == "open_bets":
            b.ok("open_bets")
            b.ok("close_bets")
        else:
            b.cards(shoe.pop())
    del b.check_fold
    assert shoe == []
    assert b.incident == "M-27"
    assert b.last(f.IncidentRaised).resolutions == ("void_round", "void_round_and_shoe")
    b.resolve("void_round_and_shoe")
    b.ok("reopen", reason="x")
    assert b.step == "load_shoe"
