"""The shell around the table in a soak: decide, make durable, become, publish; and what a dying process leaves.

The journal is the real one, on a memory file system or any other folder, or one without a file (``soak_memory``). The
order is that of the service's actor.

Not simulated: sockets and their threads; torn pages and power loss (the journal's own tests do that).
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random
from typing import Final, Literal

import msgspec

from controller import commands, frames
from controller.facts import decode_fact, encode_fact
from controller.journal.records import CommandRecord, FactRow, Frame
from controller.journal.store import Journal, JournalError, JournalFull
from controller.refusal import Refusal
from controller.service.freeze import freeze, thaw
from controller.simulation.soak_disk import failing
from controller.simulation.soak_memory import MemoryJournal, Platter
from controller.simulation.soak_odds import Broken, must
from controller.table.draft import Setting
from controller.table.inputs import CommandInput, Input, Start
from controller.table.state import TableState
from controller.table.table import Outcome, Table

FEED: Final = "0" * 31 + "1"
TABLE: Final = "soak-1"
#: 2026-11-30 00:00 UTC: virtual time begins here.
WALL_MS: Final = 1_795_996_800_000
DATE: Final = "20261130"
#: A start folds the facts after a frozen state at most so old; every so many starts it folds all of them.
MILESTONE_FACTS: Final = 200
WHOLE_EVERY: Final = 4
_canonical = msgspec.json.Encoder(order="sorted")
_reply = msgspec.json.Encoder()

Death = Literal["kill_before_commit", "kill_after_commit", "disk_full", "disk_error"]


class Died(Exception):
    """The process is gone."""


class Shell:
    """One process after the other on one journal."""

    def __init__(self, folder: Path | None, setting: Setting, publish: Callable[[bytes], None]) -> None:
        """``folder``: where the journal's file is made; None for a journal in memory."""
        self._path = folder / "soak.db" if folder is not None else None
        self._platter = Platter(FEED, TABLE)
        self._rng = Random(0)
        self._setting = setting
        self._publish = publish
        self._inputs = self._starts = 0
        self._milestone = 0, b""  # the state after that fact, as a start may use it
        self.death: Death | None = None
        self.wall = WALL_MS
        self.table = Table(setting)
        self._expected: TableState | None = None
        self._deciding: Outcome | None = None
        #: What became durable although the process died of it: nobody was told.
        self.durable: Outcome | None = None
        self._journal = self._open()

    def _open(self) -> Journal | MemoryJournal:
        if self._path is None:
            return MemoryJournal(self._platter, self._at_commit)
        return Journal.create_or_open(self._path, table=TABLE, now_ms=self.wall, feed=FEED, on_commit=self._at_commit)

    def _at_commit(self, where: str) -> None:
        death = self.death
        if where == "before_commit":
            if death == "kill_before_commit":
                raise Died
            if death == "disk_full" and self._path is None:
                raise JournalFull("the disk is full")
            if death == "disk_error" and self._path is None:
                raise JournalError("the disk failed")
        elif death == "kill_after_commit":
            self.durable = self._deciding
            raise Died

    # --- one input -------------------------------------------------------------------------------------------------

    def take(self, what: Input, now: int, answer: Callable[[Outcome], CommandRecord] | None = None) -> Outcome:
        """Decide, make durable, become, publish. Raises ``Died`` or ``JournalError`` where the process ends."""
        self._inputs += 1
        outcome = self.table.decide(what, now, self._inputs.to_bytes(32, "big"))
        if outcome.refusal is not None:
            return outcome
        at, epoch = self.wall + now, outcome.state.epoch
        rows, sent = [], []
        for record in outcome.records:
            fact = record.fact
            rows.append(FactRow(record.n, epoch, at, fact.type, record.shoe, record.round, encode_fact(fact)))
            if record.seq is not None:
                body = frames.frame_bytes(record, feed=FEED, table=TABLE, epoch=epoch, at_ms=at)
                sent.append(Frame(record.seq, record.n, body))
        self._deciding, self.durable = outcome, None
        self._expected = outcome.state if self.death == "kill_after_commit" else self.table.state
        with self._disk():
            self._journal.append(rows, sent, command=answer(outcome) if answer else None)
        self.table.accept(outcome)
        if outcome.state.phase == "result" and outcome.state.n - self._milestone[0] >= MILESTONE_FACTS:
            self._milestone = outcome.state.n, freeze(outcome.state)
        for frame in sent:
            self._publish(frame.frame)
            self._journal.mark_sent(frame.seq)
        return outcome

    def _disk(self) -> AbstractContextManager[None]:
        """The disk under this commit: a real file has real faults, a journal in memory says that it had one."""
        if self._path is None or self.death not in ("disk_full", "disk_error"):
            return contextlib.nullcontext()
        kind: Literal["full", "error"] = "full" if self.death == "disk_full" else "error"
        assert isinstance(self._journal, Journal)
        return failing(self._journal._database, str(self._path), kind, self._rng)

    def order(self, envelope: commands.Envelope, role: str, now: int, person: str) -> Outcome | bytes:
        """A command: what it did, or the reply of the same command before. Raises ``Refusal`` and as ``take``."""
        command = commands.authorise(envelope, role=role, person=person)
        digest = hashlib.sha256(_canonical.encode([envelope, command.by])).digest()
        known = self._journal.command(command.id)
        if known is not None:
            if known.digest != digest:
                raise Refusal("id_reused", f"id {command.id} was used before with other content")
            return known.reply

        def remember(outcome: Outcome) -> CommandRecord:
            reply = _reply.encode({"ok": True, "seq": outcome.state.seq, "data": dict(outcome.reply)})
            return CommandRecord(command.id, digest, reply, self.wall + now)

        return self.take(CommandInput(command, DATE), now, remember)

    # --- death and what comes after --------------------------------------------------------------------------------

    def die(self, *, expected: TableState | None = None) -> None:
        """The process is gone; nothing it had not committed stays."""
        if expected is not None:
            self._expected = expected
        self.death = None
        if isinstance(self._journal, Journal):
            with contextlib.suppress(JournalError):
                self._journal._database.close()  # a killed process marks nothing as sent
            self._journal._lock.close()

    def start(self, now: int) -> Outcome:
        """Another process comes up on the journal. Raises ``Broken`` if it does not come back as it was."""
        self._journal = self._open()
        table = Table(self._setting)
        self._starts += 1
        n, frozen = self._milestone if self._starts % WHOLE_EVERY else (0, b"")
        if n:
            table.state = thaw(frozen, like=table.state)
        table.replay((decode_fact(row.body) for row in self._journal.facts(n + 1)), now)
        if self._expected is not None:
            must(table.state == self._expected, "the state after a restart is that of the last durable fact")
        self.table = table
        for frame in list(self._journal.unsent()):
            self._publish(frame.frame)
            self._journal.mark_sent(frame.seq)
        return self.begin(now)

    def begin(self, now: int) -> Outcome:
        """The first input of a process."""
        outcome = self.take(Start("soak", "soak", "{}"), now)
        if outcome.refusal is not None:
            raise Broken(f"the table refuses to start: {outcome.refusal.message}")
        return outcome

    @property
    def facts(self) -> int:
        """Facts in the journal."""
        return self._journal.last_n

    @property
    def last_hash(self) -> str:
        """The chain's end: equal journals have equal ones."""
        return self._journal.last_hash.hex()

    def close(self) -> None:
        """End the session."""
        self._journal.close()
