"""Clean glyphs for training: cut from free decks, and drawn from fonts.

A tile is the ink of a glyph with its surroundings, scaled so that the glyph's longer side is ``SIDE`` pixels, in the
middle of a square of ``TILE`` pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import cv2
import numpy as np
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from controller.cards import RANKS, SUITS
from vision.ink import ink, printed, white_balance
from vision.pixels import Image, Plane
from vision.segment import FACE, Box, find_over

SIDE: Final = 48
TILE: Final = 144
NO_RANK: Final = len(RANKS)
NO_SUIT: Final = len(SUITS)
#: Decks with other letters or without a suit in the corner.
_UNUSABLE: Final = ("gnome-bellot", "gnome-tango_nuevo")
_FOREIGN_COURTS: Final = {"gnome-berlin": "JQ"}
_SYMBOLS: Final = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}
#: Letters that a reader must not take for a rank; what could pass for one (B, I, L, O, S, Z) is not among them.
_LETTERS: Final = "CDEFGHMNPRTUVWXYaefghkmnprtuvwxy&%#@?!+=€$"


@dataclass(frozen=True, slots=True)
class Tile:
    """A glyph: ``ink`` is TILE x TILE, 0 paper to 255; ``w`` and ``h`` of the glyph in it; classes of both heads."""

    ink: Image
    w: float
    h: float
    rank: int
    suit: int
    source: str


def from_decks(folder: Path) -> list[Tile]:
    """Index ranks and suits of the decks that ``art.write`` stored, and pieces of their faces that are neither."""
    found = []
    for path in sorted(folder.glob("*/*.png")):
        deck, card = path.parent.name, path.stem
        if deck in _UNUSABLE or card[0] in _FOREIGN_COURTS.get(deck, ""):
            continue
        face = np.asarray(cv2.imread(str(path)), np.uint8)
        edge = round(0.02 * face.shape[1])
        face = face[edge:-edge, edge:-edge]
        index = find_over(printed(ink(white_balance(np.asarray(cv2.resize(face, FACE), np.uint8)))))
        if not index:
            continue
        shares, scale = ink(white_balance(face)), face.shape[0] / FACE[1]
        rank, suit = RANKS.index(card[0]), SUITS.index(card[1])
        found.append(_cut(shares, index[0].rank, scale, rank, NO_SUIT, deck))
        found.append(_cut(shares, index[0].suit, scale, NO_RANK, suit, deck))
        found += _elsewhere(shares, index[0].rank, scale, deck, Random(f"{deck} {card}"))
    return found


def _cut(shares: Plane, box: Box, scale: float, rank: int, suit: int, source: str) -> Tile:
    zoom = SIDE / (max(box.w, box.h) * scale)
    x, y = (box.x + box.w / 2) * scale * zoom, (box.y + box.h / 2) * scale * zoom
    matrix = np.array([[zoom, 0, TILE / 2 - x], [0, zoom, TILE / 2 - y]])
    tile = cv2.warpAffine(shares, matrix, (TILE, TILE), borderMode=cv2.BORDER_REPLICATE)
    size = scale * zoom
    return Tile(np.asarray(np.clip(tile * 255, 0, 255), np.uint8), box.w * size, box.h * size, rank, suit, source)


def _elsewhere(shares: Plane, like: Box, scale: float, deck: str, rng: Random) -> list[Tile]:
    """Pieces from the middle of the face, of the size of an index: court art and parts of pips."""
    pieces = []
    for _ in range(2):
        w, h = round(like.w * rng.uniform(0.7, 1.6)), round(like.h * rng.uniform(0.7, 1.6))
        box = Box(rng.randint(60, 180 - min(w, 100)), rng.randint(60, 250 - min(h, 120)), w, h)
        piece = _cut(shares, box, scale, NO_RANK, NO_SUIT, deck)
        middle = piece.ink[TILE // 2 - 24 : TILE // 2 + 24, TILE // 2 - 24 : TILE // 2 + 24]
        if middle.std() > 25:
            pieces.append(piece)
    return pieces


def from_fonts(files: list[Path], seed: int) -> list[Tile]:
    """Ranks, suits where a font has them, and letters that are no ranks."""
    found = []
    for file in files:
        rng = Random(f"{seed} {file.name}")
        try:
            font = ImageFont.truetype(str(file), 120)
            absent = bytes(font.getmask("￾"))
        except OSError:
            continue
        for number, rank in enumerate(RANKS):
            found.append(_write(font, "10" if rank == "T" else rank, rng, number, NO_SUIT, file.name))
        for number, suit in enumerate(SUITS):
            if bytes(font.getmask(_SYMBOLS[suit])) not in (absent, b""):
                found.append(_write(font, _SYMBOLS[suit], rng, NO_RANK, number, file.name))
        for letter in rng.sample(_LETTERS, 8):
            found.append(_write(font, letter, rng, NO_RANK, NO_SUIT, file.name))
        found.append(
            _write(font, rng.choice(("1", "0", "11", "12", "14", "15", "16", "18")), rng, NO_RANK, NO_SUIT, file.name)
        )
    return [tile for tile in found if tile is not None]


def _write(font: ImageFont.FreeTypeFont, text: str, rng: Random, rank: int, suit: int, source: str) -> Tile | None:
    """``text`` with its digits moved together as on cards, in the middle of an empty tile."""
    canvas = Picture.new("L", (420, 300), 0)
    draw, x = ImageDraw.Draw(canvas), 100.0
    for character in text:
        draw.text((x, 80), character, fill=255, font=font)
        x += font.getlength(character) * (rng.uniform(0.78, 1.0) if len(text) == 2 else 1.0)
    drawn = np.asarray(canvas, np.uint8)
    x0, y0, w, h = (
        cv2.boundingRect(np.asarray(cv2.findNonZero((drawn > 100).astype(np.uint8)), np.int32).reshape(-1, 1, 2))
        if drawn.any()
        else (0, 0, 0, 0)
    )
    if w < 8 or h < 8:
        return None
    return _cut(np.asarray(drawn / 255, np.float32), Box(x0, y0, w, h), 1.0, rank, suit, source)
