"""One check of a running table by a process of its own: the chain, the milestone, the program and the configuration.

``python -m controller.service.audit TABLE.toml`` reads only, at the lowest priority, and prints one JSON object. It
leaves a milestone beside the journal: the state at the end of the newest shoe, folded from facts whose chain it has
walked. ``--since-milestone`` walks from the last one on; without it everything is checked, the milestone too.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from controller import frames, public
from controller.config import ConfigError, Loaded, load
from controller.facts import decode_fact
from controller.journal.errors import JournalError
from controller.journal.reader import open_read_only
from controller.journal.records import FactRow, Frame, Head
from controller.journal.verify import Place, VerifyReport, verify
from controller.service import milestone
from controller.service.digest import program_digest
from controller.service.freeze import FreezeError, freeze
from controller.service.setting import setting_of
from controller.service.succession import thaw_snapshot
from controller.table.table import JournalFault, Table

#: A fact that ends a shoe; the state after it is small and nothing is in motion.
_ENDS: Final = ("shoe_change_started", "shift_ended")


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What an audit found. ``fault``: what is wrong, in words, None if nothing is; ``note``: what kept a milestone
    from being made. Digests are hex; ``config`` is None if the table file is not readable any more."""

    fault: str | None
    note: str | None
    program: str
    config: str | None
    last_n: int
    last_hash: str | None
    milestone_n: int | None


class _Fold:
    """Folds the facts that the walk passes, up to the end of the newest shoe."""

    def __init__(
        self,
        loaded: Loaded,
        end: int,
        old: milestone.Milestone | None,
        start: Place | None,
        head: Head,
    ) -> None:
        self._loaded = loaded
        self._table = Table(setting_of(loaded))
        self._end = end
        self._old = old
        self._program = program_digest()
        self._seq = start.seq if start else head.first_seq - 1
        self.public = public.initial()
        self.made: milestone.Milestone | None = None
        self.note: str | None = None
        self.fault: str | None = None
        if start is not None and old is not None:
            self._table.state = old.thaw(self._table.state)
            self.public = old.public
        elif head.snapshot is not None:
            self._table.state, self.public = thaw_snapshot(head.snapshot, like=self._table.state)

    def visit(self, fact: FactRow, sent: Sequence[Frame], after: bytes) -> None:
        """The next sound fact."""
        if fact.n > self._end or self.note is not None:
            return
        try:
            self._table.replay([decode_fact(fact.body)])
        except (JournalFault, msgspec.DecodeError) as error:
            # The text may quote a fact.
            self.note = f"fact n={fact.n} does not fold under the present rules ({type(error).__name__})"
            return
        for frame in sent:
            public.apply(self.public, frames.decode_frame(frame.frame))
            self._seq = frame.seq
        if self._old is not None and fact.n == self._old.n:
            self._compare(after)
        if fact.n == self._end:
            self.made = self._milestone(fact.n, after)

    def _milestone(self, n: int, after: bytes) -> milestone.Milestone | None:
        try:
            frozen = freeze(self._table.state)
            made = milestone.Milestone(
                feed="",
                table=self._loaded.config.table.id,
                n=n,
                seq=self._seq,
                hash=after.hex(),
                state=frozen.decode(),
                public=self.public,
                program=self._program,
                config=self._loaded.digest,
            )
            # What cannot be thawed to the same state would be no shortcut but an error.
            if made.thaw(Table(self._table.setting).state) == self._table.state:
                return made
            self.note = "the state did not come back equal from its frozen form"
        except FreezeError as error:
            self.note = f"no milestone: {error}"
        return None

    def _compare(self, after: bytes) -> None:
        """A full walk meets the milestone that is there: it must be what the facts say."""
        old = self._old
        assert old is not None
        if (old.program, old.config) != (self._program, self._loaded.digest):
            return
        if old.hash != after.hex() or old.state.encode() != freeze(self._table.state) or old.public != self.public:
            self.fault = f"the milestone at fact n={old.n} is not what the facts say"


def audit(loaded: Loaded, *, since_milestone: bool) -> Finding:
    """Check once. Raises ``JournalError`` if the journal is not readable."""
    journal = loaded.journal
    with open_read_only(journal) as reader:
        feed, head = reader.feed_id, reader.head
        ends = [row.n for kind in _ENDS if (row := reader.mark(kind)) is not None]
    old = milestone.read(journal)
    if old is not None and ((old.feed, old.table) != (feed, loaded.config.table.id) or old.n < head.first_n):
        old = None
    start = Place(old.n, old.seq, bytes.fromhex(old.hash)) if old is not None and since_milestone else None
    fold = _begun(loaded, max(ends, default=0), old, start, head)
    report = verify(journal, start=start, visit=fold.visit, pages=not since_milestone)
    fault = report.fault or fold.fault
    if fault is None and fold.made is not None:
        milestone.write(journal, msgspec.structs.replace(fold.made, feed=feed))
    return _finding(loaded, report, fold, fault)


def _begun(loaded: Loaded, end: int, old: milestone.Milestone | None, start: Place | None, head: Head) -> _Fold:
    try:
        return _Fold(loaded, end, old, start, head)
    except FreezeError as error:  # of another program: the next full audit makes a new one
        fold = _Fold(loaded, 0, None, None, head._replace(snapshot=None))
        fold.note = str(error)
        return fold


def _finding(loaded: Loaded, report: VerifyReport, fold: _Fold, fault: str | None) -> Finding:
    config = None
    with contextlib.suppress(ConfigError):
        config = load(loaded.path).digest
    return Finding(
        fault=fault,
        note=fold.note,
        program=program_digest(),
        config=config,
        last_n=report.last_n,
        last_hash=report.last_hash,
        milestone_n=fold.made.n if fold.made is not None else None,
    )


def main(words: Sequence[str] | None = None) -> int:
    """Exit status 0 if nothing is wrong, 1 if something is, 2 if it could not be looked at."""
    parser = argparse.ArgumentParser(prog="python -m controller.service.audit", description=__doc__)
    parser.add_argument("table", type=Path, metavar="TABLE.toml")
    parser.add_argument("--since-milestone", action="store_true")
    args = parser.parse_args(words)
    os.nice(19)
    try:
        finding = audit(load(args.table), since_milestone=args.since_milestone)
    except (ConfigError, JournalError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    sys.stdout.buffer.write(msgspec.json.encode(finding) + b"\n")
    return 0 if finding.fault is None else 1


if __name__ == "__main__":
    sys.exit(main())
