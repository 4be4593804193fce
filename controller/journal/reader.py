"""Read-only access beside a running writer: open, read, close.

Everything is read in short transactions, because a long one keeps the writer's log from being emptied.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator
from types import TracebackType
from typing import Final, Self

from controller.journal import older, schema
from controller.journal.database import Database
from controller.journal.errors import JournalError
from controller.journal.records import CommandRecord, FactRow, Frame, Head

_WINDOW: Final = 2_000  # facts looked at in one transaction


class JournalReader:
    """An open journal that cannot be written through this object. Facts may be appended meanwhile."""

    def __init__(self, database: Database, path: str) -> None:
        """Use ``open_read_only``."""
        self._database = database
        meta = schema.read_meta(database, path)
        self.path: Final = path
        self.feed_id: Final[str] = meta["feed"]
        self.table: Final[str] = meta["table"]
        self.created_ms: Final[int] = meta["created_ms"]
        self.head: Final = Head.of(meta)
        self._meta = meta

    @property
    def last_n(self) -> int:
        """The newest fact's number at this moment, 0 if there is none."""
        last: int = self._database.rows("SELECT coalesce(max(n), 0) FROM facts")[0][0]
        return last

    @property
    def last_seq(self) -> int:
        """The newest frame's number at this moment, 0 if there is none."""
        last: int = self._database.rows("SELECT coalesce(max(seq), 0) FROM outbox")[0][0]
        return last

    def older(self) -> Iterator[JournalReader]:
        """The sealed files before this one, the newest first, as far as they are there; each is closed again."""
        for path in older.paths(self.path, self._meta):
            with open_read_only(path) as reader:
                yield reader

    def mark(
        self,
        type: str,  # noqa: A002 -- the column's name
        *,
        before: int | None = None,
        after: int | None = None,
        round: str | None = None,  # noqa: A002 -- the trade's word
    ) -> FactRow | None:
        """The newest fact of ``type`` with ``n`` below ``before``, or the oldest one above ``after``; of ``round``.

        ``type`` is one of ``schema.MARKS``: these are found without a walk. Raises ``ValueError`` for another.
        """
        if type not in schema.MARKS:
            raise ValueError(f"{type} is not indexed")
        sql = f"SELECT {schema.FACT_COLUMNS} FROM facts WHERE {schema.IS_MARK} AND type = ?"
        args: list[int | str] = [type]
        for text, value in (("round = ?", round), ("n < ?", before), ("n > ?", after)):
            if value is not None:
                sql += f" AND {text}"
                args.append(value)
        order = "ASC" if after is not None else "DESC"
        rows = self._database.rows(f"{sql} ORDER BY n {order} LIMIT 1", args)
        return FactRow(*rows[0]) if rows else None

    def facts(
        self,
        from_n: int = 1,
        *,
        to_n: int | None = None,
        round: str | None = None,  # noqa: A002 -- the trade's word
        shoe: str | None = None,
        types: Collection[str] | None = None,
    ) -> Iterator[FactRow]:
        """The facts from ``from_n`` to ``to_n``, in order, that match every filter given; without ``to_n`` to the
        end as it is then."""
        start = self._next(from_n)
        while start is not None and (to_n is None or start <= to_n):
            sql = f"SELECT {schema.FACT_COLUMNS} FROM facts WHERE n BETWEEN ? AND ? ORDER BY n"
            end = start + _WINDOW - 1 if to_n is None else min(start + _WINDOW - 1, to_n)
            for row in self._database.rows(sql, (start, end)):
                fact = FactRow(*row)
                if (
                    (round is None or fact.round == round)
                    and (shoe is None or fact.shoe == shoe)
                    and (types is None or fact.type in types)
                ):
                    yield fact
            start = self._next(start + _WINDOW)

    def _next(self, n: int) -> int | None:
        found: int | None = self._database.rows("SELECT min(n) FROM facts WHERE n >= ?", (n,))[0][0]
        return found

    def hash_of(self, n: int) -> bytes:
        """The chain's hash after fact ``n`` (32 bytes). Raises ``JournalError`` if there is none."""
        rows = self._database.rows("SELECT hash FROM facts WHERE n = ?", (n,))
        if not rows:
            raise JournalError(f"journal {self.path}: there is no fact n={n}")
        found: bytes = rows[0][0]
        return found

    def frames_since(self, seq: int, limit: int) -> list[Frame]:
        """At most ``limit`` frames after ``seq``, in order."""
        sql = "SELECT seq, n, frame FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?"
        return [Frame(*row) for row in self._database.rows(sql, (seq, max(limit, 0)))]

    def command(self, id: str) -> CommandRecord | None:  # noqa: A002 -- the word of the wire format
        """The stored answer to the command ``id``, None if there is none."""
        rows = self._database.rows("SELECT id, digest, reply, at_ms FROM commands WHERE id = ?", (id,))
        return CommandRecord(*rows[0]) if rows else None

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_read_only(path: str | os.PathLike[str]) -> JournalReader:
    """Open the journal at ``path`` for reading, whether or not its service runs.

    Takes no lock a writer waits for. If SQLite must make its log and index, they get the journal's mode. Raises
    ``JournalDamaged`` if the file is not a sound journal, ``JournalError`` if it is missing or not readable.
    """
    real = os.path.realpath(path)
    if not os.path.isfile(real):
        raise JournalError(f"there is no journal {path}")
    with contextlib.ExitStack() as stack:
        database = Database(real, writable=False)
        stack.callback(database.close)
        reader = JournalReader(database, real)
        stack.pop_all()
    return reader
