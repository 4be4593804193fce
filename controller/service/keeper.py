"""Keeps the record while the table runs: its audits, and one file a month. Called by the actor, in its thread."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from controller import commands
from controller.commands import Command
from controller.config import RecordSection
from controller.facts import Record
from controller.journal.errors import JournalError
from controller.journal.store import Journal
from controller.public import State
from controller.service import succession
from controller.service.auditor import Auditor
from controller.service.freeze import FreezeError
from controller.table.table import Table

log = logging.getLogger("dealerd.table")

#: Facts after which little is in motion.
SHOE_ENDS: Final = frozenset({"shoe_change_started", "shift_ended"})


class Keeper:
    """Without ``auditor`` nothing is audited, without ``record`` nothing is sealed."""

    def __init__(
        self, table: Table, journal: Journal, auditor: Auditor | None = None, record: RecordSection | None = None
    ) -> None:
        self._table = table
        self._journal = journal
        self._auditor = auditor
        self._record = record

    def took(self, records: Sequence[Record]) -> None:
        """These were accepted."""
        if self._auditor is not None and any(record.fact.type in SHOE_ENDS for record in records):
            self._auditor.shoe_ended(records[-1].n)

    def hold(self, now: int) -> Command | None:
        """The order to hold the table, at monotonic ms ``now``, if an audit failed and nobody holds it.

        Whoever resumes, it is given again, until the next start or a sound audit.
        """
        if self._auditor is None:
            return None
        self._auditor.tick(now)
        failure, state = self._auditor.failure, self._table.state
        if failure is None or state.phase == "closed" or "pause" in state.holds:
            return None
        args = commands.Pause(reason=f"the audit failed: {failure}"[: commands.REASON_MAX])
        return Command(id="audit", name="pause", args=args, seen_seq=None, role="policy", person="audit")

    def succeed(self, public_state: State, at_ms: int) -> None:
        """Go on in a new file when the month is over (``at_ms``: UTC) and nothing is in motion."""
        record = self._record
        if record is None or record.seal != "monthly":
            return
        if not succession.due(self._journal, self._table.state, at_ms):
            return
        try:
            sealed = succession.succeed(self._journal, self._table, public_state, at_ms)
            log.info("the journal of the month before is sealed: %s", sealed)
            succession.retire(self._journal.path, record.keep_months, at_ms)
        except (JournalError, FreezeError, OSError) as error:
            log.warning("the journal is not sealed yet: %s", error)
