"""Sealing a journal's file, so that the next one can take its name."""

from __future__ import annotations

import os
from typing import Any

from controller.journal import chain, schema
from controller.journal.database import WRITER_WAIT_MS, Database
from controller.journal.errors import JournalBusy


def head_of_next(
    meta: dict[str, Any], *, sealed: str, n: int, seq: int, epoch: int, last: bytes, snapshot: bytes
) -> dict[str, Any]:
    """What the head of the next file says of the one that ended with fact ``n``, frame ``seq`` and hash ``last``."""
    return {
        "genesis_feed": meta["genesis_feed"],
        "feed_after_seq": meta["feed_after_seq"],
        "first_n": n + 1,
        "first_seq": seq + 1,
        "first_epoch": epoch,
        "first_hash": chain.successor(last, n + 1, seq + 1, snapshot),
        "previous": os.path.basename(sealed),
        "previous_hash": last,
        "snapshot": snapshot,
        "sent_seq": seq,
    }


def seal(database: Database, path: str, *, n: int, seq: int, last: bytes) -> None:
    """Write the end into the head. From here on nobody else has the file open, and it needs no log any more.

    Raises ``JournalBusy`` at once if somebody reads it.
    """
    database.rows("PRAGMA busy_timeout = 0")
    if database.rows("PRAGMA journal_mode = DELETE")[0][0] != "delete":
        raise JournalBusy(f"journal {path}: somebody reads it")
    database.rows("PRAGMA locking_mode = EXCLUSIVE")
    head = {"sealed_n": n, "sealed_hash": last, "sent_seq": seq}
    database.write([("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(head.items()))])


def unseal(database: Database) -> None:
    """Back to writing after a seal that led to nothing."""
    database.rows("PRAGMA locking_mode = NORMAL")
    database.rows(f"PRAGMA busy_timeout = {WRITER_WAIT_MS}")
    database.use_wal()
    schema.complete(database)
