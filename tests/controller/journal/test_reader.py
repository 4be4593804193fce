"""Reading beside a running writer, and what lies on the disk: modes, logs, locks."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from controller.journal.database import Database
from controller.journal.lock import WriterLock
from controller.journal.reader import open_read_only
from controller.journal.store import CommandRecord, Journal, JournalBusy, JournalDamaged, JournalError
from controller.journal.verify import verify


def modes(folder: Path) -> dict[str, int]:
    return {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in folder.iterdir()}


@pytest.fixture
def open_umask():
    old = os.umask(0)
    yield
    os.umask(old)


@pytest.mark.usefixtures("open_umask")
def test_only_the_owner_can_open_any_of_the_files(make, path, tmp_path):
    with make.open(path) as journal:
        make.fill(journal, 1)
        names = ["", "-lock", "-shm", "-wal"]
        assert modes(tmp_path) == {f"{path.name}{suffix}": 0o600 for suffix in names}
        with open_read_only(path):
            assert set(modes(tmp_path).values()) == {0o600}
    assert sorted(modes(tmp_path)) == [path.name, f"{path.name}-lock"]
    # A reader of a closed journal makes the log's files itself.
    with open_read_only(path) as reader:
        assert len(list(reader.facts())) == 2
        assert set(modes(tmp_path).values()) == {0o600}
    assert set(modes(tmp_path).values()) == {0o600}


@pytest.mark.parametrize("suffix", ["", "-wal"])
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_journal_others_may_open_is_refused(make, path, suffix, mode):
    make.open(path).close()
    exposed = Path(f"{path}{suffix}")
    exposed.touch()
    exposed.chmod(mode)
    with pytest.raises(JournalError, match=f"chmod 600 {exposed}$"):
        make.open(path)
    exposed.chmod(0o600)
    make.open(path).close()


def test_link_and_file_meet_at_one_lock(make, path, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(path)
    with make.open(path), pytest.raises(JournalBusy, match=f"by process {os.getpid()};"):
        make.open(link)
    make.open(link).close()


def test_lock_file_that_cannot_be_made(tmp_path, path):
    (tmp_path / f"{path.name}-lock").mkdir()
    with pytest.raises(JournalError, match="cannot open its lock file"):
        WriterLock(str(path))


def test_journal_that_is_a_directory(tmp_path, make):
    (tmp_path / "d").mkdir(mode=0o700)
    with pytest.raises(JournalError, match="cannot open it"):
        make.open(tmp_path / "d")


def test_reader_sees_each_append_and_does_not_hold_the_writer(make, path):
    record = CommandRecord("id", b"d", b"r", 5)
    with make.open(path) as journal, open_read_only(path) as reader:
        assert (reader.table, reader.feed_id, reader.created_ms) == ("t1", make.feed, 1_764_000_000_000)
        assert (reader.path, reader.last_n, reader.last_seq, reader.command("id")) == (str(path), 0, 0, None)
        journal.append([], [], command=record)
        for appends in range(1, 6):
            make.fill(journal, 1)
            assert (reader.last_n, reader.last_seq) == (2 * appends, appends)
            assert list(reader.facts()) == list(journal.facts())
            assert reader.frames_since(0, 99) == journal.frames_since(0, 99)
            assert verify(path).ok
            assert journal.checkpoint()
            assert os.path.getsize(f"{path}-wal") == 0
        assert reader.command("id") == record


def test_facts_appended_while_reading_are_read_too(make, path):
    with make.open(path) as journal, open_read_only(path) as reader:
        make.fill(journal, 1, 2_500)
        facts = reader.facts(from_n=10)
        assert next(facts).n == 10
        make.fill(journal, 1, 2_500)
        assert [fact.n for fact in facts] == list(range(11, 5_001))


def test_long_reader_delays_a_checkpoint_but_no_append(make, path):
    with make.open(path) as journal, closing(Database(str(path), writable=False)) as database:
        make.fill(journal, 1)
        with database.reading():
            database.rows("SELECT count(*) FROM facts")
            make.fill(journal, 1)
            assert not journal.checkpoint()
            assert database.rows("SELECT count(*) FROM facts") == [(2,)]
        assert journal.checkpoint()


def test_filters(make, path):
    with make.open(path) as journal:
        facts = make.fill(journal, 20)
    with open_read_only(path) as reader:
        assert list(reader.facts(round="round-3")) == [fact for fact in facts if fact.round == "round-3"]
        assert list(reader.facts(shoe="shoe-2", types=["type_1"])) == [
            fact for fact in facts if fact.shoe == "shoe-2" and fact.type == "type_1"
        ]
        assert list(reader.facts(5, types=[])) == []


def test_journal_of_a_killed_writer_is_read_before_it_is_opened_again(path):
    code = (
        "import os, sys; from controller.journal.store import FactRow, Journal\n"
        "journal = Journal.create_or_open(sys.argv[1], table='t1', now_ms=0)\n"
        "journal.append([FactRow(1, 1, 0, 't', None, None, b'{}')], [])\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert os.path.getsize(f"{path}-wal") > 0
    with open_read_only(path) as reader:
        assert reader.last_n == 1
    with Journal.create_or_open(path, table="t1", now_ms=0) as journal:
        assert journal.last_n == 1


def test_read_only_medium(make, path, tmp_path, monkeypatch):
    with make.open(path) as journal:
        make.fill(journal, 3)
    medium = tmp_path / "medium"
    medium.mkdir()
    copy = medium / "copy"
    shutil.copyfile(path, copy)
    medium.chmod(0o500)
    # Root may write anywhere, so the question itself is answered.
    monkeypatch.setattr(os, "access", lambda _path, mode: mode != os.W_OK)
    assert verify(copy).facts == 6
    assert os.listdir(medium) == ["copy"]
    medium.chmod(0o700)


def test_what_is_no_journal(make, path):
    with pytest.raises(JournalError, match="there is no journal"):
        open_read_only(path)
    for content, words in ((b"", "is not a dealerd journal"), (b"text" * 1_000, "file is not a database")):
        path.write_bytes(content)
        path.chmod(0o600)
        for opening in (open_read_only, make.open):
            with pytest.raises(JournalDamaged, match=words):
                opening(path)
        assert path.read_bytes() == content


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
def test_log_of_a_missing_journal_is_not_played_into_a_new_one(make, path, suffix):
    Path(f"{path}{suffix}").touch()
    with pytest.raises(JournalError, match=f"its log {path}{suffix} is there"):
        make.open(path)
    assert not path.exists()


def test_reader_cannot_write(make, path):
    make.open(path).close()
    with closing(Database(str(path), writable=False)) as database, pytest.raises(JournalError, match="readonly"):
        database.write([("DELETE FROM facts", [()])])


def test_old_sqlite_is_refused(make, path, monkeypatch):
    monkeypatch.setattr("controller.journal.database.apsw.sqlite_lib_version", lambda: "3.51.2")
    with pytest.raises(JournalError, match=r"SQLite 3\.51\.2 can damage a journal; apsw with 3\.51\.3"):
        make.open(path)
