"""What people order from a page: dialogs that show the state they decide on, and commands that carry its seq."""

from __future__ import annotations

import uuid
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from controller.cards import FACES
from controller.console import felt, words
from controller.console.hands import Answer, may_send
from controller.console.link import PROBED, Link
from controller.console.logon import prove, read_json
from controller.console.sessions import Session
from controller.console.state import Console
from controller.console.web import guarded, link_of

#: Commands that the screens offer. What a person may send is the table's own rule by role.
OFFERED: Final = frozenset({
    "start_shift", "end_shift", "load_shoe", "pause", "resume", "resolve", "void", "reopen", "enter_card", "correct",
    "approve", "log_on", "log_off", "confirm", "report",
})  # fmt: skip
#: Dialogs by the command they end in.
DIALOGS: Final = OFFERED | {"help"}
#: What a dealer may report, in the dealer's words, the most frequent first.
REPORTS: Final = {
    "M-04": "Two cards came out together", "M-10": "A card lies face up in the shoe",
    "M-25": "A card fell on the floor", "M-03": "The screen shows another card than the felt",
    "M-11": "A card is at the wrong place",
    "M-12": "My own card was left out", "M-13": "A seat was left out, or an empty one served",
    "M-15": "The hole card was seen", "M-06": "A card was seen before bets closed",
    "M-09": "The surplus card was seen", "M-07": "The burn card was dealt into the round",
    "M-20": "A card went back into the shoe", "M-23": "Cards collected too early",
    "M-29": "The shoe seems not shuffled",
}  # fmt: skip
#: Free places that `reassign` may name while the first cards are dealt.
FIRST_PLACES: Final = {
    "boundless": ("player/0", "dealer/0", "player/1", "dealer/1"),
    "baccarat": ("player/0", "banker/0", "player/1", "banker/1"),
    "classic": ("dealer/0", *(f"seat/{seat}/hand/0/{n}" for seat in range(1, 8) for n in range(2))),
}


@guarded("dealer", "supervisor")
async def _dialog(request: Request, console: Console, session: Session) -> Response:
    link, what = link_of(request, console), request.path_params["what"]
    _must_hear(link)
    number = request.query_params.get("n", "")
    if what not in DIALOGS or not (what == "help" or offered(session, link, what)):
        raise HTTPException(404, f"nothing to do here called {what[:40]!r}")
    state = link.state or {}
    known: dict[str, Any] = {
        "link": link, "state": state, "session": session, "what": what, "seq": link.seq, "id": str(uuid.uuid4()),
        "phase": words.phase(state), "number": number, "reports": REPORTS, "lines": felt.lines(state),
        "faces": FACES, "prompt": words.prompt(state), "do_now": words.DO_NOW, "places": _free_places(link),
    }  # fmt: skip
    if what in ("resolve", "enter_card"):
        incident = state.get("incidents", {}).get(number)
        if incident is None:
            raise HTTPException(404, "this incident is not open any more")
        known["incident"] = incident
    if what == "approve":
        known["approval"] = _approval(link, number)
    return HTMLResponse(console.render(f"dialog-{_template(what)}.html", **known))


def _free_places(link: Link) -> list[str]:
    taken = {card["position"] for card in ((link.state or {}).get("round") or {}).get("cards", ())}
    return [place for place in FIRST_PLACES.get(link.place.game, ()) if place not in taken]


def _template(what: str) -> str:
    own = {"resolve", "enter_card", "approve", "resume", "void", "report", "help", "correct"}
    return what if what in own else "plain"


def offered(session: Session, link: Link, command: str) -> bool:
    """The person's role may send it and this table knows it."""
    return may_send(session.role, command) and (command not in PROBED or command in link.able)


def _approval(link: Link, number: str) -> dict[str, Any]:
    for approval in (link.state or {}).get("approvals", ()):
        if str(approval["approval"]) == number:
            found: dict[str, Any] = approval
            return found
    raise HTTPException(404, "this approval is not asked for any more")


def _must_hear(link: Link) -> None:
    """Nobody decides on a picture that may be old."""
    if link.stale:
        raise HTTPException(409, f"table {link.id} has not been heard since {(link.stale_since or '')[11:19]} UTC")


