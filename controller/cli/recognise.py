"""``dealerd recognise``: the cards in pictures or in a film of a table, as JSON Lines."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from controller.cli.errors import UsageError

if TYPE_CHECKING:
    from vision.geometry import Geometry
    from vision.pixels import Image
    from vision.recognise import Found, Recogniser

_DESCRIPTION: Final = """\
Name the cards that lie face up, one JSON object a line.

Pictures:   dealerd recognise table.jpg more/*.png
  {"file", "cards": [{"card", "quad", "confidence"}], "unknown": [{"quad", "reason"}], "face_down": [{"quad"}], "ms"}
A film:     dealerd recognise --video coup.mp4 --layout baccarat.toml
  {"frame": 117, "position": "player/0", "card": "QH"}, once for each card when it lies still

A quad is four corners in pixels, clockwise, the first side a short one. A card that is not sure is never named; it
is listed with the reason. Without --profile every built-in deck is tried (standard, jumbo, four-index, live-casino);
with a deck's own profile, from dealerd calibrate deck, more is read. A film is read with live-casino by default.
"""


def add_parser(subparsers: Any) -> None:
    """Register ``recognise``."""
    parser = subparsers.add_parser(
        "recognise",
        help="name the cards in pictures or a film",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("images", type=Path, nargs="*", metavar="IMAGE", help="a picture")
    add("--profile", action="append", default=[], metavar="P", help="a built-in deck or a profile's file; repeatable")
    add("--video", type=Path, metavar="FILE", help="a film of the table; needs --layout")
    add("--layout", metavar="LAYOUT", help="layout of the table in the film: a file, or the name of a built-in one")
    add("--all", action="store_true", help="film: also backs (**), unreadable cards (??) and cards taken away (null)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Recognise and print."""
    if (args.video is None) == (not args.images):
        raise UsageError("name pictures, or one film with --video: one of both")
    if (args.video is None) != (args.layout is None):
        raise UsageError("--video and --layout belong together: the layout says where the positions are")
    if args.video is not None:
        return _film(args)
    return _pictures(args)


def _pictures(args: argparse.Namespace) -> int:
    recogniser = _recogniser(args.profile)
    for path in args.images:
        image = read_picture(path)
        begun = time.perf_counter()
        found = recogniser.read(image)
        spent = (time.perf_counter() - begun) * 1000
        print(json.dumps({"file": str(path), **answer(found), "ms": round(spent, 2)}), flush=True)
    return 0


def answer(found: list[Found]) -> dict[str, Any]:
    """What was found in one picture, as it is printed."""
    cards, unknown, backs = [], [], []
    for one in found:
        place = {"quad": [[round(float(v), 1) for v in point] for point in one.quad]}
        if one.kind == "card":
            cards.append({"card": one.card, **place, "confidence": round(one.confidence, 4)})
        elif one.kind == "back":
            backs.append(place)
        else:
            unknown.append({**place, "reason": one.reason})
    return {"cards": cards, "unknown": unknown, "face_down": backs}


def read_picture(path: Path) -> Image:
    """The picture in ``path``, its orientation mark obeyed. Raises ``UsageError``."""
    import cv2
    import numpy as np

    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
    if picture is None:
        raise UsageError(f"{path}: is no picture that can be decoded (PNG, JPEG, WebP, TIFF or BMP)")
    return np.asarray(picture, np.uint8)


def _recogniser(names: list[str], geometry: Geometry | None = None) -> Recogniser:
    from vision.profiles import ProfileError, built_in, load_profile
    from vision.recognise import Recogniser

    try:
        profiles = [load_profile(name) for name in names] if names else built_in()
    except ProfileError as error:
        raise UsageError(str(error)) from error
    return Recogniser(profiles, geometry)


def _film(args: argparse.Namespace) -> int:
    """One line for each face when it is told; backs, unreadable cards and cards taken away only with ``--all``."""
    from controller.cards import is_card
    from vision.film import FilmError, events
    from vision.layout import LayoutError, load

    try:
        layout = load(args.layout)
        recogniser = _recogniser(args.profile or ["live-casino"], layout.geometry())
        for event in events(args.video, recogniser, layout):
            if args.all or (event.card is not None and is_card(event.card)):
                print(json.dumps({"frame": event.frame, "position": event.position, "card": event.card}), flush=True)
    except (LayoutError, FilmError) as error:
        raise UsageError(str(error)) from error
    return 0
