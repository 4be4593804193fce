"""Draws on a frame what the camera makes of it: positions, cards with their names, health."""

from __future__ import annotations

from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from controller.cards import HIDDEN
from vision.layout import Layout
from vision.tracking import UNKNOWN, Track, Tracker

Image = NDArray[np.uint8]
_NAMED: Final = (90, 220, 90)
_BACK: Final = (235, 170, 80)
_UNKNOWN: Final = (60, 190, 255)
_UNSETTLED: Final = (190, 190, 190)
_PLACE: Final = (200, 200, 160)
_ALARM: Final = (60, 60, 230)


def annotate(image: Image, tracker: Tracker, *, alarm: str = "", note: str = "", scale: float = 1.0) -> Image:
    """A copy of ``image`` (straightened), ``scale`` times its size, with everything drawn on it."""
    layout = tracker.layout
    size = (round(image.shape[1] * scale), round(image.shape[0] * scale))
    canvas: Any = cv2.resize(image, size, interpolation=cv2.INTER_AREA) if scale != 1.0 else image.copy()
    draw_positions(canvas, layout, scale, names=False)
    for track in tracker.tracks:
        if track.missing_since is None or track.told is not None:
            _draw_track(canvas, track, scale)
    if note:
        _text(canvas, note, (10, canvas.shape[0] - 12), 18, (235, 235, 235))
    if alarm:
        cv2.rectangle(canvas, (0, 0), (canvas.shape[1], 34), (20, 20, 20), -1)
        _text(canvas, alarm, (10, 25), 22, _ALARM)
    return np.asarray(canvas, np.uint8)


def draw_positions(canvas: Image, layout: Layout, scale: float = 1.0, *, names: bool = True) -> None:
    """Outline every position; with its name in the middle, if wanted."""
    geometry = layout.geometry()
    for name, polygon in layout.positions.items():
        points = geometry.to_px(np.asarray(polygon)) * scale
        cv2.polylines(canvas, [np.round(points).astype(np.int32)], True, _PLACE, 1, cv2.LINE_AA)
        if names:
            x, y = points.mean(axis=0)
            size = max(14, canvas.shape[1] // 90)
            _text(canvas, name, (round(x - 0.29 * size * len(name)), round(y)), size, (255, 255, 255))


def _draw_track(canvas: Image, track: Track, scale: float) -> None:
    covered = track.missing_since is not None
    quad = track.place if covered and track.place is not None else track.quad
    points = np.round(quad * scale).astype(np.int32)
    answer = track.told[1] if track.told is not None else track.answer
    colour = {None: _UNSETTLED, HIDDEN: _BACK, UNKNOWN: _UNKNOWN}.get(answer, _NAMED)
    cv2.polylines(canvas, [points], True, colour, 1 if covered else 2, cv2.LINE_AA)
    if answer is not None:
        words = {HIDDEN: "face down", UNKNOWN: "unknown"}.get(answer, answer)
        label = f"{words} (covered)" if covered else words
        top = points[points[:, 1].argmin()]
        _text(canvas, label, (int(points[:, 0].min()), max(16, int(top[1]) - 6)), 20, colour)


def _text(canvas: Image, text: str, at: tuple[int, int], size: int, colour: tuple[int, int, int]) -> None:
    font: Any = cv2.FontFace("sans")
    cv2.putText(canvas, text, (at[0] + 1, at[1] + 1), (0, 0, 0), font, size, 600)
    cv2.putText(canvas, text, at, colour, font, size, 600)
