"""Deck profiles: what a recogniser must know of a deck, as one JSON file each."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final, Literal

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

from vision.glyphs import RANK_SIZE, SUIT_SIZE, Glyphs
from vision.pixels import Image
from vision.segment import Box

FORMAT: Final = "dealerd deck profile 1"
#: Shipped with the program, in the order in which they are tried.
BUILT_IN: Final = ("standard", "jumbo", "four-index", "live-casino")
#: Size of a stored back: width, height.
BACK_SIZE: Final = (24, 34)
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


class ProfileError(Exception):
    """A profile that cannot be used: which, what is wrong, what to do."""


class Zone(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A box on the face, as shares of its width and height: left, top, width, height."""

    x: float
    y: float
    w: float
    h: float

    def on(self, size: tuple[int, int]) -> Box:
        """The box in pixels of a face of ``size``."""
        width, height = size
        return Box(round(self.x * width), round(self.y * height), round(self.w * width), round(self.h * height))


@dataclass(frozen=True, slots=True, eq=False)
class DeckProfile:
    """A deck. ``layout``: where the suit is, seen from the rank. ``rank_zone`` and ``suit_zone``: their usual boxes
    at the upper left, None if they vary from deck to deck. ``backs``: n x 34 x 24 x 3, blue-green-red."""

    name: str
    card_mm: tuple[float, float]
    layout: Literal["over", "beside"]
    corners: Literal[2, 4]
    pips: bool
    glyphs: Glyphs
    backs: NDArray[np.uint8]
    rank_zone: Zone | None = None
    suit_zone: Zone | None = None
    source: str = ""
    #: Ranks and suits whose glyphs come from this very deck; the others were filled in from a built-in one.
    own: str = ""


class _Glyph(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    png: str


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    name: str
    card_mm: tuple[float, float]
    layout: Literal["over", "beside"]
    corners: Literal[2, 4]
    pips: bool
    source: str
    own: str
    rank_zone: Zone | None
    suit_zone: Zone | None
    ranks: list[_Glyph]
    suits: list[_Glyph]
    backs: list[str]


def load_profile(name_or_path: str | Path) -> DeckProfile:
    """A built-in profile by name, or one from a file. Raises ``ProfileError``."""
    text = str(name_or_path)
    if text in BUILT_IN:
        return decode_profile((resources.files("vision") / "decks" / f"{text}.json").read_bytes(), text)
    path = Path(name_or_path)
    try:
        data = path.read_bytes()
    except OSError as error:
        known = ", ".join(BUILT_IN)
        raise ProfileError(f"profile {text}: cannot be read ({error.strerror}); built in are {known}") from error
    return decode_profile(data, text)


def built_in() -> list[DeckProfile]:
    """Every profile that is shipped."""
    return [load_profile(name) for name in BUILT_IN]


def decode_profile(data: bytes, where: str) -> DeckProfile:
    """The profile in ``data``. Raises ``ProfileError`` naming ``where``."""
    try:
        file = msgspec.json.decode(data, type=_File)
        if file.format != FORMAT:
            raise ValueError(f"format {file.format!r}, known is {FORMAT!r}")
        ranks = _unpack([glyph.png for glyph in file.ranks], RANK_SIZE)
        suits = _unpack([glyph.png for glyph in file.suits], SUIT_SIZE)
        glyphs = Glyphs(ranks, _names(file.ranks), suits, _names(file.suits))
        backs = _unpack(file.backs, BACK_SIZE, colour=True)
        check_name(file.name)
        if not 30 < file.card_mm[0] < file.card_mm[1] < 200:
            raise ValueError(f"card_mm {file.card_mm}: width and height in millimetres")
    except (msgspec.DecodeError, ValueError) as error:
        raise ProfileError(f"profile {where}: {error}; make it anew with dealerd calibrate deck") from error
    return DeckProfile(
        file.name, file.card_mm, file.layout, file.corners, file.pips, glyphs, backs, file.rank_zone, file.suit_zone,
        file.source, file.own,
    )  # fmt: skip


def encode_profile(profile: DeckProfile) -> bytes:
    """``profile`` as the text of its file."""
    glyphs = profile.glyphs
    file = _File(
        FORMAT, profile.name, profile.card_mm, profile.layout, profile.corners, profile.pips, profile.source,
        profile.own, profile.rank_zone, profile.suit_zone,
        [_Glyph(n, _pack(p)) for n, p in zip(glyphs.rank_names, glyphs.ranks, strict=True)],
        [_Glyph(n, _pack(p)) for n, p in zip(glyphs.suit_names, glyphs.suits, strict=True)],
        [_pack(back) for back in profile.backs],
    )  # fmt: skip
    return msgspec.json.format(msgspec.json.encode(file), indent=1) + b"\n"


def check_name(name: str) -> str:
    """``name`` if a profile may be called so; raises ``ValueError``."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"name {name!r}: small letters, digits and hyphens, at most 40")
    return name


def no_backs() -> NDArray[np.uint8]:
    """The backs of a deck whose back is not known."""
    return np.zeros((0, BACK_SIZE[1], BACK_SIZE[0], 3), np.uint8)


def _names(glyphs: Sequence[_Glyph]) -> str:
    if any(len(glyph.name) != 1 for glyph in glyphs):
        raise ValueError("a glyph's name is one letter of the card notation")
    return "".join(glyph.name for glyph in glyphs)


def _pack(picture: Image) -> str:
    return base64.b64encode(cv2.imencode(".png", picture)[1].tobytes()).decode()


def _unpack(texts: list[str], size: tuple[int, int], *, colour: bool = False) -> NDArray[np.uint8]:
    shape = (size[1], size[0], 3) if colour else (size[1], size[0])
    pictures = []
    for text in texts:
        data = np.frombuffer(base64.b64decode(text, validate=True), np.uint8)
        picture = cv2.imdecode(data, cv2.IMREAD_COLOR if colour else cv2.IMREAD_GRAYSCALE) if data.size else None
        if picture is None or picture.shape != shape:
            raise ValueError(f"a picture in it is not {size[0]} x {size[1]}")
        pictures.append(np.asarray(picture, np.uint8))
    return np.stack(pictures) if pictures else np.zeros((0, *shape), np.uint8)
