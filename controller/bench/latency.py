"""One-way latency: from the write of a card's line to its ``card_dealt`` frame at a subscriber.

Three forms run side by side and are measured in turns, block by block, so that what else the machine does meanwhile
falls on all of them; compared are medians of the same block.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, Final

from controller.bench.errors import BenchError
from controller.bench.forms import Bare, Form, Service
from controller.bench.numbers import ratio, spread

#: The design's goals for dealerd against the bare form with a commit.
MUST: Final = 1.5
AIM: Final = 1.2
DEFAULT_SAMPLES: Final = 300

#: Samples in a block: one coup. The disk changes its mind within seconds, so short blocks compare best.
_BLOCK: Final = 4
#: Blocks played and not counted, while interpreters and caches warm up.
_WARM_UP: Final = 2
#: Between samples, so that none rides on the work of the one before.
_GAP_MS: Final = (1.0, 4.0)
_LIMIT_S: Final = 10.0
#: A commit that often takes more than this many times its median shares its disk with something else.
_STEADY: Final = 2.0

Progress = Callable[[int, int], None]


def measure(samples: int, progress: Progress) -> dict[str, Any]:
    """At least ``samples`` samples of each form, in whole blocks. Raises ``BenchError``."""
    blocks = -(-samples // _BLOCK)
    rng = Random(1)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="dealerd-bench-")))
        forms: dict[str, Form] = {
            "bare": stack.enter_context(Bare("bare", folder, rng, journal=False)),
            "commit": stack.enter_context(Bare("commit", folder, rng, journal=True)),
            "dealerd": stack.enter_context(Service(folder, rng)),
        }
        measured: dict[str, list[list[int]]] = {name: [] for name in forms}
        for block in range(-_WARM_UP, blocks):
            for name, form in forms.items():
                taken = [sample(form, rng) for _ in range(_BLOCK)]
                if block >= 0:
                    measured[name].append(taken)
            progress(block + _WARM_UP, blocks + _WARM_UP)
        disk = file_system(folder)
    return _report(measured, disk)


def sample(form: Form, rng: Random) -> int:
    """Nanoseconds from just before the write to the receipt."""
    line, told_by = form.next_card()
    _pass_time(form, rng.uniform(*_GAP_MS))
    began = time.perf_counter_ns()
    form.line.send(line)
    while True:
        message = form.answer()
        took = time.perf_counter_ns() - began
        form.heard(message)
        if told_by in message:
            return took
        if took > _LIMIT_S * 1e9:
            raise BenchError(f"{type(form).__name__}: a card was written and no frame tells of it")


def _pass_time(form: Form, milliseconds: float) -> None:
    """Wait, and take what arrives meanwhile."""
    until = time.perf_counter_ns() + milliseconds * 1e6
    while (left := until - time.perf_counter_ns()) > 0:
        message = form.subscriber.receive(max(1, round(left / 1e6)))
        if message is not None:
            form.heard(message)


def _report(measured: dict[str, list[list[int]]], disk: str) -> dict[str, Any]:
    """``measured``: form → blocks → nanoseconds."""
    medians = {name: [median(block) for block in blocks] for name, blocks in measured.items()}
    to_bare = ratio([c / a for c, a in zip(medians["dealerd"], medians["bare"], strict=True)])
    to_commit = ratio([c / b for c, b in zip(medians["dealerd"], medians["commit"], strict=True)])
    forms = {name: spread([ns for block in blocks for ns in block]) for name, blocks in measured.items()}
    return {
        "unit": "us",
        "samples": sum(map(len, measured["dealerd"])),
        "blocks": len(measured["dealerd"]),
        "disk": disk,
        "steady": forms["commit"]["p95"] <= _STEADY * forms["commit"]["median"],
        "forms": forms,
        "ratios": {"dealerd/bare": to_bare, "dealerd/commit": to_commit},
        "goal": {
            "must": MUST,
            "aim": AIM,
            "must_met": to_commit["median"] <= MUST,
            "aim_met": to_commit["median"] <= AIM,
        },
    }


def text(report: dict[str, Any]) -> str:
    """``report`` for a person."""
    titles = {"bare": "A bare: serial, PUB", "commit": "B bare with a commit", "dealerd": "C dealerd run"}
    lines = [
        f"latency: card written to card_dealt received, {report['samples']} samples of each form in "
        f"{report['blocks']} blocks, journals on {report['disk']}",
        f"{'':<22}{'median':>10}{'p95':>10}{'p99':>10}  us",
    ]
    for name, row in report["forms"].items():
        lines.append(f"{titles[name]:<22}{row['median']:>10.1f}{row['p95']:>10.1f}{row['p99']:>10.1f}")
    for label, name in (("C/A", "dealerd/bare"), ("C/B", "dealerd/commit")):
        row = report["ratios"][name]
        lines.append(f"{label}  {row['median']:.2f}  (blocks {row['min']:.2f} to {row['max']:.2f})")
    goal, found = report["goal"], report["ratios"]["dealerd/commit"]["median"]
    words = {True: "met", False: "not met"}
    lines.append(
        f"goal: C/B at most {goal['must']:g} ({words[goal['must_met']]}), better {goal['aim']:g} "
        f"({words[goal['aim_met']]}); found {found:.2f}"
    )
    if not report["steady"]:
        lines.append(
            "the disk was busy with something else (p95 of B is far above its median): C/B says little, repeat"
        )
    return "\n".join(lines)


def file_system(folder: Path) -> str:
    """The type of the file system ``folder`` lies on: a commit on tmpfs costs nothing and says nothing."""
    best, found = "", "unknown"
    place = str(folder.resolve()) + "/"
    try:
        mounts = Path("/proc/self/mounts").read_text().splitlines()
    except OSError:
        return found
    for _, point, kind, *_ in (line.split(" ") for line in mounts):
        if place.startswith(point.rstrip("/") + "/") and len(point) >= len(best):
            best, found = point, kind
    return found
