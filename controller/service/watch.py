"""What the machine under the table does: room on the disk, steps of the clock (REG-19)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

#: A clock that moves so much against the monotonic one was set, not slewed.
STEP_MS: Final = 1000
#: Room is enough again with a quarter more than the least: no flapping.
ENOUGH: Final = 1.25


def free_bytes(path: str) -> int:
    """Room for this process on the disk of ``path``."""
    room = os.statvfs(Path(path).parent)
    return room.f_bavail * room.f_frsize


class RoomWatch:
    """Stops the table while its record can still say so."""

    def __init__(self, least: int, free: Callable[[], int]) -> None:
        self._least, self._free = least, free

    def look(self, *, lost: bool) -> str | None:
        """Why there is too little room, ``""`` if there is enough again, None if nothing changed.

        ``lost``: the table is held for it now."""
        free = self._free()
        if not lost and free < self._least:
            return f"{free // 2**20} MiB free, {self._least // 2**20} are needed: free some space"
        return "" if lost and free >= self._least * ENOUGH else None


class ClockWatch:
    """Compares the wall clock with the monotonic one, both in milliseconds."""

    def __init__(self, wall: int, monotonic: int) -> None:
        self._offset = wall - monotonic

    def look(self, wall: int, monotonic: int) -> int:
        """By how much the wall clock was set since the last look; 0 if it was not."""
        moved = wall - monotonic - self._offset
        if abs(moved) < STEP_MS:
            return 0
        self._offset += moved
        return moved
