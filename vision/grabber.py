"""A thread that keeps a camera's newest frame with the time it came, and connects again when the camera goes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from vision.sources import Picture, Source, SourceEnded, SourceError

#: Pauses between attempts to connect: the first, and the longest they grow to (s).
RETRY_S: Final = (0.2, 2.0)


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture with the monotonic time (s) at which it had arrived, numbered from 1; numbers may be missed."""

    number: int
    time: float
    picture: Picture


@dataclass(frozen=True, slots=True)
class Loss:
    """The camera was lost, or (``reason`` empty) is back."""

    reason: str
    time: float


class Grabber:
    """Owns ``source`` in a thread of its own. ``on_change`` is called from that thread, once for each loss and each
    return."""

    def __init__(self, source: Source, on_change: Callable[[Loss], None] | None = None) -> None:
        self._source = source
        self._on_change = on_change
        self._changed = threading.Condition()
        self._frame: Frame | None = None
        self._number = 0
        self._reason = "no picture yet"
        self._lost = False
        self._ended = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="grabber", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """Stop; waits for a read in progress, which its own time limit ends."""
        self._stop.set()
        with self._changed:
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join()

    @property
    def ended(self) -> bool:
        """True if there will be no more frames: a video or folder has been shown whole."""
        return self._ended

    @property
    def reason(self) -> str:
        """Why there is no picture; empty while there is."""
        return self._reason

    @property
    def newest(self) -> float:
        """When the newest frame had arrived (monotonic, s); long ago if there is none."""
        frame = self._frame
        return frame.time if frame is not None else -1e9

    def next_frame(self, after: int, timeout_s: float) -> Frame | None:
        """The newest frame once its number is greater than ``after``; None if there is none in time."""
        with self._changed:
            self._changed.wait_for(lambda: self._number > after or self._ended or self._stop.is_set(), timeout_s)
            return self._frame if self._frame is not None and self._frame.number > after else None

    def _run(self) -> None:
        pause = RETRY_S[0]
        while not self._stop.is_set():
            try:
                self._source.open()
                while not self._stop.is_set():
                    self._keep(self._source.read())
                    pause = RETRY_S[0]
            except SourceEnded:
                with self._changed:
                    self._ended = True
                    self._changed.notify_all()
                return
            except SourceError as error:
                self._tell(str(error))
            finally:
                self._source.close()
            self._stop.wait(pause)
            pause = min(2 * pause, RETRY_S[1])

    def _keep(self, picture: Picture) -> None:
        now = time.monotonic()
        with self._changed:
            self._number += 1
            self._frame = Frame(self._number, now, picture)
            self._changed.notify_all()
        self._tell("")

    def _tell(self, reason: str) -> None:
        """Once for each loss and return, however often connecting fails in between."""
        self._reason = reason
        lost = bool(reason)
        if lost != self._lost:
            self._lost = lost
            if self._on_change is not None:
                self._on_change(Loss(reason, time.monotonic()))
