"""What left the shoe, in JSON Lines: the truth that a test compares a table's journal with."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import BinaryIO

from drivers.simulated.endpoint import LineState
from drivers.simulated.steps import Entry


class LogError(Exception):
    """The log cannot be written; a shoe that goes on without it would be no witness."""


class ItemLog:
    """One line per physical item, handed to the operating system before its bytes go to the line.

    ``{"shoe":1,"index":0,"item":"card","card":"TD","wire":"4431300D0A","fault":null,"line":"open"}``: ``item`` is
    ``card``, ``cut``, ``pushed_back`` (it went back in), ``reused`` (an over-drawn card comes into play) or
    ``recorded`` (a replay, whose faces nobody looked at); ``wire`` is what the device sends of it, in hex;
    ``line`` tells who could hear it. If the host then takes no bytes, a line ``{"shoe":…,"index":…,"stalled":…}``
    follows. A kill of any process loses none of this, a power cut may.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, entries: list[Entry], line: LineState) -> None:
        """Log ``entries``. Raises ``LogError``."""
        for entry in entries:
            wire = "" if line == "unplugged" else entry.wire.hex().upper()
            self._put({**asdict(entry), "wire": wire, "line": line})

    def stalled(self, entries: list[Entry], reason: str) -> None:
        """The bytes of ``entries`` did not all go out. Raises ``LogError``."""
        for entry in entries:
            self._put({"shoe": entry.shoe, "index": entry.index, "stalled": reason})

    def _put(self, record: dict[str, object]) -> None:
        data = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        try:
            os.write(self._file.fileno(), data)
        except OSError as error:
            raise LogError(f"the log cannot be written: {error.strerror}") from error
