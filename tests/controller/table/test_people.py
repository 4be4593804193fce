"""Who stands at the table: log-on, assignment, lock, confirmation, reports, alarms (M-23, M-24, M-34, REG-22)."""

from __future__ import annotations

from typing import Any

import pytest

from controller import facts as f
from controller.table.incidents import EXPECTED, REPORTABLE, TITLES
from controller.table.inputs import AnswerInput
from controller.table.state import Traits
from drivers import events as e

REQUIRED = {"dealer_log_on": "required"}


def dealing(bench: Any, cards: str = "", game: str = "boundless", **rules: Any) -> Any:
    b = bench(game, **rules).open_round()
    if cards:
        b.cards(cards)
    return b


# --- log-on ----------------------------------------------------------------------------------------------------


def test_M_34_no_betting_without_a_dealer(bench: Any) -> None:
    b = bench(**REQUIRED)
    b.ok("start_shift", dealers=["dora"])
    assert b.refused("log_on", role="dealer", person="eve").code == "not_assigned"
    b.ok("log_on", role="dealer", person="dora")
    b.ok("load_shoe")
    b.cards("AS 2H")
    b.ok("open_bets")
    assert b.state.dealer == "dora"


def test_M_34_a_card_without_a_dealer_is_an_incident(bench: Any) -> None:
    b = bench(**REQUIRED)
    b.ok("start_shift")
    b.ok("load_shoe")
    b.cards("AS")
    assert b.incident == "M-34"
    assert [p.card for p in b.state.pending] == ["AS"]  # held, not dealt
    b.ok("log_on", role="dealer", person="dora")
    b.resolve("resume")
    assert b.state.shoe.burn_of == 1
    b.cards("2H")
    b.ok("open_bets")


def test_a_dealer_is_relieved_by_the_next_one(bench: Any) -> None:
    b = dealing(bench)
    b.ok("log_on", role="dealer", person="dora")
    facts = b.ok("log_on", role="dealer", person="dan")
    assert b.types(facts) == ["dealer_logged_off", "dealer_logged_on"]
    assert b.refused("log_off", role="dealer", person="dora").code == "not_allowed_now"
    b.ok("log_off", role="dealer", person="dan")
    assert b.state.dealer is None
    assert b.ok("log_off", role="dealer", person="dan") == []
    b.ok("log_on", role="dealer", person="dora")
    b.ok("log_off")  # a supervisor may
    assert b.state.dealer is None


def test_a_closed_table_has_no_dealer(bench: Any) -> None:
    b = bench()
    assert b.refused("log_on", role="dealer").code == "not_allowed_now"
    b.ok("start_shift")
    b.ok("log_on", role="dealer", person="dora")
    b.ok("end_shift")
    assert b.state.dealer is None
    assert b.refused("start_shift", dealers=["dora", "dora"]).code == "bad_args"


# --- lock ------------------------------------------------------------------------------------------------------


def test_REG_22_an_idle_table_locks_and_a_log_on_opens_it(bench: Any) -> None:
    b = bench(lock_after_s=300.0)
    b.ok("start_shift")
    b.ok("log_on", role="dealer", person="dora")
    b.ok("load_shoe")
    b.cards("AS 2H")
    assert b.table.deadline() == ("idle", b.now + 300_000)
    b.wait()
    assert b.state.locked
    assert b.refused("open_bets").code == "locked"
    b.ok("log_on", role="dealer", person="dora")
    assert not b.state.locked
    b.ok("open_bets")


def test_REG_22_a_card_is_input_and_the_lock_never_stops_a_round(bench: Any) -> None:
    b = bench(lock_after_s=10.0, betting_s=60.0)
    b.ok("start_shift")
    b.ok("log_on", role="dealer", person="dora")
    b.ok("load_shoe")
    b.cards("AS 2H")
    b.now += 9_000
    b.ok("open_bets")
    b.ok("close_bets")
    b.cards("TC")
    b.now += 9_000
    b.cards("6H")
    assert b.state.idle_due == b.now + 10_000
    b.wait()
    assert b.state.locked
    b.cards("9S 5D")
    assert b.step == "decide main@2"


def test_REG_22_only_the_dealers_own_commands_are_input(bench: Any) -> None:
    b = bench(lock_after_s=300.0)
    b.ok("start_shift")
    b.ok("log_on", role="dealer", person="dora")
    due = b.now + 300_000
    b.now += 200_000
    b.ok("pause", reason="a look", role="supervisor")
    b.ok("resume", reason="a look")
    assert b.state.idle_due == due
    b.ok("pause", reason="a question", role="dealer", person="dora")
    assert b.state.idle_due == b.now + 300_000


