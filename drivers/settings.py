"""What one configures about a shoe's line, and what a shoe can do. Values only; imports no I/O."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from drivers.errors import SettingsError

ByteSize = Literal[5, 6, 7, 8]
Parity = Literal["N", "E", "O", "M", "S"]
StopBits = Literal[1, 2]
CodeSet = Literal["scan_table", "suit_rank"]
FrameForm = Literal["advanced", "standard"]
Trigger = Literal["none", "honeywell", "keyence", "gm65", "ssi"]
BccReading = Literal["with_stx", "without_stx"]
LockSetting = Literal["off", "on"]

DEFAULT_CUT_CODES: Final = ("CUT",)

# An RFID reader asked less often misses a card that passes; one asked more often cannot answer in time.
MIN_POLL_S: Final = 0.02
MAX_POLL_S: Final = 0.2

# Settings that mean nothing to other protocols are refused there: they would be a mistake nobody notices.
_ONLY_FOR: Final[Mapping[str, tuple[object, tuple[str, ...]]]] = {
    "tags": ((), ("feig", "rr3036")),
    "poll_s": (None, ("feig", "rr3036")),
    "address": (None, ("feig", "rr3036")),
    "frames": ("advanced", ("feig",)),
    "trigger": ("none", ("line", "ssi")),
    "acknowledge": (False, ("line",)),
    "lock": ("off", ("angel",)),
    "bcc": ("with_stx", ("angel",)),
    "as_reader": (False, ("angel",)),
}


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
    ``tags`` names the registries of the shoes that take turns at a table with an RFID reader, one file a shoe;
    ``poll_s`` is how often that reader is asked, ``address`` its bus address, ``frames`` the form of FEIG's frames.
    ``trigger`` makes a scanner read that waits for a command; ``acknowledge`` answers each line with 06h, for readers
    that wait for it.
    ``record`` names a file that every byte read is appended to, with its time, hidden cards included (mode 0600).
    ``lock`` and ``bcc`` concern the Angel Eye: whether its exit is locked while no card may leave, and how its check
    of commands is read. ``lock = "on"`` needs a test that has proven both on that very device.
    ``self_test`` names the record of this device's tests (``drivers.self_test``); the newest must have passed.
    ``as_reader`` lets the Angel Eye, which deals baccarat, name cards for another game.
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
    tags: tuple[str, ...] = ()
    poll_s: float | None = None
    address: int | None = None
    frames: FrameForm = "advanced"
    trigger: Trigger = "none"
    acknowledge: bool = False
    record: str | None = None
    self_test: str | None = None
    lock: LockSetting = "off"
    bcc: BccReading = "with_stx"
    as_reader: bool = False

    def __post_init__(self) -> None:
        """Raises ``SettingsError`` for numbers that make no sense, whatever the protocol."""
        if not self.port:
            raise SettingsError("port is empty: give a device path or socket://host:port")
        if self.baudrate is not None and self.baudrate <= 0:
            raise SettingsError(f"baudrate is {self.baudrate}: it must be above 0")
        for name, (default, protocols) in _ONLY_FOR.items():
            if self.protocol not in protocols and getattr(self, name) != default:
                raise SettingsError(f"{name} has no effect with protocol {self.protocol!r}: leave it out")
        if (self.trigger == "ssi") != (self.protocol == "ssi") and self.trigger != "none":
            raise SettingsError(f"trigger {self.trigger!r} is not for protocol {self.protocol!r}")
        if self.address is not None and not 0 <= self.address <= 0xFF:
            raise SettingsError(f"address is {self.address}: it must be 0 to 255")
        if self.poll_s is not None and not MIN_POLL_S <= self.poll_s <= MAX_POLL_S:
            raise SettingsError(f"poll_s is {self.poll_s}: it must be {MIN_POLL_S} to {MAX_POLL_S} seconds")
        window = self.repeat_window_s
        if window is not None and not (math.isfinite(window) and window >= 0):
            raise SettingsError(f"repeat_window_s is {window}: it must be 0 or more seconds")

    def window(self, default: float) -> float:
        """The repeat window in force, in seconds."""
        return default if self.repeat_window_s is None else self.repeat_window_s

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
    a lost message shows as a ``Gap``. ``actions``: what a person may have it do (``ShoeDriver.do``).
    """

    identity_at_draw: bool | None
    positions: bool
    results: bool
    standby: bool
    sequence_numbers: bool
    actions: tuple[str, ...] = ()


#: A reader that names each card as it leaves and knows nothing else.
READS_CARDS: Final = Capabilities(
    identity_at_draw=True, positions=False, results=False, standby=False, sequence_numbers=False
)
