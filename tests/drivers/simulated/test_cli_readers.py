"""``dealerd shoe`` and ``dealerd decode`` for readers and scanners: help and wrong input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from controller.cli import main as dealerd
from controller.cli.shoe import main
from drivers.feig import frames as feig
from drivers.simulated.faults import FAULTS
from drivers.simulated.tag_deck import made_registry
from drivers.tags import TagRegistry, write_registry


def test_help_names_every_fault(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    for protocol in ("ssi", "feig", "rr3036"):
        assert f"faults, {protocol}:" in text
        assert all(name in text for name in FAULTS[protocol])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--protocol", "line", "--tags", "x"], "--tags is for --protocol feig or rr3036"),
        (["--protocol", "ssi", "--write-tags", "x"], "--write-tags is for --protocol feig or rr3036"),
        (["--protocol", "angel", "--gap", "1"], "--gap is for --protocol feig or rr3036"),
        (["--protocol", "feig", "--code-set", "suit_rank"], "--code-set is for --protocol line or ssi"),
        (["--protocol", "feig", "--gap", "-1"], "--gap -1.0: give 0 or more"),
        (["--protocol", "feig", "--tags", "x", "--write-tags", "y"], "not allowed with"),
        (["--protocol", "feig", "--tags", "{missing}"], "missing: cannot be read"),
        (["--protocol", "rr3036", "--tags", "{short}"], "short: not a whole shoe"),
        (["--protocol", "feig", "--write-tags", "{missing}/x"], "no registry"),
        (["--protocol", "feig", "--replay", "{short}"], "--replay is for --protocol line or angel"),
        (["--protocol", "feig", "--fault", "misread"], "choose one of corrupt, drop"),
    ],
)
def test_wrong_input_is_told_and_ends_with_2(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_registry(tmp_path / "short", TagRegistry("red", {}))
    names = {name: tmp_path / name for name in ("missing", "short")}
    with pytest.raises(SystemExit) as end:
        main([argument.format(**names) for argument in arguments])
    assert end.value.code == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["short"]


def test_decode_names_cards_with_a_registry(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    registry = made_registry(1)
    uid, card = next(iter(registry.cards.items()))
    answer = feig.Answer(feig.INVENTORY, feig.OK, feig.encode_tags([feig.Tag(uid)]))
    (tmp_path / "capture.hex").write_text(feig.encode_answer(answer).hex() + "\n")
    write_registry(tmp_path / "red.toml", registry)
    words = ["decode", "--protocol", "feig", str(tmp_path / "capture.hex")]
    assert dealerd([*words, "--tags", str(tmp_path / "red.toml")]) == 0
    assert dealerd(words) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == {"event": "card_drawn", "card": card, "tag": uid}
    assert lines[2] == {"event": "tag_unknown", "raw": "tag in no registry", "tag": uid}
    assert dealerd([*words, "--tags", str(tmp_path / "none")]) == 2
