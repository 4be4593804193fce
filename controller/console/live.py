"""Server-sent events: the first message is always the whole picture, later ones are the pieces that changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from typing import Any, Final

import msgspec
from starlette.responses import StreamingResponse

from controller.console.link import Link
from controller.console.sessions import Session
from controller.console.state import Console

#: A stream says something at least this often; a page that hears nothing for four of these calls itself stale.
BEAT_S: Final = 0.4
_encoder = msgspec.json.Encoder()

#: Pieces of a page by the id of the element they fill, for those of ``links`` that changed.
Pieces = Callable[[list[Link]], dict[str, str]]


def stream(console: Console, session: Session, links: list[Link], pieces: Pieces) -> StreamingResponse:
    """The answer that feeds one page."""
    return StreamingResponse(
        _messages(console, session, links, pieces),
        media_type="text/event-stream",
        headers={"x-accel-buffering": "no"},
    )


async def _messages(console: Console, session: Session, links: list[Link], pieces: Pieces) -> AsyncIterator[bytes]:
    sent: dict[str, str] = {}
    versions: dict[str, int] = {}
    waker = asyncio.Event()
    with ExitStack() as stack:
        for link in links:
            stack.enter_context(link.subscribed(waker))
        yield b"retry: 500\n\n"
        while not console.closing.is_set():
            waker.clear()
            changed = [link for link in links if versions.get(link.id) != link.version]
            versions |= {link.id: link.version for link in changed}
            found = pieces(changed) if changed else {}
            parts = {name: text for name, text in found.items() if sent.get(name) != text}
            sent |= parts
            yield _message(console, session, links, parts)
            try:
                await asyncio.wait_for(waker.wait(), BEAT_S)
            except TimeoutError:
                continue


def _message(console: Console, session: Session, links: list[Link], parts: dict[str, str]) -> bytes:
    over = session.id not in {s.id for s in console.sessions.all()}
    body: dict[str, Any] = {
        "parts": parts,
        "seq": {link.id: link.seq for link in links},
        "stale": {link.id: link.stale_since for link in links if link.stale},
        "locked": session.locked,
        "over": over,
    }
    return b"data: " + _encoder.encode(body) + b"\n\n"
