"""What every request passes: host and origin, session, role, CSRF token; and what every answer carries."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from controller.console.link import Link
from controller.console.sessions import Session
from controller.console.state import Console

Handler = Callable[[Request, Console, Session], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
MAX_BODY: Final = 64 * 1024


class Guard:
    """Refuses foreign hosts and origins and bodies too long to be ours; sets the security headers."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str], secure: bool) -> None:
        self._app = app
        self._hosts = hosts
        self._secure = secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refused = self._fault(scope["method"], headers)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                out = MutableHeaders(scope=message)
                out["content-security-policy"] = POLICY
                out["x-content-type-options"] = "nosniff"
                out["x-frame-options"] = "DENY"
                out["referrer-policy"] = "same-origin"
                out["cross-origin-opener-policy"] = "same-origin"
                out.setdefault("cache-control", "no-store")
                if self._secure:
                    out["strict-transport-security"] = "max-age=31536000"
            await send(message)

        if refused is not None:
            await PlainTextResponse(refused, 400)(scope, receive, with_headers)
            return
        await self._app(scope, receive, with_headers)

    def _fault(self, method: str, headers: Headers) -> str | None:
        host = headers.get("host", "")
        if _name(host) not in self._hosts:
            return "this console does not go by that name; add it to [console] hosts\n"
        if method in ("GET", "HEAD"):
            return None
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return "the request comes from another site\n"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "the request comes from another site\n"
        length = headers.get("content-length", "")
        if not length.isdigit() or int(length) > MAX_BODY:
            return "the request is too long or does not say how long it is\n"
        return None


def _name(host: str) -> str:
    """A Host header without its port."""
    name, _, port = host.rpartition(":")
    return name.strip("[]") if port.isdigit() and name else host.strip("[]")


def console_of(request: Request) -> Console:
    """The console that serves this request."""
    found: Console = request.app.state.console
    return found


def cookie_name(console: Console) -> str:
    """``__Host-`` makes browsers refuse the cookie from anywhere but here, and without TLS."""
    return "__Host-dealerd" if console.floor.secure else "dealerd"


def session_of(request: Request) -> Session | None:
    """The session that the request's cookie names, if it is open."""
    console = console_of(request)
    id_ = request.cookies.get(cookie_name(console))
    return console.sessions.find(id_, time.monotonic()) if id_ else None


def address_of(request: Request) -> str:
    """Where the request comes from."""
    return request.client.host if request.client else "?"


def guarded(*roles: str, while_locked: bool = False, before_change: bool = False) -> Callable[[Handler], Endpoint]:
    """An endpoint for people who are logged on, in one of ``roles`` if any are named.

    ``while_locked``: a locked screen may still have it. ``before_change``: so may somebody with a password that
    was handed out and not changed yet.
    """

    def wrap(handler: Handler) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            console, session = console_of(request), session_of(request)
            reading = request.method == "GET"
            if session is None:
                if reading and "text/html" in request.headers.get("accept", ""):
                    return RedirectResponse(f"/logon?next={quote(request.url.path)}", 303)
                raise HTTPException(401, "log on first")
            if not reading and not session.is_token(await _token(request)):
                raise HTTPException(403, "the form is not from this session; load the page again")
            if session.must_change and not before_change:
                if reading:
                    return RedirectResponse("/password", 303)
                raise HTTPException(403, "choose your own password first")
            if roles and session.role not in roles:
                console.audit.note("refused", who=session.name, address=session.address, path=request.url.path)
                raise HTTPException(403, f"a {session.role} may not do this; it takes a {' or '.join(roles)}")
            if session.locked and not while_locked:
                if reading:
                    return RedirectResponse(f"/locked?next={quote(request.url.path)}", 303)
                raise HTTPException(423, "the screen is locked")
            return await handler(request, console, session)

        return endpoint

    return wrap


async def _token(request: Request) -> str:
    header = request.headers.get("x-csrf-token")
    if header is not None:
        return header
    form = await request.form()
    return str(form.get("csrf", ""))


def link_of(request: Request, console: Console) -> Link:
    """The table in the address."""
    link = console.links.get(request.path_params["table"])
    if link is None:
        raise HTTPException(404, f"no table {request.path_params['table'][:40]!r} on this floor")
    return link


def page(
    console: Console, session: Session | None, template: str, *, status: int = 200, **values: Any
) -> HTMLResponse:
    """A whole page."""
    common = {
        "session": session, "floor": console.floor, "links": console.links, "live": None, "link": None, "title": "",
        "lock_after_s": console.floor.console.lock_after_s,
    }  # fmt: skip
    return HTMLResponse(console.render(template, **(common | values)), status)


async def failed(request: Request, error: Exception) -> Response:
    """An error as a page, or as JSON for what the page's own script asked."""
    assert isinstance(error, HTTPException)
    if "text/html" not in request.headers.get("accept", ""):
        return JSONResponse({"ok": False, "code": "refused", "message": error.detail}, error.status_code)
    return page(
        console_of(request), session_of(request), "error.html", status=error.status_code,
        title=str(error.status_code), message=error.detail,
    )  # fmt: skip