@guarded("dealer", "supervisor")
async def _order(request: Request, console: Console, session: Session) -> Response:
    link, body = link_of(request, console), await read_json(request)
    name, args, seen, id_ = (body.get(key) for key in ("command", "args", "seen_seq", "id"))
    if not (isinstance(name, str) and isinstance(args, dict) and isinstance(seen, int) and isinstance(id_, str)):
        raise HTTPException(400, "an order has command, args, seen_seq and id")
    if name not in OFFERED or not may_send(session.role, name):
        console.audit.note("refused", who=session.name, address=session.address, table=link.id, command=name[:40])
        raise HTTPException(403, f"a {session.role} may not order {name[:40]}")
    _must_hear(link)
    return _said(await _send(console, session, link, name, args, seen, id_))


async def _send(
    console: Console, session: Session, link: Link, name: str, args: dict[str, Any], seen: int, id_: str
) -> Answer:
    if session.pair is None:
        raise HTTPException(423, "the screen is locked")
    answer = await console.hands.send(link.place, session.pair, name, args, seen_seq=seen, command_id=id_)
    told = {"ok": answer.ok} | ({} if answer.ok else {"code": answer.code})
    console.audit.note(
        "order", who=session.name, address=session.address, table=link.id, command=name, id=id_, **told
    )
    return answer


def _said(answer: Answer) -> Response:
    body = {
        "ok": answer.ok,
        "code": answer.code,
        "message": answer.message,
        "seq": answer.seq,
        "unsure": answer.unsure,
    }
    if answer.expected:
        body["message"] = f"{answer.message}; expected: {answer.expected}"
    return JSONResponse(body, 200 if answer.ok else 409)


@guarded("supervisor")
async def _acknowledge(request: Request, console: Console, session: Session) -> Response:
    link, body = link_of(request, console), await read_json(request)
    _must_hear(link)
    key, book = str(body.get("key")), console.alarms[link.id]
    alarm = next((one for one in book.open(link.state) if one.key == key), None)
    if alarm is None:
        return JSONResponse({"ok": False, "message": "somebody has acknowledged this already"}, 409)
    if alarm.incident is not None:
        args = {"incident": alarm.incident}
        return _said(await _send(console, session, link, "acknowledge", args, link.seq, str(uuid.uuid4())))
    book.acknowledge(key)
    console.audit.note(
        "acknowledged", who=session.name, address=session.address, table=link.id, alarm=alarm.text, since=alarm.since
    )
    link.wake()
    return JSONResponse({"ok": True})


@guarded("supervisor")
async def _countersign(request: Request, console: Console, session: Session) -> Response:
    """A second person signs at the first one's screen, with name and password, for this one approval."""
    link, body = link_of(request, console), await read_json(request)
    _must_hear(link)
    name, accept = str(body.get("name", "")).strip(), body.get("accept") is not False
    if name == session.name:
        return JSONResponse({"ok": False, "message": "another person must sign, not you again"}, 409)
    try:
        account, pair = await prove(console, name, str(body.get("password", "")), session.address)
    except HTTPException as error:
        return JSONResponse({"ok": False, "message": error.detail}, error.status_code)
    if account.role != "supervisor" or pair is None or account.must_change:
        return JSONResponse(
            {"ok": False, "message": f"{name} cannot sign: it takes a supervisor's account in use"}, 403
        )
    args = {"approval": body.get("approval"), "accept": accept, "reason": str(body.get("reason", ""))}
    answer = await console.hands.send(
        link.place, pair, "approve", args, seen_seq=link.seq, command_id=str(body.get("id") or uuid.uuid4())
    )
    console.audit.note(
        "countersigned", who=name, address=session.address, table=link.id, at_screen_of=session.name, ok=answer.ok
    )
    return _said(answer)


ROUTES = [
    Route("/table/{table}/dialog/{what}", _dialog),
    Route("/table/{table}/order", _order, methods=["POST"]),
    Route("/table/{table}/acknowledge", _acknowledge, methods=["POST"]),
    Route("/table/{table}/countersign", _countersign, methods=["POST"]),
]
