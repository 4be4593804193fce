"""The record over the commands' socket of a real table."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any


def ask(table: Any, name: str, **args: Any) -> Any:
    return table.client("supervisor").command(name, args).data


def test_a_supervisor_reads_rounds_statistics_and_the_shoe(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_dealing()
    table.line.cards("TC 6C 9H TD")
    table.step("decide main@2")
    name = table.status()["round"]
    assert ask(table, "history", round=name)["cards"][3]["card"] == "**"
    table.demand("main", 2, False)
    table.demand("dealer", 2, True)
    table.step("draw dealer/2")
    table.line.cards("2S")
    table.step("open_bets")
    (line,) = ask(table, "history")["rounds"]
    assert (line["round"], line["status"], line["outcomes"][0]["result"]) == (name, "complete", "win")
    whole = ask(table, "history", round=name)
    assert [c["card"] for c in whole["cards"]] == ["TC", "6C", "9H", "TD", "2S"]
    assert (whole["game"], whole["shift"]["started_by"]) == ("boundless", "supervisor:sam")
    assert len(whole["config_digest"]) == 64
    assert ask(table, "statistics", by="shift")["groups"][0]["rounds"] == 1
    assert ask(table, "statistics", by="game")["groups"][0]["game"] == "boundless"
    assert ask(table, "shoe_report")["cards_out"] == 7
    refused = table.refused("history", round="20200101-0001-001")
    assert refused.code == "not_found"
    words = ["ctl", "--as", "supervisor/sam", str(table.file), "statistics", "--by", "device"]
    done = subprocess.run(
        [sys.executable, "-m", "controller.cli", *words], capture_output=True, check=True, timeout=60
    )
    assert json.loads(done.stdout)["data"]["groups"][0]["device"] == "shoe"
    assert table.stop() == 0
