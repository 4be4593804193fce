"""Does a shoe take commands, how does it check them, does its lock hold? Asked of the shoe, with a person at it."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final

import msgspec

from drivers.angel.dialogue import ANSWER_S, BUSY_RETRY_S, BUSY_TRIES, QUIET_S, Result
from drivers.angel.driver import AngelShoe
from drivers.errors import DriverError
from drivers.events import CardDrawn, CardReused, NoRead, OutOfGame, PortLost, PortRestored
from drivers.self_test import LockProof
from drivers.settings import BccReading, ShoeSettings
from drivers.shoe import Reading

READINGS: Final[tuple[BccReading, ...]] = ("with_stx", "without_stx")
OPEN_S: Final = 10.0

_CARDS: Final = (CardDrawn, CardReused, OutOfGame, NoRead)

Say = Callable[[str], None]
Ask = Callable[[str], bool]


class LineAbsent(DriverError):
    """The shoe's line cannot be opened."""


def prove(settings: ShoeSettings, say: Say, ask: Ask, *, hold_s: float = 10.0) -> LockProof:
    """Try both readings of the check, then the lock with the one the shoe takes.

    ``say`` tells the person at the shoe what to do, ``ask`` puts a question (True for yes). Sends only "unlock" until
    a reading was acknowledged, and leaves the exit unlocked. Raises ``LineAbsent``.
    """
    answers: dict[BccReading, str] = {}
    for reading in READINGS:
        with _Shoe(settings, reading) as shoe:
            answers[reading] = shoe.tried(shoe.driver.unlock)
            if answers[reading] == "silent":
                time.sleep(QUIET_S)  # what is answered too late must not count for the next
    proof = LockProof(with_stx=answers["with_stx"], without_stx=answers["without_stx"])
    taken = [reading for reading in READINGS if answers[reading] == "ack"]
    if not taken:
        return proof
    # One that takes both checks nothing: then what is set stays.
    bcc = settings.bcc if settings.bcc in taken else taken[0]
    with _Shoe(settings, bcc) as shoe:
        if shoe.tried(shoe.driver.lock) != "ack":
            return msgspec.structs.replace(proof, bcc=bcc)
        say(f"The exit is locked now. Try to draw a card for {hold_s:g} seconds: none may come out.")
        cards = shoe.cards_within(hold_s)
        held = not cards and ask("Did you try, and did no card come out?")
        opened = shoe.tried(shoe.driver.unlock) == "ack"
    return msgspec.structs.replace(proof, bcc=bcc, held=held, opened=opened)


class _Shoe:
    """The shoe with its commands checked one way, its line open."""

    def __init__(self, settings: ShoeSettings, reading: BccReading) -> None:
        self._inbox: queue.SimpleQueue[list[Reading]] = queue.SimpleQueue()
        self._port = settings.port
        self.driver = AngelShoe(msgspec.structs.replace(settings, bcc=reading, lock="off", self_test=None))

    def __enter__(self) -> _Shoe:
        self.driver.start(self._inbox.put)
        end, reason = time.monotonic() + OPEN_S, "it does not open"
        while (left := end - time.monotonic()) > 0:
            for reading in self._next(left):
                if isinstance(reading.event, PortRestored):
                    return self
                if isinstance(reading.event, PortLost):
                    reason = reading.event.reason
        self.driver.stop()
        raise LineAbsent(f"no line to the shoe at {self._port}: {reason}")

    def __exit__(self, *_exception: object) -> None:
        self.driver.stop()

    def _next(self, patience_s: float) -> list[Reading]:
        try:
            return self._inbox.get(timeout=max(patience_s, 0.001))
        except queue.Empty:
            return []

    def tried(self, command: Callable[[], Future[Result]]) -> str:
        """What the shoe answered: ``ack``, ``nak NN`` or ``silent``."""
        result = command().result(BUSY_TRIES * (ANSWER_S + BUSY_RETRY_S) + 1.0)
        if result.ok:
            return "ack"
        return "silent" if result.code is None else f"nak {result.code:02x}"

    def cards_within(self, seconds: float) -> int:
        """How many cards left in this time."""
        end, cards = time.monotonic() + seconds, 0
        while (left := end - time.monotonic()) > 0:
            cards += sum(isinstance(reading.event, _CARDS) for reading in self._next(left))
        return cards
