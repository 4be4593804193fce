"""The writer's journal: facts, the frames made of them and command replies, durable before anyone sees them.

One process and one thread own a ``Journal``. A method that raises has stored nothing and changed nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import struct
from collections.abc import Callable, Collection, Iterator, Sequence
from types import TracebackType
from typing import Any, Final, Literal, Self

import msgspec

from controller.journal import chain, files, schema, succession
from controller.journal.database import Batch, Database
from controller.journal.errors import JournalBusy, JournalDamaged, JournalError, JournalFull
from controller.journal.lock import WriterLock
from controller.journal.older import Older
from controller.journal.records import CommandRecord, FactRow, Frame, Head

__all__ = [
    "COMMANDS_KEPT_MS",
    "TRANSACTIONS_KEPT_MS",
    "FOLD_PAGES",
    "CommandRecord",
    "FactRow",
    "Frame",
    "Journal",
    "JournalBusy",
    "JournalDamaged",
    "JournalError",
    "JournalFull",
]

COMMANDS_KEPT_MS: Final = 120 * 24 * 3600 * 1000
"""How long a command's reply is kept for its repeat, in milliseconds."""
TRANSACTIONS_KEPT_MS: Final = 124 * 24 * 3600 * 1000
"""How long a transaction is known, in milliseconds: four months of any length."""

OnCommit = Callable[[Literal["before_commit", "after_commit"]], None]
"""Called on both sides of each append's commit, to stop a test there. Raising before it rolls the append back."""

FOLD_PAGES: Final = 256
"""Pages of 4 KiB that are worth a step of ``fold``: 1 MiB, some milliseconds."""

FORGET_ROWS: Final = 500
"""Rows that are worth a step of ``forget``."""

_DAY_MS: Final = 24 * 3600 * 1000
_SPENT: Final = "SELECT id FROM transactions WHERE id IN (SELECT value FROM json_each(?))"
_PAGE: Final = 500
_FEED: Final = re.compile(r"[0-9a-f]{32}")


def _first_hash(meta: dict[str, Any]) -> bytes:
    """What the first fact of the file follows."""
    if meta["first_n"] == 1:
        return chain.genesis(meta["genesis_feed"], meta["table"])
    first: bytes = meta["first_hash"]
    return first


