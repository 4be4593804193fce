"""A process to be measured, and a pseudo-terminal between it and the benchmark."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tty
from pathlib import Path
from types import TracebackType
from typing import Final

from controller.bench.errors import BenchError

START_S: Final = 20.0
STOP_S: Final = 10.0


class Line:
    """A pseudo-terminal; the benchmark holds the shoe's end, and the other one open so that nothing hangs up."""

    def __init__(self) -> None:
        self.master, self._slave = os.openpty()
        tty.setraw(self._slave)
        self.path = os.ttyname(self._slave)

    def send(self, data: bytes) -> None:
        """One write of the whole message."""
        os.write(self.master, data)

    def close(self) -> None:
        """Close both ends."""
        os.close(self.master)
        os.close(self._slave)


class Child:
    """``python -m WORDS… --ready-file FILE``, started and up; ``folder`` keeps its log and the file."""

    def __init__(self, name: str, words: list[str], folder: Path, *, start_s: float = START_S) -> None:
        """Raises ``BenchError`` if it does not come up in ``start_s``."""
        self.name = name
        self._log = folder / f"{name}.log"
        ready = folder / f"{name}.ready"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *words, "--ready-file", str(ready)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C reaches the benchmark alone, which then ends the others
            )
        deadline = time.monotonic() + start_s
        try:
            while not ready.exists():
                self.check()
                if time.monotonic() > deadline:
                    raise BenchError(f"{name} did not come up in {start_s:g} s: {self._tail()}")
                time.sleep(0.01)
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def processor_s(self) -> float:
        """Processor time it has used, in seconds. Raises ``BenchError`` if it is gone."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError as error:
            raise BenchError(f"{self.name} is gone") from error
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def check(self) -> None:
        """Raises ``BenchError`` if it has ended."""
        status = self._process.poll()
        if status is not None:
            raise BenchError(f"{self.name} ended with status {status}: {self._tail()}")

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()

    def _tail(self) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-5:]) or "no output"

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
