"""Facts a second that one table can decide, chain and make durable, a commit for each input.

The baseline does nothing but commit as often, with as many bytes. Both take turns in blocks.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, Final

from controller.bench.baseline import open_journal
from controller.bench.coups import Coups
from controller.bench.latency import file_system
from controller.bench.numbers import ratio

BLOCKS: Final = 12
INPUTS: Final = 100
_WARM_UP: Final = 2

Progress = Callable[[int, int], None]


def measure(progress: Progress) -> dict[str, Any]:
    """Facts a second, and how much slower than the bare commits."""
    rates, bare_rates, ratios = [], [], []
    with tempfile.TemporaryDirectory(prefix="dealerd-bench-") as name:
        folder = Path(name)
        coups = Coups(folder / "table.journal")
        bare = open_journal(folder / "bare.journal")
        try:
            coups.flush()
            for block in range(-_WARM_UP, BLOCKS):
                facts, before = 0, coups.bytes
                began = time.perf_counter()
                for _ in range(INPUTS):
                    coups.step()
                    facts += coups.flush()
                between = time.perf_counter()
                row = os.urandom((coups.bytes - before) // INPUTS)
                began_bare = time.perf_counter()
                for _ in range(INPUTS):
                    bare.execute("INSERT INTO facts (body) VALUES (?)", (row,))
                ended = time.perf_counter()
                if block >= 0:
                    rates.append(facts / (between - began))
                    bare_rates.append(INPUTS / (ended - began_bare))
                    ratios.append((between - began) / (ended - began_bare))
                progress(block + _WARM_UP, BLOCKS + _WARM_UP)
            disk = file_system(folder)
        finally:
            coups.close()
            bare.close()
    return {
        "facts_per_s": round(median(rates)),
        "inputs": BLOCKS * INPUTS,
        "bare_commits_per_s": round(median(bare_rates)),
        "to_bare": ratio(ratios),
        "disk": disk,
    }


def ratios(report: dict[str, Any]) -> dict[str, float]:
    """What is compared with the stored baseline; smaller is better."""
    return {"input/bare commit": report["to_bare"]["median"]}


def text(report: dict[str, Any]) -> str:
    """``report`` for a person."""
    row = report["to_bare"]
    return (
        f"facts: {report['facts_per_s']:,} facts a second, a commit for each of {report['inputs']:,} inputs, on "
        f"{report['disk']}\n"
        f"an input takes {row['median']:.2f} times a bare commit of as many bytes (blocks {row['min']:.2f} to "
        f"{row['max']:.2f})"
    )
