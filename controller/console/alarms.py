"""What somebody on the floor must have seen: it stays on the screens until a person acknowledges it by name.

The table keeps the alarms of incidents (``alarms`` of its state); they are acknowledged there, on record. Losses of
devices, and voids by a policy, are acknowledged here and go to the audit trail; of these a console that
restarts knows only what is still open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from controller.console.words import person

Frame = dict[str, Any]
State = dict[str, Any]


@dataclass(slots=True)
class Alarm:
    """One thing to be seen. ``over``: what caused it has ended; it still waits to be acknowledged."""

    key: str
    text: str
    since: str
    incident: int | None = None
    over: bool = False


class Alarms:
    """The alarms of one table."""

    def __init__(self) -> None:
        self._mine: dict[str, Alarm] = {}

    def open(self, state: State | None) -> list[Alarm]:
        """Those that nobody has acknowledged, oldest first."""
        found = list(self._mine.values())
        for number, data in (state or {}).get("alarms", {}).items():
            over = number not in (state or {})["incidents"]
            text = f"{data['code']} {data['title']}"
            found.append(Alarm(f"incident:{number}", text, data["time"], incident=int(number), over=over))
        return sorted(found, key=lambda alarm: alarm.since)

    def acknowledge(self, key: str) -> bool:
        """Take one of the console's own away; False if somebody was faster."""
        return self._mine.pop(key, None) is not None

    def take(self, frame: Frame) -> None:
        """Fold one frame of the feed."""
        data, at = frame["data"], frame["time"]
        match frame["type"]:
            case "device_lost":
                self._lost(data["device"], data["reason"], at)
            case "device_restored":
                self._over(data["device"])
            case "round_voided" | "shoe_voided" if str(data["by"]).startswith("policy:"):
                text = f"voided by {person(data['by'])}: {data['reason']}"
                self._mine[f"void:{frame['seq']}"] = Alarm(f"void:{frame['seq']}", text, at, over=True)

    def adopt(self, state: State, at: str) -> None:
        """A snapshot taken ``at``: what is lost there is an alarm, what is not any more is over."""
        for device in state["devices_lost"]:
            if f"device:{device}" not in self._mine:
                reason = (state["holds"].get(f"device:{device}") or {}).get("reason", "")
                self._lost(device, str(reason).removeprefix(f"{device}: "), at)
        for key in self._mine:
            kind, _, device = key.partition(":")
            if kind == "device" and device not in state["devices_lost"]:
                self._over(device)

    def _lost(self, device: str, reason: str, at: str) -> None:
        key = f"device:{device}"
        self._mine[key] = Alarm(key, f"{device.replace('_', ' ')} lost: {reason}", at)

    def _over(self, device: str) -> None:
        alarm = self._mine.get(f"device:{device}")
        if alarm is not None:
            alarm.over = True
