"""Logging on and off, the lock, and a person's own password."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from controller.bus.keys import KeyPair
from controller.console.accounts import Account, AccountError
from controller.console.sessions import Session
from controller.console.state import Console
from controller.console.vault import WrongPassword
from controller.console.web import address_of, console_of, cookie_name, guarded, page, session_of

#: Each costs 64 MiB while it runs.
_hashing = asyncio.Semaphore(2)


async def prove(console: Console, name: str, password: str, address: str) -> tuple[Account, KeyPair | None]:
    """Check a name and password at the cost of a try. Raises ``HTTPException`` 429 or 401."""
    now = time.monotonic()
    wait = console.throttle.wait_s(name, address, now)
    if wait > 0:
        console.audit.note("log-on held back", who=name[:64], address=address)
        raise HTTPException(429, f"too many tries; wait {wait:.0f} s", {"retry-after": str(round(wait) + 1)})
    async with _hashing:
        account = await asyncio.to_thread(console.accounts.check, name, password)
        pair = await asyncio.to_thread(_open, console, account, password) if account else None
    if account is None:
        console.throttle.failed(name, address, now)
        console.audit.note("log-on failed", who=name[:64], address=address)
        raise HTTPException(401, "name or password is wrong")
    return account, pair


def _open(console: Console, account: Account, password: str) -> KeyPair | None:
    try:
        return console.accounts.open_key(account, password)
    except WrongPassword:  # the accounts file was changed by hand
        return None


async def _logon_page(request: Request) -> Response:
    console, session = console_of(request), session_of(request)
    if session is not None and not session.locked:
        return RedirectResponse(_next(request.query_params.get("next", "")) or home(session), 303)
    return page(
        console, None, "logon.html", title="Log on", message="", next=_next(request.query_params.get("next", ""))
    )


async def _logon(request: Request) -> Response:
    console, form = console_of(request), await request.form()
    name, password = str(form.get("name", "")).strip(), str(form.get("password", ""))
    where = _next(str(form.get("next", "")))
    try:
        account, pair = await prove(console, name, password, address_of(request))
    except HTTPException as error:
        return page(
            console, None, "logon.html", status=error.status_code, title="Log on", message=error.detail, next=where
        )
    old = session_of(request)
    if old is not None:
        console.sessions.end(old)
    session = console.sessions.begin(account.name, account.role, address_of(request), pair, time.monotonic())
    session.must_change = account.must_change
    console.audit.note("logged on", who=account.name, address=session.address, role=account.role)
    answer = RedirectResponse("/password" if account.must_change else where or home(session), 303)
    answer.set_cookie(
        cookie_name(console), session.id, httponly=True, secure=console.floor.secure, samesite="strict", path="/"
    )
    return answer


def home(session: Session) -> str:
    """Where a person's work is."""
    return {"administrator": "/accounts"}.get(session.role, "/floor")


@guarded(while_locked=True, before_change=True)
async def _logoff(request: Request, console: Console, session: Session) -> Response:  # noqa: ARG001
    pair = session.pair
    console.sessions.end(session)
    if pair is not None:
        await console.hands.forget(pair)
    console.audit.note("logged off", who=session.name, address=session.address)
    answer = RedirectResponse("/logon", 303)
    answer.delete_cookie(cookie_name(console), path="/")
    return answer


@guarded(while_locked=True)
async def _lock(request: Request, console: Console, session: Session) -> Response:  # noqa: ARG001
    pair = session.pair
    console.sessions.lock(session)
    if pair is not None:
        await console.hands.forget(pair)
    console.audit.note("locked", who=session.name, address=session.address)
    _wake(console)
    return JSONResponse({"ok": True})


@guarded(while_locked=True)
async def _unlock(request: Request, console: Console, session: Session) -> Response:
    body = await _json(request)
    try:
        _, pair = await prove(console, session.name, str(body.get("password", "")), session.address)
    except HTTPException as error:
        return JSONResponse({"ok": False, "message": error.detail}, error.status_code)
    console.sessions.unlock(session, pair, time.monotonic())
    console.audit.note("unlocked", who=session.name, address=session.address)
    _wake(console)
    return JSONResponse({"ok": True})


@guarded(while_locked=True)
async def _touch(request: Request, console: Console, session: Session) -> Response:  # noqa: ARG001
    console.sessions.touch(session, time.monotonic())
    return JSONResponse({"ok": not session.locked})


@guarded(while_locked=True, before_change=True)
async def _who(request: Request, console: Console, session: Session) -> Response:  # noqa: ARG001
    return JSONResponse({"name": session.name, "role": session.role, "locked": session.locked})


@guarded(while_locked=True)
async def _locked(request: Request, console: Console, session: Session) -> Response:
    where = _next(request.query_params.get("next", "")) or home(session)
    if not session.locked:
        return RedirectResponse(where, 303)
    return page(console, session, "locked.html", title="Locked", next=where)


@guarded(before_change=True)
async def _password_page(request: Request, console: Console, session: Session) -> Response:  # noqa: ARG001
    return page(console, session, "password.html", title="Password", message="")


@guarded(before_change=True)
async def _password(request: Request, console: Console, session: Session) -> Response:
    form = await request.form()
    old, new, again = (str(form.get(key, "")) for key in ("old", "new", "again"))
    try:
        if new != again:
            raise AccountError("the new password is not the same twice")
        await prove(console, session.name, old, session.address)
        async with _hashing:
            account = await asyncio.to_thread(console.accounts.set_password, session.name, old, new)
            pair = await asyncio.to_thread(console.accounts.open_key, account, new)
    except (AccountError, WrongPassword, HTTPException) as error:
        text = error.detail if isinstance(error, HTTPException) else str(error)
        return page(console, session, "password.html", status=400, title="Password", message=text)
    console.audit.note("password changed", who=session.name, address=session.address)
    console.sessions.end_all_of(session.name)
    fresh = console.sessions.begin(account.name, account.role, session.address, pair, time.monotonic())
    answer = RedirectResponse(home(fresh), 303)
    answer.set_cookie(
        cookie_name(console), fresh.id, httponly=True, secure=console.floor.secure, samesite="strict", path="/"
    )
    return answer


async def _json(request: Request) -> dict[str, Any]:
    try:
        found = await request.json()
    except ValueError as error:
        raise HTTPException(400, "the request is not JSON") from error
    if not isinstance(found, dict):
        raise HTTPException(400, "the request is not a JSON object")
    return found


read_json = _json


def _next(text: str) -> str:
    """A path of this console, or nothing: never another site."""
    return text if text.startswith("/") and not text.startswith("//") and "\\" not in text else ""


def _wake(console: Console) -> None:
    for link in console.links.values():
        link.wake()


ROUTES = [
    Route("/logon", _logon_page),
    Route("/logon", _logon, methods=["POST"]),
    Route("/logoff", _logoff, methods=["POST"]),
    Route("/lock", _lock, methods=["POST"]),
    Route("/unlock", _unlock, methods=["POST"]),
    Route("/touch", _touch, methods=["POST"]),
    Route("/who", _who),
    Route("/locked", _locked),
    Route("/password", _password_page),
    Route("/password", _password, methods=["POST"]),
]
