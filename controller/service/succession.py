"""From one month's journal to the next: when, with which state, and how a start finds its way back through them."""

from __future__ import annotations

import logging
import os
from datetime import UTC, datetime

import msgspec

from controller import frames, public
from controller.facts import decode_fact
from controller.journal.errors import JournalError
from controller.journal.reader import open_read_only
from controller.journal.store import Journal
from controller.public import State
from controller.service.freeze import FreezeError, freeze, thaw
from controller.table.state import TableState
from controller.table.table import Table

#: Phases in which no card is due and no bet can stand.
_AT_REST = frozenset({"closed", "shoe_change"})


log = logging.getLogger("dealerd.table")


class _Snapshot(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    state: str
    public: State


def due(journal: Journal, state: TableState, now_ms: int) -> bool:
    """True if the month in which this file was begun is over, and the table is at rest."""
    posted = state.betting is None or not state.betting.unposted
    began, now = _month(journal.head.created_ms), _month(now_ms)
    return now > began and state.phase in _AT_REST and posted and journal.last_n >= journal.head.first_n


def succeed(journal: Journal, table: Table, public_state: State, now_ms: int) -> str:
    """Seal the file under the name of its month and go on in the next; returns the sealed file's path.

    Raises ``FreezeError`` if the state has no frozen form, ``JournalError`` if the file cannot be sealed now.
    """
    frozen = freeze(table.state)
    if thaw(frozen, like=Table(table.setting).state) != table.state:
        raise FreezeError("the state did not come back equal from its frozen form")
    snapshot = msgspec.json.encode(_Snapshot(state=frozen.decode(), public=public_state))
    return journal.succeed(_month(journal.head.created_ms), snapshot, now_ms)


def retire(path: str, keep_months: int, now_ms: int) -> list[str]:
    """Delete the sealed files of the journal at ``path`` that ended more than ``keep_months`` months ago; returns
    their names. 0 keeps all."""
    if not keep_months:
        return []
    gone, ended = [], ""
    with open_read_only(path) as journal:
        ended = _month(journal.head.created_ms)
        for one in journal.older():
            if _months(_month(now_ms)) - _months(ended) > keep_months:
                gone.append(one.path)
            ended = _month(one.head.created_ms)
    for name in reversed(gone):
        os.unlink(name)
        log.warning("deleted, as [record] keep_months = %d asks: %s", keep_months, name)
    return gone


def thaw_snapshot(snapshot: bytes, *, like: TableState) -> tuple[TableState, State]:
    """Table and public state of ``succeed``. Raises ``FreezeError``."""
    try:
        found = msgspec.json.decode(snapshot, type=_Snapshot)
    except msgspec.MsgspecError as error:
        raise FreezeError("the head of the journal holds no state") from error
    return thaw(found.state.encode(), like=like), found.public


def fold_older(path: str, table: Table) -> tuple[TableState, State]:
    """Both states before the file at ``path``, from the facts and frames of all sealed files before it.

    Raises ``JournalError`` if they are not all there, and what ``replay`` raises.
    """
    with open_read_only(path) as journal:
        first = journal.head.first_n
        names = [one.path for one in journal.older()]
    state = public.initial()
    n = 0
    for name in reversed(names):
        with open_read_only(name) as older:
            if older.head.first_n != n + 1:
                break
            table.replay(decode_fact(row.body) for row in older.facts())
            for frame in older.frames_since(0, 1 << 62):
                public.apply(state, frames.decode_frame(frame.frame))
            n = older.last_n
    if n != first - 1:
        raise JournalError(
            f"journal {path}: the state in its head is of another program, and sealed files before it are missing: "
            "put them back beside it"
        )
    return table.state, state


def _month(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m")


def _months(month: str) -> int:
    """Counted from the year 0."""
    return int(month[:4]) * 12 + int(month[5:])
