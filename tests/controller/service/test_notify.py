"""What systemd hears: datagrams on a real socket, the watchdog earned by turns of the actor's own thread."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from controller import public
from controller.bus import keys
from controller.bus.hub import Counters, Hub
from controller.bus.wire import topic_of
from controller.journal.store import Journal
from controller.rules.options import GameOptions
from controller.service.actor import Actor
from controller.service.monitor import READER_SILENT_S, Monitor, status_text
from controller.service.notify import STATUS_MAX, Notifier
from controller.table.draft import Setting
from controller.table.inputs import Start
from controller.table.table import Table
from drivers.events import PortRestored
from drivers.shoe import Reading

#: Longer than any feeding takes; only a failing test waits for it.
PATIENCE_S = 10.0


class Supervisor:
    """systemd's end of the socket."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + path[1:] if path.startswith("@") else path)

    def hear(self, timeout_s: float = PATIENCE_S) -> str | None:
        self.socket.settimeout(timeout_s)
        try:
            return self.socket.recv(4096).decode()
        except TimeoutError:
            return None

    def hear_all(self) -> list[str]:
        self.socket.setblocking(False)
        found = []
        try:
            while True:
                found.append(self.socket.recv(4096).decode())
        except BlockingIOError:
            return found


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    one = Supervisor(str(tmp_path / "notify"))
    yield one
    one.socket.close()


def test_each_message_is_one_datagram(supervisor: Supervisor) -> None:
    with Notifier.of_environment({"NOTIFY_SOCKET": supervisor.path}) as notifier:
        notifier.ready()
        notifier.status("dealing;\nheld: pause")
        notifier.watchdog()
        notifier.stopping()
    assert supervisor.hear_all() == ["READY=1", "STATUS=dealing; held: pause", "WATCHDOG=1", "STOPPING=1"]


def test_an_abstract_socket_is_reached(tmp_path: Path) -> None:
    one = Supervisor(f"@dealerd-test-{tmp_path.name}-{threading.get_ident()}")
    with Notifier(one.path) as notifier:
        notifier.ready()
    assert one.hear() == "READY=1"
    one.socket.close()


def test_a_status_is_cut_to_one_short_line(supervisor: Supervisor) -> None:
    with Notifier(supervisor.path) as notifier:
        notifier.status("x" * 5000)
    assert supervisor.hear() == "STATUS=" + "x" * STATUS_MAX


@pytest.mark.parametrize("environment", [{}, {"NOTIFY_SOCKET": ""}, {"NOTIFY_SOCKET": "relative/path"}])
def test_without_systemd_nothing_happens(environment: dict[str, str]) -> None:
    with Notifier.of_environment(environment) as notifier:
        notifier.ready()
        notifier.watchdog()
        assert notifier.watchdog_ms is None


def test_a_supervisor_that_is_gone_or_does_not_listen_stops_nothing(supervisor: Supervisor) -> None:
    with Notifier(supervisor.path) as notifier:
        for _ in range(5000):  # far more than its queue takes
            notifier.watchdog()
        supervisor.socket.close()
        notifier.watchdog()


@pytest.mark.parametrize(
    ("micros", "pid", "expected"),
    [
        ("20000000", None, 20_000),
        ("20000000", "1", None),
        ("0", None, None),
        ("-5", None, None),
        ("soon", None, None),
    ],
)
def test_the_watchdog_is_that_of_this_process(micros: str, pid: str | None, expected: int | None) -> None:
    environment = {"NOTIFY_SOCKET": "/nowhere", "WATCHDOG_USEC": micros}
    environment |= {"WATCHDOG_PID": pid} if pid else {}
    with Notifier.of_environment(environment) as notifier:
        assert notifier.watchdog_ms == expected


# --- fed by progress ---------------------------------------------------------------------------------------------


@pytest.fixture
def clock() -> list[int]:
    return [0]


def feedings(supervisor: Supervisor) -> int:
    return supervisor.hear_all().count("WATCHDOG=1")


def test_it_is_fed_a_few_times_within_its_time(supervisor: Supervisor, clock: list[int]) -> None:
    with Notifier(supervisor.path, 20_000) as notifier:
        monitor = Monitor(notifier, clock_ms=lambda: clock[0])
        for clock[0] in range(0, 20_000, 1_000):
            monitor.turned(public.initial(), Counters())
    assert feedings(supervisor) == 4


