"""Mistakes at the press of a button, for simulated tables: a line to the simulated shoe's control socket."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from controller.console.link import Frame, Link
from controller.console.logon import read_json
from controller.console.sessions import Session
from controller.console.state import Console
from controller.console.web import guarded, link_of

TIMEOUT_S: Final = 8.0
#: How long an extra card waits for a moment when none is due.
PATIENCE_S: Final = 20.0
#: How long a card that left is waited for in the feed.
NOTICED_S: Final = 3.0
_DUE: Final = frozenset({"card_dealt", "card_burned", "burn_indicator_drawn"})
_EXTRA: Final = _DUE | {"incident_raised"}
#: Button → what it says, what it does.
BUTTONS: Final = {
    "wrong_card": ("Wrong card", "the code of the next card is damaged, so that it is no card"),
    "no_read": ("No read", "the reader does not read the next card"),
    "extra_card": ("Extra card", "a card has left the shoe while none was due"),
    "unplug": ("Unplug", "the shoe's cable comes out for eight seconds"),
    "cut_card": ("Push back", "the last card goes back into the shoe"),
}
_LINES: Final = {
    "line": {"wrong_card": "fault corrupt", "no_read": "fault no_read"},
    "angel": {"wrong_card": "fault bad_bcc", "no_read": "fault no_read"},
}


@guarded("dealer", "supervisor", "technician")
async def _mistake(request: Request, console: Console, session: Session) -> Response:
    link, body = link_of(request, console), await read_json(request)
    control, wanted = link.place.control, str(body.get("mistake"))
    if control is None or wanted not in BUTTONS:
        raise HTTPException(404, "only a simulated table makes mistakes on request")
    if wanted == "extra_card":
        answer = await _extra_card(link, control)
    else:
        protocol = str((await ask(control, "status")).get("protocol", "line"))
        answer = await ask(control, _line(protocol, wanted))
    console.audit.note("mistake", who=session.name, address=session.address, table=link.id, mistake=wanted)
    said = BUTTONS[wanted][1]
    return JSONResponse({"ok": bool(answer.get("ok")), "message": said if answer.get("ok") else answer.get("error")})


async def _extra_card(link: Link, control: Path) -> dict[str, Any]:
    """Draw while the procedure asks for something else than a card; again if the card fell due on its way."""
    heard: list[str] = []
    waker = asyncio.Event()

    def note(frame: Frame) -> None:
        heard.append(frame["type"])

    async def until(true: Callable[[], object]) -> None:
        while not true():
            waker.clear()
            await waker.wait()

    link.frame_hooks.append(note)
    try:
        with link.subscribed(waker):
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    await until(lambda: ((link.state or {}).get("step") or {}).get("step") not in (None, "draw"))
                    heard.clear()
                    answer = await ask(control, "draw")
                    if not answer.get("ok"):
                        return answer
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(until(lambda: not _EXTRA.isdisjoint(heard)), NOTICED_S)
                    if _DUE.isdisjoint(heard):
                        return answer
    except TimeoutError as error:
        raise HTTPException(409, "a card has been due all the time; press again") from error
    finally:
        link.frame_hooks.remove(note)


def _line(protocol: str, wanted: str) -> str:
    if wanted == "unplug":
        return "unplug 8"
    if wanted == "cut_card":
        return "push_back"
    lines = _LINES.get(protocol, _LINES["line"])
    return lines[wanted]


async def ask(control: Path, line: str) -> dict[str, Any]:
    """One request to a simulated device and its answer."""
    try:
        async with asyncio.timeout(TIMEOUT_S):
            reader, writer = await asyncio.open_unix_connection(str(control))
            try:
                writer.write(line.encode() + b"\n")
                await writer.drain()
                found: dict[str, Any] = json.loads(await reader.readline() or b"{}")
            finally:
                writer.close()
                await writer.wait_closed()
    except (OSError, TimeoutError, ValueError) as error:
        raise HTTPException(502, f"the simulated shoe does not answer: {error}") from error
    return found


ROUTES = [Route("/table/{table}/mistake", _mistake, methods=["POST"])]
