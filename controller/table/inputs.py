"""What can happen to a table. Times are monotonic milliseconds; entropy is 32 fresh bytes from the shell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from controller.book.rows import BalanceRequest
from controller.commands import Command
from drivers.events import Event

Deadline = Literal["step", "void", "post", "approval", "idle", "sight", "camera"]


@dataclass(frozen=True, slots=True)
class Start:
    """The service came up on a journal folded to its end. ``away_ms``: wall-clock time since its last fact."""

    program: str
    config_digest: str
    config: str
    away_ms: int = 0


@dataclass(frozen=True, slots=True)
class ShoeInput:
    """The shoe's driver reports an event."""

    event: Event


@dataclass(frozen=True, slots=True)
class CommandInput:
    """A person's or the game server's command. ``date`` (YYYYMMDD, UTC) names new shoes. ``spent``: which of the
    debits it names (``debits.named``) came with bets of earlier rounds."""

    command: Command
    date: str
    spent: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class BalancesInput:
    """Accounts of the embedded wallet are set, by whoever operates it: tests, vectors, a small house."""

    rows: tuple[BalanceRequest, ...]


@dataclass(frozen=True, slots=True)
class AnswerInput:
    """How a device ended what a person had it do."""

    device: str
    action: str
    ok: bool
    text: str


@dataclass(frozen=True, slots=True)
class DiskInput:
    """Too little room for the journal, or (``reason`` empty) enough again."""

    reason: str


@dataclass(frozen=True, slots=True)
class ServerInput:
    """The game server's connection was lost, or (``here``) it is connected again."""

    here: bool


@dataclass(frozen=True, slots=True)
class ClockInput:
    """The wall clock was set by ``by_ms``. Deadlines are not on it."""

    by_ms: int


@dataclass(frozen=True, slots=True)
class CalibrationInput:
    """A new version of a layout or of a deck's profile was written."""

    name: str
    version: int
    file: str
    sha256: str
    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class DeadlineInput:
    """A deadline of ``Table.deadline`` has passed."""

    name: Deadline


Input = (
    AnswerInput | DiskInput | ServerInput | ClockInput | CalibrationInput | Start | ShoeInput | CommandInput
    | BalancesInput | DeadlineInput
)  # fmt: skip
