"""The sealed files before a journal, found by the name that each keeps of the one before it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any, Final

from controller.journal import schema
from controller.journal.database import Database
from controller.journal.errors import JournalError

#: As long as anything of an older file may be asked for by id.
KEPT_MS: Final = 124 * 24 * 3600 * 1000


def paths(path: str, meta: dict[str, Any]) -> Iterator[str]:
    """The sealed files before the one at ``path`` whose head is ``meta``, the newest first, as far as they are
    there. Raises ``JournalError`` for one that is not the file that was sealed."""
    while "previous" in meta:
        before = os.path.join(os.path.dirname(path), meta["previous"])
        if not os.path.isfile(before):
            return
        with contextlib.closing(Database(before, writable=False)) as database:
            found = schema.read_meta(database, before)
        if found.get("sealed_hash") != meta["previous_hash"]:
            raise JournalError(f"journal {before}: it is not the file that {os.path.basename(path)} continues")
        yield before
        path, meta = before, found


class Older:
    """Those sealed files in which an id of the last months may be found, open for reading."""

    def __init__(self, path: str, meta: dict[str, Any]) -> None:
        self.databases: list[Database] = []
        newest = meta["created_ms"]
        try:
            for before in paths(path, meta):
                if newest - meta["created_ms"] > KEPT_MS:
                    break
                self.databases.append(Database(before, writable=False))
                meta = schema.read_meta(self.databases[-1], before)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close them; a second call does nothing."""
        for database in self.databases:
            database.close()
        self.databases = []
