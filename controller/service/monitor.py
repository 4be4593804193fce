"""What the actor tells of its work, in its own thread: to systemd, to the metrics, to who asks for its health.

Nothing here may depend on a hidden card: it is fed with published state, with counts and with times.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from controller.facts import Record
from controller.service.metrics import Metrics
from controller.service.notify import Notifier

#: A reader thread turns at least every few seconds, also while it waits for a device server (5 s) or pauses (2 s).
READER_SILENT_S: Final = 15.0
#: Gauges, status and health follow the table within this time.
GAUGES_MS: Final = 250
#: A loop that came by this long ago stands still: it turns at least once a second.
STILL_MS: Final = 5_000


def status_text(state: Any) -> str:
    """The table in one line, from its public state."""
    step = state["step"] or {}
    place = step.get("position") or step.get("line")
    words = [state["phase"].replace("_", " ")]
    if step:
        words.append("step " + " ".join(filter(None, (step["step"], place))))
    if state["holds"]:
        words.append("held: " + ", ".join(sorted(state["holds"])))
    return "; ".join(words)


class Monitor:
    """One table's. ``reader_silent_s`` tells for how long its reader thread has not turned."""

    def __init__(
        self,
        notifier: Notifier,
        metrics: Metrics | None = None,
        *,
        reader_silent_s: Callable[[], float] = lambda: 0.0,
        clock_ms: Callable[[], int] = lambda: time.monotonic_ns() // 1_000_000,
    ) -> None:
        self._notifier = notifier
        self._metrics = metrics
        self._reader_silent_s = reader_silent_s
        self._clock_ms = clock_ms
        self._shown_at: int | None = None
        self._status = ""
        self._health: tuple[int, dict[str, Any]] | None = None

    def turned(self, state: Any, counters: Any) -> None:
        """The actor has looked at every source once. This, and nothing else, feeds the watchdog: a thread that hangs
        in a decision, in a commit or on a socket does not come by."""
        now = self._clock_ms()
        if self._reader_silent_s() < READER_SILENT_S:
            self._notifier.feed(now)
        if self._shown_at is None or now - self._shown_at >= GAUGES_MS:
            self._shown_at = now
            self._tell_status(state)
            seen = {"phase": state["phase"], "holds": sorted(state["holds"]), "devices_lost": state["devices_lost"]}
            self._health = (now, seen)
            if self._metrics is not None:
                self._metrics.turned(state, counters)

    def health(self) -> tuple[bool, dict[str, Any]]:
        """Whether the table lives, and how it stands. A table that is held lives. From any thread."""
        if self._health is None:
            return False, {"ok": False, "reason": "starting"}
        at, seen = self._health
        age, silent = self._clock_ms() - at, self._reader_silent_s()
        ok = age < STILL_MS and silent < READER_SILENT_S
        return ok, {"ok": ok, **seen, "turned_ms_ago": age, "reader_turned_ms_ago": round(silent * 1000)}

    def _tell_status(self, state: Any) -> None:
        text = status_text(state)
        if text != self._status:
            self._status = text
            self._notifier.status(text)

    def committed(self, seconds: float) -> None:
        """A transaction took ``seconds`` to be durable."""
        if self._metrics is not None:
            self._metrics.commit.observe(seconds)

    def took(self, records: Sequence[Record], received_ns: int | None) -> None:
        """These facts are durable and published. ``received_ns``: when the bytes they follow from were read."""
        if self._metrics is not None:
            self._metrics.took(records, received_ns)

    def answered(self, command: str, code: str) -> None:
        """A command got its answer: ``ok`` or the code of a refusal."""
        if self._metrics is not None:
            self._metrics.answered(command, code)
