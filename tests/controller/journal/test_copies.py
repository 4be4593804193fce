"""Backup and restore: whole or not at all, of a running table too, and never under an id that subscribers know."""

from __future__ import annotations

import os

import apsw
import pytest

from controller.cli import main
from controller.journal.copies import backup, restore
from controller.journal.errors import JournalDamaged, JournalError
from controller.journal.reader import open_read_only
from controller.journal.store import Journal
from controller.journal.verify import verify

NEW = "f" * 32


def everything(path):
    with open_read_only(path) as reader:
        return list(reader.facts()), reader.frames_since(0, 10**6)


def test_a_backup_of_a_running_journal_is_what_it_was_at_that_moment(make, path, tmp_path):
    with make.open(path) as journal:
        make.fill(journal, 40)
        copy = tmp_path / "copy"
        report = backup(path, copy)
        assert (report.last_n, report.last_hash) == (journal.last_n, journal.last_hash.hex())
        then = everything(path)
        make.fill(journal, 5)
        assert everything(copy) == then != everything(path)
    assert copy.stat().st_mode & 0o777 == 0o600
    assert verify(path, expect_last=(report.last_n, report.last_hash)).ok
    assert [name for name in os.listdir(tmp_path) if name.endswith("-new")] == []


def test_a_restored_journal_has_a_new_feed_and_goes_on_in_the_same_chain(make, path, tmp_path):
    with make.open(path) as journal:
        make.fill(journal, 20)
        journal.mark_sent(7)
        old = (journal.last_n, journal.last_seq, journal.last_hash)
    backup(path, tmp_path / "copy")
    restore(tmp_path / "copy", tmp_path / "new", feed=NEW, now_ms=5)
    assert everything(tmp_path / "new") == everything(path)
    with Journal.create_or_open(tmp_path / "new", table="t1", now_ms=0) as journal:
        assert journal.feed_id == NEW
        assert (journal.last_n, journal.last_seq, journal.last_hash) == old
        assert list(journal.unsent()) == []  # they bear the old id
        assert journal.oldest_seq == journal.last_seq + 1  # and so do those that were sent
        make.fill(journal, 3)
        assert journal.oldest_seq == old[1] + 1
        assert len(list(journal.unsent())) == 3
    report = verify(tmp_path / "new", expect_last=(old[0], old[2].hex()))
    assert report.ok, report.fault
    assert report.feed == NEW


def test_a_restored_journal_can_be_backed_up_and_restored_again(make, path, tmp_path):
    with make.open(path) as journal:
        make.fill(journal, 5)
    restore(path, tmp_path / "b", feed=NEW, now_ms=5)
    restore(tmp_path / "b", tmp_path / "c", feed="e" * 32, now_ms=6)
    assert verify(tmp_path / "c").ok


def test_a_damaged_journal_is_not_copied(make, path, tmp_path):
    with make.open(path) as journal:
        make.fill(journal, 20)
    with apsw.Connection(str(path)) as con:
        con.execute("UPDATE facts SET at_ms = 7 WHERE n = 12")
    con.close()
    for work in (backup, lambda a, b: restore(a, b, feed=NEW, now_ms=0)):
        with pytest.raises(JournalDamaged, match="last good fact n=11"):
            work(path, tmp_path / "copy")
        assert sorted(os.listdir(tmp_path)) == sorted({*os.listdir(tmp_path)} - {"copy", "copy-new"})
        assert not (tmp_path / "copy").exists()


def test_nothing_is_written_over(make, path, tmp_path):
    with make.open(path) as journal:
        make.fill(journal, 2)
    there = tmp_path / "there"
    there.write_text("mine")
    for work in (backup, lambda a, b: restore(a, b, feed=NEW, now_ms=0)):
        with pytest.raises(JournalError, match="exists"):
            work(path, there)
    assert there.read_text() == "mine"
    with pytest.raises(JournalError, match="there is no directory"):
        backup(path, tmp_path / "none" / "x")
    with pytest.raises(JournalError, match="there is no journal"):
        backup(tmp_path / "none", tmp_path / "x")


def test_the_commands_say_what_to_keep(make, path, tmp_path, capsys):
    with make.open(path) as journal:
        make.fill(journal, 3)
        last = f"{journal.last_n}:{journal.last_hash.hex()}"
    assert main(["journal", "backup", str(path), str(tmp_path / "b")]) == 0
    assert last in capsys.readouterr().out
    assert main(["journal", "restore", str(tmp_path / "b"), str(tmp_path / "c")]) == 0
    assert last in capsys.readouterr().out
    assert main(["journal", "restore", str(tmp_path / "b"), str(tmp_path / "c")]) == 2
    assert main(["journal", "backup", str(tmp_path / "none"), str(tmp_path / "d")]) == 2
    (tmp_path / "b").write_bytes((tmp_path / "b").read_bytes()[:5000])
    assert main(["journal", "restore", str(tmp_path / "b"), str(tmp_path / "d")]) == 1
    assert not (tmp_path / "d").exists()
