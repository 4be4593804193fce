"""Runs ``audit`` in a process of its own: after the start, once a day, and at the end of a shoe for its milestone."""

from __future__ import annotations

import contextlib
import logging
import subprocess
import sys
import tempfile
from typing import IO, Any, Final

import msgspec

from controller.config import Loaded
from controller.service.audit import Finding
from controller.service.digest import program_digest

log = logging.getLogger("dealerd.audit")

#: A start is over and the table plays before the first one reads the whole journal.
FIRST_MS: Final = 60_000
#: REG-33: at least every 24 hours.
EVERY_MS: Final = 24 * 3600 * 1000
#: With fewer facts since the last milestone a further one would save nothing.
WORTH_FACTS: Final = 2_000


class Auditor:
    """At most one audit at a time. Times are monotonic milliseconds. ``failure`` stays once there is one."""

    def __init__(self, loaded: Loaded, now: int, *, every_ms: int = EVERY_MS, first_ms: int = FIRST_MS) -> None:
        self._loaded = loaded
        self._every_ms = every_ms
        self._full_at = now + first_ms
        self._program = program_digest()
        self._child: subprocess.Popen[bytes] | None = None
        self._out: IO[bytes] | None = None
        self._milestone_n = 0
        self._shoe_ended_n: int | None = None
        self.failure: str | None = None
        self.audits = 0

    @property
    def program(self) -> str:
        """This program's digest at the start, hex."""
        return self._program

    def shoe_ended(self, n: int) -> None:
        """A shoe ended with fact ``n``: a milestone is worth making soon."""
        self._shoe_ended_n = n

    def tick(self, now: int) -> None:
        """Start what is due, take in what is done. Never blocks."""
        if self._child is not None:
            status = self._child.poll()
            if status is None:
                return
            self._take(status)
        if now >= self._full_at:
            self._full_at = now + self._every_ms
            self._start()
        elif self._shoe_ended_n is not None and self._shoe_ended_n - self._milestone_n >= WORTH_FACTS:
            self._start("--since-milestone")

    def close(self) -> None:
        """End an audit that runs."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            self._child = None
        if self._out is not None:
            self._out.close()
            self._out = None

    def _start(self, *more: str) -> None:
        self._shoe_ended_n = None
        words = [sys.executable, "-m", "controller.service.audit", str(self._loaded.path), *more]
        self._out = tempfile.TemporaryFile()  # noqa: SIM115 -- closed when its process has ended
        with contextlib.suppress(OSError):
            self._child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=self._out)

    def _take(self, status: int) -> None:
        assert self._out is not None
        self._out.seek(0)
        body = self._out.read()
        self.close()
        if status not in (0, 1):
            log.warning("the audit could not be made: exit status %s", status)
            return
        try:
            found = msgspec.json.decode(body, type=Finding)
        except msgspec.MsgspecError:
            log.warning("the audit gave no answer that is one")
            return
        self.audits += 1
        self._judge(found)

    def _judge(self, found: Finding) -> None:
        if found.milestone_n is not None:
            self._milestone_n = found.milestone_n
        if found.note is not None:
            log.warning("audit: %s; a start folds the whole journal", found.note)
        wrong: list[Any] = [found.fault]
        if found.program != self._program:
            wrong.append("the program's files are not those it was started with")
        if found.config != self._loaded.digest:
            wrong.append("the table file is not the one it was started with")
        text = "; ".join(one for one in wrong if one)
        if text:
            self.failure = text
            log.error("audit failed: %s", text)
        else:
            self.failure = None
            log.info("audit: the record is sound up to fact n=%d, hash %s", found.last_n, found.last_hash)
