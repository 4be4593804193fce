"""Simulated shoes with an antenna at the mouth, and their readers: FEIG and RR3036.

A card passes the antenna when it is drawn: its tag is in the field for some polls of the host, however fast or slow
these are, and the field is empty for ``gap_s`` of real time before the next card, as with a human dealer. The reader
speaks when it is asked.

Not simulated: how far the antenna reaches, tags that are seen now and then at its edge, cards on the felt that it
sees, the time of an inventory, commands other than the inventory and RR3036's set-up, several readers on one line.
"""

from __future__ import annotations

from abc import abstractmethod
from random import Random
from typing import ClassVar, Final, Literal

from controller.cards import CUT
from drivers.feig import frames as feig
from drivers.framing import CheckedFrames
from drivers.rr3036 import frames as rr3036
from drivers.simulated.device import CardDevice, split
from drivers.simulated.faults import Fault
from drivers.simulated.shoe import Item, SimulatedShoe
from drivers.simulated.steps import Await, Entry, ItemKind, Outcome, Refused, Send, Step, Unplug
from drivers.simulated.tag_deck import TagDeck, strange_uid

# In so many answers a passing tag is named; how long that takes if nobody asks.
PASS_POLLS: Final = 3
PASS_LIMIT_S: Final = 1.0
# Longer than the driver takes a tag for the one it has just seen (0.3 s).
GAP_S: Final = 0.4

_Way = Literal["clear", "dead", "dropped", "corrupt", "split", "incomplete"]
_WAYS: Final[dict[str, _Way]] = {
    "no_read": "dead",
    "drop": "dropped",
    "corrupt": "corrupt",
    "split": "split",
    "incomplete": "incomplete",
}


class TagDevice(CardDevice):
    """A reader and its shoe. A subclass speaks the reader's frames."""

    def __init__(self, shoe: SimulatedShoe, deck: TagDeck, rng: Random, gap_s: float = GAP_S) -> None:
        super().__init__(shoe)
        self._deck = deck
        self._rng = rng
        self._gap_s = gap_s
        self._frames = self._cutter()
        self._passing: list[str] = []
        self._stuck: list[str] = []
        self._way: _Way = "clear"
        self._polls = 0

    @abstractmethod
    def _cutter(self) -> CheckedFrames:
        """Cuts what the host sends."""

    @abstractmethod
    def _reply(self, raw: bytes) -> bytes | None:
        """The answer to a whole request that is no inventory; None if it is one."""

    @abstractmethod
    def _inventory(self, raw: bytes, uids: list[str], *, complete: bool) -> bytes:
        """The answer to the inventory ``raw``. ``raw`` is empty for one that is only written down."""

    def hear(self, data: bytes) -> list[Step]:
        """See ``Device.hear``: every whole request is answered."""
        steps: list[Step] = []
        for cut in self._frames.feed(data):
            if not cut.holds:
                continue
            reply = self._reply(cut.raw)
            steps += [Send(reply)] if reply is not None else self._take_stock(cut.raw)
        return steps

    def draw(self, fault: Fault | None) -> Outcome:
        """See ``Device.draw``."""
        items = [self.shoe.take()]
        name = fault.name if fault else None
        if name == "two_tags" and self.shoe.next_is_card:
            items.append(self.shoe.take())
        uids = [uid for uid in map(self._deck.uid, items) if uid is not None]
        if fault is not None and name == "strange_tag":
            uids = [fault.argument or strange_uid(self._rng)]
        way = _WAYS.get(name or "", "clear")
        said = self._inventory(b"", uids, complete=way != "incomplete") if way not in ("dead", "dropped") else b""
        if fault is not None and name == "unplug":
            steps: list[Step] = [Unplug(fault.seconds)]
        else:
            steps = self._passage(uids, way, stays=name == "stuck")
        return self.answer(steps, [_entry(item, said, name) for item in items])

    def collect(self) -> Outcome:
        """See ``Device.collect``: a tag that stuck at the mouth is taken away, too."""
        self._stuck.clear()
        return super().collect()

    def rescan(self) -> Outcome:
        """See ``Device.rescan``: all cards of the felt are held to the mouth, one after the other."""
        cards = self.shoe.felt
        return Outcome({"ok": True, "count": len(cards)}, [s for card in cards for s in self._shown(card)], [])

    def rescan_last(self) -> Outcome:
        """See ``Device.rescan_last``."""
        last = self.shoe.last
        if last is None or last.card == CUT:
            raise Refused("no card to read again: draw first")
        return Outcome({"ok": True, "count": 1}, self._shown(last), [])

    def push_back(self, words: list[str]) -> Outcome:
        """See ``Device.push_back``: the card passes the mouth again on its way in."""
        if words:
            raise Refused("push_back takes no argument on a shoe with a tag reader")
        item = self.shoe.push_back()
        uid = self._deck.uid(item)
        said = self._inventory(b"", [uid] if uid else [], complete=True)
        entry = Entry(item.shoe, item.index, "pushed_back", item.card, said)
        return Outcome({"ok": True, "left": self.shoe.left}, self._shown(item), [entry])

    def _shown(self, item: Item) -> list[Step]:
        uid = self._deck.uid(item)
        return self._passage([] if uid is None else [uid], "clear")

    def _passage(self, uids: list[str], way: _Way, *, stays: bool = False) -> list[Step]:
        """Into the field, out of it, and nothing for a while."""

        def enter() -> list[Step]:
            self._passing, self._way, self._polls = uids, way, 0
            return []

        def leave() -> list[Step]:
            if stays:
                self._stuck += uids
            self._passing, self._way, self._polls = [], "clear", 0
            return []

        return [
            Await(lambda: True, 0.0, enter),
            Await(lambda: self._polls >= PASS_POLLS, PASS_LIMIT_S, leave),
            # Who asks again has read the answer before: from then on the host's time without this tag runs, too.
            Await(lambda: self._polls >= 1, PASS_LIMIT_S, list),
            Await(lambda: False, self._gap_s, list),
        ]

    def _take_stock(self, raw: bytes) -> list[Step]:
        """The answer to an inventory, as the present fault leaves it."""
        self._polls += 1
        present = self._stuck + ([] if self._way == "dead" else self._passing)
        answer = self._inventory(raw, present, complete=self._way != "incomplete")
        if self._way == "dropped":
            return []
        if self._way == "corrupt" and self._polls == 1:
            flipped = bytearray(answer)
            flipped[-1] ^= 1 << self._rng.randrange(8)
            answer = bytes(flipped)
        return split([Send(answer)]) if self._way == "split" else [Send(answer)]


