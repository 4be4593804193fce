"""A journal of an older format is brought to this program's: after a backup, in one transaction, or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from controller.journal import files, schema
from controller.journal.database import Batch, Database
from controller.journal.errors import JournalDamaged, JournalError
from controller.journal.lock import WriterLock

Steps = Mapping[int, tuple[str, ...]]

#: Format → the statements that make the next one of it. Facts, frames and hashes are never touched.
STEPS: Final[Steps] = {}

_TIP: Final = "SELECT n, hash FROM facts ORDER BY n DESC LIMIT 1"


@dataclass(frozen=True)
class Upgrade:
    """What was done: formats before and after, and the backup, None if there was nothing to do."""

    before: int
    after: int
    backup: str | None


def upgrade(path: str | os.PathLike[str], *, now_ms: int, steps: Steps = STEPS, to: int = schema.SCHEMA) -> Upgrade:
    """Bring the journal at ``path`` to format ``to``. ``now_ms`` (UTC) names the backup beside it.

    Raises ``JournalBusy`` while its table runs, ``JournalDamaged`` if it is no sound journal, ``JournalError`` for a
    format that is newer or has no way here.
    """
    real = os.path.realpath(path)
    if not os.path.isfile(real):
        raise JournalError(f"there is no journal {path}")
    with contextlib.ExitStack() as stack:
        stack.callback(WriterLock(real).close)
        files.require_private(real)
        database = Database(real, writable=True)
        stack.callback(database.close)
        before = _format(database, real)
        if before == to:
            return Upgrade(before, to, None)
        missing = [number for number in range(before, to) if number not in steps]
        if before > to or missing:
            raise JournalError(
                f"journal {path}: its format is {before}, this dealerd writes {to}; install the one that wrote it"
            )
        stamp = datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")
        backup = f"{real}.format-{before}-{stamp}"
        _back_up(database, real, backup)
        database.use_wal()
        batches: list[Batch] = [(sql, [()]) for number in range(before, to) for sql in steps[number]]
        database.write([*batches, ("UPDATE meta SET value = ? WHERE key = 'schema'", [(to,)])])
        return Upgrade(before, to, backup)


def _format(database: Database, path: str) -> int:
    if database.rows("PRAGMA application_id")[0][0] != schema.APPLICATION_ID:
        raise JournalDamaged(f"{path} is not a dealerd journal")
    found = database.rows("SELECT value FROM meta WHERE key = 'schema'")
    if not found or not isinstance(found[0][0], int):
        raise JournalDamaged(f"journal {path}: its head is incomplete; restore a backup")
    number: int = found[0][0]
    return number


def _back_up(database: Database, path: str, backup: str) -> None:
    """A whole copy with mode 0600, on disk and read back before anything is changed."""
    try:
        os.close(os.open(backup, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise JournalError(f"journal {path}: cannot make the backup {backup}: {error.strerror}") from error
    try:
        database.rows("VACUUM INTO ?", (backup,))
        with contextlib.closing(Database(backup, writable=False)) as copy:
            sound = copy.rows("PRAGMA integrity_check") == [("ok",)] and copy.rows(_TIP) == database.rows(_TIP)
        if not sound:
            raise JournalDamaged(f"journal {path}: its backup {backup} cannot be read back; nothing was changed")
        _sync(backup)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(backup)
        raise


def _sync(path: str) -> None:
    """The copy and its name are on disk."""
    for name, kind in ((path, os.O_RDONLY), (os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)):
        descriptor = os.open(name, kind | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
