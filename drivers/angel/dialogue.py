"""The host's side of the dialogue with an Angel Eye shoe: one command under way, answers matched to it. No I/O.

Not seen on hardware [I], and inferred here: that the shoe answers commands in order and one at a time, that a busy
one may be asked again, that its lock is open or unknown after it started.
"""

from __future__ import annotations

import logging
from collections import deque
from concurrent.futures import Future, InvalidStateError
from typing import Final, NamedTuple

from drivers.angel.commands import (
    CLEAR_ERROR,
    COMMAND_TEXTS,
    DISCARD_OVERDRAWN,
    LOCK,
    NAK_BCC,
    NAK_BUSY,
    NAK_TEXTS,
    UNLOCK,
    USE_OVERDRAWN,
    Command,
    encode_command,
    parse_answer,
)
from drivers.events import ErrorCleared, ErrorRaised, Event, Lock, Started
from drivers.lock import ExitLock
from drivers.settings import BccReading

logger = logging.getLogger(__name__)

# "KC waits 3 s" for an answer.
ANSWER_S: Final = 3.0
# An answer that comes too late must not be taken for the next command's [I].
QUIET_S: Final = 1.0
BUSY_RETRY_S: Final = 0.5
BUSY_TRIES: Final = 3
MAX_WAITING: Final = 16

OVERDRAW: Final = 2


class Result(NamedTuple):
    """How a command ended; ``text`` says it in words. ``code`` is the shoe's NAK, ``data`` what was read."""

    ok: bool
    text: str
    code: int | None = None
    data: bytes = b""


class _Order(NamedTuple):
    command: Command
    future: Future[Result] | None  # None: the exit lock's own


