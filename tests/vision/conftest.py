"""A table of round numbers: one pixel a millimetre, three places side by side."""

from __future__ import annotations

import pytest

from vision.layout import Layout


def box(x: float, y: float, width: float = 90, height: float = 120) -> list[tuple[float, float]]:
    return [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]


@pytest.fixture
def layout() -> Layout:
    return Layout(
        name="plain",
        size=(640, 360),
        card_mm=(63.0, 88.0),
        matrix=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
        positions={"player/0": box(50, 100), "player/1": box(150, 100), "banker/0": box(350, 100)},
    )
