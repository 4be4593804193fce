"""``dealerd camera --simulate`` as a real process: its control socket, its pictures, its faults."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from controller.cli import main
from controller.simulation.studio import CAMERA_SEATS
from vision.layout import load
from vision.mjpeg import MjpegStream, StreamError
from vision.simulated.felt import Felt, Refused
from vision.simulated.scene import SCENES, scene
from vision.sources import Image, Picture

PATIENCE_S = 20.0


class Camera:
    """A running simulated camera."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.socket = folder / "camera.ctl"
        command = [sys.executable, "-m", "controller.cli", "camera", "--simulate", "baccarat", "--size", "640x360"]
        self.process = subprocess.Popen(
            [*command, "--seed", "3", "--control", str(self.socket), *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert self.process.stdout is not None
        ready = self.process.stdout.readline().decode()
        assert ready, self.process.stderr.read().decode() if self.process.stderr else ""
        self.url = ready.split()[0].removeprefix("url=")

    def ask(self, line: str) -> dict[str, Any]:
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(PATIENCE_S)
            control.connect(str(self.socket))
            control.sendall(line.encode() + b"\n")
            with control.makefile("rb") as answers:
                answer: dict[str, Any] = json.loads(answers.readline())
        return answer

    def picture(self) -> Image:
        """A picture drawn after this call."""
        stream = MjpegStream(self.url, PATIENCE_S)
        try:
            stream.picture()
            return Picture(jpeg=stream.picture()).image()
        finally:
            stream.close()

    def whole(self) -> None:
        """Wait until pictures are whole again."""
        while True:
            with contextlib.suppress(StreamError):
                self.picture()
                return

    def close(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()  # a parent that died
        status = self.process.wait(PATIENCE_S)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return status


@pytest.fixture
def camera(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Camera]:
    started = Camera(tmp_path_factory.mktemp("cam"), "--speed", "0")
    yield started
    assert started.close() == 0
    assert not started.socket.exists()


def white(image: Image, position: str) -> float:
    """How much of a position is as white as paper."""
    layout = scene("baccarat").layout((image.shape[1], image.shape[0]))
    x, y = np.round(layout.geometry().to_px([layout.middle_mm(position)])[0]).astype(int)
    return float((image[y - 20 : y + 20, x - 15 : x + 15].min(axis=2) > 150).mean())


@pytest.mark.system
def test_cards_come_and_go_as_the_hands_are_told(camera: Camera) -> None:
    assert white(camera.picture(), "player/0") < 0.1
    assert camera.ask("place KH player/0") == {"ok": True}
    assert camera.ask("place 3C banker/2 down") == {"ok": True}
    assert camera.ask("felt")["cards"] == {"player/0": "KH", "banker/2": "**"}
    assert white(camera.picture(), "player/0") > 0.4
    assert camera.ask("turn banker/2") == {"ok": True}
    assert camera.ask("move player/0 player/1") == {"ok": True}
    assert camera.ask("felt")["cards"] == {"player/1": "KH", "banker/2": "3C"}
    assert camera.ask("remove player/1") == {"ok": True}
    assert camera.ask("collect") == {"ok": True}
    assert white(camera.picture(), "player/1") < 0.1


@pytest.mark.system
def test_faults_of_light_and_line(camera: Camera) -> None:
    bright = camera.picture().mean()
    assert camera.ask("fault dark 0.2")["ok"]
    assert camera.picture().mean() < 0.5 * bright
    assert camera.ask("status")["faults"] == ["dark"]
    assert camera.ask("clear") == {"ok": True}
    assert camera.ask("fault refuse 60")["ok"]
    with pytest.raises(StreamError, match="503"):
        MjpegStream(camera.url, PATIENCE_S)
    assert camera.ask("clear") == {"ok": True}
    assert camera.ask("fault corrupt")["ok"]
    stream = MjpegStream(camera.url, PATIENCE_S)
    with pytest.raises(StreamError, match="no whole JPEG"):
        _ = [stream.picture() for _ in range(5)]
    stream.close()
    assert camera.ask("clear") == {"ok": True}
    camera.whole()
    assert camera.ask("fault freeze")["ok"]
    still = camera.picture()
    assert np.array_equal(still, camera.picture())
    assert camera.ask("clear") == {"ok": True}
    assert not np.array_equal(still, camera.picture())


@pytest.mark.system
def test_what_hands_cannot_do_is_told(camera: Camera) -> None:
    assert camera.ask("place KH player/0")["ok"]
    for line, words in (
        ("place KH player/0", "a card lies at player/0 already"),
        ("place XX player/1", "'XX' is not a card"),
        ("place KH nowhere", "is no position of this table"),
        ("turn banker/0", "no card lies at banker/0"),
        ("place KH", "write it as: place CARD POSITION [down]"),
        ("dance", "unknown command 'dance'"),
        ("hand player/0 -1", "more than 0"),
        ("fault blurry", "choose one of blur"),
        ("fault glare", "give one position"),
        ("fault blur x", "not a number"),
    ):
        answer = camera.ask(line)
        assert answer["ok"] is False
        assert words in answer["error"], line


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give TABLE.toml for the camera service, or --simulate SCENE"),
        (("--simulate", "poker"), "no such scene; there is: baccarat"),
        (("--simulate", "baccarat", "--size", "10x10"), "--size 10x10: WIDTHxHEIGHT"),
        (("--simulate", "baccarat", "--fps", "0"), "--fps 0: more than 0"),
        (("--simulate", "baccarat", "--speed", "-1"), "--speed -1: 0 (no hands) or more"),
        (("--simulate", "baccarat", "--http", "70000"), "--http 70000: a port"),
        (("--simulate", "baccarat", "--control", "/nowhere/ctl"), "no control socket at"),
    ],
)
def test_wrong_input_ends_with_2(words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["camera", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", SCENES)
def test_no_two_places_overlap_and_all_are_in_the_picture(name: str) -> None:
    layout = scene(name).layout((1280, 720))
    assert layout.problems() == []
    for position in layout.positions:
        assert layout.position_at(layout.middle_mm(position)) == position
        corners = layout.geometry().to_px(layout.positions[position])
        assert (corners > 0).all()
        assert (corners < layout.size).all()


@pytest.mark.parametrize("name", SCENES)
def test_the_built_in_layout_of_a_scene_has_its_places(name: str) -> None:
    layout, drawn = load(f"studio-{name}"), scene(name).layout((1280, 720))
    assert layout.positions.keys() == drawn.positions.keys()
    for position, polygon in drawn.positions.items():
        assert np.allclose(layout.positions[position], polygon)
        seen = layout.geometry().to_px(polygon) - drawn.geometry().to_px(polygon)
        assert np.abs(seen).max() < 1  # the plane was measured, not copied


def test_the_classic_felt_has_room_for_the_seats_of_the_demo() -> None:
    places = scene("classic").positions
    for seat in range(1, CAMERA_SEATS + 1):
        assert {f"seat/{seat}/hand/{hand}/{card}" for hand in (0, 1) for card in range(6)} <= set(places)
    assert not any(place.startswith((f"seat/{CAMERA_SEATS + 1}/", "seat/0/")) for place in places)


def test_a_hand_carries_the_card_to_its_place_and_goes() -> None:
    from random import Random

    felt = Felt(scene("baccarat"), Random(1))
    done = felt.place("KH", "player/0", 10.0)
    assert felt.lying(10.1) == []
    (hand,) = felt.hands(10.1)
    assert hand.carries is not None
    assert [card.position for card in felt.lying(done - 0.1)] == ["player/0"]
    (hand,) = felt.hands(done - 0.1)
    assert hand.carries is None
    assert felt.lying(done + 0.1)[0].shown == "KH"
    assert felt.hands(done + 0.1) == []
    with pytest.raises(Refused, match="lies at player/0 already"):
        felt.place("2C", "player/0", done)
