"""The simulated Zebra scanner at a shoe's mouth: one packet a card, sent again until the host answers.

Not simulated: baud rate and parity, the time bytes need on a wire, modem lines, parameters, beeper and light, a
scanner that reads only in a session (sessions are answered and change nothing), continued packets.
"""

from __future__ import annotations

from random import Random
from typing import ClassVar, Final

from controller.cards import CUT, FACES
from drivers.line.codes import card_code
from drivers.settings import DEFAULT_CUT_CODES, CodeSet
from drivers.simulated.device import NOISE, CardDevice, split
from drivers.simulated.faults import Fault
from drivers.simulated.shoe import Item, SimulatedShoe
from drivers.simulated.steps import Await, Entry, ItemKind, Outcome, Refused, Send, Step, Unplug, wire_of
from drivers.ssi.frames import (
    ACK,
    NAK,
    NOT_READ,
    REPLY_REVISION,
    REQUEST_REVISION,
    SCANNER,
    Packet,
    again,
    decoded,
    encode,
    frames,
    parse,
)

# How long the scanner waits for the host, and how often it sends again. Scanners wait 2 s unless told otherwise.
ANSWER_S: Final = 0.5
RETRIES: Final = 2

REPEAT_S: Final = 0.03
RESCAN_S: Final = (0.4, 0.7)
HALF_PACKET_S: Final = 0.05
_REVISION: Final = b"SIMULATED"


class SsiDevice(CardDevice):
    """Knows cards only, and whether the host took the last packet."""

    protocol: ClassVar[str] = "ssi"

    def __init__(self, shoe: SimulatedShoe, code_set: CodeSet, rng: Random) -> None:
        super().__init__(shoe)
        self._code_set = code_set
        self._rng = rng
        self._frames = frames()
        self._taken = True
        self._refused = False
        self._deaf = False

    def hear(self, data: bytes) -> list[Step]:
        """See ``Device.hear``."""
        steps: list[Step] = []
        for cut in self._frames.feed(data):
            packet = parse(cut.raw)
            if packet is None or packet.source == SCANNER:
                continue
            if packet.op == ACK:
                self._taken = not self._deaf
                self._deaf = False
            elif packet.op == NAK:
                self._refused = True
            elif packet.op == REQUEST_REVISION:
                steps.append(Send(encode(Packet(REPLY_REVISION, _REVISION))))
            else:
                steps.append(Send(encode(Packet(ACK))))
        return steps

    def draw(self, fault: Fault | None) -> Outcome:
        """See ``Device.draw``."""
        item = self.shoe.take()
        name = fault.name if fault else None
        steps = self._say(decoded(self._code(item.card))) if fault is None else self._faulty(item, fault)
        entries = [Entry(item.shoe, item.index, _kind(item), item.card, wire_of(steps), name)]
        if name == "two_cards" and self.shoe.next_is_card:
            second = self.shoe.take()
            more = self._say(decoded(self._code(second.card)))
            steps += more
            entries.append(Entry(second.shoe, second.index, "card", second.card, wire_of(more), name))
        return self.answer(steps, entries)

    def rescan(self) -> Outcome:
        """See ``Device.rescan``."""
        cards = self.shoe.felt
        steps: list[Step] = []
        for item in cards:
            steps += self._say(decoded(self._code(item.card)), after_s=self._rng.uniform(*RESCAN_S))
        return Outcome({"ok": True, "count": len(cards)}, steps, [])

    def rescan_last(self) -> Outcome:
        """See ``Device.rescan_last``."""
        last = self.shoe.last
        if last is None or last.card == CUT:
            raise Refused("no card to read again: draw first")
        return Outcome({"ok": True, "count": 1}, self._say(decoded(self._code(last.card))), [])

    def push_back(self, words: list[str]) -> Outcome:
        """See ``Device.push_back``: a scanner of this kind says nothing."""
        if words:
            raise Refused("push_back takes no argument on a scanner")
        item = self.shoe.push_back()
        return Outcome(
            {"ok": True, "left": self.shoe.left}, [], [Entry(item.shoe, item.index, "pushed_back", item.card, b"")]
        )

    def _code(self, card: str) -> bytes:
        return (DEFAULT_CUT_CODES[0] if card == CUT else card_code(card, self._code_set)).encode("ascii")

    def _say(self, packet: Packet, *, after_s: float = 0.0, bad: int = 0, cut: bool = False) -> list[Step]:
        """``packet``, and again while the host does not take it; the first ``bad`` copies have a wrong check."""
        frame = encode(packet)
        first: list[Step] = [Send(_damaged(frame) if bad else frame, after_s)]
        begin = Await(lambda: True, 0.0, self._forget_answer)
        return [begin, *(split(first) if cut else first), self._until_taken(packet, RETRIES, bad - 1)]

    def _until_taken(self, packet: Packet, retries: int, bad: int) -> Step:
        def next_copy() -> list[Step]:
            if self._taken or not retries:
                return []
            self._forget_answer()
            frame = encode(again(packet))
            return [Send(_damaged(frame) if bad > 0 else frame), self._until_taken(packet, retries - 1, bad - 1)]

        return Await(lambda: self._taken or self._refused, ANSWER_S, next_copy)

    def _forget_answer(self) -> list[Step]:
        self._taken = self._refused = False
        return []

    def _faulty(self, item: Item, fault: Fault) -> list[Step]:
        packet = decoded(self._code(item.card))
        match fault.name:
            case "no_read":
                return self._say(decoded(b"NR", NOT_READ))
            case "corrupt":
                return self._say(packet, bad=1)
            case "lost":
                return self._say(packet, bad=RETRIES + 1)
            case "duplicate":
                self._deaf = True
            case "misread":
                other = self._rng.choice([face for face in FACES if face != item.card])
                return self._say(decoded(self._code(other)))
            case "repeat":
                return self._say(packet) + self._say(packet, after_s=REPEAT_S)
            case "split":
                return self._say(packet, cut=True)
            case "drop":
                return []
            case "noise":
                return [Send(NOISE), *self._say(packet)]
            case "unplug":
                return [Unplug(fault.seconds)]
            case "half_packet":
                half = encode(packet)[:4]
                # Plugged in again, the scanner has power again: it starts with what it had not got rid of.
                return [Send(half), Unplug(fault.seconds, HALF_PACKET_S), *self._when_back(packet, fault.seconds)]
        return self._say(packet)

    def _when_back(self, packet: Packet, seconds: float) -> list[Step]:
        return [Await(lambda: False, seconds + _SETTLE_S, lambda: self._say(again(packet)))]


# A host looks for a lost line a few times a second, and flushes it when it has found it.
_SETTLE_S: Final = 3.0


def _kind(item: Item) -> ItemKind:
    return "cut" if item.card == CUT else "card"


def _damaged(frame: bytes) -> bytes:
    """``frame`` with its check wrong."""
    return frame[:-1] + bytes((frame[-1] ^ 0x01,))
