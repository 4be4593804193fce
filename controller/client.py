"""The client library: follow a table's feed without gaps and send it commands, blocking or with asyncio."""

from controller.bus.async_client import AsyncTableClient
from controller.bus.client import TableClient
from controller.bus.errors import (
    BusError,
    CommandRefused,
    CommandTimeout,
    FeedConflict,
    KeysError,
    ProtocolError,
)
from controller.bus.wire import Frame, Reply, Snapshot

__all__ = [
    "AsyncTableClient",
    "BusError",
    "CommandRefused",
    "CommandTimeout",
    "FeedConflict",
    "Frame",
    "KeysError",
    "ProtocolError",
    "Reply",
    "Snapshot",
    "TableClient",
]
