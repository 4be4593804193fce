"""What can go wrong on the bus, named by when it happens. Nothing of ZeroMQ's own leaves this package."""

from __future__ import annotations

from typing import Any


class BusError(Exception):
    """Root of everything the bus raises, and itself: an endpoint that cannot be bound, a closed hub or client."""


class KeysError(BusError):
    """A key folder or key file that must not be trusted; the message names the file and the remedy."""


class ProtocolError(BusError):
    """The peer sent what the protocol does not allow: not JSON, a missing field, a page with a hole."""


class FeedConflict(BusError):
    """Two versions of one history: the same ``seq`` with other bytes, or a table behind what it has published."""


class CommandRefused(BusError):
    """The table answered ``ok: false``.

    ``code`` is stable and for programs, ``message`` for people, ``expected`` what would have been allowed (any
    JSON value or None), ``command_id`` the command's id (None if the table could not read it).
    """

    def __init__(self, code: str, message: str, expected: Any = None, command_id: str | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.expected = expected
        self.command_id = command_id


class CommandTimeout(BusError, TimeoutError):
    """No answer in time. Whether the command took effect is unknown: send it again with the id ``command_id``."""

    def __init__(self, message: str, command_id: str) -> None:
        super().__init__(message)
        self.command_id = command_id
