"""Draw the glyphs of the built-in profiles from free art and free fonts: part of ``make train``.

CC0 faces of ``@heruka_urgyen/react-playing-cards`` and glyphs drawn with fonts under the OFL, Apache or GUST licence.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final, Literal

import cv2
import numpy as np

from controller.cards import RANKS, SUITS
from vision.glyphs import Glyphs, rank_patch, suit_patch
from vision.pixels import Image, Plane
from vision.profiles import DeckProfile, encode_profile, no_backs
from vision.segment import Box
from vision.training import tiles
from vision.training.tiles import NO_RANK, NO_SUIT, TILE, Tile

_SERIF: Final = (
    "texgyretermes-bold.otf", "texgyrebonum-bold.otf", "texgyreschola-bold.otf", "texgyrepagella-bold.otf",
    "LiberationSerif-Bold.ttf", "RobotoSlab-Bold.ttf", "RobotoSlab-Regular.ttf", "Vollkorn-Bold.ttf",
    "LinLibertine_RB.otf", "GFSDidotBold.otf", "texgyreschola-regular.otf", "LiberationSerif-Regular.ttf",
)  # fmt: skip
_SANS: Final = (
    "texgyreheros-bold.otf", "texgyreheros-regular.otf", "texgyreheroscn-bold.otf", "texgyreheroscn-regular.otf",
    "texgyreadventor-bold.otf", "LiberationSans-Bold.ttf", "LiberationSansNarrow-Bold.ttf", "Lato-Bold.ttf",
    "Lato-Black.ttf", "OpenSans-Bold.ttf", "OpenSans-CondBold.ttf", "Roboto-Bold.ttf", "Roboto-Black.ttf",
    "RobotoCondensed-Bold.ttf", "RobotoCondensed-Regular.ttf", "Cantarell-Bold.ttf", "Carlito-Bold.ttf",
    "BebasNeue-Bold.otf", "Cabin-Bold.otf", "YanoneKaffeesatz-Bold.otf", "Roboto-Regular.ttf",
)  # fmt: skip
#: Fonts whose licence lets their suits be drawn and shipped (OFL, GUST).
_SUITS: Final = (
    "texgyreadventor-bold.otf", "texgyrepagella-bold.otf", "LinLibertine_RB.otf", "LiberationSans-Bold.ttf",
    "LiberationSerif-Bold.ttf", "LiberationSans-Regular.ttf",
)  # fmt: skip


def glyphs_of(chosen: list[Tile]) -> Glyphs:
    """The glyphs of ``chosen``, each as cut by the reader."""
    ranks, rank_names, suits, suit_names = [], "", [], ""
    for tile in chosen:
        box = Box(*(round(v) for v in ((TILE - tile.w) / 2, (TILE - tile.h) / 2, tile.w, tile.h)))
        shares = np.asarray(cv2.GaussianBlur(tile.ink.astype(np.float32) / 255, (0, 0), 1.0), np.float32)
        if tile.rank != NO_RANK:
            ranks.append(_bytes(rank_patch(shares, box)))
            rank_names += RANKS[tile.rank]
        elif tile.suit != NO_SUIT:
            suits.append(_bytes(suit_patch(shares, box)))
            suit_names += SUITS[tile.suit]
    return Glyphs(np.stack(ranks), rank_names, np.stack(suits), suit_names)


def _bytes(cut: Plane) -> Image:
    return np.asarray(np.clip(cut * 255, 0, 255), np.uint8)


def profiles(decks: Path, fonts: Path) -> list[DeckProfile]:
    """The built-in profiles."""
    art = tiles.from_decks(decks)
    files = {f.name: f for f in sorted(fonts.rglob("*")) if f.suffix in (".ttf", ".otf")}
    wanted = [files[name] for name in dict.fromkeys(_SERIF + _SANS + _SUITS) if name in files]
    drawn = tiles.from_fonts(wanted, seed=1)
    source = "drawn from CC0 art and free fonts by vision/training/decks.py"

    def made(
        name: str, sets: tuple[str, ...], layout: Literal["over", "beside"], corners: Literal[2, 4], *, pips: bool
    ) -> DeckProfile:
        own = [t for t in art if t.source in sets and (t.rank != NO_RANK or t.suit != NO_SUIT)]
        faces = _SANS if layout == "beside" else _SERIF + _SANS
        ranks = [t for t in drawn if t.rank != NO_RANK and t.source in faces]
        suits = [t for t in drawn if t.suit != NO_SUIT and t.source in _SUITS]
        chosen = _without_repeats(own, layout) + ranks + suits
        return DeckProfile(name, (63.0, 88.0), layout, corners, pips, glyphs_of(chosen), no_backs(), source=source)

    plain, large = "heruka-2color", "heruka-2color-bf"
    return [
        made("standard", (plain, large), "over", 2, pips=True),
        made("jumbo", (large,), "over", 2, pips=True),
        made("four-index", (plain,), "over", 4, pips=True),
        made("live-casino", (plain, large), "beside", 2, pips=False),
    ]


def _without_repeats(own: list[Tile], layout: str) -> list[Tile]:
    """Each rank once a deck, each suit of a deck from two of its cards."""
    seen: dict[tuple[str, int, int], int] = {}
    kept = []
    for tile in own:
        if layout == "beside" and tile.rank != NO_RANK:
            continue
        key = (tile.source, tile.rank, tile.suit)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= (1 if tile.rank != NO_RANK else 2):
            kept.append(tile)
    return kept


def main() -> None:
    """Command line of ``make train``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decks", type=Path, required=True, help="folder that vision.training.art wrote")
    parser.add_argument("--fonts", type=Path, required=True, help="folder with fonts, searched below")
    parser.add_argument("--out", type=Path, required=True, help="folder for the profiles")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for profile in profiles(args.decks, args.fonts):
        (args.out / f"{profile.name}.json").write_bytes(encode_profile(profile))
        print(profile.name, len(profile.glyphs.rank_names), "ranks", len(profile.glyphs.suit_names), "suits")


if __name__ == "__main__":
    main()
