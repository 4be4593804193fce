"""Misdeals in Boundless: extra, unread, foreign cards; each ends resumed, corrected or void (procedures page 2.5)."""

from __future__ import annotations

from typing import Any

import pytest

from controller import facts as f
from controller.frames import frame_bytes
from drivers import events as e


def betting(bench: Any, **rules: Any) -> Any:
    b = bench(**rules)
    b.ok("start_shift")
    b.ok("load_shoe")
    b.cards("AS 2H")
    b.ok("open_bets")
    return b


def lay(b: Any) -> list[tuple[str, str]]:
    return [(c.position, c.card) for c in b.state.round.cards]


def eight_out(bench: Any, card: str = "QS") -> Any:
    """A shoe from which eight copies of ``card`` were dealt, in two rounds that all end alike."""
    b = betting(bench, dealer_draws="always")
    for n in range(2):
        if n:
            b.ok("open_bets")
        b.ok("close_bets")
        # main hand QS QS; dealer QS QS: 20 against 20
        b.cards(" ".join([card] * 4))
        b.wait()
        b.demand("main", 2, False)
    assert b.state.phase == "result"
    assert b.state.shoe.seen[card] == 8
    return b


# --- M-05, M-08: cards that are not due ------------------------------


def test_M_05_a_card_before_bets_close_is_burned(bench: Any) -> None:
    b = betting(bench)
    b.now += 5000
    b.cards("KC")
    assert b.incident == "M-05"
    incident = b.last(f.IncidentRaised)
    assert incident.resolutions == ("burn_card", "use_as_next", "void_round", "void_round_and_shoe")
    assert "KC" not in str(incident.public_data())
    assert (b.state.round.cards, b.state.shoe.out) == ([], 3)
    assert b.refused("close_bets").code == "held"
    b.resolve("burn_card")
    assert (b.step, b.state.step_ms) == ("close_bets", 10_000)
    b.ok("close_bets")
    assert b.step == "draw player/0"
    b.cards("TC")
    assert lay(b) == [("player/0", "TC")]
    assert b.state.shoe.out == 4


def test_M_05_used_as_the_first_card_once_bets_are_closed(bench: Any) -> None:
    b = betting(bench)
    b.cards("KC")
    b.resolve("use_as_next")
    assert (b.step, lay(b)) == ("close_bets", [])
    b.ok("close_bets")
    assert lay(b) == [("player/0", "KC")]
    assert (b.state.shoe.out, b.state.shoe.seen["KC"], b.state.pending) == (3, 1, ())
    assert b.step == "draw dealer/0"


def test_M_08_an_extra_card_in_a_window_takes_the_next_place_of_this_round(bench: Any) -> None:
    b = betting(bench)
    b.ok("close_bets")
    b.cards("2C 7H 9S TD")
    b.now += 2000
    b.cards("8S")  # I5: dealt early
    assert b.incident == "M-08"
    assert "8S" not in str(b.last(f.IncidentRaised).public_data())
    b.resolve("use_as_next")
    assert (b.step, b.state.step_ms) == ("decide main@2", 10_000)
    b.demand("main", 2, True)
    assert lay(b)[-1] == ("player/2", "8S")
    assert (b.state.shoe.out, b.step) == (2 + 5, "decide main@3")


def test_M_08_an_unused_extra_card_waits_for_the_next_round(bench: Any) -> None:
    b = betting(bench)
    b.ok("close_bets")
    b.cards("TC 7H 9S TD")
    b.cards("8S")
    b.resolve("use_as_next")
    b.demand("main", 2, False)
    assert b.state.phase == "result"
    b.ok("open_bets")
    b.ok("close_bets")
    assert lay(b) == [("player/0", "8S")]
    assert b.state.shoe.out == 2 + 5


def test_M_08_an_extra_card_after_the_result_is_burned(bench: Any) -> None:
    b = betting(bench)
    b.ok("close_bets")
    b.cards("TC 7H 9S TD")
    b.demand("main", 2, False)
    b.cards("8S")
    assert (b.incident, b.state.phase) == ("M-08", "result")
    assert b.last(f.IncidentRaised).resolutions == ("burn_card", "use_as_next", "void_round_and_shoe")
    assert b.refused("open_bets").code == "held"
    b.resolve("burn_card")
    b.ok("open_bets")
    b.ok("close_bets")
    assert (lay(b), b.state.shoe.out) == ([], 7)


