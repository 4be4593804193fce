"""The alert rules are sound, and speak of metrics that a table has."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from prometheus_client import generate_latest

from controller.bus.hub import Counters
from controller.public import initial
from controller.service.metrics import Metrics

ROOT = Path(__file__).parents[2]
RULES = ROOT / "examples/prometheus-alerts.yml"


def names(tmp_path: Path) -> set[str]:
    metrics = Metrics("t-1", "boundless", "test", str(tmp_path / "j"))
    metrics.turned(initial(), Counters())
    metrics.count_lost_log_lines(lambda: 0)
    text = generate_latest(metrics.registry).decode()
    return set(re.findall(r"^# TYPE (dealerd_\w+)", text, re.MULTILINE))


def test_promtool_accepts_the_rules() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is missing (Debian package prometheus)")
    done = subprocess.run([promtool, "check", "rules", str(RULES)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "8 rules found" in done.stdout


def test_every_metric_of_the_rules_is_there(tmp_path: Path) -> None:
    there = names(tmp_path)
    used = set(re.findall(r"\bdealerd_\w+", RULES.read_text())) - {"dealerd"}
    assert {name.removesuffix("_bucket") for name in used} <= there


def test_every_metric_is_on_the_page(tmp_path: Path) -> None:
    page = (ROOT / "docs/how-to/monitor.md").read_text()
    for name in names(tmp_path) - {"dealerd_info"}:
        assert f"`{name}" in page, name
