"""``dealerd bench``: ratios against bare baselines in the same run."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from controller.cli.errors import UsageError

#: Run by ``dealerd bench``; the long ones only when they are named.
QUICK: Final = ("latency", "codecs", "settlement", "facts", "vision")
LONG: Final = ("start", "memory", "tables")
NAMES: Final = (*QUICK, *LONG)

_DESCRIPTION: Final = """\
Measure this program beside bare baselines in the same run and print ratios, which mean something also on a busy
machine. Nothing is judged: the exit status is 0 whatever the figures, 1 if something could not be measured.
"""
_EPILOG: Final = """\
latency   from the write of a card to its frame at a subscriber: a bare serial-to-ZeroMQ pipe, the same with one
          durable commit, and the real table service
codecs    bytes a second that each shoe protocol's decoder takes
settlement a round with 1,000, 10,000 and 100,000 players: bets, decisions, outcome, durable settlement, memory
facts     facts a second, each input with a durable commit of its own
vision    one 1080p frame with seven cards: unchanged, located anew, all read
and, only when named:
start     how long a start takes on a journal of --days of play (default 30: a month)
memory    what a table holds over --days of play (default 1)
tables    tables on this machine at real pace, up to --tables (default 32) or until p99 passes 20 ms

Ratios are compared with stored ones of an earlier run: above ×1 something became slower or larger.

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
    parser.add_argument(
        "name", nargs="?", choices=NAMES, metavar="NAME", help=f"{', '.join(NAMES)}; without it {', '.join(QUICK)}"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object with a key for each benchmark")
    parser.add_argument(
        "--samples", type=int, metavar="N", help="latency: at least N samples of each form (default 300)"
    )
    parser.add_argument("--days", type=float, metavar="N", help="start, memory: so many days of play")
    parser.add_argument("--tables", type=int, metavar="N", help="tables: at most N")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare with the ratios stored in FILE")
    parser.add_argument("--store", type=Path, metavar="FILE", help="store this run's ratios in FILE")
    parser.set_defaults(run=run)


#: Option → the benchmarks it concerns.
_CONCERNS: Final = {"samples": ("latency",), "days": ("start", "memory"), "tables": ("tables",)}


def _check(args: argparse.Namespace) -> None:
    for option, names in _CONCERNS.items():
        value = getattr(args, option)
        if value is None:
            continue
        if args.name not in names and (args.name is not None or option != "samples"):
            raise UsageError(f"--{option} concerns {' and '.join(names)} only")
        if not value >= (1 if isinstance(value, int) else 0.001):
            raise UsageError(f"--{option} {value:g}: at least {1 if isinstance(value, int) else 0.001}")


def run(args: argparse.Namespace) -> int:
    """Measure and print."""
    from controller.bench import stored
    from controller.bench.errors import BenchError

    _check(args)
    reports: dict[str, Any] = {}
    compared: dict[str, Any] = {}
    try:
        before = stored.load(args.against)
        for name in QUICK if args.name is None else (args.name,):
            measure, text = _benchmark(name, args)
            reports[name] = measure(_Progress(name))
            changes = stored.compare(name, reports[name], before)
            if not args.json:
                print("\n".join(filter(None, (text(reports[name]), stored.text(changes)))), flush=True)
            compared |= {name: changes}
        if args.store is not None:
            stored.save(args.store, reports)
    except BenchError as error:
        print(f"bench {args.name or ''}: {error}", file=sys.stderr)
        return 1
    if args.json:
        print(json.dumps(reports | {"stored": compared}))
    return 0


Measure = Callable[[_Progress], dict[str, Any]]


def _benchmark(name: str, args: argparse.Namespace) -> tuple[Measure, Callable[[dict[str, Any]], str]]:
    """How ``name`` is measured and shown."""
    module = import_module(f"controller.bench.{name}")
    options = {
        "latency": args.samples or getattr(module, "DEFAULT_SAMPLES", None),
        "start": args.days or 30.0,
        "memory": args.days or 1.0,
        "tables": args.tables or 32,
    }
    if name in options:
        return lambda progress: module.measure(options[name], progress), module.text
    return module.measure, module.text
