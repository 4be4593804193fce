"""The record's desk: hands questions about the past to a process that only reads the journal, and takes its answers.

The actor hands a question over and goes on; the answer comes back through its loop. The desk's own thread only waits.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

import msgspec

from controller.bus import wire
from controller.bus.hub import Request
from controller.commands import Command
from controller.refusal import Refusal
from controller.service.shelf import Shelf

log = logging.getLogger("dealerd.record")

#: Questions that may wait; more are refused.
WAITING: Final = 32


class Desk:
    """Answers for one journal; thread and process begin with the first question."""

    def __init__(self, path: str, wake: Callable[[], None], shelf: Shelf | None = None) -> None:
        """``path``: the journal; ``wake``: called from the thread when an answer is ready; ``shelf``: the versions of
        the calibration, for a table with a camera."""
        self._path = path
        self._shelf = shelf
        self._wake = wake
        self._questions: queue.Queue[tuple[Request, Command, int] | None] = queue.Queue(WAITING)
        self._answers: deque[tuple[Request, Command, bytes]] = deque()
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._closing = False

    def ask(self, request: Request, command: Command, seq: int) -> None:
        """Put a question; ``seq`` goes into its answer. Never blocks. Raises ``Refusal`` (``busy``)."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=f"record {self._path}", daemon=True)
            self._thread.start()
        try:
            self._questions.put_nowait((request, command, seq))
        except queue.Full:
            raise Refusal("busy", f"{WAITING} questions about the record are waiting: ask again later") from None

    def answers(self) -> list[tuple[Request, Command, bytes]]:
        """What is ready, with whom it is for and what was asked."""
        found = []
        with contextlib.suppress(IndexError):
            while True:
                found.append(self._answers.popleft())
        return found

    def close(self) -> None:
        """End thread and process; what waits stays unanswered."""
        if self._thread is None:
            return
        self._closing = True
        process = self._process
        if process is not None:
            process.kill()
        with contextlib.suppress(queue.Empty):
            while True:
                self._questions.get_nowait()
        self._questions.put(None)
        self._thread.join()
        self._thread = None

    def _serve(self) -> None:
        try:
            while (question := self._questions.get()) is not None and not self._closing:
                request, command, seq = question
                self._answers.append((request, command, self._answer(command, seq)))
                self._wake()
        finally:
            self._end()

    def _answer(self, command: Command, seq: int) -> bytes:
        question = msgspec.json.encode([command.id, command.name, command.args, seq, command.by]) + b"\n"
        try:
            process = self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(question)
            process.stdin.flush()
            body = process.stdout.readline()
        except OSError:
            body = b""
        if body.endswith(b"\n"):
            return body[:-1]
        self._end()
        if not self._closing:
            log.error("%s cannot be answered: the record's process ended", command.name)
        return wire.encode_refusal(command.id, "internal", "the table failed to answer; nothing was changed")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            words = [sys.executable, "-m", "controller.service.answers", self._path]
            words += [msgspec.json.encode(self._shelf).decode()] if self._shelf is not None else []
            self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            if self._closing:
                self._process.kill()
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    assert pipe is not None
                    pipe.close()
