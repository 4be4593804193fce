"""``dealerd recognise``: pictures and films, wrong input, and the shared photographs where they are."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import cv2
import numpy as np
import pytest

from controller.cli import main
from vision.layout import save
from vision.simulated.felt import Felt
from vision.simulated.render import Conditions, Renderer
from vision.simulated.scene import scene

SIZE = (1280, 720)
#: Photographs of several decks and lights, one overlapping, one without a card.
SUBSET = ("sergio_", "gerry_", "guille_t_", "pawel_", "rd_", "neg_")


def test_a_film_tells_each_card_once_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = scene("baccarat")
    felt = Felt(table, Random(5), speed=0)
    renderer = Renderer(table, SIZE, 3)
    film = cv2.VideoWriter(str(tmp_path / "coup.avi"), cv2.VideoWriter.fourcc(*"MJPG"), 25, SIZE)
    for frame in range(24):
        if frame == 3:
            felt.place("9D", "player/0", 0.0)
        if frame == 12:
            felt.place("KC", "banker/0", 0.0)
        film.write(np.asarray(renderer.frame(felt.cards, [], Conditions(), felt.version), np.uint8))
    film.release()
    save(table.layout(SIZE), tmp_path / "table.toml")
    assert main(["recognise", "--video", str(tmp_path / "coup.avi"), "--layout", str(tmp_path / "table.toml")]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(event["position"], event["card"]) for event in events] == [("player/0", "9D"), ("banker/0", "KC")]
    assert 3 < events[0]["frame"] < 12 < events[1]["frame"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "name pictures, or one film"),
        (["--video", "x.mp4"], "belong together"),
        (["--video", "x.mp4", "--layout", "nosuch"], "no built-in layout"),
        (["absent.png"], "absent.png: cannot be read"),
        (["--profile", "nosuch", "absent.png"], "built in are standard"),
    ],
)
def test_wrong_input_is_told(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recognise", *words]) == 2
    assert told in capsys.readouterr().err


def test_what_is_no_picture_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.png").write_text("no picture")
    assert main(["recognise", str(tmp_path / "text.png")]) == 2
    assert "is no picture" in capsys.readouterr().err


@pytest.mark.timeout(180)
def test_shared_photographs_are_read_without_a_wrong_name(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = shared / "data" / "photos"
    rows = [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]
    first = {prefix: next(row for row in rows if Path(row["file"]).name.startswith(prefix)) for prefix in SUBSET}
    assert main(["recognise", *(str(folder / row["file"]) for row in first.values())]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    right = 0
    for row, answered in zip(first.values(), answers, strict=True):
        truth = [card["card"] for card in row["cards"]]
        named = [card["card"] for card in answered["cards"]]
        assert [name for name in named if name not in truth] == [], row["file"]
        right += len(named)
    assert right >= 0.8 * sum(len(row["cards"]) for row in first.values())
