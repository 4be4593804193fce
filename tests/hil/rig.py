"""A rig: which device, on which port, and whose hands move the cards. Read from one TOML file."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from drivers.events import CardDrawn, CardReused, Event, Gap, NoRead, PortRestored, UnknownCode
from drivers.registry import open_shoe
from drivers.settings import ShoeSettings
from drivers.shoe import Reading, ShoeDriver
from vision.settings import CameraSettings

if TYPE_CHECKING:
    from eye import CameraBench

Say = Callable[[str], None]


class RigFault(Exception):
    """The rig, not the device, is in the way: no port, nobody who draws. Everything after it would fail for it."""


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much is done, and what is good enough. ``order`` is a file of the cards in the order they will leave;
    ``lock``: send the shoe its lock commands, too (Angel Eye)."""

    cards: int = 20
    order: str | None = None
    patience_s: float = 120.0
    told_ms: float = 50.0
    misreads: int = 0
    restored_s: float = 5.0
    can_unplug: bool = True
    lock: bool = False


class Simulate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Instead of a device: a simulated one, with these options of ``dealerd shoe``. With ``port`` it speaks on that
    serial port, and the shoe's own port is the other end of the cable: two adapters back to back."""

    options: tuple[str, ...] = ()
    port: str | None = None


class Rig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rig file. ``camera`` is the table file's ``[camera]``, paths relative to the rig file."""

    name: str
    shoe: ShoeSettings
    plan: Plan = Plan()
    camera: CameraSettings | None = None
    simulate: Simulate | None = None
    notes: str = ""


def load(path: Path) -> Rig:
    """The rig in ``path``. Raises ``RigFault`` naming file and key."""
    try:
        rig = msgspec.toml.decode(path.read_bytes(), type=Rig)
    except (OSError, ValueError) as error:
        raise RigFault(f"{path}: {error}") from error
    if rig.camera is None:
        return rig
    if problems := rig.camera.problems():
        raise RigFault(f"{path}: [camera]: {'; '.join(problems)}")
    return msgspec.structs.replace(rig, camera=rig.camera.beside(path.parent))


class Hands(ABC):
    """Who moves cards and plugs. Each call returns when it was asked for, not when it was done."""

    @abstractmethod
    def draw(self, count: int) -> list[str] | None:
        """Draw cards, one after the other; their faces, if they are known beforehand."""

    @abstractmethod
    def unplug(self) -> None:
        """Pull the line and put it back after about two seconds."""


class HumanHands(Hands):
    """Says what to do and waits for what is heard."""

    def __init__(self, rig: Rig, say: Say) -> None:
        self._say = say
        self._order = _order(rig.plan.order)

    def draw(self, count: int) -> list[str] | None:
        """See ``Hands.draw``."""
        self._say(f"Draw {count} cards now, one after the other, about one a second.")
        if self._order is None:
            return None
        faces, self._order = self._order[:count], self._order[count:]
        return faces

    def unplug(self) -> None:
        """See ``Hands.unplug``."""
        self._say("Pull the plug of the data cable, wait two seconds, and put it back in.")


class SimulatedHands(Hands):
    """Tells the simulated shoe. Card by card: the next one when the one before was heard."""

    def __init__(self, control: Path, log: Path, heard: Callable[[], int]) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(20)
        self._socket.connect(str(control))
        self._lines = self._socket.makefile("rb")
        self._log = log
        self._heard = heard

    def ask(self, command: str) -> dict[str, object]:
        """The answer to a command."""
        self._socket.sendall(command.encode() + b"\n")
        answer = json.loads(self._lines.readline())
        assert isinstance(answer, dict)
        return answer

    def draw(self, count: int) -> list[str]:
        """See ``Hands.draw``: the truth is the shoe's own log."""
        before = len(self._cards())
        for _ in range(count):
            heard, end = self._heard(), time.monotonic() + 10
            answer = self.ask("draw")
            if not answer["ok"]:
                raise RigFault(f"the simulated shoe does not draw: {answer['error']}")
            while self._heard() == heard and time.monotonic() < end:
                time.sleep(0.002)
        return self._cards()[before:]

    def _cards(self) -> list[str]:
        items = [json.loads(line) for line in self._log.read_text().splitlines()]
        return [item["card"] for item in items if item["item"] == "card"]

    def unplug(self) -> None:
        """See ``Hands.unplug``."""
        self.ask("unplug 0.5")

    def close(self) -> None:
        """Hang up."""
        self._lines.close()
        self._socket.close()


