"""What a simulated device does, as values: the device decides, the process carries it out on the line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

ItemKind = Literal["card", "cut", "pushed_back", "reused", "recorded"]


class Send(NamedTuple):
    """Bytes of one write, ``after_s`` seconds (at speed 1) after the step before."""

    data: bytes
    after_s: float = 0.0


class Unplug(NamedTuple):
    """The line is pulled out, for ``seconds`` (of real time), ``after_s`` after the step before."""

    seconds: float
    after_s: float = 0.0


class Await(NamedTuple):
    """Wait until ``done``, at most ``limit_s`` (of real time); then do what ``then`` returns, before anything else.

    For what takes as long as the host needs: a tag that waits for polls, a packet that waits for its answer."""

    done: Callable[[], bool]
    limit_s: float
    then: Callable[[], list[Step]]
    after_s: float = 0.0


Step = Send | Unplug | Await


@dataclass(frozen=True)
class Entry:
    """What the log keeps of one physical item: ``wire`` is what the device says of it, ``index`` its place."""

    shoe: int
    index: int
    item: ItemKind
    card: str
    wire: bytes
    fault: str | None = None


class Outcome(NamedTuple):
    """One operation: log ``entries``, then do ``steps``, then give ``answer``."""

    answer: dict[str, object]
    steps: list[Step]
    entries: list[Entry]


class Refused(Exception):
    """The dealer asked for what cannot be done with this shoe now; the message says why and what to do."""


def wire_of(steps: list[Step]) -> bytes:
    """All bytes of ``steps``."""
    return b"".join(step.data for step in steps if isinstance(step, Send))
