"""A table's server in a thread: a hub, a list of frames, and the three queries every table answers."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from controller.bus import keys, wire
from controller.bus.hub import Hub, Request

PEOPLE = {role: f"{role[:3]}-1" for role in keys.ROLES}
WAIT_S = 20.0


def make_frame(feed: str, epoch: int, seq: int, kind: str = "tick", **data: Any) -> bytes:
    message = {"schema": 1, "feed": feed, "table": "t-1", "epoch": epoch, "seq": seq, "type": kind, "data": data}
    return json.dumps(message).encode()


def make_heartbeat(feed: str, epoch: int, last_seq: int) -> bytes:
    data = {"last_seq": last_seq}
    return json.dumps({"schema": 1, "feed": feed, "epoch": epoch, "type": "heartbeat", "data": data}).encode()


class TableServer:
    """What ``dealerd run`` does on the bus, without a game."""

    def __init__(self, keys_dir: Path, feed: str, commands: str) -> None:
        self.keys_dir = keys_dir
        self.feed, self.epoch, self.frames = "feed-a", 1, list[bytes]()
        self.page_size = wire.PAGE_SIZE
        self.oldest = 1
        self.requests: list[Request] = []
        self.raw_answers: list[bytes] = []
        """Sent instead of the next answers."""
        self.ignore = 0
        """How many of the next requests get no answer."""
        self._todo: SimpleQueue[tuple[Callable[[Hub], Any], Future[Any]]] = SimpleQueue()
        self._conditions: list[tuple[Callable[[Hub], Any], Future[Any]]] = []
        self._stop = False
        self._started: Future[tuple[str, str]] = Future()
        self._thread = threading.Thread(target=self._run, args=(feed, commands), name="table")
        self._thread.start()
        self.feed_address, self.command_address = self._started.result(WAIT_S)

    def call(self, what: Callable[[Hub], Any]) -> Any:
        """Run ``what`` in the hub's thread and return its result."""
        done: Future[Any] = Future()
        self._todo.put((what, done))
        self.hub.wake()
        return done.result(WAIT_S)

    def wait_for(self, condition: Callable[[Hub], Any]) -> Any:
        """Wait until ``condition`` holds in the hub's thread."""
        done: Future[Any] = Future()
        self.call(lambda _hub: self._conditions.append((condition, done)))
        return done.result(WAIT_S)

    def append(self, kind: str = "tick", **data: Any) -> bytes:
        """A frame that is journaled and never published: to a subscriber, a loss."""
        frame = make_frame(self.feed, self.epoch, len(self.frames) + 1, kind, **data)
        self.frames.append(frame)
        return frame

    def publish(self, kind: str = "tick", **data: Any) -> None:
        def run(hub: Hub) -> None:
            hub.publish(self.append(kind, **data))

        self.call(run)

    def publish_raw(self, raw: bytes) -> None:
        self.call(lambda hub: hub.publish(raw))

    def heartbeat(self) -> None:
        self.call(lambda hub: hub.publish(make_heartbeat(self.feed, self.epoch, len(self.frames))))

    def fold(self, state: dict[str, Any], frame: wire.Frame) -> dict[str, Any]:
        """The state of the tests: how many frames, and the sum of their numbers."""
        return {"count": state["count"] + 1, "sum": state["sum"] + frame["seq"]}

    @property
    def state(self) -> dict[str, Any]:
        """What ``fold`` must give after the last frame."""
        last = len(self.frames)
        return {"count": last, "sum": sum(range(last + 1))}

    def close(self) -> None:
        if self._thread.is_alive():
            self._stop = True
            self.hub.wake()
            self._thread.join(WAIT_S)
        assert not self._thread.is_alive()

    def _run(self, feed: str, commands: str) -> None:
        try:
            self.hub = Hub(feed, commands, self.keys_dir, wire.topic_of("t-1"))
        except Exception as error:  # noqa: BLE001
            self._started.set_exception(error)
            return
        with self.hub as hub:
            self._started.set_result((hub.feed_address, hub.command_address))
            while not self._stop:
                # Counters change inside poll without making it return.
                for request in hub.poll(10 if self._conditions else None):
                    self.requests.append(request)
                    if self.ignore:
                        self.ignore -= 1
                    else:
                        raw = self.raw_answers.pop(0) if self.raw_answers else self._answer(request)
                        hub.reply(request, raw)
                while not self._todo.empty():
                    what, done = self._todo.get()
                    try:
                        done.set_result(what(hub))
                    except Exception as error:  # noqa: BLE001
                        done.set_exception(error)
                self._check_conditions(hub)

    def _check_conditions(self, hub: Hub) -> None:
        for condition, done in list(self._conditions):
            if value := condition(hub):
                done.set_result(value)
                self._conditions.remove((condition, done))

    def _answer(self, request: Request) -> bytes:
        command = json.loads(request.body)
        name, args, last = command["command"], command["args"], len(self.frames)
        if name == "snapshot":
            data = {"feed": self.feed, "epoch": self.epoch, "seq": last, "state": self.state}
            return wire.encode_reply(command["id"], last, data)
        if name == "since":
            after = args["seq"]
            if after + 1 < self.oldest or after > last:
                return wire.encode_refusal(command["id"], "too_old", "take a snapshot", self.oldest - 1)
            page = self.frames[after : after + self.page_size]
            return wire.encode_page(command["id"], last, page, after + len(page) < last)
        if name == "refuse":
            return wire.encode_refusal(command["id"], "not_allowed_now", "the table is paused", ["resume"])
        return wire.encode_reply(command["id"], last, {"role": request.role, "person": request.person, "args": args})


