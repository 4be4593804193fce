"""Accounts and the audit trail, for administrators; a person's own public key."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from controller.bus import keys
from controller.console import vault
from controller.console.accounts import ROLES, AccountError
from controller.console.sessions import Session
from controller.console.state import Console
from controller.console.web import guarded, page


def _show(console: Console, session: Session, *, message: str = "", made: tuple[str, str] | None = None) -> Response:
    return page(
        console, session, "accounts.html", title="Accounts", accounts=console.accounts.all(), roles=ROLES,
        message=message, made=made, sessions=console.sessions.all(), status=400 if message else 200,
    )  # fmt: skip


@guarded("administrator")
async def _accounts(request: Request, console: Console, session: Session) -> Response:  # noqa: ARG001
    return _show(console, session)


@guarded("administrator")
async def _change(request: Request, console: Console, session: Session) -> Response:
    form = await request.form()
    name, what = str(form.get("name", "")).strip(), str(form.get("what", ""))
    password = vault.made_password()
    made = None
    try:
        match what:
            case "add":
                role = str(form.get("role", ""))
                await asyncio.to_thread(console.accounts.add, name, role, password)
                made = (name, password)
            case "reset":
                await asyncio.to_thread(console.accounts.reset, name, password)
                console.sessions.end_all_of(name)
                made = (name, password)
            case "disable" | "enable":
                console.accounts.disable(name, what == "disable")
                if what == "disable":
                    console.sessions.end_all_of(name)
            case _:
                raise HTTPException(400, "nothing to do")
    except AccountError as error:
        return _show(console, session, message=str(error))
    console.audit.note(f"account {what}", who=session.name, address=session.address, account=name)
    return _show(console, session, made=made)


@guarded("administrator", "technician")
async def _key(request: Request, console: Console, session: Session) -> Response:  # noqa: ARG001
    account = console.accounts.get(request.path_params["name"])
    if account is None or not account.public:
        raise HTTPException(404, "no such account, or one without a table key")
    return PlainTextResponse(
        keys.public_text(account.public.encode()),
        headers={"content-disposition": f'attachment; filename="{account.name}.key"'},
    )


@guarded("administrator")
async def _audit(request: Request, console: Console, session: Session) -> Response:  # noqa: ARG001
    return page(console, session, "audit.html", title="Audit trail", entries=console.audit.recent())


ROUTES = [
    Route("/accounts", _accounts),
    Route("/accounts", _change, methods=["POST"]),
    Route("/accounts/{name}.key", _key),
    Route("/audit", _audit),
]
