"""The demo as a newcomer runs it: real processes, a late joiner, the same evening twice."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from controller.simulation.demo import Play, check_journal, good
from controller.simulation.studio import Scene, Studio


def demo(*words: str) -> Any:
    command = [sys.executable, "-m", "controller.cli", "demo", "--json", "--speed", "0", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.timeout(300)
def test_two_hundred_boundless_rounds_twice_are_the_same_evening() -> None:
    first, second = (demo("--game", "boundless", "--seed", "7", "--rounds", "200") for _ in range(2))
    for summary in (first, second):
        assert summary["rounds"] == 200
        assert summary["incidents"] == summary["voided"] == 0
        assert summary["staked"] > summary["returned"] > 0
        assert summary["snapshot_equal"]
        assert summary["late_joiner_equal"]
        assert summary["journal_ok"]
    assert first["sequence"] == second["sequence"]
    assert first["facts"] == second["facts"]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("decisions", ["book", "platform"])
@pytest.mark.parametrize("game", ["classic", "baccarat"])
def test_the_other_games_both_ways_of_deciding(game: str, decisions: str) -> None:
    summary = demo("--game", game, "--seed", "3", "--rounds", "30", "--decisions", decisions)
    assert (summary["rounds"], summary["incidents"]) == (30, 0)
    assert (summary["staked"] > 0) == (decisions == "book")


@pytest.mark.timeout(120)
def test_another_seed_is_another_evening() -> None:
    assert demo("--seed", "1", "--rounds", "3")["sequence"] != demo("--seed", "2", "--rounds", "3")["sequence"]


@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    ("game", "protocol", "words"),
    [
        ("baccarat", "angel", ("--mode", "hidden")),
        ("baccarat", "line", ()),
        ("boundless", "line", ("--fault", "no_read:0.05", "--fault", "corrupt:0.03")),
    ],
)
def test_other_scenes_play_on(
    tmp_path_factory: pytest.TempPathFactory, game: str, protocol: str, words: tuple[str, ...]
) -> None:
    folder: Path = tmp_path_factory.mktemp("scene")
    scene = Scene(game=game, protocol=protocol, seed="5", speed=0.0, rounds=25, shoe_args=words)
    studio = Studio(folder, scene)
    with studio, studio.client() as client:
        summary = Play(studio).watch(client, lambda *_: None)
    check_journal(studio, summary)
    assert good(summary), summary
    assert summary["rounds"] == 25
    assert (summary["incidents"] > 0) == ("--fault" in words)


def _processes_of(folder: Path) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if str(folder).encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found


@pytest.mark.timeout(120)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_demo_that_is_ended_leaves_no_process_behind(tmp_path: Path, number: signal.Signals) -> None:
    folder = tmp_path / "evening"
    words = [sys.executable, "-m", "controller.cli", "demo", "--no-console", "--speed", "20", "--folder", str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        while "card_dealt" not in (line := demo.stdout.readline()):
            assert line, "the demo ended by itself"
        demo.send_signal(number)
        said = demo.stdout.read()
        assert demo.wait(60) == 0
    assert "stopped after" in said
    assert _processes_of(folder) == []
