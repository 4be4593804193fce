"""Teaching a table's reader a deck: pictures from the live camera, named one by one, a contact sheet to confirm, and
a new version of the deck's profile at the table."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from controller.cards import FACES, HIDDEN, RANKS, SUITS
from controller.console.calibration_pages import PATIENCE_S, calibration
from controller.console.enrolment import BASES, Deck, Enrolment, EnrolmentFault, card_seen
from controller.console.link import Link
from controller.console.logon import read_json
from controller.console.pictures import plain
from controller.console.questions import ask
from controller.console.sessions import Session
from controller.console.state import Console
from controller.console.web import guarded, link_of, page

Body = dict[str, Any]


def enrolment_of(console: Console, link: Link) -> Enrolment:
    """The deck that this table is being taught."""
    return Enrolment(console.floor.data / "enrolment" / link.id)


def _work(console: Console, session: Session, link: Link, said: str = "") -> str:
    """The part of the page that changes."""
    one = enrolment_of(console, link)
    pictures = one.pictures
    named = [card for card in (*FACES, HIDDEN) if card not in {picture.card for picture in pictures}]
    return console.render(
        "deck-work.html", link=link, session=session, deck=one.deck, pictures=pictures[::-1], missing=one.missing,
        said=said or one.said, made=one.profile is not None, faces=(*FACES, HIDDEN), bases=BASES,
        next=named[0] if named else FACES[0], letters=RANKS + SUITS, may=session.role == "technician",
    )  # fmt: skip


@guarded("technician", "supervisor")
async def _decks(request: Request, console: Console, session: Session) -> Response:
    link = link_of(request, console)
    found = await calibration(console, session, link)
    decks = [await calibration(console, session, link, deck=name) for name in found["decks"]]
    return page(
        console, session, "deck.html", title=f"{link.id} decks", link=link, work=_work(console, session, link),
        decks=[{key: one[key] for key in ("name", "version", "active", "newest", "versions")} for one in decks],
    )  # fmt: skip


# --- what a technician does ------------------------------------------------------------------------------------


async def _begin(console: Console, session: Session, link: Link, body: Body) -> str:
    try:
        deck = msgspec.convert(body | {"by": session.name}, Deck)
    except msgspec.ValidationError as error:
        raise HTTPException(400, str(error)) from error
    enrolment_of(console, link).begin(deck)
    return f"lay one card of {deck.deck} on the felt, name it, take a picture"


async def _take(console: Console, session: Session, link: Link, body: Body) -> str:
    jpeg = await plain(link.place)
    layout = (await calibration(console, session, link))["document"]
    quad = await asyncio.to_thread(card_seen, jpeg, layout)
    return f"{enrolment_of(console, link).add(str(body.get('card')), jpeg, quad).card} taken"


async def _remove(console: Console, session: Session, link: Link, body: Body) -> str:  # noqa: ARG001
    enrolment_of(console, link).remove(str(body.get("file")))
    return "removed"


async def _discard(console: Console, session: Session, link: Link, body: Body) -> str:  # noqa: ARG001
    enrolment_of(console, link).discard()
    return "thrown away"


async def _make(console: Console, session: Session, link: Link, body: Body) -> str:  # noqa: ARG001
    done = await enrolment_of(console, link).make()
    return "now look at the contact sheet" if done else "no profile: read why"


async def _save(console: Console, session: Session, link: Link, body: Body) -> str:
    one = enrolment_of(console, link)
    deck, profile = one.deck, one.profile
    if deck is None or profile is None:
        raise EnrolmentFault("make the profile first, and look at its contact sheet")
    if body.get("looked") is not True:
        raise EnrolmentFault("look at the contact sheet, and say that every glyph is in the right row")
    try:
        seen = (await calibration(console, session, link, deck=deck.deck))["newest"]
    except HTTPException as error:
        if error.status_code != 404:
            raise
        seen = 0
    args = {"document": msgspec.json.decode(profile), "seen_version": seen, "deck": deck.deck}
    args["reason"] = str(body.get("reason") or "enrolled from the table's camera")
    made = await ask(console, session, link, "calibration_put", args, timeout_s=PATIENCE_S)
    console.audit.note(
        "deck saved", who=session.name, address=session.address, table=link.id, file=made["file"],
        pictures=len(one.pictures),
    )  # fmt: skip
    one.discard()
    return (
        f"saved as version {made['version']} of {deck.deck}, {made['file']}; to use it add it to [camera] profiles "
        "in the table file and restart the camera service"
    )


_ACTS: Final[dict[str, Callable[[Console, Session, Link, Body], Awaitable[str]]]] = {
    "begin": _begin, "take": _take, "remove": _remove, "discard": _discard, "make": _make, "save": _save,
}  # fmt: skip


@guarded("technician")
async def _act(request: Request, console: Console, session: Session) -> Response:
    link, act = link_of(request, console), request.path_params["act"]
    if act not in _ACTS:
        raise HTTPException(404, f"nothing to do here called {act[:20]!r}")
    body = await read_json(request)
    try:
        said = await _ACTS[act](console, session, link, body)
    except EnrolmentFault as fault:
        return JSONResponse({"ok": False, "message": str(fault)}, 409)
    except OSError as error:
        return JSONResponse({"ok": False, "message": f"cannot be written: {error.strerror or error}"}, 409)
    return JSONResponse({"ok": True, "message": said, "html": _work(console, session, link)})


# --- pictures ----------------------------------------------------------------------------------------------------


@guarded("technician", "supervisor")
async def _file(request: Request, console: Console, session: Session) -> Response:  # noqa: ARG001
    path = enrolment_of(console, link_of(request, console)).file(request.path_params["file"])
    if path is None:
        raise HTTPException(404, "there is no such picture")
    return FileResponse(path)


@guarded("technician", "supervisor")
async def _glyphs(request: Request, console: Console, session: Session) -> Response:
    link = link_of(request, console)
    found = await calibration(console, session, link, deck=request.path_params["deck"])
    return Response(await asyncio.to_thread(_sheet, found["document"]), media_type="image/png")


def _sheet(document: Any) -> bytes:
    """Every glyph that the reader knows this deck by, beside its name."""
    import cv2

    from calibration.deck import Report
    from calibration.deck_sheet import contact_sheet
    from vision.profiles import ProfileError, decode_profile

    try:
        profile = decode_profile(msgspec.json.encode(document), "of the table")
    except ProfileError as error:
        raise HTTPException(404, str(error)) from error
    return bytes(cv2.imencode(".png", contact_sheet(profile, Report()))[1].tobytes())


ROUTES = [
    Route("/table/{table}/deck", _decks),
    Route("/table/{table}/deck/{act}", _act, methods=["POST"]),
    Route("/table/{table}/deck/taken/{file}", _file),
    Route("/table/{table}/deck/{deck}.png", _glyphs),
]
