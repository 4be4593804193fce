"""The table's side of the bus: a PUB for the feed and a ROUTER for commands, in the thread that polls them.

Every transport is CURVE, ``ipc`` too. No call here blocks but ``poll`` (as long as asked) and ``close`` (0.2 s).
Of a client that may not connect nothing is seen but a count. An ``ipc`` socket file is protected by its folder.
Removing a person's key refuses their next connection and their commands at once; a subscription that already
stands ends with its connection.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket as socketlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final

import zmq

from controller.bus import keys, wire, zap
from controller.bus.errors import BusError
from controller.bus.presence import Presence
from controller.bus.transport import HEARTBEAT_IVL_MS, HEARTBEAT_TIMEOUT_MS, wants_ipv6

CLOSE_LINGER_MS: Final = 200
FEED_HWM: Final = 10_000
"""Frames kept for one slow subscriber; what it misses beyond that it asks for with ``since``."""
COMMAND_HWM: Final = 1_000
BATCH: Final = 256
"""Requests one ``poll`` returns at most, so that a busy client cannot keep the table from its devices."""
HANDSHAKE_MS: Final = 10_000

# Plain integers: combining enumeration flags for each frame costs more than sending it.
_NOW: Final = int(zmq.NOBLOCK)
_MORE: Final = int(zmq.NOBLOCK | zmq.SNDMORE)

# CURVE adds 33 bytes to each message on the wire (ZMTP 3.1: command name, nonce, flags, authenticator).
_MAX_COMMAND: Final = wire.MAX_BODY + 64
_MAX_SUBSCRIPTION: Final = 4_096
#: What libzmq calls the descriptor of the connection that a frame came over; it tells which one ended.
_LINE: Final = "__fd"
_SERVER: Final = "game_server"


@dataclass(frozen=True, slots=True)
class Request:
    """One command as it came: who sent it (from the CURVE key), its body, and the way back for the answer."""

    envelope: bytes = field(repr=False)
    role: str
    person: str
    body: bytes
    key: bytes = b""


@dataclass(slots=True)
class Counters:
    """What the hub turned away, since it was opened."""

    refused_keys: int = 0
    """Connections with a key that is not in the key folder."""
    failed_handshakes: int = 0
    """Connections that never got as far as an accepted key: no CURVE, wrong server key, unknown key, cut off."""
    refused_requests: int = 0
    """Commands over a connection whose key was removed since."""
    malformed: int = 0
    """Requests that were not one non-empty frame."""
    undelivered: int = 0
    """Answers whose receiver was gone or did not read."""
    unpublished: int = 0
    """Frames that the feed socket did not take; subscribers see a gap and ask."""


class Hub:
    """Both server sockets of a table.

    ``feed_endpoint`` and ``command_endpoint`` are ``tcp://HOST:PORT`` (``*`` for any port) or ``ipc://PATH``;
    ``topic`` is ``wire.topic_of(table)``. The first thread to use the hub owns it; only ``wake`` may be called
    from others. Raises ``KeysError`` for the key folder and ``BusError`` for an endpoint that cannot be bound.
    """

    def __init__(self, feed_endpoint: str, command_endpoint: str, keys_dir: Path, topic: str) -> None:
        if not topic.endswith("/"):
            raise BusError(f"topic {topic!r} must end with /: subscriptions match prefixes")
        self._topic = topic.encode()
        self._keys_dir = keys_dir
        server = keys.load_server(keys_dir)
        self._identities = keys.load_identities(keys_dir)
        self._keys_seen = keys.fingerprint(keys_dir)
        self._counters = Counters()
        self._presence = Presence()
        self._owner: threading.Thread | None = None
        self._closed = False
        self._wake_lock = threading.Lock()
        self._wake_fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._context = zmq.Context()
        try:
            self._zap = zap.ZapHandler(self._context, self._identities_contain)
            self._feed = self._server_socket(zmq.PUB, server)
            self._feed.sndhwm = FEED_HWM
            self._feed.maxmsgsize = _MAX_SUBSCRIPTION
            self._commands = self._server_socket(zmq.ROUTER, server)
            self._commands.router_mandatory = 1
            self._commands.setsockopt(zmq.ROUTER_HANDOVER, 1)
            self._commands.maxmsgsize = _MAX_COMMAND
            self._commands.sndhwm = self._commands.rcvhwm = COMMAND_HWM
            self._monitors = [
                zap.watch_handshakes(self._context, self._feed, "feed"),
                zap.watch_handshakes(self._context, self._commands, "commands"),
            ]
            self.feed_address = _bind(self._feed, feed_endpoint)
            self.command_address = _bind(self._commands, command_endpoint)
            self._poller = zmq.Poller()
            for socket in (self._zap.socket, self._commands, *self._monitors):
                self._poller.register(socket, zmq.POLLIN)
            self._poller.register(self._wake_fd, zmq.POLLIN)
        except BaseException:
            self.close()
            raise

    @property
    def counters(self) -> Counters:
        """The counts so far. Call from the hub's thread."""
        self._counters.refused_keys = self._zap.refused
        return self._counters

    def publish(self, frame: bytes) -> None:
        """Send one frame to every subscriber, now or never: slow ones lose it and ask for it."""
        self._claim()
        try:
            self._feed.send(self._topic, _MORE)
            self._feed.send(frame, _NOW)
        except zmq.ZMQError:
            self._counters.unpublished += 1

    def poll(self, timeout_ms: int | None = None) -> list[Request]:
        """Requests that came, at most ``BATCH``; waits up to ``timeout_ms`` (None: for ever) for the first.

        Returns an empty list when the time is over or ``wake`` was called. Connections are accepted only while
        this runs, so call it at least every few seconds.
        """
        self._claim()
        deadline = None if timeout_ms is None else time.monotonic() + max(0, timeout_ms) / 1000
        while True:
            wait = None if deadline is None else max(0, math.ceil((deadline - time.monotonic()) * 1000))
            ready = {source for source, _ in self._poller.poll(wait)}
            if self._zap.socket in ready:
                self._zap.serve()
            self._watch()
            woken = self._wake_fd in ready and os.eventfd_read(self._wake_fd) > 0
            requests = list(self._receive()) if self._commands in ready else []
            if requests or woken or (deadline is not None and time.monotonic() >= deadline):
                return requests

    def game_server_here(self) -> bool | None:
        """Whether a game server is connected; None as long as none ever was (``controller.bus.presence``)."""
        return self._presence.here(time.monotonic())

    def reply(self, request: Request, body: bytes) -> None:
        """Answer a request. A receiver that is gone or does not read is counted, not raised."""
        self._claim()
        self._send(request.envelope, body)

    def wake(self) -> None:
        """Make ``poll`` return soon. From any thread, any number of times, also after ``close``."""
        with self._wake_lock, contextlib.suppress(BlockingIOError):
            if not self._closed:
                os.eventfd_write(self._wake_fd, 1)

    def refresh_keys(self) -> bool:
        """``reload_keys`` if files came, went or changed since; True if so. Cheap enough for every second."""
        seen = keys.fingerprint(self._keys_dir)
        if seen == self._keys_seen:
            return False
        self._keys_seen = seen
        self.reload_keys()
        return True

    def reload_keys(self) -> None:
        """Read the key folder again. If it cannot be trusted, raises ``KeysError`` and keeps the keys it had."""
        self._claim()
        self._identities = keys.load_identities(self._keys_dir)

    def close(self) -> None:
        """Close both sockets; takes 0.2 s at most for what is still to be sent. Idempotent."""
        if self._closed:
            return
        self._claim()
        with self._wake_lock:
            self._closed = True
            os.close(self._wake_fd)
        # Sockets that were made before a failure in __init__ belong to the context too.
        self._context.destroy(linger=CLOSE_LINGER_MS)

    def __enter__(self) -> Hub:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _claim(self) -> None:
        """ZeroMQ kills the process when two threads use one socket; an exception is kinder."""
        me = threading.current_thread()
        if self._closed:
            raise BusError("the hub is closed")
        if self._owner is None or not self._owner.is_alive():
            self._owner = me
        elif self._owner is not me:
            raise BusError(f"the hub belongs to thread {self._owner.name!r}, not {me.name!r}")

    def _identities_contain(self, key: bytes) -> bool:
        identity = self._identities.get(key)
        if identity is not None and identity.role == _SERVER:
            self._presence.joined(time.monotonic())
        return identity is not None

    def _watch(self) -> None:
        """What the monitors tell. Before any request is read: a new connection may have the number of an old one."""
        feed, commands = map(zap.handshakes, self._monitors)
        self._counters.failed_handshakes += feed[0] + commands[0]
        for line in commands[1]:
            self._presence.left(line, time.monotonic())

    def _server_socket(self, kind: int, server: keys.KeyPair) -> zmq.Socket[bytes]:
        socket = self._context.socket(kind)
        socket.linger = CLOSE_LINGER_MS
        socket.heartbeat_ivl = HEARTBEAT_IVL_MS
        socket.heartbeat_timeout = HEARTBEAT_TIMEOUT_MS
        socket.handshake_ivl = HANDSHAKE_MS
        zap.protect(socket, server.public, server.secret)
        return socket

    def _receive(self) -> Iterator[Request]:
        for _ in range(BATCH):
            try:
                frames = self._commands.recv_multipart(zmq.NOBLOCK, copy=False)
            except zmq.Again:
                return
            request = self._accept(frames)
            if request is not None:
                yield request

    def _accept(self, frames: list[zmq.Frame]) -> Request | None:
        envelope, body = frames[0].bytes, frames[-1].bytes
        # The key ZAP accepted for this connection; libzmq attaches it to every frame.
        key = str(frames[-1].get("User-Id")).encode()
        identity = self._identities.get(key)
        if identity is None:
            self._counters.refused_requests += 1
            refusal = wire.encode_refusal(wire.id_of(body), "unknown_key", "this key is no longer accepted")
        elif len(frames) != 2 or not body:
            self._counters.malformed += 1
            refusal = wire.encode_refusal(None, "malformed", "a command is one frame with one JSON object")
        else:
            if identity.role == _SERVER:
                self._presence.heard(_line_of(frames[-1]), time.monotonic())
            return Request(envelope, identity.role, identity.person, body, key)
        self._send(envelope, refusal)
        return None

    def _send(self, envelope: bytes, body: bytes) -> None:
        try:
            self._commands.send_multipart([envelope, body], zmq.NOBLOCK)
        except zmq.ZMQError:
            self._counters.undelivered += 1


def _line_of(frame: zmq.Frame) -> int:
    """The connection that a frame came over; -1, which never ends, where this libzmq does not say."""
    try:
        return int(frame.get(_LINE))
    except (zmq.ZMQError, KeyError, ValueError):
        return -1


def _somebody_listens(path: str) -> bool:
    with socketlib.socket(socketlib.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except OSError:  # no such file, or left behind by a program that ended
            return False
        return True


def _bind(socket: zmq.Socket[bytes], endpoint: str) -> str:
    if not endpoint.startswith(("tcp://", "ipc://")):
        raise BusError(f"endpoint {endpoint!r} must be tcp://HOST:PORT or ipc://PATH")
    if endpoint.startswith("ipc://") and _somebody_listens(endpoint.removeprefix("ipc://")):
        # libzmq would take the path from the other program without a word to either.
        raise BusError(f"cannot listen at {endpoint}: another program does; give every table its own endpoints")
    socket.ipv6 = wants_ipv6(endpoint)
    try:
        socket.bind(endpoint)
    except zmq.ZMQError as error:
        raise BusError(f"cannot listen at {endpoint}: {error.strerror}") from error
    return bytes(socket.getsockopt(zmq.LAST_ENDPOINT)).rstrip(b"\0").decode()
