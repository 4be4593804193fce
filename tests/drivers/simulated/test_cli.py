"""``dealerd shoe``: help and wrong input."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from controller.cli.shoe import add_parser, main, run
from drivers.simulated.faults import FAULTS


def test_help_names_every_fault_and_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    for name in (*FAULTS["line"], *FAULTS["angel"], "draw", "rescan_last", "push_back", "play N", "quit"):
        assert name in text


def test_it_is_a_command_of_the_program() -> None:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    args = parser.parse_args(["shoe", "--protocol", "line"])
    assert args.run is run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: --protocol"),
        (["--protocol", "morse"], "invalid choice: 'morse'"),
        (["--protocol", "line", "--link", "a", "--port", "b"], "not allowed with"),
        (["--protocol", "line", "--cards", "a", "--replay", "b"], "not allowed with"),
        (["--protocol", "line", "--link", ""], "'' is not the name of a file"),
        (["--protocol", "line", "--control", "/"], "'/' is not the name of a file"),
        (["--protocol", "line", "--seed", "x"], "invalid int"),
        (["--protocol", "line", "--speed", "-1"], "give 0 (no waiting) or more"),
        (["--protocol", "line", "--speed", "nan"], "give 0 (no waiting) or more"),
        (["--protocol", "line", "--speed", "inf"], "give 0 (no waiting) or more"),
        (["--protocol", "line", "--mode", "open"], "--mode is for --protocol angel"),
        (["--protocol", "angel", "--code-set", "suit_rank"], "--code-set is for --protocol line"),
        (["--protocol", "line", "--fault", "bad_bcc"], "choose one of babble, corrupt"),
        (["--protocol", "angel", "--fault", "misread"], "choose one of babble, bad_bcc"),
        (["--protocol", "line", "--fault", "drop:7"], "probability must be 0 to 1"),
        (["--protocol", "line", "--cut", "417"], "--cut: the cut card cannot lie behind 417"),
        (["--protocol", "line", "--cards", "{missing}"], "missing cannot be read"),
        (["--protocol", "line", "--cards", "{wrong}"], "wrong: line 1, column 4: 'XY' is not a card"),
        (["--protocol", "line", "--cards", "{folder}"], "cannot be read"),
        (["--protocol", "line", "--replay", "{wrong}"], "wrong: line 1: not hex bytes"),
        (["--protocol", "line", "--replay", "{empty}"], "empty: nothing in it"),
        (["--protocol", "line", "--replay", "{hex}", "--cut", "3"], "--cut has no effect on a recording"),
        (["--protocol", "line", "--replay", "{hex}", "--fault", "misread"], "choose one of babble, corrupt"),
        (["--protocol", "line", "--link", "{missing}/shoe"], "its folder must exist"),
        (["--protocol", "line", "--port", "{missing}"], "there is no"),
        (["--protocol", "line", "--port", "rfc2217://x"], "only device paths"),
        (["--protocol", "line", "--control", "{missing}/ctl"], "no control socket at"),
        (["--protocol", "line", "--log", "{missing}/log"], "no log"),
    ],
)
def test_wrong_input_is_told_and_ends_with_2(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "wrong").write_text("TD XY")
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "hex").write_text("41 42")
    names = {name: tmp_path / name for name in ("missing", "wrong", "empty", "hex")} | {"folder": tmp_path}
    with pytest.raises(SystemExit) as end:
        main([argument.format(**names) for argument in arguments])
    assert end.value.code == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert "Traceback" not in errors
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "hex", "wrong"]
