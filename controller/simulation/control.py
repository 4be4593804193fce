"""The control socket of a simulated device, from the side of whoever stands in for the hands at the table."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any


class ControlError(Exception):
    """The simulated device is away or did not do it."""


class SocketControl:
    """One connection to a simulated device; a request is a line, so is its answer."""

    def __init__(
        self, path: Path, *, name: str = "simulated shoe", wait_s: float = 10.0, timeout_s: float = 30.0
    ) -> None:
        self._name = name
        deadline = time.monotonic() + wait_s
        while True:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                self._socket.connect(str(path))
                break
            except OSError as error:
                self._socket.close()
                if time.monotonic() > deadline:
                    raise ControlError(f"{path}: no {name} answers: {error}") from error
                time.sleep(0.02)
        self._socket.settimeout(timeout_s)
        self._file = self._socket.makefile("rb")

    def ask(self, request: str) -> dict[str, Any]:
        """Send one request. Raises ``ControlError`` if the device refuses or is gone."""
        try:
            self._socket.sendall(request.encode() + b"\n")
            line = self._file.readline()
        except OSError as error:
            raise ControlError(f"{request}: the {self._name} is gone: {error}") from error
        if not line:
            raise ControlError(f"{request}: the {self._name} is gone")
        answer: dict[str, Any] = json.loads(line)
        if not answer.get("ok"):
            raise ControlError(f"{request}: {answer.get('error')}")
        return answer

    def close(self) -> None:
        """Hang up."""
        self._file.close()
        self._socket.close()


class ShoeControl(SocketControl):
    """A simulated shoe's."""