def test_without_a_dealer_or_with_0_nothing_locks(bench: Any) -> None:
    assert dealing(bench).state.idle_due is None
    b = bench(lock_after_s=0.0)
    b.ok("start_shift")
    b.ok("log_on", role="dealer", person="dora")
    assert b.state.idle_due is None


# --- confirmation ----------------------------------------------------------------------------------------------


def finished(bench: Any) -> Any:
    b = dealing(bench, game="baccarat", burn="none", confirm_result=True)
    b.cards("KC 8D 9H KS")
    assert b.step == "confirm"
    return b


def test_M_24_a_result_waits_for_the_dealers_confirmation(bench: Any) -> None:
    b = finished(bench)
    facts = b.ok("confirm", role="dealer", person="dora")
    assert b.types(facts)[:2] == ["result_confirmed", "round_result"]
    assert b.refused("confirm", role="dealer").code == "not_allowed_now"


def test_M_24_the_supervisor_confirms_what_the_dealer_forgot(bench: Any) -> None:
    b = finished(bench)
    b.wait()
    assert b.incident == "M-24"
    assert b.refused("confirm", role="dealer").code == "held"
    facts = b.ok("confirm")
    assert b.types(facts)[:2] == ["incident_resolved", "round_result"]
    assert b.last(f.IncidentResolved).by == "supervisor:pat"


def test_M_23_cards_cleared_early_are_restored_in_the_recorded_order(bench: Any) -> None:
    b = finished(bench)
    b.ok("report", code="M-23", role="dealer")
    b.resolve("rescan", cards=4)
    b.cards("KC 8D 9H KS")
    assert b.step == "confirm"
    b.ok("confirm", role="dealer")
    assert b.state.phase == "result"


def test_M_23_another_order_is_not_proven(bench: Any) -> None:
    b = finished(bench)
    b.ok("report", code="M-23", role="dealer")
    b.resolve("rescan", cards=4)
    b.cards("KC 9H")
    assert b.incident == "M-30"


# --- reports ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", sorted(REPORTABLE))
def test_every_report_holds_and_can_be_ended(bench: Any, code: str) -> None:
    assert code in TITLES
    assert code in EXPECTED
    b = dealing(bench, "TC 6H", "boundless")
    b.ok("report", code=code, role="dealer", note="the card was 5D")
    assert b.state.holds
    raised = b.last(f.IncidentRaised)
    assert raised.actual == "reported by dealer:pat"
    assert "5D" not in str(raised.public_data())
    assert "void_round" in raised.resolutions
    b.resolve("void_round")
    assert b.state.phase == "voided"


@pytest.mark.parametrize("args", [{"code": "M-01"}, {"code": "M-99"}, {"code": "M-25", "note": "x" * 501},
                                  {"code": "M-25", "note": "two\nlines"}])  # fmt: skip
def test_reports_that_are_refused(bench: Any, args: dict[str, Any]) -> None:
    assert dealing(bench).refused("report", role="dealer", **args).code == "bad_args"


def test_a_closed_table_takes_no_report(bench: Any) -> None:
    assert bench().refused("report", code="M-25", role="dealer").code == "not_allowed_now"


def test_M_06_a_card_exposed_before_bets_closed_is_never_played(bench: Any) -> None:
    b = bench()
    b.ok("start_shift")
    b.ok("load_shoe")
    b.cards("AS 2H")
    b.ok("open_bets")
    b.cards("9D")
    b.ok("report", code="M-06", role="dealer")
    assert b.last(f.IncidentRaised).resolutions == ("burn_card", "void_round", "void_round_and_shoe")
    assert len(b.state.incidents) == 1
    b.resolve("burn_card")
    b.ok("close_bets")
    b.cards("TC")
    assert b.state.round.at("player/0") == "TC"
    assert b.state.shoe.out == 4


def test_M_09_an_exposed_extra_card_is_the_next_one_or_burned(bench: Any) -> None:
    b = dealing(bench, "TC 6H 9S 5D")
    b.cards("8C")
    b.ok("report", code="M-09", role="dealer")
    assert b.last(f.IncidentRaised).resolutions[:2] == ("burn_card", "use_as_next")
    b.resolve("use_as_next")
    b.demand("main", 2, True)
    assert b.state.round.at("player/2") == "8C"
    assert b.state.shoe.out == 7


def test_M_10_a_card_face_up_in_the_shoe_is_put_aside(bench: Any) -> None:
    b = dealing(bench, "TC")
    b.shoe(e.NoRead("NR"))
    b.ok("report", code="M-10", role="dealer")
    b.resolve("burn_card")
    b.cards("6H")
    assert b.state.round.at("dealer/0") == "6H"
    assert b.state.shoe.out == 5


