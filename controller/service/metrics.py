"""Metrics of one table in the form every monitoring system reads.

They tell nothing that the feed does not tell, but times and the answers to commands. Labels are bounded sets of
this program's own words: never a card, a round, a player or a person. What a decoder counts (unreadable codes,
damaged frames) is not here: on a hidden card it would tell which check failed.
"""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from controller.commands import COMMANDS
from controller.facts import BurnIndicatorDrawn, CardBurned, CardDealt, IncidentRaised, Record
from controller.public import State
from controller.table.machine import PHASES

#: From what a quiet disk needs to what a person notices.
BUCKETS_S: Final = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
#: Cards that the quantiles look back on: about an hour of play.
RECENT: Final = 500
QUANTILES: Final = (0.5, 0.95, 0.99)
HOLDS: Final = ("pause", "incident", "device", "restart", "approval")
#: Free space is told in steps of this size, so that it says nothing about single records.
DISK_STEP: Final = 16 * 1024 * 1024

_PREFIX: Final = "dealerd_"

# When each series was made is of no use here, and doubles their number.
disable_created_metrics()  # type: ignore[no-untyped-call]


class Latency(Collector):
    """From the read of a card's bytes to its frame on the feed: a histogram, and quantiles of the latest cards."""

    def __init__(self, registry: CollectorRegistry, labels: dict[str, str]) -> None:
        self._labels = labels
        self._recent: deque[float] = deque(maxlen=RECENT)
        self._histogram = Histogram(
            _PREFIX + "card_latency_seconds",
            "From the read of a card's bytes to its published frame",
            list(labels),
            buckets=BUCKETS_S,
            registry=registry,
        ).labels(**labels)
        registry.register(self)

    def observe(self, seconds: float) -> None:
        """One card took ``seconds``."""
        self._histogram.observe(seconds)
        self._recent.append(seconds)

    def collect(self) -> Iterable[Metric]:
        """The quantiles; none before the first card."""
        name = _PREFIX + "card_latency_recent_seconds"
        family = Metric(name, f"Quantiles of the card latency over the latest {RECENT} cards", "summary")
        ordered = sorted(self._recent.copy())
        for share in QUANTILES if ordered else ():
            rank = max(0, math.ceil(share * len(ordered)) - 1)
            family.add_sample(name, {**self._labels, "quantile": f"{share:g}"}, ordered[rank])
        family.add_sample(name + "_count", self._labels, len(ordered))
        family.add_sample(name + "_sum", self._labels, math.fsum(ordered))
        yield family


class Metrics:
    """All of one table's. Written by the actor's thread; any thread may read the registry."""

    def __init__(self, table: str, game: str, program: str, journal: str) -> None:
        """``journal``: the file whose disk is watched. The table's id is a label of every metric."""
        self.registry = CollectorRegistry()
        self._table = table
        self._directory = os.path.dirname(os.path.abspath(journal))
        self._claimed: dict[str, int] = {}
        ProcessCollector(registry=self.registry)
        Gauge(_PREFIX + "info", "Program and game", ["table", "program", "game"], registry=self.registry).labels(
            table, program, game
        ).set(1)
        self.latency = Latency(self.registry, {"table": table})
        self.commit = Histogram(
            _PREFIX + "commit_seconds", "One durable transaction of the journal", ["table"], buckets=BUCKETS_S,
            registry=self.registry,
        ).labels(table)  # fmt: skip
        self._frames = self._counter("frames", "Published facts by type", "type")
        self._incidents = self._counter("incidents", "Incidents raised, by code", "code")
        self._answers = self._counter("commands", "Commands answered, by name and by ok or the refusal's code",
                                      "command", "answer")  # fmt: skip
        self._phase = self._gauge("phase", "1 for the phase the table is in", "phase")
        self._hold = self._gauge("hold", "1 while a hold of this kind is set", "hold")
        self._lost = self._gauge("devices_lost", "Devices that are not heard")
        self._seq = self._gauge("last_seq", "Number of the newest frame")
        # Asked by the reader's thread: a hanging file system must not hang the table here, too.
        free = self._gauge("disk_free_bytes", "Free space where the journal lies, in steps of 16 MiB")
        free.labels(table).set_function(self._disk_free)
        self._turned = self._gauge("turned_seconds", "When the table last looked at its sources, seconds since 1970")
        self._hub = self._gauge("bus_refused", "What the bus turned away since the start, by kind", "kind")

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(_PREFIX + name, text, ["table", *labels], registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(_PREFIX + name, text, ["table", *labels], registry=self.registry)

    def turned(self, state: State, counters: Any) -> None:
        """Show the present public state, and ``counters`` of the hub (a dataclass of integers)."""
        table = self._table
        for phase in PHASES:
            self._phase.labels(table, phase).set(phase == state["phase"])
        held = {hold.split(":")[0] for hold in state["holds"]}
        for hold in HOLDS:
            self._hold.labels(table, hold).set(hold in held)
        self._lost.labels(table).set(len(state["devices_lost"]))
        self._turned.labels(table).set_to_current_time()
        for kind in type(counters).__slots__:
            self._hub.labels(table, kind).set(getattr(counters, kind))

    def count_lost_log_lines(self, lost: Callable[[], float]) -> None:
        """``lost`` tells how many log lines nobody read in time."""
        gauge = self._gauge("log_lines_lost", "Log lines dropped because nobody read them in time")
        gauge.labels(self._table).set_function(lost)

    def _disk_free(self) -> float:
        try:
            disk = os.statvfs(self._directory)
        except OSError:
            return math.nan
        return disk.f_bavail * disk.f_frsize // DISK_STEP * DISK_STEP

    def took(self, records: Sequence[Record], received_ns: int | None) -> None:
        """These facts are durable and published. A card that waited for a second source counts from its read."""
        now_ns = time.monotonic_ns()
        for record in records:
            fact = record.fact
            if fact.type == "card_claimed":
                if received_ns is not None:
                    self._claimed[str(getattr(fact, "position", ""))] = received_ns
                continue
            if record.seq is None:
                continue
            self._frames.labels(self._table, fact.type).inc()
            self._seq.labels(self._table).set(record.seq)
            match fact:
                case CardDealt(position=position):
                    self._card(self._claimed.pop(position, received_ns), now_ns)
                case CardBurned() | BurnIndicatorDrawn():
                    self._card(received_ns, now_ns)
                case IncidentRaised(code=code):
                    self._incidents.labels(self._table, code).inc()
                    self._claimed.clear()

    def _card(self, received_ns: int | None, now_ns: int) -> None:
        if received_ns is not None:
            self.latency.observe((now_ns - received_ns) / 1e9)

    def answered(self, command: str, code: str) -> None:
        """``command`` as it came, so it may be anything."""
        self._answers.labels(self._table, command if command in COMMANDS else "unknown", code).inc()
