"""Who may connect: pyzmq's ZAP handler, answered by the thread that polls the hub.

``zmq.auth``'s ready-made authenticators bring a thread or an event loop of their own; here every socket of the
process belongs to one thread, so the handler's socket is polled with the others.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

import zmq
from zmq.auth import Authenticator

DOMAIN: Final = "dealerd"
BATCH: Final = 64

#: A monitor's event: kind and value, in the order of this machine's bytes.
_EVENT: Final = struct.Struct("=Hi")
_LEFT: Final = int(zmq.EVENT_DISCONNECTED)
_EVENTS: Final = (
    zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_AUTH
)


class _Provider:
    """pyzmq's credentials provider over a set of keys that may change."""

    def __init__(self, is_known: Callable[[bytes], bool]) -> None:
        self._is_known = is_known
        self.refused = 0

    def callback(self, _domain: str, key: bytes) -> bool:
        known = self._is_known(key)
        self.refused += not known
        return known


class ZapHandler:
    """Accepts CURVE clients whose Z85 public key ``is_known``; counts the others in ``refused``."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], is_known: Callable[[bytes], bool]) -> None:
        self._provider = _Provider(is_known)
        self._auth = Authenticator(context)
        self._auth.configure_curve_callback(DOMAIN, self._provider)
        self._auth.start()

    @property
    def socket(self) -> zmq.Socket[bytes]:
        """The socket to poll."""
        return self._auth.zap_socket

    @property
    def refused(self) -> int:
        """Clients turned away because their key is not known."""
        return self._provider.refused

    def serve(self) -> None:
        """Answer the waiting requests, ``BATCH`` at most. Call when ``socket`` is readable."""
        for _ in range(BATCH):
            try:
                message = self.socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            # A coroutine in form only: our provider never awaits, so one step finishes it.
            handling = self._auth.handle_zap_message(message)
            try:
                handling.send(None)
            except StopIteration:
                continue
            handling.close()
            raise RuntimeError("the ZAP handler waited for something")

    def close(self) -> None:
        """Close the socket."""
        self._auth.stop()


def protect(socket: zmq.Socket[bytes], public: bytes, secret: bytes) -> None:
    """Make ``socket`` a CURVE server that refuses whom the ZAP handler does not accept. Call before bind.

    Without both the domain and its enforcement libzmq lets every key in as soon as no handler answers.
    """
    socket.curve_server = True
    socket.curve_publickey = public
    socket.curve_secretkey = secret
    socket.zap_domain = DOMAIN.encode()
    socket.setsockopt(zmq.ZAP_ENFORCE_DOMAIN, 1)


def watch_handshakes(
    context: zmq.Context[zmq.Socket[bytes]], socket: zmq.Socket[bytes], name: str
) -> zmq.Socket[bytes]:
    """A socket that receives one event per failed handshake of ``socket``, and one per connection that ended.

    Its queue is unbounded: libzmq blocks its I/O thread on a full one, and clients decide how fast it fills.
    """
    address = f"inproc://{name}.monitor"
    socket.monitor(address, _EVENTS | _LEFT)
    monitor = context.socket(zmq.PAIR)
    monitor.rcvhwm = 0
    monitor.linger = 0
    monitor.connect(address)
    return monitor


def handshakes(monitor: zmq.Socket[bytes]) -> tuple[int, list[int]]:
    """What a monitor holds: how many handshakes failed, and the file descriptors of connections that ended."""
    failed, left = 0, list[int]()
    while True:
        try:
            event, _ = monitor.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return failed, left
        kind, value = _EVENT.unpack(event)
        if kind == _LEFT:
            left.append(value)
        else:
            failed += 1
