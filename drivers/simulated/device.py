"""What every simulated device can be asked by its dealer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Final

from drivers.simulated.faults import FAULTS, Fault
from drivers.simulated.shoe import SimulatedShoe
from drivers.simulated.steps import Entry, Outcome, Refused, Send, Step

# "FF FF C5 FC" is what came at power-on in a capture, as single reads.
NOISE: Final = b"\xff\xff\xc5\xfc"
# Pause between writes that a fault cuts apart.
SPLIT_S: Final = 0.005


class Device(ABC):
    """Asked by the dealer's commands and by the host's bytes, answers with what to do on the line. No I/O, no clock.

    Every method but ``hear`` may raise ``Refused``.
    """

    protocol: ClassVar[str]

    @property
    def faults(self) -> Mapping[str, str]:
        """Names and meanings of the faults this device knows."""
        return FAULTS[self.protocol]

    @property
    def takes_fault(self) -> bool:
        """False if what comes next is not a card: faults wait then."""
        return True

    def switch_on(self) -> list[Step]:
        """What the device says by itself when it starts."""
        return []

    def hear(self, data: bytes) -> list[Step]:  # noqa: ARG002
        """The host sent ``data``, cut anyhow; what the device answers, ahead of anything it is still saying.

        A device that is only listened to answers nothing. Never raises.
        """
        return []

    def follows(self) -> list[Step]:
        """Asked after each ``hear``: what comes of it besides the answers. The device says it in its turn, after
        what it is saying now."""
        return []

    @abstractmethod
    def draw(self, fault: Fault | None) -> Outcome:
        """The next item leaves."""

    @abstractmethod
    def collect(self) -> Outcome:
        """The felt is cleared."""

    @abstractmethod
    def felt_count(self) -> int:
        """Cards on the felt."""

    @abstractmethod
    def status(self) -> dict[str, object]:
        """Counts, never faces."""

    @property
    def needs_rescan(self) -> bool:
        """True while the device waits for the last card to be shown again."""
        return False

    def rescan(self) -> Outcome:
        """All cards on the felt go past the reader again."""
        raise Refused("this shoe reads a card only on its way out")

    def rescan_last(self) -> Outcome:
        """The last card goes past the reader again."""
        raise Refused("no card waits to be read again")

    def push_back(self, words: list[str]) -> Outcome:  # noqa: ARG002
        """The last card goes back into the shoe."""
        raise Refused("a recording cannot be changed")

    def load(self, seed: int | None) -> Outcome:  # noqa: ARG002
        """The next shoe."""
        raise Refused("a recording is one shoe: start another for the next")

    def play(self, count: int) -> Outcome:  # noqa: ARG002
        """The next chunks of a recording, as recorded."""
        raise Refused("only a recording can be played: start with --replay FILE")


class CardDevice(Device):
    """A device with cards in it, not a recording."""

    def __init__(self, shoe: SimulatedShoe) -> None:
        self.shoe = shoe

    @property
    def takes_fault(self) -> bool:
        """See ``Device.takes_fault``."""
        return self.shoe.next_is_card

    def collect(self) -> Outcome:
        """See ``Device.collect``."""
        return Outcome({"ok": True, "count": self.shoe.collect()}, [], [])

    def felt_count(self) -> int:
        """See ``Device.felt_count``."""
        return len(self.shoe.felt)

    def status(self) -> dict[str, object]:
        """See ``Device.status``."""
        shoe = self.shoe
        return {"left": shoe.left, "drawn": shoe.drawn, "shoe": shoe.number, "felt": len(shoe.felt)}

    def load(self, seed: int | None) -> Outcome:
        """See ``Device.load``."""
        self.shoe.load(seed)
        return Outcome({"ok": True, "shoe": self.shoe.number, "cards": self.shoe.left}, [], [])

    def answer(self, steps: list[Step], entries: list[Entry]) -> Outcome:
        """The outcome of a draw: never the face, the dealer does not know it."""
        kind = "cut" if entries and entries[0].item == "cut" else "card"
        return Outcome({"ok": True, "left": self.shoe.left, "item": kind}, steps, entries)


def split(steps: list[Step]) -> list[Step]:
    """The same bytes, each in a write of its own."""
    out: list[Step] = []
    for step in steps:
        if isinstance(step, Send):
            out += [Send(bytes((byte,)), step.after_s if n == 0 else SPLIT_S) for n, byte in enumerate(step.data)]
        else:
            out.append(step)
    return out
