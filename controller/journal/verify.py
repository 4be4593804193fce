"""Check a journal from its first fact to its last. Reads only; never repairs."""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from controller.journal import chain, schema
from controller.journal.database import Database, Row
from controller.journal.errors import JournalBusy, JournalDamaged, JournalError
from controller.journal.records import FactRow, Frame

_PAGE: Final = 1_000
_BEFORE_ALL: Final = -(2**63)

Progress = Callable[[int, int], None]
"""Called now and then with the facts checked and the newest fact's number."""

Visit = Callable[[FactRow, Sequence[Frame], bytes], None]
"""Called for each sound fact with its frames and the chain's hash after it. Raising ends the walk."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the chain that an earlier walk has reached: the last fact and frame, and the hash there."""

    n: int
    seq: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What was found. With a fault, the counts and the last values are those of the good part before it."""

    path: str
    table: str | None
    feed: str | None
    facts: int
    frames: int
    last_n: int
    last_seq: int
    last_hash: str | None
    """Hexadecimal; the genesis hash if there are no facts; None if the head is not readable."""
    first_n: int
    """1, or where the file continues another one whose last hash is ``previous_hash`` (hexadecimal)."""
    previous_hash: str | None
    fault: str | None
    """The first fault and the last good fact, in words; None if there is none."""

    @property
    def ok(self) -> bool:
        """True if nothing is wrong."""
        return self.fault is None


class _Fault(Exception):
    """A sentence for the report."""


def verify(
    path: str | os.PathLike[str],
    *,
    expect_last: tuple[int, str] | None = None,
    progress: Progress | None = None,
    start: Place | None = None,
    visit: Visit | None = None,
    pages: bool = True,
) -> VerifyReport:
    """Walk the journal at ``path``, also while its service writes to it.

    Checked: that it is a journal, that ``n`` and ``seq`` are dense, that each fact with its frames has the hash
    the chain asks for, that nothing stands beside the chain, and SQLite's own integrity check of every page.

    Not visible from the file alone: facts missing at the end (a cut tail is a shorter sound chain; SQLite itself
    drops a damaged end of its log without a word) and a chain recomputed by someone who may write the file. Keep
    a report's ``last_n`` and ``last_hash`` elsewhere and give them as ``expect_last`` later: fact ``n`` must then
    exist and have that hash, however much was appended since. Command replies are not part of the chain.

    ``start``: go on where an earlier walk of this journal ended. ``visit`` sees every sound fact. Without ``pages``
    SQLite's own check is left out, which reads the whole file at once.

    Raises ``JournalError`` if the file is missing, not readable, or of another version.
    """
    real = os.path.realpath(path)
    if not os.path.isfile(real):
        raise JournalError(f"there is no journal {path}")
    if not os.access(real, os.R_OK):
        raise JournalError(f"journal {path}: you may not read it")
    try:
        database = Database(real, writable=False)
    except JournalBusy:
        raise
    except JournalError as error:
        return VerifyReport(real, None, None, 0, 0, 0, 0, None, 1, None, f"{error}; last good fact n=0")
    with contextlib.closing(database):
        walk = _Walk(database, real, expect_last, visit, pages)
        return walk.report(progress, start)


class _Walk:
    """One pass over a journal."""

    def __init__(
        self,
        database: Database,
        path: str,
        expect_last: tuple[int, str] | None,
        visit: Visit | None,
        pages: bool,
    ) -> None:
        self._database = database
        self._path = path
        self._expect = expect_last
        self._visit = visit
        self._pages = pages
        self._table: str | None = None
        self._feed: str | None = None
        self._hash: bytes | None = None
        self._n = 0
        self._seq = 0
        self._base_n = self._base_seq = 0
        self._previous: bytes | None = None

    def report(self, progress: Progress | None, start: Place | None) -> VerifyReport:
        fault = None
        try:
            self._check(progress, start)
        except JournalBusy:
            raise
        except (_Fault, JournalError) as error:
            if isinstance(error, JournalError) and not isinstance(error, JournalDamaged) and self._hash is None:
                raise
            fault = f"{error}; last good fact n={self._n}"
        return VerifyReport(
            path=self._path,
            table=self._table,
            feed=self._feed,
            facts=self._n - self._base_n,
            frames=self._seq - self._base_seq,
            first_n=self._base_n + 1,
            previous_hash=self._previous.hex() if self._previous is not None else None,
            last_n=self._n,
            last_seq=self._seq,
            last_hash=self._hash.hex() if self._hash is not None else None,
            fault=fault,
        )

    def _check(self, progress: Progress | None, start: Place | None) -> None:
        meta = schema.read_meta(self._database, self._path)
        self._table, self._feed = meta["table"], meta["feed"]
        self._hash = self._first_hash(meta)
        self._base_n, self._base_seq = self._n, self._seq = meta["first_n"] - 1, meta["first_seq"] - 1
        self._previous = meta.get("previous_hash")
        self._meet_expectation(self._hash)
        if start is not None:
            self._go_to(start)
        while self._page():
            if progress:
                progress(self._n, self._database.rows("SELECT coalesce(max(n), 0) FROM facts")[0][0])
        if self._expect and self._expect[0] > self._n:
            raise _Fault(
                f"the journal ends at n={self._n}, but fact n={self._expect[0]} was known: its end is missing"
            )
        sealed = meta.get("sealed_n")
        if sealed is not None and (sealed, meta.get("sealed_hash")) != (self._n, self._hash):
            raise _Fault(f"the file was sealed at fact n={sealed}, but ends at n={self._n} or with another hash")
        if not self._pages:
            return
        problem = self._database.rows("PRAGMA integrity_check(1)")[0][0]
        if problem != "ok":
            raise _Fault(f"SQLite finds damage: {' '.join(problem.split())}")

    def _first_hash(self, meta: dict[str, Any]) -> bytes:
        if meta["first_n"] == 1:
            return chain.genesis(meta["genesis_feed"], meta["table"])
        self._n, self._seq = meta["first_n"] - 1, meta["first_seq"] - 1
        first = chain.successor(meta["previous_hash"], meta["first_n"], meta["first_seq"], meta["snapshot"])
        if first != meta["first_hash"]:
            raise _Fault("the head of the file was changed: it does not follow from the file before it")
        return first

    def _go_to(self, start: Place) -> None:
        found = self._database.rows("SELECT hash FROM facts WHERE n = ?", (start.n,))
        if not found or found[0][0] != start.hash:
            raise _Fault(f"fact n={start.n} is not the one that was checked before: the journal was rewritten")
        self._n, self._seq, self._hash = start.n, start.seq, start.hash

    def _page(self) -> bool:
        """Check the next facts in one view of the journal. False when all are done, and nothing is left over."""
        start = self._n
        with self._database.reading():
            sql = f"SELECT {schema.FACT_COLUMNS}, hash FROM facts WHERE n > ? ORDER BY n LIMIT {_PAGE}"
            facts = self._database.each(sql, (start if start > self._base_n else _BEFORE_ALL,))
            sql = "SELECT seq, n, frame FROM outbox WHERE seq > ? ORDER BY seq"
            frames = self._database.each(sql, (self._seq if self._seq > self._base_seq else _BEFORE_ALL,))
            with contextlib.closing(facts), contextlib.closing(frames):
                queue = _Frames(frames)
                # Row by row, so that damage inside the page still leaves the exact last good fact.
                for row in facts:
                    self._fact(row, queue)
                if self._n == start and (left := queue.peek()) is not None:
                    raise _Fault(f"frame seq={left.seq} belongs to fact n={left.n}, which does not exist")
            if self._n == start:
                sent = schema.read_meta(self._database, self._path)["sent_seq"]
                if not 0 <= sent <= self._seq:
                    raise _Fault(f"frames up to seq={sent} were sent, but the last one here is seq={self._seq}")
        return self._n > start

    def _fact(self, row: Row, queue: _Frames) -> None:
        assert self._hash is not None
        fact, stored = FactRow(*row[:-1]), row[-1]
        if fact.n != self._n + 1:
            raise _Fault(f"fact n={self._n + 1} is missing or out of order: n={fact.n} stands in its place")
        frames: list[Frame] = []
        while (frame := queue.peek()) is not None and frame.n == fact.n:
            if frame.seq != self._seq + len(frames) + 1:
                raise _Fault(f"frame seq={self._seq + len(frames) + 1} of fact n={fact.n} is missing or out of order")
            frames.append(frame)
            queue.drop()
        try:
            computed = chain.link(self._hash, fact, frames)
        except (struct.error, TypeError, AttributeError, UnicodeError) as error:
            raise _Fault(f"fact n={fact.n} or a frame of it was changed: it is not well formed") from error
        if computed != stored:
            raise _Fault(f"fact n={fact.n}, a frame of it or its hash was changed, or does not belong here")
        self._n, self._seq, self._hash = fact.n, self._seq + len(frames), computed
        self._meet_expectation(computed)
        if self._visit is not None:
            self._visit(fact, frames, computed)

    def _meet_expectation(self, found: bytes) -> None:
        if self._expect and self._expect[0] == self._n and self._expect[1].lower() != found.hex():
            raise _Fault(f"fact n={self._n} has another hash than was known: the journal was rewritten")


class _Frames:
    """A cursor over the outbox that shows the next frame without taking it."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows
        self._next: Frame | None = None
        self.drop()

    def peek(self) -> Frame | None:
        return self._next

    def drop(self) -> None:
        row = next(self._rows, None)
        self._next = None if row is None else Frame(*row)
