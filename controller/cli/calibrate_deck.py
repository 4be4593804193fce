"""``dealerd calibrate deck``: teach the recogniser a deck from pictures of its cards."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from controller.cards import HIDDEN, is_card
from controller.cli.errors import UsageError

if TYPE_CHECKING:
    from calibration.deck import Labelled, Report
    from vision.profiles import DeckProfile

_DESCRIPTION: Final = """\
Write a deck profile from pictures whose cards you name, and a contact sheet to look at before you use it.

  dealerd calibrate deck --name house --labels cards.csv --out house.json --sheet house.png

The labels are lines of "file,card" (as in "img1.jpg,TD", or "img9.jpg,**" for a back), one card a picture; or JSON
Lines {"file", "card", "quad"} with the four corners of the card in pixels, for pictures with several. Files are found
beside the labels. All ranks and suits must be seen, better each in several places and in the table's own light; with
--base the missing ones are taken from a built-in deck and read as strictly as without enrolment.

Exit status 1: the pictures make no profile, with every reason: a glyph is missing, two glyphs look alike, or samples
look like another name than their label's.
"""


class _Label(msgspec.Struct, forbid_unknown_fields=True):
    file: str
    card: str
    quad: list[tuple[float, float]] | None = None


def add_parser(subparsers: Any) -> None:
    """Register ``calibrate deck``."""
    parser = subparsers.add_parser(
        "deck",
        help="the look of a deck's cards, from pictures",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--name", required=True, help="name of the deck: small letters, digits, hyphens")
    add("--labels", type=Path, required=True, metavar="FILE", help="which card is in which picture")
    add("--out", type=Path, required=True, metavar="PROFILE", help="the profile to write (.json)")
    add("--sheet", type=Path, required=True, metavar="PNG", help="the contact sheet to write")
    add("--layout", choices=("over", "beside"), default="over", help="rank over suit (default), or suit beside rank")
    add("--corners", type=int, choices=(2, 4), default=2, help="corners with an index (default 2)")
    add("--no-pips", action="store_true", help="the middle of the cards shows no pips")
    add("--card-mm", default="63x88", metavar="WxH", help="size of a card in millimetres (default 63x88)")
    add("--base", metavar="P", help="profile that gives the glyphs which no picture shows")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Enrol and write."""
    import cv2

    from calibration.deck import EnrolmentError, enrol
    from calibration.deck_sheet import contact_sheet
    from vision.profiles import ProfileError, check_name, encode_profile, load_profile

    try:
        base = None if args.base is None else load_profile(args.base)
        name = check_name(args.name)
    except (ProfileError, ValueError) as error:
        raise UsageError(str(error)) from error
    try:
        profile, report = enrol(
            _labelled(args.labels), name, layout=args.layout, corners=args.corners, pips=not args.no_pips,
            card_mm=_millimetres(args.card_mm), base=base,
        )  # fmt: skip
    except EnrolmentError as error:
        print(f"no profile was written: {error}")
        return 1
    try:
        args.out.write_bytes(encode_profile(profile))
        args.sheet.write_bytes(cv2.imencode(".png", contact_sheet(profile, report))[1].tobytes())
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be written: {error.strerror or error}") from error
    _tell(profile, report, args)
    return 0


def _labelled(path: Path) -> Iterator[Labelled]:
    import numpy as np

    from calibration.deck import Labelled
    from controller.cli.recognise import read_picture

    for label in read_labels(path):
        quad = None if label.quad is None else np.asarray(label.quad, np.float32)
        yield Labelled(label.file, read_picture(path.parent / label.file), label.card, quad)


def read_labels(path: Path) -> list[_Label]:
    """The labels in ``path``. Raises ``UsageError`` naming the line that is none."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            label = msgspec.json.decode(line, type=_Label) if line.lstrip().startswith("{") else _pair(line)
        except (msgspec.DecodeError, ValueError) as error:
            raise UsageError(f"{path}, line {number}: {error}") from error
        if not is_card(label.card) and label.card != HIDDEN:
            raise UsageError(
                f"{path}, line {number}: {label.card!r} is not a card: such as TD, or {HIDDEN} for a back"
            )
        if label.quad is not None and len(label.quad) != 4:
            raise UsageError(f"{path}, line {number}: a quad has 4 corners, this has {len(label.quad)}")
        found.append(label)
    if not found:
        raise UsageError(f"{path}: holds no label")
    return found


def _pair(line: str) -> _Label:
    words = [word.strip() for word in line.split(",")]
    if len(words) != 2:
        raise ValueError('neither "file,card" nor a JSON object')
    return _Label(words[0], words[1])


def _millimetres(text: str) -> tuple[float, float]:
    try:
        width, height = (float(word) for word in text.split("x"))
    except ValueError:
        raise UsageError(f"--card-mm {text!r}: width x height in millimetres, such as 63x88") from None
    if not 30 < width < height < 200:
        raise UsageError(f"--card-mm {text}: the short side first, 30 to 200 millimetres")
    return width, height


def _tell(profile: DeckProfile, report: Report, args: argparse.Namespace) -> None:
    print(f"{args.out}: deck {profile.name}, {len(set(report.used))} pictures used, glyphs of {profile.own}")
    if report.borrowed:
        print(f"not seen, taken from {args.base}: {report.borrowed}")
    for file, why in report.unused + sorted(set(report.dropped)):
        print(f"  {file}: {why}")
    print(f"look at {args.sheet}: is every glyph in the right row? Then name the profile with --profile {args.out}")
    print(json.dumps({"profile": profile.name, "own": profile.own, "borrowed": report.borrowed}))
