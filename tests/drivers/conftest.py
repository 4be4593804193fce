"""A device on a pseudo-terminal, a sink that can be waited on, and a check that nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import socket
import subprocess
import threading
import time
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from drivers.events import Event
from drivers.shoe import Reading

PATIENCE_S = 10.0


def wait_until(condition: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> None:
    """Return when ``condition`` holds; fail naming ``what`` if it does not within ``patience_s``."""
    end = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > end:
            pytest.fail(f"not within {patience_s} s: {what}")
        time.sleep(0.005)


class Pty:
    """The device's end of a line: ``path`` is a link to the node, as udev makes them under by-id."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.master = -1
        self._slave = -1
        self.plug()

    def plug(self) -> None:
        self.master, self._slave = os.openpty()
        tty.setraw(self.master)
        tty.setraw(self._slave)
        self.path.symlink_to(os.ttyname(self._slave))

    def write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self.master, data) :]

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes that the host sent; empty if none come."""
        ready, _, _ = select.select([self.master], [], [], PATIENCE_S)
        return os.read(self.master, size) if ready else b""

    def unplug(self) -> None:
        """The node goes, and the link with it."""
        self.path.unlink(missing_ok=True)
        for descriptor in (self._slave, self.master):
            if descriptor >= 0:
                os.close(descriptor)
        self.master = self._slave = -1

    def replug(self) -> None:
        """Come back under the same link; the node's number may be another."""
        self.unplug()
        self.plug()

    @property
    def node(self) -> str:
        """The terminal that the link leads to."""
        return os.ttyname(self._slave)

    @property
    def port(self) -> str:
        """What a driver is given to open."""
        return str(self.path)


def need(tool: str) -> str:
    """Where ``tool`` is; a machine without it leaves the test out, saying how to get it."""
    found = shutil.which(tool) or shutil.which(tool, path="/usr/sbin:/sbin")
    if found is None:
        pytest.skip(f"{tool} is not installed (Debian: apt-get install {tool})")
    return found


def free_port() -> int:
    """A TCP port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def listening(port: int) -> bool:
    """True if somebody listens on ``port`` of this machine. Asked of the kernel: a server of one client counts
    connections."""
    lines = Path("/proc/net/tcp").read_text().splitlines()
    return any(f":{port:04X}" in line.split()[1] and line.split()[3] == "0A" for line in lines[1:])


class Served(Pty):
    """A device on a terminal, and a device server of another make that puts it on the network: ``socat`` or
    ``ser2net``, with one client at a time as NPorts have it from the factory."""

    def __init__(self, path: Path, tool: str) -> None:
        self._tool = tool
        self._program = need(tool)
        self.tcp = free_port()
        self.server: subprocess.Popen[bytes] | None = None
        super().__init__(path)

    @property
    def port(self) -> str:
        return f"socket://127.0.0.1:{self.tcp}"

    def plug(self) -> None:
        super().plug()
        if self._tool == "socat":
            words = [f"TCP-LISTEN:{self.tcp},bind=127.0.0.1,reuseaddr", f"OPEN:{self.node},raw,echo=0"]
        else:
            config = self.path.with_suffix(".yaml")
            config.write_text(
                f"%YAML 1.1\n---\nconnection: &shoe\n  accepter: tcp,127.0.0.1,{self.tcp}\n"
                f"  connector: serialdev,{self.node},4800n81,local\n"
            )
            words = ["-n", "-u", "-c", str(config)]
        self.server = subprocess.Popen(
            [self._program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_until(lambda: listening(self.tcp), f"{self._tool} to listen")

    def unplug(self) -> None:
        """The device server is switched off, its device with it."""
        self.stop_server()
        super().unplug()

    @property
    def listens(self) -> bool:
        """It would take another client."""
        return listening(self.tcp)

    def stop_server(self) -> None:
        if self.server is not None:
            self.server.kill()
            self.server.wait()
        self.server = None


class Inbox:
    """A sink that keeps everything and can be waited on."""

    def __init__(self) -> None:
        self.readings: list[Reading] = []
        self._changed = threading.Condition()

    def __call__(self, readings: list[Reading]) -> None:
        with self._changed:
            self.readings += readings
            self._changed.notify_all()

    @property
    def events(self) -> list[Event]:
        with self._changed:
            return [reading.event for reading in self.readings]

    def wait_for(self, condition: Callable[[list[Event]], bool], what: str) -> list[Event]:
        """The events so far, when ``condition`` holds for them."""
        with self._changed:
            if not self._changed.wait_for(lambda: condition([r.event for r in self.readings]), PATIENCE_S):
                pytest.fail(f"not within {PATIENCE_S} s: {what}; got {[r.event for r in self.readings]}")
            return [reading.event for reading in self.readings]

    def wait_count(self, kind: type[Event], count: int = 1) -> list[Event]:
        """The events so far, when ``count`` of them are of ``kind``."""
        return self.wait_for(
            lambda events: sum(isinstance(event, kind) for event in events) >= count, f"{count} {kind.__name__}"
        )


def _open_files() -> set[str]:
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found.add(f"{number} {os.readlink(f'/proc/self/fd/{number}')}")
    return found


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fail a test that leaves a thread or an open descriptor."""
    threads = set(threading.enumerate())
    files = _open_files()
    yield
    wait_until(lambda: set(threading.enumerate()) <= threads, "all threads of the test have ended")
    left = _open_files() - files
    # The test runner's own log and cache files may come and go.
    ours = [name for name in left if any(word in name for word in ("pts", "ptmx", "socket:", "pipe:"))]
    assert not ours, f"left open: {ours}"


@pytest.fixture
def pty(tmp_path: Path) -> Iterator[Pty]:
    device = Pty(tmp_path / "by-id-shoe")
    yield device
    device.unplug()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[[str], Served]]:
    """Puts a device behind a device server of the named make."""
    made: list[Served] = []

    def start(tool: str) -> Served:
        made.append(Served(tmp_path / f"{tool}-{len(made)}", tool))
        return made[-1]

    yield start
    for device in made:
        device.unplug()


@pytest.fixture(name="need")
def _need() -> Callable[[str], str]:
    return need


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture(name="wait_until")
def _wait_until() -> Callable[..., None]:
    return wait_until