def test_no_turns_no_food(supervisor: Supervisor, clock: list[int]) -> None:
    with Notifier(supervisor.path, 20_000) as notifier:
        monitor = Monitor(notifier, clock_ms=lambda: clock[0])
        monitor.turned(public.initial(), Counters())
        clock[0] = 60_000
        monitor.committed(0.1)
        monitor.answered("pause", "ok")
        monitor.took((), None)
        assert monitor.health()[0] is False
    assert feedings(supervisor) == 1


def test_a_reader_that_hangs_starves_it(supervisor: Supervisor, clock: list[int]) -> None:
    silent = [0.0]
    with Notifier(supervisor.path, 20_000) as notifier:
        monitor = Monitor(notifier, reader_silent_s=lambda: silent[0], clock_ms=lambda: clock[0])
        monitor.turned(public.initial(), Counters())
        assert monitor.health()[0] is True
        silent[0] = READER_SILENT_S
        clock[0] = 10_000
        monitor.turned(public.initial(), Counters())
        assert feedings(supervisor) == 1
        assert monitor.health()[0] is False
        silent[0] = 0.1
        monitor.turned(public.initial(), Counters())
        assert feedings(supervisor) == 1


def test_health_before_the_first_turn_is_starting() -> None:
    assert Monitor(Notifier(None)).health() == (False, {"ok": False, "reason": "starting"})


def test_a_status_is_told_when_it_changes(supervisor: Supervisor, clock: list[int]) -> None:
    state = public.initial()
    with Notifier(supervisor.path) as notifier:
        monitor = Monitor(notifier, clock_ms=lambda: clock[0])
        for phase in ("closed", "closed", "betting"):
            state["phase"] = phase
            monitor.turned(state, Counters())
            clock[0] += 1000
    assert supervisor.hear_all() == ["STATUS=closed", "STATUS=betting"]


def test_the_status_names_step_and_holds() -> None:
    state: Any = public.initial() | {
        "phase": "dealer_drawing",
        "step": {"step": "draw", "position": "dealer/2"},
        "holds": {"pause": {}, "incident:3": {}},
    }
    assert status_text(state) == "dealer drawing; step draw dealer/2; held: incident:3, pause"


@pytest.fixture
def stuck(tmp_path: Path, supervisor: Supervisor) -> Iterator[Callable[[], Any]]:
    """A real actor in a thread; the function gives (actor, commit entered, let it go on)."""
    entered, go_on, running = threading.Event(), threading.Event(), []

    def on_commit(when: str) -> None:
        if when == "before_commit" and running:
            entered.set()
            assert go_on.wait(PATIENCE_S)

    keys.make_server(tmp_path / "keys")
    journal = Journal.create_or_open(tmp_path / "j", table="t-1", now_ms=0, on_commit=on_commit)
    made: list[Any] = []

    def serve() -> None:
        with (
            journal,
            Hub(f"ipc://{tmp_path}/f", f"ipc://{tmp_path}/c", tmp_path / "keys", topic_of("t-1")) as hub,
            Notifier(supervisor.path, 100) as notifier,
        ):
            actor = Actor(
                Table(Setting("t-1", GameOptions(game="boundless"))), journal, hub, monitor=Monitor(notifier)
            )
            actor.recover()
            actor.begin(Start("test", "", "{}"))
            running.append(True)
            made.append(actor)
            up.set()
            actor.run()

    up = threading.Event()
    thread = threading.Thread(target=serve, name="stuck actor")
    thread.start()
    assert up.wait(PATIENCE_S)
    yield lambda: (made[0], entered, go_on)
    go_on.set()
    made[0].stop()
    thread.join(PATIENCE_S)


def test_a_commit_that_hangs_starves_it(stuck: Callable[[], Any], supervisor: Supervisor) -> None:
    """The thread that waits for the disk is the one that feeds."""
    actor, entered, go_on = stuck()
    while supervisor.hear() != "WATCHDOG=1":
        pass
    actor.put([Reading(PortRestored("x"), 0, b"")])
    assert entered.wait(PATIENCE_S)
    supervisor.hear_all()
    assert supervisor.hear(1.0) is None  # a feeding is due every 25 ms
    go_on.set()
    while supervisor.hear() != "WATCHDOG=1":
        pass
