"""The journal's files: made whole or not at all, and closed to other users.

Only called by the holder of the writer's lock, before SQLite opens the journal.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from controller.journal import schema
from controller.journal.database import Database
from controller.journal.errors import JournalError


def create(path: str, *, feed: str, table: str, now_ms: int, more: dict[str, Any] | None = None) -> None:
    """Make an empty journal with mode 0600; ``now_ms`` is UTC in milliseconds. Raises ``JournalError``.

    It is made under another name, so a kill never leaves half a journal and an empty file is never taken for a
    new one.
    """
    for left in (path + "-wal", path + "-journal"):
        if os.path.lexists(left):
            # SQLite would play it back into the new file.
            raise JournalError(
                f"journal {path} is missing, but its log {left} is there: put it back, or move the log"
            )
    draft = make_draft(path, feed=feed, table=table, now_ms=now_ms, more=more)
    with _named(path, "make it"):
        os.rename(draft, path)
        _sync_folder(path)


def make_draft(path: str, *, feed: str, table: str, now_ms: int, more: dict[str, Any] | None) -> str:
    """An empty journal under another name, which is returned."""
    draft = path + "-new"
    with _named(path, "make it"):
        for left in (draft, draft + "-journal"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(left)
        # SQLite gives its log and index the mode of the database.
        os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with contextlib.closing(Database(draft, writable=True)) as database:
        schema.create(database, feed=feed, table=table, now_ms=now_ms, more=more)
    return draft


def put_in_place(draft: str, path: str, sealed: str) -> None:
    """Give the file at ``path`` the further name ``sealed``, then ``path`` to ``draft``. Cut off between the two it
    can be done again. Raises ``JournalError``."""
    with _named(path, "seal it"):
        with contextlib.suppress(FileExistsError):
            os.link(path, sealed)
        if not os.path.samefile(path, sealed):
            raise JournalError(f"journal {path}: {sealed} exists and is another file: move it away")
        _sync_folder(path)
        os.rename(draft, path)
        _sync_folder(path)


def _sync_folder(path: str) -> None:
    directory = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def require_private(path: str) -> None:
    """Raise ``JournalError`` if users other than the owner may open the journal or its log."""
    with _named(path, "inspect it"):
        names = [name for name in (path, path + "-wal", path + "-shm") if os.path.exists(name)]
        exposed = [name for name in names if os.stat(name).st_mode & 0o077]
    if exposed:
        raise JournalError(
            f"journal {path}: it holds hidden cards and other users may open it; run: chmod 600 {' '.join(exposed)}"
        )


@contextlib.contextmanager
def _named(path: str, doing: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise JournalError(f"journal {path}: cannot {doing}: {error.strerror}") from error
