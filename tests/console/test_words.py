"""What the screens say, for every step, hold, incident and hand."""

from __future__ import annotations

import typing
from typing import Any

import pytest

from controller import public
from controller.console import drawing, felt, words
from controller.console.orders import REPORTS
from controller.rules.steps import StepKind
from controller.table.incidents import REPORTABLE, TITLES, legal


def state(**changed: Any) -> dict[str, Any]:
    return public.initial() | {"phase": "dealing"} | changed


def round_(*cards: tuple[str, str], **changed: Any) -> dict[str, Any]:
    plain = {
        "id": "s-001", "number": 1, "version": 1, "last_round": False, "insurance": "none", "peeked": None,
        "window": None, "demands": [], "seats": [], "parted": [], "bets": {"count": 0, "total": 0}, "settled": None,
        "result": None, "voided": None,
    }  # fmt: skip
    return plain | {"cards": [{"position": p, "card": c} for p, c in cards]} | changed


@pytest.mark.parametrize("kind", typing.get_args(StepKind))
def test_every_step_has_words_a_sign_and_hands_on_or_off(kind: str) -> None:
    step = {"step": kind, "position": "player/1", "line": "main", "options": ["hit"], "left": 2}
    said = words.prompt(state(step=step, round=round_()))
    assert said.words.isupper()
    assert drawing.sign(said.sign)
    due = kind in ("draw", "reveal", "load_shoe", "shoe_result", "standby", "rescan", "confirm")
    assert (said.kind == "act") == due


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ({"step": "draw", "position": "player/1"}, ("DEAL → PLAYER 2", "NO MORE BETS")),
        ({"step": "draw", "position": "dealer/1", "hidden": True}, ("DEAL → DEALER 2", "FACE DOWN")),
        ({"step": "draw", "position": "split/0/2"}, ("DEAL → SPLIT 1", "NO MORE BETS")),
        ({"step": "draw", "position": "seat/3/hand/1/0"}, ("DEAL → SEAT 3 HAND 2", "NO MORE BETS")),
        ({"step": "draw", "position": "player/0", "again": True}, ("SCAN AGAIN", "the same card, for PLAYER 1")),
        ({"step": "draw", "position": "burn/0"}, ("SHOW FIRST CARD", "face up: it says how many to burn")),
        ({"step": "close_bets"}, ("BETS OPEN", "do not deal")),
    ],
)
def test_the_words_of_a_step(step: dict[str, Any], expected: tuple[str, str]) -> None:
    said = words.prompt(state(step=step, round=round_()))
    assert (said.words, said.below) == expected


def test_the_burn_counts_down() -> None:
    step = {"step": "draw", "position": "burn/3", "left": 3}
    said = words.prompt(state(step=step, shoe={"burn_of": 5}))
    assert said.words == "BURN 5: 3 LEFT"


def test_the_second_card_of_a_line_is_named_below() -> None:
    step = {"step": "draw", "position": "split/1/1"}
    assert words.prompt(state(step=step, round=round_(("player/0", "8S")))).below == "CARD 2"


@pytest.mark.parametrize("code", TITLES)
def test_an_incident_stops_the_dealer_and_every_resolution_has_a_button(code: str) -> None:
    options = legal(code, has_card=True, round_open=True, has_shoe=True)
    incident = {
        "incident": 3,
        "code": code,
        "title": TITLES[code],
        "resolutions": options,
        "expected": "",
        "actual": "",
    }
    hold = {"incident:3": {"hold": "incident", "reason": code, "by": "policy:procedure"}}
    said = words.prompt(state(step={"step": "wait"}, incidents={"3": incident}, holds=hold))
    assert (said.kind, said.words) == ("stop", "STOP")
    assert "supervisor" in said.below
    assert all(name in words.RESOLUTIONS for name in options)


@pytest.mark.parametrize(
    ("hold", "expected"),
    [
        ({"hold": "pause", "reason": "r", "by": "b"}, ("wait", "PAUSED")),
        ({"hold": "restart", "reason": "r", "by": "b"}, ("stop", "HANDS OFF")),
        ({"hold": "approval", "reason": "r", "by": "b"}, ("stop", "WAIT")),
    ],
)
def test_holds(hold: dict[str, Any], expected: tuple[str, str]) -> None:
    said = words.prompt(state(step={"step": "wait"}, holds={hold["hold"]: hold}))
    assert (said.kind, said.words) == expected


def test_a_lost_device_is_named() -> None:
    hold = {"device:shoe": {"hold": "device", "reason": "gone", "by": "policy:device"}}
    said = words.prompt(state(step={"step": "wait"}, holds=hold, devices_lost=["shoe"]))
    assert said.words == "DEVICE LOST"
    assert "shoe" in said.below


@pytest.mark.parametrize(
    ("cards", "total"),
    [
        (["AS", "6D"], "7 / 17 soft"), (["AS", "KD"], "BLACKJACK"), (["TS", "6D", "9C"], "25 BUST"),
        (["TS", "**"], "10 +"), (["**"], ""), (["AS", "5D", "5C"], "21"),
    ],
)  # fmt: skip
def test_totals(cards: list[str], total: str) -> None:
    assert felt.score("player", cards, False) == total


def test_a_split_line_shares_the_first_card_and_shows_where_the_next_one_goes() -> None:
    cards = round_(
        ("player/0", "8S"), ("dealer/0", "5D"), ("player/1", "8H"), ("dealer/1", "**"), ("split/0/1", "3C")
    )
    found = {
        line.name: line for line in felt.lines(state(step={"step": "draw", "position": "split/1/1"}, round=cards))
    }
    assert [spot.card for spot in found["split/0"].spots] == ["8S", "3C"]
    assert [spot.card for spot in found["split/1"].spots] == ["8H", None]
    assert found["split/1"].active
    assert found["split/0"].score == "11"


def test_positions_in_the_tables_own_sentences_become_the_dealers_words() -> None:
    assert words.said("a card for dealer/2, not split/0/1") == "a card for DEALER 3, not SPLIT 1 CARD 2"


def test_every_misdeal_a_dealer_may_report_has_words() -> None:
    assert set(REPORTS) == REPORTABLE


def test_people_and_policies() -> None:
    assert words.person("supervisor:anna") == "anna (supervisor)"
    assert words.person("policy:auto_void") == "the table (auto void)"