class Journal:
    """The open journal of one table, with the only right to write to it."""

    def __init__(
        self, database: Database, lock: WriterLock, path: str, meta: dict[str, Any], on_commit: OnCommit | None
    ) -> None:
        """Use ``create_or_open``."""
        self._database = database
        self._lock = lock
        self._path = path
        self._on_commit = on_commit
        self._feed: str = meta["feed"]
        self._table: str = meta["table"]
        self._sent_seq: int = meta["sent_seq"]
        self._stored_sent_seq = self._sent_seq
        last = database.rows("SELECT n, epoch, hash FROM facts ORDER BY n DESC LIMIT 1")
        self._meta = meta
        head = (meta["first_n"] - 1, meta.get("first_epoch", 0), _first_hash(meta))
        self._last_n: int
        self._last_epoch: int
        self._last_hash: bytes
        self._last_n, self._last_epoch, self._last_hash = last[0] if last else head
        self._swept = ""  # how far ``forget`` has looked through the transactions
        sql = "SELECT coalesce(max(seq), ?) FROM outbox"
        self._last_seq: int = database.rows(sql, (meta["first_seq"] - 1,))[0][0]
        self._older = Older(path, meta)
        if len(self._last_hash) != 32 or not 0 <= self._sent_seq <= self._last_seq:
            raise JournalDamaged(f"journal {path}: its end is missing or changed; run: dealerd journal verify {path}")

    @classmethod
    def create_or_open(
        cls,
        path: str | os.PathLike[str],
        *,
        table: str,
        now_ms: int,
        feed: str | None = None,
        on_commit: OnCommit | None = None,
    ) -> Self:
        """Open the journal of ``table`` at ``path`` for writing, or make it.

        ``now_ms`` is UTC in milliseconds, kept as the time of creation. ``feed`` is 32 lower-case hex digits; a
        new journal gets a random one if it is None, an existing one must match. Raises ``JournalBusy`` if another
        process has it open, ``JournalDamaged`` if the file is not a sound journal, ``JournalError`` if it belongs
        to another table or feed, others may read it, or it cannot be opened. The chain is not walked: ``verify``.
        """
        if feed is not None and not _FEED.fullmatch(feed):
            raise JournalError(f"feed {feed!r}: 32 lower-case hex digits are needed")
        # Two names of one file must meet at one lock.
        real = os.path.realpath(path)
        if not os.path.isdir(os.path.dirname(real)):
            raise JournalError(f"journal {path}: there is no directory {os.path.dirname(real)}")
        with contextlib.ExitStack() as stack:
            lock = WriterLock(real)
            stack.callback(lock.close)
            if not os.path.exists(real):
                files.create(real, feed=feed or os.urandom(16).hex(), table=table, now_ms=now_ms)
            files.require_private(real)
            database = Database(real, writable=True)
            stack.callback(database.close)
            meta = schema.read_meta(database, real)
            database.use_wal()
            schema.complete(database)
            for key, wanted in (("table", table), ("feed", feed)):
                if wanted is not None and meta[key] != wanted:
                    raise JournalError(f"journal {path}: it belongs to {key} {meta[key]!r}, not {wanted!r}")
            journal = cls(database, lock, real, meta, on_commit)
            stack.pop_all()
        return journal

    @property
    def feed_id(self) -> str:
        """The feed's id: 32 lower-case hex digits."""
        return self._feed

    @property
    def table(self) -> str:
        """The table's id."""
        return self._table

    @property
    def path(self) -> str:
        """Where the journal lies, links resolved."""
        return self._path

    @property
    def last_n(self) -> int:
        """The newest fact's number, 0 if there is none."""
        return self._last_n

    @property
    def last_seq(self) -> int:
        """The newest frame's number, 0 if there is none."""
        return self._last_seq

    @property
    def last_epoch(self) -> int:
        """The newest fact's epoch, 0 if there is none."""
        return self._last_epoch

    @property
    def head(self) -> Head:
        """Where this file begins."""
        return Head.of(self._meta)

    @property
    def last_hash(self) -> bytes:
        """The newest fact's hash (32 bytes), or the hash the first one will follow."""
        return self._last_hash

    @property
    def sent_seq(self) -> int:
        """The newest frame known to be sent. After a crash it may be older than the truth, never newer."""
        return self._sent_seq

    @property
    def oldest_seq(self) -> int:
        """The oldest frame of this feed that is kept, ``last_seq + 1`` if none: ``since`` is too old if it is below
        this minus 1. Frames before a restore bear the id of another feed."""
        oldest: int | None = self._database.rows("SELECT min(seq) FROM outbox")[0][0]
        after: int = self._meta["feed_after_seq"]
        return max(self._last_seq + 1 if oldest is None else oldest, after + 1)

    def append(
        self,
        facts: Sequence[FactRow],
        frames: Sequence[Frame],
        *,
        command: CommandRecord | None = None,
        transactions: Sequence[str] = (),
    ) -> None:
        """Store facts, the frames made of them and the reply that reports them: all on disk, or nothing.
        ``transactions``: ids in those facts by which ``spent`` shall find them.

        ``n`` and ``seq`` must follow the last ones without a gap; each frame's ``n`` is one of ``facts``, in their
        order. Raises ``JournalFull`` if the disk is full, ``JournalError`` for a gap, a repeated command id or
        any other failure; after a device error every later append is refused until the journal is opened anew.
        """
        rows = self._chained(facts, frames)
        batches: list[Batch] = []
        if rows:
            batches.append((schema.INSERT_FACT, rows))
        if frames:
            batches.append((schema.INSERT_FRAME, frames))
        if command is not None:
            batches.append((schema.INSERT_COMMAND, (command,)))
        if transactions and facts:
            day = facts[-1].at_ms // _DAY_MS
            # In order: neighbours share a page of the index.
            batches.append((schema.INSERT_TRANSACTION, [(id_, day) for id_ in sorted(transactions)]))
        if not batches:
            return
        sent = self._sent_seq
        if sent != self._stored_sent_seq:
            batches.append((schema.UPDATE_SENT, ((sent,),)))
        self._database.write(batches, self._before_commit if self._on_commit else None)
        self._stored_sent_seq = sent
        if rows:
            self._last_n, self._last_epoch, self._last_hash = facts[-1].n, facts[-1].epoch, rows[-1][-1]
        if frames:
            self._last_seq = frames[-1].seq
        if self._on_commit:
            self._on_commit("after_commit")

    def _before_commit(self) -> None:
        if self._on_commit:
            self._on_commit("before_commit")

    def _chained(self, facts: Sequence[FactRow], frames: Sequence[Frame]) -> list[tuple[Any, ...]]:
        """The facts' rows with their hashes, after the checks of ``append``."""
        for seq, frame in enumerate(frames, self._last_seq + 1):
            if frame.seq != seq:
                raise JournalError(f"journal {self._path}: the next frame is seq={seq}, not seq={frame.seq}")
        rows = []
        previous = self._last_hash
        used = 0
        for n, fact in enumerate(facts, self._last_n + 1):
            if fact.n != n:
                raise JournalError(f"journal {self._path}: the next fact is n={n}, not n={fact.n}")
            first = used
            while used < len(frames) and frames[used].n == n:
                used += 1
            try:
                previous = chain.link(previous, fact, frames[first:used])
            except (struct.error, TypeError, AttributeError, UnicodeError) as error:
                raise JournalError(f"journal {self._path}: fact n={n} is not storable") from error
            rows.append((*fact, previous))
        if used != len(frames):
            seq, n, _ = frames[used]
            raise JournalError(
                f"journal {self._path}: frame seq={seq} belongs to n={n}, which is not with it in order"
            )
        return rows

    def mark_sent(self, seq: int) -> None:
        """Note that all frames up to ``seq`` were sent. Stored with the next append and at the close, so a crash
        can only cause repeats. Raises ``JournalError`` if ``seq`` was never stored."""
        if seq > self._last_seq:
            raise JournalError(f"journal {self._path}: frame seq={seq} cannot be sent, the last is {self._last_seq}")
        self._sent_seq = max(self._sent_seq, seq)

    def unsent(self) -> Iterator[Frame]:
        """The frames after ``sent_seq`` at the first step, in order; at start they go out first, unchanged."""
        seq = self._sent_seq
        while page := self.frames_since(seq, _PAGE):
            yield from page
            seq = page[-1].seq

    def frames_since(self, seq: int, limit: int) -> list[Frame]:
        """At most ``limit`` frames after ``seq``, in order."""
        rows = self._database.rows(
            "SELECT seq, n, frame FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?", (seq, max(limit, 0))
        )
        return [Frame(*row) for row in rows]

    def facts(self, from_n: int = 1) -> Iterator[FactRow]:
        """The facts from ``from_n`` on, in order. Read in pages, so appending meanwhile is allowed."""
        sql = f"SELECT {schema.FACT_COLUMNS} FROM facts WHERE n >= ? ORDER BY n LIMIT {_PAGE}"
        while rows := self._database.rows(sql, (from_n,)):
            for row in rows:
                yield FactRow(*row)
            from_n = rows[-1][0] + 1

    def hash_of(self, n: int) -> bytes | None:
        """The chain's hash after fact ``n`` (32 bytes), None if there is no such fact."""
        rows = self._database.rows("SELECT hash FROM facts WHERE n = ?", (n,))
        return rows[0][0] if rows else None

    def command(self, id: str) -> CommandRecord | None:  # noqa: A002 -- the word of the wire format
        """The stored answer to the command ``id``, None if it was never answered or is pruned."""
        for database in (self._database, *self._older.databases):
            rows = database.rows("SELECT id, digest, reply, at_ms FROM commands WHERE id = ?", (id,))
            if rows:
                return CommandRecord(*rows[0])
        return None

    def spent(self, transactions: Collection[str]) -> frozenset[str]:
        """Those of ``transactions`` that were stored with facts, and are not forgotten."""
        if not transactions:
            return frozenset()
        asked = msgspec.json.encode(sorted(set(transactions))).decode()
        files = (self._database, *self._older.databases)
        return frozenset(id_ for database in files for (id_,) in database.rows(_SPENT, (asked,)))

    def forget(self, now_ms: int, limit: int = FORGET_ROWS) -> int:
        """A step of forgetting what is older than ``COMMANDS_KEPT_MS`` and ``TRANSACTIONS_KEPT_MS``; returns how
        many answers and transactions went. Looks at ``limit`` rows of each at most; to be called while idle."""
        database, batches, count = self._database, list[Batch](), 0
        before_ms = now_ms - COMMANDS_KEPT_MS
        old = database.rows("SELECT id FROM commands WHERE at_ms < ? ORDER BY at_ms LIMIT ?", (before_ms, limit))
        if old:
            batches.append(("DELETE FROM commands WHERE id = ?", old))
        page = database.rows(
            "SELECT id, day FROM transactions WHERE id > ? ORDER BY id LIMIT ?", (self._swept, limit)
        )
        self._swept = page[-1][0] if len(page) == limit else ""
        day = (now_ms - TRANSACTIONS_KEPT_MS) // _DAY_MS
        past = [(id_,) for id_, stored in page if stored < day]
        if past:
            batches.append(("DELETE FROM transactions WHERE id = ?", past))
        if batches:
            database.write(batches)
            count = len(old) + len(past)
        return count

    def fold(self, pages: int = FOLD_PAGES) -> bool:
        """Copy SQLite's log into the main file if at least ``pages`` wait; true if it did something. To be called
        often, between inputs, so that no commit has to do it. A full disk is left for the next append to tell."""
        try:
            return self._database.fold(max(pages, 1))
        except JournalFull:
            return False

    def succeed(self, label: str, snapshot: bytes, now_ms: int) -> str:
        """Seal the file and go on in a new one that begins with its last hash; returns the sealed file's path.

        The sealed file is named ``<journal>.<label>``, and nothing is written to it any more. ``snapshot`` is the
        table's state now, which the new file's chain begins with, too. Between the two names there is no moment at
        which a kill loses anything. Raises ``JournalBusy`` if somebody reads, ``JournalError`` if there is nothing
        to seal or unsent frames are left; the journal then goes on as it was.
        """
        if self._last_n < self.head.first_n or self._sent_seq != self._last_seq:
            raise JournalError(f"journal {self._path}: nothing to seal, or frames that were not sent")
        sealed = f"{self._path}.{label}"
        more = succession.head_of_next(
            self._meta,
            sealed=sealed,
            n=self._last_n,
            seq=self._last_seq,
            epoch=self._last_epoch,
            last=self._last_hash,
            snapshot=snapshot,
        )
        draft = files.make_draft(self._path, feed=self._feed, table=self._table, now_ms=now_ms, more=more)
        try:
            succession.seal(self._database, self._path, n=self._last_n, seq=self._sent_seq, last=self._last_hash)
            files.put_in_place(draft, self._path, sealed)
        except BaseException:
            succession.unseal(self._database)
            raise
        self._database.close()
        self._older.close()
        database = Database(self._path, writable=True)
        try:
            database.use_wal()
            schema.complete(database)
            meta = schema.read_meta(database, self._path)
        except BaseException:
            database.close()
            raise
        Journal.__init__(self, database, self._lock, self._path, meta, self._on_commit)
        return sealed

    def checkpoint(self) -> bool:
        """Move SQLite's log into the main file and empty it, before the file is copied or closed. False if a reader
        kept some of it."""
        return self._database.checkpoint()

    def close(self) -> None:
        """Store what was sent, close the files, release the lock. A second call does nothing."""
        with contextlib.ExitStack() as stack:
            stack.callback(self._lock.close)
            stack.callback(self._database.close)
            stack.callback(self._older.close)
            # A full or failing disk costs here only repeats of sent frames and a longer log.
            with contextlib.suppress(JournalError):
                if self._sent_seq != self._stored_sent_seq:
                    self._database.write([(schema.UPDATE_SENT, ((self._sent_seq,),))])
                    self._stored_sent_seq = self._sent_seq
                self._database.checkpoint()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
