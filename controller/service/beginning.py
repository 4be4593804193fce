"""Where a start begins to fold: at the milestone, at the head of the month's file, or at the very first fact."""

from __future__ import annotations

import logging

from controller import public
from controller.journal.store import Journal
from controller.public import State
from controller.service import milestone, succession
from controller.service.freeze import FreezeError
from controller.table.table import Table

log = logging.getLogger("dealerd.table")


def take(journal: Journal, table: Table) -> tuple[State, int, int]:
    """Give ``table`` the newest state that is known without folding; returns the public state then, and the last
    fact and frame that are in both.

    Raises ``JournalError`` if the files before this one would be needed and are not there.
    """
    found = milestone.fitting(journal)
    if found is not None:
        try:
            table.state = found.thaw(table.state)
        except FreezeError as error:
            log.warning("the milestone is passed over, which may take long: %s", error)
        else:
            return found.public, found.n, found.seq
    head = journal.head
    state = public.initial()
    if head.snapshot is not None:
        try:
            table.state, state = succession.thaw_snapshot(head.snapshot, like=table.state)
        except FreezeError as error:
            log.warning("the sealed journals are folded, which may take long: %s", error)
            table.state, state = succession.fold_older(journal.path, table)
    return state, head.first_n - 1, head.first_seq - 1
