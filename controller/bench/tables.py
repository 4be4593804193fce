"""How many tables one machine carries at real pace: tables are added until one card in a hundred takes over 20 ms.

Every table is a real ``dealerd run`` with its own keys, journal and shoe. The baseline of each stage is one bare
pipeline with a commit on the same machine at the same time: what a table without any work of its own would see.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any, Final

from controller.bench.forms import Bare, Form, Service
from controller.bench.latency import sample
from controller.bench.memory import rss_mib
from controller.bench.numbers import spread

#: A dealer draws a card every so many seconds, betting and pauses included.
CARD_S: Final = 4.0
LIMIT_MS: Final = 20.0
STAGES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)
#: Cards measured in each stage, at least.
CARDS: Final = 100

Progress = Callable[[int, int], None]


def measure(most: int, progress: Progress) -> dict[str, Any]:
    """Stages up to ``most`` tables, or to the first that is over the limit."""
    rng = Random(1)
    stages: list[dict[str, Any]] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dealerd-bench-")))
        bare = stack.enter_context(Bare("bare", folder, rng, journal=True))
        tables: list[Form] = []
        for count in (stage for stage in STAGES if stage <= most):
            while len(tables) < count:
                home = folder / f"t{len(tables)}"
                home.mkdir()
                tables.append(stack.enter_context(Service(home, rng)))
            stages.append(_stage(tables, bare, rng))
            progress(count, most)
            if stages[-1]["p99"] > LIMIT_MS * 1000:
                break
    good = [stage["tables"] for stage in stages if stage["p99"] <= LIMIT_MS * 1000]
    return {
        "unit": "us",
        "cores": os.cpu_count(),
        "card_s": CARD_S,
        "limit_ms": LIMIT_MS,
        "stages": stages,
        "tables": max(good, default=0),
        "limit_reached": len(good) < len(stages),
        "median_to_bare": stages[-1]["to_bare"],
    }


def _stage(tables: list[Form], bare: Form, rng: Random) -> dict[str, Any]:
    """Every table gets a card in ``CARD_S``, in an order that changes."""
    took: list[int] = []
    took_bare: list[int] = []
    rounds = max(2, -(-CARDS // len(tables)))
    load = os.getloadavg()[0]
    for _ in range(rounds):
        began = time.perf_counter()
        order = rng.sample(tables, len(tables))
        for number, table in enumerate(order):
            took.append(sample(table, rng))
            if number % max(1, len(tables) // 4) == 0:
                took_bare.append(sample(bare, rng))
            # With few tables the pace of the stage is quicker than a table's, which only shortens the run.
            due = began + (number + 1) * min(CARD_S / len(tables), 0.1)
            time.sleep(max(0.0, due - time.perf_counter()))
    mine, base = spread(took), spread(took_bare)
    memory = sum(rss_mib(table.child.pid) for table in tables) / len(tables)
    return {
        "tables": len(tables), "cards": len(took), **mine, "bare": base, "mib_each": round(memory, 1),
        "to_bare": round(mine["median"] / base["median"], 2), "load_before": round(load, 1),
    }  # fmt: skip


def ratios(report: dict[str, Any]) -> dict[str, float]:
    """What is compared with the stored baseline; smaller is better."""
    return {"last stage/bare": report["median_to_bare"]}


def text(report: dict[str, Any]) -> str:
    """``report`` for a person."""
    lines = [
        f"tables on {report['cores']} cores, a card every {report['card_s']:g} s each at most (microseconds)",
        f"{'tables':>8}{'median':>9}{'p95':>9}{'p99':>9}{'bare':>9}{'ratio':>7}{'MiB each':>10}{'load':>7}",
    ]
    for row in report["stages"]:
        lines.append(
            f"{row['tables']:>8}{row['median']:>9.0f}{row['p95']:>9.0f}{row['p99']:>9.0f}"
            f"{row['bare']['median']:>9.0f}{row['to_bare']:>7.2f}{row['mib_each']:>10}{row['load_before']:>7}"
        )
    reached = "the next stage is over" if report["limit_reached"] else "the limit was not reached"
    lines.append(f"p99 within {report['limit_ms']:g} ms up to {report['tables']} tables; {reached}")
    return "\n".join(lines)
