"""A whole simulated table as processes: shoe, table service, game server, dealer, supervisor; camera, if wanted.

The table service is the one that systemd would start; it cannot tell that the others are simulated.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from controller.bus import keys
from controller.bus.client import TableClient
from controller.config import load
from controller.contact import Contact, secret_of

PEOPLE = {
    "observer": "demo-view",
    "game_server": "platform",
    "dealer": "dana",
    "supervisor": "sam",
    "camera": "camera",
}
#: Seats of classic that the felt before the simulated camera has room for.
CAMERA_SEATS = 2
START_S = 20.0
STOP_S = 10.0


class StudioError(Exception):
    """A process of the simulated table did not come up or died."""


@dataclass(kw_only=True)
class Scene:
    """What is simulated. ``speed`` divides human pace; 0 leaves it out. ``rules`` go to ``[game]`` as they are."""

    game: str = "boundless"
    protocol: str = "line"
    seed: str = "1"
    speed: float = 1.0
    decisions: str = "book"
    rounds: int | None = None
    rules: dict[str, Any] = field(default_factory=dict)
    shoe_args: tuple[str, ...] = ()
    #: Seconds at human pace that the virtual supervisor leaves trouble to real people.
    patience: float = 4.0
    table: str = "demo-1"
    #: A simulated camera above the felt, and both sources must agree on every card.
    camera: bool = False
    camera_args: tuple[str, ...] = ()
    #: More of the table file, TOML.
    more: str = ""


class Studio:
    """Starts and stops the processes in ``folder``, which keeps keys, journal and logs."""

    def __init__(self, folder: Path, scene: Scene) -> None:
        self.folder = folder
        self.scene = scene
        self.table_file = folder / "table.toml"
        self.control = folder / "shoe.control"
        self.camera_control = folder / "camera.control"
        #: Where the simulated camera sends its pictures, and where the camera service shows its annotated ones.
        self.camera_port, self.pictures_port = _free_ports(2) if scene.camera else (0, 0)
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    # --- set-up --------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Make keys and the table file."""
        self.folder.mkdir(parents=True, exist_ok=True)
        folder = self.folder / "keys"
        if not folder.exists():
            keys.make_server(folder)
            for role, person in PEOPLE.items():
                keys.make_person(folder, role, person)
        self.table_file.write_text(self._table_file())

    def _table_file(self) -> str:
        scene = self.scene
        speed = scene.speed
        # Without human pace the pauses that people wait for are left out; time limits stay, nobody reaches them.
        rules: dict[str, Any] = {"game": scene.game, "decisions": scene.decisions}
        if scene.game == "boundless":
            rules["peek_delay_s"] = 1.5 / speed if speed > 0 else 0.0
        if scene.game == "classic" and scene.camera:
            rules["seats"] = CAMERA_SEATS
        rules |= scene.rules
        window = 0.3 / speed if speed > 0 else 0.0
        lines = [
            "[table]", f'id = "{scene.table}"', 'journal = "table.journal"', 'keys = "keys"',
            'feed = "ipc://feed.sock"', 'commands = "ipc://commands.sock"', "",
            "[game]", *(f"{name} = {_toml(value)}" for name, value in rules.items()), "",
            "[shoe]", f'protocol = "{scene.protocol}"', f"port = {_toml(str(self.folder / 'shoe'))}",
        ]  # fmt: skip
        if scene.protocol == "line":
            lines.append(f"repeat_window_s = {window}")
        if scene.camera:
            lines += [
                # More patience than a table needs: a demo shares its machine with whatever else runs there.
                "", "[validation]", 'sources = "both"', "confirm_within_ms = 20000", "",
                "[camera]", f'source = "http://127.0.0.1:{self.camera_port}/mjpeg"',
                f'layout = "studio-{scene.game}"', f'http = "127.0.0.1:{self.pictures_port}"',
                "max_age_s = 3.0",
            ]  # fmt: skip
        return "\n".join([*lines, "", scene.more]) + "\n"

    # --- processes -----------------------------------------------------------------------------------------

    def start(self) -> None:
        """Everything, in the order a technician would: device, service, people."""
        self.prepare()
        self.start_shoe()
        if self.scene.camera:
            self.start_felt()
        self.start_table()
        if self.scene.camera:
            self.start_camera()
        for name in ("supervisor", "dealer", "game_server"):
            self.start_person(name)

    def start_shoe(self) -> None:
        """The simulated shoe, on a pseudo-terminal behind the link ``shoe``."""
        scene = self.scene
        command = ["shoe", "--protocol", scene.protocol, "--link", str(self.folder / "shoe"), "--seed", scene.seed,
                   "--speed", f"{scene.speed:g}", "--control", str(self.control),
                   "--log", str(self.folder / "shoe.jsonl"), *scene.shoe_args]  # fmt: skip
        self._spawn("shoe", ["-m", "controller.cli", *command])
        self._until("shoe", lambda: self.control.exists() and (self.folder / "shoe").exists())

    def start_felt(self) -> None:
        """The simulated camera above the felt, a network camera at ``camera_port``."""
        scene = self.scene
        command = ["camera", "--simulate", scene.game, "--http", str(self.camera_port), "--speed", f"{scene.speed:g}",
                   "--control", str(self.camera_control), *scene.camera_args]  # fmt: skip
        if scene.seed.isdecimal():
            command += ["--seed", scene.seed]
        self._spawn("felt", ["-m", "controller.cli", *command])
        self._until("felt", self.camera_control.exists)

    def start_camera(self) -> None:
        """The camera service."""
        ready = self.folder / "camera.ready"
        ready.unlink(missing_ok=True)
        self._spawn("camera", ["-m", "controller.cli", "camera", str(self.table_file), "--ready-file", str(ready)])
        self._until("camera", ready.exists)

    def start_table(self) -> None:
        """The table service."""
        ready = self.folder / "table.ready"
        ready.unlink(missing_ok=True)
        self._spawn("table", ["-m", "controller.cli", "run", str(self.table_file), "--ready-file", str(ready)])
        self._until("table", ready.exists)

    def start_person(self, name: str) -> None:
        """One of the simulated people: ``game_server``, ``dealer`` or ``supervisor``."""
        scene = self.scene
        words = ["-m", f"controller.simulation.{name}", str(self.table_file), "--person", PEOPLE[name],
                 "--seed", scene.seed, "--speed", f"{scene.speed:g}"]  # fmt: skip
        if name == "game_server":
            words += [] if scene.rounds is None else ["--rounds", str(scene.rounds)]
        else:
            words += ["--control", str(self.control)]
        if name == "supervisor":
            words += ["--patience", f"{scene.patience:g}"]
        if name == "dealer" and scene.camera:
            words += ["--camera", str(self.camera_control), "--shoe-log", str(self.folder / "shoe.jsonl")]
        self._spawn(name, words)

    def start_console(self, floor_file: Path) -> str:
        """The screens of ``floor_file``; returns their address."""
        ready = self.folder / "console.ready"
        ready.unlink(missing_ok=True)
        words = ["-m", "controller.cli", "console", str(floor_file), "--ready-file", str(ready)]
        self._spawn("console", words)
        self._until("console", lambda: ready.exists() and ready.read_text().endswith("/"))
        return ready.read_text()

    def kill_table(self) -> None:
        """kill -9: nothing is written, nothing is said."""
        process = self._running.pop("table")
        process.kill()
        process.wait()

    def check(self) -> None:
        """Raises ``StudioError`` if a process has died."""
        for name, process in self._running.items():
            if process.poll() is not None:
                raise StudioError(f"{name} ended with status {process.returncode}: {self.tail(name)}")

    def stop_people(self) -> None:
        """Nobody acts any more; shoe and table service go on."""
        self._stop("game_server", "dealer", "supervisor")

    def stop(self) -> None:
        """End every process, the people first."""
        self._stop("console")
        self.stop_people()
        self._stop("camera", "table", "felt", "shoe")

    def _stop(self, *names: str) -> None:
        for name in names:
            process = self._running.pop(name, None)
            if process is None:
                continue
            process.terminate()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def tail(self, name: str) -> str:
        """The last lines a process wrote."""
        log = self.folder / f"{name}.log"
        return "\n".join(log.read_text(errors="replace").splitlines()[-5:]) if log.exists() else "no output"

    def client(self, role: str = "observer") -> TableClient:
        """A connected client of the table, as one of ``PEOPLE``."""
        loaded = load(self.table_file)
        return Contact.of(loaded, secret_of(loaded.keys, role, PEOPLE[role])).client()

    def __enter__(self) -> Studio:
        try:
            self.start()
        except BaseException:
            self.stop()  # what did come up must not be left behind
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _spawn(self, name: str, words: list[str]) -> None:
        with (self.folder / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                [sys.executable, *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
                start_new_session=True,  # Ctrl-C reaches the demo alone, which then ends the others in order
            )

    def _until(self, name: str, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_S
        while not done():
            process = self._running[name]
            if process.poll() is not None:
                raise StudioError(f"{name} ended with status {process.returncode}: {self.tail(name)}")
            if time.monotonic() > deadline:
                raise StudioError(f"{name} did not come up in {START_S:g} s: {self.tail(name)}")
            time.sleep(0.01)


def _free_ports(count: int) -> list[int]:
    """Ports that nobody has now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [int(taken.getsockname()[1]) for taken in sockets]


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (int, float)) else '"' + str(value).replace("\\", "\\\\") + '"'
