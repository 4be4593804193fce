"""What the camera service tells the table, from a thread of its own: a table that is away must not stop the eyes."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from controller.bus.client import TableClient
from controller.bus.errors import BusError, CommandRefused, CommandTimeout
from vision.tracking import Sighting

log = logging.getLogger("dealerd.camera")

#: Seconds a table may take for an answer.
ANSWER_S: Final = 2.0
#: What the table accepts: sightings in one command, and the age of one.
BATCH: Final = 64
MAX_AGE_MS: Final = 60_000
_Work = tuple[str, dict[str, Any]] | list[Sighting] | None


class TableLink:
    """Sends sightings and health with the client that ``connect`` makes. ``known`` gives what is known of every
    position, empty ones included: it is sent whole when the table answers for the first time and each time it comes
    back, so that neither a card nor its going is missed."""

    def __init__(self, connect: Callable[[], TableClient], known: Callable[[], Sequence[Sighting]]) -> None:
        self._connect = connect
        self._known = known
        self._work: queue.SimpleQueue[_Work] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="table", daemon=True)
        self._refused: set[str] = set()
        self.answers = threading.Event()
        """Set while the table answers."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """Stop after what is being sent."""
        self._work.put(None)
        self._thread.join()

    def seen(self, sightings: list[Sighting]) -> None:
        """Tell the table what changed, in order."""
        if sightings:
            self._work.put(sightings)

    def health(self, state: dict[str, Any]) -> None:
        """Tell the table how the camera is: the arguments of ``camera_health``."""
        self._work.put(("camera_health", state))

    def _run(self) -> None:
        client = self._connect()
        try:
            while (work := self._work.get()) is not None:
                if isinstance(work, list):
                    if self.answers.is_set():
                        self._tell(client, work)
                elif self._send(client, *work) and not self.answers.is_set():
                    self.answers.set()
                    log.info("the table answers")
                    self._tell(client, list(self._known()))
        finally:
            client.close()

    def _tell(self, client: TableClient, sightings: list[Sighting]) -> None:
        for begin in range(0, len(sightings), BATCH):
            now = time.monotonic()
            seen = [as_seen(sighting, now) for sighting in sightings[begin : begin + BATCH]]
            self._send(client, "sighting", {"seen": seen})

    def _send(self, client: TableClient, name: str, args: dict[str, Any]) -> bool:
        """True if the table answered, whatever it said."""
        try:
            client.command(name, args, timeout_s=ANSWER_S)
        except CommandRefused as refusal:
            if refusal.code not in self._refused:  # the same refusal again and again is told once
                self._refused.add(refusal.code)
                log.warning("%s refused (%s): %s", name, refusal.code, refusal.message)
            return True
        except (CommandTimeout, BusError) as error:
            if self.answers.is_set():
                log.error("the table does not answer: %s", error)
            # What it has missed is sent whole once it answers again.
            self.answers.clear()
            return False
        return True


def as_seen(sighting: Sighting, now: float) -> dict[str, Any]:
    """A sighting in the form of the ``sighting`` command, told at ``now`` (s, the frames' clock)."""
    seen: dict[str, Any] = {
        "position": sighting.position,
        "card": sighting.card,
        "age_ms": min(max(0, round((now - sighting.since) * 1000)), MAX_AGE_MS),
    }
    if sighting.reason:
        seen["reason"] = sighting.reason
    return seen
