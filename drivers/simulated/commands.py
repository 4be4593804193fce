"""The control socket's commands: what each is called, takes and does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from drivers.simulated import wire_faults
from drivers.simulated.device import Device
from drivers.simulated.faults import FaultPlan, parse_seconds
from drivers.simulated.pace import Pace
from drivers.simulated.steps import Outcome, Refused, Send, Unplug

COMMANDS: Final = {
    "draw": "the next card leaves the shoe; answered when its bytes are on the line",
    "collect": "clear the felt",
    "felt": "count the cards on the felt",
    "rescan": "take all cards on the felt past the reader again, in order (line)",
    "rescan_last": "take the last card past the reader again",
    "load [SEED]": "the next shoe; SEED shuffles it and those after it",
    "push_back [midway]": "the last card goes back into the shoe",
    "fault NAME [ARGUMENT]": "let a fault befall the next draw",
    "auto on|off": "draw by itself at a human pace",
    "status": "counts, link and faults waiting",
    "unplug [SECONDS]": "pull the line now",
    "replug": "put the line back now",
    "play N": "play the next N chunks of a recording",
    "send HEX": "put raw bytes on the line",
    "quit": "stop the shoe",
}


class Job(NamedTuple):
    """Something that takes its turn: ``work`` is called ``delay_s`` after the job before is done."""

    delay_s: float
    work: Callable[[], Outcome]


def physical_job(words: list[str], device: Device, plan: FaultPlan, pace: Pace) -> Job | None:
    """The job that ``words`` ask for; None if they are no command of this kind. Raises ``Refused``."""
    name, *arguments = words
    match name, arguments:
        case "draw", []:
            return draw_job(device, plan, pace)
        case "collect", []:
            return Job(0.0, device.collect)
        case "rescan", []:
            return Job(0.0, device.rescan)
        case "rescan_last", []:
            return Job(pace.scan(), device.rescan_last)
        case "push_back", _:
            return Job(pace.scan(), lambda: device.push_back(arguments))
        case "load", ([] | [_]):
            seed = _integer(arguments[0]) if arguments else None
            return Job(0.0, lambda: device.load(seed))
        case "play", [count]:
            number = _integer(count)
            return Job(0.0, lambda: device.play(number))
        case "send", [_, *_]:
            data = _hex("".join(arguments))
            return Job(0.0, lambda: Outcome({"ok": True, "bytes": len(data)}, [Send(data)], []))
        case "unplug", ([] | [_]):
            seconds = _seconds(arguments[0]) if arguments else 2.0
            return Job(0.0, lambda: Outcome({"ok": True}, [Unplug(seconds)], []))
    return None


def draw_job(device: Device, plan: FaultPlan, pace: Pace) -> Job:
    """One draw, with the fault that its turn brings."""

    def work() -> Outcome:
        return wire_faults.draw(device, plan.next() if device.takes_fault else None, plan.wire)

    return Job(pace.scan(), work)


def usage(name: str) -> str:
    """How the command ``name`` is written; empty if there is none of that name."""
    return next((form for form in COMMANDS if form.split()[0] == name), "")


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Refused(f"{text!r} is not a whole number") from None


def _seconds(text: str) -> float:
    try:
        return parse_seconds(text)
    except ValueError as error:
        raise Refused(str(error)) from None


def _hex(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise Refused(f"{text[:40]!r} is not hex, such as 4431320D0A") from None
