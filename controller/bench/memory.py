"""Memory of one table over a day: a real ``dealerd run`` is played as many coups as a day has, as fast as it goes.

The baseline is the bare form with a commit, which gets as many cards: what an interpreter and its libraries hold.
"""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any, Final

from controller.bench.errors import BenchError
from controller.bench.forms import Bare, Form, Service
from controller.bench.start import COUP_S, DAY_S

CARDS_A_COUP: Final = 4
MARKS: Final = 10

Progress = Callable[[int, int], None]


def measure(days: float, progress: Progress) -> dict[str, Any]:
    """MiB held after each tenth of ``days``."""
    coups = max(MARKS, round(days * DAY_S / COUP_S))
    rng = Random(1)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dealerd-bench-")))
        forms: dict[str, Form] = {
            "bare": stack.enter_context(Bare("bare", folder, rng, journal=True)),
            "dealerd": stack.enter_context(Service(folder, rng)),
        }
        held: dict[str, list[float]] = {name: [] for name in forms}
        for mark in range(MARKS):
            for _ in range(coups // MARKS):
                for form in forms.values():
                    _coup(form)
            for name, form in forms.items():
                held[name].append(round(rss_mib(form.child.pid), 1))
            progress(mark + 1, MARKS)
    mine, bare = held["dealerd"], held["bare"]
    return {
        "days": days,
        "coups": coups // MARKS * MARKS,
        "mib": held,
        "growth_kib_per_1000_coups": round((mine[-1] - mine[1]) * 1024 / (coups * (MARKS - 2) / MARKS) * 1000, 1),
        "last_to_first": round(mine[-1] / mine[1], 3),
        "to_bare": round(mine[-1] / bare[-1], 2),
    }


def _coup(form: Form) -> None:
    for _ in range(CARDS_A_COUP):
        line, told_by = form.next_card()
        form.line.send(line)
        while True:
            message = form.answer()
            form.heard(message)
            if told_by in message:
                break


def rss_mib(pid: int) -> float:
    """Memory a process holds now. Raises ``BenchError`` if it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError as error:
        raise BenchError(f"process {pid} is gone") from error
    return pages * resource.getpagesize() / 2**20


def ratios(report: dict[str, Any]) -> dict[str, float]:
    """What is compared with the stored baseline; smaller is better."""
    return {"last tenth/second tenth": report["last_to_first"], "dealerd/bare": report["to_bare"]}


def text(report: dict[str, Any]) -> str:
    """``report`` for a person."""
    lines = [f"memory over {report['days']:g} days of play: {report['coups']:,} coups, MiB after each tenth"]
    lines += [f"  {name:<9}" + "".join(f"{one:>8}" for one in row) for name, row in report["mib"].items()]
    lines.append(
        f"  growth after the first fifth: {report['growth_kib_per_1000_coups']} KiB per 1,000 coups; "
        f"{report['to_bare']} times the bare form"
    )
    return "\n".join(lines)
