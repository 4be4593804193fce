"""Who is logged on: sessions in memory only, so a restart logs everybody off. And how often a log-on may be tried."""

from __future__ import annotations

import hmac
import secrets
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from controller.bus.keys import KeyPair

#: Failed log-ons of a name or an address in ``WINDOW_S`` after which the next must wait.
TRIES_NAME: Final = 5
TRIES_ADDRESS: Final = 20
WINDOW_S: Final = 60.0


@dataclass(slots=True)
class Session:
    """One browser of one person. ``pair`` is None while locked: then nothing can be ordered."""

    id: str = field(repr=False)
    name: str
    role: str
    address: str
    csrf: str = field(repr=False)
    began: float
    touched: float
    pair: KeyPair | None = field(default=None, repr=False)
    locked: bool = False
    must_change: bool = False

    def is_token(self, token: str) -> bool:
        """Whether a request carries this session's own CSRF token."""
        return hmac.compare_digest(self.csrf.encode(), token.encode())


class Sessions:
    """Times are seconds of the monotonic clock."""

    def __init__(self, lock_after_s: float, session_s: float) -> None:
        self._lock_after_s = lock_after_s
        self._session_s = session_s
        self._open: dict[str, Session] = {}

    def begin(self, name: str, role: str, address: str, pair: KeyPair | None, now: float) -> Session:
        """A new session with a fresh id: one that was there before the log-on is worth nothing."""
        session = Session(
            id=secrets.token_urlsafe(32), name=name, role=role, address=address, csrf=secrets.token_urlsafe(32),
            began=now, touched=now, pair=pair,
        )  # fmt: skip
        self._open[session.id] = session
        return session

    def find(self, id_: str, now: float) -> Session | None:
        """The session, locked if nobody touched it for too long; None if it is over or never was."""
        session = self._open.get(id_)
        if session is None:
            return None
        if now - session.began >= self._session_s:
            self.end(session)
            return None
        if now - session.touched >= self._lock_after_s:
            self.lock(session)
        return session

    def touch(self, session: Session, now: float) -> None:
        """The person did something."""
        if not session.locked:
            session.touched = now

    def lock(self, session: Session) -> None:
        """Forget the person's key until the password comes again."""
        session.locked, session.pair = True, None

    def unlock(self, session: Session, pair: KeyPair | None, now: float) -> None:
        """The password came again."""
        session.locked, session.pair, session.touched = False, pair, now

    def end(self, session: Session) -> None:
        """Log off."""
        session.locked, session.pair = True, None
        self._open.pop(session.id, None)

    def end_all_of(self, name: str) -> None:
        """Log a person off everywhere."""
        for session in [s for s in self._open.values() if s.name == name]:
            self.end(session)

    def all(self) -> list[Session]:
        """Every open session."""
        return list(self._open.values())


class Throttle:
    """Slows guessing: counts failed log-ons by name and by address."""

    def __init__(self) -> None:
        self._failed: dict[str, deque[float]] = {}

    def wait_s(self, name: str, address: str, now: float) -> float:
        """Seconds until the next try is heard; 0 if at once."""
        return max(self._wait(f"n {name}", TRIES_NAME, now), self._wait(f"a {address}", TRIES_ADDRESS, now))

    def failed(self, name: str, address: str, now: float) -> None:
        """A try that was wrong."""
        if len(self._failed) > 10_000:  # somebody walks through names: forget those that are over
            self._failed = {k: v for k, v in self._failed.items() if now - v[-1] < WINDOW_S}
        for key in (f"n {name}", f"a {address}"):
            self._failed.setdefault(key, deque(maxlen=TRIES_ADDRESS)).append(now)

    def _wait(self, key: str, tries: int, now: float) -> float:
        times = self._failed.get(key)
        if times is None:
            return 0.0
        recent = [t for t in times if now - t < WINDOW_S]
        return WINDOW_S - (now - recent[-tries]) if len(recent) >= tries else 0.0
