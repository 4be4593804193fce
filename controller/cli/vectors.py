"""``dealerd vectors``: rule vectors through the real table."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from controller.cli.errors import UsageError
from controller.simulation.vectors import Answer, VectorFault, answer
from controller.simulation.vectors_input import VectorError

if TYPE_CHECKING:
    _Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_DESCRIPTION: Final = """\
Play rule vectors and print what follows from them. FILE has one JSON object a line: a header that names the game and
how its rules are read, then shoes with their cards, and rounds with the players' balances, bets and requests. They
are played through the same table that `dealerd run` operates, in virtual time: cards, commands and deadlines in,
facts out. Each line is printed whole: every event, decision, hand, payout and balance. Whatever FILE says beyond what
a table is given, expected figures for instance, is not looked at, so the output can be compared with it.
"""
_EPILOG: Final = """\
At the end the table is checked: its state is the sum of its facts, and all money adds up. Exit status: 0; 1 if that
check fails; 2 if FILE cannot be used, then nothing is printed but the line and what is wrong with it. Bets and
requests that the table refuses are part of the answer; where a line has no place for them, standard error says so.

examples:
  dealerd vectors rounds.jsonl                     whole lines to standard output
  dealerd vectors rounds.jsonl --out answer.jsonl  the same into a file
  dealerd vectors - < rounds.jsonl                 read standard input
"""
_QUIET_S: Final = 2.0


class _Progress:
    """A line on standard error each time two seconds have passed."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _QUIET_S

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _QUIET_S
            print(f"vectors: {done} of {total} lines played", file=sys.stderr, flush=True)


def add_parser(subparsers: _Subparsers) -> None:
    """Register ``vectors FILE [--out FILE]``."""
    parser = subparsers.add_parser(
        "vectors",
        help="rule vectors to whole lines, through the real table",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="rule vectors, JSON Lines; - is standard input")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the lines to this file")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Answer the vectors in ``args.file``. Returns the exit status."""
    text = _read(args.file)
    try:
        found = answer(text.split("\n"), _Progress())
    except VectorError as error:
        raise UsageError(f"{args.file}: {error}") from error
    except VectorFault as fault:
        print(f"{args.file}: check failed: {fault}", file=sys.stderr)
        return 1
    for note in found.notes:
        print(f"{args.file}: {note}", file=sys.stderr)
    _write(found, args.out)
    return 0


def _read(name: str) -> str:
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: not UTF-8 text: {error}") from error


def _write(found: Answer, out: Path | None) -> None:
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in found.lines)
    if out is None:
        sys.stdout.write(text)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{out}: cannot be written: {error.strerror or error}") from error
