"""The three forms whose latency is compared: bare, bare with a commit, and the table service itself.

Each has a shoe's line to write to and a subscriber that hears what it publishes.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Final

from controller import frames
from controller.bench import baseline
from controller.bench.baseline import Subscriber
from controller.bench.errors import BenchError
from controller.bench.process import Child, Line
from controller.bus import keys, wire
from controller.cards import shuffled_shoe
from controller.client import TableClient
from controller.config import Loaded, load
from controller.contact import Contact, secret_of
from controller.rules.baccarat import DEAL
from drivers.events import CardDrawn
from drivers.line.codec import encode

ANSWER_MS: Final = 10_000
#: A subscription reaches its publisher some time after the connection.
JOIN_MS: Final = 200
JOIN_TRIES: Final = 50

_TABLE: Final = "bench-1"
_PEOPLE: Final = {"observer": "bench-view", "game_server": "platform", "supervisor": "sam"}


class Form(ABC):
    """One form, running until it is closed."""

    line: Line
    child: Child
    subscriber: Subscriber

    def __init__(self) -> None:
        self._stack = ExitStack()

    @abstractmethod
    def next_card(self) -> tuple[bytes, bytes]:
        """Do what must be done before a card may be measured; (bytes to write, what its frame contains)."""

    def heard(self, message: bytes) -> None:  # noqa: B027 - most forms need not
        """Take note of a message the subscriber received."""

    def answer(self) -> bytes:
        """The next message. Raises ``BenchError`` if none comes."""
        message = self.subscriber.receive(ANSWER_MS)
        if message is None:
            self.child.check()
            raise BenchError(f"{type(self).__name__} published nothing for {ANSWER_MS} ms")
        return message

    def __enter__(self) -> Form:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()


class Bare(Form):
    """pyserial → PUB, and with ``journal`` one durable row in between."""

    def __init__(self, name: str, folder: Path, rng: Random, *, journal: bool) -> None:
        super().__init__()
        self._rng = rng
        self._cards: list[str] = []
        address = f"ipc://{folder / name}.sock"
        with ExitStack() as stack:
            self.line = Line()
            stack.callback(self.line.close)
            words = ["controller.bench.baseline", self.line.path, address]
            words += ["--journal", str(folder / f"{name}.journal")] if journal else []
            self.child = stack.enter_context(Child(name, words, folder))
            self.subscriber = stack.enter_context(Subscriber(address, baseline.TOPIC))
            self._join()
            self._stack = stack.pop_all()

    def next_card(self) -> tuple[bytes, bytes]:
        """See ``Form.next_card``: any card will do."""
        if not self._cards:
            self._cards = shuffled_shoe(self._rng)
        line = encode(CardDrawn(self._cards.pop()))
        return line, line.rstrip()

    def _join(self) -> None:
        for _ in range(JOIN_TRIES):
            self.line.send(self.next_card()[0])
            if self.subscriber.receive(JOIN_MS) is not None:
                return
        raise BenchError("the bare form's subscriber hears nothing")


class Service(Form):
    """``dealerd run`` with its own table file and keys, at baccarat over the line protocol.

    The benchmark stands in for supervisor, game server and the hand at the shoe. Their clients subscribe to a
    topic that does not exist, so that the table serves one subscriber, as the bare forms do.
    """

    def __init__(self, folder: Path, rng: Random) -> None:
        super().__init__()
        self._rng = rng
        self._cards: list[str] = []
        self._seq = 0
        self._step: dict[str, Any] = {}
        with ExitStack() as stack:
            self.line = Line()
            stack.callback(self.line.close)
            loaded = prepare(folder, self.line.path)
            self.child = stack.enter_context(Child("table", ["controller.cli", "run", str(loaded.path)], folder))
            self._supervisor = stack.enter_context(_client(loaded, "supervisor"))
            self._game_server = stack.enter_context(_client(loaded, "game_server"))
            self.subscriber = stack.enter_context(
                Subscriber(
                    loaded.endpoint("feed"),
                    wire.topic_of(_TABLE).encode(),
                    server_key=keys.load_server_public(loaded.keys),
                    mine=keys.load_secret(secret_of(loaded.keys, "observer", _PEOPLE["observer"])),
                )
            )
            self._join()
            self._stack = stack.pop_all()

    def next_card(self) -> tuple[bytes, bytes]:
        """See ``Form.next_card``: plays on, unmeasured, to the next of the four cards every coup has."""
        while self._step.get("position") not in DEAL:
            step, self._step = self._step, {}
            if step:
                self._act(step)
            self._await_step()
        self._step = {}
        card = self._cards.pop()
        return encode(CardDrawn(card)), f'"card":"{card}"'.encode()

    def heard(self, message: bytes) -> None:
        """See ``Form.heard``: follows the step."""
        frame = frames.decode_frame(message)
        if frame["type"] == wire.HEARTBEAT or frame["seq"] <= self._seq:
            return
        self._seq = frame["seq"]
        if frame["type"] == "incident_raised":
            raise BenchError(f"the table raised an incident: {frame['data']['title']}")
        if frame["type"] == "step_opened" and frame["data"]["step"] != "wait":
            self._step = frame["data"]

    def _act(self, step: dict[str, Any]) -> None:
        """Do what the step asks of somebody."""
        match step["step"]:
            case "start_shift":
                self._supervisor.command("start_shift")
            case "load_shoe":
                self._cards = shuffled_shoe(self._rng)
                self._supervisor.command("load_shoe")
            case "open_bets":
                # With too few cards left for a coup the table asks for a new shoe instead.
                self._game_server.command("open_bets")
            case "close_bets":
                self._game_server.command("close_bets")
            case "draw":
                self.line.send(encode(CardDrawn(self._cards.pop())))
            case other:
                raise BenchError(f"the table asks for {other}, which the benchmark does not know")

    def _await_step(self) -> None:
        """Follow the feed to the next step. Heartbeats alone are no progress."""
        deadline = time.monotonic() + ANSWER_MS / 1000
        while not self._step:
            self.heard(self.answer())
            if time.monotonic() > deadline:
                raise BenchError(f"the table opens no step for {ANSWER_MS} ms")

    def _join(self) -> None:
        """Hear the feed (a heartbeat comes each second), then learn the step; the shoe may just be connecting."""
        self.answer()
        snapshot = self._supervisor.snapshot()
        self._seq = snapshot.seq
        step = snapshot.state["step"]
        self._step = step if step is not None and step["step"] != "wait" else {}


def prepare(folder: Path, port: str) -> Loaded:
    """Keys and table file."""
    keys.make_server(folder / "keys")
    for role, person in _PEOPLE.items():
        keys.make_person(folder / "keys", role, person)
    path = folder / "table.toml"
    lines = [
        "[table]", f'id = "{_TABLE}"', 'journal = "table.journal"', 'keys = "keys"',
        'feed = "ipc://feed.sock"', 'commands = "ipc://commands.sock"',
        "[game]", 'game = "baccarat"', 'burn = "none"',
        "[shoe]", 'protocol = "line"', f'port = "{port}"',
        "repeat_window_s = 0.0",  # equal cards in a row follow each other faster than any hand deals them
    ]  # fmt: skip
    path.write_text("\n".join(lines) + "\n")
    return load(path)


def _client(loaded: Loaded, role: str) -> TableClient:
    contact = Contact.of(loaded, secret_of(loaded.keys, role, _PEOPLE[role]))
    return replace(contact, table="no-such-table").client()
