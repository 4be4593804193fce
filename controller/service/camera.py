"""The camera service of one table: frames in, sightings and health to the table, annotated pictures to whoever looks.

The frames come from a grabber thread, the table is told from another, viewers have theirs; this thread sees.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Final

import cv2
import numpy as np

from controller.bus.keys import load_secret
from controller.config import ConfigError, Loaded
from controller.contact import Contact, secret_of
from controller.service.camera_link import TableLink
from controller.service.notify import Notifier
from vision.annotate import annotate
from vision.grabber import Frame, Grabber, Loss
from vision.health import Health, HealthCheck
from vision.layout import Layout, load
from vision.mjpeg import shown
from vision.picture_server import PictureServer
from vision.settings import CameraSettings
from vision.sources import SourceError, open_source
from vision.tracking import Sighting
from vision.watch import Image, Recogniser, Watcher

log = logging.getLogger("dealerd.camera")

#: Seconds between two looks at sharpness, light and place, and between two reports to the table.
LOOK_S: Final = 1.5
REPORT_S: Final = 1.0
#: A live camera's noise never repeats a picture exactly so often in a row, for so long (s).
FROZEN_FRAMES: Final = 8
FROZEN_S: Final = 1.0
#: Annotated pictures: at most this many a second, this wide; one in so many seconds while nobody looks.
PICTURES_FPS: Final = 10.0
PICTURE_WIDTH: Final = 1280
IDLE_PICTURE_S: Final = 1.0
#: JPEG quality of a picture that a deck is learnt from.
PLAIN_QUALITY: Final = 95
_WAIT_S: Final = 0.1
_LIVE: Final = ("http", "rtsp", "device")


class Eye:
    """Turns frames into sightings and health. Not for several threads; ``table`` may be read by any: what is known of
    the positions, cards in order of appearance, then those that are empty. Neither: nobody can say yet."""

    def __init__(self, settings: CameraSettings, layout: Layout, recogniser: Recogniser, now: float) -> None:
        self.settings = settings
        self.watcher = Watcher(recogniser, layout)
        self.table: tuple[Sighting, ...] = ()
        self._check = HealthCheck(layout)
        self._health = Health(True, "", 1.0, 1.0, 0.0)
        self._looked = -1e9
        self._frames: deque[float] = deque(maxlen=50)
        self._last_seen = now
        self._print: tuple[bytes, float, int] = (b"", now, 0)
        self._trouble = "no picture yet"
        self.image: Image | None = None

    def see(self, frame: Frame, now: float) -> list[Sighting]:
        """One frame; what changed on the table. A picture that cannot be trusted changes nothing."""
        if now - frame.time > self.settings.max_age_s:
            self._trouble = f"pictures come {now - frame.time:.1f} s late: the machine is too slow"
            return []
        try:
            image = self.watcher.straighten(frame.picture.image())
        except (SourceError, ValueError) as error:
            self._trouble = str(error)
            return []
        self._last_seen = now
        self._frames.append(frame.time)
        self.image = image
        self._trouble = self._frozen(image, frame.time)
        due = now - self._looked >= LOOK_S
        if due:
            self._looked = now
            self._health = self._check.look(image)
        if not self._health.ok or self._trouble:
            return []
        sightings = self.watcher.frame(image, frame.time)
        if sightings or due:
            empty = self.watcher.empty(image)
            self.table = (
                *self.watcher.tracker.lying(),
                *(Sighting(position, None, frame.time, 0) for position in empty),
            )
        return sightings

    def health(self, now: float, reason: str = "", newest: float = -1e9) -> dict[str, Any]:
        """The arguments of ``camera_health``; ``reason`` is the grabber's, for pictures that do not come, ``newest``
        the time of its newest frame: one that waits to be looked at is no silence of the camera."""
        age = now - max(self._last_seen, newest)
        trouble = self._trouble or self._health.reason
        if age > self.settings.max_age_s:
            trouble = self._trouble or reason or f"no picture for {age:.1f} s"
        return {
            "ok": not trouble,
            "reason": trouble,
            "fps": round(self.fps(now), 1),
            "frame_age_ms": round(age * 1000),
            "sharpness": round(self._health.sharpness, 2),
        }

    def fps(self, now: float) -> float:
        """Frames seen a second, over the last two seconds."""
        recent = [moment for moment in self._frames if now - moment < 2.0]
        return (len(recent) - 1) / (recent[-1] - recent[0]) if len(recent) > 1 and recent[-1] > recent[0] else 0.0

    def _frozen(self, image: Image, moment: float) -> str:
        if self.settings.kind not in _LIVE:
            return ""
        thumb = np.ascontiguousarray(image[::12, ::12]).tobytes()
        last, since, times = self._print
        self._print = (last, since, times + 1) if thumb == last else (thumb, moment, 1)
        still = moment - self._print[1]
        frozen = still > FROZEN_S and self._print[2] >= FROZEN_FRAMES
        return f"the same picture for {still:.1f} s: the camera hangs" if frozen else ""


class CameraService:
    """Wires grabber, eye, table and picture server; ``run`` until ``stop``."""

    def __init__(
        self,
        grabber: Grabber,
        eye: Eye,
        link: TableLink,
        pictures: PictureServer | None,
        notifier: Notifier,
        ready: Path | None = None,
    ) -> None:
        self._grabber = grabber
        self._eye = eye
        self._link = link
        self._pictures = pictures
        self._notifier = notifier
        self._ready = ready
        self._stopping = False
        self._told: tuple[bool, str] | None = None
        self._reported = -1e9
        self._drawn = -1e9

    def stop(self) -> None:
        """End ``run`` soon; may be called by a signal handler."""
        self._stopping = True

    def run(self) -> None:
        """Until ``stop``, or the end of a video or folder."""
        number = 0
        while not self._stopping:
            frame = self._grabber.next_frame(number, _WAIT_S)
            now = time.monotonic()
            if frame is not None:
                number = frame.number
                for sighting in self._saw(self._eye.see(frame, now)):
                    log.info("%s: %s%s", sighting.position, _words(sighting), _reason(sighting))
            elif self._grabber.ended:
                log.info("no more pictures")
                return
            self._report(time.monotonic())
            self._draw(time.monotonic())

    def _saw(self, sightings: list[Sighting]) -> list[Sighting]:
        self._link.seen(sightings)
        return sightings

    def _report(self, now: float) -> None:
        """Health to the table: every second, and at once when it changes."""
        health = self._eye.health(now, self._grabber.reason, self._grabber.newest)
        state = (bool(health["ok"]), str(health["reason"]))
        if self._told is None or state[0] != self._told[0]:
            log.log(logging.INFO if state[0] else logging.WARNING, "camera: %s", state[1] or "good")
        elif now - self._reported < REPORT_S:
            return
        self._told, self._reported = state, now
        self._notifier.status(state[1] or f"{health['fps']:.0f} frames a second")
        self._notifier.watchdog()  # earned: this thread has come round
        self._link.health(health)
        if self._ready is not None and state[0] and self._link.answers.is_set():
            self._ready.touch()
            self._ready = None

    def _draw(self, now: float) -> None:
        eye, pictures = self._eye, self._pictures
        if pictures is None or eye.image is None:
            return
        if now - self._drawn < (1 / PICTURES_FPS if pictures.watched else IDLE_PICTURE_S):
            return
        self._drawn = now
        alarm = self._told[1] if self._told is not None and not self._told[0] else ""
        scale = min(1.0, PICTURE_WIDTH / eye.image.shape[1])
        note = f"{eye.fps(now):.0f} frames/s"
        drawn = annotate(eye.image, eye.watcher.tracker, alarm=alarm, note=note, scale=scale)
        plain = _jpeg(eye.image, PLAIN_QUALITY) if pictures.wants_plain else None
        pictures.publish(_jpeg(drawn, 80), plain)


def _jpeg(image: Image, quality: int) -> bytes:
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()


def serve(loaded: Loaded, recogniser: Callable[[Layout], Recogniser], *, ready: Path | None = None) -> None:
    """Run the camera of a table file until SIGTERM or SIGINT. ``recogniser`` makes the reader for a layout.

    Raises ``ConfigError``, ``LayoutError``, ``ServerError`` and ``KeysError`` for what keeps it from starting.
    """
    settings = loaded.camera
    if settings is None:
        raise ConfigError(f"{loaded.path}: no [camera]: source and layout are needed")
    layout = load(settings.layout)
    reader = recogniser(layout)
    contact = Contact.of(loaded, secret_of(loaded.keys, "camera", settings.person))
    load_secret(contact.key_file)  # a missing key is told here, not by a thread
    cv2.setNumThreads(1)
    with contextlib.ExitStack() as stack:
        eye = Eye(settings, layout, reader, time.monotonic())
        address = settings.address()
        pictures = PictureServer(*address) if address is not None else None
        if pictures is not None:
            stack.callback(pictures.close)
            log.info("annotated pictures at %s", pictures.url)
        link = TableLink(contact.client, lambda: eye.table)
        link.start()
        stack.callback(link.close)
        grabber = Grabber(open_source(settings), _log_change(settings))
        grabber.start()
        stack.callback(grabber.close)
        notifier = stack.enter_context(Notifier.of_environment())
        service = CameraService(grabber, eye, link, pictures, notifier, ready)
        stack.enter_context(_signals(service))
        log.info("camera %s, layout %s, %d positions", shown(settings.source), layout.name, len(layout.positions))
        # Ready without a picture, too: a camera that comes late is waited for, the table holds meanwhile.
        notifier.ready()
        service.run()
        notifier.stopping()


def _log_change(settings: CameraSettings) -> Callable[[Loss], None]:
    def told(loss: Loss) -> None:
        if loss.reason:
            log.warning("camera lost: %s", loss.reason)
        else:
            log.info("camera back: %s", shown(settings.source))

    return told


@contextlib.contextmanager
def _signals(service: CameraService) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the form of a handler
        service.stop()

    numbers: Sequence[signal.Signals] = (signal.SIGTERM, signal.SIGINT)
    old = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _words(sighting: Sighting) -> str:
    return {None: "taken away", "**": "face down", "??": "unknown"}.get(sighting.card, str(sighting.card))


def _reason(sighting: Sighting) -> str:
    return f" ({sighting.reason})" if sighting.reason else ""