@pytest.fixture(scope="session")
def all_keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    keys_dir = tmp_path_factory.mktemp("bus") / "keys"
    keys.make_server(keys_dir)
    for role, person in PEOPLE.items():
        keys.make_person(keys_dir, role, person)
    return keys_dir


@pytest.fixture
def keys_dir(all_keys: Path, tmp_path: Path) -> Path:
    """A copy that the test may change."""
    return Path(shutil.copytree(all_keys, tmp_path / "keys"))


@pytest.fixture(params=["ipc", "tcp", "tcp6"])
def transport(request: pytest.FixtureRequest) -> str:
    if request.param == "tcp6":
        try:
            with socket.socket(socket.AF_INET6) as probe:
                probe.bind(("::1", 0))
        except OSError as error:
            pytest.skip(f"no IPv6 on this machine: {error}")
    return str(request.param)


@pytest.fixture
def serve(keys_dir: Path, tmp_path: Path) -> Iterator[Callable[..., TableServer]]:
    servers: list[TableServer] = []

    def start(transport: str = "ipc", like: TableServer | None = None) -> TableServer:
        """A server; ``like`` another one: at its addresses, after it was closed, with its history."""
        n = len(servers)
        if like is not None:
            like.close()
            servers.append(TableServer(keys_dir, like.feed_address, like.command_address))
            servers[-1].feed, servers[-1].epoch, servers[-1].frames = like.feed, like.epoch + 1, like.frames
            return servers[-1]
        feed, commands = {
            "ipc": (f"ipc://{tmp_path}/f{n}", f"ipc://{tmp_path}/c{n}"),
            "tcp": ("tcp://127.0.0.1:*", "tcp://127.0.0.1:*"),
            "tcp6": ("tcp://[::1]:*", "tcp://[::1]:*"),
        }[transport]
        servers.append(TableServer(keys_dir, feed, commands))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def server(serve: Callable[..., TableServer]) -> TableServer:
    return serve()


@pytest.fixture
def arguments(keys_dir: Path) -> Callable[..., tuple[str, str, Path, Path]]:
    """The positional arguments of a client of a server, as a person of ``role``."""

    def make(server: TableServer, role: str = "observer") -> tuple[str, str, Path, Path]:
        secret = keys_dir / role / f"{PEOPLE[role]}.key_secret"
        return server.feed_address, server.command_address, keys_dir / "server.key", secret

    return make
