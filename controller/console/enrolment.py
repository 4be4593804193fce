"""A deck in the making: pictures of its cards that a technician has named, and what ``dealerd calibrate deck`` makes
of them.

It lies in a folder of its own until it is saved or thrown away, so a console that starts anew goes on with it. The
enrolment runs as a process: pictures are large, and the screens of a whole floor must not wait for them.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from controller.cards import FACES, HIDDEN, RANKS, SUITS

#: More pictures teach nothing new.
MOST: Final = 160
MAKE_S: Final = 180.0
_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,39})")
_FILE: Final = re.compile(r"(\d{3})-([A-Z0-9]{2}|back)\.jpg")
#: Four corners of a card, px.
Quad = list[tuple[float, float]]
#: Profiles that may lend glyphs which no picture shows.
BASES: Final = ("standard", "jumbo", "four-index", "live-casino")


class EnrolmentFault(Exception):
    """What cannot be done, in words for the technician."""


class Deck(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the technician says of the deck, as ``dealerd calibrate deck`` takes it. ``by``: who began."""

    deck: str
    layout: Literal["over", "beside"] = "over"
    corners: Literal[2, 4] = 2
    pips: bool = True
    base: Literal["", "standard", "jumbo", "four-index", "live-casino"] = ""
    by: str = ""


class Picture(msgspec.Struct, frozen=True):
    """One picture and the card that it shows."""

    file: str
    card: str


