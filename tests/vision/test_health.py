"""Light, focus and place of the camera against its calibration, on drawn pictures with cards and a hand on them."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from vision.health import PATIENCE, Health, HealthCheck
from vision.layout import Layout, load
from vision.simulated.felt import Felt
from vision.simulated.render import Conditions, Renderer
from vision.simulated.scene import scene
from vision.sources import Image
from vision.watch import FeltColour


@pytest.fixture(scope="module")
def layout() -> Layout:
    return load("studio-baccarat")


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    return Renderer(scene("baccarat"), (1280, 720), 5)


@pytest.fixture(scope="module")
def felt() -> Felt:
    felt = Felt(scene("baccarat"), Random(5), speed=0)
    for card, position in (("AS", "player/0"), ("KD", "player/1"), ("3H", "banker/0"), ("5C", "banker/2")):
        felt.place(card, position, 0)
    felt.speed = 1
    felt.wave("banker/1", 0, 60)
    return felt


def look(layout: Layout, renderer: Renderer, felt: Felt, conditions: Conditions) -> Health:
    check = HealthCheck(layout)
    found = Health(True, "", 0, 0, 0)
    for _ in range(PATIENCE):
        found = check.look(renderer.frame(felt.lying(1), felt.hands(1), conditions, felt.version))
    return found


@pytest.mark.parametrize(
    "conditions",
    [Conditions(), Conditions(noise=12), Conditions(light=0.6), Conditions(warmth=0.3), Conditions(shift=(4, 2, 0))],
)
def test_cards_hands_noise_and_other_light_are_no_alarm(
    layout: Layout, renderer: Renderer, felt: Felt, conditions: Conditions
) -> None:
    health = look(layout, renderer, felt, conditions)
    assert health.ok, health
    assert health.moved_mm < 5


@pytest.mark.parametrize(
    ("conditions", "reason"),
    [
        (Conditions(blur=3), "out of focus"),
        (Conditions(light=0.25), "too dark"),
        (Conditions(light=2.4), "too bright"),
        (Conditions(covered=True), "too dark"),
        (Conditions(shift=(20, 8, 0.5)), "the camera has moved"),
        (Conditions(shift=(0, 0, 1.2)), "the camera has moved"),
        (Conditions(shift=(300, 0, 0)), "another view than at calibration"),
    ],
)
def test_each_fault_is_named(
    layout: Layout, renderer: Renderer, felt: Felt, conditions: Conditions, reason: str
) -> None:
    health = look(layout, renderer, felt, conditions)
    assert not health.ok
    assert health.reason.startswith(reason)


def test_a_fault_must_last(layout: Layout, renderer: Renderer, felt: Felt) -> None:
    check = HealthCheck(layout)
    dark = renderer.frame(felt.lying(1), [], Conditions(light=0.2), felt.version)
    assert [check.look(dark).ok for _ in range(PATIENCE)] == [True] * (PATIENCE - 1) + [False]
    good = renderer.frame(felt.lying(1), [], Conditions(), felt.version)
    assert check.look(good).ok


@pytest.fixture(scope="module")
def picture(renderer: Renderer, felt: Felt) -> Image:
    return renderer.frame(felt.lying(1), felt.hands(1), Conditions(), felt.version)


@pytest.mark.parametrize(
    ("position", "bare"),
    [("player/0", False), ("banker/2", False), ("banker/1", False), ("player/2", True), ("burn/3", True)],
)
def test_felt_is_told_from_cards_and_hands(layout: Layout, picture: Image, position: str, bare: bool) -> None:
    quad = layout.geometry().to_px(layout.positions[position])
    assert FeltColour(picture, layout.felt_px()).bare(quad) is bare


def test_a_dark_sleeve_over_dark_felt_is_no_felt() -> None:
    scene_ = scene("boundless")
    felt = Felt(scene_, Random(3))
    felt.wave("player/5", 0, 60)  # the arm lies over dealer/5
    renderer = Renderer(scene_, (1280, 720), 3)
    picture = renderer.frame(felt.lying(1), felt.hands(1), Conditions(), felt.version)
    layout = load("studio-boundless")
    colours = FeltColour(picture, layout.felt_px())
    quads = {name: layout.geometry().to_px(polygon) for name, polygon in layout.positions.items()}
    assert not colours.bare(quads["dealer/5"])
    assert colours.bare(quads["dealer/0"])
    assert colours.bare(quads["split/1/6"])


def test_the_clips_are_seen_as_calibrated_from_beginning_to_end(shared: object) -> None:
    import cv2

    for number in (1, 2):
        check = HealthCheck(load(f"live-baccarat-{number}"))
        capture = cv2.VideoCapture(f"{shared}/data/clips/Testing{number}.mp4")
        for _ in range(30):
            capture.grab()
        _, image = capture.read()
        capture.release()
        health = check.look(np.asarray(image, np.uint8))
        assert health.ok
        assert health.moved_mm < 1
        assert 0.8 < health.sharpness < 1.2
