"""``dealerd calibrate shoe`` as a technician runs it, on simulated shoes over a pseudo-terminal."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from controller.cards import shuffled_shoe
from controller.cli import main
from drivers.self_test import load_tests

PROGRAM = [sys.executable, "-c", "import sys; from controller.cli import main; sys.exit(main())"]
PATIENCE_S = 40


class Shoe:
    """A simulated shoe that does what it is told."""

    def __init__(self, folder: Path, protocol: str, *options: str) -> None:
        self.link, control = folder / "shoe", folder / "shoe.ctl"
        words = ["shoe", "--protocol", protocol, "--link", str(self.link), "--control", str(control)]
        self._process = subprocess.Popen(
            [*PROGRAM, *words, "--speed", "0", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline(), "the simulated shoe does not start"
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(PATIENCE_S)
        self._socket.connect(str(control))
        self._lines = self._socket.makefile("rb")

    def ask(self, command: str) -> dict[str, Any]:
        self._socket.sendall(command.encode() + b"\n")
        answer = json.loads(self._lines.readline())
        assert isinstance(answer, dict)
        return answer

    def stop(self) -> None:
        self._lines.close()
        self._socket.close()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        assert self._process.wait(PATIENCE_S) == 0


@pytest.fixture
def shoe(tmp_path: Path) -> Iterator[Callable[..., Shoe]]:
    started: list[Shoe] = []

    def start(protocol: str, *options: str) -> Shoe:
        made = Shoe(tmp_path, protocol, "--seed", "7", *options)
        assert made.ask("status")["ok"]
        started.append(made)
        return made

    yield start
    for each in started:
        each.stop()


class Run(tuple[int, str, str]):
    """Exit status, output, and what the technician was told."""

    status = property(lambda self: self[0])
    out = property(lambda self: self[1])
    said = property(lambda self: self[2])


def calibrate(shoe: Shoe, cards: int, *words: str | Path, tried: str = "y\n", faults: tuple[str, ...] = ()) -> Run:
    """Run the command and be the hands: try the locked exit, then draw ``cards``."""
    command = [*PROGRAM, "calibrate", "shoe", *map(str, words), "--cards", str(cards), "--hold", "0.3", "--idle", "3"]
    done = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.stdin is not None
    assert done.stdout is not None
    assert done.stderr is not None
    said = ""
    for line in done.stderr:
        said += line
        if "Try to draw" in line:
            assert "locked" in shoe.ask("draw")["error"]
            done.stdin.write(tried)
            done.stdin.close()
        if "Draw all" in line:
            for fault in faults:
                assert shoe.ask(f"fault {fault}")["ok"]
            while shoe.ask("status")["drawn"] < cards:
                assert shoe.ask("draw")["ok"]
    out = done.stdout.read()
    for stream in (done.stdin, done.stdout, done.stderr):
        stream.close()
    return Run((done.wait(PATIENCE_S), out, said))


def a_table(folder: Path, *lines: str) -> Path:
    path = folder / "table.toml"
    path.write_text(
        '[table]\nid = "t"\njournal = "t.db"\n[game]\ngame = "baccarat"\n[shoe]\nprotocol = "angel"\n'
        f'port = "shoe"\n{chr(10).join(lines)}\n'
    )
    return path


@pytest.mark.system
def test_the_lock_is_permitted_by_its_proof_alone(
    shoe: Callable[..., Shoe], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "record.json"
    table = a_table(tmp_path)
    device = shoe("angel", "--bcc", "without_stx")
    run = calibrate(
        device, 16, record, "--table", table, "--device", "0123", "--by", "anna", "--set", "red", "--json"
    )
    assert run.status == 0, run
    made = json.loads(run.out)
    assert made["lock"] == {
        "with_stx": "nak 02", "without_stx": "ack", "bcc": "without_stx", "held": True, "opened": True,
    }  # fmt: skip
    assert (made["by"], made["cards"], made["figures"]["cards"]) == ("anna", "red", 16)
    assert load_tests(record).port == str(tmp_path / "shoe")

    lock = 'lock = "on"'
    assert main(["run", str(a_table(tmp_path, lock)), "--check"]) == 2
    assert "needs self_test" in capsys.readouterr().err
    named = 'self_test = "record.json"'
    assert main(["run", str(a_table(tmp_path, lock, named)), "--check"]) == 2
    assert 'set bcc = "without_stx"' in capsys.readouterr().err
    assert main(["run", str(a_table(tmp_path, lock, named, 'bcc = "without_stx"')), "--check"]) == 0
    assert main(["run", str(a_table(tmp_path, named)), "--check"]) == 0


@pytest.mark.system
def test_a_lock_that_nobody_tried_is_not_proven(
    shoe: Callable[..., Shoe], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "record.json"
    words = (record, "--protocol", "angel", "--port", tmp_path / "shoe", "--device", "0123")
    device = shoe("angel")
    run = calibrate(device, 6, *words, tried="n\n")
    assert run.status == 1, run
    assert "NOT lock" in run.out
    assert main(["run", str(a_table(tmp_path, 'self_test = "record.json"')), "--check"]) == 2
    assert "failed (lock)" in capsys.readouterr().err
    assert device.ask("load")["ok"]
    again = calibrate(device, 6, *words, "--no-lock")
    assert again.status == 0, again
    assert " lock " not in again.out
    assert len(load_tests(record).tests) == 2
    assert main(["calibrate", "shoe", str(record), "--show"]) == 0
    told = capsys.readouterr().out
    assert "2 tests" in told
    assert "FAILED" in told


@pytest.mark.system
def test_a_shoe_that_answers_no_command_passes_without_its_lock(shoe: Callable[..., Shoe], tmp_path: Path) -> None:
    device = shoe("angel", "--bcc", "silent")
    words = ("--protocol", "angel", "--port", tmp_path / "shoe", "--device", "0123", "--json")
    run = calibrate(device, 5, tmp_path / "record.json", *words)
    assert run.status == 0, run
    lock = json.loads(run.out)["lock"]
    assert (lock["with_stx"], lock["without_stx"], lock["bcc"]) == ("silent", "silent", None)


@pytest.mark.system
def test_unread_cards_and_an_order_seen_before_fail(shoe: Callable[..., Shoe], tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    table = a_table(tmp_path, "repeat_window_s = 0.0")
    table.write_text(table.read_text().replace('"angel"', '"line"'))
    device = shoe("line")
    first = calibrate(device, 60, record, "--table", table, "--device", "4")
    assert first.status == 0, first
    assert device.ask("load 7")["ok"]
    assert device.ask("load")["ok"]
    assert calibrate(device, 60, record, "--table", table, "--no-lock").status == 0, "another shuffle"
    assert device.ask("load 7")["ok"]
    unread = calibrate(device, 8, record, "--table", table, faults=("no_read",))
    assert unread.status == 1, unread
    assert "NOT unread       1 cards" in unread.out


@pytest.mark.system
def test_the_same_order_again_was_not_shuffled(shoe: Callable[..., Shoe], tmp_path: Path) -> None:
    cards = tmp_path / "cards"
    cards.write_text(" ".join(shuffled_shoe(Random(3))))
    record = tmp_path / "record.json"
    table = a_table(tmp_path, "repeat_window_s = 0.0")
    table.write_text(table.read_text().replace('"angel"', '"line"'))
    device = shoe("line", "--cards", str(cards))
    words = (record, "--table", table, "--device", "4", "--order", cards)
    assert calibrate(device, 60, *words).status == 0
    assert device.ask("load")["ok"]
    again = calibrate(device, 60, *words)
    assert again.status == 1, again
    assert "NOT repeat" in again.out


@pytest.mark.system
def test_a_reader_names_each_tag_once(shoe: Callable[..., Shoe], tmp_path: Path) -> None:
    tags = tmp_path / "tags.toml"
    device = shoe("feig", "--write-tags", str(tags))
    words = ("--protocol", "feig", "--port", tmp_path / "shoe", "--tags", tags, "--device", "7")
    run = calibrate(device, 4, tmp_path / "record.json", *words)
    assert run.status == 0, run
    assert "each tag of this shoe, once and alone" in run.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "one of the arguments --table --protocol --show is required"),
        (("--protocol", "line"), "--protocol needs --port"),
        (("--protocol", "line", "--port", "p"), "--device is missing"),
        (("--protocol", "line", "--port", "p", "--device", "d", "--cards", "0"), "--cards 0"),
        (("--protocol", "line", "--port", "p", "--device", "d", "--idle", "nan"), "--idle nan"),
        (("--protocol", "line", "--port", "p", "--device", "d", "--order", "none"), "--order none"),
        (("--protocol", "line", "--port", "p", "--device", "d", "--tags", "x"), "tags has no effect"),
        (("--protocol", "feig", "--port", "p", "--device", "d"), "tags is missing"),
        (("--table", "none.toml"), "none.toml"),
        (("--show",), "cannot be read"),
    ],
    ids=str,
)
def test_wrong_input_is_refused(
    words: tuple[str, ...],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        status = main(["calibrate", "shoe", "record.json", *words])
    except SystemExit as error:
        status = int(str(error.code))
    assert status == 2
    assert says in capsys.readouterr().err
    assert not Path("record.json").exists()


def test_no_line_is_no_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("calibration.shoe_lock.OPEN_S", 0.3)
    words = ["--protocol", "angel", "--port", str(tmp_path / "nothing"), "--device", "d"]
    for more in ([], ["--no-lock"]):
        assert main(["calibrate", "shoe", str(tmp_path / "record.json"), *words, *more]) == 1
        assert "there is no" in capsys.readouterr().err
    assert not (tmp_path / "record.json").exists()


def test_a_record_is_of_one_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "record.json"
    record.write_text(json.dumps({"version": 1, "device": "a", "protocol": "line", "port": "/dev/a", "tests": []}))
    words = ["calibrate", "shoe", str(record), "--protocol", "line", "--port"]
    assert main([*words, "/dev/b"]) == 2
    assert "line at /dev/a, not line at /dev/b" in capsys.readouterr().err
    assert main([*words, "/dev/a", "--device", "b"]) == 2
    assert "of 'a'" in capsys.readouterr().err
