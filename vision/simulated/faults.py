"""What can befall a table camera: its light, its lens, its mounting, its line."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from vision.simulated.scene import Scene

FAULTS: Final = {
    "blur": "the lens is out of focus: [SIGMA in px] (3)",
    "dark": "the light fails: [SHARE of it left] (0.25)",
    "bright": "too much light: [TIMES] (2.2)",
    "warm": "the light turns warm: [SHARE] (0.3)",
    "noise": "a noisy sensor: [SIGMA in grey levels] (14)",
    "glare": "a lamp is reflected at: POSITION",
    "bump": "the camera is bumped: [X px] (25) [Y px] (10) [DEGREES] (0.6)",
    "cover": "something stands before the lens",
    "freeze": "the same picture again and again",
    "corrupt": "pictures arrive cut in half",
    "stall": "the connection stays and nothing comes: [SECONDS] (5)",
    "drop": "every connection is closed once",
    "refuse": "answers 503 and closes every connection: [SECONDS] (5)",
}
#: Faults without a length of their own last until ``clear``.
_FOR_EVER: Final = math.inf
_NUMBERS: Final[dict[str, tuple[str, float]]] = {
    "blur": ("blur", 3.0),
    "dark": ("light", 0.25),
    "bright": ("light", 2.2),
    "warm": ("warmth", 0.3),
    "noise": ("noise", 14.0),
}


@dataclass(frozen=True)
class Fault:
    """A fault as asked for: what it does to ``Conditions``, and for how long (s)."""

    name: str
    seconds: float = _FOR_EVER
    conditions: dict[str, Any] = field(default_factory=dict)


def parse(words: list[str], scene: Scene) -> Fault:
    """The fault that ``words`` (NAME [ARGUMENT…]) ask for. Raises ``ValueError``."""
    if not words or words[0] not in FAULTS:
        raise ValueError(f"unknown fault {' '.join(words)[:60]!r}: choose one of {', '.join(FAULTS)}")
    name, *arguments = words
    if name in _NUMBERS:
        key, usual = _NUMBERS[name]
        return Fault(name, conditions={key: _number(name, arguments, [usual])[0]})
    if name == "glare":
        if len(arguments) != 1 or arguments[0] not in scene.positions:
            raise ValueError(f"glare: give one position of this table: {', '.join(scene.positions)}")
        middle = np.mean(scene.positions[arguments[0]], axis=0)
        return Fault(name, conditions={"glare": (float(middle[0]), float(middle[1]))})
    if name == "bump":
        shift = _number(name, arguments, [25.0, 10.0, 0.6], negative=True)
        return Fault(name, conditions={"shift": (shift[0], shift[1], shift[2])})
    if name in ("stall", "refuse"):
        return Fault(name, _number(name, arguments, [5.0])[0])
    if arguments:
        raise ValueError(f"{name} takes no argument")
    return Fault(name, conditions={"covered": True} if name == "cover" else {})


def _number(name: str, arguments: list[str], usual: list[float], *, negative: bool = False) -> list[float]:
    """``arguments`` as numbers, those left out as ``usual``."""
    if len(arguments) > len(usual):
        raise ValueError(f"{name}: {FAULTS[name]}")
    try:
        values = [float(text) for text in arguments]
    except ValueError:
        raise ValueError(f"{name} {' '.join(arguments)}: not a number; {FAULTS[name]}") from None
    if not all(math.isfinite(value) and abs(value) <= 1000 and (negative or value > 0) for value in values):
        raise ValueError(f"{name} {' '.join(arguments)}: out of range; {FAULTS[name]}")
    return values + usual[len(values) :]
