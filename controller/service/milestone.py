"""A milestone: the table's state at the end of a shoe, beside the journal, so that a start need not fold a month.

It is a shortcut and never a source: it names the fact it follows and the chain's hash there, and whatever does not
fit (another journal, another hash, a changed byte, another program's state) is passed over for the facts themselves.
``audit`` makes it from facts whose chain it has walked.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import Final

import msgspec

from controller.journal.errors import JournalError
from controller.journal.store import Journal
from controller.public import State
from controller.service.freeze import FreezeError, thaw
from controller.table.state import TableState

_FORM: Final = 1


class Milestone(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The state after fact ``n`` and frame ``seq``. ``hash``: the chain's there, hex; ``state``: frozen."""

    form: int = _FORM
    feed: str
    table: str
    n: int
    seq: int
    hash: str
    state: str
    public: State
    #: Digests of the program and the table file that made it.
    program: str
    config: str

    def digest(self) -> str:
        """SHA-256 over everything in it, hex."""
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()

    def thaw(self, like: TableState) -> TableState:
        """The state. Raises ``FreezeError``."""
        return thaw(self.state.encode(), like=like)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    digest: str
    milestone: Milestone


def path_of(journal: str | os.PathLike[str]) -> Path:
    """Where the milestone of a journal lies."""
    return Path(os.path.realpath(journal) + "-milestone")


def write(journal: str | os.PathLike[str], milestone: Milestone) -> None:
    """Put it beside its journal, whole or not at all, mode 0600. Raises ``JournalError``."""
    path = path_of(journal)
    draft = path.with_name(path.name + "-new")
    body = msgspec.json.encode(_File(digest=milestone.digest(), milestone=milestone))
    try:
        draft.unlink(missing_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as out:
            out.write(body)
            out.flush()
            os.fsync(out.fileno())
        os.rename(draft, path)
    except OSError as error:
        raise JournalError(f"milestone {path}: cannot be written: {error.strerror}") from error


def read(journal: str | os.PathLike[str]) -> Milestone | None:
    """The milestone of a journal if there is a sound one; the caller compares feed, table and hash."""
    with contextlib.suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        found = msgspec.json.decode(path_of(journal).read_bytes(), type=_File)
        if found.milestone.form == _FORM and found.digest == found.milestone.digest():
            return found.milestone
    return None


def fitting(journal: Journal) -> Milestone | None:
    """The milestone of this open journal, if it follows one of its facts."""
    found = read(journal.path)
    if found is None or (found.feed, found.table) != (journal.feed_id, journal.table):
        return None
    known = journal.hash_of(found.n)
    return found if known is not None and known.hex() == found.hash and found.seq <= journal.last_seq else None


__all__ = ["FreezeError", "Milestone", "fitting", "path_of", "read", "write"]
