"""Where the checks look. The real machine by default; tests give another root."""

from __future__ import annotations

import ctypes
import os
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_UNSYNCHRONISED: Final = 0x40
#: ``struct timex`` up to ``status``: modes, offset, freq, maxerror, esterror, status.
_TIMEX: Final = "i4xqqqqi"
_TIMEX_BYTES: Final = 256


def kernel_clock() -> tuple[bool, float]:
    """(whether something keeps the clock, largest error in seconds) as the kernel was told by whatever keeps it:
    timesyncd, chrony, ntpd or ptp4l. Raises ``OSError`` if it may not be asked."""
    buffer = ctypes.create_string_buffer(_TIMEX_BYTES)
    if ctypes.CDLL(None, use_errno=True).adjtimex(buffer) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    _, _, _, error_us, _, status = struct.unpack_from(_TIMEX, buffer.raw)
    return not status & _UNSYNCHRONISED, error_us / 1e6


@dataclass(frozen=True)
class Place:
    """Roots of the kernel's file systems."""

    proc: Path = field(default=Path("/proc"))
    sys: Path = field(default=Path("/sys"))

    def read(self, path: Path) -> str | None:
        """A small file's text without its line end; None if there is none."""
        try:
            return path.read_text(errors="replace").strip()
        except OSError:
            return None
