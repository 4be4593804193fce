"""Draws what the simulated camera sees: felt, cards, hands, light, and what is wrong with the picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Geometry, Points
from vision.simulated.faces import Image, face
from vision.simulated.felt import Hand, Lying
from vision.simulated.scene import Scene

#: Different grains of noise that take turns.
_GRAINS: Final = 5
_SKIN: Final = (150, 170, 215)
_SLEEVE: Final = (60, 50, 45)


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Light and lens. ``light`` multiplies, ``warmth`` shifts blue to red, ``blur`` is the lens' sigma (px),
    ``glare`` a point (mm) of reflection, ``shift`` a bumped camera (px, px, degrees), ``noise`` a sigma (grey
    levels), ``markers`` lays calibration markers on the felt, ``covered`` puts something before the lens."""

    light: float = 1.0
    warmth: float = 0.0
    blur: float = 0.5
    glare: tuple[float, float] | None = None
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    noise: float = 2.0
    markers: bool = False
    covered: bool = False


def marker_points(scene: Scene) -> dict[int, tuple[float, float]]:
    """Where ``markers`` lays its ArUco markers: number → middle (mm); 60 mm wide, of the dictionary 4X4_50."""
    width, height = scene.extent_mm
    inset = 70.0
    return {
        0: (inset, inset),
        1: (width - inset, inset),
        2: (width - inset, height - inset),
        3: (inset, height - inset),
        4: (width / 2, height / 2),
    }


MARKER_MM: Final = 60.0


