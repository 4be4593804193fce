"""The phase machine is complete: every pair of phase and trigger moves, or is refused by this table."""

from __future__ import annotations

from typing import Any

import pytest

from controller import facts as f
from controller.public import initial
from controller.refusal import Refusal
from controller.table.machine import PHASES, TRANSITIONS, TRIGGERS, PhaseMachine
from controller.table.state import ROUND_PHASES, Shoe, TableState

#: Phases in which a trigger is refused, each with the reason why.
REJECTED: dict[str, set[str]] = {
    # a shift starts on a closed table only
    "shift_started": set(PHASES) - {"closed"},
    # never over bets at stake
    "shift_ended": {"closed", *ROUND_PHASES},
    # the old shoe must be gone
    "shoe_loaded": set(PHASES) - {"shoe_change"},
    # only from a rest with a shoe whose burn is complete
    "betting_opened": {"closed", "shoe_change", "voided", *ROUND_PHASES},
    "betting_closed": set(PHASES) - {"betting"},
    # after the four cards, once
    "insurance_offered": set(PHASES) - {"dealing"},
    "decision_opened": set(PHASES) - {"dealing", "insurance", "deciding", "dealer_drawing"},
    # the hole card is turned once
    "hole_revealed": set(PHASES) - {"dealing", "insurance", "deciding"},
    # a dealer without a hole card takes the second card once
    "dealer_second_dealt": set(PHASES) - {"dealing", "insurance", "deciding"},
    # boundless: after the reveal; baccarat: after the deal; classic: also when nobody needs a dealer's card
    "round_result": set(PHASES) - {"dealing", "insurance", "deciding", "dealer_drawing"},
    # only a round in progress can be void, and only between rounds does a shoe go out alone
    "round_voided": set(PHASES) - set(ROUND_PHASES),
    "shoe_voided": set(PHASES) - {"burning", "result"},
    "table_reopened": set(PHASES) - {"voided"},
    # never under a round
    "shoe_change_started": {"closed", "shoe_change", "voided", *ROUND_PHASES},
}


def test_every_pair_is_a_transition_or_rejected() -> None:
    assert set(REJECTED) == set(TRIGGERS)
    for trigger in TRIGGERS:
        moves = {source for t in TRANSITIONS if t["trigger"] == trigger for source in t["source"]}
        assert moves | REJECTED[trigger] == set(PHASES), trigger
        assert not moves & REJECTED[trigger], trigger


def test_sources_and_destinations_exist_and_pairs_are_unique() -> None:
    seen = set()
    for t in TRANSITIONS:
        assert t["dest"] in PHASES
        for source in t["source"]:
            assert source in PHASES
            assert (t["trigger"], source) not in seen
            seen.add((t["trigger"], source))


def test_all_phases_are_reachable_and_left() -> None:
    reached, todo = {"closed"}, ["closed"]
    while todo:
        phase = todo.pop()
        for t in TRANSITIONS:
            if phase in t["source"] and t["dest"] not in reached:
                reached.add(t["dest"])
                todo.append(t["dest"])
    assert reached == set(PHASES)
    for phase in PHASES:
        assert any(phase in t["source"] and t["dest"] != phase for t in TRANSITIONS), phase


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("trigger", sorted(TRIGGERS))
def test_the_machine_does_what_the_table_says(trigger: str, phase: str) -> None:
    state = TableState(phase=phase, shoe=Shoe("s", burn_of=0))
    fact: Any = f.ShoeLoaded(shoe="new", by="x")
    if phase in REJECTED[trigger]:
        with pytest.raises(Refusal) as refused:
            PhaseMachine().fire(trigger, state, fact)
        assert refused.value.code == "not_allowed_now"
        assert trigger in refused.value.message
    else:
        dest = next(t["dest"] for t in TRANSITIONS if t["trigger"] == trigger and phase in t["source"])
        assert PhaseMachine().fire(trigger, state, fact) == dest
    assert state.phase == phase  # the machine itself changes no state


def test_triggers_are_facts() -> None:
    tags = {t.__struct_config__.tag for t in f.AnyFact.__args__}  # type: ignore[attr-defined]
    assert TRIGGERS - {"hole_revealed", "dealer_second_dealt"} <= tags


def test_a_guard_leaves_the_machine_usable() -> None:
    machine = PhaseMachine()
    state = TableState(phase="burning", shoe=Shoe("s", burn_of=2))
    fact: Any = f.BettingOpened(round="r", until_ms=1, last_round=False)
    for _ in range(2):
        with pytest.raises(Refusal):
            machine.fire("betting_opened", state, fact)
    assert state.shoe is not None
    state.shoe.burned = 2
    assert machine.fire("betting_opened", state, fact) == "betting"


@pytest.mark.parametrize("number", [1, 2])
def test_SHOE_05_no_round_after_the_last(number: int) -> None:
    state = TableState(phase="result", shoe=Shoe("s", rounds=2, last_round=number + 1))
    fact: Any = f.BettingOpened(round="r", until_ms=1, last_round=False)
    if number == 1:
        with pytest.raises(Refusal):
            PhaseMachine().fire("betting_opened", state, fact)
    else:
        assert PhaseMachine().fire("betting_opened", state, fact) == "betting"


def test_every_fact_goes_through_the_journal_and_back() -> None:
    assert initial()["phase"] == TableState().phase
    for kind in f.AnyFact.__args__:  # type: ignore[attr-defined]
        names = kind.__struct_fields__
        assert set(kind.SECRET) <= set(names), kind
        assert kind.__doc__, kind
