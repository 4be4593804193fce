"""Bytes on a pseudo-terminal become a published round, and a supervisor can pause it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def test_a_boundless_round_over_the_line(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_dealing()
    table.line.cards("TC 6C 9H TD")
    table.step("decide main@2")
    table.demand("main", 2, False)
    table.demand("dealer", 2, True)
    table.step("draw dealer/2")
    table.line.cards("2S")
    result = table.last("round_result")
    assert result["hands"]["dealer"]["score"] == 18
    assert result["outcomes"] == [{"line": "main", "length": 2, "result": "win"}]
    assert table.dealt() == [
        ("player/0", "TC"), ("dealer/0", "6C"), ("player/1", "9H"), ("dealer/1", "**"), ("dealer/2", "2S"),
    ]  # fmt: skip
    assert [f["seq"] for f in table.frames] == list(range(1, len(table.frames) + 1))
    assert table.stop() == 0


def test_a_pause_holds_one_card_and_the_hand_goes_on(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_dealing()
    table.order("pause", reason="a player calls")
    table.step("wait")
    table.line.cards("TC")
    table.until(lambda: table.feed("card_held"), "the card to be held")
    assert table.dealt() == []
    table.order("resume", reason="settled")
    table.step("draw dealer/0")
    assert table.dealt() == [("player/0", "TC")]
