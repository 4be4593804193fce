"""A start from a milestone equals that from all facts; what does not fit is passed over; an audit finds faults."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest

from controller import public
from controller.commands import Command, Resume
from controller.config import Loaded
from controller.facts import decode_fact
from controller.frames import decode_frame
from controller.journal.reader import open_read_only
from controller.journal.store import Journal
from controller.service import milestone
from controller.service.actor import Actor
from controller.service.audit import audit
from controller.service.auditor import Auditor
from controller.service.freeze import FreezeError, freeze, thaw
from controller.service.setting import setting_of
from controller.table.inputs import CommandInput
from controller.table.table import Table

GAMES = ("boundless", "classic", "baccarat")
#: A shoe and a half of each game.
ROUNDS = {"boundless": 75, "classic": 55, "baccarat": 85}


class Hub:
    """What an actor needs of a hub before it serves."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def wake(self) -> None: ...

    def publish(self, frame: bytes) -> None:
        self.sent.append(frame)

    def refresh_keys(self) -> bool:
        return False

    def game_server_here(self) -> bool | None:
        return None


@pytest.fixture(scope="module")
def month() -> Any:
    path = Path(__file__).parents[2] / "recovery" / "month.py"
    spec = importlib.util.spec_from_file_location("month", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def played(month: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Loaded]:
    """``played(game)``: a table file with the journal of a shoe and a half, audited. Not to be changed."""
    made: dict[str, Loaded] = {}

    def one(game: str) -> Loaded:
        if game not in made:
            made[game] = month.build(tmp_path_factory.mktemp(game), ROUNDS[game], game)
            finding = audit(made[game], since_milestone=False)
            assert (finding.fault, finding.note) == (None, None)
            assert finding.milestone_n is not None
        return made[game]

    return one


@pytest.fixture
def copied(played: Callable[[str], Loaded], tmp_path: Path) -> Loaded:
    """A baccarat table to spoil."""
    source = played("baccarat")
    for name in source.path.parent.iterdir():
        if name.is_file():
            shutil.copy(name, tmp_path / name.name)
    return msgspec.structs.replace(source, path=tmp_path / source.path.name)


def started(loaded: Loaded) -> Actor:
    """A recovered actor; its journal is closed."""
    with Journal.create_or_open(loaded.journal, table=loaded.config.table.id, now_ms=0) as journal:
        actor = Actor(Table(setting_of(loaded)), journal, Hub())  # type: ignore[arg-type]
        actor.recover()
    return actor


@pytest.mark.parametrize("game", GAMES)
def test_a_start_from_the_milestone_is_the_start_from_all_facts(played: Callable[[str], Loaded], game: str) -> None:
    loaded = played(game)
    table = Table(setting_of(loaded))
    state = public.initial()
    with open_read_only(loaded.journal) as reader:
        table.replay(decode_fact(row.body) for row in reader.facts())
        for frame in reader.frames_since(0, 10**6):
            public.apply(state, decode_frame(frame.frame))
    kept = milestone.read(loaded.journal)
    assert kept is not None
    assert 0 < kept.n < table.state.n
    actor = started(loaded)
    assert actor._table.state == table.state
    assert actor._public == state
    if table.state.book is not None:
        assert actor._table.state.book is not None
        assert actor._table.state.book.check() == table.state.book.check()


@pytest.mark.parametrize("game", GAMES)
def test_every_state_of_an_evening_comes_back_equal(played: Callable[[str], Loaded], game: str) -> None:
    loaded = played(game)
    table = Table(setting_of(loaded))
    with open_read_only(loaded.journal) as reader:
        for row in reader.facts():
            table.replay([decode_fact(row.body)])
            if row.n % 41 == 0 or row.type in ("incident_raised", "decision_opened", "settlement_posted"):
                frozen = freeze(table.state)
                back = thaw(frozen, like=Table(table.setting).state)
                assert back == table.state
                assert freeze(back) == frozen
            if row.n > 1200:
                return


def test_a_thawed_state_goes_on_as_the_original(played: Callable[[str], Loaded]) -> None:
    """Not only equal: the facts that follow change it alike, caches and settings included."""
    loaded = played("boundless")
    one, other = Table(setting_of(loaded)), Table(setting_of(loaded))
    with open_read_only(loaded.journal) as reader:
        rows = list(reader.facts())
    at = len(rows) // 2
    one.replay(decode_fact(row.body) for row in rows[:at])
    other.state = thaw(freeze(one.state), like=other.state)
    for table in (one, other):
        table.replay(decode_fact(row.body) for row in rows[at:])
    assert one.state == other.state
    assert freeze(one.state) == freeze(other.state)


def test_two_thawed_states_share_nothing_that_can_change(played: Callable[[str], Loaded]) -> None:
    """What a book computes for itself once stayed behind in the next one: another round's pay."""
    loaded = played("boundless")
    table = Table(setting_of(loaded))
    with open_read_only(loaded.journal) as reader:
        table.replay(decode_fact(row.body) for row in reader.facts(to_n=300))
    frozen = freeze(table.state)
    one, other = (vars(thaw(frozen, like=Table(table.setting).state).book) for _ in range(2))
    shared = [name for name in one if isinstance(one[name], dict | list | set) and one[name] is other[name]]
    assert shared == []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"null",
        b'["o","os","system",{}]',
        b'["o","controller.table.state","Shoe",{}]',
        b'["x"]',
        b"[" * 5000,
    ],
)
def test_bytes_that_are_no_state_are_refused(played: Callable[[str], Loaded], data: bytes) -> None:
    with pytest.raises(FreezeError):
        thaw(data, like=Table(setting_of(played("baccarat"))).state)


