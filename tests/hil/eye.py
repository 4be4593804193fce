"""The camera of a rig: its pictures, read as the camera service reads them, and whose hands lay the cards."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from controller.service.camera import Eye
from controller.simulation.control import ControlError, SocketControl
from vision.grabber import Grabber, Loss
from vision.layout import Layout, LayoutError, load
from vision.profiles import ProfileError, load_profile
from vision.recognise import Recogniser
from vision.settings import CameraSettings
from vision.sources import open_source

if TYPE_CHECKING:
    from rig import Rig

Say = Callable[[str], None]


class CameraFault(Exception):
    """The rig, not the camera's reading, is in the way: no pictures, nobody who lays cards."""


class Hands(ABC):
    """Who lays cards and pulls plugs. Each call returns when it was asked for, not when it was done."""

    @abstractmethod
    def lay(self, cards: dict[str, str]) -> None:
        """Lay these cards face up, by position."""

    @abstractmethod
    def collect(self) -> None:
        """Take all cards away."""

    @abstractmethod
    def unplug(self) -> None:
        """Part camera and computer, and join them again after about two seconds."""


class HumanHands(Hands):
    """Says what to do."""

    def __init__(self, say: Say) -> None:
        self._say = say

    def lay(self, cards: dict[str, str]) -> None:
        """See ``Hands.lay``."""
        self._say("Lay face up: " + ", ".join(f"{card} at {position}" for position, card in cards.items()) + ".")

    def collect(self) -> None:
        """See ``Hands.collect``."""
        self._say("Take all cards off the table.")

    def unplug(self) -> None:
        """See ``Hands.unplug``."""
        self._say("Pull the camera's cable, wait two seconds, and put it back in.")


class SimulatedHands(Hands):
    """Tells the simulated camera."""

    def __init__(self, control: Path) -> None:
        self._control = SocketControl(control, name="simulated camera")

    def _ask(self, command: str) -> None:
        try:
            self._control.ask(command)
        except ControlError as error:
            raise CameraFault(str(error)) from error

    def lay(self, cards: dict[str, str]) -> None:
        """See ``Hands.lay``."""
        for position, card in cards.items():
            self._ask(f"place {card} {position}")

    def collect(self) -> None:
        """See ``Hands.collect``."""
        self._ask("collect")

    def unplug(self) -> None:
        """See ``Hands.unplug``."""
        self._ask("fault refuse 1")

    def close(self) -> None:
        """Hang up."""
        self._control.close()


class CameraBench:
    """A camera that is looked through. ``losses`` in the order they were told; an empty reason is a return."""

    def __init__(self, rig: Rig, settings: CameraSettings, hands: Hands) -> None:
        self.rig = rig
        self.hands = hands
        self.losses: list[Loss] = []
        #: When each picture had arrived (monotonic, s).
        self.arrived: list[float] = []
        try:
            self.layout: Layout = load(settings.layout)
            reader = Recogniser([load_profile(name) for name in settings.profiles], self.layout.geometry())
        except (LayoutError, ProfileError) as error:
            raise CameraFault(str(error)) from error
        self.eye = Eye(settings, self.layout, reader, time.monotonic())
        self.grabber = Grabber(open_source(settings), self.losses.append)
        self._number = 0

    def look(self, done: Callable[[], bool], what: str) -> None:
        """Look until ``done``. Raises ``CameraFault`` naming what did not happen within the plan's patience."""
        patience = 25.0 if self.rig.simulate else self.rig.plan.patience_s
        end = time.monotonic() + patience
        while not done():
            now = time.monotonic()
            if now > end:
                health = self.eye.health(now, self.grabber.reason, self.grabber.newest)
                raise CameraFault(f"not within {patience:g} s: {what}; the camera is {health['reason'] or 'good'}")
            frame = self.grabber.next_frame(self._number, 0.1)
            if frame is not None:
                self._number = frame.number
                self.arrived.append(frame.time)
                self.eye.see(frame, time.monotonic())

    def named(self) -> dict[str, str]:
        """The cards that lie, by position; ``??`` for one that cannot be read, ``**`` for a back."""
        return {seen.position: seen.card for seen in self.eye.table if seen.card is not None}


@contextlib.contextmanager
def camera_bench(rig: Rig, folder: Path, say: Say) -> Iterator[CameraBench]:
    """The rig's camera, connected, and let go again. Raises ``CameraFault``."""
    assert rig.camera is not None
    with contextlib.ExitStack() as stack:
        settings, hands = rig.camera, HumanHands(say)
        if rig.simulate is not None:
            settings, hands = _simulated(rig.camera, folder, stack)
        made = CameraBench(rig, settings, hands)
        made.grabber.start()
        stack.callback(made.grabber.close)
        made.look(lambda: len(made.arrived) > 0, f"a picture of {settings.public().source}")
        yield made


def _simulated(
    camera: CameraSettings, folder: Path, stack: contextlib.ExitStack
) -> tuple[CameraSettings, SimulatedHands]:
    scene = camera.layout.removeprefix("studio-")
    control = folder / "camera.control"
    words = [sys.executable, "-m", "controller.cli", "camera", "--simulate", scene, "--control", str(control)]
    words += ["--seed", "7", "--speed", "0", "--fps", "10"]
    process = stack.enter_context(
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    )
    stack.callback(process.terminate)
    assert process.stdout is not None
    url = process.stdout.readline().partition("url=")[2].split(" ")[0]
    if not url:
        raise CameraFault(f"the simulated camera does not start: {' '.join(words[3:])}")
    hands = SimulatedHands(control)
    stack.callback(hands.close)
    return msgspec.structs.replace(camera, source=url), hands
