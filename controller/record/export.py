"""Whole rounds for a regulator: every phase, card, decision, incident and person, as JSON, CSV or a readable page.

Hidden cards stay masked until their reveal, as everywhere in the record. Players are named here: what each staked,
decided and got back is part of a round (GLI-19 2.8.2).
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, TextIO

import msgspec

from controller.facts import decode_fact
from controller.frames import iso_ms
from controller.journal.reader import JournalReader
from controller.journal.records import FactRow
from controller.journal.show import cell
from controller.record import page
from controller.record.bets import TYPES, BetRecord, Timed
from controller.record.queries import whole_round
from controller.record.told import Json, person_of

Format = Literal["json", "csv", "html"]
COLUMNS: Final = ("round", "shoe", "n", "at", "event", "person", "player", "position", "card", "detail")

_CHOICES: Final = frozenset({"insurance_taken", "decisions_taken", "follows_taken"})


@dataclass(frozen=True, slots=True)
class Period:
    """Which rounds. ``since_ms`` (inclusive) and ``until_ms`` (exclusive) are UTC in milliseconds, of the round's
    beginning."""

    round: str | None = None
    shoe: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None

    def has(self, first: FactRow) -> bool:
        """True if the round that begins with ``first`` is meant."""
        return (
            (self.round is None or first.round == self.round)
            and (self.shoe is None or first.shoe == self.shoe)
            and (self.since_ms is None or first.at_ms >= self.since_ms)
            and (self.until_ms is None or first.at_ms < self.until_ms)
        )


def rounds(journal: JournalReader, period: Period) -> Iterator[Json]:
    """The whole rounds of ``period`` in order, each with its ``players`` and its place in the ``chain``."""
    first = journal.mark("betting_opened", round=period.round, after=0)
    while first is not None:
        if period.has(first):
            record = whole_round(journal, first.round or "")
            numbers = [entry["n"] for entry in record["timeline"]]
            record["chain"] = {
                "feed": journal.feed_id,
                "facts": [numbers[0], numbers[-1]],
                "last_hash": journal.hash_of(numbers[-1]).hex(),
            }
            record["players"] = _players(journal, record, numbers)
            yield record
        first = journal.mark("betting_opened", round=period.round, after=first.n)


def export(journal: JournalReader, period: Period, form: Format, out: TextIO) -> int:
    """Write the rounds and return how many.

    ``json`` is JSON Lines, a round a line. ``csv`` has a line for each event, RFC 4180, no cell that a spreadsheet
    takes for a formula. ``html`` is one page that needs nothing beside it. Raises what ``out`` raises.
    """
    count = 0
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    if form == "csv":
        writer.writerow(COLUMNS)
    elif form == "html":
        out.write(page.head(journal.table, journal.feed_id))
    for record in rounds(journal, period):
        count += 1
        if form == "json":
            out.write(_json(record) + "\n")
        elif form == "csv":
            writer.writerows([cell(value) for value in line] for line in lines(record))
        else:
            out.write(page.section(record))
    if form == "html":
        out.write(page.foot(count))
    return count


def lines(record: Json) -> Iterator[tuple[Any, ...]]:
    """A round's events as rows of ``COLUMNS``: its facts in order, then what each player staked and got."""
    for entry in record["timeline"]:
        data = dict(entry["data"])
        who = data.get("dealer") or data.get("by")
        place, card = data.pop("position", None), data.pop("card", None)
        yield (
            record["round"], record["shoe"], entry["n"], entry["at"], entry["type"], person_of(who) or who, None,
            place, card, _json(data),
        )  # fmt: skip
    for row in record["players"]:
        detail = {key: value for key, value in row.items() if key not in ("at", "what", "player")}
        yield (
            record["round"], record["shoe"], None, row["at"], row["what"], None, row["player"], row.get("line"), None,
            _json(detail),
        )  # fmt: skip


def _players(journal: JournalReader, record: Json, numbers: list[int]) -> list[Json]:
    """Stakes, choices, settlements and refunds of the round, in order."""
    if record["game"] is None:
        return []
    book = BetRecord(journal.table, record["game"])
    found: list[Json] = []
    for row in journal.facts(numbers[0], to_n=numbers[-1], round=record["round"]):
        if row.type not in TYPES and row.type not in _CHOICES:
            continue
        fact = decode_fact(row.body)
        if row.type == "decisions_taken":
            found += [
                {"at": iso_ms(row.at_ms), "what": "decision", **_plain(choice)}
                for choice in getattr(fact, "rows", ())
            ]
        for amount in book.rows(Timed(row.at_ms, row.round or "", fact)):
            values = {key: value for key, value in amount._asdict().items() if value not in (None, False)}
            del values["at_ms"], values["round"]
            found.append({"at": iso_ms(row.at_ms), **values})
    return found


def _plain(row: msgspec.Struct) -> Json:
    plain: Json = msgspec.to_builtins(row)
    return plain


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
