"""One writer per journal: an exclusive OS lock on a file beside it, released by the kernel even on kill -9."""

from __future__ import annotations

import contextlib
import fcntl
import os

from controller.journal.errors import JournalBusy, JournalError


class WriterLock:
    """Holds ``<path>-lock`` from construction to ``close``.

    Raises ``JournalBusy`` if another holder lives, ``JournalError`` if the lock file cannot be made. The file is
    left in place: removing it would let two processes lock two files of the same name.
    """

    def __init__(self, path: str) -> None:
        name = path + "-lock"
        try:
            self._fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise JournalError(f"journal {path}: cannot open its lock file {name}: {error.strerror}") from error
        try:
            self._take(path)
        except BaseException:
            os.close(self._fd)
            raise

    def _take(self, path: str) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(self._fd, 20, 0).decode("ascii", "replace").strip() or "unknown"
            raise JournalBusy(
                f"journal {path}: already open for writing by process {holder}; "
                "stop that dealerd first (systemctl status dealerd@*), or use a read-only command"
            ) from error
        except OSError as error:
            raise JournalError(f"journal {path}: cannot lock it: {error.strerror}") from error
        # The number only helps the person who reads the error; a full disk must not keep the table from starting.
        with contextlib.suppress(OSError):
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)

    def close(self) -> None:
        """Release the lock; a second call does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
