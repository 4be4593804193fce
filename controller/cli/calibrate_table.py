"""``dealerd calibrate table``: where the felt lies in the camera's picture, and whether it still lies there."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path
from typing import Any, Final

from controller.cli.errors import UsageError

_DESCRIPTION: Final = """\
Write a layout file: where the felt and its positions are in the camera's picture. The felt must be empty but for
what is measured. Millimetres count from any corner you choose, x to the right and y downwards in the picture.

From ArUco markers laid square to the table, their middles measured with a ruler:
  dealerd calibrate table table.layout.toml --from http://camera/mjpeg --positions baccarat.positions.toml \\
      --marker 0=70,70 --marker 1=830,70 --marker 2=830,436 --marker 3=70,436 --marker-mm 60 --report report
From a ChArUco board on the felt (add --lens PICTURES to measure the lens, too):
  ... --board 7x5 --square 30 --marker-mm 22 --at 250,180
From four or more points of the felt, in pixels and millimetres:
  ... --point 119,94=20,20 --point 1160,94=880,20 --point 1207,640=880,486 --point 72,640=20,486
Check each shift that nobody has moved the camera (exit status 1 if so):
  dealerd calibrate table table.layout.toml --check --from http://camera/mjpeg

--from takes a picture, a device (/dev/v4l/by-path/...), an address (http, https, rtsp) or a video. --positions takes
a TOML file with unit = "mm" or "px" and a table [positions] of polygons, a layout file, or a built-in layout.
"""


def add_parser(subparsers: Any) -> None:
    """Register ``calibrate table``."""
    parser = subparsers.add_parser(
        "table",
        help="where the felt lies in the camera's picture",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("layout", type=Path, metavar="LAYOUT", help="layout file to write (.toml or .json), or to check")
    add("--from", dest="source", required=True, metavar="SOURCE", help="picture, device, address or video")
    add("--check", action="store_true", help="compare with LAYOUT instead of writing it")
    how = parser.add_argument_group("known points (one kind)")
    how.add_argument("--marker", action="append", default=[], metavar="N=X,Y", help="ArUco marker: middle in mm")
    how.add_argument("--board", metavar="CxR", help="ChArUco board of C x R squares")
    how.add_argument("--point", action="append", default=[], metavar="PX,PY=X,Y", help="point: pixels = mm")
    how.add_argument("--marker-mm", type=float, metavar="MM", help="edge of a marker, black part")
    how.add_argument("--square", type=float, metavar="MM", help="edge of the board's squares")
    how.add_argument("--at", default="0,0", metavar="X,Y", help="where the board's upper left corner lies, mm")
    how.add_argument("--turn", type=float, default=0.0, metavar="DEG", help="the board's turn, clockwise")
    how.add_argument("--dictionary", default="DICT_4X4_50", metavar="NAME", help="markers' dictionary")
    add("--lens", nargs="+", type=Path, metavar="PICTURE", help="five or more views of the board: measure the lens")
    add("--positions", metavar="FILE", help="polygons of the positions")
    add("--card", default="63x88", metavar="WxH", help="a card's edges in mm (default 63x88)")
    add("--white", metavar="X,Y,W,H", help="a white card or sheet in the picture (px): balance the colours by it")
    add("--name", help="name of the layout (default: the file's)")
    add("--report", type=Path, metavar="DIR", help="write pictures and figures there")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Calibrate or check; the exit status."""
    from calibration.table_targets import CalibrationError
    from vision.layout import LayoutError
    from vision.sources import SourceError

    try:
        return _check(args) if args.check else _calibrate(args)
    except (LayoutError, SourceError) as error:
        raise UsageError(str(error)) from error
    except (CalibrationError, ValueError) as error:
        print(f"dealerd calibrate table: {error}", file=sys.stderr)
        return 1


def _calibrate(args: argparse.Namespace) -> int:
    from calibration.table import measured, positions_from_px, rows, solve, white_gains
    from calibration.table_report import write
    from vision.layout import Layout, save

    if args.layout.suffix not in (".toml", ".json"):
        raise UsageError(f"{args.layout}: name the layout .toml or .json")
    if args.positions is None:
        raise UsageError("--positions is missing: the polygons of the positions")
    unit, polygons = _positions(args.positions)
    card = _numbers(args.card, "x", 2, "--card")
    image = _picture(args.source)
    lens = _lens(args)
    pairs = _pairs(args, image)
    solved = solve(pairs, lens)
    layout = Layout(
        name=args.name or args.layout.name.split(".")[0],
        size=(image.shape[1], image.shape[0]),
        card_mm=(min(card), max(card)),
        matrix=rows(solved.matrix),
        positions=polygons if unit == "mm" else positions_from_px(polygons, solved.matrix),
        white=(1.0, 1.0, 1.0) if args.white is None else white_gains(image, _box(args.white)),
        lens=lens,
    )
    faults = layout.problems()
    if faults:
        raise UsageError("\n".join(f"{args.positions}: {fault}" for fault in faults))
    layout = measured(layout, image, solved, pairs.aids)
    try:
        save(layout, args.layout)
        page = write(args.report, layout, image, pairs, solved) if args.report is not None else None
    except OSError as error:
        raise UsageError(f"{error.filename or args.layout}: cannot be written: {error.strerror or error}") from error
    print(
        f"{args.layout}: {len(layout.positions)} positions; error {solved.rms_mm:.2f} mm typical, "
        f"{solved.max_mm:.2f} mm at most over {len(pairs.mm)} points; {len(layout.reference.points)} points of print"
    )
    if len(pairs.mm) == 4:
        print("four points fit any way: their error says nothing; look at the report's rectified picture")
    if page is not None:
        print(f"look at {page}")
    return 0


