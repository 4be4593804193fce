"""The simulated camera as a process: one loop over control socket, clock and signals; viewers have their threads.

What hands do takes turns: a card lies before the next one is picked up, whoever asked for it, and the answer comes
when the hand is gone. Questions and faults are answered at once.
"""

from __future__ import annotations

import os
import selectors
import signal
import stat
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any, Final

import cv2

from drivers.simulated.control import Client, ControlServer
from vision.picture_server import PictureServer
from vision.simulated.faults import Fault, parse
from vision.simulated.felt import Felt, Refused
from vision.simulated.render import Conditions, Renderer

COMMANDS: Final = {
    "place CARD POSITION [down]": "lay a card, face down with `down`",
    "turn POSITION": "turn a card over",
    "move POSITION POSITION": "slide a card to another place",
    "remove POSITION": "take one card away",
    "collect": "clear the felt",
    "hand POSITION [SECONDS]": "hold a hand over a place (1)",
    "felt": "what lies where",
    "fault NAME [ARGUMENT]": "let a fault befall camera, light or line",
    "clear": "end every fault",
    "markers on|off": "lay calibration markers on the felt",
    "status": "scene, address, viewers, faults",
    "quit": "stop the camera",
}
JPEG_QUALITY: Final = 88
#: Without viewers the picture is kept fresh at this rate only.
IDLE_FPS: Final = 2.0
STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class CameraServer(PictureServer):
    """A network camera that can fail: silent until a time, refusing until a time."""

    silent_until = 0.0
    refuses_until = 0.0

    @property
    def refuses(self) -> bool:
        """See ``PictureServer.refuses``."""
        return time.monotonic() < self.refuses_until

    def next_picture(self, after: int, timeout_s: float) -> tuple[int, bytes] | None:
        """See ``PictureServer.next_picture``."""
        if time.monotonic() < self.silent_until:
            time.sleep(min(0.05, timeout_s))
            return None
        return super().next_picture(after, timeout_s)

    def plain_picture(self, timeout_s: float) -> bytes | None:
        """See ``PictureServer.plain_picture``: none of its pictures has marks."""
        found = self.next_picture(self.number, timeout_s)
        return found[1] if found is not None else None