def test_a_state_with_other_attributes_is_refused(played: Callable[[str], Loaded]) -> None:
    table = Table(setting_of(played("baccarat")))
    frozen = freeze(table.state)
    for old, new in ((b'"epoch":', b'"epoch_":'), (b'"epoch":0', b'"epoch":0,"more":1')):
        assert old in frozen
        with pytest.raises(FreezeError, match="other attributes"):
            thaw(frozen.replace(old, new), like=table.state)


SPOIL = {
    "a byte of the state": lambda m: msgspec.structs.replace(m, state=m.state.replace('"t"', '"l"', 1)),
    "another feed": lambda m: msgspec.structs.replace(m, feed="f" * 32),
    "another place": lambda m: msgspec.structs.replace(m, n=m.n - 1),
    "another hash": lambda m: msgspec.structs.replace(m, hash="0" * 64),
}


@pytest.mark.parametrize("what", SPOIL)
def test_a_milestone_that_does_not_fit_is_passed_over(copied: Loaded, what: str) -> None:
    whole = started(copied)
    kept = milestone.read(copied.journal)
    assert kept is not None
    if what == "a byte of the state":  # without its digest
        path = milestone.path_of(copied.journal)
        body = path.read_bytes()
        path.write_bytes(body.replace(b'\\"epoch\\":1', b'\\"epoch\\":7', 1))
        assert path.read_bytes() != body
        assert milestone.read(copied.journal) is None
    else:
        milestone.write(copied.journal, SPOIL[what](kept))
    assert started(copied)._table.state == whole._table.state


def test_a_milestone_that_lies_is_found_by_the_full_audit(copied: Loaded) -> None:
    kept = milestone.read(copied.journal)
    assert kept is not None
    milestone.write(copied.journal, msgspec.structs.replace(kept, state=kept.state.replace('"epoch":1', '"epoch":7')))
    finding = audit(copied, since_milestone=False)
    assert finding.fault == f"the milestone at fact n={kept.n} is not what the facts say"


