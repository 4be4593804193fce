"""The program's log on standard error, as text or as JSON Lines, written by a thread of its own.

Whoever logs hands over a finished line and goes on. If nobody reads standard error, ``CAPACITY`` lines wait and
later ones are dropped and counted: a blocked log never stops dealing, never grows without end, and keeps no program
from stopping.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import select
import threading
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, Literal

import msgspec

Form = Literal["text", "json"]

CAPACITY: Final = 10_000
#: How long a stopping program waits for its last lines to be read.
GOODBYE_S: Final = 2.0

#: The journal's priorities (sd-daemon(3)).
_PRIORITY: Final = {"CRITICAL": 2, "ERROR": 3, "WARNING": 4, "INFO": 6, "DEBUG": 7}


class JsonForm(logging.Formatter):
    """One JSON object a line: ``time level logger message``, what was bound, ``error`` with its traceback."""

    def __init__(self, bound: dict[str, Any]) -> None:
        super().__init__()
        self._bound = bound

    def format(self, record: logging.LogRecord) -> str:
        """See the class."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        found = {"time": at, "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()}
        found |= self._bound
        if record.exc_info:
            found["error"] = self.formatException(record.exc_info)
        return msgspec.json.encode(found).decode()


class JournalForm(logging.Formatter):
    """Text for the systemd journal, which has the time already and takes the priority from ``<N>``."""

    def format(self, record: logging.LogRecord) -> str:
        """See the class. Each line of a message carries the priority."""
        mark = f"<{_PRIORITY.get(record.levelname, 5)}>"
        text = f"{record.name}: {super().format(record)}"
        return "\n".join(mark + line for line in text.splitlines())


def form_of(kind: Form, bound: dict[str, Any], *, to_journal: bool) -> logging.Formatter:
    """The formatter for ``kind``; text looks different in the systemd journal."""
    if kind == "json":
        return JsonForm(bound)
    return JournalForm() if to_journal else logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s")


class Logs(logging.Handler):
    """The root logger's only handler, from ``with`` to its end. ``bound`` is added to every JSON line."""

    def __init__(self, kind: Form, level: int, *, fd: int = 2, capacity: int = CAPACITY) -> None:
        super().__init__()
        self.bound: dict[str, Any] = {}
        self.lost = 0
        self._level = level
        self._fd = fd
        self._lines: queue.Queue[str | None] = queue.Queue(capacity)
        self._thread = threading.Thread(target=self._write, name="log", daemon=True)
        self.setFormatter(form_of(kind, self.bound, to_journal="JOURNAL_STREAM" in os.environ))

    def emit(self, record: logging.LogRecord) -> None:
        """Hand the line over; never waits."""
        try:
            self._lines.put_nowait(self.format(record))
        except queue.Full:
            self.lost += 1
        except Exception:  # noqa: BLE001 - as every handler of the library does
            self.handleError(record)

    def _write(self) -> None:
        told = 0
        while (line := self._lines.get()) is not None:
            if self.lost != told:
                told, count = self.lost, self.lost - told
                text = f"{count} log lines before this one were dropped: nobody read them in time"
                warning = logging.LogRecord("dealerd.log", logging.WARNING, "", 0, text, None, None)
                self._put(self.format(warning))
            self._put(line)

    def _put(self, line: str) -> None:
        data = line.encode(errors="backslashreplace") + b"\n"
        while data:
            try:
                data = data[os.write(self._fd, data) :]
            except BlockingIOError:
                select.select((), (self._fd,), ())
            except OSError:  # nobody will ever read it
                return

    def __enter__(self) -> Logs:
        root = logging.getLogger()
        root.setLevel(self._level)
        root.addHandler(self)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        logging.getLogger().removeHandler(self)
        with contextlib.suppress(queue.Full):
            self._lines.put(None, timeout=GOODBYE_S)
        self._thread.join(GOODBYE_S)