class Dialogue:
    """Commands wait here for their turn; ``ask``, ``refusal`` and ``lock.want`` are for any thread, the rest for
    one. Futures are resolved in that one thread."""

    def __init__(self, reading: BccReading) -> None:
        self.lock = ExitLock()
        self._reading = reading
        self._waiting: deque[_Order] = deque()
        self._order: _Order | None = None
        self._sent_at = 0.0
        self._tries = 0
        self._send_at: float | None = None  # when to send the one under way again
        self._quiet_until = float("-inf")
        self._error: int | None = None
        self._error_known = False
        self._unexpected = 0
        self._lock_fault: str | None = None

    @property
    def lock_fault(self) -> str | None:
        """Why the exit could not be brought into the wanted state; None if it could."""
        return self._lock_fault

    @property
    def unexpected(self) -> int:
        """Answers that no command waited for, or with a wrong check."""
        return self._unexpected

    @property
    def error(self) -> int | None:
        """The code of the error that the shoe raised and has not cancelled."""
        return self._error

    def ask(self, command: Command) -> Future[Result]:
        """Send ``command`` in its turn. What need not be sent is answered at once: a lock that is as asked for, an
        error that is not there."""
        future: Future[Result] = Future()
        known = self._without_asking(command)
        if known is None and len(self._waiting) >= MAX_WAITING:
            known = Result(False, f"{MAX_WAITING} commands wait already: the shoe does not answer")
        if known is None:
            self._waiting.append(_Order(command, future))
        else:
            future.set_result(known)
        return future

    def _without_asking(self, command: Command) -> Result | None:
        if command in (LOCK, UNLOCK):
            idle = self._order is None and not self._waiting
            if idle and self.lock.locked is (command == LOCK):
                return Result(True, "the exit is locked" if command == LOCK else "the exit is unlocked")
        elif self._error_known and command in (CLEAR_ERROR, USE_OVERDRAWN, DISCARD_OVERDRAWN):
            if self._error is None:
                return Result(True, "the shoe reports no error")
            if command != CLEAR_ERROR and self._error != OVERDRAW:
                return Result(
                    False, f"the error is {self._error}, not an over-draw ({OVERDRAW}): no card to decide on"
                )
        return None

    def heard(self, event: Event) -> None:
        """What the shoe said by itself."""
        match event:
            case Lock(locked):
                self.lock.seen(locked)
            case Started():
                self.lock.forgotten()
                self._error, self._error_known = None, True
            case ErrorRaised(code):
                # An over-draw stays one while it runs into a time-out: its card is still to be decided on.
                self._error = OVERDRAW if self._error == OVERDRAW else code
                self._error_known = True
            case ErrorCleared():
                self._error, self._error_known = None, True

    def answered(self, raw: bytes, now: float) -> None:
        """The shoe answered ``raw``."""
        order = self._order
        answer = parse_answer(raw, self._reading)
        if order is None or answer is None or self._send_at is not None:
            self._unexpected += 1
            return
        if answer.kind == "nak" and answer.code in NAK_BUSY and self._tries < BUSY_TRIES:
            self._send_at = now + BUSY_RETRY_S
            return
        if answer.kind != "nak":
            self._accepted(order)
            self._end(Result(True, f"done: {COMMAND_TEXTS[order.command]}", data=answer.data))
            return
        text = f"the shoe refused to {COMMAND_TEXTS[order.command]}: {NAK_TEXTS[answer.code]} (NAK {answer.code:02X})"
        if answer.code == NAK_BCC:
            text += f"; this shoe reads the check the other way: bcc is {self._reading}"
        if order.future is None:
            self.lock.failed(now, refused=answer.code not in NAK_BUSY)
        self._end(Result(False, text, code=answer.code))

    def _accepted(self, order: _Order) -> None:
        if order.future is None:
            self.lock.accepted()
        elif order.command in (LOCK, UNLOCK):
            self.lock.seen(order.command == LOCK)

    def outgoing(self, now: float) -> bytes:
        """The frame that is due, if any; also ends what was not answered in time."""
        if self._order is not None and self._send_at is None and now - self._sent_at >= ANSWER_S:
            self._quiet_until = now + QUIET_S
            if self._order.future is None:
                self.lock.failed(now, refused=False)
            self._end(Result(False, f"no answer in {ANSWER_S:g} s to: {COMMAND_TEXTS[self._order.command]}"))
        if self._order is None:
            if now < self._quiet_until:
                return b""
            self._order = self._next(now)
            if self._order is None:
                return b""
            self._tries = 0
        elif self._send_at is None or now < self._send_at:
            return b""
        self._send_at = None
        self._sent_at = now
        self._tries += 1
        return encode_command(self._order.command, self._reading)

    def _next(self, now: float) -> _Order | None:
        while self._waiting:
            order = self._waiting.popleft()
            if order.future is not None and order.future.set_running_or_notify_cancel():
                return order
        locked = self.lock.due(now)
        return None if locked is None else _Order(LOCK if locked else UNLOCK, None)

    def interrupted(self) -> None:
        """The line was lost or opened: nothing of before holds, and no command is carried over."""
        self.lock.forgotten()
        self._error, self._error_known = None, False
        self._quiet_until = float("-inf")
        self._send_at = None
        result = Result(False, "the line to the shoe was interrupted; whether the command was done is not known")
        if self._order is not None:
            self._end(result)
        while self._waiting:
            future = self._waiting.popleft().future
            if future is not None and future.set_running_or_notify_cancel():
                future.set_result(Result(False, "not sent: the line to the shoe was interrupted"))

    def _end(self, result: Result) -> None:
        order, self._order = self._order, None
        if order is None:
            return
        if order.future is None:
            self._tell_lock(result)
            return
        try:
            order.future.set_result(result)
        except InvalidStateError:  # somebody else resolved it
            logger.error("angel shoe: the result of %s was set twice", COMMAND_TEXTS[order.command])

    def _tell_lock(self, result: Result) -> None:
        """Log a lock that does not obey once, and once when it does again."""
        fault = None if result.ok else result.text
        if fault is not None and fault != self._lock_fault:
            logger.warning("angel shoe: the exit lock does not follow the procedure: %s", fault)
        elif fault is None and self._lock_fault is not None:
            logger.info("angel shoe: the exit lock follows the procedure again")
        self._lock_fault = fault
