"""A whole table in virtual time under every fault: nothing breaks, and what is planted is found."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller import facts as f
from controller.book.base import Book
from controller.cli import main
from controller.journal.store import Journal, JournalError
from controller.simulation import soak
from controller.simulation.soak import Failure, Plan, Session, play, shortest
from controller.simulation.soak_faults import BY_NAME, KINDS, Count, Injector, names
from controller.simulation.soak_figures import BEGIN, END
from controller.table.draft import Draft

ALL = names("all")
#: Rounds a game: a bounded soak, some seconds each.
ROUNDS = {"boundless": 300, "classic": 200, "baccarat": 400}


def plan_of(game: str, seed: int = 1, faults: tuple[str, ...] = ALL, **more: Any) -> Plan:
    return Plan(game, seed, faults, **more)


@pytest.mark.parametrize(("part", "sources"), [(0, "shoe"), (1, "both")])
@pytest.mark.parametrize("game", soak.GAMES)
def test_a_bounded_soak_under_all_faults_holds(game: str, part: int, sources: str) -> None:
    rounds, totals, session = ROUNDS[game] // 2, soak.Totals(), 1000 * part
    plan = plan_of(game, 20261130, sources=sources)
    while totals.rounds < rounds:
        _more, played = soak.run_session(plan, session, rounds - totals.rounds)
        failure = Failure(plan, session, played.world.steps, frozenset(), played.broken or "", 0)
        assert played.broken is None, failure.command()
        totals.add(played)
        session += 1
    assert totals.rounds == rounds
    assert totals.results > rounds // 2
    assert totals.voids > 0
    assert sum(count.injected > 0 for count in totals.counts.values()) > 25
    for name, count in totals.counts.items():
        ends = count.corrected + count.voided + count.harmless + count.unseen
        assert ends <= count.injected, name
        assert count.missed == 0, name


@pytest.mark.parametrize("game", soak.GAMES)
def test_the_same_seed_gives_the_same_journal(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hashes: list[str] = []
    close = Journal.close

    def remember(self: Journal) -> None:
        hashes.append(self.last_hash.hex())
        close(self)

    monkeypatch.setattr(Journal, "close", remember)
    first, again, other = (play(plan_of(game, seed), 3, rounds=20) for seed in (5, 5, 6))
    assert (first.world.inputs, first.world.now) == (again.world.inputs, again.world.now)
    assert hashes[0] == hashes[1] != hashes[2]
    assert first.broken is other.broken is None


@pytest.mark.parametrize("game", soak.GAMES)
def test_a_journal_in_memory_ends_like_one_on_a_file(game: str) -> None:
    faults = tuple(name for name in ALL if not name.startswith("disk_"))  # a real disk has its own mind
    ends = []
    for disk in ("real", "memory"):
        played = play(plan_of(game, 9, faults, disk=disk), 1, rounds=25)
        assert played.broken is None
        ends.append((played.world.shell.last_hash, played.world.shell.facts, played.world.now))
    assert ends[0] == ends[1]


def test_a_disk_fails_by_the_errors_of_sqlite_and_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    errors: set[str] = set()
    append = Journal.append

    def remember(self: Journal, *args: Any, **more: Any) -> None:
        try:
            append(self, *args, **more)
        except JournalError as error:
            errors.add(f"{type(error).__name__}: {error.__cause__}")
            raise

    monkeypatch.setattr(Journal, "append", remember)
    for name in ("disk_full", "disk_error"):
        monkeypatch.setitem(BY_NAME, name, replace(BY_NAME[name], chance=0.05))
    played = play(plan_of("baccarat", faults=("disk_full", "disk_error"), disk="real"), 0, rounds=40)
    assert played.broken is None
    assert errors == {"JournalFull: database or disk is full", "JournalError: disk I/O error"}


@pytest.mark.parametrize(("game", "session"), [("boundless", 2), ("baccarat", 2)])
def test_a_camera_sees_the_misread_that_a_shoe_alone_cannot(
    game: str, session: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BY_NAME, "misread", replace(BY_NAME["misread"], chance=0.05))
    plans = [plan_of(game, 4, ("misread",), sources=sources) for sources in ("shoe", "both")]
    alone, both = (play(plan, session, rounds=15) for plan in plans)
    assert alone.broken is both.broken is None
    blind, seen = (played.world.injector.counts["misread"] for played in (alone, both))
    assert blind.injected == blind.unseen > 3
    assert seen.detected == seen.injected > 3


def test_a_wrong_result_is_found_later_and_corrected_to_the_cent() -> None:
    """M-16, M-32: misreads settle rounds wrongly; two people correct them, and the accounts agree after each step."""
    totals = soak.Totals()
    for session in range(3):
        _more, played = soak.run_session(plan_of("baccarat", 8, ("misread", "reviewed")), session, 60)
        assert played.broken is None
        totals.add(played)
    assert totals.counts["reviewed"].corrected > 0


def test_without_faults_every_round_has_a_result() -> None:
    played = play(plan_of("boundless", faults=()), 0, rounds=70)
    assert (played.world.rounds, played.world.results, played.world.checks.incidents) == (70, 70, 0)


# --- what is planted is found --------------------------------------------------------------------------------------


def first_failure(plan: Plan, sessions: int = 20) -> Session:
    for session in range(sessions):
        played = play(plan, session, rounds=plan.session_rounds)
        if played.broken is not None:
            return played
    raise AssertionError("nothing was found")


def test_a_wrong_face_is_found_and_made_short(monkeypatch: pytest.MonkeyPatch) -> None:
    deal = Draft.deal

    def wrong(self: Draft, step: Any, position: str, face: str, **more: Any) -> None:
        deal(self, step, position, f"{face[0]}S" if position == "player/1" and face[1] == "H" else face, **more)

    monkeypatch.setattr(Draft, "deal", wrong)
    plan = plan_of("boundless")
    played = first_failure(plan)
    assert played.broken is not None
    assert "S counts, but the card is" in played.broken
    failure = shortest(plan, int(played.world.seed.split("/")[1]), played)
    assert failure.steps <= played.world.steps
    again = play(plan, failure.session, rounds=10**9, steps=failure.steps, muted=failure.muted)
    assert again.broken == failure.what
    assert play(plan, failure.session, rounds=10**9, steps=failure.steps - 1, muted=failure.muted).broken is None
    assert f"--seed 1 --session {failure.session} --steps {failure.steps}" in failure.command()


def test_a_card_dealt_while_held_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from controller.table import reads

    monkeypatch.setattr(
        reads,
        "_while_held",
        lambda draft, step, card, position: draft.deal(step, position or step.position or "", card),
    )
    assert "while the table is held" in (first_failure(plan_of("baccarat")).broken or "")


def test_a_cent_that_is_not_paid_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    due = Book.due

    def short(self: Book, limit: int) -> Any:
        rows = due(self, limit)
        return [msgspec.structs.replace(row, amount=max(0, row.amount - 1)) for row in rows]

    monkeypatch.setattr(Book, "due", short)
    assert first_failure(plan_of("baccarat", faults=("clock_step",))).broken is not None


def test_a_fact_that_is_not_durable_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    append = Journal.append

    def forgetful(self: Journal, facts: Any, frames: Any, **more: Any) -> None:
        if not any(row.type == f.BetsAccepted.__struct_config__.tag for row in facts):
            append(self, facts, frames, **more)

    monkeypatch.setattr(Journal, "append", forgetful)
    assert first_failure(plan_of("boundless")).broken is not None


# --- the injector --------------------------------------------------------------------------------------------------


def test_leaving_a_kind_out_moves_no_other() -> None:
    whole = Injector("s", ALL)
    muted = Injector("s", ALL, frozenset({"pause"}))
    rolls = [(whole.one_of("turn"), muted.one_of("turn")) for _ in range(5_000)]
    assert {a for a, b in rolls if a != b} == {"pause"}
    assert whole.counts["kill"].injected == pytest.approx(5_000 * BY_NAME["kill"].chance, rel=0.6)


def test_a_case_ends_as_its_round_does() -> None:
    injector = Injector("s", ALL)
    injector.counts["misread"] = Count()
    for name in ("misread", "kill", "split"):
        injector._inject(name)
    injector.open[1].detected = True
    injector.ended("missed", frozenset({"misread"}))
    assert (injector.counts["misread"].unseen, injector.counts["kill"].corrected) == (1, 1)
    assert injector.counts["split"].harmless == 1


def test_kinds_are_told_apart_and_named() -> None:
    assert len(BY_NAME) == len(KINDS)
    with pytest.raises(ValueError, match="fault 'flood' is not known"):
        names("kill,flood")


# --- the command ---------------------------------------------------------------------------------------------------


def test_a_range_goes_on_where_it_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def figures(*words: str) -> dict[str, Any]:
        assert main(["soak", "--game", "baccarat", "--seed", "3", "--faults", "all", "--json", *words]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        del found["cpu_s"], found["rounds_per_cpu_s"]
        return found

    file = str(tmp_path / "state.json")
    figures("--rounds", "60", "--state", file)
    assert figures("--rounds", "120", "--state", file) == figures("--rounds", "120")
    assert os.listdir(tmp_path) == ["state.json"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rounds", "5"], "--game is missing"),
        (["--game", "classic", "--rounds", "0"], "--rounds is 0"),
        (["--game", "classic", "--faults", "flood"], "fault 'flood' is not known"),
        (["--game", "classic", "--steps", "5"], "give --session, too"),
        (["--game", "classic", "--session", "-1"], "--session is 0 or more"),
        (["--game", "classic", "--go-on"], "give --state, too"),
    ],
)
def test_wrong_words_are_refused(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["soak", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_state_of_another_soak_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "state.json"
    for content, message in (
        ("{", "not a state of a soak"),
        ('{"game":"classic","seed":9,"faults":[]}', "belongs to"),
    ):
        file.write_text(content)
        assert main(["soak", "--game", "classic", "--rounds", "5", "--state", str(file)]) == 2
        assert message in capsys.readouterr().err
    assert main(["soak", "--game", "classic", "--rounds", "5", "--state", str(tmp_path)]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_a_failure_is_printed_with_the_command_that_shows_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("controller.simulation.soak_hands.natural", lambda _: False)
    status = main(["soak", "--game", "boundless", "--rounds", "200", "--seed", "2", "--faults", "none"])
    assert status == 0  # without faults nothing is checked but that rounds end
    assert main(["soak", "--game", "boundless", "--rounds", "200", "--seed", "2", "--faults", "clock_step"]) == 1
    out = capsys.readouterr().out
    broken = next(line for line in out.splitlines() if line.startswith("broken: "))
    again = next(line for line in out.splitlines() if line.startswith("again:")).split()[2:]
    assert main(again) == 1
    assert broken in capsys.readouterr().out


def test_a_failing_session_is_noted_and_the_next_one_played(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("controller.simulation.soak_hands.natural", lambda _: False)
    state = tmp_path / "state.json"
    words = ["soak", "--game", "boundless", "--rounds", "180", "--seed", "2", "--faults", "clock_step"]
    assert main([*words, "--state", str(state), "--go-on"]) == 1
    found = json.loads(state.read_text())
    assert found["session"] >= 3
    assert 1 <= len(found["failures"]) <= found["session"]
    assert found["failures"][0] in capsys.readouterr().out


def test_the_figures_of_states_go_into_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state, page = tmp_path / "state.json", tmp_path / "page.md"
    words = ["soak", "--game", "baccarat", "--rounds", "60", "--faults", "all", "--state", str(state)]
    assert main(words) == 0
    capsys.readouterr()
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    for _ in range(2):
        assert main(["soak", "--figures", str(state), "--into", str(page)]) == 0
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| baccarat | shoe | 1 | 60 |" in text
    assert "old" not in text
    page.write_text("no place\n")
    assert main(["soak", "--figures", str(state), "--into", str(page)]) == 2
    assert main(["soak", "--figures", str(page)]) == 2


def test_the_kinds_of_fault_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["soak", "--list-faults"]) == 0
    assert "kill_after_commit" in capsys.readouterr().out
