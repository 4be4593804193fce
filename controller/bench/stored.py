"""The stored baseline: ratios of an earlier run, so that a regression shows. Ratios only: times are the machine's."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from controller.bench import facts, memory, start, tables, vision
from controller.bench.errors import BenchError

Ratios = dict[str, float]


def _latency(report: dict[str, Any]) -> Ratios:
    return {name: row["median"] for name, row in report["ratios"].items()}


def _codecs(report: dict[str, Any]) -> Ratios:
    # Decoders are quicker the larger their ratio is; turned round, smaller is better everywhere.
    return {f"loop/{name}": round(1 / row["ratio"]["median"], 2) for name, row in report.items()}


def _settlement(report: dict[str, Any]) -> Ratios:
    return {f"durable/commit, {size} players": row["durable_to_baseline"] for size, row in report["sizes"].items()}


RATIOS: Final = {
    "latency": _latency, "codecs": _codecs, "settlement": _settlement, "facts": facts.ratios, "start": start.ratios,
    "memory": memory.ratios, "tables": tables.ratios, "vision": vision.ratios,
}  # fmt: skip


def load(path: Path | None) -> dict[str, Ratios]:
    """A stored file's ratios by benchmark, or those that came with the program. Raises ``BenchError``."""
    try:
        text = (files("controller.bench") / "stored.json").read_text() if path is None else path.read_text()
        found: dict[str, Ratios] = json.loads(text)
    except (OSError, ValueError) as error:
        raise BenchError(f"{path or 'stored.json'} holds no stored ratios: {error}") from error
    return found


def save(path: Path, reports: dict[str, Any]) -> None:
    """Write the ratios of these reports, over those of the same benchmarks if the file is there."""
    kept = load(path) if path.exists() else {}
    kept |= {name: RATIOS[name](report) for name, report in reports.items()}
    path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")


def compare(name: str, report: dict[str, Any], stored: dict[str, Ratios]) -> dict[str, dict[str, float]]:
    """Ratio name → now, stored, and now/stored: above 1 it became slower or larger."""
    before = stored.get(name, {})
    return {
        key: {"now": value, "stored": before[key], "change": round(value / before[key], 3)}
        for key, value in RATIOS[name](report).items()
        if before.get(key)
    }


def text(rows: dict[str, dict[str, float]]) -> str:
    """For a person."""
    return "\n".join(
        f"  stored {key}: {row['stored']:g}, now {row['now']:g}: ×{row['change']:.2f}" for key, row in rows.items()
    )
