"""``dealerd bench`` as a real process: the shape of its report. Timings are not judged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from drivers.registry import PROTOCOLS

pytestmark = pytest.mark.system


def _dealerd(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "controller.cli", *words], capture_output=True, text=True, timeout=50, check=False
    )


def _bench(*words: str) -> dict[str, Any]:
    done = _dealerd("bench", *words, "--json")
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _is_ratio(row: dict[str, float]) -> bool:
    return set(row) == {"median", "min", "max"} and 0 < row["min"] <= row["median"] <= row["max"]


def test_latency_compares_three_forms() -> None:
    report = _bench("latency", "--samples", "8")
    assert list(report) == ["latency", "stored"]
    latency = report["latency"]
    assert (latency["unit"], latency["samples"], latency["blocks"]) == ("us", 8, 2)
    assert list(latency["forms"]) == ["bare", "commit", "dealerd"]
    for row in latency["forms"].values():
        assert 0 < row["median"] <= row["p95"] <= row["p99"]
    assert list(latency["ratios"]) == ["dealerd/bare", "dealerd/commit"]
    assert all(map(_is_ratio, latency["ratios"].values()))
    found, goal = latency["ratios"]["dealerd/commit"]["median"], latency["goal"]
    assert goal["must_met"] == (found <= goal["must"])
    assert goal["aim_met"] == (found <= goal["aim"])
    assert latency["disk"]
    assert isinstance(latency["steady"], bool)


def test_codecs_reports_each_protocol() -> None:
    report = _bench("codecs")
    assert list(report) == ["codecs", "stored"]
    assert set(report["codecs"]) == set(PROTOCOLS)
    for row in report["codecs"].values():
        assert row["unit"] == "bytes/s"
        assert min(row[key] for key in ("bytes", "events", "decoder", "baseline", "wire", "times_wire")) > 0
        assert _is_ratio(row["ratio"])


@pytest.mark.parametrize(
    "words",
    [
        ("nothing",), ("latency", "--samples", "0"), ("codecs", "--samples", "4"), ("facts", "--days", "1"),
        ("memory", "--days", "0"), ("tables", "--tables", "0"), ("--tables", "3"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_wrong_input_is_refused(words: tuple[str, ...]) -> None:
    done = _dealerd("bench", *words)
    assert done.returncode == 2
    assert done.stderr
    assert not done.stdout


def test_settlement_of_three_sizes() -> None:
    sizes = _bench("settlement")["settlement"]["sizes"]
    assert [row["players"] for row in sizes.values()] == [1_000, 10_000, 100_000]
    assert all(value > 0 for row in sizes.values() for value in row.values())


def test_a_frame_of_seven_cards_is_named_and_compared_with_a_bare_pass() -> None:
    vision = _bench("vision")["vision"]
    assert (vision["cards"], vision["named"], vision["wrong"]) == (7, 7, 0)
    assert list(vision["ratios"]) == ["unchanged/bare", "settled/bare", "all new/bare"]
    assert all(map(_is_ratio, vision["ratios"].values()))


def test_facts_are_compared_with_bare_commits() -> None:
    facts = _bench("facts")["facts"]
    assert facts["facts_per_s"] > 0
    assert facts["bare_commits_per_s"] > 0
    assert _is_ratio(facts["to_bare"])


def test_a_start_folds_what_was_played() -> None:
    report = _bench("start", "--days", "0.02")["start"]
    assert report["coups"] == 43
    assert report["rows"] > report["facts"] > 43 * 10
    assert min(report[key] for key in ("empty_s", "whole_fold_s", "later_s", "journal_mib")) > 0


def test_memory_is_looked_at_in_tenths() -> None:
    report = _bench("memory", "--days", "0.005")["memory"]
    assert {name: len(row) for name, row in report["mib"].items()} == {"bare": 10, "dealerd": 10}
    assert report["to_bare"] > 1


def test_tables_are_added_up_to_what_is_asked() -> None:
    report = _bench("tables", "--tables", "1")["tables"]
    (stage,) = report["stages"]
    assert stage["tables"] == 1
    assert stage["cards"] >= 100
    assert 0 < stage["median"] <= stage["p95"] <= stage["p99"]
    assert report["limit_reached"] == (stage["p99"] > report["limit_ms"] * 1000)


def test_a_regression_shows(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    done = _dealerd("bench", "facts", "--store", str(kept))
    assert done.returncode == 0, done.stderr
    stored = json.loads(kept.read_text())
    assert stored["facts"]["input/bare commit"] > 0
    stored["facts"]["input/bare commit"] = 0.001
    kept.write_text(json.dumps(stored))
    rows = _bench("facts", "--against", str(kept))["stored"]["facts"]
    assert rows["input/bare commit"]["stored"] == 0.001
    assert rows["input/bare commit"]["change"] > 100
    kept.write_text("nonsense")
    assert _dealerd("bench", "facts", "--against", str(kept)).returncode == 1
