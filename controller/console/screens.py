"""The live pages: the dealer's screen, the floor and one table of it."""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from controller.console import felt, words
from controller.console.link import Link
from controller.console.live import stream
from controller.console.sessions import Session
from controller.console.state import Console
from controller.console.web import console_of, guarded, link_of, page, session_of

#: From this many tables on the floor page draws small tiles.
MANY: Final = 16
EVENTS_SHOWN: Final = 12
_QUIET: Final = {"step_opened", "bets_accepted", "bets_settled"}


def values(console: Console, link: Link) -> dict[str, Any]:
    """What the pieces of a table are drawn from."""
    state = link.state
    return {
        "link": link,
        "state": state,
        "prompt": words.prompt(state),
        "left_ms": link.left_ms() if state and not state["holds"] else None,
        "lines": felt.lines(state),
        "result": felt.result(state),
        "alarms": console.alarms[link.id].open(state),
        "phase": words.phase(state),
        "do_now": words.DO_NOW,
        "severity": severity(console, link),
    }


def severity(console: Console, link: Link) -> int:
    """0 for a table that needs nobody; the higher, the sooner somebody should look."""
    state = link.state
    if state is None or link.stale:
        return 3
    if state["incidents"] or state["devices_lost"]:
        return 4
    if console.alarms[link.id].open(state) or state.get("approvals"):
        return 3
    if state["phase"] == "voided" or any(h["hold"] != "pause" for h in state["holds"].values()):
        return 2
    return 1 if state["holds"] else 0


async def _root(request: Request) -> Response:
    return RedirectResponse("/floor" if session_of(request) else "/logon", 303)


# --- the dealer's screen -----------------------------------------------------------------------------------------


def _dealer_pieces(console: Console, session: Session, link: Link) -> dict[str, str]:
    known = values(console, link) | {"session": session}
    names = ("dealer-top", "dealer-prompt", "dealer-felt", "dealer-foot")
    return {name: console.render(f"{name}.html", **known) for name in names}


@guarded("dealer", "supervisor", "technician", while_locked=True)
async def _dealer(request: Request, console: Console, session: Session) -> Response:
    link = link_of(request, console)
    return page(
        console, session, "dealer.html", title=f"{link.id} dealer", live=f"/table/{link.id}/dealer/live",
        pieces=_dealer_pieces(console, session, link), link=link,
    )  # fmt: skip


@guarded("dealer", "supervisor", "technician", while_locked=True)
async def _dealer_live(request: Request, console: Console, session: Session) -> Response:
    link = link_of(request, console)
    return stream(console, session, [link], lambda _: _dealer_pieces(console, session, link))


# --- one table for the supervisor --------------------------------------------------------------------------------


def _table_pieces(console: Console, session: Session, link: Link) -> dict[str, str]:
    events = [frame for frame in link.events if frame["type"] not in _QUIET][-EVENTS_SHOWN:]
    known = values(console, link) | {"session": session, "events": events[::-1]}
    names = ("table-state", "table-felt", "table-events", "table-actions")
    return {name: console.render(f"{name}.html", **known) for name in names}


@guarded(while_locked=True)
async def _table(request: Request, console: Console, session: Session) -> Response:
    link = link_of(request, console)
    return page(
        console, session, "table.html", title=link.id, live=f"/table/{link.id}/live", link=link,
        pieces=_table_pieces(console, session, link), demo=link.place.control is not None,
    )  # fmt: skip


@guarded(while_locked=True)
async def _table_live(request: Request, console: Console, session: Session) -> Response:
    link = link_of(request, console)
    return stream(console, session, [link], lambda _: _table_pieces(console, session, link))


# --- the floor ---------------------------------------------------------------------------------------------------


def _floor_pieces(console: Console, session: Session, changed: list[Link]) -> dict[str, str]:
    found = {f"tile-{link.id}": _tile(console, session, link) for link in changed}
    ranked = sorted(console.links.values(), key=lambda link: (-severity(console, link), link.id))
    counts = {
        "tables": len(ranked),
        "playing": sum(severity(console, link) == 0 for link in ranked),
        "alarms": sum(len(console.alarms[link.id].open(link.state)) for link in ranked),
        "stale": sum(link.stale for link in ranked),
        "held": sum(bool(link.state and link.state["holds"]) for link in ranked),
    }
    found["floor-summary"] = console.render("floor-summary.html", counts=counts)
    found["floor-order"] = " ".join(link.id for link in ranked)
    return found


def _tile(console: Console, session: Session, link: Link) -> str:
    return console.render("tile.html", **values(console, link), session=session)


@guarded(while_locked=True)
async def _floor(request: Request, console: Console, session: Session) -> Response:  # noqa: ARG001
    links = list(console.links.values())
    pieces = _floor_pieces(console, session, links)
    order = pieces.pop("floor-order").split()
    return page(
        console, session, "floor.html", title="Floor", live="/floor/live", pieces=pieces, order=order,
        many=len(links) >= MANY,
    )  # fmt: skip


@guarded(while_locked=True)
async def _floor_live(request: Request, console: Console, session: Session) -> Response:  # noqa: ARG001
    links = list(console.links.values())
    return stream(console, session, links, lambda changed: _floor_pieces(console, session, changed))


async def _health(request: Request) -> Response:
    """For a load balancer or systemd: no state of any table."""
    return Response("ok\n" if not console_of(request).closing.is_set() else "closing\n", media_type="text/plain")


ROUTES = [
    Route("/", _root),
    Route("/health", _health),
    Route("/floor", _floor),
    Route("/floor/live", _floor_live),
    Route("/table/{table}", _table),
    Route("/table/{table}/live", _table_live),
    Route("/table/{table}/dealer", _dealer),
    Route("/table/{table}/dealer/live", _dealer_live),
]
