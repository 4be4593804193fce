"""What all shoe drivers share: one reader thread that owns the port, and its way back after a loss.

A driver of a protocol is a decoder and a few facts (``ShoeDriver``'s hooks); ``drivers.registry`` makes one from
settings. What goes to the device comes out of the decoder, too (``Decoder.outgoing``): the reader thread alone
writes the port, with its write time-out, so that an answer never overtakes the events before it. A method of a
driver that has something to send from another thread leaves it where the decoder finds it (behind a lock of their
own) and calls ``wake``.
"""

from __future__ import annotations

import logging
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Final, NamedTuple

from drivers.decoder import Decoded, Decoder, DecoderStats
from drivers.errors import DriverError
from drivers.events import Event, PortLost, PortRestored
from drivers.port import SerialPort
from drivers.reconnect import LinkState, Reconnect
from drivers.recording import Recorder
from drivers.self_test import check_settings
from drivers.settings import Capabilities, LineSettings, ShoeSettings

__all__ = ["Capabilities", "LineSettings", "Reading", "ShoeDriver", "ShoeSettings", "Sink"]

logger = logging.getLogger(__name__)

# Connecting to a device server that does not answer takes 5 s and cannot be interrupted.
STOP_TIMEOUT_S: Final = 10.0


class Reading(NamedTuple):
    """An event, when its bytes were read (monotonic nanoseconds), and the bytes of its message.

    ``raw`` is empty for ``PortLost`` and ``PortRestored``.
    """

    event: Event
    received_ns: int
    raw: bytes


Sink = Callable[[list[Reading]], None]