class FeigDevice(TagDevice):
    """A FEIG reader: it answers in the form it is asked in."""

    protocol: ClassVar[str] = "feig"

    def _cutter(self) -> CheckedFrames:
        return feig.frames()

    def _reply(self, raw: bytes) -> bytes | None:
        request = feig.parse_request(raw)
        if request is None:
            return b""
        if request.control == feig.INVENTORY:
            return None
        return feig.encode_answer(feig.Answer(request.control, feig.OK), feig.form_of(raw))

    def _inventory(self, raw: bytes, uids: list[str], *, complete: bool) -> bytes:
        form = feig.form_of(raw) if raw else "advanced"
        if not complete:
            return feig.encode_answer(feig.Answer(feig.INVENTORY, feig.MORE_DATA), form)
        if not uids:
            return feig.encode_answer(feig.Answer(feig.INVENTORY, feig.NO_TAG), form)
        data = feig.encode_tags([feig.Tag(uid) for uid in uids])
        return feig.encode_answer(feig.Answer(feig.INVENTORY, feig.OK, data), form)


class Rr3036Device(TagDevice):
    """An RR3036 reader: it takes stock of ISO 15693 tags once it was turned to them."""

    protocol: ClassVar[str] = "rr3036"

    def __init__(self, shoe: SimulatedShoe, deck: TagDeck, rng: Random, gap_s: float = GAP_S) -> None:
        super().__init__(shoe, deck, rng, gap_s)
        self._ready = False

    def _cutter(self) -> CheckedFrames:
        return rr3036.frames()

    def _reply(self, raw: bytes) -> bytes | None:
        request = rr3036.parse_request(raw)
        if request is None:
            return b""
        asked = (request.command, request.state)
        if asked == rr3036.INVENTORY[:2]:
            return None if self._ready else rr3036.encode_answer(rr3036.Answer(rr3036.WRONG_MODE))
        if asked == rr3036.TO_ISO_15693[:2]:
            self._ready = True
        return rr3036.encode_answer(rr3036.Answer(rr3036.OK))

    def _inventory(self, raw: bytes, uids: list[str], *, complete: bool) -> bytes:  # noqa: ARG002  (one form)
        if not complete:
            return rr3036.encode_answer(rr3036.Answer(min(rr3036.INCOMPLETE)))
        if not uids:
            return rr3036.encode_answer(rr3036.Answer(rr3036.NO_TAG))
        data = rr3036.encode_tags([rr3036.Tag(uid) for uid in uids])
        return rr3036.encode_answer(rr3036.Answer(rr3036.OK, data))


def _entry(item: Item, said: bytes, fault: str | None) -> Entry:
    kind: ItemKind = "cut" if item.card == CUT else "card"
    return Entry(item.shoe, item.index, kind, item.card, said, fault)