class Bench:
    """A rig that is set up: the driver runs, everything it tells is kept with the time it was told at."""

    def __init__(self, rig: Rig, settings: ShoeSettings, say: Say) -> None:
        self.rig = rig
        self.settings = settings
        self.say = say
        self.hands: Hands
        self.told: list[tuple[Reading, int]] = []
        self.driver: ShoeDriver = open_shoe(settings)

    def sink(self, readings: list[Reading]) -> None:
        """Where the driver delivers."""
        now = time.monotonic_ns()
        self.told += [(reading, now) for reading in readings]

    @property
    def events(self) -> list[Event]:
        """What was told so far."""
        return [reading.event for reading, _ in self.told]

    def cards(self) -> int:
        """Items that left, whether or not they could be read."""
        return sum(isinstance(event, CardDrawn | CardReused | NoRead | UnknownCode) for event in self.events)

    def wait(self, done: Callable[[], bool], what: str) -> None:
        """Until ``done``. Raises ``RigFault`` naming what did not happen within the plan's patience."""
        patience = 20.0 if self.rig.simulate else self.rig.plan.patience_s
        end = time.monotonic() + patience
        while not done():
            if time.monotonic() > end:
                raise RigFault(f"not within {patience:g} s: {what}; the line is {self.driver.fault or 'open'}")
            time.sleep(0.005)

    def count(self, kind: type[Event]) -> int:
        """How many events of ``kind`` were told."""
        return sum(isinstance(event, kind) for event in self.events)

    def start(self) -> None:
        """Open the line. Raises ``RigFault`` if it does not open."""
        self.driver.start(self.sink)
        self.wait(lambda: self.count(PortRestored) > 0, f"{self.settings.port} to open")


class Findings:
    """What a session measured on one rig; the report is made of it."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.latencies_ms: list[float] = []
        self.intervals_ms: list[float] = []
        self.restored_s: list[float] = []
        self.cards = 0
        self.misread: list[str] = []
        self.unread = 0
        self.gaps = 0
        self.bad_checksum = 0
        self.junk_bytes = 0
        self.frame_ms: list[float] = []
        self.miscalled: list[str] = []
        self.camera_back_s: list[float] = []
        self.results: list[tuple[str, str, str]] = []  # test, outcome, reason
        self.fault: str | None = None

    def take(self, bench: Bench, truth: list[str] | None) -> None:
        """Count what ``bench`` heard; ``truth`` are the faces that left, if known."""
        drawn = [(r, at) for r, at in bench.told if isinstance(r.event, CardDrawn | CardReused)]
        self.latencies_ms += [(at - reading.received_ns) / 1e6 for reading, at in bench.told if reading.raw]
        times = [reading.received_ns for reading, _ in drawn]
        self.intervals_ms += [(after - before) / 1e6 for before, after in pairwise(times)]
        self.cards += len(drawn)
        self.unread += bench.count(NoRead) + bench.count(UnknownCode)
        self.gaps += bench.count(Gap)
        stats = bench.driver.stats
        self.bad_checksum += stats.bad_checksum
        self.junk_bytes += stats.junk_bytes
        if truth is not None:
            self.misread += misread([reading.event for reading, _ in drawn], truth)

    def watch(self, camera: CameraBench) -> None:
        """Take the times from picture to picture."""
        self.frame_ms += [(after - before) * 1000 for before, after in pairwise(camera.arrived)]


def misread(events: list[Event], truth: list[str]) -> list[str]:
    """Cards told with another face than they have, in words; a hidden one is no misreading."""
    faces = [event.card for event in events if isinstance(event, CardDrawn | CardReused)]
    return [
        f"{n}: {told} for {true}"
        for n, (told, true) in enumerate(zip(faces, truth, strict=False), 1)
        if told not in (true, "**")
    ]


@contextlib.contextmanager
def bench(rig: Rig, folder: Path, say: Say) -> Iterator[Bench]:
    """A rig set up in ``folder``, started, and taken down again. Raises ``RigFault``."""
    with contextlib.ExitStack() as stack:
        if rig.simulate is None:
            made = Bench(rig, rig.shoe, say)
            made.hands = HumanHands(rig, say)
        else:
            made = _simulated(rig, rig.simulate, folder, say, stack)
        stack.callback(made.driver.stop)
        made.start()
        if isinstance(made.hands, SimulatedHands):
            hands = made.hands
            made.wait(lambda: hands.ask("status")["line"] == "open", "the simulated line to be open")
            time.sleep(0.05)  # whoever opens a line flushes it
        yield made


def _simulated(rig: Rig, simulate: Simulate, folder: Path, say: Say, stack: contextlib.ExitStack) -> Bench:
    places = {name: str(folder / name) for name in ("link", "control", "log", "tags.toml")}
    options = [option.replace("{folder}", str(folder)) for option in simulate.options]
    words = [sys.executable, "-c", "from controller.cli.shoe import main; main()", "--protocol", rig.shoe.protocol]
    words += ["--link", places["link"]] if simulate.port is None else ["--port", simulate.port]
    words += ["--control", places["control"], "--log", places["log"], "--seed", "7"]
    words += ["--speed", "0", *options]
    process = stack.enter_context(
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    )
    stack.callback(process.terminate)
    assert process.stdout is not None
    if not process.stdout.readline():
        raise RigFault(f"the simulated shoe does not start: {' '.join(words[3:])}")
    text = msgspec.json.encode(rig.shoe).decode().replace("{folder}", str(folder))
    settings = msgspec.json.decode(text, type=ShoeSettings)
    if simulate.port is None:
        settings = msgspec.structs.replace(settings, port=places["link"])
    made = Bench(rig, settings, say)
    made.hands = SimulatedHands(Path(places["control"]), Path(places["log"]), made.cards)
    stack.callback(made.hands.close)
    return made


def _order(path: str | None) -> list[str] | None:
    if path is None:
        return None
    try:
        return [word for word in Path(path).read_text().split() if word != "CUT"]
    except OSError as error:
        raise RigFault(f"the order of the cards, {path}, cannot be read: {error.strerror}") from error
