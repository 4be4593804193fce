"""The one place that touches the serial library: a port that loses no byte it was given and raises our errors only.

What pyserial 3.5 and Linux do when a line fails is in hardware page 4; the exception set to survive is
``SerialException``, ``OSError``, ``termios.error`` (which is no ``OSError``), ``TypeError`` (closed under a
read) and ``ValueError``.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import stat
import termios
import threading
import time
from typing import Final, get_args

import serial

from drivers.errors import DriverError, PortBusy, PortLost, PortTimeout, PortUnavailable, SettingsError
from drivers.settings import LineSettings, Parity

WRITE_TIMEOUT_S: Final = 1.0
CHUNK_BYTES: Final = 4096

# A device server that vanished without a word looks like an idle shoe; the kernel asks after 10 s of silence and
# gives up after 3 unanswered probes, 5 s apart.
KEEP_ALIVE_IDLE_S: Final = 10
KEEP_ALIVE_INTERVAL_S: Final = 5
KEEP_ALIVE_PROBES: Final = 3
# The same patience with bytes of ours that nobody acknowledges: keep-alive does not run while some are under way.
SILENCE_S: Final = KEEP_ALIVE_IDLE_S + KEEP_ALIVE_INTERVAL_S * KEEP_ALIVE_PROBES

_SURVIVABLE: Final = (OSError, termios.error, TypeError, ValueError)
_BUSY: Final = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EBUSY)
_SOCKET: Final = "socket://"
_PSEUDO_TERMINALS: Final = "/dev/pts/"
_PARITIES: Final = get_args(Parity)


class SerialPort:
    """A serial device, or a serial device server at ``socket://host:port``. Opens and closes any number of times.

    One thread reads; ``write``, ``cancel`` and ``close`` may be called from any thread at any time. Opening drops
    what a device sent before (F5) and takes an advisory lock that keeps out other users of this class, not a
    program that ignores locks (F4). A pseudo-terminal shows neither parity errors nor a wrong baud rate.
    """

    def __init__(self, port: str, line: LineSettings, *, write_timeout_s: float = WRITE_TIMEOUT_S) -> None:
        """Raises ``SettingsError`` for a URL other than ``socket://``."""
        if "://" in port and not port.startswith(_SOCKET):
            raise SettingsError(f"port {port!r}: only device paths and {_SOCKET}host:port are supported")
        self.port = port
        self._line = line
        self._write_timeout_s = write_timeout_s
        # Order of taking: _reading, _writing, _life. _life guards the fields below it and is never held for long.
        self._life = threading.Lock()
        self._handle: serial.Serial | None = None
        self._wake: tuple[int, int] | None = None
        self._output_stuck = False
        self._reading = threading.Lock()
        self._writing = threading.Lock()

    @property
    def is_open(self) -> bool:
        """True from ``open`` to ``close``, also on a line that failed meanwhile."""
        return self._handle is not None

    def open(self) -> None:
        """Open and lock the port; does nothing if it is open.

        Raises ``PortUnavailable`` or ``PortBusy``. A device path answers at once; a device server that does not
        answer takes up to 5 s.
        """
        with self._reading:
            if self._handle is not None:
                return
            try:
                handle = _new_handle(self.port, self._line, self._write_timeout_s)
                handle.open()
                try:
                    wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
                except OSError:
                    handle.close()
                    raise
            except _SURVIVABLE as error:
                raise _open_error(self.port, error) from error
            _tune(handle)
            with self._life:
                self._output_stuck = False
                self._handle, self._wake = handle, wake

    def read(self, deadline: float) -> bytes:
        """What has arrived, up to 4096 bytes, waiting for the first byte until ``deadline`` (monotonic seconds).

        Empty at the deadline and after ``cancel``. Raises ``PortLost``, never while it holds bytes: one call does
        one read of the descriptor, which either gives bytes or fails (F2).
        """
        with self._reading:
            handle, wake = self._handle, self._wake
            if handle is None or wake is None:
                raise PortLost(f"{self.port} is not open")
            try:
                return _read(handle, wake[0], deadline)
            except _SURVIVABLE as error:
                raise PortLost(
                    f"{self.port} stopped answering ({error}): check cable and power, and that no other program "
                    "reads it"
                ) from error

    def write(self, data: bytes) -> None:
        """Hand ``data`` to the device.

        Raises ``PortTimeout`` if it does not take all of it within the write time-out (an unknown part is sent),
        ``PortLost`` if the line is gone. A device server that closed is noticed at the second write only (F17).
        """
        with self._writing:
            handle = self._handle
            if handle is None:
                raise PortLost(f"{self.port} is not open")
            try:
                sent = handle.write(data)
            except serial.SerialTimeoutException as error:
                self._output_stuck = True
                raise PortTimeout(
                    f"{self.port} did not take {len(data)} bytes in {self._write_timeout_s} s: check that the "
                    "device is on and its flow control off"
                ) from error
            except _SURVIVABLE as error:
                raise PortLost(f"{self.port} cannot be written ({error}): check cable and power") from error
            if sent != len(data):
                raise PortLost(f"{self.port} was closed during a write of {len(data)} bytes")

    def cancel(self) -> None:
        """Make the read that waits now, or else the next one that would wait, return empty at once."""
        with self._life:
            if self._wake is not None:
                # A full pipe holds a wake-up already.
                with contextlib.suppress(BlockingIOError):
                    os.write(self._wake[1], b"x")

    def close(self) -> None:
        """Close the port, also under a waiting read, which returns empty first. Never raises; may be repeated.

        A device server takes 0.3 s.
        """
        with self._life:
            handle, wake = self._handle, self._wake
            self._handle = self._wake = None
            if handle is None or wake is None:
                return
            with contextlib.suppress(BlockingIOError):
                os.write(wake[1], b"x")
            with contextlib.suppress(*_SURVIVABLE, AttributeError):  # sockets cannot cancel
                handle.cancel_write()
        # Nobody may be inside a call when the descriptors go: the numbers can be another file's a moment later.
        with self._reading, self._writing:
            with contextlib.suppress(*_SURVIVABLE):
                if self._output_stuck:
                    # Otherwise close waits for a device that takes nothing.
                    handle.reset_output_buffer()
            connection: socket.socket | None = getattr(handle, "_socket", None)
            with contextlib.suppress(*_SURVIVABLE):
                handle.close()
            if connection is not None:
                # pyserial forgets to close a connection that the peer reset before.
                connection.close()
            for descriptor in wake:
                os.close(descriptor)