def _check(args: argparse.Namespace) -> int:
    from calibration.table import check
    from vision.layout import load

    layout = load(args.layout)
    image = _picture(args.source)
    found = check(layout, image, _pairs(args, image) if args.marker or args.board else None)
    if found.fault:
        print(f"{args.layout}: {found.fault}", file=sys.stderr)
        return 1
    print(f"{args.layout}: holds; moved {found.moved_mm:.1f} mm at most, {found.found:.0%} of the points seen")
    return 0


def _pairs(args: argparse.Namespace, image: Any) -> Any:
    """Known points by the one way that ``args`` name."""
    from calibration.table_targets import from_board, from_markers, from_points

    if (bool(args.marker), args.board is not None, bool(args.point)).count(True) != 1:
        raise UsageError("give known points in one way: --marker, --board or --point")
    if args.marker:
        if args.marker_mm is None or not 1 <= args.marker_mm <= 1000:
            raise UsageError("--marker-mm: the edge of a marker's black part in mm, 1 to 1000")
        middles = dict(_marker(text) for text in args.marker)
        return from_markers(image, middles, args.marker_mm, args.dictionary)
    if args.board is not None:
        return from_board(image, _board(args))
    points = [_assigned(text, "--point", 2) for text in args.point]
    return from_points([((px[0], px[1]), (mm[0], mm[1])) for px, mm in points])


def _board(args: argparse.Namespace) -> Any:
    from calibration.table_targets import Board

    if args.board is None or args.square is None or args.marker_mm is None:
        raise UsageError("a board needs --board CxR, --square MM and --marker-mm MM")
    columns, rows = (int(n) for n in _numbers(args.board, "x", 2, "--board"))
    at = _numbers(args.at, ",", 2, "--at")
    return Board(
        columns=columns,
        rows=rows,
        square_mm=args.square,
        marker_mm=args.marker_mm,
        at=(at[0], at[1]),
        turn=args.turn,
        dictionary=args.dictionary,
    )


def _lens(args: argparse.Namespace) -> Any:
    from calibration.table_targets import lens_from_boards
    from vision.layout import Lens

    if args.lens is None:
        return None
    camera, distortion, error = lens_from_boards([_picture(str(path)) for path in args.lens], _board(args))
    from calibration.table import rows

    print(f"lens: {error:.2f} px reprojection error over {len(args.lens)} pictures")
    k = [float(value) for value in distortion]
    return Lens(camera=rows(camera), distortion=(k[0], k[1], k[2], k[3], k[4]))


def _picture(source: str) -> Any:
    """One picture of ``source``; of a camera the median of several, against noise."""
    import numpy as np

    from vision.settings import CameraSettings
    from vision.sources import SourceEnded, open_source

    path = Path(source)
    if path.is_file() and path.suffix.lower() in (".png", ".jpg", ".jpeg", ".bmp"):
        import cv2

        image = cv2.imread(str(path))
        if image is None:
            raise UsageError(f"{path}: no picture that can be read")
        return image
    camera = open_source(CameraSettings(source=source, layout=""))
    images: list[Any] = []
    try:
        camera.open()
        with contextlib.suppress(SourceEnded):
            while len(images) < 5:
                images.append(camera.read().image())
    finally:
        camera.close()
    return np.median(np.stack(images), axis=0).astype(np.uint8)


def _positions(name: str) -> tuple[str, dict[str, list[tuple[float, float]]]]:
    """(unit, polygons) of a positions file, a layout file or a built-in layout. Raises ``UsageError``."""
    import msgspec

    from vision.layout import built_in, load

    class File(msgspec.Struct, forbid_unknown_fields=True):
        positions: dict[str, list[tuple[float, float]]]
        unit: str = "mm"

    if name in built_in():
        return "mm", load(name).positions
    try:
        raw = Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror}; built in: {', '.join(built_in())}") from error
    try:
        found = msgspec.toml.decode(raw, type=File)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if b"matrix" in raw:
            return "mm", load(name).positions
        raise UsageError(f"{name}: {error}") from error
    if found.unit not in ("mm", "px"):
        raise UsageError(f'{name}: unit {found.unit!r}: "mm" or "px"')
    return found.unit, found.positions


def _marker(text: str) -> tuple[int, tuple[float, float]]:
    number, at = _assigned(text, "--marker", 1)
    return int(number[0]), (at[0], at[1])


def _assigned(text: str, option: str, left: int) -> tuple[list[float], list[float]]:
    """``A=B,C`` or ``A,B=C,D`` as numbers."""
    before, equals, after = text.partition("=")
    if not equals:
        raise UsageError(f"{option} {text}: write it as {'N' if left == 1 else 'PX,PY'}=X,Y")
    return _numbers(before, ",", left, option), _numbers(after, ",", 2, option)


def _box(text: str) -> Any:
    import numpy as np

    x, y, width, height = _numbers(text, ",", 4, "--white")
    return np.array([[x, y], [x + width, y], [x + width, y + height], [x, y + height]])


def _numbers(text: str, separator: str, count: int, option: str) -> list[float]:
    try:
        values = [float(part) for part in text.split(separator)]
    except ValueError:
        values = []
    if len(values) != count or not all(abs(value) < 1e6 for value in values):
        raise UsageError(f"{option} {text!r}: {count} number{'s' if count > 1 else ''}, separated by {separator!r}")
    return values
