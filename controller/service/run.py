"""Wires one table from its file: journal, hub, driver, actor."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import threading
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from types import FrameType

from controller.bus.hub import Hub
from controller.bus.wire import topic_of
from controller.config import Loaded
from controller.journal.store import Journal
from controller.service.actor import Actor
from controller.service.auditor import Auditor
from controller.service.clocks import fresh_entropy, monotonic_ms, wall_ms
from controller.service.endpoint import Endpoint
from controller.service.logs import Logs
from controller.service.metrics import Metrics
from controller.service.monitor import Monitor
from controller.service.notify import Notifier
from controller.service.setting import setting_of
from controller.service.shelf import Shelf
from controller.table.inputs import Start
from controller.table.table import Table
from drivers.registry import open_shoe

log = logging.getLogger("dealerd.table")


def program(digest: str) -> str:
    """Name, version and digest of this program, as journaled at every start."""
    return f"dealerd {version('dealerd')} sha256:{digest}"


def serve(loaded: Loaded, *, ready: Path | None = None, logs: Logs | None = None) -> None:
    """Run the table until SIGTERM or SIGINT. ``ready``: a file to make once commands are answered; systemd is told,
    too. ``logs`` gets what every line should carry.

    Raises ``JournalError``, ``JournalFault``, ``BusError``, ``EndpointError`` and ``DriverError`` for what keeps it
    from starting.
    """
    config = loaded.config
    with contextlib.ExitStack() as stack:
        notifier = stack.enter_context(Notifier.of_environment())
        driver = open_shoe(loaded.shoe)
        journal = stack.enter_context(Journal.create_or_open(loaded.journal, table=config.table.id, now_ms=wall_ms()))
        table = Table(setting_of(loaded))
        hub = stack.enter_context(
            Hub(loaded.endpoint("feed"), loaded.endpoint("commands"), loaded.keys, topic_of(config.table.id))
        )
        auditor = Auditor(loaded, monotonic_ms(), every_ms=round(config.record.audit_every_h * 3_600_000))
        stack.callback(auditor.close)
        metrics = Metrics(config.table.id, config.game.game, program(auditor.program), str(loaded.journal))
        monitor = Monitor(notifier, metrics, reader_silent_s=lambda: driver.silent_s)
        actor = Actor(
            table,
            journal,
            hub,
            shoe=driver,
            auditor=auditor,
            entropy=fresh_entropy,
            monitor=monitor,
            least_free=config.table.min_free_mb * 2**20,
            record=config.record,
            shelf=Shelf.of(loaded),
        )
        if logs is not None:
            logs.bound["table"] = config.table.id
            metrics.count_lost_log_lines(lambda: logs.lost)
        address = config.metrics.address()
        if address is not None:
            endpoint = stack.enter_context(Endpoint(*address, metrics.registry, monitor.health))
            log.info("table %s: metrics and health at %s", config.table.id, endpoint.url)
        actor.recover()
        away_ms = 0 if actor.last_fact_ms is None else max(0, wall_ms() - actor.last_fact_ms)
        actor.begin(Start(program(auditor.program), loaded.digest, loaded.effective, away_ms))
        stack.enter_context(_signals(actor))
        driver.start(actor.put)
        stack.callback(driver.stop)
        log.info("table %s: feed %s, commands %s", config.table.id, hub.feed_address, hub.command_address)
        if ready is not None:
            ready.touch()
        notifier.ready()
        actor.run()
        notifier.stopping()
        log.info("table %s: stopped", config.table.id)


@contextlib.contextmanager
def _signals(actor: Actor) -> Iterator[None]:
    """Stop on SIGTERM and SIGINT. A handler alone runs late: ZeroMQ may go on waiting when the signal found it
    between two waits. So Python's own wake-up byte is read by a thread."""

    def nothing(number: int, frame: FrameType | None) -> None: ...

    def watch() -> None:
        if reader.recv(1):
            actor.stop()

    reader, writer = socket.socketpair()
    writer.setblocking(False)
    thread = threading.Thread(target=watch, name="signals")
    with reader, writer:
        thread.start()
        old_fd = signal.set_wakeup_fd(writer.fileno())
        before = {number: signal.signal(number, nothing) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(old_fd)
            writer.shutdown(socket.SHUT_RDWR)
            thread.join()