def test_M_25_a_card_on_the_floor_stops_the_round_until_it_is_accounted_for(bench: Any) -> None:
    b = dealing(bench, "TC 6H")
    b.ok("report", code="M-25", role="dealer", note="under the chair, face down")
    b.cards("9S")  # the dealer went on: held, not dealt
    assert b.state.round.at("player/1") is None
    b.resolve("resume")
    assert b.state.round.at("player/1") == "9S"


def test_M_07_a_burn_card_played_stays_in_the_round(bench: Any) -> None:
    b = dealing(bench, "TC 6H")
    b.ok("report", code="M-07", role="dealer")
    b.resolve("resume")
    assert b.step == "draw player/1"


# --- a card at the wrong place -----------------------------------------------------------------------------------


def seated(bench: Any, **rules: Any) -> Any:
    b = bench("classic", **rules)
    b.ok("start_shift")
    b.ok("load_shoe")
    b.cards("AS 2H")
    b.ok("open_bets")
    b.ok("close_bets", seats=[1, 2])
    return b


def test_M_12_the_skipped_dealer_gets_the_next_card(bench: Any) -> None:
    b = seated(bench)
    b.cards("TC 6H 9S")  # the third was the dealer's, and lies at seat 1
    assert b.state.round.at("dealer/0") == "9S"
    b.ok("report", code="M-12", role="dealer")
    assert b.last(f.IncidentRaised).resolutions == ("reassign", "resume", "void_round_and_shoe")
    b.resolve("reassign", position="seat/1/hand/0/1")
    assert b.last(f.CardReassigned).to == "seat/1/hand/0/1"
    assert b.step == "draw dealer/0"
    b.cards("5D")
    assert b.step == "draw seat/2/hand/0/1"


@pytest.mark.parametrize("to", [None, "seat/1/hand/0/0", "seat/9/hand/0/0", "dealer/0"])
def test_M_11_a_card_stays_only_at_a_free_place_of_the_deal(bench: Any, to: str | None) -> None:
    b = seated(bench)
    b.cards("TC 6H 9S")
    b.ok("report", code="M-11", role="dealer")
    args = {} if to is None else {"position": to}
    refused = b.refused("resolve", incident=1, resolution="reassign", reason="x", **args)
    assert "seat/1/hand/0/1" in (refused.expected or "")


def test_M_11_a_card_left_at_another_place_is_recorded_there_and_the_free_one_is_dealt(bench: Any) -> None:
    b = seated(bench)
    b.cards("TC 6H 9S")  # the third lies at seat 1, not with the dealer
    b.ok("report", code="M-11", role="dealer")
    b.resolve("reassign", position="seat/1/hand/0/1")
    assert b.last(f.IncidentResolved).resolution == "reassign"
    b.cards("5D 8C")
    assert {c.position: c.card for c in b.state.round.cards} == {
        "seat/1/hand/0/0": "TC", "seat/2/hand/0/0": "6H", "seat/1/hand/0/1": "9S", "dealer/0": "5D",
        "seat/2/hand/0/1": "8C",
    }  # fmt: skip
    assert b.step == "decide seat/1/hand/0@2"


@pytest.mark.parametrize("policy", ["leave_and_compensate", "reassign", "void"])
def test_M_13_a_seat_skipped_is_served_or_the_round_is_void_by_policy(bench: Any, policy: str) -> None:
    b = seated(bench, position_error_policy=policy)
    b.cards("TC")  # it lies at seat 2: seat 1 was left out
    b.ok("report", code="M-13", role="dealer")
    if policy == "void":
        b.resolve("void_round_and_shoe")
        assert (b.state.phase, b.last(f.RoundVoided).shoe) == ("voided", True)
        return
    if policy == "reassign":  # the card was moved to where it belongs
        b.resolve("resume")
        assert b.step == "draw seat/2/hand/0/0"
    else:
        b.resolve("reassign", position="seat/2/hand/0/0")
        assert b.step == "draw seat/1/hand/0/0"
    b.cards("6H")
    assert b.state.round.at("seat/2/hand/0/0") == ("6H" if policy == "reassign" else "TC")
    assert b.step == "draw dealer/0"


def test_M_13_by_policy_a_card_is_moved_or_the_round_is_void(bench: Any) -> None:
    b = seated(bench, position_error_policy="reassign")
    b.cards("TC")
    b.ok("report", code="M-13", role="dealer")
    assert b.last(f.IncidentRaised).resolutions == ("resume", "void_round_and_shoe")
    b = seated(bench, position_error_policy="void")
    b.cards("TC")
    b.ok("report", code="M-13", role="dealer")
    assert b.last(f.IncidentRaised).resolutions == ("void_round_and_shoe",)