def test_M_14_the_dealer_draws_on_17(bench: Any) -> None:
    b = betting(bench, dealer_draws="always")
    b.ok("close_bets")
    b.cards("TC 7H 9S TD")
    b.demand("main", 2, False)
    assert b.last(f.RoundResult).hands["dealer"]["score"] == 17
    b.cards("8S")  # surplus: the result stands
    b.resolve("burn_card")
    assert [r.fact.type for r in b.records].count("round_result") == 1


def test_extra_cards_are_resolved_in_the_order_they_came(bench: Any) -> None:
    b = betting(bench)
    b.cards("KC 4D")
    assert sorted(b.state.incidents) == [1, 2]
    refusal = b.refused("resolve", incident=2, resolution="use_as_next", reason="seen")
    assert (refusal.code, refusal.expected) == ("not_legal", "resolve incident 1")
    b.ok("resolve", incident=1, resolution="use_as_next", reason="seen")
    b.ok("resolve", incident=2, resolution="use_as_next", reason="seen")
    b.ok("close_bets")
    assert lay(b) == [("player/0", "KC"), ("dealer/0", "4D")]
    assert b.state.shoe.out == 4


def test_a_resolution_that_is_not_listed_is_refused(bench: Any) -> None:
    b = betting(bench)
    b.cards("KC")
    assert b.refused("resolve", incident=1, resolution="resume", reason="x").code == "not_legal"
    assert b.refused("resolve", incident=7, resolution="resume", reason="x").code == "no_incident"
    assert b.refused("resume", reason="x").code == "not_allowed_now"


# --- M-26: more copies than a shoe holds ------------------------------


def test_M_26_a_ninth_copy_ends_the_shoe(bench: Any) -> None:
    b = eight_out(bench)
    b.ok("open_bets")
    b.ok("close_bets")
    b.cards("QS")
    assert b.incident == "M-26"
    assert b.last(f.IncidentRaised).resolutions == ("void_round_and_shoe",)
    assert lay(b) == []
    b.resolve("void_round_and_shoe")
    assert b.state.phase == "voided"
    b.ok("reopen", reason="new shoe")
    assert (b.state.phase, b.step) == ("shoe_change", "load_shoe")


@pytest.mark.parametrize("how", ["auto", "void"])
def test_M_26_no_other_void_keeps_the_shoe(bench: Any, how: str) -> None:
    b = eight_out(bench)
    b.ok("open_bets")
    b.ok("close_bets")
    b.cards("QS")
    if how == "auto":
        b.wait()
    else:
        b.ok("void", reason="not so sure")
    assert (b.state.phase, b.state.shoe.void) == ("voided", True)
    b.ok("reopen", reason="new shoe")
    assert b.state.phase == "shoe_change"


def test_M_26_an_extra_card_may_be_the_ninth_copy(bench: Any) -> None:
    b = eight_out(bench)
    b.cards("QS")
    assert b.last(f.IncidentRaised).resolutions == ("void_round_and_shoe",)
    b.resolve("void_round_and_shoe")
    b.ok("reopen", reason="new shoe")
    assert b.state.phase == "shoe_change"


def frames(b: Any, start: int) -> list[bytes]:
    return [frame_bytes(r, feed="x", table="t-1", epoch=1, at_ms=0) for r in b.records[start:] if r.seq is not None]


def test_M_26_at_the_hole_card_looks_like_an_unread_card(bench: Any) -> None:
    seen = []
    for ninth in (True, False):
        b = eight_out(bench)
        b.ok("open_bets")
        b.ok("close_bets")
        b.cards("TC 7H 9S")
        start = len(b.records)
        b.shoe(e.CardDrawn("QS") if ninth else e.NoRead("NR"))
        assert b.incident == "hidden"
        seen.append(frames(b, start))
        assert b.state.incidents[1].cause.startswith("M-26" if ninth else "M-01")
        # the card read again, another face now: counted once
        b.resolve("rescan")
        b.cards("5D")
        seen[-1] = frames(b, start)
        assert b.state.shoe.out == 2 + 8 + 4
        assert b.state.shoe.seen["QS"] == 8
        assert lay(b)[-1] == ("dealer/1", "5D")
    a, c = (b"\n".join(x) for x in seen)
    # The commitment opens to the same card, under a key of another input: everything else is equal.
    assert strip_commitment(a) == strip_commitment(c)


def strip_commitment(text: bytes) -> bytes:
    head, mark, tail = text.partition(b'"commitment":"')
    return head + mark + tail[64:]


