"""How long a table takes to start on a journal of many days: the whole fold, and from its milestone.

Baselines in the same run: the same program on an empty journal (interpreter, modules, sockets), and a bare read of
every row. The journal is made by the real table at the pace of a studio, a coup in 40 seconds around the clock. All
times are processor time, which other work on the machine lengthens little.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from controller.bench.baseline import read_all
from controller.bench.coups import Coups
from controller.bench.forms import prepare
from controller.bench.process import Child, Line

COUP_S: Final = 40
DAY_S: Final = 86_400
#: Starts that can be repeated are; the quickest counts, for what else the machine does only makes them slower.
STARTS: Final = 3
#: A whole fold on a busy machine takes minutes.
LONGEST_S: Final = 1800.0
#: Inputs that share a commit while the journal is made; it holds the same rows as with one each.
_BATCH: Final = 200
_INPUTS_A_COUP: Final = 7

Progress = Callable[[int, int], None]


def measure(days: float, progress: Progress) -> dict[str, Any]:
    """Processor seconds to start; ``days`` of play are in the journal."""
    coups = max(1, round(days * DAY_S / COUP_S))
    with tempfile.TemporaryDirectory(prefix="dealerd-bench-") as name:
        folder = Path(name)
        line = Line()
        try:
            loaded = prepare(folder, line.path)
            empty_s = min(_start(folder, "empty") for _ in range(STARTS))
            for left in folder.glob("table.journal*"):
                left.unlink()
            facts, size = _make(folder / "table.journal", coups, progress)
            began = time.process_time()
            rows = read_all(folder / "table.journal")
            bare_s = max(0.001, time.process_time() - began)
            whole_s = _start(folder, "whole")
            later_s = min(_start(folder, "later") for _ in range(STARTS))
        finally:
            line.close()
    return {
        "days": days,
        "coups": coups,
        "facts": facts,
        "rows": rows,
        "journal_mib": round(size / 2**20, 2),
        "empty_s": round(empty_s, 2),
        "bare_read_s": round(bare_s, 3),
        "whole_fold_s": round(whole_s, 2),
        "later_s": round(later_s, 2),
        "fold_to_bare_read": round(max(0.0, whole_s - empty_s) / bare_s, 2),
        "later_to_empty": round(later_s / empty_s, 2),
        "table": loaded.config.table.id,
    }


def _make(path: Path, coups: int, progress: Progress) -> tuple[int, int]:
    """(facts, bytes) of a journal of so many coups."""
    table = Coups(path)
    try:
        while table.results < coups:
            for _ in range(_BATCH):
                table.step(COUP_S * 1000 // _INPUTS_A_COUP)
            table.flush()
            table.journal.checkpoint()
            progress(table.results, coups)
        facts = table.journal.last_n
    finally:
        table.close()
    return facts, sum(part.stat().st_size for part in path.parent.glob(path.name + "*"))


def _start(folder: Path, name: str) -> float:
    """Processor time until the service answers; then it is stopped in order."""
    ready = folder / f"{name}.ready"
    ready.unlink(missing_ok=True)
    words = ["controller.cli", "run", str(folder / "table.toml")]
    with Child(name, words, folder, start_s=LONGEST_S) as child:
        return child.processor_s()


def ratios(report: dict[str, Any]) -> dict[str, float]:
    """What is compared with the stored baseline; smaller is better."""
    return {"whole fold/bare read": report["fold_to_bare_read"], "later start/empty start": report["later_to_empty"]}


def text(report: dict[str, Any]) -> str:
    """``report`` for a person."""
    return "\n".join(
        [
            f"start on a journal of {report['days']:g} days: {report['coups']:,} coups, {report['facts']:,} facts, "
            f"{report['journal_mib']} MiB (processor seconds)",
            f"  empty journal {report['empty_s']} s, bare read of all rows {report['bare_read_s']} s",
            f"  whole fold    {report['whole_fold_s']} s ({report['fold_to_bare_read']} times the bare read)",
            f"  later starts  {report['later_s']} s ({report['later_to_empty']} times the empty start)",
        ]
    )
