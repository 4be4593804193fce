"""A journal without a file: what ``soak_journal`` needs of one, with the real chain, in memory.

``Platter`` is what stays when the process dies; ``MemoryJournal`` is one process's hold on it. The order of things is
that of ``controller.journal.store``: a commit happens whole or not at all, what was sent is stored with the next one.

Not simulated: SQLite and its files; sessions on a real file have those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from controller.journal import chain
from controller.journal.records import CommandRecord, FactRow, Frame
from controller.journal.store import JournalError

OnCommit = Callable[[Literal["before_commit", "after_commit"]], None]


@dataclass
class Platter:
    """Everything that is durable."""

    feed: str
    table: str
    facts: list[FactRow] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    commands: dict[str, CommandRecord] = field(default_factory=dict)
    sent_seq: int = 0
    last_hash: bytes = b""

    def __post_init__(self) -> None:
        self.last_hash = chain.genesis(self.feed, self.table)


class MemoryJournal:
    """The open journal."""

    def __init__(self, platter: Platter, on_commit: OnCommit) -> None:
        self._platter = platter
        self._on_commit = on_commit
        self._sent = platter.sent_seq

    @property
    def last_n(self) -> int:
        """See ``Journal.last_n``."""
        return len(self._platter.facts)

    @property
    def last_hash(self) -> bytes:
        """See ``Journal.last_hash``."""
        return self._platter.last_hash

    def append(
        self, facts: Sequence[FactRow], frames: Sequence[Frame], *, command: CommandRecord | None = None
    ) -> None:
        """See ``Journal.append``. Raises ``JournalError`` for a gap."""
        platter = self._platter
        if not (facts or frames or command):
            return
        if frames and frames[0].seq != len(platter.frames) + 1:
            raise JournalError(f"the next frame is seq={len(platter.frames) + 1}, not seq={frames[0].seq}")
        previous, n, used = platter.last_hash, len(platter.facts), 0
        for fact in facts:
            n += 1
            if fact.n != n:
                raise JournalError(f"the next fact is n={n}, not n={fact.n}")
            first = used
            while used < len(frames) and frames[used].n == n:
                used += 1
            previous = chain.link(previous, fact, frames[first:used])
        if command is not None and command.id in platter.commands:
            raise JournalError(f"the command {command.id} is there already")
        self._on_commit("before_commit")
        platter.facts += facts
        platter.frames += frames
        if command is not None:
            platter.commands[command.id] = command
        platter.last_hash, platter.sent_seq = previous, self._sent
        self._on_commit("after_commit")

    def mark_sent(self, seq: int) -> None:
        """See ``Journal.mark_sent``."""
        self._sent = max(self._sent, seq)

    def unsent(self) -> Iterator[Frame]:
        """See ``Journal.unsent``."""
        yield from self._platter.frames[self._sent :]

    def facts(self, from_n: int = 1) -> Iterator[FactRow]:
        """See ``Journal.facts``."""
        yield from self._platter.facts[from_n - 1 :]

    def command(self, id: str) -> CommandRecord | None:  # noqa: A002 -- the word of the wire format
        """See ``Journal.command``."""
        return self._platter.commands.get(id)

    def close(self) -> None:
        """See ``Journal.close``."""
        self._platter.sent_seq = self._sent
