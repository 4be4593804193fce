"""The web application, and the server that runs it."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from controller.config import ConfigError
from controller.console import (
    calibration_pages,
    deck_pages,
    logon,
    mistakes,
    orders,
    people,
    pictures,
    record_pages,
    screens,
    vault,
)
from controller.console.accounts import ADMINISTRATOR
from controller.console.floor import Floor
from controller.console.state import Console
from controller.console.web import Guard, failed

#: An open stream would keep the server from ending; pages reconnect by themselves.
GRACE_S: Final = 1


def application(console: Console) -> Starlette:
    """The ASGI application of one console."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001
        async with console.running():
            yield

    hosts = {console.floor.address[0], "localhost", "127.0.0.1", "::1", *console.floor.console.hosts}
    app = Starlette(
        routes=[
            *logon.ROUTES, *orders.ROUTES, *mistakes.ROUTES, *people.ROUTES, *pictures.ROUTES,
            *record_pages.ROUTES, *calibration_pages.ROUTES, *deck_pages.ROUTES, *screens.ROUTES,
            Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
        ],
        middleware=[Middleware(Guard, hosts=frozenset(hosts), secure=console.floor.secure)],
        exception_handlers={HTTPException: failed},
        lifespan=lifespan,
    )  # fmt: skip
    app.state.console = console
    return app


def first_administrator(console: Console) -> str | None:
    """On the very first start make an account that can make the others. Returns its password, once."""
    if not console.accounts.empty:
        return None
    password = vault.made_password()
    console.accounts.add(ADMINISTRATOR, "administrator", password)
    console.audit.note("first administrator made", who="console", address="")
    return password


def listen(floor: Floor) -> socket.socket:
    """The socket to serve on, bound, so that an address in use is said at once. Raises ``ConfigError``."""
    host, port = floor.address
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(128)
    except OSError as error:
        bound.close()
        raise ConfigError(
            f"{floor.path}: [console] listen {floor.console.listen!r}: {error.strerror or error}"
        ) from error
    return bound


def url_of(floor: Floor, bound: socket.socket) -> str:
    """Where a browser finds the console that listens on ``bound``."""
    host, port = bound.getsockname()[:2]
    return f"{'https' if floor.console.tls_cert else 'http'}://{f'[{host}]' if ':' in host else host}:{port}/"


def serve(console: Console, bound: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT."""
    floor = console.floor
    tls: dict[str, Any] = {}
    if floor.console.tls_cert:
        tls = {
            "ssl_certfile": str(floor.beside(floor.console.tls_cert)),
            "ssl_keyfile": str(floor.beside(floor.console.tls_key)),
        }
    config = uvicorn.Config(
        application(console), log_level="warning", access_log=False, timeout_graceful_shutdown=GRACE_S,
        server_header=False, date_header=True, lifespan="on", proxy_headers=floor.console.behind_tls, **tls,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[bound])
