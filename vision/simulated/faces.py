"""Drawings of cards: both layouts, backs, all of it from polygons and OpenCV's own font. No picture is read."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any, Final, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from controller.cards import HIDDEN

Style = Literal["live", "standard"]
Image = NDArray[np.uint8]
#: Pixels a millimetre of the drawings.
SCALE: Final = 8
RED: Final = (40, 30, 190)
BLACK: Final = (25, 22, 22)
PAPER: Final = (246, 248, 248)
_CORNER_MM: Final = 3.5
_FONT: Final = "sans"


@cache
def face(card: str, style: Style, card_mm: tuple[float, float]) -> tuple[Image, Image]:
    """(picture BGR, mask) of ``card``, ``**`` for a back, upright, ``SCALE`` pixels a millimetre."""
    width, height = round(card_mm[0] * SCALE), round(card_mm[1] * SCALE)
    image = np.full((height, width, 3), PAPER, np.uint8)
    if card == HIDDEN:
        _back(image)
    elif style == "live":
        _live(image, card)
    else:
        _standard(image, card)
    mask = np.zeros((height, width), np.uint8)
    radius = round(_CORNER_MM * SCALE)
    cv2.rectangle(mask, (radius, 0), (width - radius - 1, height - 1), 255, -1)
    cv2.rectangle(mask, (0, radius), (width - 1, height - radius - 1), 255, -1)
    for x in (radius, width - radius - 1):
        for y in (radius, height - radius - 1):
            cv2.circle(mask, (x, y), radius, 255, -1, cv2.LINE_AA)
    return image, mask


def suit_polygons(suit: str) -> list[NDArray[np.float64]]:
    """Outlines of a suit in the unit square, y down."""
    turn = np.linspace(0, 2 * np.pi, 49)

    def disc(x: float, y: float, r: float) -> NDArray[np.float64]:
        return np.stack([x + r * np.cos(turn), y + r * np.sin(turn)], axis=1)

    stem = np.array([[0.46, 0.55], [0.54, 0.55], [0.57, 0.85], [0.7, 0.98], [0.3, 0.98], [0.43, 0.85]])
    if suit == "D":
        return [np.array([[0.5, 0.0], [0.88, 0.5], [0.5, 1.0], [0.12, 0.5]])]
    if suit == "C":
        return [disc(0.5, 0.24, 0.24), disc(0.24, 0.6, 0.24), disc(0.76, 0.6, 0.24), stem, disc(0.5, 0.5, 0.09)]
    heart = np.stack([16 * np.sin(turn) ** 3, _heart(turn)], axis=1)
    heart = np.stack([0.5 + heart[:, 0] / 34, 0.46 - heart[:, 1] / 32], axis=1)
    if suit == "H":
        return [heart]
    return [np.stack([heart[:, 0], 0.88 - heart[:, 1] * 0.9], axis=1), stem]


def _heart(turn: NDArray[np.float64]) -> NDArray[np.float64]:
    curve = 13 * np.cos(turn) - 5 * np.cos(2 * turn) - 2 * np.cos(3 * turn) - np.cos(4 * turn)
    return np.asarray(curve, np.float64)


def _ink(suit: str) -> tuple[int, int, int]:
    return RED if suit in "HD" else BLACK


def _draw_suit(
    image: Image, suit: str, x: float, y: float, width: float, height: float, *, turned: bool = False
) -> None:
    """``suit`` in the box at (x, y), all in mm; ``turned`` stands it on its head."""
    for upright in suit_polygons(suit):
        polygon = upright * [1, -1] + [0, 1] if turned else upright
        points = (np.array([x, y]) + polygon * [width, height]) * SCALE * 16
        cv2.fillPoly(image, [np.round(points).astype(np.int32)], _ink(suit), cv2.LINE_AA, 4)


def _draw_rank(image: Image, rank: str, box: tuple[float, float, float, float], weight: int, suit: str) -> None:
    """``rank`` stretched into ``box`` (x, y, width, height in mm)."""
    canvas = np.full((300, 500, 3), 255, np.uint8)
    if rank in "JQ":
        _draw_letter(canvas, rank, round(weight / 20))
    else:
        font: Any = cv2.FontFace(_FONT)
        # Letter O for the figure 0: the font strikes its zero through, cards do not.
        cv2.putText(canvas, "1O" if rank == "T" else rank, (40, 230), (0, 0, 0), font, 200, weight)
    rows, columns = np.nonzero(canvas[:, :, 0] < 128)
    glyph = canvas[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1, 0]
    x, y, width, height = (round(value * SCALE) for value in box)
    glyph = np.asarray(cv2.resize(glyph, (width, height), interpolation=cv2.INTER_AREA), np.uint8)
    share = glyph[:, :, None].astype(np.float64) / 255
    place = image[y : y + height, x : x + width]
    place[:] = (place * share + np.array(_ink(suit)) * (1 - share)).astype(np.uint8)


def _draw_letter(canvas: Image, rank: str, stroke: int) -> None:
    """J and Q as cards have them: a hook without a bar, a ring with a short straight tail."""
    black = (0, 0, 0)
    if rank == "J":
        cv2.line(canvas, (180, 80), (180, 180), black, stroke, cv2.LINE_AA)
        cv2.ellipse(canvas, (135, 180), (45, 42), 0, 0, 165, black, stroke, cv2.LINE_AA)
        canvas[: 80 + stroke // 4] = 255  # a square end, not a round one
    else:
        cv2.ellipse(canvas, (150, 150), (58, 64), 0, 0, 360, black, stroke, cv2.LINE_AA)
        cv2.line(canvas, (165, 170), (208, 222), black, stroke, cv2.LINE_AA)


def _both_ways(image: Image, draw: Any) -> None:
    """Draw, turn the card, draw again: a card looks the same upside down."""
    draw(image)
    turned = np.ascontiguousarray(image[::-1, ::-1])
    draw(turned)
    image[:] = turned[::-1, ::-1]


def _live(image: Image, card: str) -> None:
    """Live-casino cards: a jumbo rank with the suit beside it, a barcode in the middle, neither pips nor courts."""
    rank, suit = card[0], card[1]

    def half(canvas: Image) -> None:
        wide = 23.0 if rank == "T" else 19.0
        _draw_rank(canvas, rank, (4.5, 4.5, wide, 25.0), 650, suit)
        _draw_suit(canvas, suit, 34.5, 4.5, 23.0, 25.0)

    _both_ways(image, half)
    rng = Random(f"barcode {card}")
    x = 22.5
    while x < 40:
        bar = rng.choice((0.5, 0.8, 1.2))
        cv2.rectangle(
            image,
            (round(x * SCALE), round(35 * SCALE)),
            (round((x + bar) * SCALE), round(53 * SCALE)),
            (70, 60, 60),
            -1,
        )
        x += bar + rng.choice((0.5, 0.9))


#: Pips of the upper half and the middle line: (x, y) as fractions of half the pip field, y < 0 above the middle.
#: Those above are repeated below on their heads, but for the seventh pip of the seven.
_PIPS: Final[dict[str, list[tuple[float, float]]]] = {
    "A": [(0, 0)],
    "2": [(0, -1)],
    "3": [(0, -1), (0, 0)],
    "4": [(-1, -1), (1, -1)],
    "5": [(-1, -1), (1, -1), (0, 0)],
    "6": [(-1, -1), (1, -1), (-1, 0), (1, 0)],
    "7": [(-1, -1), (1, -1), (-1, 0), (1, 0)],
    "8": [(-1, -1), (1, -1), (-1, 0), (1, 0), (0, -0.5)],
    "9": [(-1, -1), (1, -1), (-1, -0.33), (1, -0.33), (0, 0)],
    "T": [(-1, -1), (1, -1), (-1, -0.33), (1, -0.33), (0, -0.67)],
}


def _standard(image: Image, card: str) -> None:
    """A standard deck: small rank over suit in two corners, pips, a framed figure on court cards."""
    rank, suit = card[0], card[1]

    def index(canvas: Image) -> None:
        _draw_rank(canvas, rank, (2.6, 3.2, 7.2 if rank == "T" else 5.6, 8.4), 600, suit)
        _draw_suit(canvas, suit, 2.9, 12.6, 5.2, 5.6)

    if rank not in _PIPS:
        _court(image, rank, suit)
    _both_ways(image, index)
    pips = [(x, y, False) for x, y in _PIPS.get(rank, [])]
    pips += [(-x, -y, True) for x, y, _ in pips if y < 0]
    if rank == "7":
        pips.append((0, -0.5, False))
    size = 18.0 if rank == "A" else 10.5
    for x, y, turned in pips:
        left = image.shape[1] / SCALE / 2 + x * 13 - size / 2
        top = image.shape[0] / SCALE / 2 + y * 30 - size / 2
        _draw_suit(image, suit, left, top, size, size, turned=turned)


def _court(image: Image, rank: str, suit: str) -> None:
    """A court card's figure: a frame, a crown, a robe; unlike a face, like enough to unsettle a reader."""
    height, width = image.shape[:2]
    left, top = round(12.5 * SCALE), round(8 * SCALE)
    robe = {"J": (170, 140, 60), "Q": (60, 60, 190), "K": (60, 160, 190)}[rank]

    def half(canvas: Image) -> None:
        middle = width // 2
        body = np.array([[left + 8, height // 2], [middle - 90, top + 200], [middle + 90, top + 200],
                         [width - left - 8, height // 2]], np.int32)  # fmt: skip
        cv2.fillPoly(canvas, [body], robe, cv2.LINE_AA)
        cv2.circle(canvas, (middle, top + 150), 55, (170, 200, 235), -1, cv2.LINE_AA)
        crown = np.array([[middle - 60, top + 110], [middle - 70, top + 40], [middle - 25, top + 80],
                          [middle, top + 30], [middle + 25, top + 80], [middle + 70, top + 40],
                          [middle + 60, top + 110]], np.int32)  # fmt: skip
        cv2.fillPoly(canvas, [crown], (40, 190, 230), cv2.LINE_AA)
        _draw_suit(canvas, suit, 14.5, 10, 9, 9.5)

    _both_ways(image, half)
    cv2.rectangle(image, (left, top), (width - left, height - top), (120, 90, 60), 3, cv2.LINE_AA)


def _back(image: Image) -> None:
    """A lattice in blue with a white border."""
    height, width = image.shape[:2]
    edge = round(4 * SCALE)
    inner = np.full((height - 2 * edge, width - 2 * edge, 3), (150, 80, 40), np.uint8)
    for offset in range(-inner.shape[0], inner.shape[1] + inner.shape[0], round(3.2 * SCALE)):
        for slope in (1, -1):
            start = (offset, 0 if slope > 0 else inner.shape[0])
            end = (offset + inner.shape[0], inner.shape[0] if slope > 0 else 0)
            cv2.line(inner, start, end, (215, 190, 170), 4, cv2.LINE_AA)
    image[edge : height - edge, edge : width - edge] = inner
