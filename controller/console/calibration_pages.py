"""Calibration for technicians: a table's positions as polygons over the live picture, markers, the deck's glyphs.

What is saved is a new layout file beside the table file; the one in use is never changed. It comes into use when the
table file names it and the camera service starts anew.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any, Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from controller.console.link import Link
from controller.console.logon import read_json
from controller.console.pictures import picture
from controller.console.sessions import Session
from controller.console.state import Console
from controller.console.web import guarded, link_of, page

#: Markers of this dictionary are looked for, as ``dealerd calibrate table`` does.
DICTIONARY: Final = "DICT_4X4_50"
_VERSION = re.compile(r"-v\d+$")
Polygons = dict[str, list[tuple[float, float]]]


def _layout_of(link: Link) -> Any:
    """The layout in use. Raises ``HTTPException`` 404."""
    from vision.layout import LayoutError, load

    if not link.place.layout:
        raise HTTPException(404, f"table {link.id} has no layout that the console knows")
    try:
        return load(link.place.layout)
    except LayoutError as error:
        raise HTTPException(404, str(error)) from error


@guarded("technician", "supervisor")
async def _calibration(request: Request, console: Console, session: Session) -> Response:
    link = link_of(request, console)
    layout = await asyncio.to_thread(_layout_of, link)
    geometry = layout.geometry()
    polygons = {
        name: [(round(float(x), 1), round(float(y), 1)) for x, y in geometry.to_px(polygon)]
        for name, polygon in layout.positions.items()
    }
    decks = [Path(profile).stem for profile in link.place.profiles]
    return page(
        console, session, "calibration.html", title=f"{link.id} calibration", link=link, layout=layout,
        polygons=polygons, may_save=session.role == "technician", profiles=decks,
    )  # fmt: skip


@guarded("technician")
async def _save(request: Request, console: Console, session: Session) -> Response:
    link, body = link_of(request, console), await read_json(request)
    try:
        polygons = msgspec.convert(body.get("polygons"), Polygons)
    except msgspec.ValidationError as error:
        raise HTTPException(400, f"polygons: {error}") from error
    path = await asyncio.to_thread(_new_version, link, polygons)
    console.audit.note(
        "layout saved", who=session.name, address=session.address, table=link.id, file=path.name,
        positions=sorted(polygons),
    )  # fmt: skip
    said = f'saved as {path}; to use it set [camera] layout = "{path.name}" in the table file and restart the camera'
    return JSONResponse({"ok": True, "message": said, "file": path.name})


def _new_version(link: Link, polygons: Polygons) -> Path:
    """Write the layout with ``polygons`` (px) in place of the old ones. Raises ``HTTPException`` 409."""
    from vision.layout import save

    layout = _layout_of(link)
    unknown = sorted(set(polygons) - set(layout.positions))
    if unknown or not polygons:
        raise HTTPException(409, f"no such position: {', '.join(unknown)}" if unknown else "nothing was changed")
    geometry = layout.geometry()
    changed = {
        name: [(round(float(x), 1), round(float(y), 1)) for x, y in geometry.to_mm(points)]
        for name, points in polygons.items()
        if len(points) >= 3
    }
    stem = _VERSION.sub("", Path(link.place.layout).stem)
    number = 2
    while (path := link.place.folder / f"{stem}-v{number}.toml").exists():
        number += 1
    new = msgspec.structs.replace(layout, name=path.stem, positions=layout.positions | changed)
    found = new.problems()
    if found or len(changed) < len(polygons):
        raise HTTPException(409, "; ".join(found) or "a position has three corners or more")
    try:
        save(new, path)
    except OSError as error:
        raise HTTPException(409, f"{path} cannot be written: {error.strerror}") from error
    return path


@guarded("technician", "supervisor")
async def _markers(request: Request, console: Console, session: Session) -> Response:  # noqa: ARG001
    link = link_of(request, console)
    layout = await asyncio.to_thread(_layout_of, link)
    found = await asyncio.to_thread(_seen_markers, await picture(link.place), layout.size)
    return JSONResponse({"ok": True, "markers": found})


def _seen_markers(jpeg: bytes, size: tuple[int, int]) -> list[dict[str, Any]]:
    """ArUco markers in a picture: number and corners in pixels of the layout's size."""
    import cv2
    import numpy as np

    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise HTTPException(502, "the camera's picture cannot be read")
    if (image.shape[1], image.shape[0]) != size:
        image = np.asarray(cv2.resize(image, size), np.uint8)
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, DICTIONARY)))
    quads, numbers, _ = detector.detectMarkers(image)
    ids = [] if numbers is None else [int(number) for number in np.asarray(numbers).reshape(-1)]
    return [
        {"id": number, "corners": np.asarray(quad, float).reshape(4, 2).round(1).tolist()}
        for number, quad in zip(ids, quads, strict=True)
    ]


@guarded("technician", "supervisor")
async def _deck(request: Request, console: Console, session: Session) -> Response:  # noqa: ARG001
    link, name = link_of(request, console), request.path_params["deck"]
    known = {Path(profile).stem: profile for profile in link.place.profiles}
    if name not in known:
        raise HTTPException(404, f"no deck {name[:40]!r} at this table")
    return Response(await asyncio.to_thread(_contact_sheet, known[name]), media_type="image/png")


def _contact_sheet(profile: str) -> bytes:
    """Every glyph that the reader knows this deck by, under its name."""
    import cv2
    import numpy as np

    from vision.profiles import ProfileError, load_profile

    try:
        glyphs = load_profile(profile).glyphs
    except ProfileError as error:
        raise HTTPException(404, str(error)) from error
    known = [*zip(glyphs.rank_names, glyphs.ranks, strict=True), *zip(glyphs.suit_names, glyphs.suits, strict=True)]
    across, cell = 14, 72
    sheet = np.full((-(-len(known) // across) * cell, across * cell), 24, np.uint8)
    for n, (name, glyph) in enumerate(known):
        y, x = n // across * cell, n % across * cell
        shown = np.asarray(glyph)
        shown = shown if shown.dtype == np.uint8 else np.clip(shown * 255, 0, 255).astype(np.uint8)
        scale = min(48 / shown.shape[0], 60 / shown.shape[1])
        small = cv2.resize(shown, (max(1, round(shown.shape[1] * scale)), max(1, round(shown.shape[0] * scale))))
        sheet[y + 4 : y + 4 + small.shape[0], x + 6 : x + 6 + small.shape[1]] = small
        cv2.putText(sheet, name, (x + 6, y + 68), cv2.FONT_HERSHEY_SIMPLEX, 0.45, 255, 1, cv2.LINE_AA)
    done, png = cv2.imencode(".png", sheet)
    assert done
    return bytes(np.asarray(png).tobytes())


ROUTES = [
    Route("/table/{table}/calibration", _calibration),
    Route("/table/{table}/calibration", _save, methods=["POST"]),
    Route("/table/{table}/calibration/markers", _markers),
    Route("/table/{table}/deck/{deck}.png", _deck),
]