def test_an_audit_names_the_last_good_fact(copied: Loaded) -> None:
    with apsw.Connection(str(copied.journal)) as con:
        con.execute("UPDATE facts SET at_ms = at_ms + 1 WHERE n = 1000")
    con.close()
    finding = audit(copied, since_milestone=False)
    assert finding.fault is not None
    assert "last good fact n=999" in finding.fault
    # Behind the milestone the quick walk does not look; that is what the full one is for.
    assert audit(copied, since_milestone=True).fault is None


def test_an_audit_from_the_milestone_goes_on_from_it(copied: Loaded) -> None:
    first = audit(copied, since_milestone=True)
    assert first.fault is None
    assert first.last_n == started(copied)._table.state.n
    with apsw.Connection(str(copied.journal)) as con:
        con.execute("UPDATE facts SET at_ms = at_ms + 1 WHERE n = (SELECT max(n) - 3 FROM facts)")
    con.close()
    found = audit(copied, since_milestone=True)
    assert found.fault is not None
    assert f"last good fact n={first.last_n - 4}" in found.fault


def test_the_milestone_has_its_journals_mode(copied: Loaded) -> None:
    path = milestone.path_of(copied.journal)
    assert path.stat().st_mode & 0o777 == 0o600


# --- the process beside the table ----------------------------------------------------------------------------------


def finished(auditor: Auditor, now: int) -> None:
    """Let the audit that runs come to its end."""
    count = auditor.audits
    assert auditor._child is not None
    auditor._child.wait(60)
    auditor.tick(now)
    assert auditor.audits == count + 1


def test_the_auditor_runs_at_its_times_and_tells_a_changed_table_file(copied: Loaded) -> None:
    auditor = Auditor(copied, 0, first_ms=100, every_ms=1000)
    try:
        auditor.tick(99)
        assert auditor._child is None
        auditor.tick(100)
        finished(auditor, 101)
        assert auditor.failure is None
        auditor.tick(1099)
        assert auditor._child is None
        copied.path.write_text(copied.path.read_text().replace("[game]\n", "[game]\nbetting_s = 9.0\n"))
        auditor.tick(1100)
        finished(auditor, 1101)
        assert auditor.failure == "the table file is not the one it was started with"
    finally:
        auditor.close()


def test_a_failed_audit_ends_with_its_process(copied: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    auditor = Auditor(copied, 0, first_ms=0)
    auditor.tick(0)
    assert auditor._child is not None
    auditor._child.wait(10)
    auditor.tick(1)  # no answer is no finding
    assert (auditor.failure, auditor.audits) == (None, 0)
    auditor.close()


class Failed:
    """An auditor that has found something."""

    def __init__(self) -> None:
        self.failure: str | None = None

    def tick(self, now: int) -> None: ...

    def shoe_ended(self, n: int) -> None: ...


def test_a_failed_audit_holds_the_table_whoever_resumes(copied: Loaded) -> None:
    auditor = Failed()
    with Journal.create_or_open(copied.journal, table=copied.config.table.id, now_ms=0) as journal:
        table = Table(setting_of(copied))
        actor = Actor(table, journal, Hub(), auditor=auditor)  # type: ignore[arg-type]
        actor.recover()
        actor._keys_at = 0
        actor._tick()
        assert "pause" not in table.state.holds
        auditor.failure = "the program's files are not those it was started with"
        for _ in range(2):
            for _ in range(2):  # once is enough
                actor._keys_at = 0
                actor._tick()
            hold = table.state.holds["pause"]
            assert hold.by == "policy:audit"
            assert hold.reason == "the audit failed: the program's files are not those it was started with"
            args = Resume(reason="never mind")
            seen = table.state.seq
            order = Command(id="resume-it", name="resume", args=args, seen_seq=seen, role="supervisor", person="sam")
            actor._take(CommandInput(order, "20261129"))
            assert "pause" not in table.state.holds
        assert sum(row.type == "paused" for row in journal.facts()) == 2
