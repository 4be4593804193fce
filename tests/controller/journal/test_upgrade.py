"""A journal of an older format: backed up, changed in one transaction, and never half."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from controller.cli import main
from controller.journal import schema
from controller.journal.database import Database
from controller.journal.errors import JournalBusy, JournalDamaged, JournalError
from controller.journal.store import Journal
from controller.journal.upgrade import upgrade
from controller.journal.verify import verify

NOW_MS = 1_795_000_000_000
NEXT = schema.SCHEMA + 1
STEPS = {schema.SCHEMA: ("ALTER TABLE commands ADD COLUMN note TEXT", "CREATE TABLE notes (n INTEGER) STRICT")}


def look(path: str | Path, sql: str) -> list[tuple[object, ...]]:
    database = Database(str(path), writable=False)
    try:
        return database.rows(sql)
    finally:
        database.close()


@pytest.fixture
def journal(path: Path, make: object) -> Path:
    """A closed journal with some facts."""
    with make.open(path) as opened:  # type: ignore[attr-defined]
        make.fill(opened, 5)  # type: ignore[attr-defined]
    return path


def test_a_journal_of_this_format_is_left_alone(journal: Path) -> None:
    before = journal.read_bytes()
    assert upgrade(journal, now_ms=NOW_MS).backup is None
    assert journal.read_bytes() == before
    assert sorted(p.name for p in journal.parent.glob("*.format-*")) == []


def test_the_backup_is_whole_private_and_beside_it(journal: Path) -> None:
    facts = look(journal, "SELECT * FROM facts")
    done = upgrade(journal, now_ms=NOW_MS, steps=STEPS, to=NEXT)
    assert done.before == schema.SCHEMA
    assert done.after == NEXT
    assert done.backup == f"{journal}.format-{schema.SCHEMA}-20261118T110640Z"
    assert os.stat(done.backup).st_mode & 0o777 == 0o600
    assert look(done.backup, "SELECT * FROM facts") == facts
    assert verify(Path(done.backup)).ok
    os.rename(done.backup, journal)  # what `restore` comes to: the old program reads it again
    with Journal.create_or_open(journal, table="t1", now_ms=NOW_MS) as opened:
        assert opened.last_n == len(facts)


def test_the_new_format_holds_the_same_facts(journal: Path) -> None:
    facts = look(journal, "SELECT * FROM facts")
    upgrade(journal, now_ms=NOW_MS, steps=STEPS, to=NEXT)
    assert look(journal, "SELECT * FROM facts") == facts
    assert look(journal, "SELECT value FROM meta WHERE key = 'schema'") == [(NEXT,)]
    assert look(journal, "SELECT count(*) FROM notes") == [(0,)]
    assert upgrade(journal, now_ms=NOW_MS, steps=STEPS, to=NEXT).backup is None


def test_several_formats_are_passed_in_order(journal: Path) -> None:
    steps = STEPS | {NEXT: ("ALTER TABLE notes ADD COLUMN text TEXT",)}
    assert upgrade(journal, now_ms=NOW_MS, steps=steps, to=NEXT + 1).after == NEXT + 1
    assert look(journal, "SELECT text FROM notes") == []


def test_a_step_that_fails_changes_nothing(journal: Path) -> None:
    steps = {schema.SCHEMA: ("CREATE TABLE notes (n INTEGER) STRICT", "CREATE TABLE facts (n INTEGER)")}
    with pytest.raises(JournalError):
        upgrade(journal, now_ms=NOW_MS, steps=steps, to=NEXT)
    assert look(journal, "SELECT value FROM meta WHERE key = 'schema'") == [(schema.SCHEMA,)]
    assert look(journal, "SELECT name FROM sqlite_schema WHERE name = 'notes'") == []
    assert verify(journal).ok


def test_a_backup_that_cannot_be_made_changes_nothing(journal: Path) -> None:
    taken = Path(f"{journal}.format-{schema.SCHEMA}-20261118T110640Z")
    taken.write_text("somebody else's")
    with pytest.raises(JournalError, match="cannot make the backup"):
        upgrade(journal, now_ms=NOW_MS, steps=STEPS, to=NEXT)
    assert taken.read_text() == "somebody else's"
    assert look(journal, "SELECT value FROM meta WHERE key = 'schema'") == [(schema.SCHEMA,)]


def test_a_running_table_is_not_touched(path: Path, make: object) -> None:
    with make.open(path), pytest.raises(JournalBusy):  # type: ignore[attr-defined]
        upgrade(path, now_ms=NOW_MS, steps=STEPS, to=NEXT)


@pytest.mark.parametrize(("steps", "to"), [({}, NEXT), (STEPS, NEXT + 1), ({}, schema.SCHEMA - 1)])
def test_a_format_without_a_way_is_refused(journal: Path, steps: dict[int, tuple[str, ...]], to: int) -> None:
    with pytest.raises(JournalError, match="install the one that wrote it"):
        upgrade(journal, now_ms=NOW_MS, steps=steps, to=to)


def test_what_is_no_journal_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("not a database, and long enough to be looked at as one")
    other.chmod(0o600)
    with pytest.raises(JournalDamaged):
        upgrade(other, now_ms=NOW_MS)
    with pytest.raises(JournalError, match="there is no journal"):
        upgrade(tmp_path / "nothing", now_ms=NOW_MS)


def test_the_command_says_what_it_did(journal: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["journal", "upgrade", str(journal)]) == 0
    assert f"{journal}: its format is {schema.SCHEMA} already; nothing to do" in capsys.readouterr().out
    assert main(["journal", "upgrade", str(journal), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"file": str(journal), "before": schema.SCHEMA, "after": schema.SCHEMA, "backup": None}
    assert main(["journal", "upgrade", str(journal) + "x"]) == 2
    assert "there is no journal" in capsys.readouterr().err
