"""Answers to ``history``, ``statistics``, ``shoe_report`` and ``settlement`` of earlier rounds, from a journal that
may be written meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from controller import commands
from controller.facts import decode_fact
from controller.frames import iso_ms
from controller.journal.reader import JournalReader, open_read_only
from controller.journal.records import FactRow
from controller.record.bets import TYPES as BET_TYPES
from controller.record.bets import BetRecord, Timed, bet_rows
from controller.record.rounds import RoundRecord, summary
from controller.record.settlements import Pages
from controller.record.shoes import shoe_report
from controller.record.statistics import TYPES, Statistics
from controller.record.told import Json, tell
from controller.refusal import Refusal

#: Rounds in one answer to ``history``.
PAGE: Final = 200
#: Types that can say something of a round after the next one has begun.
_LATER: Final = ("card_corrected", "result_corrected")


def answer(journal: JournalReader, args: commands.Args, statistics: Statistics, pages: Pages | None = None) -> Json:
    """The data of the answer. ``statistics`` is brought up to date first; ``pages`` know where they are. Raises
    ``Refusal`` (``not_found``, ``bad_args``)."""
    match args:
        case commands.Settlement(round=round_, version=version, after=after):
            opened = journal.mark("betting_opened", round=round_)
            end = None if opened is None else _end(journal, opened.n)
            return (pages or Pages()).page(journal, round_, version, after, end)
        case commands.Bets(round=round_, player=player):
            return {"rows": list(_bets_of(journal, round_, player))}
        case commands.History(round=str(round_)):
            return whole_round(journal, round_)
        case commands.History(after=after, limit=limit):
            return {"rounds": list(summaries(journal, after, max(1, min(limit, PAGE))))}
        case commands.Statistics(by=by):
            for one in files_from(journal, statistics.n + 1):
                statistics.take(one.facts(statistics.n + 1, types=TYPES))
            return {"by": by, "upto_n": statistics.n, "groups": statistics.as_json(by)}
        case commands.ShoeReport(shoe=shoe):
            return one_shoe(journal, shoe)
    raise TypeError(f"{args} is no query of the record")


def _bets_of(journal: JournalReader, round_: str, player: str) -> Iterator[Json]:
    """A player's bet record of one round. Raises ``Refusal`` (``not_found``)."""
    for one in _all(journal):
        first = one.mark("betting_opened", round=round_)
        if first is None:
            continue
        game = _context(one, first.n)["game"]
        stored = one.facts(first.n, to_n=_end(one, first.n), round=round_, types=BET_TYPES)
        timed = (Timed(row.at_ms, round_, decode_fact(row.body)) for row in stored)
        for row in bet_rows(BetRecord(one.table, game), timed, player):
            found = row._asdict()
            yield {"time": iso_ms(found.pop("at_ms")), **found}
        return
    raise Refusal("not_found", f"the journal holds no round {round_[:64]!r}")


def whole_round(journal: JournalReader, round_: str) -> Json:
    """Everything about one round. Raises ``Refusal`` (``not_found``)."""
    for one in _all(journal):
        first = one.mark("betting_opened", round=round_)
        if first is not None:
            return _round(one, first, journal).finish()
    raise Refusal("not_found", f"the journal holds no round {round_[:64]!r}")


def summaries(journal: JournalReader, after: str | None, limit: int) -> Iterator[Json]:
    """At most ``limit`` rounds, newest first; those before round ``after`` if it is named."""
    before = None
    for one in _all(journal):
        if after is not None:
            found = one.mark("betting_opened", round=after)
            if found is None:
                continue
            before, after = found.n, None
        while limit > 0 and (first := one.mark("betting_opened", before=before)) is not None:
            yield summary(_round(one, first, journal).finish())
            before = first.n
            limit -= 1
        if limit == 0:
            return
    if after is not None:
        raise Refusal("not_found", f"the journal holds no round {after[:64]!r}")


