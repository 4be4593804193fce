"""``dealerd bench`` as a real process: the shape of its report. Timings are not judged."""

from __future__ import annotations

import json
import subprocess
import sys
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
    assert list(report) == ["latency"]
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
    assert list(report) == ["codecs"]
    assert set(report["codecs"]) == set(PROTOCOLS)
    for row in report["codecs"].values():
        assert row["unit"] == "bytes/s"
        assert min(row[key] for key in ("bytes", "events", "decoder", "baseline", "wire", "times_wire")) > 0
        assert _is_ratio(row["ratio"])


@pytest.mark.parametrize(
    "words", [("nothing",), ("latency", "--samples", "0"), ("codecs", "--samples", "4")], ids=" ".join
)
def test_wrong_input_is_refused(words: tuple[str, ...]) -> None:
    done = _dealerd("bench", *words)
    assert done.returncode == 2
    assert done.stderr
    assert not done.stdout


def test_settlement_of_three_sizes() -> None:
    sizes = _bench("settlement")["settlement"]["sizes"]
    assert [row["players"] for row in sizes.values()] == [1_000, 10_000, 100_000]
    assert all(value > 0 for row in sizes.values() for value in row.values())