class CameraProcess:
    """Runs one simulated camera until it is told to stop. Closes nothing it was given."""

    def __init__(self, felt: Felt, renderer: Renderer, server: CameraServer, fps: float) -> None:
        self._felt = felt
        self._renderer = renderer
        self._server = server
        self._fps = fps
        self._faults: dict[str, tuple[Fault, float]] = {}
        self._markers = False
        self._stopping = False
        self._selector = selectors.DefaultSelector()
        self._control: ControlServer | None = None
        self._jobs: deque[tuple[Client, list[str]]] = deque()
        self._at_work: tuple[Client, float] | None = None
        self._frozen: bytes | None = None
        self._frames = 0

    def listen(self, path: Path) -> None:
        """Open the control socket. Raises ``ControlError``."""
        self._control = ControlServer(path, self._selector)

    def run(self, ready: Callable[[], None]) -> None:
        """Say ``ready`` and work until ``quit``, a signal, or the end of a standard input that is a pipe."""
        wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        old_wake = signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        old = {number: signal.signal(number, self._on_signal) for number in STOP_SIGNALS}
        try:
            self._selector.register(wake_read, selectors.EVENT_READ, lambda _: os.read(wake_read, 64))
            self._watch_stdin()
            self._picture(time.monotonic())
            ready()
            due = time.monotonic()
            while not self._stopping:
                self._work(due)
                now = time.monotonic()
                if now >= due:
                    self._picture(now)
                    rate = self._fps if self._server.watched else IDLE_FPS
                    due = max(due + 1 / rate, now)
                if self._server.watched:
                    due = min(due, now + 1 / self._fps)
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(old_wake)
            if self._control is not None:
                self._control.close()
            self._selector.close()
            os.close(wake_read)
            os.close(wake_write)

    def _work(self, due: float) -> None:
        """Hands and commands, until the next picture is due at the latest."""
        until = due if self._at_work is None else min(due, self._at_work[1])
        for key, events in self._selector.select(max(0.0, until - time.monotonic())):
            key.data(events)
        self._advance()
        if self._control is not None:
            for client, line in self._control.ready():
                self._command(client, line.split())
            self._advance()

    def _advance(self) -> None:
        """Begin what hands are asked for, one after another; answer what is done."""
        assert self._control is not None or not self._jobs
        while self._control is not None:
            now = time.monotonic()
            if self._at_work is not None:
                if now < self._at_work[1]:
                    return
                client, self._at_work = self._at_work[0], None
                self._control.answer(client, {"ok": True})
            if not self._jobs:
                return
            client, words = self._jobs.popleft()
            try:
                self._at_work = (client, self._begin(words, now))
            except Refused as refusal:
                self._control.answer(client, {"ok": False, "error": str(refusal)})

    def _begin(self, words: list[str], now: float) -> float:
        """Start what ``words`` ask for; when it is done. Raises ``Refused``."""
        felt = self._felt
        felt.lying(now)
        match words:
            case ["place", card, position]:
                return felt.place(card, position, now)
            case ["place", card, position, "down"]:
                return felt.place(card, position, now, face_up=False)
            case ["turn", position]:
                return felt.turn(position, now)
            case ["move", source, target]:
                return felt.move(source, target, now)
            case ["remove", position]:
                return felt.remove(position, now)
            case ["collect"]:
                return felt.collect(now)
            case ["hand", position]:
                return felt.wave(position, now, 1.0)
            case ["hand", position, seconds]:
                return felt.wave(position, now, _seconds(seconds))
        form = next((form for form in COMMANDS if form.split()[0] == words[0]), "")
        raise Refused(f"write it as: {form}" if form else f"unknown command {words[0][:60]!r}: {', '.join(COMMANDS)}")

    def _command(self, client: Client, words: list[str]) -> None:
        assert self._control is not None
        try:
            answer = self._settle(words)
        except ValueError as error:
            answer = {"ok": False, "error": str(error)}
        if answer is None:
            self._jobs.append((client, words))
        else:
            self._control.answer(client, answer)

    def _settle(self, words: list[str]) -> dict[str, object] | None:
        """The answer to a question or setting; None if ``words`` are neither. Raises ``ValueError``."""
        match words:
            case ["felt"]:
                lying = self._felt.lying(time.monotonic())
                return {"ok": True, "cards": {card.position: card.shown for card in lying}}
            case ["status"]:
                return self._status()
            case ["fault", *rest]:
                return self._fault(parse(rest, self._felt.scene))
            case ["clear"]:
                self._faults.clear()
                self._server.silent_until = self._server.refuses_until = 0.0
                return {"ok": True}
            case ["markers", ("on" | "off") as wish]:
                self._markers = wish == "on"
                return {"ok": True, "markers": self._markers}
            case ["quit"]:
                self._stopping = True
                return {"ok": True}
        return None

    def _fault(self, fault: Fault) -> dict[str, object]:
        now = time.monotonic()
        match fault.name:
            case "stall":
                self._server.silent_until = now + fault.seconds
            case "refuse":
                self._server.refuses_until = now + fault.seconds
                self._server.hang_up()
            case "drop":
                self._server.hang_up()
            case _:
                self._frozen = None
                self._faults[fault.name] = (fault, now + fault.seconds)
        return {"ok": True, "fault": fault.name}

    def _status(self) -> dict[str, object]:
        return {
            "ok": True,
            "scene": self._felt.scene.name,
            "url": self._server.url,
            "watched": self._server.watched,
            "frames": self._frames,
            "faults": sorted(self._faults),
            "conditions": asdict(self._conditions()),
        }

    def _conditions(self) -> Conditions:
        wanted: dict[str, Any] = {"markers": self._markers}
        for fault, _ in self._faults.values():
            wanted |= fault.conditions
        return Conditions(**wanted)

    def _picture(self, now: float) -> None:
        """Draw and publish."""
        self._faults = {name: (fault, until) for name, (fault, until) in self._faults.items() if now < until}
        felt = self._felt
        lying = felt.lying(now)
        image = self._renderer.frame(lying, felt.hands(now), self._conditions(), felt.version)
        _, encoded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
        jpeg = encoded.tobytes()
        if "freeze" in self._faults:
            self._frozen = jpeg = self._frozen or jpeg
        if "corrupt" in self._faults:
            jpeg = jpeg[: len(jpeg) // 2]
        self._frames += 1
        self._server.publish(jpeg)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True

    def _watch_stdin(self) -> None:
        """A parent that gave us a pipe and died ends us. A terminal is no such sign, nor is ``/dev/null``."""
        try:
            mode = os.fstat(0).st_mode
        except OSError:
            return
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            self._selector.register(0, selectors.EVENT_READ, self._read_stdin)

    def _read_stdin(self, _events: int) -> None:
        if not os.read(0, 4096):
            self._stopping = True


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise Refused(f"{text!r} is not a number of seconds") from None
    if not 0 < value <= 3600:
        raise Refused(f"{text} seconds: more than 0, at most 3600")
    return value
