"""The audit trail of the screens: who logged on, from where, and what was sent to which table. One JSON line each."""

from __future__ import annotations

import os
import time
from collections import deque
from pathlib import Path
from typing import Any, Final

import msgspec

from controller.config import ConfigError
from controller.frames import iso_ms

SHOWN: Final = 500
_encoder = msgspec.json.Encoder()


class Audit:
    """Appends to ``audit.jsonl``, mode 0600. Never holds a password or a key."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "audit.jsonl"
        try:
            self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            with self._path.open("rb") as file:
                lines = deque(file, maxlen=SHOWN)
        except OSError as error:
            raise ConfigError(f"{self._path}: cannot be opened: {error.strerror}") from error
        self._recent: deque[dict[str, Any]] = deque(map(_decoded, lines), maxlen=SHOWN)

    def note(self, what: str, *, who: str, address: str, **more: Any) -> None:
        """Write one line; it is on disk when this returns."""
        entry = {"time": iso_ms(time.time_ns() // 1_000_000), "what": what, "who": who, "address": address, **more}
        os.write(self._fd, _encoder.encode(entry) + b"\n")
        os.fsync(self._fd)
        self._recent.append(entry)

    def recent(self) -> list[dict[str, Any]]:
        """The newest entries, newest first."""
        return list(reversed(self._recent))

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)


def _decoded(line: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError:
        return {"time": "", "what": "unreadable line", "who": "", "address": ""}
    return found
