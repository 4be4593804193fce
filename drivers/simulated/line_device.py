"""The simulated line shoe: one code a card, and the ways a reader fails.

Not simulated: baud rate, parity and framing errors, modem lines, flow control, the time bytes need on a wire,
triggers and settings sent by a host (its bytes are read and ignored), AIM prefixes and other terminators than
CR LF, a reader that is wrong about which card passed for longer than one card.
"""

from __future__ import annotations

from random import Random
from typing import ClassVar, Final

from controller.cards import CUT, FACES
from drivers.events import CardDrawn, CutCard, NoRead, UnknownCode
from drivers.line.codec import LineDecoder, encode
from drivers.settings import CodeSet
from drivers.simulated.device import NOISE, CardDevice, split
from drivers.simulated.faults import Fault
from drivers.simulated.shoe import Item, SimulatedShoe
from drivers.simulated.steps import Entry, Outcome, Refused, Send, Step, Unplug, wire_of

# A card read twice on its way out, and two cards that leave together.
REPEAT_S: Final = 0.03
TOGETHER_S: Final = 0.02
# A hand that takes cards past the reader again is slower than the reader's own repeats (0.3 s).
RESCAN_S: Final = (0.4, 0.7)
# Half a line is given this long to be heard before the plug comes out.
HALF_LINE_S: Final = 0.05


class LineDevice(CardDevice):
    """Knows cards only: no positions, no game."""

    protocol: ClassVar[str] = "line"

    def __init__(self, shoe: SimulatedShoe, code_set: CodeSet, rng: Random) -> None:
        super().__init__(shoe)
        self._code_set = code_set
        self._rng = rng

    def draw(self, fault: Fault | None) -> Outcome:
        """See ``Device.draw``."""
        item = self.shoe.take()
        name = fault.name if fault else None
        steps: list[Step] = [Send(self._code(item.card))] if fault is None else self._faulty(item.card, fault)
        entries = [
            Entry(item.shoe, item.index, "cut" if item.card == CUT else "card", item.card, wire_of(steps), name)
        ]
        if name == "two_cards" and self.shoe.next_is_card:
            second = self.shoe.take()
            more: list[Step] = [Send(self._code(second.card), TOGETHER_S)]
            steps += more
            entries.append(Entry(second.shoe, second.index, "card", second.card, wire_of(more), name))
        return self.answer(steps, entries)

    def rescan(self) -> Outcome:
        """See ``Device.rescan``. Nothing leaves the shoe, so nothing is logged."""
        cards = self.shoe.felt
        steps: list[Step] = [Send(self._code(item.card), self._rng.uniform(*RESCAN_S)) for item in cards]
        return Outcome({"ok": True, "count": len(cards)}, steps, [])

    def rescan_last(self) -> Outcome:
        """See ``Device.rescan_last``."""
        item = self._last_card()
        return Outcome({"ok": True, "count": 1}, [Send(self._code(item.card))], [])

    def push_back(self, words: list[str]) -> Outcome:
        """See ``Device.push_back``: a reader of this kind says nothing."""
        if words:
            raise Refused("push_back takes no argument on a line shoe")
        item = self.shoe.push_back()
        entry = Entry(item.shoe, item.index, "pushed_back", item.card, b"")
        return Outcome({"ok": True, "left": self.shoe.left}, [], [entry])

    def _last_card(self) -> Item:
        last = self.shoe.last
        if last is None or last.card == CUT:
            raise Refused("no card to read again: draw first")
        return last

    def _code(self, card: str) -> bytes:
        return encode(CutCard() if card == CUT else CardDrawn(card), self._code_set)

    def _faulty(self, card: str, fault: Fault) -> list[Step]:
        line = self._code(card)
        match fault.name:
            case "no_read":
                return [Send(encode(NoRead("NR")))]
            case "corrupt":
                return [Send(self._corrupt(line))]
            case "misread":
                return [Send(self._code(self._rng.choice([face for face in FACES if face != card])))]
            case "repeat":
                return [Send(line), Send(line, REPEAT_S)]
            case "split":
                return split([Send(line)])
            case "drop":
                return []
            case "noise":
                return [Send(NOISE + b"\r\n"), Send(line)]
            case "unplug":
                return [Unplug(fault.seconds)]
            case "half_line":
                return [Send(line[: len(line.rstrip()) - 1]), Unplug(fault.seconds, HALF_LINE_S)]
        return [Send(line)]

    def _corrupt(self, line: bytes) -> bytes:
        """``line`` with one bit of its code flipped so that it says nothing."""
        code = line.rstrip()
        places = [(byte, bit) for byte in range(len(code)) for bit in range(8)]
        self._rng.shuffle(places)
        for byte, bit in places:
            flipped = bytearray(line)
            flipped[byte] ^= 1 << bit
            events = LineDecoder(self._code_set).feed(bytes(flipped), 0.0)
            if len(events) == 1 and isinstance(events[0], UnknownCode):
                return bytes(flipped)
        raise AssertionError(f"every flip of {line!r} is a code")
