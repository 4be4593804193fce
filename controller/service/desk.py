"""The record's desk: questions about the past, answered by a thread of its own that only reads the journal.

The actor hands a question over and goes on; the answer comes back through its loop. A fact never waits for one.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from controller.bus import wire
from controller.bus.hub import Request
from controller.commands import Command
from controller.journal.errors import JournalError
from controller.journal.reader import open_read_only
from controller.record.queries import answer
from controller.record.settlements import Pages
from controller.record.statistics import Statistics
from controller.refusal import Refusal

log = logging.getLogger("dealerd.record")

#: Questions that may wait; more are refused.
WAITING: Final = 32


class Desk:
    """Answers for one journal. Only ``Desk``'s own thread touches its statistics."""

    def __init__(self, path: str, wake: Callable[[], None]) -> None:
        """``path``: the journal; ``wake``: called from the thread when an answer is ready."""
        self._path = path
        self._wake = wake
        self._questions: queue.Queue[tuple[Request, Command, int] | None] = queue.Queue(WAITING)
        self._answers: deque[tuple[Request, bytes]] = deque()
        self._statistics = Statistics()
        self._pages = Pages()
        self._thread: threading.Thread | None = None

    def ask(self, request: Request, command: Command, seq: int) -> None:
        """Put a question; ``seq`` goes into its answer. Never blocks. Raises ``Refusal`` (``busy``)."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=f"record {self._path}", daemon=True)
            self._thread.start()
        try:
            self._questions.put_nowait((request, command, seq))
        except queue.Full:
            raise Refusal("busy", f"{WAITING} questions about the record are waiting: ask again later") from None

    def answers(self) -> list[tuple[Request, bytes]]:
        """What is ready, with whom it is for."""
        found = []
        with contextlib.suppress(IndexError):
            while True:
                found.append(self._answers.popleft())
        return found

    def close(self) -> None:
        """End the thread after the question it is at; what waits stays unanswered."""
        if self._thread is None:
            return
        with contextlib.suppress(queue.Empty):
            while True:
                self._questions.get_nowait()
        self._questions.put(None)
        self._thread.join()
        self._thread = None

    def _serve(self) -> None:
        while (question := self._questions.get()) is not None:
            request, command, seq = question
            self._answers.append((request, self._answer(command, seq)))
            self._wake()

    def _answer(self, command: Command, seq: int) -> bytes:
        try:
            # Open, read, close: an open reader keeps the writer's log from being emptied.
            with open_read_only(self._path) as journal:
                body = wire.encode_reply(
                    command.id, seq, answer(journal, command.args, self._statistics, self._pages)
                )
        except Refusal as refusal:
            return wire.encode_refusal(command.id, refusal.code, refusal.message, refusal.expected)
        except JournalError as error:
            log.error("%s cannot be answered: %s", command.name, error)
            return wire.encode_refusal(command.id, "internal", "the journal could not be read")
        except Exception as error:  # noqa: BLE001 -- whatever is wrong with an answer, the table plays on
            # Only the kind: the text may quote a fact, and a fact may hide a card.
            log.error("%s cannot be answered: %s", command.name, type(error).__name__)
            self._statistics = Statistics()
            return wire.encode_refusal(command.id, "internal", "the table failed to answer; nothing was changed")
        if len(body) > wire.MAX_BODY:
            return wire.encode_refusal(command.id, "too_large", "the answer is too large: ask for less at a time")
        return body
