"""Faces of free decks as pictures, for training only.

The decks are not in this repository: ``make train`` fetches their packages and names the folders here. CC0: the
npm package ``@heruka_urgyen/react-playing-cards``. GPL, never shipped as renders: the Debian package
``gnome-cards-data``, one picture with 13 columns and 5 rows a deck. ``rsvg-convert`` draws them.
"""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import cv2
import numpy as np

from controller.cards import FACES
from vision.pixels import Image

#: Height of a rendered face in pixels.
HEIGHT: Final = 480
_GNOME_ROWS: Final = "CDHS"
_GNOME_COLUMNS: Final = "A23456789TJQK"
#: Decks whose indices are not those of the Anglo-American pattern, or have none.
_FOREIGN: Final = (
    "ancient_french", "swiss-xvii", "tarocco", "german", "lattmann", "rheinland", "Атласные", "atlasnye",
    "atlasnye_skat", "slavic_costumes", "guyenne-classic", "Ancient_Egyptians",
)  # fmt: skip


def heruka(root: Path) -> Iterator[tuple[str, str, Image]]:
    """(deck, card, face) of the npm package unpacked at ``root``."""
    for style in ("2color", "2color-bf", "4color", "4color-bf"):
        folder = root / "src" / "images" / style
        for card in FACES:
            yield f"heruka-{style}", card, _convert(folder / f"{card}.svg", "-h", str(HEIGHT))


def gnome(root: Path) -> Iterator[tuple[str, str, Image]]:
    """(deck, card, face) of the Debian package unpacked at ``root``."""
    for file in sorted(root.glob("usr/share/aisleriot/cards/*.svgz")):
        if file.stem in _FOREIGN:
            continue
        sheet = _convert(file, "-h", str(HEIGHT * 5), "--keep-aspect-ratio")
        height, width = sheet.shape[0] / 5, sheet.shape[1] / 13
        for row, suit in enumerate(_GNOME_ROWS):
            for column, rank in enumerate(_GNOME_COLUMNS):
                top, left = round(row * height), round(column * width)
                yield f"gnome-{file.stem}", rank + suit, sheet[top : round(top + height), left : round(left + width)]


def _convert(file: Path, *options: str) -> Image:
    """The drawing on white, cut to what is drawn."""
    source = file.read_bytes()
    if source[:2] == b"\x1f\x8b":
        source = gzip.decompress(source)
    command = ["rsvg-convert", "--unlimited", "--format", "png", "--background-color", "white", *options]
    done = subprocess.run(command, input=source, capture_output=True, check=True)
    return np.asarray(cv2.imdecode(np.frombuffer(done.stdout, np.uint8), cv2.IMREAD_COLOR), np.uint8)


def write(folder: Path, faces: Iterator[tuple[str, str, Image]]) -> int:
    """Store faces as ``folder/DECK/CARD.png``; how many."""
    count = 0
    for deck, card, face in faces:
        (folder / deck).mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(folder / deck / f"{card}.png"), face)
        count += 1
    return count
