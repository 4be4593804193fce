"""What somebody on the floor must have seen: it stays on the screens until a person acknowledges it by name.

Incidents are acknowledged at the table and thereby on record; losses of devices, voids by policy and silence of a
table are acknowledged here and go to the audit trail. A console that restarts knows only what is still open.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from controller.console.words import person
from controller.frames import iso_ms

Frame = dict[str, Any]


@dataclass(slots=True)
class Alarm:
    """One thing to be seen. ``over``: what caused it has ended; it still waits to be acknowledged."""

    key: str
    text: str
    since: str
    incident: int | None = None
    over: bool = False
    by: str = ""

    @property
    def open(self) -> bool:
        """Nobody has acknowledged it."""
        return not self.by


class Alarms:
    """The alarms of one table, oldest first."""

    def __init__(self) -> None:
        self._all: dict[str, Alarm] = {}

    def open(self) -> list[Alarm]:
        """Those that nobody has acknowledged."""
        return [alarm for alarm in self._all.values() if alarm.open]

    def get(self, key: str) -> Alarm | None:
        """One alarm."""
        return self._all.get(key)

    def acknowledge(self, key: str, by: str) -> bool:
        """False if there is no such alarm, or somebody was faster."""
        alarm = self._all.get(key)
        if alarm is None or not alarm.open:
            return False
        alarm.by = by
        if alarm.over:
            del self._all[key]
        return True

    def take(self, frame: Frame) -> None:
        """Fold one frame of the feed."""
        data, at = frame["data"], frame["time"]
        match frame["type"]:
            case "incident_raised":
                self._raise(incident_alarm(data, at))
            case "incident_resolved":
                self._over(f"incident:{data['incident']}")
            case "incident_acknowledged":
                self.acknowledge(f"incident:{data['incident']}", data["by"])
            case "device_lost":
                self._raise(Alarm(f"device:{data['device']}", f"{_named(data['device'])} lost: {data['reason']}", at))
            case "device_restored":
                self._over(f"device:{data['device']}")
            case "round_voided" | "shoe_voided":
                if str(data["by"]).startswith("policy:"):
                    text = f"voided by {person(data['by'])}: {data['reason']}"
                    self._raise(Alarm(f"void:{frame['seq']}", text, at, over=True))
                for key, alarm in list(self._all.items()):
                    if alarm.incident is not None:
                        self._over(key)

    def adopt(self, state: dict[str, Any]) -> None:
        """A snapshot: what is open there is an alarm, what is not any more is over."""
        now = iso_ms(time.time_ns() // 1_000_000)
        incidents = state["incidents"]
        for data in incidents.values():
            alarm = incident_alarm(data, now)
            self._all.setdefault(alarm.key, alarm)
            if _acknowledged(data):
                self.acknowledge(alarm.key, _acknowledged(data))
        for device in state["devices_lost"]:
            self._all.setdefault(f"device:{device}", Alarm(f"device:{device}", f"{_named(device)} lost", now))
        for key, alarm in list(self._all.items()):
            gone = alarm.incident is not None and str(alarm.incident) not in incidents
            if gone or (key.startswith("device:") and key[7:] not in state["devices_lost"]):
                self._over(key)

    def _raise(self, alarm: Alarm) -> None:
        self._all[alarm.key] = alarm

    def _over(self, key: str) -> None:
        alarm = self._all.get(key)
        if alarm is None:
            return
        alarm.over = True
        if not alarm.open:
            del self._all[key]


def incident_alarm(data: dict[str, Any], at: str) -> Alarm:
    """The alarm that an incident is."""
    return Alarm(f"incident:{data['incident']}", f"{data['code']} {data['title']}", at, incident=data["incident"])


def _acknowledged(data: dict[str, Any]) -> str:
    return str(data.get("acknowledged_by") or data.get("acknowledged") or "")


def _named(device: str) -> str:
    return str(device).replace("_", " ")
