"""The simulated shoe as a process: one loop over control socket, line, timers and signals.

Physical things take turns: a draw is done, bytes written, before the next begins, whoever asked for it. Questions
(``felt``, ``status``) and settings (``fault``, ``auto``) are answered at once, and so is the host: what a device
answers it may stand between two messages of a draw, never inside one write.
"""

from __future__ import annotations

import os
import selectors
import signal
import stat
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Final

from drivers.simulated.commands import COMMANDS, Job, draw_job, physical_job, usage
from drivers.simulated.control import Client, ControlServer
from drivers.simulated.device import Device
from drivers.simulated.endpoint import Endpoint, EndpointError, LineStalled
from drivers.simulated.faults import FaultPlan, parse_fault
from drivers.simulated.item_log import ItemLog
from drivers.simulated.pace import Pace
from drivers.simulated.steps import Await, Outcome, Refused, Send, Step, Unplug
from drivers.simulated.wire_faults import faults_of

# How often to look for what no descriptor tells: a host that opened the line, bytes it sent.
TICK_S: Final = 0.1
# A host that sends is listened to more closely for a while: it waits for an answer.
TALK_TICK_S: Final = 0.005
TALK_S: Final = 5.0
# A host that has just opened the line still flushes it.
SETTLE_S: Final = 0.5
REPLUG_RETRY_S: Final = 0.5
STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class ShoeProcess:
    """Runs ``device`` on ``endpoint`` until it is told to stop. Closes nothing it was given."""

    def __init__(
        self, device: Device, endpoint: Endpoint, plan: FaultPlan, pace: Pace, log: ItemLog | None, *, auto: bool
    ) -> None:
        self._device = device
        self._endpoint = endpoint
        self._plan = plan
        self._pace = pace
        self._log = log
        self._auto = auto
        self._auto_due: float | None = None
        self._heard = False
        self._stopping = False
        self._selector = selectors.DefaultSelector()
        self._control: ControlServer | None = None
        self._jobs: deque[tuple[Client | None, Job]] = deque()
        self._job: tuple[Client | None, Job] | None = None
        self._outcome: Outcome | None = None
        self._steps: deque[Step] = deque()
        self._due = 0.0
        self._replug_due: float | None = None
        self._answers: deque[tuple[float, Step]] = deque()
        self._follows: deque[Job] = deque()
        self._talking_until = 0.0
        self._await_until: float | None = None

    def listen(self, path: Path) -> None:
        """Open the control socket. Raises ``ControlError``."""
        self._control = ControlServer(path, self._selector)

    def run(self, ready: Callable[[], None]) -> None:
        """Say ``ready`` and work until ``quit``, a signal, or the end of a standard input that is a pipe."""
        wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        old_wake = signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        old = {number: signal.signal(number, self._on_signal) for number in STOP_SIGNALS}
        try:
            self._selector.register(wake_read, selectors.EVENT_READ, lambda _: os.read(wake_read, 64))
            self._watch_stdin()
            self._jobs.append((None, Job(0.0, lambda: Outcome({}, self._device.switch_on(), []))))
            ready()
            while not self._stopping:
                self._turn()
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(old_wake)
            if self._control is not None:
                self._control.close()
            self._selector.close()
            os.close(wake_read)
            os.close(wake_write)

    def _turn(self) -> None:
        """One round of the loop."""
        for key, events in self._selector.select(self._patience(time.monotonic())):
            key.data(events)
        self._hear(time.monotonic())
        if self._replug_due is not None and time.monotonic() >= self._replug_due:
            self._replug()
        self._advance()
        if self._control is not None:
            # An answer may free a client for its next command, which may be done at once.
            while not self._stopping and (commands := list(self._control.ready())):
                for client, line in commands:
                    self._command(client, line)
                self._advance()
        self._auto_draw(time.monotonic())

    def _patience(self, now: float) -> float:
        """How long nothing will happen by itself."""
        if self._job is None and (self._jobs or self._follows):
            return 0.0
        until = now + (TALK_TICK_S if now < self._talking_until else TICK_S)
        if self._job is not None:
            until = min(until, self._due)
        elif self._auto_due is not None:
            until = min(until, self._auto_due)
        if self._answers:
            until = min(until, self._answers[0][0])
        return max(0.0, until - now)

    def _hear(self, now: float) -> None:
        """Let the device answer what the host sent."""
        data = self._endpoint.receive()
        if data:
            self._talking_until = now + TALK_S
            due = self._answers[-1][0] if self._answers else now
            for step in self._device.hear(data):
                due = max(due, now) + self._pace.scaled(step.after_s)
                self._answers.append((due, step))
            follows = self._device.follows()
            if follows:
                self._follows.append(Job(0.0, lambda: Outcome({}, follows, [])))
        while self._answers and self._answers[0][0] <= now:
            step = self._answers.popleft()[1]
            if isinstance(step, Unplug):
                self._unplug(step)
            elif isinstance(step, Send):
                try:
                    self._endpoint.write(step.data)
                except LineStalled:
                    self._answers.clear()  # a host that asks and does not read has no use for the rest

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True

    def _watch_stdin(self) -> None:
        """A parent that gave us a pipe and died ends us. A terminal is no such sign, nor is ``/dev/null``."""
        try:
            mode = os.fstat(0).st_mode
        except OSError:
            return
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            self._selector.register(0, selectors.EVENT_READ, self._read_stdin)

    def _read_stdin(self, _events: int) -> None:
        if not os.read(0, 4096):
            self._stopping = True

    def _advance(self) -> None:
        """Do what is due of the jobs, in turn."""
        while not self._stopping:
            if self._job is None:
                if self._follows:
                    self._job = (None, self._follows.popleft())
                elif self._jobs:
                    self._job = self._jobs.popleft()
                else:
                    return
                self._due = time.monotonic() + self._job[1].delay_s
            if time.monotonic() < self._due:
                return
            if self._outcome is None:
                self._start(self._job[1])
            elif self._steps:
                self._step(self._steps.popleft())
            else:
                self._finish(self._outcome.answer)

    def _start(self, job: Job) -> None:
        try:
            outcome = job.work()
        except Refused as refusal:
            if self._job is not None and self._job[0] is None:
                self._auto = False
            self._finish({"ok": False, "error": str(refusal)})
            return
        state = self._endpoint.state
        if self._log is not None:
            self._log.write(outcome.entries, state)
        if outcome.steps and state != "open":
            outcome.answer["line"] = state
        self._outcome = outcome
        self._steps.extend(outcome.steps)
        self._set_due()

    def _set_due(self) -> None:
        if self._steps:
            self._due = time.monotonic() + self._pace.scaled(self._steps[0].after_s)

    def _step(self, step: Step) -> None:
        if isinstance(step, Send):
            try:
                self._endpoint.write(step.data)
            except LineStalled as error:
                if self._log is not None and self._outcome is not None:
                    self._log.stalled(self._outcome.entries, str(error))
                if self._endpoint.state == "unplugged" and self._replug_due is None:
                    self._replug_due = time.monotonic() + REPLUG_RETRY_S
                self._finish({"ok": False, "error": f"{error}; what left the shoe has left it"})
                return
        elif isinstance(step, Unplug):
            self._unplug(step)
        elif not self._awaited(step):
            return
        self._set_due()

    def _awaited(self, step: Await) -> bool:
        """True if ``step`` is over; else it is looked at again soon."""
        now = time.monotonic()
        if self._await_until is None:
            self._await_until = now + step.limit_s
        if now < self._await_until and not step.done():
            self._steps.appendleft(step)
            self._due = min(now + TALK_TICK_S, self._await_until)
            return False
        self._await_until = None
        self._steps.extendleft(reversed(step.then()))
        return True

    def _unplug(self, step: Unplug) -> None:
        self._endpoint.unplug()
        self._answers.clear()
        self._replug_due = time.monotonic() + step.seconds

    def _finish(self, answer: dict[str, object]) -> None:
        client = self._job[0] if self._job is not None else None
        self._job = self._outcome = self._await_until = None
        self._steps.clear()
        if client is not None and self._control is not None:
            self._control.answer(client, answer)

    def _replug(self) -> None:
        try:
            if self._endpoint.state == "unplugged":
                self._endpoint.plug()
            self._replug_due = None
        except EndpointError:
            self._replug_due = time.monotonic() + REPLUG_RETRY_S

    def _auto_draw(self, now: float) -> None:
        """Draw at a human pace, from the moment somebody first listens."""
        if not self._auto:
            self._auto_due = None
            return
        if not self._heard:
            self._heard = self._endpoint.state == "open"
            if self._heard:
                self._auto_due = now + max(SETTLE_S, self._pace.between_cards())
            return
        if self._auto_due is None:
            self._auto_due = now + self._pace.between_cards()
        if now < self._auto_due or self._job is not None or self._jobs:
            return
        job = draw_job(self._device, self._plan, self._pace)
        if self._device.needs_rescan:
            job = Job(self._pace.scan(), self._device.rescan_last)
        self._jobs.append((None, job))
        self._auto_due = now + self._pace.between_cards()

    def _command(self, client: Client, line: str) -> None:
        assert self._control is not None
        words = line.split()
        try:
            answer = self._settle(words)
            if answer is None:
                job = physical_job(words, self._device, self._plan, self._pace)
                if job is not None:
                    self._jobs.append((client, job))
                    return
                answer = _not_understood(line, words[0])
        except (Refused, ValueError) as error:
            answer = {"ok": False, "error": str(error)}
        self._control.answer(client, answer)

    def _settle(self, words: list[str]) -> dict[str, object] | None:
        """The answer to a question or setting; None if ``words`` are neither. Raises ``ValueError``."""
        match words:
            case ["felt"]:
                return {"ok": True, "count": self._device.felt_count()}
            case ["status"]:
                return self._status()
            case ["fault", *rest]:
                self._plan.add(parse_fault(rest, faults_of(self._device.protocol)))
                return {"ok": True, "faults": self._plan.pending}
            case ["auto", ("on" | "off") as wish]:
                self._auto = wish == "on"
                self._heard = True
                return {"ok": True, "auto": self._auto}
            case ["replug"]:
                self._replug()
                return {"ok": self._endpoint.state != "unplugged", "port": self._endpoint.path}
            case ["quit"]:
                self._stopping = True
                return {"ok": True}
        return None

    def _status(self) -> dict[str, object]:
        return {
            "ok": True,
            "protocol": self._device.protocol,
            **self._device.status(),
            "auto": self._auto,
            "port": self._endpoint.path,
            "link": self._endpoint.link_name,
            "line": self._endpoint.state,
            "faults": self._plan.pending,
        }


def _not_understood(line: str, name: str) -> dict[str, object]:
    form = usage(name)
    error = f"write it as: {form}" if form else f"unknown command {line[:60]!r}"
    return {"ok": False, "error": error, "commands": list(COMMANDS)}
