"""``dealerd calibrate tags``: lists, checks, and a reader that is a simulated device."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.cards import FACES, full_shoe
from controller.cli import main
from drivers.simulated.tag_deck import made_registry
from drivers.tags import TagRegistry, load_registry, write_registry

PATIENCE_S = 30.0
PYTHON = [sys.executable, "-c", "import sys; from controller.cli import main; sys.exit(main())"]


def calibrate(*words: str | Path) -> int:
    return main(["calibrate", "tags", *map(str, words)])


@pytest.fixture
def deck(tmp_path: Path) -> Path:
    path = tmp_path / "deck.csv"
    path.write_text("uid,card\n" + "".join(f"{uid},{card}\n" for uid, card in made_registry(1).cards.items()))
    return path


def test_from_a_list(tmp_path: Path, deck: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "red.toml"
    assert calibrate(out, "--shoe", "red", "--from", deck) == 0
    assert "shoe red, 416 tags: whole" in capsys.readouterr().out
    assert load_registry(out) == TagRegistry("red", made_registry(1).cards)
    assert calibrate("--check", out) == 0


def test_a_list_that_is_short_is_written_and_told(
    tmp_path: Path, deck: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deck.write_text("\n".join(deck.read_text().splitlines()[:-3]))
    out = tmp_path / "red.toml"
    assert calibrate(out, "--shoe", "red", "--from", deck) == 1
    told = capsys.readouterr().out
    assert "414 tags: 1 of QC missing, 1 of KC missing" in told


def test_check_names_what_is_missing_and_what_is_in_two_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    red, blue = tmp_path / "red.toml", tmp_path / "blue.toml"
    whole = dict(made_registry(1).cards)
    shared = next(uid for uid, card in whole.items() if card == "7H")
    write_registry(red, TagRegistry("red", whole))
    write_registry(blue, TagRegistry("blue", {shared: "AS"}))
    assert calibrate("--check", "--json", red, blue) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], len(report["faults"])) == (False, 1)
    assert shared in report["faults"][0]
    assert report["files"][0] == {"file": str(red), "shoe": "red", "tags": 416, "missing": {}, "surplus": {}}
    assert report["files"][1]["missing"]["AS"] == 7
    assert calibrate("--check", red) == 0
    assert calibrate("--check", red, blue) == 1
    assert f"tag {shared} is in the shoes" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{new}", "--from", "{deck}"], "--shoe is missing"),
        (["{new}", "--from", "{deck}", "--shoe", "Red"], "--shoe: shoe 'Red'"),
        (["{new}", "--from", "{none}", "--shoe", "red"], "none: cannot be read"),
        (["{new}", "--from", "{wrong}", "--shoe", "red"], "wrong: line 2"),
        (["{wrong}", "--from", "{deck}", "--shoe", "red"], "exists"),
        (["{new}", "{deck}", "--from", "{deck}", "--shoe", "red"], "2 files"),
        (["{none}/new", "--from", "{deck}", "--shoe", "red"], "cannot be written"),
        (["{new}", "--reader", "feig", "--shoe", "red"], "needs --port"),
        (["{new}", "--reader", "feig", "--shoe", "red", "--port", "rfc2217://x"], "only device paths"),
        (["{new}", "--reader", "rr3036", "--shoe", "red", "--port", "x", "--frames", "standard"], "no effect"),
        (["{red}", "--reader", "feig", "--shoe", "blue", "--port", "x"], "is of shoe 'red'"),
        (["--check", "{none}"], "none: cannot be read"),
        (["--check", "{wrong}"], "wrong: not TOML"),
    ],
)
def test_wrong_input_is_told_and_ends_with_2(
    words: list[str], message: str, tmp_path: Path, deck: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wrong").write_text("uid,card\nx\n")
    write_registry(tmp_path / "red", TagRegistry("red", {}))
    names = {name: tmp_path / name for name in ("new", "none", "wrong", "red")} | {"deck": deck}
    assert calibrate(*(word.format(**names) for word in words)) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


class Shoe:
    """A simulated reader whose cards leave on command."""

    def __init__(self, folder: Path, protocol: str, cards: list[str]) -> None:
        (folder / "cards").write_text(" ".join(cards))
        words = ["shoe", "--protocol", protocol, "--seed", "1", "--speed", "0", "--link", str(folder / "line")]
        words += [
            "--control",
            str(folder / "ctl"),
            "--cards",
            str(folder / "cards"),
            "--tags",
            str(folder / "sim.toml"),
        ]
        write_registry(folder / "sim.toml", made_registry(1))
        self.process = subprocess.Popen([*PYTHON, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.process.stdout.readline()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(PATIENCE_S)
        self._socket.connect(str(folder / "ctl"))
        self._file = self._socket.makefile("rw")

    def ask(self, command: str) -> None:
        self._file.write(command + "\n")
        self._file.flush()
        assert json.loads(self._file.readline())["ok"]

    def stop(self) -> None:
        self._file.close()
        self._socket.close()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()
        assert self.process.wait(PATIENCE_S) == 0


@pytest.fixture(params=["feig", "rr3036"])
def shoe(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Shoe]]:
    device = Shoe(tmp_path, request.param, ["AS", "KC", "QC", "KC"])
    yield request.param, device
    device.stop()


@pytest.mark.system
def test_card_by_card_at_a_reader_stopped_and_gone_on_with(shoe: tuple[str, Shoe], tmp_path: Path) -> None:
    protocol, device = shoe
    out = tmp_path / "red.toml"
    # All but the last two cards were enrolled before, under numbers of another make.
    done = {f"E00701{n:010X}": card for n, card in enumerate(sorted(full_shoe(), key=FACES.index)[:-2])}
    write_registry(out, TagRegistry("red", done))
    words = ["calibrate", "tags", str(out), "--reader", protocol, "--port", str(tmp_path / "line")]

    first = subprocess.Popen([*PYTHON, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert first.stdout is not None
    assert first.stdout.readline() == "show KC, number 7 of 8 (2 left)\n"
    assert first.stdout.readline() == "  the reader answers\n"
    device.ask("draw")
    assert first.stdout.readline().startswith("  KC E004")
    assert first.stdout.readline() == "show KC, number 8 of 8 (1 left)\n"
    device.ask("rescan_last")
    assert "enrolled as KC" in first.stdout.readline()
    device.ask("fault two_tags")
    device.ask("draw")
    assert "several tags at once" in first.stdout.readline()
    first.send_signal(signal.SIGINT)
    rest, errors = first.communicate(timeout=PATIENCE_S)
    assert (first.returncode, "stopped" in errors) == (1, True), errors
    assert "1 of KC missing" in rest

    second = subprocess.Popen([*PYTHON, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert second.stdout is not None
    assert second.stdout.readline() == "show KC, number 8 of 8 (1 left)\n"
    assert second.stdout.readline() == "  the reader answers\n"
    device.ask("draw")
    text, errors = second.communicate(timeout=PATIENCE_S)
    assert (second.returncode, text.splitlines()[-1]) == (0, f"{out}: shoe red, 416 tags: whole"), errors
    assert time.time() - os.stat(out).st_mtime < PATIENCE_S
    assert load_registry(out).shoe == "red"
