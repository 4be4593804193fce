"""What befalls bytes on their way, whatever they say: the same faults for every protocol that speaks by itself.

A device's own fault of the same name comes first (a line shoe's ``drop`` is a card that says nothing at all). The
log has what the device meant; what came out on the line is a function of the seed.

Not here: faults of polled readers, which speak only when asked; what a pseudo-terminal has not (parity, BREAK, baud).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Final

from drivers.simulated.device import Device, split
from drivers.simulated.faults import FAULTS, Fault
from drivers.simulated.steps import Outcome, Send, Step, Unplug

DELAY_S: Final = 0.5
STUCK_COPIES: Final = 40
STUCK_S: Final = 0.05
BABBLE_BYTES: Final = 400
MAX_LEFT_OUT: Final = 4

WIRE_FAULTS: Final[Mapping[str, str]] = {
    "split": "every byte is a write of its own",
    "merge": "all that one card brings is a single write",
    "drop": "one to four bytes are left out",
    "corrupt": "one bit flips",
    "duplicate": "every write comes twice",
    "reorder": "two neighbouring writes change places",
    "delay": "half a second passes in the middle of a message",
    "babble": "400 random bytes before the message and after it",
    "noise": "the junk of a power-on before the message",
    "stuck": "the last message is said again for two seconds",
    "unplug": "[SECONDS] the line is pulled; the card leaves unheard",
}

# A recording is what a device said, so it can be damaged like one.
TALKERS: Final = ("line", "angel", "ssi", "replay")


def faults_of(protocol: str) -> dict[str, str]:
    """Names and meanings of all faults that a device of ``protocol`` can be told."""
    return {**(WIRE_FAULTS if protocol in TALKERS else {}), **FAULTS[protocol]}


def draw(device: Device, fault: Fault | None, rng: Random) -> Outcome:
    """The next item leaves ``device``, with ``fault`` done by the device or, if it has none of that name, here."""
    if fault is None or fault.name in FAULTS[device.protocol] or device.protocol not in TALKERS:
        return device.draw(fault)
    outcome = device.draw(None)
    entries = [replace(entry, fault=fault.name) for entry in outcome.entries]
    return outcome._replace(steps=damage(outcome.steps, fault, rng), entries=entries)


def damage(steps: list[Step], fault: Fault, rng: Random) -> list[Step]:
    """``steps`` as they arrive. Raises ``KeyError`` for a name that is not in ``WIRE_FAULTS``."""
    if fault.name == "unplug":
        return [Unplug(fault.seconds), *steps]
    return _DAMAGE[fault.name](steps, rng)


def _merge(steps: list[Step], _rng: Random) -> list[Step]:
    out: list[Step] = []
    for step in steps:
        if out and isinstance(step, Send) and isinstance(before := out[-1], Send):
            out[-1] = before._replace(data=before.data + step.data)
        else:
            out.append(step)
    return out


def _one(steps: list[Step], rng: Random, change: Callable[[bytes], list[Step]]) -> list[Step]:
    """``change`` for one of the writes, its pause kept."""
    places = [n for n, step in enumerate(steps) if isinstance(step, Send) and step.data]
    if not places:
        return steps
    place = rng.choice(places)
    chosen = steps[place]
    assert isinstance(chosen, Send)
    new = change(chosen.data)
    new[0] = new[0]._replace(after_s=chosen.after_s)
    return [*steps[:place], *new, *steps[place + 1 :]]


def _drop(steps: list[Step], rng: Random) -> list[Step]:
    def change(data: bytes) -> list[Step]:
        start = rng.randrange(len(data))
        return [Send(data[:start] + data[start + rng.randint(1, MAX_LEFT_OUT) :])]

    return _one(steps, rng, change)


def _corrupt(steps: list[Step], rng: Random) -> list[Step]:
    def change(data: bytes) -> list[Step]:
        flipped = bytearray(data)
        flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        return [Send(bytes(flipped))]

    return _one(steps, rng, change)


def _delay(steps: list[Step], rng: Random) -> list[Step]:
    def change(data: bytes) -> list[Step]:
        cut = rng.randint(0, len(data))
        return [Send(data[:cut]), Send(data[cut:], DELAY_S)]

    return _one(steps, rng, change)


def _reorder(steps: list[Step], rng: Random) -> list[Step]:
    if len(steps) < 2:
        return _one(steps, rng, lambda data: [Send(data[len(data) // 2 :]), Send(data[: len(data) // 2])])
    place = rng.randrange(len(steps) - 1)
    return [*steps[:place], steps[place + 1], steps[place], *steps[place + 2 :]]


def _duplicate(steps: list[Step], _rng: Random) -> list[Step]:
    return [copy for step in steps for copy in ([step, step] if isinstance(step, Send) else [step])]


def _babble(steps: list[Step], rng: Random) -> list[Step]:
    return [Send(rng.randbytes(BABBLE_BYTES)), *steps, Send(rng.randbytes(BABBLE_BYTES))]


def _noise(steps: list[Step], _rng: Random) -> list[Step]:
    return [*(Send(bytes((byte,))) for byte in b"\xff\xff\xff\xff\xc5\xfc"), *steps]


def _stuck(steps: list[Step], _rng: Random) -> list[Step]:
    last = next((step for step in reversed(steps) if isinstance(step, Send)), None)
    return steps if last is None else [*steps, *[Send(last.data, STUCK_S)] * STUCK_COPIES]


_DAMAGE: Final[Mapping[str, Callable[[list[Step], Random], list[Step]]]] = {
    "split": lambda steps, _rng: split(steps),
    "merge": _merge,
    "drop": _drop,
    "corrupt": _corrupt,
    "duplicate": _duplicate,
    "reorder": _reorder,
    "delay": _delay,
    "babble": _babble,
    "noise": _noise,
    "stuck": _stuck,
}
