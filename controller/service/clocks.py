"""Where the service takes time and chance from."""

from __future__ import annotations

import os
import time


def monotonic_ms() -> int:
    """The clock of every deadline."""
    return time.monotonic_ns() // 1_000_000


def wall_ms() -> int:
    """UTC, milliseconds since 1970: recorded, never waited for."""
    return time.time_ns() // 1_000_000


def fresh_entropy() -> bytes:
    """32 bytes for the keys of one input."""
    return os.urandom(32)