class ShoeDriver(ABC):
    """A shoe on a line. Made stopped; runs from ``start`` to ``stop``, once.

    A subclass names its protocol, default line and capabilities, and makes decoders. One decoder serves all
    reconnects: only so does a sequence that went on meanwhile show as a ``Gap``.
    """

    protocol: ClassVar[str]
    capabilities: ClassVar[Capabilities]
    default_line: ClassVar[LineSettings]

    def __init__(self, settings: ShoeSettings) -> None:
        """Raises ``SettingsError`` for settings the protocol cannot work with."""
        self.settings = settings
        self._tested = check_settings(settings)
        self._decoder = self.make_decoder()
        self._line = settings.line(self.default_line)
        self._port = SerialPort(settings.port, self._line)
        self._recorder: Recorder | None = None
        self._reconnect = Reconnect()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._sink: Sink = _no_sink
        self._fault: str | None = None
        self._untold: list[Reading] = []
        self._told_open = False
        self._turned_at: float | None = None

    @abstractmethod
    def make_decoder(self) -> Decoder:
        """A new decoder for ``self.settings``."""

    def unverified(self) -> str | None:
        """What of this driver was never checked against the device, in a sentence; None if nothing."""
        return None

    @property
    def state(self) -> LinkState:
        """Where the line stands."""
        return self._reconnect.state

    @property
    def fault(self) -> str | None:
        """Why the line is lost, by the latest attempt; None while it is open."""
        return self._fault

    @property
    def silent_s(self) -> float:
        """For how long the reader thread has not turned, in seconds; 0 before the start. It turns also while the
        line is lost, so many seconds mean that it hangs or is gone."""
        return 0.0 if self._turned_at is None else time.monotonic() - self._turned_at

    @property
    def stats(self) -> DecoderStats:
        """The decoder's counters; they run on while one looks."""
        return self._decoder.stats

    def start(self, sink: Sink) -> None:
        """Open the port and deliver readings to ``sink``, in order, until ``stop``.

        ``sink`` runs in the reader thread and must not block. If it raises, the readings of that call are gone:
        it then gets a ``PortLost`` that says so, again until it takes it. A port that cannot be opened is a
        ``PortLost``, too, once, and ``PortRestored`` when it could be. Raises ``RuntimeError`` if it was started
        before, ``SettingsError`` if its recording cannot be written.
        """
        if self._thread is not None:
            raise RuntimeError(f"the driver of {self.settings.port} was started before: make a new one")
        warning = self.unverified()
        if warning is not None:
            logger.warning("%s shoe: %s", self.protocol, warning)
        if self._tested is not None:
            logger.info("%s shoe: passed its self-test of %s", self.protocol, self._tested.at)
        if self.settings.record is not None:
            self._recorder = Recorder(self.settings.record, self.protocol, self.settings.port, self._line)
        self._sink = sink
        self._thread = threading.Thread(
            target=self._run, name=f"shoe {self.protocol} {self.settings.port}", daemon=False
        )
        self._thread.start()

    def stop(self) -> None:
        """Close the port and end the thread; may be repeated, and called from the sink (then it does not wait).

        Takes less than 0.5 s, except while a device server is being connected (5 s). A message that had not
        ended is still reported.
        """
        self._stop.set()
        self._port.cancel()
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return
        thread.join(STOP_TIMEOUT_S)
        if thread.is_alive():
            logger.error("reader of %s does not end: its sink blocks", self.settings.port)

    def allow(self, draw: bool) -> None:  # noqa: B027  (most shoes have no lock)
        """The procedure allows a card now (``draw``), or not. A state, not a change: may be repeated, and is told
        whenever it may have changed. Never blocks or raises. Does nothing on a shoe that has no lock."""

    def do(self, action: str, then: Callable[[bool, str], None]) -> None:  # noqa: ARG002  (most shoes do nothing)
        """Have the device do one of its ``capabilities.actions``. ``then`` learns once, in whatever thread, whether
        it did, and in words how it ended. Never blocks. Raises ``ValueError`` for an action it does not have."""
        raise ValueError(f"a {self.protocol} shoe does not {action}: it has {', '.join(self.capabilities.actions)}")

    def new_shoe(self, gone: frozenset[str] = frozenset()) -> None:  # noqa: B027  (most cards have no tags)
        """The cards of a shuffle are loaded: what left before may leave again, but for the tags ``gone`` (after a
        restart in the middle of a shoe). From any thread; never blocks."""

    def wake(self) -> None:
        """Let the reader thread ask the decoder for ``outgoing`` at once. From any thread; nothing if stopped."""
        self._port.cancel()

    def _run(self) -> None:
        try:
            self._keep_reading()
        finally:
            if self._recorder is not None:
                self._recorder.close()
            self._reconnect.stopped()

    def _keep_reading(self) -> None:
        while not self._stop.is_set():
            self._turned_at = time.monotonic()
            try:
                self._port.open()
                if self._recorder is not None:
                    self._recorder.opened(time.monotonic_ns())
                self._decoder.reopened()
                self._told_open = False
                self._read_until_stopped()
            except DriverError as error:
                self._lost(str(error))
            except Exception as error:  # noqa: BLE001  (this thread must outlive any fault of sink or decoder)
                _log_fault(f"reading {self.settings.port}", error)
                self._lost(f"fault in the program, not in the device: {type(error).__name__}; readings may be lost")
            finally:
                self._port.close()
            self._stop.wait(self._reconnect.delay())

    def _tell_open(self) -> None:
        """Tell once an opening that the line is back: at once, or when a device that is asked has answered."""
        if self._told_open or not self._decoder.alive:
            return
        self._told_open = True
        now_ns = time.monotonic_ns()
        self._reconnect.opened(now_ns / 1e9)
        self._fault = None
        logger.info("%s shoe: %s is open", self.protocol, self.settings.port)
        self._tell()
        self._sink([Reading(PortRestored(self.settings.port), now_ns, b"")])

    def _read_until_stopped(self) -> None:
        decoder = self._decoder
        self._tell_open()
        self._send(time.monotonic())
        while not self._stop.is_set():
            self._turned_at = time.monotonic()
            data = self._port.read(time.monotonic() + decoder.poll_s)
            now_ns = time.monotonic_ns()
            now = now_ns / 1e9
            if data and self._recorder is not None:
                self._recorder.received(now_ns, data)
            decoded = decoder.decode(data, now) if data else decoder.idle(now)
            self._tell_open()
            self._deliver(decoded, now_ns)
            self._send(now)
        now_ns = time.monotonic_ns()
        self._deliver(self._decoder.flush(now_ns / 1e9), now_ns)

    def _send(self, now: float) -> None:
        data = self._decoder.outgoing(now)
        if data:
            self._port.write(data)
            if self._recorder is not None:
                self._recorder.sent(time.monotonic_ns(), data)

    def _deliver(self, decoded: list[Decoded], received_ns: int) -> None:
        if decoded:
            self._sink([Reading(event, received_ns, raw) for event, raw in decoded])

    def _lost(self, reason: str) -> None:
        """Tell of a loss once, with what of a message had arrived before it. Never raises."""
        now_ns = time.monotonic_ns()
        self._fault = reason
        if self._reconnect.lost(now_ns / 1e9):
            if self._recorder is not None:
                self._recorder.lost(now_ns)
            logger.warning("%s shoe: %s", self.protocol, reason)
            try:
                rest = self._decoder.flush(now_ns / 1e9)
                self._untold += [Reading(event, now_ns, raw) for event, raw in rest]
            except Exception as error:  # noqa: BLE001  (the loss is told all the same)
                _log_fault("ending a message", error)
            self._untold.append(Reading(PortLost(reason), now_ns, b""))
        try:
            self._tell()
        except Exception as error:  # noqa: BLE001  (it stays untold until the sink takes it)
            _log_fault(f"delivering the loss of {self.settings.port}", error)

    def _tell(self) -> None:
        """Deliver what of a loss the sink has not taken yet."""
        if self._untold:
            self._sink(self._untold)
            self._untold = []


def _log_fault(doing: str, error: Exception) -> None:
    """Log where ``error`` came from but not its text, which could name a card that is still hidden."""
    trace = "".join(traceback.format_tb(error.__traceback__))
    logger.error("fault in the program while %s: %s\n%s", doing, type(error).__name__, trace)


def _no_sink(_readings: list[Reading]) -> None:
    """Before ``start`` nobody listens."""
