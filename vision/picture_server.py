"""The newest picture over HTTP: ``/mjpeg`` streams, ``/frame.jpg`` is one picture, ``/`` shows the stream;
``/plain.jpg`` is one without marks, for whoever teaches the reader a deck.

Read-only, for a few viewers on this machine or a trusted network: no encryption, no accounts. A viewer that does
not keep up skips pictures and holds nobody up.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

_BOUNDARY: Final = "picture"
_PAGE: Final = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Table camera</title>
<style>body{margin:0;background:#111}img{display:block;max-width:100%;margin:auto}</style>
<img src="/mjpeg" alt="What the table camera sees, live">"""
#: A viewer that takes nothing for this long is let go.
SEND_TIMEOUT_S: Final = 5.0
MAX_VIEWERS: Final = 16


class ServerError(Exception):
    """The address cannot be had."""


class PictureServer:
    """Serves what ``publish`` was last given; port 0 takes any. Raises ``ServerError`` if the address is taken."""

    def __init__(self, host: str, port: int) -> None:
        self._changed = threading.Condition()
        self._picture: bytes | None = None
        self._plain: bytes | None = None
        self._wants_plain = False
        self._number = 0
        self._closing = False
        self._viewers: set[socket.socket] = set()
        try:
            self._server = _Server((host, port), _Handler)
        except (OSError, OverflowError) as error:
            raise ServerError(f"no pictures at http://{host}:{port}: {error}") from error
        self._server.pictures = self
        self.host: str = host
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="pictures", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where the stream is."""
        return f"http://{self.host}:{self.port}/mjpeg"

    @property
    def watched(self) -> bool:
        """True while anybody is connected."""
        return bool(self._viewers)

    @property
    def wants_plain(self) -> bool:
        """True while somebody waits for a picture without marks."""
        return self._wants_plain

    def publish(self, jpeg: bytes, plain: bytes | None = None) -> None:
        """Make ``jpeg`` the newest picture, ``plain`` the same without marks, where one is wanted."""
        with self._changed:
            self._picture = jpeg
            if plain is not None:
                self._plain, self._wants_plain = plain, False
            self._number += 1
            self._changed.notify_all()

    def next_picture(self, after: int, timeout_s: float) -> tuple[int, bytes] | None:
        """(number, JPEG) of the newest picture once it is newer than ``after``; None if there is none in time."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing or self._number > after, timeout_s)
            if self._closing or self._picture is None or self._number <= after:
                return None
            return self._number, self._picture

    @property
    def number(self) -> int:
        """Of the newest picture; 0 before the first."""
        return self._number

    def plain_picture(self, timeout_s: float) -> bytes | None:
        """A picture without marks, JPEG, made after this call; None if there is none in time."""
        with self._changed:
            self._plain, self._wants_plain = None, True
            self._changed.wait_for(lambda: self._closing or self._plain is not None, timeout_s)
            return self._plain

    @property
    def refuses(self) -> bool:
        """True if requests are answered with 503."""
        return False

    @property
    def closing(self) -> bool:
        """True once ``close`` was called."""
        return self._closing

    def hang_up(self) -> None:
        """Close every viewer's connection."""
        for viewer in list(self._viewers):
            with contextlib.suppress(OSError):
                viewer.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End every stream and give the address back. Idempotent."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._server.shutdown()
        self.hang_up()
        self._server.server_close()
        self._thread.join()

    def enter(self, viewer: socket.socket) -> bool:
        """Count a viewer in; False if there are too many."""
        if len(self._viewers) >= MAX_VIEWERS:
            return False
        self._viewers.add(viewer)
        return True

    def leave(self, viewer: socket.socket) -> None:
        """Count a viewer out."""
        self._viewers.discard(viewer)


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # so that closing waits for them
    pictures: PictureServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A viewer that went away is no error."""


class _Handler(BaseHTTPRequestHandler):
    timeout = SEND_TIMEOUT_S
    server: _Server

    def do_GET(self) -> None:
        """Answer one request."""
        pictures = self.server.pictures
        if pictures.refuses or pictures.closing or not pictures.enter(self.connection):
            self.send_error(503)
            return
        try:
            if self.path == "/mjpeg":
                self._stream(pictures)
            elif self.path == "/frame.jpg":
                self._one(pictures)
            elif self.path == "/plain.jpg":
                self._jpeg(pictures.plain_picture(2.0))
            elif self.path == "/":
                self._send(_PAGE, "text/html; charset=utf-8")
            else:
                self.send_error(404, explain="there is /, /mjpeg, /frame.jpg and /plain.jpg")
        finally:
            pictures.leave(self.connection)

    def _one(self, pictures: PictureServer) -> None:
        found = pictures.next_picture(0, 2.0)
        self._jpeg(found[1] if found is not None else None)

    def _jpeg(self, picture: bytes | None) -> None:
        if picture is None:
            self.send_error(503, explain="no picture yet")
        else:
            self._send(picture, "image/jpeg")

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, pictures: PictureServer) -> None:
        self.send_response(200)
        self.send_header("Content-Type", f"multipart/x-mixed-replace; boundary={_BOUNDARY}")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        number = 0
        while not pictures.closing:
            found = pictures.next_picture(number, 0.5)
            if found is None:
                continue
            number, jpeg = found
            head = f"--{_BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
            self.wfile.write(head.encode() + jpeg + b"\r\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the form of the base class
        """Pictures come and go; nothing is logged."""
