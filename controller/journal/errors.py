"""What can go wrong with a journal. No message carries a fact's content: it may name a hidden card."""

from __future__ import annotations


class JournalError(Exception):
    """The journal cannot do what was asked; nothing was stored. The message says why and what to do."""


class JournalBusy(JournalError):
    """Another process holds the journal."""


class JournalFull(JournalError):
    """The disk or the quota is full. The journal stays usable: append again when there is room."""


class SQLiteTooOld(JournalError):
    """The SQLite library at hand can damage a journal, so none is opened."""


class JournalDamaged(JournalError):
    """The file is not a journal, or no longer a sound one."""
