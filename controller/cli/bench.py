"""``dealerd bench``: ratios against bare baselines in the same run."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from controller.cli.errors import UsageError

NAMES: Final = ("latency", "codecs", "settlement")

_DESCRIPTION: Final = """\
Measure this program beside bare baselines in the same run and print ratios, which mean something also on a busy
machine. Nothing is judged: the exit status is 0 whatever the figures, 1 if something could not be measured.
"""
_EPILOG: Final = """\
latency   from the write of a card to its frame at a subscriber: a bare serial-to-ZeroMQ pipe, the same with one
          durable commit, and the real table service
codecs    bytes a second that each shoe protocol's decoder takes
settlement  a round with 1,000, 10,000 and 100,000 players: bets, decisions, outcome, durable settlement, memory

Journals are written to the folder for temporary files; where that is a tmpfs, commits cost nothing and the figures
of latency say little: set TMPDIR to a folder on the disk that will hold the table's journal.
"""
_QUIET_S: Final = 2.0


class _Progress:
    """A line on standard error each time two seconds have passed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._next = time.monotonic() + _QUIET_S

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next and done < total:
            self._next = now + _QUIET_S
            print(f"{self._name}: {100 * done // total} %", file=sys.stderr, flush=True)


def add_parser(subparsers: Any) -> None:
    """Register ``bench [NAME] [--json]``."""
    parser = subparsers.add_parser(
        "bench",
        help="ratios against bare baselines in the same run",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", choices=NAMES, metavar="NAME", help=f"{', '.join(NAMES)}; all if left out")
    parser.add_argument("--json", action="store_true", help="one JSON object with a key for each benchmark")
    parser.add_argument(
        "--samples", type=int, metavar="N", help="latency: at least N samples of each form (default 300)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measure and print."""
    from controller.bench.errors import BenchError

    if args.samples is not None and args.samples < 1:
        raise UsageError(f"--samples {args.samples}: at least 1")
    if args.samples is not None and args.name in ("codecs", "settlement"):
        raise UsageError("--samples concerns latency only")
    reports = {}
    for name in NAMES if args.name is None else (args.name,):
        measure, text = _benchmark(name, args.samples)
        try:
            reports[name] = measure(_Progress(name))
        except BenchError as error:
            print(f"bench {name}: {error}", file=sys.stderr)
            return 1
        if not args.json:
            print(text(reports[name]), flush=True)
    if args.json:
        print(json.dumps(reports))
    return 0


def _benchmark(
    name: str, samples: int | None
) -> tuple[Callable[[_Progress], dict[str, Any]], Callable[[dict[str, Any]], str]]:
    """How ``name`` is measured and shown."""
    if name == "codecs":
        from controller.bench import codecs

        return codecs.measure, codecs.text
    if name == "settlement":
        from controller.bench import settlement

        return settlement.measure, settlement.text
    from controller.bench import latency

    count = latency.DEFAULT_SAMPLES if samples is None else samples
    return lambda progress: latency.measure(count, progress), latency.text
