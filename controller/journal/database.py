"""The one module that opens databases: SQLite through apsw, its errors turned into the journal's.

Nothing else in the process may open a journal's files, not even to read a byte: closing any descriptor of a file
drops the locks SQLite holds on it (sqlite.org/howtocorrupt.html, section 2.2).
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import apsw

from controller.journal.errors import JournalBusy, JournalDamaged, JournalError, JournalFull, SQLiteTooOld

# Older versions can corrupt a WAL database when two connections write and checkpoint at once
# (sqlite.org/wal.html#walresetbug).
MIN_SQLITE: Final = (3, 51, 3)

WRITER_WAIT_MS: Final = 1_000
READER_WAIT_MS: Final = 5_000
# The caller folds the log into the database in small steps; a commit does it only if that was kept off for 16 MiB.
OVERDUE_PAGES: Final = 4_096
# The log's file keeps this much for the next commits: writing over it is cheaper than making it grow.
LOG_KEPT_BYTES: Final = 4 * 1024 * 1024

Row = tuple[Any, ...]
Batch = tuple[str, Sequence[Sequence[Any]]]

_DAMAGED: Final = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, apsw.SQLError, apsw.SchemaChangeError)
_NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT)


class Database:
    """One connection. Every method raises ``JournalError`` or a subclass, with SQLite's error as its cause."""

    def __init__(self, path: str, *, writable: bool) -> None:
        """Open ``path``, which must exist. Nothing is written before ``use_wal`` or ``write``."""
        _require_version()
        self._path = path
        self._broken: str | None = None
        self._logged = self._folded = 0  # pages: in the log, and of these in the database as well
        flags = apsw.SQLITE_OPEN_READWRITE if writable else apsw.SQLITE_OPEN_READONLY
        try:
            self._con = apsw.Connection(_name(path, writable), flags=flags | apsw.SQLITE_OPEN_URI)
        except apsw.Error as error:
            raise JournalError(f"journal {path}: cannot open it: {error}") from error
        self._con.set_busy_timeout(WRITER_WAIT_MS if writable else READER_WAIT_MS)
        self._con.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        self._con.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        if not writable:
            # Else the last reader to close asks for the lock of a writer.
            self._con.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)

    def use_wal(self) -> None:
        """Write-ahead log, each commit synced to disk before it returns."""
        mode = self.rows("PRAGMA journal_mode=WAL")[0][0]
        if mode != "wal":
            raise JournalError(f"journal {self._path}: the file system does not support SQLite's WAL mode")
        self.rows("PRAGMA synchronous=FULL")
        self.rows(f"PRAGMA journal_size_limit={LOG_KEPT_BYTES}")
        self._con.set_wal_hook(self._count_log)

    def _count_log(self, _con: apsw.Connection, _name: str, pages: int) -> int:
        """SQLite's word on the log after a commit, in place of its own checkpoints."""
        if self._folded == self._logged:  # then it begins anew, unless somebody reads: then a step comes too soon
            self._folded = 0
        self._logged = pages
        return apsw.SQLITE_OK

    def rows(self, sql: str, args: Sequence[Any] = ()) -> list[Row]:
        """All rows of one statement."""
        with self._errors("read"):
            return self._con.execute(sql, args).fetchall()

    def each(self, sql: str, args: Sequence[Any] = ()) -> Generator[Row, None, None]:
        """The rows of one statement as they are asked for. Use it up or close it soon: it holds back the log."""
        with self._errors("read"):
            yield from self._con.execute(sql, args)

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """One consistent view for the statements inside. Keep it short: it holds back the log."""
        self.rows("BEGIN")
        try:
            yield
        finally:
            with contextlib.suppress(apsw.Error):
                self._con.execute("ROLLBACK")

    def write(self, batches: Sequence[Batch], before_commit: Callable[[], None] | None = None) -> None:
        """Run all batches in one transaction: all of it is on disk when this returns, none of it if it raises.

        After a device error SQLite and the kernel no longer agree on what is on disk, so every later write is
        refused until the journal is opened again.
        """
        if self._broken:
            raise JournalError(f"journal {self._path}: closed to writing since: {self._broken}; restart the table")
        try:
            self._con.execute("BEGIN IMMEDIATE")
            for sql, rows in batches:
                self._con.executemany(sql, rows)
            if before_commit:
                before_commit()
            self._con.execute("COMMIT")
        except BaseException as error:
            failure = self._converted(error, "write") if isinstance(error, apsw.Error) else None
            self._roll_back()
            if failure is None:
                raise
            raise failure from error
        if self._logged - self._folded >= OVERDUE_PAGES:
            with contextlib.suppress(JournalError):  # what was committed is safe; the next write will tell
                self.fold(OVERDUE_PAGES)

    def _roll_back(self) -> None:
        try:
            if self._con.in_transaction:
                self._con.execute("ROLLBACK")
        except apsw.Error as error:
            self._broken = str(error)

    def fold(self, pages: int) -> bool:
        """Copy the log into the database if at least ``pages`` of it wait; true if some were copied. Its space is
        then used again. Takes the time of the pages that wait, and never waits for a reader."""
        if self._broken or self._logged - self._folded < pages:
            return False
        before = self._folded
        with self._errors("checkpoint"):
            try:
                self._logged, self._folded = self._con.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            except apsw.BusyError:
                return False
        return self._folded > before

    def checkpoint(self) -> bool:
        """Move the log into the database and empty it. False if a reader kept some of it; never waits for one."""
        if self._broken:
            return False
        with self._errors("checkpoint"):
            self._con.set_busy_timeout(0)
            try:
                self._con.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
                self._logged = self._folded = 0
            except apsw.BusyError:
                return False
            finally:
                self._con.set_busy_timeout(WRITER_WAIT_MS)
        return True

    def close(self) -> None:
        """Close the connection; a second call does nothing."""
        with self._errors("close"):
            self._con.close()

    @contextlib.contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        try:
            yield
        except apsw.Error as error:
            raise self._converted(error, doing) from error
        except UnicodeDecodeError as error:
            # The bytes themselves stay out of the message: they may be a hidden card's.
            raise JournalDamaged(f"journal {self._path}: a text in it is not UTF-8") from error

    def _converted(self, error: apsw.Error, doing: str) -> JournalError:
        if isinstance(error, apsw.ConnectionClosedError):
            return JournalError(f"journal {self._path}: cannot {doing}: it is closed")
        what = f"journal {self._path}: cannot {doing}: {error}"
        if isinstance(error, apsw.FullError):
            return JournalFull(f"{what}; free some space on its disk")
        if isinstance(error, apsw.IOError):
            no_space = self._errno() in _NO_SPACE
            if not no_space or getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_FSYNC:
                self._broken = self._broken or str(error)
            if no_space:
                return JournalFull(f"{what}; free some space on its disk")
            return JournalError(f"{what}; check the disk")
        if isinstance(error, _DAMAGED):
            self._broken = self._broken or str(error)
            return JournalDamaged(f"{what}; restore a backup")
        if isinstance(error, apsw.BusyError):
            return JournalBusy(f"{what}; end the program that holds it")
        if isinstance(error, apsw.ReadOnlyError):
            return JournalError(f"{what}; it was not closed cleanly: start its table once, or copy it with its log")
        return JournalError(what)

    def _errno(self) -> int:
        try:
            return self._con.system_errno
        except apsw.ConnectionClosedError:
            return 0


def _require_version() -> None:
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if version < MIN_SQLITE:
        need = ".".join(map(str, MIN_SQLITE))
        raise SQLiteTooOld(f"SQLite {apsw.sqlite_lib_version()} can damage a journal; apsw with {need} is needed")


def _name(path: str, writable: bool) -> str:
    uri = Path(path).absolute().as_uri()
    # On a read-only medium SQLite cannot make the index of its log; without a log and with no writer possible,
    # the file is all there is.
    frozen = not writable and not os.access(os.path.dirname(path) or ".", os.W_OK)
    return uri + "?immutable=1" if frozen and not os.path.exists(path + "-wal") else uri
