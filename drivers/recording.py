"""What went over a line, with its times: written beside the driver, read back for decoding and replay.

One JSON object a line. The first of each start is ``{"recording":1,"protocol":…,"port":…,"line":"4800 8N1"}``; then
``{"ns":…,"rx":"0531"}`` for a read and ``"tx"`` for a write, bytes in hex, and ``"link":"open"`` or ``"lost"`` where
the line came or went. ``ns`` is the monotonic clock of that machine: only differences mean something. A plain
capture (a read in hex on each line, no times) is read by the same function.
"""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from drivers.errors import SettingsError
from drivers.settings import LineSettings

logger = logging.getLogger(__name__)

MODE: Final = 0o600
# A line that babbles at full speed fills this in weeks; a disk that is full stops the journal.
MAX_BYTES: Final = 256 << 20

Kind = Literal["rx", "tx", "open", "lost"]
_VERSION: Final = 1


class Entry(NamedTuple):
    """One thing that happened on the line; ``at_s`` is None in a capture without times."""

    kind: Kind
    at_s: float | None
    data: bytes = b""


class Recorder:
    """Appends to a file for this user only (mode 0600, also if it was there with another). Hidden cards are in it.

    Made by the thread that starts the driver, used by the reader thread. A file that cannot be written any more
    ends the recording, never the reading: that is logged once.
    """

    def __init__(self, path: str, protocol: str, port: str, line: LineSettings) -> None:
        """Raises ``SettingsError`` if ``path`` cannot be appended to or is no plain file."""
        self._path = path
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK, MODE)
        except OSError as error:
            raise SettingsError(f"record: {path} cannot be written: {error.strerror}") from error
        found = os.fstat(self._file)
        if not stat.S_ISREG(found.st_mode):
            os.close(self._file)
            raise SettingsError(f"record: {path} is not a plain file")
        try:
            os.fchmod(self._file, MODE)
        except OSError as error:
            os.close(self._file)
            raise SettingsError(f"record: {path} belongs to another user: choose another file") from error
        self._left = MAX_BYTES - found.st_size
        form = f"{line.baudrate} {line.bytesize}{line.parity}{line.stopbits}"
        self._put({"recording": _VERSION, "protocol": protocol, "port": port, "line": form})

    def received(self, at_ns: int, data: bytes) -> None:
        """A read brought ``data``."""
        self._put({"ns": at_ns, "rx": data.hex()})

    def sent(self, at_ns: int, data: bytes) -> None:
        """``data`` was written."""
        self._put({"ns": at_ns, "tx": data.hex()})

    def opened(self, at_ns: int) -> None:
        """The line is open."""
        self._put({"ns": at_ns, "link": "open"})

    def lost(self, at_ns: int) -> None:
        """The line is lost."""
        self._put({"ns": at_ns, "link": "lost"})

    def close(self) -> None:
        """End the recording; may be repeated."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def _put(self, record: dict[str, object]) -> None:
        if self._file < 0:
            return
        data = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        self._left -= len(data)
        if self._left < 0:
            self._give_up(f"{MAX_BYTES} bytes are enough")
            return
        try:
            if os.write(self._file, data) != len(data):
                self._give_up("the disk is full")
        except OSError as error:
            self._give_up(str(error.strerror))

    def _give_up(self, reason: str) -> None:
        logger.error("recording to %s ended: %s; the shoe is read as before", self._path, reason)
        self.close()


def parse(lines: Iterable[str]) -> list[Entry]:
    """What is in a recording or capture. Raises ``ValueError`` naming the line that is neither."""
    entries = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text:
            continue
        if text.startswith("{"):
            try:
                entry = _parse_record(text)
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"line {number}: not a line of a recording: {text[:60]!r}") from error
        else:
            try:
                entry = Entry("rx", None, bytes.fromhex(text))
            except ValueError as error:
                raise ValueError(f"line {number}: not hex bytes: {text[:60]!r}") from error
        if entry is not None:
            entries.append(entry)
    return entries


def _parse_record(text: str) -> Entry | None:
    record = json.loads(text)
    if "recording" in record:
        if record["recording"] != _VERSION:
            raise ValueError(f"version {record['recording']} is not known")
        return None
    nanoseconds = record["ns"]
    if type(nanoseconds) is not int:
        raise ValueError("ns is no whole number")
    at_s = nanoseconds / 1e9
    if "link" in record:
        link = record["link"]
        if link == "open" or link == "lost":
            return Entry(link, at_s)
        raise ValueError("link is neither open nor lost")
    kind: Kind = "rx" if "rx" in record else "tx"
    return Entry(kind, at_s, bytes.fromhex(record[kind]))


def timed(entries: Iterable[Entry]) -> bool:
    """True if every entry has its time; a mixture counts as a capture without times."""
    return all(entry.at_s is not None for entry in entries)
