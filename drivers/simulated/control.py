"""The control socket: lines in, one JSON object a line out, for any number of connections."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

MAX_LINE: Final = 65_536
MAX_UNSENT: Final = 1 << 20
_READ_BYTES: Final = 65_536


class ControlError(Exception):
    """The socket cannot be had."""


class Client:
    """One connection. Its commands are answered in order; while one is at work the next ones wait."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.busy = False
        self.closed = False
        self.ended = False
        self.incoming = bytearray()
        self.outgoing = bytearray()
        self.lines: deque[str] = deque()

    def fileno(self) -> int:
        """The descriptor, for the selector."""
        return self.connection.fileno()


class ControlServer:
    """A unix stream socket at ``path``, for this user only (mode 0600). Raises ``ControlError``."""

    def __init__(self, path: Path, selector: selectors.BaseSelector) -> None:
        self.path = path
        self._selector = selector
        self._clients: list[Client] = []
        self._listening = _listen(path)
        self._node = os.stat(path)
        selector.register(self._listening, selectors.EVENT_READ, self._accept)

    def ready(self) -> Iterator[tuple[Client, str]]:
        """Commands that may be started now; their clients count as busy until ``answer``."""
        for client in list(self._clients):
            while client.lines and not client.busy and not client.closed:
                client.busy = True
                yield client, client.lines.popleft()
            if client.ended and not client.lines and not client.busy and not client.outgoing:
                self._drop(client)

    def answer(self, client: Client, answer: dict[str, object]) -> None:
        """End the command that ``client`` waits for."""
        client.busy = False
        if client.closed:
            return
        client.outgoing += json.dumps(answer).encode() + b"\n"
        self._send(client)
        if len(client.outgoing) > MAX_UNSENT:
            self._drop(client)

    def close(self) -> None:
        """Close everything and remove the socket, unless another shoe took its place."""
        for client in list(self._clients):
            self._drop(client)
        self._selector.unregister(self._listening)
        self._listening.close()
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(self.path), self._node):
                self.path.unlink()

    def _accept(self, _events: int) -> None:
        with contextlib.suppress(OSError):
            connection, _ = self._listening.accept()
            connection.setblocking(False)
            client = Client(connection)
            self._clients.append(client)
            self._selector.register(connection, selectors.EVENT_READ, self._handler(client))

    def _handler(self, client: Client) -> Callable[[int], None]:
        def handle(events: int) -> None:
            if events & selectors.EVENT_WRITE and not client.closed:
                self._send(client)
            if events & selectors.EVENT_READ and not client.closed:
                self._receive(client)

        return handle

    def _receive(self, client: Client) -> None:
        try:
            data = client.connection.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            self._drop(client)
            return
        if not data:
            # The answers to what was asked before the end are still sent.
            client.ended = True
            self._watch(client)
            return
        client.incoming += data
        *lines, rest = client.incoming.split(b"\n")
        client.incoming = rest
        client.lines.extend(line.decode("utf-8", "replace").strip() for line in lines if line.strip())
        if len(rest) > MAX_LINE or len(client.lines) > MAX_LINE:
            self._drop(client)

    def _send(self, client: Client) -> None:
        try:
            while client.outgoing:
                del client.outgoing[: client.connection.send(client.outgoing)]
        except BlockingIOError:
            pass
        except OSError:
            self._drop(client)
            return
        self._watch(client)

    def _watch(self, client: Client) -> None:
        """Wait for what this connection can still do."""
        events = 0 if client.ended else selectors.EVENT_READ
        if client.outgoing:
            events |= selectors.EVENT_WRITE
        registered = client.connection in self._selector.get_map()
        if registered:
            self._selector.unregister(client.connection)
        if events:
            self._selector.register(client.connection, events, self._handler(client))

    def _drop(self, client: Client) -> None:
        client.closed = True
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(client.connection)
        client.connection.close()
        with contextlib.suppress(ValueError):
            self._clients.remove(client)


def _listen(path: Path) -> socket.socket:
    """A listening socket at ``path``; one that a killed shoe left behind is replaced."""
    if path.is_socket():
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(path))
            except ConnectionRefusedError:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise ControlError(f"no control socket at {path}: {error}") from error
            else:
                raise ControlError(f"another shoe answers at {path}: stop it, or choose another --control")
    elif path.exists():
        raise ControlError(f"{path} exists and is no socket: choose another --control")
    listening = socket.socket(socket.AF_UNIX)
    # A socket is open to whoever may write it: it must never exist with a wider mode, not for a moment.
    mask = os.umask(0o177)
    try:
        listening.bind(str(path))
        listening.listen()
    except OSError as error:
        listening.close()
        raise ControlError(f"no control socket at {path}: {error}") from error
    finally:
        os.umask(mask)
    listening.setblocking(False)
    return listening
