"""What one configures about a shoe's line, and what a shoe can do. Values only; imports no I/O."""

from __future__ import annotations

import math
from typing import Final, Literal

import msgspec

from drivers.errors import SettingsError

ByteSize = Literal[5, 6, 7, 8]
Parity = Literal["N", "E", "O", "M", "S"]
StopBits = Literal[1, 2]
CodeSet = Literal["scan_table", "suit_rank"]

DEFAULT_CUT_CODES: Final = ("CUT",)


class LineSettings(msgspec.Struct, frozen=True):
    """How bytes travel on a line. Flow control is always off: 11h and 13h are data here."""

    baudrate: int
    bytesize: ByteSize = 8
    parity: Parity = "N"
    stopbits: StopBits = 1


class ShoeSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One shoe. ``None`` stands for the protocol's own default.

    ``port`` is a device path, best ``/dev/serial/by-id/...`` which stays the same when the device comes back
    under another number, or ``socket://host:port`` for a serial device server.
    ``code_set`` and ``cut_codes`` concern the line protocol only; ``repeat_window_s`` is in seconds.
    """

    protocol: str
    port: str
    baudrate: int | None = None
    bytesize: ByteSize | None = None
    parity: Parity | None = None
    stopbits: StopBits | None = None
    code_set: CodeSet = "scan_table"
    cut_codes: tuple[str, ...] = DEFAULT_CUT_CODES
    repeat_window_s: float | None = None

    def __post_init__(self) -> None:
        """Raises ``SettingsError`` for numbers that make no sense, whatever the protocol."""
        if not self.port:
            raise SettingsError("port is empty: give a device path or socket://host:port")
        if self.baudrate is not None and self.baudrate <= 0:
            raise SettingsError(f"baudrate is {self.baudrate}: it must be above 0")
        window = self.repeat_window_s
        if window is not None and not (math.isfinite(window) and window >= 0):
            raise SettingsError(f"repeat_window_s is {window}: it must be 0 or more seconds")

    def line(self, default: LineSettings) -> LineSettings:
        """The line settings in force: what is set here, else ``default``."""
        return LineSettings(
            baudrate=default.baudrate if self.baudrate is None else self.baudrate,
            bytesize=default.bytesize if self.bytesize is None else self.bytesize,
            parity=default.parity if self.parity is None else self.parity,
            stopbits=default.stopbits if self.stopbits is None else self.stopbits,
        )


class Capabilities(msgspec.Struct, frozen=True):
    """What a protocol tells the table.

    ``identity_at_draw`` is None where it depends on the mode the shoe is set to. ``sequence_numbers`` means that
    a lost message shows as a ``Gap``.
    """

    identity_at_draw: bool | None
    positions: bool
    results: bool
    standby: bool
    sequence_numbers: bool
