"""SQLite's log is folded into the journal in small steps, so that no commit has to do much of it."""

from __future__ import annotations

import os
from contextlib import closing
from typing import Any

from controller.journal.database import LOG_KEPT_BYTES, OVERDUE_PAGES, Database
from controller.journal.store import FOLD_PAGES, FactRow, Journal
from controller.journal.verify import verify

PAGE = 4096


def store(journal: Journal, pages: int) -> None:
    """One append of about so many pages."""
    journal.append([FactRow(journal.last_n + 1, 1, 0, "a", None, None, os.urandom(pages * PAGE))], [])


def log_bytes(path: Any) -> int:
    return os.path.getsize(f"{path}-wal")


def test_steps_keep_the_log_small(make: Any, path: Any) -> None:
    with make.open(path) as journal:
        steps = 0
        for _ in range(60):
            store(journal, 50)
            steps += journal.fold()
            assert log_bytes(path) < (FOLD_PAGES + 60) * (PAGE + 24)
        assert 7 < steps < 20
        assert os.path.getsize(path) > 40 * 50 * PAGE
        assert verify(path, expect_last=(journal.last_n, journal.last_hash.hex())).ok


def test_a_step_waits_until_it_is_worth_it(make: Any, path: Any) -> None:
    with make.open(path) as journal:
        store(journal, 10)
        assert not journal.fold()
        assert journal.fold(1)
        assert not journal.fold(1)
        store(journal, 10)
        assert not journal.fold(30)
        assert journal.fold(5)
        store(journal, FOLD_PAGES)
        assert journal.fold()
        assert not journal.fold(0)


def test_without_steps_a_commit_folds_at_last(make: Any, path: Any) -> None:
    with make.open(path) as journal:
        for _ in range(12):
            store(journal, 500)
            assert log_bytes(path) < (OVERDUE_PAGES + 600) * (PAGE + 24)
        assert journal.fold(1_000)
        store(journal, 1)
        assert log_bytes(path) <= LOG_KEPT_BYTES


def test_a_reader_delays_steps_but_is_not_waited_for(make: Any, path: Any) -> None:
    with make.open(path) as journal, closing(Database(str(path), writable=False)) as database:
        store(journal, FOLD_PAGES)
        with database.reading():
            assert database.rows("SELECT count(*) FROM facts") == [(1,)]
            store(journal, FOLD_PAGES)
            assert journal.fold()  # what the reader may see
            store(journal, FOLD_PAGES)
            assert not journal.fold()
            assert database.rows("SELECT count(*) FROM facts") == [(1,)]
        assert journal.fold()
        store(journal, 1)
        assert log_bytes(path) <= LOG_KEPT_BYTES
        assert database.rows("SELECT count(*) FROM facts") == [(4,)]