class Enrolment:
    """The deck that one table is being taught; its folder need not exist."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def deck(self) -> Deck | None:
        """None while nothing was begun."""
        try:
            return msgspec.json.decode((self._folder / "deck.json").read_bytes(), type=Deck)
        except (OSError, msgspec.DecodeError):
            return None

    @property
    def pictures(self) -> list[Picture]:
        """In the order in which they were taken."""
        if not self._folder.is_dir():
            return []
        found = ((_FILE.fullmatch(path.name), path.name) for path in sorted(self._folder.iterdir()))
        return [Picture(name, HIDDEN if m[2] == "back" else m[2]) for m, name in found if m]

    @property
    def missing(self) -> str:
        """Ranks and suits that no picture shows."""
        seen = {letter for picture in self.pictures if picture.card != HIDDEN for letter in picture.card}
        return "".join(letter for letter in RANKS + SUITS if letter not in seen)

    @property
    def said(self) -> str:
        """What the last try to make a profile said; empty if pictures changed since."""
        with contextlib.suppress(OSError):
            return (self._folder / "said.txt").read_text("utf-8")
        return ""

    @property
    def profile(self) -> bytes | None:
        """The profile that was made of exactly these pictures, if one was."""
        with contextlib.suppress(OSError):
            return (self._folder / "profile.json").read_bytes()
        return None

    def file(self, name: str) -> Path | None:
        """A picture or the contact sheet."""
        path = self._folder / name
        return path if (_FILE.fullmatch(name) or name == "sheet.png") and path.is_file() else None

    def begin(self, deck: Deck) -> None:
        """Raises ``EnrolmentFault``."""
        if self.deck is not None:
            raise EnrolmentFault(f"deck {self.deck.deck} is being taught here: save it or throw it away first")
        if not _NAME.fullmatch(deck.deck) or deck.deck in BASES:
            raise EnrolmentFault(
                f"name {deck.deck[:40]!r}: small letters, digits and hyphens, and none that is built in"
            )
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(mode=0o700, parents=True)
        (self._folder / "deck.json").write_bytes(msgspec.json.encode(deck))

    def add(self, card: str, jpeg: bytes, quad: Quad) -> Picture:
        """Keep a picture of ``card``, which lies at ``quad``. Raises ``EnrolmentFault``."""
        if self.deck is None:
            raise EnrolmentFault("begin with a deck's name")
        if card not in FACES and card != HIDDEN:
            raise EnrolmentFault(f"{card[:8]!r} is no card: such as TD, or {HIDDEN} for a back")
        taken = self.pictures
        if len(taken) >= MOST:
            raise EnrolmentFault(f"{MOST} pictures are enough: remove some first")
        number = 1 + max((int(one.file[:3]) for one in taken), default=0)
        picture = Picture(f"{number:03}-{'back' if card == HIDDEN else card}.jpg", card)
        self._changed()
        self._quad(picture.file).write_bytes(msgspec.json.encode(quad))
        (self._folder / picture.file).write_bytes(jpeg)
        return picture

    def remove(self, name: str) -> None:
        """Raises ``EnrolmentFault``."""
        path = self.file(name)
        if path is None or not _FILE.fullmatch(name):
            raise EnrolmentFault("there is no such picture")
        self._changed()
        path.unlink()
        self._quad(name).unlink(missing_ok=True)

    def discard(self) -> None:
        """Throw everything away."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _changed(self) -> None:
        for name in ("profile.json", "sheet.png", "said.txt"):
            (self._folder / name).unlink(missing_ok=True)

    def _quad(self, name: str) -> Path:
        return (self._folder / name).with_suffix(".json")

    async def make(self) -> bool:
        """Enrol; True if there is a profile and a contact sheet now. ``said`` tells either way."""
        deck, taken = self.deck, self.pictures
        if deck is None or not taken:
            raise EnrolmentFault("take pictures first")
        self._changed()
        labels = [
            {"file": one.file, "card": one.card, "quad": msgspec.json.decode(self._quad(one.file).read_bytes())}
            for one in taken
        ]
        (self._folder / "labels.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, labels)))
        status, said = await _run(self._words(deck))
        if self.pictures != taken:
            raise EnrolmentFault("pictures were taken or removed meanwhile: make the profile again")
        if status == 0:
            for name in ("sheet.png", "profile.json"):
                (self._folder / f"new-{name}").rename(self._folder / name)
        (self._folder / "said.txt").write_text(_plain(said, self._folder), "utf-8")
        return status == 0

    def _words(self, deck: Deck) -> list[str]:
        words = ["calibrate", "deck", "--name", deck.deck, "--layout", deck.layout, "--corners", str(deck.corners)]
        words += ["--labels", str(self._folder / "labels.jsonl"), "--out", str(self._folder / "new-profile.json")]
        words += ["--sheet", str(self._folder / "new-sheet.png")]
        return words + (["--base", deck.base] if deck.base else []) + ([] if deck.pips else ["--no-pips"])


async def _run(words: list[str]) -> tuple[int, str]:
    """(exit status, what it said) of a command of this program. Raises ``EnrolmentFault`` if it does not end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "controller.cli", *words, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, env=os.environ | {"PYTHONUTF8": "1"},
    )  # fmt: skip
    try:
        said, _ = await asyncio.wait_for(process.communicate(), MAKE_S)
    except TimeoutError as error:
        raise EnrolmentFault(f"no profile within {MAKE_S:g} s: take fewer pictures") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, said.decode(errors="replace")


def _plain(said: str, folder: Path) -> str:
    """For people: without paths of this machine, and without the line that is for programs and the one that names the
    next command."""
    lines = [line for line in said.splitlines() if not line.startswith(("{", "look at "))]
    return "\n".join(lines).replace(f"{folder}/", "").replace("new-profile.json: ", "")


def card_seen(jpeg: bytes, document: Any) -> Quad:
    """Where the one card of a picture lies, by the layout ``document``: the true size tells cards from print.

    Raises ``EnrolmentFault`` if it is not exactly one.
    """
    import cv2
    import numpy as np

    from vision.layout import Layout
    from vision.locate import locate

    layout = msgspec.convert(document, Layout)
    image: Any = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    if image is None or (image.shape[1], image.shape[0]) != tuple(layout.size):
        raise EnrolmentFault(f"the camera's picture is not one of {layout.size[0]} x {layout.size[1]}, as calibrated")
    found = locate(np.asarray(image, np.uint8), layout.geometry())
    if len(found) != 1:
        raise EnrolmentFault(
            f"the camera sees {len(found) or 'no'} cards: lay down the one that you name, and no other"
        )
    return [(round(float(x), 1), round(float(y), 1)) for x, y in np.asarray(found[0]).reshape(4, 2)]
