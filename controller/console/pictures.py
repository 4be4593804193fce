"""Pictures of a table's camera, fetched from the camera service for whoever looks, at most a few a second."""

from __future__ import annotations

import asyncio
import http.client
import time
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from controller.console.floor import Place
from controller.console.sessions import Session
from controller.console.state import Console
from controller.console.web import guarded, link_of

TIMEOUT_S: Final = 4.0
#: A picture serves everybody who asks within this time.
FRESH_S: Final = 0.2
MAX_BYTES: Final = 8 << 20


@dataclass(slots=True)
class _Newest:
    at: float = 0.0
    jpeg: bytes = b""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


_newest: dict[str, _Newest] = {}


async def picture(place: Place) -> bytes:
    """The newest picture, JPEG. Raises ``HTTPException`` 404 without a camera, 502 if it does not answer."""
    if not place.camera:
        raise HTTPException(404, f"table {place.id} has no camera that the console knows")
    held = _newest.setdefault(place.camera, _Newest())
    async with held.lock:
        if time.monotonic() - held.at > FRESH_S:
            held.jpeg = await asyncio.to_thread(_fetch, place.camera, "/frame.jpg")
            held.at = time.monotonic()
        return held.jpeg


async def plain(place: Place) -> bytes:
    """A picture of this moment without the marks of the reader, JPEG. Raises ``HTTPException`` as ``picture``."""
    if not place.camera:
        raise HTTPException(404, f"table {place.id} has no camera that the console knows")
    return await asyncio.to_thread(_fetch, place.camera, "/plain.jpg")


def _fetch(address: str, path: str) -> bytes:
    parts = urlsplit(address)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read(MAX_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise HTTPException(502, f"the camera service at {address} does not answer: {error}") from error
    finally:
        connection.close()
    if answer.status != 200 or not body.startswith(b"\xff\xd8"):
        raise HTTPException(502, f"the camera service at {address} has no picture")
    return body


@guarded("dealer", "supervisor", "technician", while_locked=True)
async def _camera(request: Request, console: Console, session: Session) -> Response:  # noqa: ARG001
    return Response(await picture(link_of(request, console).place), media_type="image/jpeg")


ROUTES = [Route("/table/{table}/camera.jpg", _camera)]
