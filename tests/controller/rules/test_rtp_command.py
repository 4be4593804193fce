"""``dealerd rtp``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from controller.cli import rtp
from controller.returns import Return


def _run(*words: str) -> int:
    parser = argparse.ArgumentParser(prog="dealerd")
    rtp.add_parser(parser.add_subparsers(required=True))
    args = parser.parse_args(["rtp", *words])
    status = args.run(args)
    assert isinstance(status, int)
    return status


def _few(game: str, progress: Callable[[int, int], None]) -> list[Return]:
    progress(1, 4)
    progress(4, 4)
    return [Return(game, "main", "text", 99.51686844975)]


def test_rtp_json_has_six_decimals(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("baccarat", "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == [
        {"game": "baccarat", "bet": "BANKER", "rules": "text", "return_percent": 98.942094},
        {"game": "baccarat", "bet": "PLAYER", "rules": "text", "return_percent": 98.764919},
        {"game": "baccarat", "bet": "TIE", "rules": "text", "return_percent": 85.640371},
    ]
    assert err == ""


def test_rtp_without_a_game_prints_all_three(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rtp, "returns", _few)
    assert _run() == 0
    assert capsys.readouterr().out.splitlines() == [
        "game       bet   rules   return %",
        "boundless  main  text   99.516868",
        "classic    main  text   99.516868",
        "baccarat   main  text   99.516868",
    ]


def test_rtp_refuses_an_unknown_game_with_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        _run("poker")
    assert stop.value.code == 2
    assert "choose from 'boundless', 'classic', 'baccarat'" in capsys.readouterr().err


def test_rtp_shows_progress_on_a_terminal_at_once_and_clears_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rtp, "returns", _few)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    _run("classic", "--json")
    out, err = capsys.readouterr()
    assert err.startswith("\rclassic: counting deals, 25 %")
    assert err.endswith("\r\x1b[K")
    assert "classic: counting" not in out


def test_rtp_shows_progress_elsewhere_after_two_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 1.9, 2.1])
    monkeypatch.setattr(rtp, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(rtp, "returns", _few)
    _run("classic", "--json")
    assert capsys.readouterr().err == "classic: counting deals, 100 %\n"