class Renderer:
    """One camera above one scene. Pictures are BGR, ``size`` (width, height)."""

    def __init__(self, scene: Scene, size: tuple[int, int], seed: int) -> None:
        self.scene = scene
        self.size = size
        self._rng = np.random.default_rng(seed)
        self._grain = self._rng.normal(0, 1, (size[1], size[0])).astype(np.float32)
        self._noise: tuple[float, list[Any]] = (-1.0, [])
        self._still: tuple[object, Image] | None = None
        self._cloth: tuple[object, Image] | None = None
        self._last_grain = 0

    def geometry(self, conditions: Conditions) -> Geometry:
        """Where the felt is in this camera's pictures now."""
        dx, dy, degrees = conditions.shift
        turn = cv2.getRotationMatrix2D((self.size[0] / 2, self.size[1] / 2), degrees, 1.0)
        bump = np.vstack([turn, [0, 0, 1]])
        bump[:2, 2] += (dx, dy)
        matrix = np.asarray(bump @ self.scene.camera(self.size), np.float64)
        return Geometry(matrix, self.scene.card_mm, self.size)

    def frame(self, cards: list[Lying], hands: list[Hand], conditions: Conditions, version: int) -> Image:
        """One picture. ``version`` changes whenever ``cards`` do."""
        key = (version, conditions)
        if self._still is None or self._still[0] != key:
            self._still = (key, self._compose(cards, conditions))
        image = self._still[1].copy()
        geometry = self.geometry(conditions)
        for hand in hands:
            if hand.carries is not None:
                self._card(image, hand.carries, geometry)
            self._hand(image, hand, geometry)
        return self._grainy(image, conditions)

    # --- what lies still -----------------------------------------------------------------------------------

    def _compose(self, cards: list[Lying], conditions: Conditions) -> Image:
        geometry = self.geometry(conditions)
        bare = (conditions.shift, conditions.markers)
        if self._cloth is None or self._cloth[0] != bare:
            self._cloth = (bare, self._felt(geometry))
            if conditions.markers:
                self._markers(self._cloth[1], geometry)
        image = self._cloth[1].copy()
        for card in cards:
            self._card(image, card, geometry)
        if conditions.glare is not None:
            self._glare(image, conditions.glare, geometry)
        return self._lit(image, conditions)

    def _felt(self, geometry: Geometry) -> Image:
        """Cloth with its print; the rim of the table shows where the camera sees beyond it."""
        width, height = (round(side) for side in self.scene.extent_mm)
        margin = 200
        canvas = np.full((2 * (height + 2 * margin), 2 * (width + 2 * margin), 3), self.scene.felt, np.uint8)
        white = (225, 225, 220)

        def at(x: float, y: float) -> tuple[int, int]:
            return round(2 * (x + margin)), round(2 * (y + margin))

        for line in self.scene.lines:
            cv2.line(canvas, at(*line[0]), at(*line[1]), white, 5, cv2.LINE_AA)
        font: Any = cv2.FontFace("sans")
        for text, x, y, tall in self.scene.print_:
            cv2.putText(canvas, text, at(x, y), white, font, round(2 * tall * 1.35), 600)
        rim = np.array([at(-40, -30), at(width + 40, -30)], np.int32)
        cv2.rectangle(canvas, (0, 0), (canvas.shape[1], int(rim[0][1])), (38, 34, 32), -1)
        to_canvas = np.array([[0.5, 0, -margin], [0, 0.5, -margin], [0, 0, 1]])
        image: Any = cv2.warpPerspective(canvas, geometry.matrix @ to_canvas, self.size, flags=cv2.INTER_LINEAR)
        woven: Any = np.clip(image.astype(np.float32) + 4.0 * self._grain[:, :, None], 0, 255)
        return np.asarray(woven.astype(np.uint8))

    def _markers(self, image: Image, geometry: Geometry) -> None:
        dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
        for number, (x, y) in marker_points(self.scene).items():
            marker = cv2.aruco.generateImageMarker(dictionary, number, 240)
            sheet = cv2.copyMakeBorder(marker, 40, 40, 40, 40, cv2.BORDER_CONSTANT, value=(255,))
            half = MARKER_MM / 2 * 320 / 240
            corners = np.array(
                [[x - half, y - half], [x + half, y - half], [x + half, y + half], [x - half, y + half]]
            )
            picture = np.asarray(cv2.cvtColor(sheet, cv2.COLOR_GRAY2BGR), np.uint8)
            _paste(image, picture, None, geometry.to_px(corners))

    def _card(self, image: Image, card: Lying, geometry: Geometry) -> None:
        picture, mask = face(card.shown, self.scene.style, self.scene.card_mm)
        _paste(image, picture, mask, geometry.to_px(corners_mm(card, self.scene.card_mm)))

    def _glare(self, image: Image, point: tuple[float, float], geometry: Geometry) -> None:
        x, y = geometry.to_px([point])[0]
        light = np.zeros((self.size[1], self.size[0]), np.float32)
        cv2.ellipse(light, (round(x), round(y)), (70, 45), 20, 0, 360, (330,), -1)
        light = np.asarray(cv2.GaussianBlur(light, (0, 0), 18), np.float32)
        image[:] = np.clip(image.astype(np.float32) + light[:, :, None], 0, 255).astype(np.uint8)

    def _lit(self, image: Image, conditions: Conditions) -> Image:
        """Light that falls off to the corners, its colour, the lens' blur."""
        if conditions.covered:
            return np.full_like(image, 14)
        width, height = self.size
        x = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
        y = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
        fall = conditions.light * (1 - 0.12 * (x * x + y * y))
        colour = np.array([1 - conditions.warmth, 1.0, 1 + conditions.warmth], np.float32)
        lit: Any = cv2.multiply(image, fall[:, :, None] * colour, dtype=cv2.CV_8U)
        if conditions.blur > 0:
            lit = cv2.GaussianBlur(lit, (0, 0), conditions.blur)
        return np.asarray(lit, np.uint8)

    # --- what moves ----------------------------------------------------------------------------------------

    def _hand(self, image: Image, hand: Hand, geometry: Geometry) -> None:
        """An arm from the dealer's edge with a palm and fingers, soft at its edges."""
        x, y = hand.at
        arm = np.array([[x + 60, -260], [x + 150, -260], [x + 62, y - 60], [x - 10, y - 75]])
        palm = geometry.to_px([[x + 18, y - 42]])[0]
        scale = float(np.linalg.norm(geometry.to_px([[x + 10, y]])[0] - geometry.to_px([[x, y]])[0])) / 10
        cv2.fillPoly(image, [np.round(geometry.to_px(arm)).astype(np.int32)], _SLEEVE, cv2.LINE_AA)
        cv2.circle(image, _int(palm), round(36 * scale), _SKIN, -1, cv2.LINE_AA)
        for finger in range(4):
            tip = geometry.to_px([[x - 26 + finger * 17, y + (6, 12, 10, 0)[finger]]])[0]
            knuckle = round(palm[0] + (finger * 14 - 22) * scale), round(palm[1])
            cv2.line(image, knuckle, _int(tip), _SKIN, round(15 * scale), cv2.LINE_AA)

    def _grainy(self, image: Image, conditions: Conditions) -> Image:
        if conditions.noise <= 0:
            return image
        if self._noise[0] != conditions.noise:
            shape = (self.size[1], self.size[0], 3)
            grains = [np.round(self._rng.normal(0, conditions.noise, shape)).astype(np.int16) for _ in range(_GRAINS)]
            self._noise = (conditions.noise, grains)
        # Any but the last one: a viewer that skips pictures must not see the same one for long.
        self._last_grain = int(self._last_grain + self._rng.integers(1, _GRAINS)) % _GRAINS
        noisy: Any = cv2.add(image, self._noise[1][self._last_grain], dtype=cv2.CV_8U)
        return np.asarray(noisy, np.uint8)


