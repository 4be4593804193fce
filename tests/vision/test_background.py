"""The model of the empty table, on drawn scenes: what it learns, what it follows, and that it never learns a card."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import cv2
import numpy as np
import pytest

from vision.background import Background, small
from vision.geometry import Points
from vision.layout import Layout
from vision.simulated.felt import Felt
from vision.simulated.render import Conditions, Renderer, corners_mm
from vision.simulated.scene import scene

SIZE = (640, 360)
SCENE = scene("baccarat")
#: Beside every position, on plain felt (mm).
BESIDE = (450.0, 300.0)


def nothing(image: Any) -> None:
    """Paint it there."""


class Table:
    """A drawn table, looked at some times; ``paint`` lays anything else on it."""

    def __init__(self) -> None:
        self.layout: Layout = SCENE.layout(SIZE)
        self.felt = Felt(SCENE, Random(3), speed=0)
        self.renderer = Renderer(SCENE, SIZE, 4)
        self.model = Background(self.layout)
        self.geometry = self.layout.geometry()
        self.now = 0.0
        self.light = 1.0
        self.paint: Callable[[Any], None] = nothing

    def watch(self, seconds: float, *, known: bool = False) -> None:
        """``known``: the cards are located, and told to the model."""
        hands = self.felt.hands(self.now)
        image = self.renderer.frame(self.felt.cards, hands, Conditions(light=self.light), self.felt.version)
        self.paint(image)
        cells = small(image)
        looks = min(round(2 * seconds), 10)
        for _ in range(looks):
            self.now += seconds / looks
            self.model.look(cells, self.now, self.cards if known else list)

    def cards(self) -> list[Points]:
        return [self.geometry.to_px(corners_mm(card, SCENE.card_mm)) for card in self.felt.cards]

    def place(self, position: str) -> Points:
        """Where a card lies in the middle of ``position`` (px)."""
        return self.box(*self.layout.middle_mm(position))

    def box(self, x: float, y: float) -> Points:
        return self.geometry.to_px([(x - 31, y - 44), (x + 31, y - 44), (x + 31, y + 44), (x - 31, y + 44)])

    def lay_paper(self, quad: Points) -> None:
        self.paint = lambda image: cv2.fillConvexPoly(image, np.round(quad).astype(np.int32), (230, 235, 235))


@pytest.fixture
def table() -> Table:
    table = Table()
    table.watch(30)
    return table


def test_nothing_is_known_at_first_and_the_felt_after_two_seconds() -> None:
    table = Table()
    table.watch(1)
    assert table.model.like(table.place("player/0")) == 0
    table.watch(3)
    assert table.model.like(table.place("player/0")) > 0.95


def test_print_and_felt_are_background_and_a_card_is_not(table: Table) -> None:
    assert table.model.foreground.mean() < 0.02
    table.felt.place("8D", "player/0", table.now)
    table.watch(1)
    assert table.model.like(table.cards()[0]) < 0.1
    assert table.model.like(table.place("banker/0")) > 0.95


@pytest.mark.parametrize("located", [True, False], ids=["located", "never located"])
@pytest.mark.parametrize("face_up", [True, False], ids=["face up", "face down"])
def test_a_card_left_for_minutes_is_not_absorbed(table: Table, *, located: bool, face_up: bool) -> None:
    table.felt.place("8D", "player/0", table.now, face_up=face_up)
    card = table.cards()[0]
    table.watch(300, known=located)
    assert table.model.like(card) < 0.2
    table.felt.collect(table.now)
    table.watch(1)
    assert table.model.like(card) > 0.95


def test_a_card_that_lies_there_at_the_start_is_not_absorbed() -> None:
    table = Table()
    table.felt.place("KS", "banker/1", 0)
    table.watch(120)
    assert table.model.like(table.cards()[0]) == 0
    assert table.model.like(table.place("banker/0")) > 0.95


@pytest.mark.parametrize("light", [0.55, 1.5])
def test_another_light_is_followed_at_once_also_under_a_card(table: Table, light: float) -> None:
    table.felt.place("8D", "player/0", table.now)
    table.watch(2, known=True)
    card, table.light = table.cards()[0], light
    table.watch(2, known=True)
    assert table.model.like(table.place("banker/0")) > 0.95
    assert table.model.like(card) < 0.2
    table.felt.collect(table.now)
    table.watch(0.5)
    assert table.model.like(card) > 0.95


def test_a_sunset_is_followed(table: Table) -> None:
    for step in range(20):
        table.light = 1.0 - step / 40
        table.watch(3)
    assert table.model.foreground.mean() < 0.02


def test_a_hand_is_no_background_while_it_moves_and_leaves_nothing_behind(table: Table) -> None:
    table.felt.speed = 1
    table.felt.wave("player/0", table.now, 8)
    table.watch(4)
    assert table.model.foreground.mean() > 0.02
    table.now += 10
    table.watch(1)
    assert table.model.foreground.mean() < 0.02


def test_a_chip_at_rest_beside_the_places_becomes_background(table: Table) -> None:
    x, y = (round(v) for v in table.geometry.to_px([BESIDE])[0])
    table.paint = lambda image: cv2.circle(image, (x, y), 16, (40, 30, 190), -1)
    table.watch(2)
    box = table.box(*BESIDE)
    alike = table.model.like(box)
    assert alike < 0.9
    table.watch(25)
    assert table.model.like(box) > 0.97


def test_a_screen_as_large_as_a_card_becomes_background_beside_the_places_only(
    table: Table,
) -> None:
    table.lay_paper(table.box(*BESIDE))
    table.watch(30)
    assert table.model.like(table.box(*BESIDE)) > 0.95
    table.lay_paper(table.place("banker/1"))
    table.watch(300)
    assert table.model.like(table.place("banker/1")) < 0.2


def test_lettering_within_a_place_is_learnt_and_a_card_over_it_is_seen(table: Table) -> None:
    x, y = table.geometry.to_px([table.layout.middle_mm("player/1")])[0]

    def letters(image: Any) -> None:
        cv2.putText(image, "P", (round(x) - 10, round(y) + 10), cv2.FONT_HERSHEY_SIMPLEX, 1.2, (235, 235, 235), 3)

    table.paint = letters
    table.watch(25)
    assert table.model.like(table.place("player/1")) > 0.95
    table.paint = nothing
    table.felt.place("2C", "player/1", table.now)
    table.watch(60)
    assert table.model.like(table.cards()[0]) < 0.3


def test_another_view_is_learnt_anew(table: Table) -> None:
    table.paint = lambda image: np.copyto(image, np.random.default_rng(1).integers(0, 255, image.shape, np.uint8))
    table.watch(2)
    assert table.model.foreground.mean() > 0.5
    table.paint = lambda image: np.copyto(image, cv2.flip(image, 0) // 2 + 90)
    table.watch(60)
    assert table.model.foreground.mean() < 0.05


@pytest.mark.parametrize("size", [(1920, 1080), (1366, 769), (641, 363), (100, 75)])
def test_pictures_of_any_size_are_taken(size: tuple[int, int]) -> None:
    layout = SCENE.layout(size)
    model, image = Background(layout), np.full((size[1], size[0], 3), 90, np.uint8)
    for second in range(4):
        model.look(small(image), second, list)
    assert not model.foreground.any()
