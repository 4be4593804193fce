"""The writer's contract: dense, atomic, idempotent, and what is sent again after a crash."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.journal import chain
from controller.journal.store import (
    COMMANDS_KEPT_MS,
    CommandRecord,
    FactRow,
    Frame,
    Journal,
    JournalError,
    JournalFull,
)
from controller.journal.verify import verify


def state(journal: Journal) -> tuple[Any, ...]:
    return (
        journal.last_n,
        journal.last_seq,
        journal.last_hash,
        journal.last_epoch,
        journal.sent_seq,
        list(journal.facts()),
        journal.frames_since(0, 10_000),
    )


def test_new_journal_is_empty(make, path):
    with make.open(path) as journal:
        assert (journal.last_n, journal.last_seq, journal.sent_seq, journal.last_epoch) == (0, 0, 0, 0)
        assert journal.oldest_seq == 1
        assert journal.last_hash == chain.genesis(make.feed, "t1")
        assert (journal.feed_id, journal.table, journal.path) == (make.feed, "t1", str(path))
        assert list(journal.facts()) == list(journal.unsent()) == []


def test_feed_is_random_unless_given(tmp_path):
    feeds = set()
    for name in ("a", "b"):
        with Journal.create_or_open(tmp_path / name, table="t", now_ms=0) as journal:
            feeds.add(journal.feed_id)
        with Journal.create_or_open(tmp_path / name, table="t", now_ms=0) as journal:
            feeds.add(journal.feed_id)
    assert len(feeds) == 2
    assert all(len(bytes.fromhex(feed)) == 16 for feed in feeds)


def test_reopened_journal_goes_on_where_it_ended(make, path):
    with make.open(path) as journal:
        make.fill(journal, 5, 3)
        before = state(journal)
    with make.open(path) as journal:
        assert state(journal) == before
        make.fill(journal, 5)
        assert journal.last_n == 25
    assert verify(path).ok


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"table": "t2"}, "belongs to table 't1', not 't2'"),
        ({"table": "t1", "feed": "f" * 32}, "belongs to feed"),
        ({"table": "t1", "feed": "F" * 32}, "32 lower-case hex digits"),
    ],
)
def test_journal_of_another_table_or_feed_is_refused(make, path, options, words):
    make.open(path).close()
    with pytest.raises(JournalError, match=words):
        Journal.create_or_open(path, now_ms=0, **options)
    make.open(path).close()


def test_missing_directory_is_named(tmp_path):
    with pytest.raises(JournalError, match=f"there is no directory {tmp_path}/absent"):
        Journal.create_or_open(tmp_path / "absent" / "j", table="t", now_ms=0)


def fact(n: int) -> FactRow:
    return FactRow(n, 1, 0, "t", None, None, b"{}")


@pytest.mark.parametrize(
    ("facts", "frames", "words"),
    [
        ([fact(4)], [], "next fact is n=3, not n=4"),
        ([fact(2)], [], "next fact is n=3, not n=2"),
        ([fact(3), fact(5)], [], "next fact is n=4, not n=5"),
        ([fact(3)], [Frame(3, 3, b"")], "next frame is seq=2, not seq=3"),
        ([fact(3)], [Frame(2, 3, b""), Frame(2, 3, b"")], "next frame is seq=3, not seq=2"),
        ([fact(3)], [Frame(2, 2, b"")], "frame seq=2 belongs to n=2, which is not with it"),
        ([], [Frame(2, 3, b"")], "frame seq=2 belongs to n=3, which is not with it"),
        ([fact(3), fact(4)], [Frame(2, 4, b""), Frame(3, 3, b"")], "frame seq=3 belongs to n=3"),
        ([fact(3)._replace(body="text")], [], "n=3 is not storable"),
        ([fact(3)._replace(type=None)], [], "n=3 is not storable"),
        ([fact(3)._replace(at_ms=2**63)], [], "n=3 is not storable"),
        ([fact(3)._replace(round="\ud800")], [], "n=3 is not storable"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(make, path, facts, frames, words):
    with make.open(path) as journal:
        make.fill(journal, 1)
        before = state(journal)
        with pytest.raises(JournalError, match=words):
            journal.append(facts, frames)
        assert state(journal) == before
        make.fill(journal, 1)
    assert verify(path).ok


def test_commands_are_found_again_and_pruned(make, path):
    reply = CommandRecord("id-1", b"\x01" * 32, b'{"ok":true}', 1_000)
    with make.open(path) as journal:
        assert journal.command("id-1") is None
        journal.append(*make.batch(journal), command=reply)
        refused = CommandRecord("id-2", b"\x02" * 32, b'{"ok":false}', 2_000)
        journal.append([], [], command=refused)
        assert (journal.command("id-1"), journal.command("id-2")) == (reply, refused)
        assert journal.last_n == 2
    with make.open(path) as journal:
        assert journal.command("id-1") == reply
        assert journal.forget(1_000 + COMMANDS_KEPT_MS) == 0
        assert journal.forget(2_000 + COMMANDS_KEPT_MS) == 1
        assert (journal.command("id-1"), journal.command("id-2")) == (None, refused)


def test_repeated_command_id_stores_nothing(make, path):
    record = CommandRecord("id-1", b"\x01" * 32, b"1", 1_000)
    with make.open(path) as journal:
        journal.append([], [], command=record)
        before = state(journal)
        with pytest.raises(JournalError):
            journal.append(*make.batch(journal), command=record._replace(reply=b"2"))
        assert state(journal) == before
        assert journal.command("id-1") == record
        make.fill(journal, 1)


def test_empty_append_does_nothing(make, path):
    with make.open(path) as journal:
        before = state(journal)
        journal.append([], [])
        assert state(journal) == before


def test_sent_frames_are_not_sent_again_after_a_clean_close(make, path):
    with make.open(path) as journal:
        make.fill(journal, 6)
        assert [frame.seq for frame in journal.unsent()] == [1, 2, 3, 4, 5, 6]
        journal.mark_sent(4)
        journal.mark_sent(2)
        assert [frame.seq for frame in journal.unsent()] == [5, 6]
        with pytest.raises(JournalError, match="seq=7 cannot be sent, the last is 6"):
            journal.mark_sent(7)
    with make.open(path) as journal:
        assert journal.sent_seq == 4
        assert [frame.seq for frame in journal.unsent()] == [5, 6]


def test_unsent_spans_pages_and_appends_meanwhile(make, path):
    with make.open(path) as journal:
        make.fill(journal, 3, 800)
        unsent = journal.unsent()
        first = next(unsent)
        make.fill(journal, 1, 2)
        assert [first, *unsent] == journal.frames_since(0, 5_000)
        assert len(journal.frames_since(1_000, 50)) == 50
        assert journal.frames_since(0, -1) == []
        facts = journal.facts(2_000)
        assert next(facts).n == 2_000
        make.fill(journal, 1, 2)
        assert [row.n for row in facts] == list(range(2_001, 2_405))


def test_hook_before_the_commit_can_stop_it_and_after_it_cannot(make, path):
    stages = []
    stop = {"before_commit"}

    def hook(stage: str) -> None:
        stages.append(stage)
        if stage in stop:
            raise KeyboardInterrupt(stage)

    with Journal.create_or_open(path, table="t1", now_ms=0, feed=make.feed, on_commit=hook) as journal:
        before = state(journal)
        with pytest.raises(KeyboardInterrupt):
            make.fill(journal, 1)
        assert state(journal) == before
        stop.clear()
        make.fill(journal, 1)
        assert stages == ["before_commit", "before_commit", "after_commit"]
        stop.add("after_commit")
        with pytest.raises(KeyboardInterrupt):
            make.fill(journal, 1)
        assert journal.last_n == 4
    with make.open(path) as journal:
        assert journal.last_n == 4


def test_full_disk_is_told_apart_and_survived(make, path):
    with make.open(path) as journal:
        make.fill(journal, 3)
        journal.mark_sent(2)
        pages = journal._database.rows("PRAGMA page_count")[0][0]
        journal._database.rows(f"PRAGMA max_page_count={pages}")
        before = state(journal)
        facts, frames = make.batch(journal)
        big = [facts[0]._replace(body=b"x" * 50_000), facts[1]]
        for _ in range(2):
            with pytest.raises(JournalFull, match="free some space"):
                journal.append(big, frames, command=CommandRecord("id", b"", b"", 0))
            assert state(journal) == before
            assert journal.command("id") is None
        journal._database.rows("PRAGMA max_page_count=1000000")
        journal.append(big, frames)
    report = verify(path)
    assert (report.ok, report.facts) == (True, 8)


def test_closed_journal_says_so(make, path):
    journal = make.open(path)
    journal.close()
    journal.close()
    with pytest.raises(JournalError, match="closed"):
        journal.append(*make.batch(journal))
    with pytest.raises(JournalError, match="closed"):
        journal.frames_since(0, 1)


def test_every_column_and_frame_counts_in_the_hash():
    base = FactRow(1, 2, 3, "type", "shoe", "round", b"body")
    frames = [Frame(1, 1, b"frame")]
    changed = [base._replace(**{name: 9}) for name in ("n", "epoch", "at_ms")]
    changed += [base._replace(type="typ", shoe="eshoe"), base._replace(body=b"bodx")]
    changed += [base._replace(**{name: other}) for name in ("shoe", "round") for other in ("", None)]
    hashes = {chain.link(bytes(32), row, frames) for row in (base, *changed)}
    others = ([], [Frame(2, 1, b"frame")], [Frame(1, 1, b"framf")], frames * 2)
    hashes |= {chain.link(bytes(32), base, other) for other in others}
    hashes |= {chain.link(b"\x01" + bytes(31), base, frames)}
    assert len(hashes) == 1 + len(changed) + len(others) + 1
    assert len({chain.genesis("ab", "c"), chain.genesis("a", "bc"), chain.genesis("ab", "d")}) == 3


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.integers(-(2**63), 2**63 - 1)
contents = st.tuples(
    numbers, numbers, texts, st.none() | texts, st.none() | texts, st.binary(), st.lists(st.binary(), max_size=3)
)


@given(batches=st.lists(st.lists(contents, max_size=4), max_size=4), commands=st.lists(st.binary(), max_size=4))
def test_what_was_stored_is_read_back(batches, commands):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "j"
        facts: list[FactRow] = []
        frames: list[Frame] = []
        records = [CommandRecord(f"id-{i}", reply[::-1], reply, i) for i, reply in enumerate(commands)]
        with Journal.create_or_open(path, table="tä", now_ms=-1) as journal:
            for i in range(max(len(batches), len(records))):
                new: list[FactRow] = []
                made: list[Frame] = []
                for epoch, at_ms, type_, shoe, round_, body, sent in batches[i] if i < len(batches) else []:
                    n = len(facts) + len(new) + 1
                    new.append(FactRow(n, epoch, at_ms, type_, shoe, round_, body))
                    made += [Frame(len(frames) + len(made) + k, n, frame) for k, frame in enumerate(sent, 1)]
                journal.append(new, made, command=records[i] if i < len(records) else None)
                facts += new
                frames += made
            before = state(journal)
        with Journal.create_or_open(path, table="tä", now_ms=0) as journal:
            assert state(journal) == before
            assert list(journal.facts()) == facts
            assert journal.frames_since(0, 1_000) == list(journal.unsent()) == frames
            assert [journal.command(record.id) for record in records] == records
        report = verify(path)
        assert (report.fault, report.facts, report.frames) == (None, len(facts), len(frames))