def corners_mm(card: Lying, card_mm: tuple[float, float]) -> Points:
    """The four corners (4 x 2, mm) of a card on the felt, from its upper left one, clockwise as it lies."""
    width, height = card_mm
    corners = np.array([[-width, -height], [width, -height], [width, height], [-width, height]]) / 2
    turn = np.radians(card.turn)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    return np.asarray(corners @ rotation.T + card.at, np.float64)


def _int(point: NDArray[np.float64]) -> tuple[int, int]:
    return round(float(point[0])), round(float(point[1]))


def _paste(image: Image, picture: Image, mask: Image | None, corners: Points) -> None:
    """Warp ``picture`` onto the quad ``corners`` (px) of ``image``; only the part inside is touched."""
    height, width = image.shape[:2]
    low = np.maximum(np.floor(corners.min(axis=0)).astype(int) - 1, 0)
    high = np.minimum(np.ceil(corners.max(axis=0)).astype(int) + 2, (width, height))
    if (high - low).min() <= 0:
        return
    # Twice the size it will have: a warp alone would skip pixels.
    side = float(np.linalg.norm(corners[1] - corners[0]))
    share = min(1.0, 2 * side / picture.shape[1])
    small: Any = cv2.resize(picture, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
    cover: Any = np.full(picture.shape[:2], 255, np.uint8) if mask is None else mask
    cover = cv2.resize(cover, (small.shape[1], small.shape[0]), interpolation=cv2.INTER_AREA)
    h, w = small.shape[:2]
    source = np.array([[0, 0], [w, 0], [w, h], [0, h]], np.float32)
    matrix = cv2.getPerspectiveTransform(source, (corners - low).astype(np.float32))
    size = (int(high[0] - low[0]), int(high[1] - low[1]))
    warped: Any = cv2.warpPerspective(small, matrix, size, flags=cv2.INTER_AREA, borderMode=cv2.BORDER_REPLICATE)
    alpha: Any = cv2.warpPerspective(cover, matrix, size, flags=cv2.INTER_LINEAR)
    part = image[low[1] : high[1], low[0] : high[0]]
    weight = alpha[:, :, None].astype(np.float32) / 255
    part[:] = (part * (1 - weight) + warped * weight + 0.5).astype(np.uint8)
