"""A table over several months: a file each, one record, one start."""

from __future__ import annotations

import importlib.util
import itertools
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from controller import public
from controller.commands import History, ShoeReport
from controller.commands import Statistics as Ask
from controller.config import RecordSection
from controller.facts import decode_fact
from controller.journal.errors import JournalError
from controller.journal.reader import open_read_only
from controller.journal.store import Journal
from controller.journal.verify import verify
from controller.record.queries import answer
from controller.record.statistics import Statistics
from controller.service import milestone, succession
from controller.service.actor import Actor
from controller.service.audit import audit
from controller.service.setting import setting_of
from controller.table.table import Table


def at(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


class Hub:
    def wake(self) -> None: ...

    def publish(self, frame: bytes) -> None: ...


@pytest.fixture
def months(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A table file and three journals, sealed in between at the end of a shift; the second round of each month is in
    the new shift."""
    path = Path(__file__).parents[2] / "recovery" / "month.py"
    spec = importlib.util.spec_from_file_location("month", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "table.toml").write_text(module.TABLE.format(game="baccarat"))
    monkeypatch.setattr(module, "BEGAN_MS", at("2026-09-20T12:00"))
    loaded = module.load(tmp_path / "table.toml")
    month = module.Month(loaded, 7)
    public_state = public.initial()
    for begin in ("2026-10-02T00:10", "2026-11-01T00:20", None):
        wanted = month.rounds + 3
        while month.rounds < wanted or month.table.state.step.kind != "open_bets":
            month.step()
        month.order("end_shift", "supervisor")
        month.flush()
        if begin is None:
            break
        now = at(begin)
        assert succession.due(month.journal, month.table.state, now)
        for frame in month.journal.frames_since(0, 10**6):
            public.apply(public_state, module.frames.decode_frame(frame.frame))
        succession.succeed(month.journal, month.table, public_state, now)
        month.now = now - module.BEGAN_MS
        month.order("start_shift", "supervisor")
    month.journal.close()
    month.loaded = loaded
    return month


def test_each_month_is_a_sound_file_that_begins_with_the_last_hash_of_the_one_before(months: Any) -> None:
    path = months.loaded.journal
    names = [path.with_name(f"{path.name}.{label}") for label in ("2026-09", "2026-10")] + [path]
    reports = [verify(name) for name in names]
    assert [report.fault for report in reports] == [None] * 3
    for one, following in itertools.pairwise(reports):
        assert following.previous_hash == one.last_hash
        assert following.first_n == one.last_n + 1


def whole(months: Any) -> Table:
    """The fold of every fact of every file."""
    table = Table(setting_of(months.loaded))
    with open_read_only(months.loaded.journal) as reader:
        names = [*[one.path for one in reader.older()][::-1], reader.path]
    for name in names:
        with open_read_only(name) as reader:
            table.replay(decode_fact(row.body) for row in reader.facts())
    return table


def recovered(months: Any) -> Table:
    table = Table(setting_of(months.loaded))
    with Journal.create_or_open(months.loaded.journal, table="m-1", now_ms=0) as journal:
        Actor(table, journal, Hub()).recover()  # type: ignore[arg-type]
    return table


def test_a_start_reads_only_the_present_month(months: Any) -> None:
    wanted = whole(months).state
    assert recovered(months).state == wanted
    for label in ("2026-09", "2026-10"):
        os.unlink(f"{months.loaded.journal}.{label}")
    assert recovered(months).state == wanted


def test_a_head_of_another_program_falls_back_to_the_sealed_files(
    months: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = whole(months).state

    def cannot(*_: Any, **__: Any) -> Any:
        raise milestone.FreezeError("TableState has other attributes")

    monkeypatch.setattr(succession, "thaw_snapshot", cannot)
    assert recovered(months).state == wanted
    os.unlink(f"{months.loaded.journal}.2026-09")
    with pytest.raises(JournalError, match="put them back"):
        recovered(months)


def test_the_audit_of_a_later_month_makes_a_milestone_that_fits(months: Any) -> None:
    wanted = whole(months).state
    finding = audit(months.loaded, since_milestone=False)
    assert (finding.fault, finding.note) == (None, None)
    assert finding.milestone_n is not None
    assert finding.milestone_n > verify(f"{months.loaded.journal}.2026-10").last_n
    assert recovered(months).state == wanted
    assert audit(months.loaded, since_milestone=True).fault is None


def test_the_record_goes_back_through_the_months(months: Any) -> None:
    with open_read_only(months.loaded.journal) as journal:

        def ask(args: Any) -> Any:
            return answer(journal, args, Statistics())

        rounds = [one["round"] for one in ask(History())["rounds"]]
        assert len(rounds) == months.rounds == 9
        assert rounds == sorted(rounds, reverse=True)
        assert [one["round"] for one in ask(History(after=rounds[3], limit=4))["rounds"]] == rounds[4:8]
        for name in rounds:
            found = ask(History(round=name))
            assert (found["status"], found["game"]) == ("complete", "baccarat")
            assert found["shift"]["started_by"] == "supervisor:pat"
        assert ask(Ask(by="game"))["groups"][0]["rounds"] == 9
        assert [one["rounds"] for one in ask(Ask(by="shift"))["groups"]] == [3, 3, 3]
        first = ask(History(round=rounds[-1]))["shoe"]
        assert ask(ShoeReport(shoe=first))["shoe"] == first


def test_statistics_kept_from_the_month_before_go_on(months: Any) -> None:
    kept = Statistics()
    with open_read_only(f"{months.loaded.journal}.2026-09") as journal:
        answer(journal, Ask(by="game"), kept)
    with open_read_only(months.loaded.journal) as journal:
        assert (
            answer(journal, Ask(by="game"), kept)["groups"] == answer(journal, Ask(by="game"), Statistics())["groups"]
        )


def test_old_files_go_when_the_configuration_says_so(months: Any) -> None:
    path, now = str(months.loaded.journal), at("2027-04-01T00:00")
    assert succession.retire(path, 0, now) == []
    assert succession.retire(path, 5, now) == [f"{path}.2026-09"]
    assert succession.retire(path, 5, now) == []
    assert os.path.exists(f"{path}.2026-10")


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        ({"keep_months": 3}, "keep_months"),
        ({"audit_every_h": 48.0}, "audit_every_h"),
        ({"audit_every_h": 0.0}, "more"),
    ],
)
def test_settings_that_are_refused(values: dict[str, Any], wrong: str) -> None:
    (problem,) = RecordSection(**values).problems()
    assert wrong in problem


def test_nothing_is_sealed_in_the_same_month_or_in_play(months: Any) -> None:
    with Journal.create_or_open(months.loaded.journal, table="m-1", now_ms=0) as journal:
        state = whole(months).state
        assert state.phase == "closed"
        assert not succession.due(journal, state, at("2026-11-30T23:59"))
        assert succession.due(journal, state, at("2026-12-01T00:00"))
        state.phase = "burning"
        assert not succession.due(journal, state, at("2026-12-01T00:00"))
