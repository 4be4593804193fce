"""What both sides of the bus set alike on their sockets, and the client's two sockets."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, TypeAlias

import zmq

from controller.bus import keys
from controller.bus.errors import BusError

AnySocket: TypeAlias = zmq.Socket[Any]
"""A blocking socket or one of ``zmq.asyncio``."""

HEARTBEAT_IVL_MS: Final = 1_000
"""ZeroMQ's own heartbeat on an idle connection; without it a peer that stopped is never noticed."""
HEARTBEAT_TIMEOUT_MS: Final = 3_000
RECONNECT_MS: Final = 100
RECONNECT_MAX_MS: Final = 2_000
SUBSCRIBER_HWM: Final = 10_000


def wants_ipv6(endpoint: str) -> bool:
    """Whether to switch IPv6 on: for addresses in brackets, ``*`` and names, which may be either.

    Not for dotted addresses, which libzmq would then report in their ``::ffff:`` form.
    """
    if not endpoint.startswith("tcp://"):
        return False
    host = endpoint.removeprefix("tcp://").rpartition(":")[0]
    return not all(part.isdigit() for part in host.split("."))


def subscriber_options(socket: AnySocket, topic: str) -> None:
    """Receive frames whose topic begins with ``topic``."""
    socket.rcvhwm = SUBSCRIBER_HWM
    socket.setsockopt(zmq.SUBSCRIBE, topic.encode())


def requester_options(socket: AnySocket) -> None:
    """Queue nothing for a table that is away: what is sent late may no longer be meant.

    No routing id is set: libzmq's own cannot be guessed and taken over by another client.
    """
    socket.immediate = True


def client_options(socket: AnySocket, server_key: bytes, mine: keys.KeyPair) -> None:
    """CURVE, heartbeats, reconnection and a close that never waits."""
    socket.curve_serverkey = server_key
    socket.curve_publickey = mine.public
    socket.curve_secretkey = mine.secret
    socket.heartbeat_ivl = HEARTBEAT_IVL_MS
    socket.heartbeat_timeout = HEARTBEAT_TIMEOUT_MS
    socket.reconnect_ivl = RECONNECT_MS
    socket.reconnect_ivl_max = RECONNECT_MAX_MS
    socket.linger = 0


def connect(socket: AnySocket, address: str) -> None:
    """Connect in the background. Raises ``BusError`` for an address that can never work."""
    socket.ipv6 = wants_ipv6(address)
    try:
        socket.connect(address)
    except zmq.ZMQError as error:
        raise BusError(f"cannot connect to {address}: {error.strerror}") from error


def read_server_key(server_key: bytes | Path) -> bytes:
    """A table's public key: itself in Z85, or the file that holds it."""
    if isinstance(server_key, Path):
        return keys.load_public(server_key)
    return keys.check_public(server_key, "the server key")
