"""Whether the game server is still there: pure bookkeeping of its connections (M-35, procedures page 2.5).

A program that follows a table keeps its connection; a person's single command (``dealerd ctl``) comes and goes. So
only the end of a connection that lasted says anything, and only if nobody with such a key comes back soon.
"""

from __future__ import annotations

from typing import Final

#: A connection that sent commands over at least so many seconds was a game server's.
LASTING_S: Final = 30.0
#: A lost line that is up again within so many seconds was none.
GRACE_S: Final = 5.0


class Presence:
    """Connections with a game server's key. Times are monotonic seconds; ``line`` is what names a connection."""

    def __init__(self) -> None:
        self._lines: dict[int, float] = {}  # since when commands came over it
        self._heard = self._joined = -1.0
        self._lost_at: float | None = None

    def joined(self, now: float) -> None:
        """Somebody with such a key connected, over which line nobody knows yet."""
        self._joined = now
        self._lost_at = None

    def heard(self, line: int, now: float) -> None:
        """A command came over this line."""
        self._lines.setdefault(line, now)
        self._heard = now
        self._lost_at = None

    def left(self, line: int, now: float) -> None:
        """This line was closed, whoever had it."""
        since = self._lines.pop(line, None)
        lasted = since is not None and now - since >= LASTING_S
        # Who came back before the old line was given up may have had nothing to say yet.
        back = self._heard < self._joined and now - self._joined < LASTING_S
        if lasted and not self._lines and not back:
            self._lost_at = now

    def here(self, now: float) -> bool | None:
        """Whether a game server is there; None as long as none ever was."""
        if self._lost_at is not None:
            return now - self._lost_at < GRACE_S
        return True if max(self._heard, self._joined) >= 0 else None
