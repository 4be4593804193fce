"""The simulated tables: felt, print, positions and the place of the camera, all in millimetres of the felt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from vision.geometry import Points
from vision.layout import Layout, Polygon, Row
from vision.simulated.faces import Style

CARD_MM: Final = (63.0, 88.0)
#: Room around a card in its place.
_ROOM_MM: Final = 6.0
_PITCH_MM: Final = CARD_MM[0] + 2 * _ROOM_MM + 1.0


#: Seats of the classic scene, with room for six cards in each of two hands.
CLASSIC_SEATS: Final = 2


class SceneError(Exception):
    """No such scene."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A table as its maker sees it: ``extent_mm`` (width, height) is what the camera shows, ``sideways`` the
    positions whose card lies across, ``print_`` the lettering as (text, x, y, height in mm)."""

    name: str
    extent_mm: tuple[float, float]
    positions: dict[str, Polygon]
    felt: tuple[int, int, int] = (70, 110, 40)
    style: Style = "live"
    sideways: frozenset[str] = frozenset()
    print_: list[tuple[str, float, float, float]] = field(default_factory=list)
    lines: list[Sequence[tuple[float, float]]] = field(default_factory=list)
    card_mm: tuple[float, float] = CARD_MM

    def camera(self, size: tuple[int, int], tilt_deg: float = 16.0) -> Points:
        """The homography from mm to px of a camera that looks at the table's middle, ``tilt_deg`` off vertical."""
        width, height = self.extent_mm
        tilt = np.radians(tilt_deg)
        distance = 1.6 * width
        focal = size[0] * distance / width * 0.97
        lens = np.array([[focal, 0, size[0] / 2], [0, focal, size[1] / 2], [0, 0, 1]])
        cos, sin = np.cos(tilt), np.sin(tilt)
        # Columns: the felt's x, its y, and its middle, as the camera sees them; y grows towards the players.
        view = np.array([[1, 0, -width / 2], [0, cos, -cos * height / 2], [0, -sin, distance + sin * height / 2]])
        matrix = lens @ view
        return np.asarray(matrix / matrix[2, 2], np.float64)

    def layout(self, size: tuple[int, int]) -> Layout:
        """The layout as it truly is: what a calibration should find."""
        rows: list[Row] = [(float(row[0]), float(row[1]), float(row[2])) for row in self.camera(size)]
        return Layout(
            name=self.name,
            size=size,
            card_mm=self.card_mm,
            matrix=(rows[0], rows[1], rows[2]),
            positions=self.positions,
        )


def _place(x: float, y: float, across: bool = False) -> Polygon:
    """The polygon of a place whose upper left corner is (x, y)."""
    width, height = (side + 2 * _ROOM_MM for side in (reversed(CARD_MM) if across else CARD_MM))
    return [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]


def _row(prefix: str, count: int, x: float, y: float, first: int = 0) -> dict[str, Polygon]:
    return {f"{prefix}/{first + n}": _place(x + n * _PITCH_MM, y) for n in range(count)}


def _baccarat() -> Scene:
    positions = _row("burn", 11, 28, 14)
    positions |= _row("player", 2, 236, 236) | _row("banker", 2, 520, 236)
    positions |= {"player/2": _place(126, 262, across=True), "banker/2": _place(682, 262, across=True)}
    return Scene(
        name="studio-baccarat",
        extent_mm=(900.0, 506.0),
        positions=positions,
        felt=(72, 104, 38),
        sideways=frozenset({"player/2", "banker/2"}),
        print_=[("PLAYER", 200, 205, 42), ("BANKER", 520, 205, 42), ("BACCARAT", 240, 452, 62)],
        lines=[[(60, 380), (840, 380)], [(450, 140), (450, 370)], [(40, 470), (180, 470)], [(720, 470), (860, 470)]],
    )


def _boundless() -> Scene:
    positions = _row("burn", 11, 82, 10) | _row("dealer", 11, 82, 124) | _row("player", 11, 82, 238)
    positions |= _row("split/0", 6, 14, 352, first=1) | _row("split/1", 6, 528, 352, first=1)
    return Scene(
        name="studio-boundless",
        extent_mm=(1000.0, 562.0),
        positions=positions,
        felt=(96, 78, 36),
        print_=[("BOUNDLESS BLACKJACK", 170, 528, 44), ("D", 24, 192, 40), ("P", 24, 306, 40)],
        lines=[[(20, 470), (980, 470)], [(20, 545), (150, 545)], [(850, 545), (980, 545)], [(500, 360), (500, 450)]],
    )


def _classic() -> Scene:
    positions = _row("burn", 11, 82, 10) | _row("dealer", 9, 82, 124)
    for seat in range(1, CLASSIC_SEATS + 1):
        for hand in range(2):
            positions |= _row(f"seat/{seat}/hand/{hand}", 6, 494 * seat - 478, 238 + hand * 114)
    return Scene(
        name="studio-classic",
        extent_mm=(1000.0, 562.0),
        positions=positions,
        felt=(60, 96, 30),
        print_=[("BLACKJACK PAYS 3 TO 2", 170, 528, 44), ("D", 24, 192, 40)],
        lines=[[(20, 470), (980, 470)], [(20, 545), (150, 545)], [(850, 545), (980, 545)]],
    )


SCENES: Final = {"baccarat": _baccarat, "boundless": _boundless, "classic": _classic}


def scene(name: str) -> Scene:
    """The scene of that name. Raises ``SceneError``."""
    if name not in SCENES:
        raise SceneError(f"{name!r}: no such scene; there is: {', '.join(SCENES)}")
    return SCENES[name]()
