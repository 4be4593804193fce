"""What systemd is told: one datagram for each message to the socket in ``NOTIFY_SOCKET`` (sd_notify(3))."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping
from types import TracebackType
from typing import Final

#: The watchdog is fed this many times within its time.
FEEDINGS: Final = 4
#: Longest status text; systemd shows one line.
STATUS_MAX: Final = 200


class Notifier:
    """The way to whoever supervises this process. Without a socket every message goes nowhere. Nothing blocks or
    raises: a supervisor that does not listen must not stop dealing."""

    def __init__(self, address: str | None, watchdog_ms: int | None = None) -> None:
        """``address``: a path, or ``@`` and an abstract name. ``watchdog_ms``: how long silence is tolerated."""
        self.watchdog_ms = watchdog_ms
        self._address = address
        self._fed_at: int | None = None
        self._socket: socket.socket | None = None
        if address:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
            self._socket.setblocking(False)

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] = os.environ) -> Notifier:
        """The one systemd names in the environment; its watchdog only if it is meant for this process."""
        address = environment.get("NOTIFY_SOCKET")
        if address is not None and not address.startswith(("/", "@")):
            address = None
        micros, pid = environment.get("WATCHDOG_USEC", ""), environment.get("WATCHDOG_PID")
        mine = micros.isascii() and micros.isdigit() and int(micros) > 0 and pid in (None, str(os.getpid()))
        return cls(address, max(1, int(micros) // 1000) if mine else None)

    def ready(self) -> None:
        """The service answers."""
        self._send("READY=1")

    def stopping(self) -> None:
        """It ends, in order."""
        self._send("STOPPING=1")

    def watchdog(self) -> None:
        """It made progress."""
        self._send("WATCHDOG=1")

    def feed(self, now_ms: int) -> None:
        """``watchdog`` as often as it needs. Called by the thread whose progress counts, after every turn."""
        every = self.watchdog_ms
        if every is not None and (self._fed_at is None or now_ms - self._fed_at >= every // FEEDINGS):
            self._fed_at = now_ms
            self.watchdog()

    def status(self, text: str) -> None:
        """What ``systemctl status`` shows, on one line."""
        self._send("STATUS=" + " ".join(text.split())[:STATUS_MAX])

    def close(self) -> None:
        """Close the socket; a second call does nothing."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _send(self, message: str) -> None:
        if self._socket is None or not self._address:
            return
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with contextlib.suppress(OSError):
            self._socket.sendto(message.encode(), address)

    def __enter__(self) -> Notifier:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