def test_M_26_a_hidden_ninth_copy_takes_the_shoe_with_the_round(bench: Any) -> None:
    b = eight_out(bench)
    b.ok("open_bets")
    b.ok("close_bets")
    b.cards("TC 7H 9S QS")
    b.resolve("void_round")
    assert b.state.shoe.void


# --- M-01, M-02: unread cards ------------------------------


@pytest.mark.parametrize("event", [e.NoRead("NR"), e.UnknownCode("4?"), e.ErrorRaised(1, True)])
def test_M_01_an_unread_card_is_read_again(bench: Any, event: e.Event) -> None:
    b = betting(bench)
    b.ok("close_bets")
    b.cards("TC")
    b.shoe(event)
    assert b.incident == "M-01"
    assert b.last(f.IncidentRaised).resolutions == ("rescan", "enter_card", "void_round", "void_round_and_shoe")
    assert b.step == "wait"
    b.resolve("rescan")
    assert (b.step, b.state.step.again) == ("draw dealer/0", True)
    b.cards("7H")
    assert lay(b) == [("player/0", "TC"), ("dealer/0", "7H")]
    assert (b.state.shoe.out, b.step, b.state.step.again) == (4, "draw player/1", False)


def test_M_01_unread_twice_is_counted_once(bench: Any) -> None:
    b = betting(bench)
    b.ok("close_bets")
    for _ in range(3):
        b.shoe(e.NoRead("NR"))
        b.resolve("rescan")
    b.cards("TC")
    assert (lay(b), b.state.shoe.out) == ([("player/0", "TC")], 3)


def test_M_01_a_void_leaves_the_unread_card_out_of_the_shoe(bench: Any) -> None:
    b = betting(bench)
    b.ok("close_bets")
    b.shoe(e.NoRead("NR"))
    b.resolve("void_round")
    assert b.state.shoe.out == 3


def test_M_01_other_incidents_do_not_forget_that_the_card_is_to_be_read_again(bench: Any) -> None:
    b = betting(bench)
    b.ok("close_bets")
    b.shoe(e.NoRead("NR"), e.CutCard())
    b.ok("resolve", incident=1, resolution="rescan", reason="x")
    b.ok("resolve", incident=2, resolution="resume", reason="x")
    assert (b.step, b.state.step.again) == ("draw player/0", True)


def test_M_01_an_unread_card_nobody_was_to_draw(bench: Any) -> None:
    b = betting(bench)
    b.shoe(e.NoRead("NR"))
    assert b.incident == "M-05"
    b.resolve("burn_card")
    b.ok("close_bets")
    assert (b.step, b.state.shoe.out) == ("draw player/0", 3)


def test_M_05_an_unread_card_kept_is_read_when_its_turn_comes(bench: Any) -> None:
    b = betting(bench)
    b.shoe(e.NoRead("NR"))
    b.resolve("use_as_next")
    b.ok("close_bets")
    assert b.incident == "M-01"  # its face is still unknown
    b.resolve("rescan")
    b.cards("KC")
    assert (lay(b), b.state.shoe.out) == ([("player/0", "KC")], 3)


def test_M_02_a_card_read_while_one_is_unread_is_never_taken_for_it(bench: Any) -> None:
    b = betting(bench)
    b.ok("close_bets")
    b.cards("TC")
    b.shoe(e.NoRead("NR"))
    b.cards("9D")  # the unread card, or the one after it
    assert b.incident == "M-02"
    assert b.last(f.IncidentRaised).resolutions == ("use_as_next", "void_round", "void_round_and_shoe")
    assert lay(b) == [("player/0", "TC")]
    b.resolve("void_round")
    assert (b.state.phase, b.state.shoe.out) == ("voided", 5)


def test_M_02_it_was_the_unread_card_itself(bench: Any) -> None:
    b = betting(bench)
    b.ok("close_bets")
    b.cards("TC")
    b.shoe(e.NoRead("NR"))
    b.cards("9D")
    b.ok("resolve", incident=2, resolution="use_as_next", reason="the camera shows it")
    assert lay(b) == [("player/0", "TC")]
    b.ok("resolve", incident=1, resolution="rescan", reason="it is read")
    assert lay(b) == [("player/0", "TC"), ("dealer/0", "9D")]
    assert (b.step, b.state.shoe.out, b.state.step.again) == ("draw player/1", 4, False)


def test_boundless_does_not_take_a_card_without_a_face(bench: Any) -> None:
    b = betting(bench)
    b.ok("close_bets")
    b.cards("**")
    assert b.incident == "M-01"
    b.resolve("rescan")
    b.cards("TC")
    assert (lay(b), b.state.shoe.out) == ([("player/0", "TC")], 3)


