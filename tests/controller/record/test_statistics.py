"""Statistics of real facts: what is counted where, and that a fold in pieces is the fold of the whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from controller.commands import Statistics as Ask
from controller.record.queries import answer
from controller.record.statistics import TYPES, By, Intervals, Statistics
from controller.table.inputs import ShoeInput
from drivers import events as e

KINDS = get_args(By)


def troubled(play: Any) -> Any:
    """Three coups: one plain, one with an unread card and a pause, one void; the shoe is lost once."""
    p = play("baccarat")
    p.close()
    p.cards("9C 2H KS 5D")
    p.order("open_bets")
    p.close()
    p.put(ShoeInput(e.NoRead("NR")))
    p.now += 2000
    p.order("resolve", "supervisor", incident=1, resolution="rescan", reason="again")
    p.cards("9C 2H")
    p.order("pause", "dealer", reason="noise")
    p.now += 500
    p.order("resume", "supervisor", reason="quiet")
    p.cards("KS 5D")
    p.order("open_bets")
    p.close()
    p.put(ShoeInput(e.PortLost("gone")))
    p.now += 300
    p.put(ShoeInput(e.PortRestored("pty")))
    p.order("void", "supervisor", reason="felt disturbed")
    p.cards("2C")  # out of game
    return p


def groups(p: Any, path: Path, by: str) -> list[Any]:
    with p.journal(path / f"{by}.journal") as journal:
        found: list[Any] = answer(journal, Ask(by=by), Statistics())["groups"]  # type: ignore[arg-type]
    return found


def test_by_dealer_without_a_log_on_it_is_nobody(play: Any, tmp_path: Path) -> None:
    (found,) = groups(troubled(play), tmp_path, "dealer")
    assert found["dealer"] == "nobody"
    assert (found["rounds"], found["results"], found["voids"]) == (3, 2, 1)
    assert found["incidents"]["M-01"] == 1
    assert found["misreads"] == 1
    assert found["cards"] == 8


def test_by_supervisor_counts_what_each_did(play: Any, tmp_path: Path) -> None:
    (found,) = groups(troubled(play), tmp_path, "supervisor")
    assert found["supervisor"] == "supervisor:pat"
    assert {"shift_started", "resumed", "incident_resolved", "round_voided"} <= set(found["acts"])
    assert found["in_charge"]["rounds"] == 3


def test_by_shift(play: Any, tmp_path: Path) -> None:
    p = troubled(play)
    p.order("reopen", "supervisor", reason="cleared")
    p.order("end_shift", "supervisor")
    p.order("start_shift", "supervisor")
    first, second = groups(p, tmp_path, "shift")
    assert (first["rounds"], second["rounds"]) == (3, 0)
    assert first["ended_by"] == "supervisor:pat"
    assert second["to"] is None


def test_by_device_counts_losses_and_the_time_lost(play: Any, tmp_path: Path) -> None:
    found = {one["device"]: one for one in groups(troubled(play), tmp_path, "device")}
    shoe = found["shoe"]
    assert shoe["losses"] == 2  # at the start nothing is heard yet
    assert shoe["lost_ms"] >= 300
    assert (shoe["misreads"], shoe["out_of_game"]) == (1, 1)
    assert shoe["read_interval_ms"]["count"] > 0
    assert shoe["heard"]
    assert shoe["lost_ms"] < shoe["watched_ms"]


def test_by_error_has_resolutions_and_time_open(play: Any, tmp_path: Path) -> None:
    found = {one["error"]: one for one in groups(troubled(play), tmp_path, "error")}
    unread = found["M-01"]
    assert (unread["count"], unread["resolutions"]) == (1, {"rescan": 1})
    assert 2000 <= unread["open_ms"] < 2100
    assert unread["title"] == "card drawn but not read"


@pytest.mark.parametrize("by", KINDS)
def test_folding_in_pieces_gives_the_same(play: Any, tmp_path: Path, by: By) -> None:
    p = troubled(play)
    with p.journal(tmp_path / "t.journal") as journal:
        rows = list(journal.facts(types=TYPES))
        whole, pieces = Statistics(), Statistics()
        whole.take(rows)
        for row in rows:
            pieces.take([row])
        assert pieces.as_json(by) == whole.as_json(by) != []
        answered = Statistics()
        answer(journal, Ask(by=by), answered)
        assert answered.as_json(by) == whole.as_json(by)


def test_percentiles_are_of_the_values_counted() -> None:
    found = Intervals()
    assert found.as_json() == {"count": 0, "p50": None, "p95": None, "p99": None}
    for ms in (-5, 70_000, *range(1, 101)):
        found.add(ms)
    assert found.as_json() == {"count": 100, "p50": 50, "p95": 95, "p99": 99}
