"""Which state a shoe's exit lock should be told to take. Pure: no clock, no I/O, no protocol.

The procedure says whether a card may leave now; a shoe that can be locked is kept locked whenever none may. The
lock helps a dealer's hand, it proves nothing: what a step does not allow is refused by the table, locked or not.
"""

from __future__ import annotations

from typing import Final

from drivers.settings import LockSetting

# A shoe that did not answer is asked again this much later, so that a silent one is not flooded.
RETRY_S: Final = 5.0


def wanted_lock(setting: LockSetting, draw: bool) -> bool | None:
    """Whether the exit should be locked, by setting and procedure; None to leave it as it is."""
    return None if setting == "off" else not draw


class ExitLock:
    """What is wanted, what is known, and so what is to be told. Times are monotonic seconds.

    ``want`` may be called by any thread, the rest by one.
    """

    def __init__(self) -> None:
        self._wanted: bool | None = None
        self._known: bool | None = None
        self._told: bool | None = None
        self._retry_at = float("-inf")
        self._refused = False

    @property
    def locked(self) -> bool | None:
        """What the shoe last said of its lock; None if it said nothing since it started or the line was lost."""
        return self._known

    def want(self, locked: bool | None) -> bool:
        """Keep the exit in this state from now on; None to stop keeping it. True if that is another wish."""
        before, self._wanted = self._wanted, locked
        return before != locked

    def seen(self, locked: bool) -> None:
        """The shoe reported its lock, or acknowledged the order to change it."""
        self._known = locked

    def forgotten(self) -> None:
        """The shoe started anew, or the line was interrupted: its lock is not known, and what it refused before
        may be tried again."""
        self._known = self._told = None
        self._refused = False
        self._retry_at = float("-inf")

    def due(self, now: float) -> bool | None:
        """The state to order now (True: lock), once; None if nothing is to be said."""
        wanted = self._wanted
        if wanted is None or wanted == self._known or self._told is not None or self._refused or now < self._retry_at:
            return None
        self._told = wanted
        return wanted

    def accepted(self) -> None:
        """The shoe acknowledged the last order."""
        self._known, self._told = self._told, None

    def failed(self, now: float, *, refused: bool) -> None:
        """The last order came to nothing. A shoe that ``refused`` it is left alone until ``forgotten``."""
        self._told = None
        self._refused = refused
        self._retry_at = now + RETRY_S