def test_a_repeated_reading_is_not_a_second_card(bench: Any) -> None:
    b = betting(bench)
    b.ok("close_bets")
    b.cards("TC")
    facts = b.shoe(e.Repeated("TC"))
    assert b.types(facts) == ["read_repeated"]
    assert (lay(b), b.step) == ([("player/0", "TC")], "draw dealer/0")
    assert not facts[0].PUBLIC


def test_M_20_a_card_pushed_back(bench: Any) -> None:
    b = betting(bench)
    b.ok("close_bets")
    b.cards("TC")
    b.shoe(e.ErrorRaised(4, True))
    assert b.incident == "M-20"
    b.resolve("resume")
    assert b.step == "draw dealer/0"


# --- M-33: after a void ------------------------------


def test_M_33_after_a_void_nothing_is_dealt(bench: Any) -> None:
    b = betting(bench)
    b.ok("close_bets")
    b.cards("TC 7H")
    b.ok("void", reason="felt disturbed")
    assert (b.state.phase, b.step) == ("voided", "reopen")
    facts = b.cards("9S TD")
    assert b.types(facts) == ["read_out_of_game", "read_out_of_game"]
    assert len(b.state.round.cards) == 2
    assert b.state.shoe.out == 6
    assert b.refused("open_bets").code == "not_allowed_now"
    b.ok("reopen", reason="felt cleared")
    assert (b.state.phase, b.step) == ("result", "open_bets")
    b.ok("open_bets")
    assert b.state.round.number == 2  # a void round counts
    assert b.state.round.id.endswith("-002")
    b.ok("close_bets")
    b.cards("2C")
    assert lay(b) == [("player/0", "2C")]


@pytest.mark.parametrize("cards", ["", "TC", "TC 7H 9S TD"])
def test_ERR_09_a_void_with_the_shoe(bench: Any, cards: str) -> None:
    b = betting(bench)
    if cards:
        b.ok("close_bets")
        b.cards(cards)
    facts = b.ok("void", reason="shoe dropped", shoe=True)
    assert b.types(facts) == ["round_voided", "step_opened"]
    b.ok("reopen", reason="new shoe is here")
    assert (b.state.phase, b.step) == ("shoe_change", "load_shoe")


def test_the_hole_card_of_a_void_round_opens_at_the_end_of_the_shoe(bench: Any) -> None:
    b = betting(bench)
    b.ok("close_bets")
    b.cards("TC 7H 9S TD")
    b.ok("void", reason="felt disturbed")
    b.ok("reopen", reason="felt cleared")
    b.ok("void", reason="shoe dropped", shoe=True)  # a second void seals nothing twice
    b.ok("reopen", reason="new shoe")
    keys = b.last(f.ShoeEnded).burn_keys
    assert [(k["position"], k["card"]) for k in keys] == [("burn/1", "2H"), ("dealer/1", "TD")]


def test_a_shift_that_ends_on_a_voided_table_opens_the_commitments(bench: Any) -> None:
    b = betting(bench)
    b.ok("close_bets")
    b.cards("TC 7H 9S TD")
    b.ok("void", reason="felt disturbed")
    facts = b.ok("end_shift")
    assert b.types(facts)[0] == "shoe_ended"
    assert [k["card"] for k in facts[0].burn_keys] == ["2H", "TD"]
    assert b.state.phase == "closed"


def test_a_void_takes_every_incident_and_waiting_card_with_it(bench: Any) -> None:
    b = betting(bench)
    b.ok("close_bets")
    b.cards("TC 7H")
    b.ok("pause", reason="a question")
    b.cards("9S 8S")
    assert b.state.pending
    assert b.state.incidents
    b.ok("void", reason="order lost")
    assert (b.state.incidents, b.state.pending) == ({}, ())
    assert set(b.state.holds) == {"pause"}  # a person's pause stays a person's
    assert b.refused("reopen", reason="x").code == "held"
    b.ok("resume", reason="x")
    b.ok("reopen", reason="x")
    assert b.state.shoe.out == 2 + 4


def test_cards_before_a_shift_and_in_a_shoe_change_are_out_of_game(bench: Any) -> None:
    b = bench()
    assert b.types(b.cards("TC")) == ["read_out_of_game"]
    b.ok("start_shift")
    assert b.types(b.cards("TC")) == ["read_out_of_game"]
    b.ok("load_shoe")
    assert b.state.shoe.out == 0
