"""``dealerd journal``: check and read a table's record."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from controller.cli import journal_upgrade
from controller.cli.errors import UsageError
from controller.facts import decode_fact
from controller.journal.records import FactRow

if TYPE_CHECKING:
    from controller.journal.verify import VerifyReport


def add_parser(subparsers: Any) -> None:
    """Register ``journal verify|show|export|backup|restore``."""
    parser = subparsers.add_parser(
        "journal",
        help="check and read a table's record",
        description="The journal is the file that [table] journal of a table file names: every fact of the table in "
        "order, chained by hashes. These commands only read it, also while the table runs; `upgrade` alone writes.",
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    check = actions.add_parser(
        "verify",
        help="walk the hash chain; exit status 1 at the first fault",
        description="Check that no fact and no frame was changed, removed or added. Nothing is ever repaired. A tail "
        "that was cut off leaves a sound chain: compare the last hash with one you kept, with --expect-last.",
    )
    check.add_argument("file", type=Path, metavar="FILE")
    check.add_argument("--expect-last", metavar="N:HASH", help="number and hash of a fact that must be in the chain")
    check.add_argument("--json", action="store_true")
    check.set_defaults(run=_verify)
    copy = actions.add_parser(
        "backup",
        help="a checked copy, also while the table runs",
        description="Copy the journal FILE as it is now to OUT, check the copy from its first fact to its last, and "
        "print its last number and hash: keep these elsewhere.",
    )
    copy.add_argument("file", type=Path, metavar="FILE")
    copy.add_argument("out", type=Path, metavar="OUT")
    copy.set_defaults(run=_backup)
    back = actions.add_parser(
        "restore",
        help="a journal of a backup, under a new feed id",
        description="Make the journal FILE, which must not exist, of BACKUP. It gets a new feed id, so that every "
        "subscriber takes a snapshot: what was published after the backup is not in it.",
    )
    back.add_argument("backup", type=Path, metavar="BACKUP")
    back.add_argument("file", type=Path, metavar="FILE")
    back.set_defaults(run=_restore)
    for name, text, more in (
        ("show", "facts for a person", ""),
        ("export", "facts or whole rounds as JSON Lines, CSV or a page", _EXPORT),
    ):
        text += "; cards never revealed stay masked"
        action = actions.add_parser(name, help=text, description=f"Print {text}.", epilog=more, formatter_class=_Raw)
        action.add_argument("file", type=Path, metavar="FILE")
        action.add_argument("--round", metavar="ID")
        action.add_argument("--shoe", metavar="ID")
        action.add_argument("--type", action="append", metavar="TYPE", help="may be given several times")
        action.set_defaults(run=_show)
        if name == "export":
            action.add_argument(
                "--rounds", action="store_true", help="whole rounds: one object, section or block each"
            )
            action.add_argument(
                "--from", dest="since", metavar="TIME", help="with --rounds: that began then or later"
            )
            action.add_argument("--to", dest="until", metavar="TIME", help="with --rounds: that began before; UTC")
            action.add_argument("--format", choices=("json", "csv", "html"), default="json")
            action.add_argument("--out", type=Path, metavar="FILE", help="default: standard output")
            action.set_defaults(run=_export)
    journal_upgrade.add_action(actions)


_Raw = argparse.RawDescriptionHelpFormatter
_EXPORT = """\
With --rounds every round has its phases, cards, decisions, results with versions, corrections, incidents, holds,
approvals, persons, players' stakes and returns, and its place in the hash chain. html is always whole rounds.

examples:
  dealerd journal export bb-1.journal --rounds --round 20261129-0003-017 --format html --out round.html
  dealerd journal export bb-1.journal --rounds --from 2026-11-01 --to 2026-12-01 --format csv --out november.csv
"""


def masked(row: FactRow) -> dict[str, Any]:
    """A fact's data without what was never revealed."""
    return decode_fact(row.body).masked_data()


def _verify(args: argparse.Namespace) -> int:
    from controller.journal.verify import verify

    _require_file(args.file)
    expect = None
    if args.expect_last:
        number, _, digest = args.expect_last.partition(":")
        if not number.isdigit() or len(digest) != 64:
            raise UsageError("--expect-last takes N:HASH, such as 1042:9f2c… (64 hex digits)")
        expect = (int(number), digest)
    report = verify(args.file, expect_last=expect)
    found = {
        "ok": report.ok, "fault": report.fault, "facts": report.facts, "frames": report.frames,
        "last_n": report.last_n, "last_seq": report.last_seq, "last_hash": report.last_hash,
        "table": report.table, "feed": report.feed,
    }  # fmt: skip
    if args.json:
        print(json.dumps(found))
    else:
        for key, value in found.items():
            print(f"{key:10} {value}")
    return 0 if report.ok else 1


