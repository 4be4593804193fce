"""When to try a lost line again, and which changes are news. Pure: no clock, no waiting, no I/O."""

from __future__ import annotations

from enum import Enum
from typing import Final

# A device that is plugged in again is back within about a second; the table waits for it, so look often.
FIRST_DELAY_S: Final = 0.25
DELAY_FACTOR: Final = 2.0
MAX_DELAY_S: Final = 2.0

# A line that fails sooner than this after it opened goes on with the longer delays: it must not spin.
STABLE_AFTER_S: Final = 5.0


class LinkState(Enum):
    """Where a driver's line stands."""

    STARTING = "starting"
    OPEN = "open"
    LOST = "lost"
    STOPPED = "stopped"


class Reconnect:
    """State of one line. Times are monotonic seconds."""

    def __init__(self) -> None:
        self._state = LinkState.STARTING
        self._opened_at = 0.0
        self._delay = FIRST_DELAY_S

    @property
    def state(self) -> LinkState:
        """Where the line stands now."""
        return self._state

    def opened(self, now: float) -> None:
        """The line is open."""
        self._state = LinkState.OPEN
        self._opened_at = now

    def lost(self, now: float) -> bool:
        """The line failed, or an attempt to open it. True if that is news, False if it was lost already."""
        news = self._state is not LinkState.LOST
        if self._state is LinkState.OPEN and now - self._opened_at >= STABLE_AFTER_S:
            self._delay = FIRST_DELAY_S
        self._state = LinkState.LOST
        return news

    def delay(self) -> float:
        """Seconds to wait before the next attempt; longer each time, up to ``MAX_DELAY_S``."""
        delay = self._delay
        self._delay = min(self._delay * DELAY_FACTOR, MAX_DELAY_S)
        return delay

    def stopped(self) -> None:
        """No further attempts."""
        self._state = LinkState.STOPPED
