"""Calibration for technicians: a table's positions as polygons over the live picture, and markers.

The table keeps the versions (``calibration_get``, ``calibration_put``): what is saved is a new one, on record with
its author. It comes into use when the table file names it and the camera service starts anew.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from controller.console.link import Link
from controller.console.logon import read_json
from controller.console.pictures import picture
from controller.console.questions import ask
from controller.console.sessions import Session
from controller.console.state import Console
from controller.console.web import guarded, link_of, page

#: Markers of this dictionary are looked for, as ``dealerd calibrate table`` does.
DICTIONARY: Final = "DICT_4X4_50"
#: The table's first answer about its calibration loads the camera's library.
PATIENCE_S: Final = 20.0
Polygons = dict[str, list[tuple[float, float]]]


class _Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What a page sends: moved polygons (px) of ``version``, while ``newest`` was the newest one."""

    polygons: Polygons
    version: int
    newest: int
    reason: str


async def calibration(console: Console, session: Session, link: Link, **args: Any) -> Any:
    """The table's answer to ``calibration_get``. Raises ``HTTPException``."""
    return await ask(console, session, link, "calibration_get", args, timeout_s=PATIENCE_S)


def _version_of(request: Request) -> int | None:
    asked = request.query_params.get("version", "")
    return int(asked) if asked.isdecimal() and len(asked) < 7 else None


@guarded("technician", "supervisor")
async def _calibration(request: Request, console: Console, session: Session) -> Response:
    link, version = link_of(request, console), _version_of(request)
    found = await calibration(console, session, link)
    wanted = version or found["newest"]
    if wanted != found["version"]:
        found = await calibration(console, session, link, version=wanted)
    layout, polygons = await asyncio.to_thread(_drawn, found["document"])
    return page(
        console, session, "calibration.html", title=f"{link.id} calibration", link=link, layout=layout, found=found,
        polygons=polygons, may_save=session.role == "technician",
    )  # fmt: skip


def _drawn(document: Any) -> tuple[Any, Polygons]:
    """(layout, its polygons in px of the picture)."""
    from vision.layout import Layout

    layout = msgspec.convert(document, Layout)
    geometry = layout.geometry()
    return layout, {
        name: [(round(float(x), 1), round(float(y), 1)) for x, y in geometry.to_px(polygon)]
        for name, polygon in layout.positions.items()
    }


@guarded("technician")
async def _save(request: Request, console: Console, session: Session) -> Response:
    link, body = link_of(request, console), await read_json(request)
    try:
        wish = msgspec.convert(body, _Wish)
    except msgspec.ValidationError as error:
        raise HTTPException(400, str(error)) from error
    if not wish.polygons:
        raise HTTPException(409, "nothing was changed")
    found = await calibration(console, session, link, version=wish.version)
    document = await asyncio.to_thread(_moved, found["document"], wish.polygons)
    args = {"document": document, "seen_version": wish.newest, "reason": wish.reason}
    made = await ask(console, session, link, "calibration_put", args, timeout_s=PATIENCE_S)
    console.audit.note(
        "layout saved", who=session.name, address=session.address, table=link.id, file=made["file"],
        positions=sorted(wish.polygons),
    )  # fmt: skip
    said = (
        f"saved as version {made['version']}, {made['file']}; to use it set [camera] layout to it in the table file "
        "and restart the camera service"
    )
    return JSONResponse({"ok": True, "message": said, "version": made["version"]})


def _moved(document: dict[str, Any], polygons: Polygons) -> dict[str, Any]:
    """The document with ``polygons`` (px) in place of the old ones. Whether they can be, the table says."""
    from vision.layout import Layout

    geometry = msgspec.convert(document, Layout).geometry()
    try:
        changed = {
            name: [(round(float(x), 1), round(float(y), 1)) for x, y in geometry.to_mm(points)] if points else []
            for name, points in polygons.items()
        }
    except (ValueError, ArithmeticError) as error:
        raise HTTPException(409, f"polygons: {error}") from error
    return document | {"positions": document["positions"] | changed}


@guarded("technician", "supervisor")
async def _markers(request: Request, console: Console, session: Session) -> Response:  # noqa: ARG001
    link = link_of(request, console)
    return JSONResponse({"ok": True} | await asyncio.to_thread(_seen_markers, await picture(link.place)))


def _seen_markers(jpeg: bytes) -> dict[str, Any]:
    """ArUco markers in a picture: numbers and corners in its pixels, and its size."""
    import cv2
    import numpy as np

    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise HTTPException(502, "the camera's picture cannot be read")
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, DICTIONARY)))
    quads, numbers, _ = detector.detectMarkers(image)
    ids = [] if numbers is None else [int(number) for number in np.asarray(numbers).reshape(-1)]
    found = [
        {"id": number, "corners": np.asarray(quad, float).reshape(4, 2).round(1).tolist()}
        for number, quad in zip(ids, quads, strict=True)
    ]
    return {"markers": found, "size": [image.shape[1], image.shape[0]]}


ROUTES = [
    Route("/table/{table}/calibration", _calibration),
    Route("/table/{table}/calibration", _save, methods=["POST"]),
    Route("/table/{table}/calibration/markers", _markers),
]
