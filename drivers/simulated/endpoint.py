"""The line of a simulated device: a pseudo-terminal under a link, or a real port.

What a pseudo-terminal does: bytes written while nobody has it open would wait (up to about 15,000) for whoever
opens it next, and a host that flushes at open, as ``drivers.port`` does, throws them away. A serial line keeps
nothing, so here they are dropped at once and ``state`` is ``unheard``. Bytes that a host had not read when it
died wait in the terminal and go with the next host's flush; bytes not read when the line is pulled are lost.

Not simulated, because a pseudo-terminal has none: baud rate, parity and framing errors, BREAK, modem lines,
flow control, latency and the time that bytes take.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import time
import tty
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Final, Literal

from drivers.errors import DriverError, PortLost
from drivers.port import SerialPort

LineState = Literal["open", "unheard", "unplugged"]

# A host that has the line open and does not read fills the terminal; after this long the write fails.
WRITE_LIMIT_S: Final = 1.0
_READ_BYTES: Final = 4096


class EndpointError(Exception):
    """The line cannot be had: the link is taken, the port is not there."""


class LineStalled(Exception):
    """The host has the line open and takes no bytes; the message says how many it took."""


class Endpoint(ABC):
    """The device's end of a line."""

    @property
    @abstractmethod
    def path(self) -> str | None:
        """What a host opens; None while unplugged."""

    @property
    def link_name(self) -> str | None:
        """The name under which the line comes back each time, if it has one besides ``path``."""
        return None

    @property
    @abstractmethod
    def state(self) -> LineState:
        """Who hears what is written now."""

    @abstractmethod
    def write(self, data: bytes) -> None:
        """Send ``data``, or lose it if nobody listens. Raises ``LineStalled``."""

    @abstractmethod
    def receive(self) -> bytes:
        """What the host has sent since the last call; empty for nothing, and on a line that is gone."""

    @abstractmethod
    def plug(self) -> None:
        """Be there (again). Raises ``EndpointError``; may be tried again."""

    @abstractmethod
    def unplug(self) -> None:
        """Be gone, as a device is whose plug was pulled."""

    @abstractmethod
    def close(self) -> None:
        """Be gone for good and leave nothing behind."""


class PtyEndpoint(Endpoint):
    """A pseudo-terminal, raw at both ends, with a link to it as udev makes them under ``/dev/serial/by-id``.

    A lock file beside the link (``LINK.lock``) keeps two shoes from one link and makes a link that a killed shoe
    left behind harmless. Raises ``EndpointError`` if the link is another shoe's or no link of a shoe.
    """

    def __init__(self, link: Path | None) -> None:
        self.link = link
        self._lock = -1
        self._master = -1
        self._slave_path: str | None = None
        if link is not None:
            self._lock = _lock_link(link)
        try:
            self.plug()
        except BaseException:
            self.close()
            raise

    @property
    def path(self) -> str | None:
        """See ``Endpoint.path``."""
        return self._slave_path

    @property
    def link_name(self) -> str | None:
        """See ``Endpoint.link_name``."""
        return None if self.link is None else str(self.link)

    @property
    def state(self) -> LineState:
        """See ``Endpoint.state``."""
        if self._master < 0:
            return "unplugged"
        poller = select.poll()
        poller.register(self._master, 0)
        # The kernel reports a hang-up on the master while no process has the slave open.
        return "unheard" if any(events & select.POLLHUP for _, events in poller.poll(0)) else "open"

    def write(self, data: bytes) -> None:
        """See ``Endpoint.write``."""
        end = time.monotonic() + WRITE_LIMIT_S
        poller = select.poll()
        sent = 0
        while sent < len(data) and self.state == "open":
            try:
                sent += os.write(self._master, data[sent:])
            except BlockingIOError:
                left_s = end - time.monotonic()
                if left_s <= 0:
                    raise LineStalled(
                        f"the host took {sent} of {len(data)} bytes in {WRITE_LIMIT_S} s: it has the line open and "
                        "does not read it"
                    ) from None
                poller.register(self._master, select.POLLOUT)
                poller.poll(left_s * 1000)
            except OSError:
                return  # the host closed in this moment

    def receive(self) -> bytes:
        """See ``Endpoint.receive``."""
        received = b""
        if self._master >= 0:
            with contextlib.suppress(OSError):
                while data := os.read(self._master, _READ_BYTES):
                    received += data
        return received

    def plug(self) -> None:
        """See ``Endpoint.plug``: a new pseudo-terminal, mostly of another number, under the same link."""
        master, slave = os.openpty()
        try:
            tty.setraw(master)
            tty.setraw(slave)
            os.set_blocking(master, False)
            path = os.ttyname(slave)
            if self.link is not None:
                _replace_link(self.link, path)
        except OSError as error:
            os.close(master)
            raise _no_link(self.link, error) from error
        except EndpointError:
            os.close(master)
            raise
        finally:
            os.close(slave)
        self._master, self._slave_path = master, path

    def unplug(self) -> None:
        """See ``Endpoint.unplug``."""
        if self.link is not None and self._slave_path is not None:
            with contextlib.suppress(OSError):
                if os.readlink(self.link) == self._slave_path:
                    self.link.unlink()
        if self._master >= 0:
            os.close(self._master)
        self._master, self._slave_path = -1, None

    def close(self) -> None:
        """See ``Endpoint.close``."""
        self.unplug()
        if self._lock >= 0 and self.link is not None:
            # Unlinked while still locked: who waits for this file finds out that it is no longer the file.
            with contextlib.suppress(OSError):
                _lock_path(self.link).unlink()
            os.close(self._lock)
            self._lock = -1


