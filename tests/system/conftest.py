"""A real table service on a pseudo-terminal, with clients of every role; nothing is simulated but the hands."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import tty
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.bus import keys
from controller.bus.client import TableClient
from controller.bus.errors import CommandRefused
from controller.config import load
from controller.contact import Contact, secret_of
from drivers.events import CardDrawn, CutCard
from drivers.line.codec import encode

PEOPLE = {"observer": "olga", "game_server": "gs", "dealer": "dana", "supervisor": "sam", "camera": "camera"}
SENDER = {
    "open_bets": "game_server", "close_bets": "game_server", "close_decisions": "game_server",
    "branch_demand": "game_server", "load_shoe": "dealer",
}  # fmt: skip
PATIENCE_S = 15.0


class Line:
    """The device side of a serial line: a pseudo-terminal behind a link."""

    def __init__(self, link: Path) -> None:
        self.link = link
        self._master = self._slave = -1
        self.plug()

    def plug(self) -> None:
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        tty.setraw(self._master)
        self.link.unlink(missing_ok=True)
        self.link.symlink_to(os.ttyname(self._slave))

    def unplug(self) -> None:
        for fd in (self._master, self._slave):
            with contextlib.suppress(OSError):
                os.close(fd)
        self.link.unlink(missing_ok=True)

    def write(self, data: bytes) -> None:
        os.write(self._master, data)

    def cards(self, text: str) -> None:
        """Send cards by name, ``CUT`` for the cut card, one line each."""
        for word in text.split():
            self.write(encode(CutCard() if word == "CUT" else CardDrawn(word)))


class Rig:
    """One table service as a process, and everybody who speaks to it."""

    def __init__(self, folder: Path, **sections: dict[str, Any]) -> None:
        self.folder = folder
        self.file = folder / "table.toml"
        self.frames: list[dict[str, Any]] = []
        keys.make_server(folder / "keys")
        for role, person in PEOPLE.items():
            keys.make_person(folder / "keys", role, person)
        self._write(sections)
        self.line = Line(folder / "shoe")
        self._process: subprocess.Popen[bytes] | None = None
        self._clients: dict[str, TableClient] = {}
        self.run()

    def _write(self, sections: dict[str, dict[str, Any]]) -> None:
        whole: dict[str, dict[str, Any]] = {
            "table": {
                "id": "t-1", "journal": "t.journal", "feed": "ipc://feed.sock", "commands": "ipc://commands.sock",
            },
            "game": {"game": "boundless", "decisions": "platform", "peek_delay_s": 0.0},
            "shoe": {"protocol": "line", "port": str(self.folder / "shoe"), "repeat_window_s": 0.0},
        }  # fmt: skip
        for name, values in sections.items():
            whole.setdefault(name, {}).update(values)
        text = ""
        for name, values in whole.items():
            text += f"[{name}]\n" + "".join(f"{k} = {_toml(v)}\n" for k, v in values.items())
        self.file.write_text(text)

    # --- the process ---------------------------------------------------------------------------------------

    def run(self, *options: str) -> None:
        """Start the service and wait until it answers and hears its shoe."""
        ready = self.folder / "ready"
        ready.unlink(missing_ok=True)
        words = [sys.executable, "-m", "controller.cli", "run", str(self.file), "--ready-file", str(ready), *options]
        with (self.folder / "table.log").open("ab") as log:
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.until(ready.exists, "the table to come up")
        self.until(lambda: "shoe" not in self.status()["devices_lost"], "the shoe to be heard")

    def kill(self) -> None:
        """kill -9."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        """SIGTERM; the exit status."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(10)

    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def log(self) -> str:
        return (self.folder / "table.log").read_text(errors="replace")

    def close(self) -> None:
        for client in self._clients.values():
            client.close()
        if self.alive():
            self.stop()
        self.line.unplug()

    # --- speaking to it ------------------------------------------------------------------------------------

    def contact(self, role: str) -> Contact:
        loaded = load(self.file)
        return Contact.of(loaded, secret_of(loaded.keys, role, PEOPLE[role]))

    def client(self, role: str) -> TableClient:
        if role not in self._clients:
            self._clients[role] = self.contact(role).client()
        return self._clients[role]

    def status(self) -> Any:
        return self.client("observer").command("status", timeout_s=PATIENCE_S).data

    def order(self, name: str, *, role: str | None = None, seen: int | None = None, **args: Any) -> Any:
        """Send a command as of now. Raises ``CommandRefused``."""
        client = self.client(role or SENDER.get(name, "supervisor"))
        seen = client.command("status").seq if seen is None else seen
        return client.command(name, args, seen_seq=seen)

    def refused(self, name: str, **args: Any) -> CommandRefused:
        with pytest.raises(CommandRefused) as caught:
            self.order(name, **args)
        return caught.value

    def resolve(self, resolution: str, **args: Any) -> Any:
        number = max(map(int, self.status()["incidents"]))
        return self.order("resolve", incident=number, resolution=resolution, reason="looked at it", **args)

    def demand(self, line: str, n: int, draw: bool, *, split: bool = False) -> Any:
        round_ = self.status()["round"]
        return self.order(
            "branch_demand", round=round_, line=line, prefix_len=n, draw=draw, split=split, key=f"{round_}/{line}/{n}"
        )

    # --- waiting -------------------------------------------------------------------------------------------

    def until(self, done: Callable[[], Any], what: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not done():
            if self._process is not None and self._process.poll() is not None:
                pytest.fail(f"the table ended: {self.log[-2000:]}")
            if time.monotonic() > deadline:
                pytest.fail(f"waited in vain for {what}; {self.status()}; {self.log[-1000:]}")
            time.sleep(0.005)

    def step(self, text: str) -> None:
        """Wait for a step such as ``draw player/0``, ``decide main@2``, ``wait``."""
        self.until(lambda: self._step() == text, f"step {text}")

    def _step(self) -> str:
        step = self.status()["step"] or {}
        place = step.get("position") or (f"{step['line']}@{step['prefix_len']}" if step.get("line") else "")
        return f"{step.get('step')} {place}".strip()

    def incident(self, code: str) -> dict[str, Any]:
        """Wait for an open incident with ``code``."""
        self.until(lambda: any(i["code"] == code for i in self.status()["incidents"].values()), f"incident {code}")
        return next(i for i in self.status()["incidents"].values() if i["code"] == code)

    def feed(self, kind: str | None = None) -> list[dict[str, Any]]:
        """Every frame so far, or those of one type."""
        client, more = self.client("observer"), True
        while more:
            found, more = client.since(self.frames[-1]["seq"] if self.frames else 0)
            self.frames += found
        return [f for f in self.frames if kind is None or f["type"] == kind]

    def last(self, kind: str) -> dict[str, Any]:
        """Data of the newest frame of a type; waits for the first."""
        self.until(lambda: self.feed(kind), f"a {kind}")
        data: dict[str, Any] = self.feed(kind)[-1]["data"]
        return data

    def dealt(self) -> list[tuple[str, str]]:
        """(position, card) of every card dealt in the round in progress or just ended."""
        frames = self.feed()
        begin = max((i for i, f in enumerate(frames) if f["type"] == "betting_opened"), default=0)
        return [(f["data"]["position"], f["data"]["card"]) for f in frames[begin:] if f["type"] == "card_dealt"]

    # --- shortcuts -----------------------------------------------------------------------------------------

    def to_burn(self) -> None:
        self.order("start_shift")
        self.order("load_shoe")

    def to_betting(self) -> None:
        """A new shoe, burned with an ace (one card), betting open."""
        self.to_burn()
        self.line.cards("AS 2H")
        self.step("open_bets")
        self.order("open_bets")

    def to_dealing(self) -> None:
        self.to_betting()
        self.order("close_bets")
        self.step("draw player/0")

    def run_again(self, *options: str) -> None:
        """Stop the service in order if it runs, and start it on its journal with further ``options``."""
        while self._clients:
            self._clients.popitem()[1].close()
        if self.alive():
            assert self.stop() == 0
        self.run(*options)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return json.dumps(value)
    return str(value) if isinstance(value, (int, float)) else f'"{value}"'


@pytest.fixture
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Rig]]:
    """``rig(game={...}, shoe={...})`` starts a table; it ends with the test."""
    rigs: list[Rig] = []

    def start(**sections: dict[str, Any]) -> Rig:
        # Socket paths have a limit of about 100 characters, so not the long name of the test.
        rigs.append(Rig(tmp_path_factory.mktemp("rig"), **sections))
        return rigs[-1]

    yield start
    for one in rigs:
        one.close()