def _backup(args: argparse.Namespace) -> int:
    from controller.journal.copies import backup

    _require_file(args.file)
    return _copied(lambda: backup(args.file, args.out), f"{args.file} copied to {args.out}")


def _restore(args: argparse.Namespace) -> int:
    from controller.journal.copies import restore

    _require_file(args.backup)
    feed = os.urandom(16).hex()
    now_ms = time.time_ns() // 1_000_000
    return _copied(
        lambda: restore(args.backup, args.file, feed=feed, now_ms=now_ms), f"{args.file} made, feed {feed}"
    )


def _copied(work: Callable[[], VerifyReport], text: str) -> int:
    from controller.journal.errors import JournalDamaged, JournalError

    try:
        report = work()
    except JournalDamaged as error:
        print(error, file=sys.stderr)
        return 1
    except JournalError as error:
        raise UsageError(str(error)) from error
    print(f"{text}: {report.facts} facts, last {report.last_n}:{report.last_hash}")
    return 0


def _require_file(path: Path) -> None:
    if not path.is_file():
        raise UsageError(f"there is no journal {path}: give the file that [table] journal names")


@contextlib.contextmanager
def opened(path: Path, journal: Path) -> Iterator[TextIO]:
    if path.exists() and path.samefile(journal):
        raise UsageError(f"--out {path} is the journal itself: give another file")
    try:
        out = path.open("w", encoding="utf-8", newline="")
    except OSError as error:
        raise UsageError(f"--out {path} cannot be written: {error.strerror}") from error
    with out:
        yield out


def _show(args: argparse.Namespace) -> int:
    from controller.journal.show import rows

    _require_file(args.file)
    found = False
    for row in rows(args.file, round=args.round, shoe=args.shoe, types=args.type, mask=masked):
        found = True
        data = " ".join(f"{k}={json.dumps(v, separators=(',', ':'))}" for k, v in (row.get("data") or {}).items())
        print(f"{row['n']:>7} {row['at']} {row['round'] or row['shoe'] or '-':<20} {row['type']:<20} {data}".rstrip())
    if not found and (args.round or args.shoe or args.type):
        print(f"{args.file}: no fact of that round, shoe or type", file=sys.stderr)
        return 1
    return 0


def _export(args: argparse.Namespace) -> int:
    from controller.journal.show import export

    _require_file(args.file)
    if args.rounds or args.format == "html":
        return _export_rounds(args)
    if args.since or args.until:
        raise UsageError("--from and --to choose whole rounds: give --rounds as well")
    options: dict[str, Any] = {"round": args.round, "shoe": args.shoe, "types": args.type, "mask": masked}
    if args.out is None:
        export(args.file, format=args.format, out=sys.stdout, **options)
    else:
        with opened(args.out, args.file) as out:
            count = export(args.file, format=args.format, out=out, **options)
        print(f"{count} facts written to {args.out}")
    return 0


def _export_rounds(args: argparse.Namespace) -> int:
    from controller.journal.reader import open_read_only
    from controller.record.export import Period, export

    if args.type:
        raise UsageError("--type chooses facts, not rounds: leave it out, or leave out --rounds")
    period = Period(args.round, args.shoe, _moment("--from", args.since), _moment("--to", args.until))
    with open_read_only(args.file) as journal:
        if args.round and journal.mark("betting_opened", round=args.round) is None:
            raise UsageError(f"there is no round {args.round} in {args.file}")
        if args.out is None:
            export(journal, period, args.format, sys.stdout)
            return 0
        with opened(args.out, args.file) as out:
            count = export(journal, period, args.format, out)
    print(f"{count} rounds written to {args.out}")
    return 0


def _moment(option: str, text: str | None) -> int | None:
    """UTC, milliseconds since 1970. Raises ``UsageError``."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} {text!r}: a day or time such as 2026-11-29 or 2026-11-29T19:41:07") from None
    return round(at.replace(tzinfo=at.tzinfo or UTC).timestamp() * 1000)
