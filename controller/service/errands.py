"""What people have a device do: sent once it is recorded; the answer comes back as an input of the table."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial

from controller.facts import DeviceCommanded, Fact
from controller.table.inputs import AnswerInput
from drivers.shoe import ShoeDriver


class Errands:
    """Of one table. ``wake`` is called, from whatever thread, when there are new ``answers``."""

    def __init__(self, shoe: ShoeDriver | None, wake: Callable[[], None]) -> None:
        self._shoe = shoe
        self._wake = wake
        self.answers: deque[AnswerInput] = deque()

    def send(self, facts: Iterable[Fact]) -> None:
        """Send what these durable facts order. Never blocks."""
        for fact in facts:
            if isinstance(fact, DeviceCommanded):
                answered = partial(self._answered, fact.device, fact.action)
                if self._shoe is None:
                    answered(False, "there is no shoe")
                else:
                    self._shoe.do(fact.action, answered)

    def _answered(self, device: str, action: str, ok: bool, text: str) -> None:
        self.answers.append(AnswerInput(device, action, ok, text))
        self._wake()