def _new_handle(port: str, line: LineSettings, write_timeout_s: float) -> serial.Serial:
    if os.path.realpath(port).startswith(_PSEUDO_TERMINALS):
        # They have eight bits and no parity, and refuse to be asked for others.
        parity = "N" if line.parity in _PARITIES else line.parity
        line = LineSettings(baudrate=line.baudrate, parity=parity, stopbits=line.stopbits)
    handle: serial.Serial = serial.serial_for_url(
        port,
        do_not_open=True,
        baudrate=line.baudrate,
        bytesize=line.bytesize,
        parity=line.parity,
        stopbits=line.stopbits,
        timeout=0,
        write_timeout=write_timeout_s,
        exclusive=True,
    )
    # Set before open: raised modem lines reset some devices, and setting them later fails on ptys.
    handle.dtr = False
    handle.rts = False
    return handle


def _tune(handle: serial.Serial) -> None:
    """What makes a line better where the platform has it; its absence is no error."""
    low_latency = getattr(handle, "set_low_latency_mode", None)
    if low_latency is not None:
        # FTDI adapters hold bytes back for 16 ms otherwise.
        with contextlib.suppress(*_SURVIVABLE, NotImplementedError):
            low_latency(True)
        return
    with contextlib.suppress(*_SURVIVABLE), socket.socket(fileno=os.dup(handle.fileno())) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEP_ALIVE_IDLE_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, KEEP_ALIVE_INTERVAL_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, KEEP_ALIVE_PROBES)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENCE_S * 1000)


def _read(handle: serial.Serial, wake: int, deadline: float) -> bytes:
    poller = select.poll()
    descriptor = handle.fileno()
    poller.register(descriptor, select.POLLIN)
    poller.register(wake, select.POLLIN)
    while True:
        remaining = max(0.0, deadline - time.monotonic())
        ready = {number for number, _ in poller.poll(remaining * 1000)}
        if descriptor in ready:
            # pyserial's time-out is 0: a single read of the descriptor, at once. in_waiting is not asked: it
            # is 0 or 1 on sockets, and stays 1 on a closed one.
            data = handle.read(CHUNK_BYTES)
            if data:
                return data
        if wake in ready:
            os.read(wake, CHUNK_BYTES)
            return b""
        if time.monotonic() >= deadline:
            return b""


def _open_error(port: str, error: Exception) -> DriverError:
    number = error.errno if isinstance(error, OSError) else None
    if number in _BUSY:
        return PortBusy(f"{port} is used by another program: stop that one (`fuser {port}` names it)")
    if number == errno.ENOENT:
        return PortUnavailable(f"there is no {port}: plug the device in, or correct port (ls /dev/serial/by-id)")
    if number in (errno.EACCES, errno.EPERM):
        return PortUnavailable(f"no permission for {port}: add this user to the device's group, mostly dialout")
    if port.startswith(_SOCKET):
        return PortUnavailable(
            f"no connection to {port} ({error}): check address and power, and that no other client is connected"
        )
    with contextlib.suppress(OSError):
        if not stat.S_ISCHR(os.stat(port).st_mode):
            return PortUnavailable(f"{port} is a directory or file, not a serial device: correct port")
    return PortUnavailable(f"{port} cannot be opened as a serial line ({error}): check port and line settings")
