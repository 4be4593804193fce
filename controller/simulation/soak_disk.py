"""A disk that fails under a journal's real file, for one commit: the error is SQLite's or the kernel's own.

``full``: the database may not grow by a page. ``error``: the kernel refuses to write beyond a place in the files, so
that a commit stops anywhere, often in the middle of the log. Neither is sure to befall: a commit that needs no more
room goes through, and the caller sees that it did.

Not simulated: power loss (the journal's own tests tear files), a disk that lies about what it has stored.
"""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator
from random import Random
from typing import Final, Literal

from controller.journal.database import Database

#: The most pages that SQLite knows of.
_NO_LIMIT: Final = 0xFFFFFFFE


@contextlib.contextmanager
def failing(database: Database, path: str, kind: Literal["full", "error"], rng: Random) -> Iterator[None]:
    """While this is open the disk under ``database`` (the file at ``path`` and its log) has the fault ``kind``."""
    if kind == "full":
        database.rows("PRAGMA max_page_count=1")  # SQLite takes the present size for it
        try:
            yield
        finally:
            with contextlib.suppress(Exception):  # after a failed commit nothing may be left to set back
                database.rows(f"PRAGMA max_page_count={_NO_LIMIT}")
        return
    log = path + "-wal"
    size = os.path.getsize(log) if os.path.exists(log) else 0
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (rng.choice((0, size // 2, size, size + 6_000, size + 30_000)), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
