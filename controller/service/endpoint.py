"""Metrics and health over HTTP, on this machine only: ``GET /metrics`` and ``GET /health``.

One thread, one request at a time: whatever asks, it costs the table little.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from socket import AF_INET, AF_INET6
from types import TracebackType
from typing import Any, Final

import msgspec
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from controller.service.errors import EndpointError

#: A client that sends or takes nothing for this long is cut off.
CLIENT_S: Final = 2.0

Health = Callable[[], tuple[bool, dict[str, Any]]]


class _Server(HTTPServer):
    # Another program on the port is an error, not a partner.
    allow_reuse_port = False

    def __init__(self, address: tuple[str, int], registry: CollectorRegistry, health: Health) -> None:
        self.address_family = AF_INET6 if ":" in address[0] else AF_INET
        self.registry = registry
        self.health = health
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        # HTTPServer looks its own name up here, which may ask the network.
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])


class _Handler(BaseHTTPRequestHandler):
    timeout = CLIENT_S
    server: _Server
    server_version = "dealerd"
    sys_version = ""

    def do_GET(self) -> None:
        match self.path.partition("?")[0]:
            case "/metrics":
                encode, kind = choose_encoder(self.headers.get("Accept") or "")
                self._answer(200, kind, encode(self.server.registry))
            case "/health":
                ok, found = self.server.health()
                self._answer(200 if ok else 503, "application/json", msgspec.json.encode(found) + b"\n")
            case _:
                self._answer(404, "text/plain; charset=utf-8", b"there are /metrics and /health\n")

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """A scrape every few seconds is no news."""


class Endpoint:
    """Serves from construction to ``close``. Raises ``EndpointError`` if the address cannot be had."""

    def __init__(self, host: str, port: int, registry: CollectorRegistry, health: Health) -> None:
        try:
            self._server = _Server((host, port), registry, health)
        except OSError as error:
            raise EndpointError(
                f"[metrics] listen {host}:{port}: {error.strerror or error}; give every table its own port"
            ) from error
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.2,), name="metrics", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """``http://HOST:PORT``."""
        host = self._server.server_name
        return f"http://{f'[{host}]' if ':' in host else host}:{self._server.server_port}"

    def close(self) -> None:
        """Stop serving; waits for the request in progress."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Endpoint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
