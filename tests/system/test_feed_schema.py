"""What a table really publishes fits docs/reference/feed.schema.json, and that schema refuses what is not a frame."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/reference/feed.schema.json").read_text())


@pytest.fixture(scope="module")
def validators() -> dict[str, Draft202012Validator]:
    """One for each type: with all in one an error says only that none fits."""
    Draft202012Validator.check_schema(SCHEMA)
    names = [entry["$ref"].rsplit("/", 1)[1] for entry in SCHEMA["oneOf"]]
    return {name: Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}) for name in names}


def check(frames: list[dict[str, Any]], validators: dict[str, Draft202012Validator]) -> set[str]:
    """Every frame fits its type and no key is published that the schema does not know. Returns the types."""
    for frame in frames:
        validators[frame["type"]].validate(frame)
        known = SCHEMA["$defs"][frame["type"]]["properties"]
        assert set(frame) == set(known)
        assert set(frame["data"]) <= set(known["data"]["properties"]), frame
    return {frame["type"] for frame in frames}


def test_a_blackjack_table_with_trouble(rig: Callable[..., Any], validators: dict[str, Draft202012Validator]) -> None:
    table = rig()
    table.to_dealing()
    table.order("pause", reason="coffee")
    table.line.cards("5S")
    table.last("card_held")
    table.order("resume", reason="back")
    table.line.cards("AH 4S 7C")
    table.step("insurance")
    table.order("close_decisions", role="game_server", round=table.status()["round"])
    table.step("decide main@2")
    table.line.cards("3D")
    table.incident("M-08")
    table.resolve("burn_card")
    table.demand("main", 2, False)
    table.last("round_result")
    table.step("open_bets")
    table.order("open_bets")
    table.line.cards("2D")
    table.incident("M-05")
    table.line.unplug()
    table.until(lambda: "shoe" in table.status()["devices_lost"], "the loss")
    table.line.plug()
    table.until(lambda: "shoe" not in table.status()["devices_lost"], "the shoe")
    table.order("void", reason="enough", shoe=True)
    table.order("reopen", reason="mended")
    table.order("end_shift")
    seen = check(table.feed(), validators)
    assert len(seen) > 24
    heartbeat = {**table.feed()[-1], "type": "heartbeat", "data": {"last_seq": 7}}
    for key in ("seq", "shoe", "round", "round_in_shoe", "version"):
        del heartbeat[key]
    assert check([heartbeat], validators) == {"heartbeat"}


def test_a_baccarat_table_with_bets(rig: Callable[..., Any], validators: dict[str, Draft202012Validator]) -> None:
    table = rig(game={"game": "baccarat", "decisions": "book", "burn": "none"})
    table.order("start_shift")
    table.order("load_shoe")
    table.order("open_bets", role="game_server")
    bet = {"player": "p1", "bet": "BANKER", "stake": 500, "transaction": "t1", "available": 1000}
    table.order("place_bets", role="game_server", round=table.status()["round"], bets=[bet])
    table.order("close_bets", role="game_server")
    table.line.cards("2H 3H 6C 6D")
    table.last("bets_settled")
    assert check(table.feed(), validators) >= {"bets_accepted", "bets_settled", "round_result"}


@pytest.mark.parametrize(
    "edit",
    [
        {"seq": "7"}, {"seq": 0}, {"time": "yesterday"}, {"feed": "x"}, {"schema": 2},
        {"data": {"position": 1, "card": "TD"}}, {"data": {}},
    ],
)  # fmt: skip
def test_the_schema_refuses_what_is_no_frame(
    edit: dict[str, Any], validators: dict[str, Draft202012Validator]
) -> None:
    good: dict[str, Any] = {
        "schema": 1, "feed": "0" * 32, "table": "t-1", "epoch": 1, "seq": 7, "time": "2026-11-30T00:00:00.000Z",
        "type": "card_dealt", "shoe": "s", "round": "r", "round_in_shoe": 1, "version": 1,
        "data": {"position": "player/0", "card": "TD"},
    }  # fmt: skip
    assert validators["card_dealt"].is_valid(good)
    assert not validators["card_dealt"].is_valid(good | edit)
