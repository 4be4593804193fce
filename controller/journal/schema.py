"""The journal file's tables, and how a file is recognised as a journal."""

from __future__ import annotations

from typing import Any, Final

from controller.journal.database import Batch, Database
from controller.journal.errors import JournalDamaged, JournalError

APPLICATION_ID: Final = 0x6465616C  # "deal", in the SQLite header
SCHEMA: Final = 1

_TABLES: Final = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE facts (n INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, at_ms INTEGER NOT NULL, type TEXT NOT NULL,"
    " shoe TEXT, round TEXT, body BLOB NOT NULL, hash BLOB NOT NULL) STRICT",
    "CREATE TABLE outbox (seq INTEGER PRIMARY KEY, n INTEGER NOT NULL, frame BLOB NOT NULL) STRICT",
    "CREATE TABLE commands (id TEXT PRIMARY KEY, digest BLOB NOT NULL, reply BLOB NOT NULL, at_ms INTEGER NOT NULL)"
    " STRICT, WITHOUT ROWID",
    "CREATE INDEX commands_at ON commands (at_ms)",
    # What the facts hold already, to be found by id; ``day`` counts from 1970 (UTC).
    "CREATE TABLE transactions (id TEXT PRIMARY KEY, day INTEGER NOT NULL) STRICT, WITHOUT ROWID",
)

#: The few types of facts that say where a round, shoe or shift begins or ends, who deals, and what was corrected
#: later. They alone are indexed, so that a round of a month ago is found at once and a commit stays cheap.
MARKS: Final = (
    "table_started", "shift_started", "shift_ended", "shoe_loaded", "shoe_ended", "shoe_change_started",
    "betting_opened",
    "dealer_logged_on", "dealer_logged_off", "card_corrected", "result_corrected",
)  # fmt: skip
#: SQLite uses a partial index only for a query that repeats its condition word for word.
IS_MARK: Final = "type IN ({})".format(", ".join(f"'{name}'" for name in MARKS))

_INDEXES: Final = {
    "facts_marks": f"CREATE INDEX facts_marks ON facts (type, round) WHERE {IS_MARK}",
    "facts_mark_order": f"CREATE INDEX facts_mark_order ON facts (type) WHERE {IS_MARK}",
}

INSERT_FACT: Final = "INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_FRAME: Final = "INSERT INTO outbox VALUES (?, ?, ?)"
INSERT_COMMAND: Final = "INSERT INTO commands VALUES (?, ?, ?, ?)"
INSERT_TRANSACTION: Final = "INSERT OR IGNORE INTO transactions VALUES (?, ?)"
UPDATE_SENT: Final = "UPDATE meta SET value = ? WHERE key = 'sent_seq'"

FACT_COLUMNS: Final = "n, epoch, at_ms, type, shoe, round, body"


def create(database: Database, *, feed: str, table: str, now_ms: int, more: dict[str, Any] | None = None) -> None:
    """Make the tables in one transaction. ``now_ms`` is UTC in milliseconds; ``more``: further keys of the head."""
    meta = {"schema": SCHEMA, "feed": feed, "table": table, "created_ms": now_ms, "sent_seq": 0, **(more or {})}
    batches: list[Batch] = [(sql, [()]) for sql in _TABLES]
    batches.append((f"PRAGMA application_id = {APPLICATION_ID}", [()]))
    batches.append(("INSERT INTO meta VALUES (?, ?)", list(meta.items())))
    database.write(batches)


def complete(database: Database) -> None:
    """Add what a journal of another version lacks: indexes, no data. For the writer, once a start.

    A seal on a file that is still written is that of a succession which was cut off: it is taken away.
    """
    there: dict[str, str] = dict(database.rows("SELECT name, sql FROM sqlite_schema WHERE type = 'index'"))
    batches: list[Batch] = []
    if database.rows("SELECT 1 FROM meta WHERE key = 'sealed_n'"):
        batches.append(("DELETE FROM meta WHERE key IN ('sealed_n', 'sealed_hash')", [()]))
    for name, sql in _INDEXES.items():
        if there.get(name) != sql:
            batches += [(f"DROP INDEX IF EXISTS {name}", [()]), (sql, [()])]
    if batches:
        database.write(batches)


def read_meta(database: Database, path: str) -> dict[str, Any]:
    """The journal's head: ``schema feed table created_ms sent_seq genesis_feed feed_after_seq first_n first_seq``.

    A restored journal has a new ``feed``; its chain begins with ``genesis_feed``, and frames up to ``feed_after_seq``
    bear an older id. A file that continues another one has ``first_n`` above 1, and ``previous`` (its name),
    ``previous_hash``, ``first_hash``, ``first_epoch`` and ``snapshot``.

    Raises ``JournalDamaged`` if the file is no journal, ``JournalError`` if another version wrote it.
    """
    if database.rows("PRAGMA application_id")[0][0] != APPLICATION_ID:
        raise JournalDamaged(f"{path} is not a dealerd journal")
    meta: dict[str, Any] = dict(database.rows("SELECT key, value FROM meta"))
    if meta.get("schema") != SCHEMA:
        found = meta.get("schema")
        raise JournalError(
            f"journal {path}: its format is {found!r}, this dealerd reads {SCHEMA}; install the one that wrote it"
        )
    kinds = {"feed": str, "table": str, "created_ms": int, "sent_seq": int}
    if not all(isinstance(meta.get(key), kind) for key, kind in kinds.items()):
        raise JournalDamaged(f"journal {path}: its head is incomplete; restore a backup")
    meta = {"genesis_feed": meta["feed"], "feed_after_seq": 0, "first_n": 1, "first_seq": 1} | meta
    kinds = {"previous": str, "previous_hash": bytes, "first_hash": bytes, "first_epoch": int, "snapshot": bytes}
    if meta["first_n"] > 1 and not all(isinstance(meta.get(key), kind) for key, kind in kinds.items()):
        raise JournalDamaged(f"journal {path}: its head is incomplete; restore a backup")
    return meta