def one_shoe(journal: JournalReader, shoe: str | None) -> Json:
    """The report of a shoe, the newest if none is named. Raises ``Refusal`` (``not_found``)."""
    for one in _all(journal):
        loaded = one.mark("shoe_loaded")
        while loaded is not None and shoe is not None and loaded.shoe != shoe:
            loaded = one.mark("shoe_loaded", before=loaded.n)
        if loaded is not None:
            following = one.mark("shoe_loaded", after=loaded.n)
            rows = one.facts(loaded.n, to_n=following.n - 1 if following else None, shoe=loaded.shoe)
            return shoe_report(tell(row) for row in rows)
    raise Refusal("not_found", f"the journal holds no shoe {shoe[:64]!r}" if shoe else "no shoe was loaded yet")


def _all(journal: JournalReader) -> Iterator[JournalReader]:
    """This file and the sealed ones before it, the newest first. A file ends between shoes."""
    yield journal
    yield from journal.older()


def files_from(journal: JournalReader, n: int) -> Iterator[JournalReader]:
    """The files that hold facts from ``n`` on, the oldest first."""
    names: list[str] = []
    for one in journal.older() if journal.head.first_n > n else ():
        names.append(one.path)
        if one.head.first_n <= n:
            break
    for name in reversed(names):
        with open_read_only(name) as older:
            yield older
    yield journal


def _mark(journal: JournalReader, kind: str, n: int) -> FactRow | None:
    """The newest fact of a kind before ``n``, in this file or those before it."""
    for one in _all(journal):
        found = one.mark(kind, before=n)
        if found is not None:
            return found
    return None


def _round(journal: JournalReader, first: FactRow, newest: JournalReader) -> RoundRecord:
    record = RoundRecord(tell(first), dealer=_dealer(journal, first.n), context=_context(journal, first.n))
    end = _end(journal, first.n)
    for row in journal.facts(first.n + 1, to_n=end, round=first.round):
        record.add(tell(row))
    for row in _later(journal, first, end):
        record.add(tell(row))
    if (
        end is None and newest.head.first_n > journal.last_n
    ):  # the last round of its file may be corrected in the next
        for one in files_from(newest, journal.last_n + 1):
            for row in one.facts(one.head.first_n, to_n=_end(one, one.head.first_n - 1), round=first.round):
                if row.n > journal.last_n:
                    record.add(tell(row))
    sealed = any(card["card"] == "**" for card in record.data["cards"])
    ended = journal.mark("shoe_ended", after=first.n) if sealed else None
    if ended is not None and ended.shoe == first.shoe:
        record.open_sealed(tell(ended).data["burn_keys"], ended.at_ms)
    return record


def _end(journal: JournalReader, n: int) -> int | None:
    """The last fact before the next round or shoe; None while there is none."""
    found = [journal.mark(kind, after=n) for kind in ("betting_opened", "shoe_loaded")]
    return min((row.n - 1 for row in found if row is not None), default=None)


def _later(journal: JournalReader, first: FactRow, end: int | None) -> list[FactRow]:
    found: list[FactRow] = []
    for kind in _LATER if end is not None else ():
        row = journal.mark(kind, round=first.round, after=end)
        while row is not None:
            found.append(row)
            row = journal.mark(kind, round=first.round, after=row.n)
    return sorted(found)


def _dealer(journal: JournalReader, n: int) -> str | None:
    """Who was logged on as the dealer when fact ``n`` came."""
    on, off = (_mark(journal, kind, n) for kind in ("dealer_logged_on", "dealer_logged_off"))
    if on is None or (off is not None and off.n > on.n):
        return None
    dealer: str | None = tell(on).data.get("dealer")
    return dealer


def _context(journal: JournalReader, n: int) -> Json:
    """Under which program, rules and shift fact ``n`` came."""
    started, shift = (_mark(journal, kind, n) for kind in ("table_started", "shift_started"))
    context: Json = {"table": journal.table, "game": None, "epoch": None, "program": None, "config_digest": None}
    if started is not None:
        data = msgspec.to_builtins(decode_fact(started.body))
        config = msgspec.json.decode(data["config"] or "{}")
        context |= {"game": config.get("game", {}).get("game"), "epoch": data["epoch"]}
        context |= {"program": data["program"], "config_digest": data["config_digest"]}
    context["shift"] = None if shift is None else {"n": shift.n, "started_by": tell(shift).data["by"]}
    return context
