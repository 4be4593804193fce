"""Facts about the process and its devices."""

from __future__ import annotations

from typing import Literal

from controller.facts.base import Fact, Json


class TableStarted(Fact, frozen=True, kw_only=True, tag="table_started"):
    """The service started: the epoch grows by one, every device is unheard of until it reports."""

    PUBLIC = False
    epoch: int
    program: str
    config_digest: str
    config: str


class DeviceReported(Fact, frozen=True, kw_only=True, tag="device_reported"):
    """A shoe event that moves no card, kept for the record."""

    PUBLIC = False
    device: str
    event: Json
    #: ``defer``: it came during a hold and waits; ``act``: it takes effect; else it is only kept for the record.
    use: Literal["record", "defer", "act"] = "record"


class ReadRepeated(Fact, frozen=True, kw_only=True, tag="read_repeated"):
    """The shoe reported a card again that is already accounted for; nothing was dealt."""

    PUBLIC = False
    card: str
    position: str | None = None


class ReadOutOfGame(Fact, frozen=True, kw_only=True, tag="read_out_of_game"):
    """A card was read while no shoe is in play, the table is voided (M-33) or a device babbles; nothing was dealt."""

    PUBLIC = False
    card: str


class TagsLeft(Fact, frozen=True, kw_only=True, tag="tags_left"):
    """Cards with these tags (RFID) left the shoe, whatever they were taken for: each can leave it once."""

    PUBLIC = False
    SECRET = ("tags",)
    tags: tuple[str, ...]


class DeviceLost(Fact, frozen=True, kw_only=True, tag="device_lost"):
    """A device, or the game server, is not heard; the table holds."""

    device: str
    reason: str


class DeviceRestored(Fact, frozen=True, kw_only=True, tag="device_restored"):
    """The device is heard again."""

    device: str


class DeviceCommanded(Fact, frozen=True, kw_only=True, tag="device_commanded"):
    """A person has a device do something. The order may die with the process: only the answer says it was done."""

    device: str
    action: str
    reason: str
    by: str


class DeviceAnswered(Fact, frozen=True, kw_only=True, tag="device_answered"):
    """How the order ended, in words; ``ok`` if the device did it."""

    device: str
    action: str
    ok: bool
    text: str


class ClockStepped(Fact, frozen=True, kw_only=True, tag="clock_stepped"):
    """The wall clock was set by ``by_ms`` while the table ran: times before and after differ by it (REG-19)."""

    PUBLIC = False
    by_ms: int


class CalibrationSaved(Fact, frozen=True, kw_only=True, tag="calibration_saved"):
    """A new version of the camera's layout, or of a deck's profile, lies in ``file`` with this digest."""

    PUBLIC = False
    name: str
    version: int
    file: str
    sha256: str
    reason: str
    by: str
