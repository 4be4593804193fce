"""From clean glyphs to what a camera makes of them: batches for training."""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np
from numpy.random import Generator

from vision.network import MARGIN, SIZE, normalise
from vision.pixels import Image, Plane
from vision.training.tiles import NO_RANK, NO_SUIT, TILE, Tile

#: Ranks that look the same or like another rank after half a turn: 6 and 9 swap, 8 stays.
_HALF_TURN: Final = {5: 8, 8: 5, 7: 7}
_DIAMONDS: Final = 2


def sample(tiles: list[Tile], rng: Generator) -> tuple[Plane, int, int]:
    """One degraded patch, SIZE x SIZE, with its classes of rank and suit."""
    tile = tiles[int(rng.integers(len(tiles)))]
    rank, suit = tile.rank, tile.suit
    centre = np.array([TILE / 2, TILE / 2])
    turn, wrong = float(rng.normal(0, 4)), rng.random()
    if wrong < 0.05:  # beside the glyph: only a piece of it is in view
        angle = rng.uniform(0, 2 * np.pi)
        centre = centre + rng.uniform(0.45, 1.1) * np.array([np.cos(angle) * tile.w, np.sin(angle) * tile.h])
        rank, suit = NO_RANK, NO_SUIT
    elif wrong < 0.11:
        quarters = int(rng.integers(1, 4))
        turn += 90 * quarters
        rank, suit = _turned(rank, suit, quarters)
    elif wrong < 0.14:  # far too small or too large
        factor = float(rng.choice([0.42, 2.3]))
        tile = Tile(tile.ink, tile.w * factor, tile.h * factor, NO_RANK, NO_SUIT, tile.source)
        rank, suit = NO_RANK, NO_SUIT
    return _photograph(tile, centre, turn, rng), rank, suit


def _turned(rank: int, suit: int, quarters: int) -> tuple[int, int]:
    if quarters == 2:
        return _HALF_TURN.get(rank, NO_RANK), suit if suit == _DIAMONDS else NO_SUIT
    return NO_RANK, suit if suit == _DIAMONDS else NO_SUIT


def _photograph(tile: Tile, centre: np.ndarray, turn: float, rng: Generator) -> Plane:
    quarter = round(turn / 90) % 2 == 1
    w, h = (tile.h, tile.w) if quarter else (tile.w, tile.h)
    margin = MARGIN * max(w, h)
    view_w = (w + 2 * margin) * float(rng.normal(1.02, 0.07))
    view_h = (h + 2 * margin) * float(rng.normal(1.02, 0.07))
    centre = centre + rng.normal(0, 0.045, 2) * np.array([w, h])
    # The camera's own pixels: so many over the glyph's height.
    tall = float(np.exp(rng.uniform(np.log(7.5), np.log(44))))
    zoom = tall / max(h, 0.5 * w)
    size = max(5, round(view_w * zoom)), max(5, round(view_h * zoom))
    ink = _worn(tile.ink, rng)
    matrix = _matrix(centre, turn, view_w, view_h, size, rng)
    if zoom < 0.7:  # warpAffine does not average: shrink first
        shrink = 1.4 * zoom
        ink = np.asarray(cv2.resize(ink, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA), np.uint8)
        real = ink.shape[0] / TILE
        matrix = matrix @ np.array([[1 / real, 0, 0.5 / real - 0.5], [0, 1 / real, 0.5 / real - 0.5], [0, 0, 1]])
    low = cv2.warpAffine(ink, matrix, size, borderMode=cv2.BORDER_REPLICATE)
    softness = float(abs(rng.normal(0, 0.055))) * tall if rng.random() < 0.3 else float(abs(rng.normal(0, 0.6)))
    if softness > 0.3:
        low = cv2.GaussianBlur(low, (0, 0), min(softness, 0.11 * tall))
    low = _sensor(np.asarray(low, np.float32), tall, rng)
    method = cv2.INTER_AREA if size[0] > SIZE and size[1] > SIZE else cv2.INTER_LINEAR
    return normalise(np.asarray(cv2.resize(low, (SIZE, SIZE), interpolation=method), np.float32))


def _matrix(centre: np.ndarray, turn: float, w: float, h: float, size: tuple[int, int], rng: Generator) -> np.ndarray:
    """Tile to view: turn, shear and stretch."""
    angle = np.deg2rad(turn)
    rotate = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    shear = np.array([[1, rng.normal(0, 0.06)], [rng.normal(0, 0.06), 1]])
    linear = np.diag([size[0] / w, size[1] / h]) @ shear @ rotate
    shift = np.array(size) / 2 - 0.5 - linear @ centre
    return np.hstack([linear, shift[:, None]])


def _worn(ink: Image, rng: Generator) -> Image:
    """Thicker or thinner strokes, faded or rubbed ink."""
    kind = rng.random()
    if kind < 0.35:
        size = int(rng.integers(2, 5))
        kernel = np.ones((size, int(rng.integers(1, 5))), np.uint8)
        ink = np.asarray(cv2.dilate(ink, kernel) if rng.random() < 0.55 else cv2.erode(ink, kernel), np.uint8)
    if rng.random() < 0.15:
        spots = cv2.resize(rng.random((24, 24)).astype(np.float32), (TILE, TILE))
        ink = np.asarray(ink * np.clip(0.4 + 1.2 * spots, 0, 1), np.uint8)
    return np.asarray(ink, np.uint8)


def _sensor(low: Plane, tall: float, rng: Generator) -> Plane:
    """Uneven light, glare, motion, noise and compression."""
    height, width = low.shape
    low = low * float(rng.uniform(0.45, 1.0))
    if rng.random() < 0.35:
        slope = np.linspace(-1, 1, width)[None, :] * rng.normal(0, 18) + np.linspace(-1, 1, height)[
            :, None
        ] * rng.normal(0, 18)
        low = low + slope.astype(np.float32)
    if rng.random() < 0.08:
        x, y, r = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(0.2, 0.6) * height
        distance = np.hypot(np.arange(width)[None, :] - x, np.arange(height)[:, None] - y)
        low = low * np.clip(distance / r, 0.2, 1).astype(np.float32)
    if rng.random() < 0.2 and tall > 12:
        length = int(rng.integers(2, max(3, round(tall / 7))))
        low = np.asarray(cv2.blur(low, (length, 1) if rng.random() < 0.5 else (1, length)), np.float32)
    low = low + rng.normal(0, float(abs(rng.normal(0, 9))) + 0.1, low.shape).astype(np.float32)
    if rng.random() < 0.3:
        grey = np.asarray(np.clip(255 - low, 0, 255), np.uint8)
        _, code = cv2.imencode(".jpg", grey, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(35, 90))])
        low = 255 - np.asarray(cv2.imdecode(code, cv2.IMREAD_GRAYSCALE), np.float32)
    return np.asarray(np.clip(low, 0, 255) / 255, np.float32)


def batch(tiles: list[Tile], count: int, rng: Generator) -> tuple[Plane, np.ndarray, np.ndarray]:
    """``count`` patches as (count, 1, SIZE, SIZE) with their classes."""
    drawn = [sample(tiles, rng) for _ in range(count)]
    return (
        np.stack([patch for patch, _, _ in drawn])[:, None],
        np.array([rank for _, rank, _ in drawn]),
        np.array([suit for _, _, suit in drawn]),
    )
