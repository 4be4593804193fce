"""Frames of a drawn table to sightings, with a recogniser that knows where the cards are: what is looked at, when."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from vision.layout import load
from vision.simulated.felt import Felt
from vision.simulated.render import Conditions, Renderer, corners_mm
from vision.simulated.scene import scene
from vision.tracking import Quad
from vision.watch import Watcher


class Knows:
    """Stands in for a recogniser: is told what lies on the felt."""

    def __init__(self, felt: Felt) -> None:
        self.felt = felt
        self.located = self.in_part = 0

    def locate(self, image: Any, within: Any = None) -> list[Quad]:  # noqa: ARG002
        self.located += within is None
        self.in_part += within is not None
        geometry = scene("baccarat").layout((1280, 720)).geometry()
        return [geometry.to_px(corners_mm(card, (63.0, 88.0))) for card in self.felt.lying(0)]

    def read_quad(self, image: Any, quad: Quad) -> Any:  # noqa: ARG002
        class Reading:
            kind, card, reason = "card", "KH", ""

        return Reading()


class Table:
    """A drawn table, watched at 25 frames a second."""

    def __init__(self) -> None:
        self.felt = Felt(scene("baccarat"), Random(1), speed=0)
        self.renderer = Renderer(scene("baccarat"), (1280, 720), 2)
        self.recogniser = Knows(self.felt)
        self.watcher = Watcher(self.recogniser, load("studio-baccarat"))
        self.now = 0.0

    def frames(self, count: int) -> list[tuple[str, str | None]]:
        told = []
        for _ in range(count):
            self.now += 0.04
            told += self.watcher.frame(self.picture(), self.now)
        return [(sighting.position, sighting.card) for sighting in told]

    def picture(self) -> Any:
        return self.renderer.frame(self.felt.lying(0), [], Conditions(noise=4), self.felt.version)


@pytest.fixture
def table() -> Table:
    return Table()


def test_cards_are_located_anew_when_the_picture_changes_and_now_and_then(table: Table) -> None:
    table.frames(12)
    assert (table.recogniser.located, table.recogniser.in_part) == (1, 0)  # noise is no change
    table.felt.place("KH", "player/0", 0)
    assert table.frames(8) == [("player/0", "KH")]
    assert (table.recogniser.located, table.recogniser.in_part) == (
        2,
        1,
    )  # the card's surroundings; half a second is over
    table.frames(25)  # a second: twice anyway
    assert 3 <= table.recogniser.located <= 5
    assert table.recogniser.in_part == 1


def test_positions_are_known_to_be_empty_where_felt_shows(table: Table) -> None:
    table.frames(1)
    picture = table.picture()
    assert set(table.watcher.empty(picture)) == set(table.watcher.layout.positions)
    table.felt.place("KH", "player/0", 0)
    picture = table.picture()
    # A card that nobody has read yet: neither empty nor told.
    assert set(table.watcher.layout.positions) - set(table.watcher.empty(picture)) == {"player/0"}
    table.frames(8)
    table.felt.collect(0)
    assert table.frames(15) == [("player/0", None)]
    assert "player/0" in table.watcher.empty(table.picture())


def test_a_picture_of_another_size_of_the_same_view_is_taken(table: Table) -> None:
    small = np.asarray(table.picture()[::2, ::2])
    assert table.watcher.straighten(small).shape == (720, 1280, 3)
    with pytest.raises(ValueError, match="another format than at calibration"):
        table.watcher.straighten(small[:, :400])
