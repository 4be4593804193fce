"""The contact sheet of an enrolment: every glyph with the name it was given, for a person to confirm."""

from __future__ import annotations

from typing import Any, Final

import cv2
import numpy as np

from calibration.deck import Report
from controller.cards import RANKS, SUITS
from vision.pixels import Image
from vision.profiles import DeckProfile

_CELL: Final = (44, 62)
_ACROSS: Final = 26
_LABEL: Final = 74


def contact_sheet(profile: DeckProfile, report: Report) -> Image:
    """A picture with one block a name: the forms that are kept, in a frame, then the samples they come from."""
    rows = [_text(f"deck {profile.name}: {profile.layout}, {profile.source}. Is every glyph in the right row?")]
    for name in RANKS + SUITS:
        pictures, names = (
            (profile.glyphs.ranks, profile.glyphs.rank_names)
            if name in RANKS
            else (profile.glyphs.suits, profile.glyphs.suit_names)
        )
        kept = [_cell(picture, frame=True) for picture, n in zip(pictures, names, strict=True) if n == name][:12]
        samples = [s for s in report.samples if s.name == name]
        cells = kept + [_cell(np.asarray(np.clip(s.patch * 255, 0, 255), np.uint8), frame=False) for s in samples]
        label = f"{name}" if name in profile.own else f"{name} (base)"
        for start in range(0, max(len(cells), 1), _ACROSS):
            rows.append(_row(label if start == 0 else "", cells[start : start + _ACROSS]))
    return np.vstack(rows)


def _cell(picture: Image, *, frame: bool) -> Image:
    cell = np.full((_CELL[1], _CELL[0], 3), 255, np.uint8)
    height, width = picture.shape
    scale = min((_CELL[0] - 8) / width, (_CELL[1] - 8) / height)
    small = cv2.resize(255 - picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_LINEAR)
    top, left = (_CELL[1] - small.shape[0]) // 2, (_CELL[0] - small.shape[1]) // 2
    cell[top : top + small.shape[0], left : left + small.shape[1]] = small[:, :, None]
    if frame:
        cv2.rectangle(cell, (1, 1), (_CELL[0] - 2, _CELL[1] - 2), (0, 140, 0), 2)
    return cell


def _row(label: str, cells: list[Image]) -> Image:
    row = np.full((_CELL[1], _LABEL + _ACROSS * _CELL[0], 3), 255, np.uint8)
    _write(row, label, (6, 38))
    for n, cell in enumerate(cells):
        row[:, _LABEL + n * _CELL[0] : _LABEL + (n + 1) * _CELL[0]] = cell
    return row


def _text(text: str) -> Image:
    row = np.full((34, _LABEL + _ACROSS * _CELL[0], 3), 255, np.uint8)
    _write(row, text, (6, 23))
    return row


def _write(row: Image, text: str, at: tuple[int, int]) -> None:
    font: Any = cv2.FontFace("sans")
    cv2.putText(row, text, at, (20, 20, 20), font, 16)
