"""One file is sealed and the next goes on: one chain, one feed, no moment at which a kill loses anything."""

from __future__ import annotations

import os

import apsw
import pytest

from controller.journal import files
from controller.journal.errors import JournalBusy, JournalError
from controller.journal.reader import open_read_only
from controller.journal.store import CommandRecord, Journal
from controller.journal.verify import verify

SNAPSHOT = b'{"state":1}'


def sealed(make, path, label="2026-10", facts=10):
    journal = make.open(path)
    make.fill(journal, facts)
    journal.mark_sent(journal.last_seq)
    journal.succeed(label, SNAPSHOT, 1_764_000_100_000)
    return journal


def test_the_next_file_goes_on_where_the_sealed_one_ended(make, path):
    with make.open(path) as journal:
        make.fill(journal, 10)
        journal.mark_sent(journal.last_seq)
        before = (journal.last_n, journal.last_seq, journal.last_hash, journal.feed_id)
        name = journal.succeed("2026-10", SNAPSHOT, 1_764_000_100_000)
        assert name == f"{path}.2026-10"
        assert (journal.last_n, journal.last_seq, journal.feed_id) == (before[0], before[1], before[3])
        assert (journal.head.first_n, journal.head.snapshot) == (before[0] + 1, SNAPSHOT)
        assert journal.oldest_seq == before[1] + 1
        assert list(journal.unsent()) == []
        make.fill(journal, 5)
    old, new = verify(name), verify(path)
    assert old.ok, old.fault
    assert new.ok, new.fault
    assert (old.last_n, old.last_hash) == (before[0], before[2].hex())
    assert new.previous_hash == old.last_hash
    assert (new.first_n, new.last_n, new.facts) == (before[0] + 1, before[0] + 10, 10)
    with Journal.create_or_open(path, table="t1", now_ms=0) as journal:
        assert journal.last_n == before[0] + 10
        make.fill(journal, 1)
    assert verify(path).ok


def test_modes_and_no_file_left_over(make, path, tmp_path):
    sealed(make, path).close()
    kept = sorted(name for name in os.listdir(tmp_path) if not name.endswith(("-lock", "-shm", "-wal")))
    assert kept == ["table.journal", "table.journal.2026-10"]
    for name in kept:
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


def test_an_id_is_known_across_the_seal(make, path):
    with make.open(path) as journal:
        facts, frames = make.batch(journal)
        journal.append(facts, frames, command=CommandRecord("id-000001", b"d", b"r", 5), transactions=["t-1"])
        journal.mark_sent(journal.last_seq)
        journal.succeed("2026-10", SNAPSHOT, 1_764_000_100_000)
        assert journal.command("id-000001") == CommandRecord("id-000001", b"d", b"r", 5)
        assert journal.spent(["t-1", "t-2"]) == {"t-1"}
        make.fill(journal, 1)
        journal.mark_sent(journal.last_seq)
        journal.succeed("2026-11", SNAPSHOT, 1_764_000_200_000)
        assert journal.command("id-000001") is not None
    with make.open(path) as journal:
        assert journal.command("id-000001") is not None
        assert journal.spent(["t-1"]) == {"t-1"}


def test_a_reader_puts_it_off_and_the_journal_goes_on(make, path):
    with make.open(path) as journal:
        make.fill(journal, 3)
        journal.mark_sent(journal.last_seq)
        with open_read_only(path) as reader:
            assert reader.last_n == 6
            with pytest.raises(JournalBusy):
                journal.succeed("2026-10", SNAPSHOT, 0)
            make.fill(journal, 1)
            assert reader.last_n == 8
        journal.mark_sent(journal.last_seq)
        journal.succeed("2026-10", SNAPSHOT, 0)
        make.fill(journal, 1)
    assert verify(path).ok
    assert verify(f"{path}.2026-10").ok


def test_nothing_is_sealed_that_was_not_sent_or_is_empty(make, path):
    with make.open(path) as journal:
        with pytest.raises(JournalError, match="nothing to seal"):
            journal.succeed("2026-10", SNAPSHOT, 0)
        make.fill(journal, 2)
        with pytest.raises(JournalError, match="not sent"):
            journal.succeed("2026-10", SNAPSHOT, 0)


class Killed(BaseException):
    """The process is gone."""


@pytest.mark.parametrize("at", range(1, 5))
def test_a_kill_between_the_names_can_be_done_again(make, path, monkeypatch, at):
    """Before the draft, before and after the link, before and after the rename."""
    steps = iter(range(1, 100))
    real = {name: getattr(os, name) for name in ("link", "rename")}

    def stopped(name):
        def call(*args):
            if next(steps) == at:
                raise Killed
            real[name](*args)
            if next(steps) == at:
                raise Killed

        return call

    journal = make.open(path)
    make.fill(journal, 5)
    journal.mark_sent(journal.last_seq)
    facts = journal.last_n
    for name in real:
        monkeypatch.setattr(files.os, name, stopped(name))
    monkeypatch.setattr("controller.journal.succession.unseal", lambda *_: None)  # the dead do not tidy up
    with pytest.raises(Killed):
        journal.succeed("2026-10", SNAPSHOT, 0)
    journal._database.close()
    journal._lock.close()
    monkeypatch.undo()
    with make.open(path) as again:
        assert again.last_n == facts
        make.fill(again, 1)
        again.mark_sent(again.last_seq)
        again.succeed("2026-10" if again.head.first_n == 1 else "2026-11", SNAPSHOT, 0)
        make.fill(again, 1)
    for name in os.listdir(path.parent):
        if name.startswith("table.journal") and not name.endswith(("-lock", "-shm", "-wal", "-new")):
            report = verify(path.parent / name)
            assert report.ok, (name, report.fault)


def change(path, sql, *args):
    with apsw.Connection(str(path)) as con:
        con.execute(sql, args)
    con.close()


def test_a_sealed_file_that_lost_its_end_is_found_without_help(make, path):
    sealed(make, path).close()
    name = f"{path}.2026-10"
    change(name, "DELETE FROM outbox WHERE n > 16")
    change(name, "DELETE FROM facts WHERE n > 16")
    change(name, "UPDATE meta SET value = (SELECT max(seq) FROM outbox) WHERE key = 'sent_seq'")
    report = verify(name)
    assert report.fault is not None
    assert "sealed at fact n=20, but ends at n=16" in report.fault
    assert report.last_n == 16


@pytest.mark.parametrize("key", ["snapshot", "previous_hash", "first_hash"])
def test_a_changed_head_is_found(make, path, key):
    journal = sealed(make, path)
    make.fill(journal, 2)
    journal.close()
    change(path, "UPDATE meta SET value = zeroblob(length(value)) WHERE key = ?", key)
    report = verify(path)
    assert report.fault is not None
    assert "head of the file was changed" in report.fault


def test_another_sealed_file_in_its_place_is_refused(make, path):
    sealed(make, path).close()
    change(f"{path}.2026-10", "UPDATE meta SET value = zeroblob(32) WHERE key = 'sealed_hash'")
    with pytest.raises(JournalError, match="not the file that table"):
        make.open(path)


def test_without_the_sealed_file_the_table_still_starts(make, path):
    sealed(make, path).close()
    os.unlink(f"{path}.2026-10")
    with make.open(path) as journal:
        make.fill(journal, 1)
    assert verify(path).ok