class PortEndpoint(Endpoint):
    """A real serial line, for a shoe that plays a device to another machine. Always heard, as far as it knows."""

    def __init__(self, port: SerialPort) -> None:
        self._port = port
        self.plug()

    @property
    def path(self) -> str | None:
        """See ``Endpoint.path``."""
        return self._port.port if self._port.is_open else None

    @property
    def state(self) -> LineState:
        """See ``Endpoint.state``."""
        return "open" if self._port.is_open else "unplugged"

    def write(self, data: bytes) -> None:
        """See ``Endpoint.write``; a line that is gone counts as unplugged."""
        if not self._port.is_open:
            return
        try:
            self._port.write(data)
        except DriverError as error:
            if isinstance(error, PortLost):
                self._port.close()
            raise LineStalled(str(error)) from error

    def receive(self) -> bytes:
        """See ``Endpoint.receive``."""
        received = b""
        with contextlib.suppress(DriverError):
            while self._port.is_open and (data := self._port.read(0.0)):
                received += data
        return received

    def plug(self) -> None:
        """See ``Endpoint.plug``."""
        try:
            self._port.open()
        except DriverError as error:
            raise EndpointError(str(error)) from error

    def unplug(self) -> None:
        """See ``Endpoint.unplug``."""
        self._port.close()

    def close(self) -> None:
        """See ``Endpoint.close``."""
        self._port.close()


def _no_link(link: Path | None, error: OSError) -> EndpointError:
    return EndpointError(f"no link {link} ({error.strerror}): its folder must exist and be writable")


def _lock_path(link: Path) -> Path:
    return link.with_name(link.name + ".lock")


def _lock_link(link: Path) -> int:
    """A descriptor that holds the lock of ``link``. Raises ``EndpointError``."""
    path = _lock_path(link)
    while True:
        try:
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise _no_link(link, error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(lock), os.stat(path)):
                return lock
        except BlockingIOError:
            os.close(lock)
            raise EndpointError(f"another shoe runs at {link}: stop it, or choose another --link") from None
        except FileNotFoundError:
            pass
        os.close(lock)


def _replace_link(link: Path, target: str) -> None:
    """Point ``link`` at ``target`` in one step. Raises ``EndpointError`` if something else than a link is there."""
    if link.is_symlink():
        if link.exists() and not os.readlink(link).startswith("/dev/pts/"):
            raise EndpointError(f"{link} leads to {os.readlink(link)}, which no simulated shoe made: choose another")
    elif link.exists():
        raise EndpointError(f"{link} exists and is not a link: choose another --link")
    fresh = link.with_name(f"{link.name}.{os.getpid()}.new")
    os.symlink(target, fresh)
    os.replace(fresh, link)
