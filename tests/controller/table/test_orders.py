"""Commands: roles, arguments, stale screens, demand keys, rounds, shoe ids (design page 6)."""

from __future__ import annotations

from typing import Any

import pytest

from controller import facts as f
from controller.commands import COMMANDS, DESK, NEEDS_SEEN_SEQ, QUERIES, ROLES, Envelope, authorise
from controller.refusal import CODES, Refusal
from drivers import events as e

ARGS: dict[str, dict[str, Any]] = {
    "since": {"seq": 0},
    "close_decisions": {"round": "r"},
    "branch_demand": {"round": "r", "line": "main", "prefix_len": 2, "draw": False, "key": "k"},
    "place_bets": {"round": "r", "bets": []},
    "decide": {"round": "r", "decisions": []},
    "insure": {"round": "r", "players": []},
    "follow": {"round": "r", "answers": []},
    "settlement": {"round": "r"},
    "bets": {"round": "r", "player": "p"},
    "set_balances": {"accounts": []},
    "pause": {"reason": "x"},
    "resume": {"reason": "x"},
    "resolve": {"incident": 1, "resolution": "resume", "reason": "x"},
    "void": {"reason": "x"},
    "reopen": {"reason": "x"},
    "report": {"code": "M-25"},
    "enter_card": {"incident": 1, "card": "TD", "reason": "x"},
    "correct": {"round": "r", "cards": [["player/0", "TD"]], "reason": "x"},
    "approve": {"approval": 1, "accept": True, "reason": "x"},
    "acknowledge": {"incident": 1},
    "sighting": {"seen": []},
    "camera_health": {"ok": True},
    "device_command": {"action": "lock", "reason": "x"},
    "statistics": {"by": "dealer"},
    "calibration_put": {"document": {}, "seen_version": 0, "reason": "x"},
}
#: design page 6, as far as this table has the commands
ALLOWED = {
    "observer": {"snapshot", "since", "status"},
    "game_server": {
        "snapshot", "since", "status", "open_bets", "close_bets", "close_decisions", "branch_demand", "place_bets",
        "decide", "insure", "follow", "settlement", "bets", "set_balances",
    },
    "dealer": {
        "snapshot", "since", "status", "load_shoe", "pause", "log_on", "log_off", "confirm", "report",
    },
    "supervisor": {
        "snapshot", "since", "status", "load_shoe", "pause", "log_on", "log_off", "confirm", "report",
        "start_shift", "end_shift", "resume", "resolve", "void", "reopen", "enter_card", "correct", "approve",
        "acknowledge", "history", "statistics", "shoe_report", "calibration_get",
    },
    "camera": {"sighting", "camera_health"},
    "technician": {"status", "device_command", "calibration_get", "calibration_put"},
}  # fmt: skip


@pytest.mark.parametrize("role", sorted(ALLOWED))
def test_roles(role: str) -> None:
    assert set(ROLES) == set(ALLOWED)
    for name in COMMANDS:
        envelope = Envelope(id="test-0001", command=name, args=ARGS.get(name, {}), seen_seq=0)
        if name in ALLOWED[role]:
            assert authorise(envelope, role=role, person="pat").by == f"{role}:pat"
        else:
            with pytest.raises(Refusal) as refused:
                authorise(envelope, role=role, person="pat")
            assert refused.value.code == "forbidden"


@pytest.mark.parametrize("role", ["", "root", "Supervisor"])
def test_an_unknown_role_may_nothing(role: str) -> None:
    with pytest.raises(Refusal) as refused:
        authorise(Envelope(id="test-0001", command="status"), role=role, person="pat")
    assert refused.value.code == "forbidden"


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("pause", {}),
        ("pause", {"reason": " "}),
        ("pause", {"reason": "x" * 501}),
        ("pause", {"reason": 7}),
        ("pause", {"reason": "x", "toggle": True}),
        ("resume", {"reason": "x", "how": "trust me"}),
        ("resolve", {"incident": "1", "resolution": "resume", "reason": "x"}),
        ("start_shift", {"by": "me"}),
    ],
)
def test_bad_arguments(name: str, args: dict[str, Any]) -> None:
    with pytest.raises(Refusal) as refused:
        authorise(Envelope(id="test-0001", command=name, args=args), role="supervisor", person="pat")
    assert refused.value.code == "bad_args"


