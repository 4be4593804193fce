"""``dealerd bets``: the bet record of a table."""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TextIO

import msgspec

from controller.cli.errors import UsageError
from controller.cli.journal import opened
from controller.config import Loaded, load
from controller.facts import decode_fact
from controller.frames import iso_ms
from controller.journal.reader import JournalReader, open_read_only
from controller.journal.show import cell
from controller.record.bets import TYPES, BetRecord, BetRow, Timed, Totals, bet_rows, round_totals
from controller.record.queries import files_from

_DESCRIPTION: Final = """\
Print every amount that players staked, were paid and got back, from the table's journal; also while the table runs.
"""
_EPILOG: Final = """\
Amounts are whole minor units of the currency. "what" is bet, insurance, double, split, follow-split or
follow-double for a stake, settlement for what a hand or bet came to, refund for a stake of a void round. "amount" is
what moved, from the player's side: added up it is what he won or lost. "returned" includes the stake; when a result
was corrected, the rows of its later version replace those of the earlier one, and their "amount" is the difference.

With --totals there is one line a round instead; exit status 1 if one does not add up to what the table announced.

examples:
  dealerd bets bb-1.toml --round 20261129-0003-017
  dealerd bets bb-1.toml --player p-77 --format csv --out p-77.csv
  dealerd bets bb-1.toml --totals
"""
_QUIET_S: Final = 2.0


def add_parser(subparsers: Any) -> None:
    """Register ``bets TABLE.toml``."""
    parser = subparsers.add_parser(
        "bets",
        help="bet record per player or round, JSON or CSV",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("table", type=Path, metavar="TABLE.toml")
    parser.add_argument("--round", metavar="ID", help="this round only")
    parser.add_argument("--player", metavar="ID", help="this player only")
    parser.add_argument("--totals", action="store_true", help="one line a round: stakes, returns, players")
    parser.add_argument("--format", choices=("json", "csv"), default="json", help="default: json, one object a line")
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: standard output")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read, assemble, print."""
    loaded = load(args.table)
    table = loaded.config.table.id
    record = BetRecord(table, loaded.config.game.game)
    wrong: list[str] = []
    with open_read_only(loaded.journal) as journal:
        if journal.table != table:
            raise UsageError(f"{loaded.journal}: the journal of table {journal.table}, not {table}")
        facts = _Facts(journal, args.round)
        found: Iterator[BetRow | Totals]
        if args.totals:
            found = _watched(round_totals(record, facts, args.player), wrong)
        else:
            found = bet_rows(record, facts, args.player)
        first = next(found, None)
        if first is None:
            _explain_nothing(args, loaded, facts)
        rows = found if first is None else itertools.chain([first], found)
        fields = Totals._fields if args.totals else BetRow._fields
        if args.out is None:
            _write(rows, fields, args.format, sys.stdout)
        else:
            with opened(args.out, loaded.journal) as out:
                count = _write(rows, fields, args.format, out)
            print(f"{count} rows written to {args.out}")
    for text in wrong:
        print(text, file=sys.stderr)
    return 1 if wrong else 0


class _Facts:
    """The facts of the record, in order, of one round if it is named. ``known``: that round is in the journal."""

    def __init__(self, journal: JournalReader, round_: str | None) -> None:
        self._journal, self._round = journal, round_
        self.known = round_ is None

    def __iter__(self) -> Iterator[Timed]:
        last, shown = self._journal.last_n, time.monotonic()
        for row in (row for one in files_from(self._journal, 1) for row in one.facts()):
            if time.monotonic() - shown > _QUIET_S:
                shown = time.monotonic()
                print(f"reading the journal, {min(100, 100 * row.n // last)} %", file=sys.stderr, flush=True)
            if row.round is None or (self._round is not None and row.round != self._round):
                continue
            self.known = True
            if row.type in TYPES:
                yield Timed(row.at_ms, row.round, decode_fact(row.body))


def _watched(totals: Iterator[Totals], wrong: list[str]) -> Iterator[Totals]:
    """The same rows; what does not add up goes into ``wrong``."""
    for row in totals:
        if row.agrees is False:
            wrong.append(
                f"round {row.round}: its rows ({row.stake} staked, {row.returned} returned, {row.players} players) "
                "are not what the table announced; check the journal: dealerd journal verify"
            )
        yield row


def _explain_nothing(args: argparse.Namespace, loaded: Loaded, facts: _Facts) -> None:
    """Why there are no rows. Raises ``UsageError`` unless there simply were no such bets."""
    if not facts.known:
        raise UsageError(f"there is no round {args.round} in {loaded.journal}")
    if loaded.config.book() is None:
        raise UsageError(
            f'{args.table}: decisions = "platform": the platform keeps the bets, this table has no record'
        )
    print("no such bets", file=sys.stderr)


def _write(rows: Iterator[BetRow | Totals], fields: tuple[str, ...], form: str, out: TextIO) -> int:
    """JSON Lines, or RFC 4180 with every cell quoted and none that a spreadsheet takes for a formula."""
    names = ("time", *fields[1:])
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    if form == "csv":
        writer.writerow(names)
    count = 0
    for row in rows:
        values = [iso_ms(row.at_ms), *row[1:]]
        if form == "json":
            out.write(msgspec.json.encode(dict(zip(names, values, strict=True))).decode() + "\n")
        else:
            writer.writerow([cell(str(value).lower() if isinstance(value, bool) else value) for value in values])
        count += 1
    return count
