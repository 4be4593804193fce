"""Backup and restore of a journal: whole, checked, and never over another file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator

from controller.journal import schema
from controller.journal.database import Database
from controller.journal.errors import JournalDamaged, JournalError
from controller.journal.lock import WriterLock
from controller.journal.verify import VerifyReport, verify

Change = Callable[[str], None]


def backup(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> VerifyReport:
    """Write a copy of the journal ``source``, as it is at this moment, to ``target``; its service may run meanwhile.

    The copy is checked from its first fact to its last before it gets its name. Keep ``last_n`` and ``last_hash`` of
    the report elsewhere. Raises ``JournalDamaged`` if the journal is not sound, ``JournalError`` for anything else.
    """
    return _copy(source, target, None)


def restore(
    source: str | os.PathLike[str], target: str | os.PathLike[str], *, feed: str, now_ms: int
) -> VerifyReport:
    """Make the journal ``target`` of the backup ``source``, under the new ``feed`` id (32 lower-case hex digits).

    What was published after the backup is lost to this journal, and its frames' numbers will be used again: the new
    id tells every subscriber to take a snapshot. Facts and chain stay as they were. ``now_ms``: UTC, milliseconds.
    Raises as ``backup`` does.
    """

    def under_new_feed(draft: str) -> None:
        with contextlib.closing(Database(draft, writable=True)) as database:
            meta = schema.read_meta(database, draft)
            last: int = database.rows("SELECT coalesce(max(seq), 0) FROM outbox")[0][0]
            # The frames so far bear the old id: to the new feed they were never published, nor will they be.
            rows = {
                "feed": feed, "genesis_feed": meta["genesis_feed"], "feed_after_seq": last, "sent_seq": last,
                "restored_ms": now_ms,
            }  # fmt: skip
            database.write([("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(rows.items()))])

    return _copy(source, target, under_new_feed)


def _copy(source: str | os.PathLike[str], target: str | os.PathLike[str], change: Change | None) -> VerifyReport:
    real, there = os.path.realpath(source), os.path.realpath(target)
    if not os.path.isfile(real):
        raise JournalError(f"there is no journal {source}")
    folder = os.path.dirname(there)
    if not os.path.isdir(folder):
        raise JournalError(f"journal {target}: there is no directory {folder}")
    with contextlib.closing(WriterLock(there)):
        for name in (there, there + "-wal", there + "-journal"):
            if os.path.lexists(name):
                raise JournalError(f"{name} exists: give another name, or move it away first")
        draft = there + "-new"
        with _removed(draft):
            _vacuum_into(real, draft)
            report = verify(draft)
            if not report.ok:
                raise JournalDamaged(f"journal {source}: {report.fault}; nothing was written")
            if change is not None:
                change(draft)
            _sync(draft)
            os.rename(draft, there)
            _sync(folder)
    return report


def _vacuum_into(source: str, draft: str) -> None:
    try:
        # SQLite writes into an empty file, and leaves its mode alone.
        os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise JournalError(f"{draft}: cannot be made: {error.strerror}") from error
    with contextlib.closing(Database(source, writable=False)) as database:
        schema.read_meta(database, source)
        database.rows("VACUUM INTO ?", (draft,))


@contextlib.contextmanager
def _removed(draft: str) -> Iterator[None]:
    """No half copy is left, before or after."""
    names = [draft + end for end in ("", "-wal", "-shm", "-journal")]
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
    try:
        yield
    finally:
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