def test_every_refusal_code_is_documented(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 6H 9S 5D")
    for name in sorted(set(COMMANDS) - QUERIES - DESK):
        outcome = b.order(name, role=next(r for r in ALLOWED if name in ALLOWED[r]), **ARGS.get(name, {}))
        if outcome.refusal is not None:
            assert outcome.refusal.code in CODES, name


# --- stale screens ------------------------------


@pytest.mark.parametrize("name", sorted(NEEDS_SEEN_SEQ))
@pytest.mark.parametrize("how", ["none", "older"])
def test_a_command_from_an_old_screen_is_stale(bench: Any, name: str, how: str) -> None:
    b = bench().open_round()
    b.cards("TC 6H 9S 5D")
    b.ok("pause", reason="x")
    seen = None if how == "none" else b.state.supervised_seq - 1
    assert b.refused(name, seen=seen, **ARGS[name]).code == "stale"


def test_card_facts_do_not_make_a_screen_stale(bench: Any) -> None:
    b = bench().open_round()
    b.ok("pause", reason="x")
    seen = b.state.supervised_seq
    b.ok("resume", reason="x", seen=seen)
    seen = b.state.supervised_seq
    b.cards("TC 6H 9S 5D")
    b.ok("void", reason="x", seen=seen)


def test_a_pause_is_never_stale(bench: Any) -> None:
    b = bench().open_round()
    b.shoe(e.NoRead("NR"))
    b.ok("pause", reason="x", seen=None)
    assert "pause" in b.state.holds


@pytest.mark.parametrize("kind", ["round_result", "round_voided", "table_reopened", "incident_raised"])
def test_what_makes_a_screen_stale(bench: Any, kind: str) -> None:
    b = bench().open_round()
    b.cards("TC 7H 9S TD")
    if kind == "incident_raised":
        b.cards("8S")
    elif kind == "round_result":
        b.demand("main", 2, False)
    else:
        b.ok("void", reason="x")
        if kind == "table_reopened":
            b.ok("reopen", reason="x")
    (seq,) = [r.seq for r in b.records if r.fact.type == kind]
    assert b.state.supervised_seq == seq


# --- demands ------------------------------


def demand(b: Any, **changes: Any) -> dict[str, Any]:
    return {
        "round": b.state.round.id, "line": "main", "prefix_len": 2, "draw": False, "split": False, "key": "k-1",
    } | changes  # fmt: skip


def test_I8_a_demand_for_another_window_is_refused(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 6H 9S 5D")
    for change in ({"line": "dealer"}, {"prefix_len": 3}, {"line": "split/0"}, {"prefix_len": -1}):
        refusal = b.refused("branch_demand", **demand(b, **change))
        assert (refusal.code, refusal.expected) == ("not_allowed_now", "decide main at 2")


def test_a_split_of_unequal_cards_is_refused(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 6H 9S 5D")
    assert b.refused("branch_demand", **demand(b, split=True)).code == "not_allowed_now"


def test_a_demand_for_another_round_is_refused(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 6H 9S 5D")
    assert b.refused("branch_demand", **demand(b, round="20261129-0001-009")).code == "wrong_round"


def test_I9_a_demand_repeated_after_the_round_is_answered_again(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 7H 9S TD")
    first = demand(b)
    b.ok("branch_demand", **first)
    assert b.state.phase == "result"
    assert b.ok("branch_demand", **first) == []
    assert b.refused("branch_demand", **(first | {"draw": True})).code == "key_reused"
    assert b.refused("branch_demand", **(first | {"key": "k-2"})).code == "wrong_round"


def test_I9_a_demand_repeated_while_held_is_answered_again(bench: Any) -> None:
    b = bench().open_round()
    b.cards("2C 7H 9S TD")
    first = demand(b, draw=True)
    b.ok("branch_demand", **first)
    b.ok("pause", reason="x")
    assert b.ok("branch_demand", **first) == []


def test_the_key_of_a_demand_is_not_published(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 7H 9S TD")
    b.ok("branch_demand", **demand(b, key="very-secret-key"))
    assert "very-secret-key" not in str(b.last(f.DecisionClosed).public_data())


def test_a_window_closes_for_its_round_only(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC AH 9S 5D")
    assert b.refused("close_decisions", round="20261129-0001-009").code == "wrong_round"
    b.ok("close_decisions", round=b.state.round.id)
    assert b.last(f.InsuranceClosed).by == "game_server"


# --- shift and shoe ------------------------------


def test_a_shoe_id_is_never_used_twice(bench: Any) -> None:
    b = bench()
    b.ok("start_shift")
    b.ok("load_shoe", shoe="blue-7")
    b.ok("end_shift")
    b.ok("start_shift")
    assert b.refused("load_shoe", shoe="blue-7").code == "shoe_known"
    b.ok("load_shoe")
    assert b.state.shoe.id == "20261129-0001"
    b.ok("end_shift")
    b.ok("start_shift")
    b.ok("load_shoe")
    assert b.state.shoe.id == "20261129-0002"


@pytest.mark.parametrize("shoe", ["", "-", "a b", "a/b", "a\nb", "é", "x" * 41])
def test_a_shoe_id_is_plain(bench: Any, shoe: str) -> None:
    b = bench()
    b.ok("start_shift")
    assert b.refused("load_shoe", shoe=shoe).code == "bad_args"


def test_commands_in_the_wrong_phase(bench: Any) -> None:
    b = bench()
    for name in ("end_shift", "load_shoe", "open_bets", "close_bets", "void", "reopen"):
        assert b.refused(name, **ARGS.get(name, {})).code == "not_allowed_now", name
    b.open_round()
    for name in ("start_shift", "end_shift", "load_shoe", "open_bets", "close_bets", "reopen", "resume"):
        assert b.refused(name, **ARGS.get(name, {})).code == "not_allowed_now", name


def test_a_void_needs_something_to_void(bench: Any) -> None:
    b = bench()
    b.ok("start_shift")
    assert b.refused("void", reason="x", shoe=True).code == "not_allowed_now"
    b.ok("load_shoe")
    assert b.refused("void", reason="x").code == "not_allowed_now"
    b.ok("void", reason="x", shoe=True)
    assert b.refused("void", reason="x", shoe=True).code == "not_allowed_now"
    assert b.state.phase == "voided"


def test_round_ids_are_never_reused(bench: Any) -> None:
    b = bench().open_round()
    seen = {b.state.round.id}
    for _ in range(3):
        b.ok("void", reason="x")
        b.ok("reopen", reason="x")
        b.ok("open_bets")
        assert b.state.round.id not in seen
        seen.add(b.state.round.id)