# --- policies --------------------------------------------------------------------------------------------------


def test_ERR_04_ERR_10_a_seated_round_is_void_with_its_shoe(bench: Any) -> None:
    b = seated(bench)
    b.cards("TC")
    b.ok("void", reason="human error")
    assert b.last(f.RoundVoided).shoe
    b.ok("reopen", reason="x")
    assert b.step == "load_shoe"


@pytest.mark.parametrize("game", ["boundless", "baccarat"])
def test_ERR_07_ERR_10_elsewhere_the_shoe_stays(bench: Any, game: str) -> None:
    b = dealing(bench, "TC", game)
    b.ok("void", reason="x")
    assert not b.last(f.RoundVoided).shoe


def test_ERR_05_a_seated_round_is_void_when_the_table_was_away_too_long(bench: Any) -> None:
    b = seated(bench)
    b.cards("TC")
    b.restart(away_ms=29_000)
    assert b.state.phase == "dealing"
    b.restart(away_ms=31_000)
    voided = b.last(f.RoundVoided)
    assert (voided.by, voided.shoe) == ("policy:on_restart", True)


@pytest.mark.parametrize("game", ["boundless", "baccarat"])
def test_other_rounds_wait_however_long_the_table_was_away(bench: Any, game: str) -> None:
    b = dealing(bench, "TC", game)
    b.restart(away_ms=3_600_000)
    assert b.state.phase == "dealing"
    assert "restart" in b.state.holds


# --- alarms ----------------------------------------------------------------------------------------------------


def test_an_alarm_stays_until_a_person_answers_for_it(bench: Any) -> None:
    b = dealing(bench, "TC", auto_void_after_s=60.0)
    b.shoe(e.NoRead("NR"))
    b.wait()
    assert b.last(f.RoundVoided).by == "policy:auto_void"
    assert b.state.alarms == {1}
    assert b.refused("acknowledge", incident=2).code == "no_incident"
    b.ok("acknowledge", incident=1)
    assert b.state.alarms == frozenset()
    assert b.ok("acknowledge", incident=1) == []


def test_whoever_resolves_an_incident_answers_for_its_alarm(bench: Any) -> None:
    b = dealing(bench, "TC")
    b.shoe(e.NoRead("NR"))
    b.resolve("rescan")
    assert b.state.alarms == frozenset()


# --- what a technician has the shoe do ---------------------------------------------------------------------------


def test_a_technician_has_the_shoe_do_what_it_can_while_no_card_is_due(bench: Any) -> None:
    b = bench("baccarat", traits=Traits(positions=True, actions=("lock", "clear_error")), burn="none")
    b.ok("start_shift")
    b.ok("load_shoe")
    refusal = b.refused("device_command", role="technician", action="dance", reason="x")
    assert (refusal.code, refusal.expected) == ("bad_args", "lock, clear_error")
    (fact,) = b.ok("device_command", role="technician", person="tess", action="clear_error", reason="jammed")
    assert (fact.device, fact.action, fact.reason, fact.by) == ("shoe", "clear_error", "jammed", "technician:tess")
    (fact,) = [r.fact for r in b.put(AnswerInput("shoe", "clear_error", True, "done")).records]
    assert (fact.type, fact.ok, fact.text) == ("device_answered", True, "done")


def test_a_card_that_is_due_keeps_technicians_from_the_shoe_until_the_table_is_held(bench: Any) -> None:
    b = bench("baccarat", traits=Traits(positions=True, actions=("lock",)), burn="none").open_round(burn="")
    order = {"role": "technician", "action": "lock", "reason": "x"}
    assert b.refused("device_command", **order).expected == "pause"
    b.ok("pause", reason="jam")
    assert b.types(b.ok("device_command", **order)) == ["device_commanded"]
    b.shoe(e.PortLost("gone"))
    assert b.refused("device_command", **order).expected == "device_restored"


def test_a_shoe_that_takes_no_commands_says_so(bench: Any) -> None:
    b = bench()
    assert "takes no commands" in b.refused("device_command", role="technician", action="lock", reason="x").expected


@pytest.mark.parametrize("code", sorted(REPORTABLE))
def test_what_is_reported_between_rounds_can_be_resolved(bench: Any, code: str) -> None:
    for phase in ("shoe_change", "ready"):
        b = bench()
        b.ok("start_shift")
        if phase == "ready":
            b.ok("load_shoe")
            b.cards("AS 2H")
        if b.order("report", role="dealer", code=code).refusal is None:
            legal = b.state.incidents[1].resolutions
            b.resolve("resume" if "resume" in legal else legal[-1])
            assert b.state.incidents == {}
