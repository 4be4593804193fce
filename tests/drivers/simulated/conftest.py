"""A simulated shoe as a real process, and its two sides: the line and the control socket."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
import tty
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PATIENCE_S = 20.0
# No device of ours sends it, so what came before it on the line is all there was.
MARK = b"\x00MARK\x00"
PROGRAM = [sys.executable, "-c", "from controller.cli.shoe import main; main()"]


class Control:
    """One connection to the control socket."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(PATIENCE_S)
        self._socket.connect(str(path))
        self._file = self._socket.makefile("rb")

    def send(self, *commands: str) -> None:
        self._socket.sendall("".join(f"{command}\n" for command in commands).encode())

    def receive(self) -> dict[str, Any]:
        line = self._file.readline()
        assert line.endswith(b"\n"), "the shoe hung up"
        answer = json.loads(line)
        assert isinstance(answer, dict)
        return answer

    def ask(self, command: str) -> dict[str, Any]:
        self.send(command)
        return self.receive()

    def finish(self) -> list[bytes]:
        """Say that no more is asked; all answers to come."""
        self._socket.shutdown(socket.SHUT_WR)
        return self._file.readlines()

    def close(self) -> None:
        self._file.close()
        self._socket.close()


class Line:
    """The host's side of the line, as the kernel gives it."""

    def __init__(self, path: str) -> None:
        self.descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        tty.setraw(self.descriptor)

    def read(self) -> bytes:
        """What comes next; empty when the device is gone."""
        ready, _, _ = select.select([self.descriptor], [], [], PATIENCE_S)
        assert ready, "nothing on the line"
        try:
            return os.read(self.descriptor, 4096)
        except OSError:
            return b""

    def read_until(self, end: bytes) -> bytes:
        data = b""
        while not data.endswith(end):
            more = self.read()
            assert more, f"the line ended after {data!r}"
            data += more
        return data[: -len(end)] if end else data

    def write(self, data: bytes) -> None:
        os.write(self.descriptor, data)

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
        self.descriptor = -1


class Shoe:
    """A running ``dealerd shoe``."""

    def __init__(self, folder: Path, arguments: list[str]) -> None:
        self.link = folder / "shoe"
        self.socket = folder / "shoe.ctl"
        self.log = folder / "shoe.jsonl"
        self.process = subprocess.Popen(
            [*PROGRAM, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self.process.stdout is not None
        self.ready = self.process.stdout.readline().decode()
        self.errors = ""
        self._open: list[Control | Line] = []

    def control(self) -> Control:
        control = Control(self.socket)
        self._open.append(control)
        return control

    def line(self) -> Line:
        line = Line(str(self.link))
        self._open.append(line)
        return line

    def ask(self, command: str) -> dict[str, Any]:
        control = Control(self.socket)
        try:
            return control.ask(command)
        finally:
            control.close()

    def heard(self, line: Line) -> bytes:
        """All that the device has sent and ``line`` has not read."""
        assert self.ask(f"send {MARK.hex()}")["ok"]
        return line.read_until(MARK)

    def entries(self) -> list[dict[str, Any]]:
        """The log up to its last whole line: a reader may see a part of the one that is being written."""
        return [json.loads(text) for text in self.log.read_text().split("\n")[:-1]]

    def stop(self) -> int:
        """End the standard input, as a parent does that dies; the exit status. May be repeated."""
        for each in self._open:
            each.close()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with contextlib.suppress(OSError):
                stream.close()
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            errors = self.process.stderr
            assert errors is not None
            if not errors.closed:
                self.errors = errors.read().decode()
                errors.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Shoe]]:
    """Start shoes; at the end all must stop cleanly, unless a test killed them."""
    running: list[Shoe] = []

    def start_shoe(
        *arguments: str, protocol: str = "line", speed: str = "0", control: bool = True, link: bool = True
    ) -> Shoe:
        words = ["--protocol", protocol, "--speed", speed, "--seed", "7", "--log", str(tmp_path / "shoe.jsonl")]
        words += ["--link", str(tmp_path / "shoe")] if link else []
        words += ["--control", str(tmp_path / "shoe.ctl")] if control else []
        shoe = Shoe(tmp_path, [*words, *arguments])
        running.append(shoe)
        return shoe

    yield start_shoe
    for shoe in running:
        status = shoe.stop()
        assert (status, shoe.errors) in ((0, ""), (-signal.SIGKILL, ""), (2, shoe.errors)), shoe.errors


@pytest.fixture(name="until")
def _until() -> Callable[[Callable[[], bool], str], None]:
    def until(condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > end:
                pytest.fail(f"not within {PATIENCE_S} s: {what}")
            time.sleep(0.005)

    return until
