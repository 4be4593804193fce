"""Every change made behind the journal's back is found, and named by the last good fact."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.journal import chain
from controller.journal.reader import open_read_only
from controller.journal.store import FactRow, Frame, Journal, JournalError
from controller.journal.verify import verify


@pytest.fixture
def sound(make, path):
    """20 facts, 10 frames; facts 2, 4, … have one."""
    with make.open(path) as journal:
        make.fill(journal, 10)
        journal.mark_sent(10)
    return path


def edit(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as con:
        for statement in statements:
            con.execute(statement)


def swap(table: str, key: str, a: int, b: int) -> tuple[str, ...]:
    return tuple(f"UPDATE {table} SET {key} = {new} WHERE {key} = {old}" for old, new in ((a, -1), (b, a), (-1, b)))


def test_sound_journal(sound, make):
    before = sound.read_bytes()
    steps: list[tuple[int, int]] = []
    report = verify(sound, progress=lambda done, last: steps.append((done, last)))
    with make.open(sound) as journal:
        end = (journal.last_n, journal.last_seq, journal.last_hash.hex())
    assert (report.last_n, report.last_seq, report.last_hash) == end
    assert (report.ok, report.fault, report.facts, report.frames) == (True, None, 20, 10)
    assert (report.path, report.table, report.feed) == (str(sound), "t1", make.feed)
    assert steps == [(20, 20)]
    assert sound.read_bytes() == before


def test_empty_journal(make, path):
    make.open(path).close()
    report = verify(path)
    assert (report.fault, report.last_n, report.last_hash) == (None, 0, chain.genesis(make.feed, "t1").hex())


def test_many_pages(make, path):
    with make.open(path) as journal:
        make.fill(journal, 5, 700)
    assert (verify(path).fault, verify(path).facts) == (None, 3_500)
    edit(path, "DELETE FROM outbox WHERE seq = 1000")
    assert verify(path).last_n == 1_999


CHANGES = {
    "body": (["UPDATE facts SET body = CAST('{}' AS BLOB) WHERE n = 7"], 6),
    "type": (["UPDATE facts SET type = 'x' WHERE n = 1"], 0),
    "text": (["UPDATE facts SET type = CAST(x'ff' AS TEXT) WHERE n = 7"], 6),
    "time": (["UPDATE facts SET at_ms = at_ms + 1 WHERE n = 20"], 19),
    "epoch": (["UPDATE facts SET epoch = 2 WHERE n = 3"], 2),
    "shoe": (["UPDATE facts SET shoe = NULL WHERE n = 3"], 2),
    "round": (["UPDATE facts SET round = '' WHERE n = 3"], 2),
    "hash": (["UPDATE facts SET hash = zeroblob(32) WHERE n = 3"], 2),
    "deleted fact": (["DELETE FROM facts WHERE n = 9"], 8),
    "deleted first fact": (["DELETE FROM facts WHERE n = 1"], 0),
    "deleted fact, others moved up": (["DELETE FROM facts WHERE n = 9", "UPDATE facts SET n = n - 1 WHERE n > 9"], 8),
    "fact before the first": (
        ["INSERT INTO facts SELECT 0, epoch, at_ms, type, shoe, round, body, hash FROM facts LIMIT 1"],
        0,
    ),
    "fact after the last": (
        ["INSERT INTO facts SELECT 21, epoch, at_ms, type, shoe, round, body, hash FROM facts WHERE n = 20"],
        20,
    ),
    "fact far beyond": (
        ["INSERT INTO facts SELECT 99, epoch, at_ms, type, shoe, round, body, hash FROM facts WHERE n = 20"],
        20,
    ),
    "swapped facts": (swap("facts", "n", 11, 13), 10),
    "swapped neighbours": (swap("facts", "n", 11, 12), 10),
    "frame": (["UPDATE outbox SET frame = CAST('x' AS BLOB) WHERE seq = 3"], 5),
    "deleted frame": (["DELETE FROM outbox WHERE seq = 3"], 5),
    "deleted last frame": (["DELETE FROM outbox WHERE seq = 10"], 19),
    "added frame": (["INSERT INTO outbox VALUES (11, 20, x'00')"], 19),
    "frame before the first": (["INSERT INTO outbox VALUES (0, 1, x'00')"], 0),
    "frame of no fact": (["INSERT INTO outbox VALUES (11, 21, x'00')"], 20),
    "frame of another fact": (["UPDATE outbox SET n = 7 WHERE seq = 4"], 6),
    "frame number": (["UPDATE outbox SET seq = 99 WHERE seq = 10"], 19),
    "swapped frames": (swap("outbox", "seq", 3, 4), 5),
    "table": (["UPDATE meta SET value = 't2' WHERE key = 'table'"], 0),
    "feed": (["UPDATE meta SET value = replace(value, 'a', 'b') WHERE key = 'feed'"], 0),
    "cut tail of sent frames": (["DELETE FROM facts WHERE n > 18", "DELETE FROM outbox WHERE seq > 9"], 18),
    "no facts table": (["DROP TABLE facts"], 0),
    "no head": (["DELETE FROM meta WHERE key = 'feed'"], 0),
    "another program's file": (["PRAGMA application_id = 1"], 0),
}


@pytest.mark.parametrize("name", CHANGES)
def test_change_is_found(sound, name):
    statements, last_good = CHANGES[name]
    edit(sound, *statements)
    report = verify(sound)
    assert not report.ok
    assert report.fault is not None
    assert report.fault.endswith(f"last good fact n={last_good}")
    assert (report.last_n, report.facts) == (last_good, last_good)


def test_cut_tail_is_found_only_with_the_end_known_before(sound):
    known = verify(sound)
    edit(
        sound,
        "DELETE FROM facts WHERE n > 15",
        "DELETE FROM outbox WHERE n > 15",
        "UPDATE meta SET value = 5 WHERE key = 'sent_seq'",
    )
    assert verify(sound).ok
    report = verify(sound, expect_last=(known.last_n, known.last_hash))
    assert report.fault == (
        "the journal ends at n=15, but fact n=20 was known: its end is missing; last good fact n=15"
    )


def test_known_end_holds_after_more_was_appended(sound, make):
    known = verify(sound)
    with make.open(sound) as journal:
        make.fill(journal, 2)
    assert verify(sound, expect_last=(known.last_n, known.last_hash)).ok
    assert verify(sound, expect_last=(0, chain.genesis(make.feed, "t1").hex())).ok
    report = verify(sound, expect_last=(known.last_n, "00" * 32))
    assert report.fault is not None
    assert "rewritten" in report.fault
    assert verify(sound, expect_last=(0, "00" * 32)).fault


def flip(path: Path, offset: int) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= 0x20
    path.write_bytes(data)


def test_one_byte_of_a_body_or_a_frame_on_the_disk(sound):
    for word, last_good in ((b"K0000007", 6), (b"F0000010", 9)):
        copy = sound.with_name(word.decode())
        shutil.copyfile(sound, copy)
        data = copy.read_bytes()
        assert data.count(word) == 1
        flip(copy, data.index(word))
        assert verify(copy).last_n == last_good
        assert not verify(copy).ok


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:50],
        lambda data: b"\0" * 16 + data[16:],
        lambda data: data[:4096] + b"\xff" * 4096 * 4 + data[4096 * 5 :],
        lambda data: data[:-4096] + b"\xff" * 4096,
        lambda _data: b"this is a text, not a database\n" * 400,
        lambda _data: b"",
    ],
    ids=["half", "head", "magic", "pages", "last page", "text", "empty"],
)
def test_torn_and_foreign_files(sound, damage: Callable[[bytes], bytes]):
    sound.write_bytes(damage(sound.read_bytes()))
    report = verify(sound)
    assert report.fault is not None
    assert f"last good fact n={report.last_n}" in report.fault


def test_missing_file_is_an_error_not_a_fault(tmp_path):
    with pytest.raises(JournalError, match="there is no journal"):
        verify(tmp_path / "absent")
    with pytest.raises(JournalError, match="there is no journal"):
        verify(tmp_path)


def test_newer_format_is_an_error_not_a_fault(sound):
    edit(sound, "UPDATE meta SET value = 2 WHERE key = 'schema'")
    with pytest.raises(JournalError, match="its format is 2, this dealerd reads 1"):
        verify(sound)


def test_faults_name_no_content(sound):
    for statement in ("UPDATE facts SET type = 'x' WHERE n = 7", "UPDATE outbox SET n = 7 WHERE seq = 4"):
        edit(sound, statement)
        fault = verify(sound).fault
        assert fault is not None
        assert "K0" not in fault
        assert "F0" not in fault


def content(path: Path) -> tuple[list[FactRow], list[Frame]]:
    with open_read_only(path) as journal:
        return list(journal.facts()), journal.frames_since(-(2**63), 1_000)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, tuple[list[FactRow], list[Frame]]]:
    path = tmp_path_factory.mktemp("reference") / "j"
    with Journal.create_or_open(path, table="t1", now_ms=0, feed="a" * 32) as journal:
        for n in range(1, 41):
            made = [Frame(n // 2, n, b"frame %d" % n)] if n % 2 == 0 else []
            journal.append([FactRow(n, 1, n, "type", "shoe", f"round{n}", b"body %d" % n)], made)
    return path.read_bytes(), content(path)


@settings(max_examples=300)
@given(place=st.integers(0, 2**31), value=st.integers(1, 255), length=st.sampled_from([1, 1, 8, 64]))
def test_any_bytes_changed_on_the_disk_are_found_or_harmless(reference, place, value, length):
    data, expected = reference
    changed = bytearray(data)
    for i in range(place % len(data), min(place % len(data) + length, len(data))):
        changed[i] ^= value
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "j"
        path.write_bytes(changed)
        try:
            report = verify(path)
        except JournalError:
            return
        if report.ok:
            assert content(path) == expected
