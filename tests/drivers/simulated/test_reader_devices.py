"""The simulated readers and the scanner, judged by the decoders that the table uses, on one clock."""

from __future__ import annotations

from random import Random

import msgspec
import pytest

from controller.cards import CUT, FACES
from drivers.decoder import Decoder
from drivers.events import (
    CardDrawn,
    CutCard,
    Event,
    Gap,
    NoRead,
    Repeated,
    TagForeign,
    TagRepeated,
    TagsTogether,
    TagUnknown,
)
from drivers.feig import frames as feig
from drivers.feig.codec import FeigDecoder
from drivers.mouth import Mouth
from drivers.rr3036 import frames as rr
from drivers.rr3036.codec import Rr3036Decoder
from drivers.simulated.device import CardDevice
from drivers.simulated.faults import FAULTS, Fault
from drivers.simulated.shoe import SimulatedShoe
from drivers.simulated.ssi_device import SsiDevice
from drivers.simulated.steps import Await, Outcome, Refused, Send, Step, Unplug
from drivers.simulated.tag_deck import TagDeck, made_registry
from drivers.simulated.tag_device import FeigDevice, Rr3036Device
from drivers.ssi.codec import SsiDecoder
from drivers.tags import Shoes, TagRegistry

STEP_S = 0.005
REGISTRY = made_registry(7)
FOREIGN = "E0070100000000AA"
SHOES = Shoes([REGISTRY, TagRegistry("other", {FOREIGN: "7H"})])
READERS = {"feig": (FeigDevice, FeigDecoder), "rr3036": (Rr3036Device, Rr3036Decoder)}


def untagged(events: list[Event]) -> list[Event]:
    """The tags are the device's own affair here."""
    tagged = {CardDrawn: {"tag": None}, TagsTogether: {"tags": ()}, CutCard: {"tag": None}}
    return [msgspec.structs.replace(event, **tagged.get(type(event), {})) for event in events]


class Pair:
    """A device and a decoder on one line and one clock, without a process."""

    def __init__(self, device: CardDevice, decoder: Decoder) -> None:
        self.device = device
        self.decoder = decoder
        self.now = 10.0
        self.plugged = True
        decoder.reopened()

    def draw(self, name: str | None = None, argument: str = "") -> list[Event]:
        """The events of one draw, and of a second after it."""
        return untagged(self.do(self.device.draw(Fault(name, argument) if name else None)))

    def do(self, outcome: Outcome) -> list[Event]:
        events: list[Event] = []
        steps = list(outcome.steps)
        while steps:
            step = steps.pop(0)
            end = self.now + step.after_s
            while self.now < end:
                events += self._tick()
            if isinstance(step, Send):
                events += self._tick(step.data)
            elif isinstance(step, Unplug):
                self.plugged = False
                events += [event for event, _ in self.decoder.flush(self.now)]
                self.now += step.seconds
                self.plugged = True
                self.decoder.reopened()
            else:
                events += self._await(step, steps)
        end = self.now + 1.0
        while self.now < end:
            events += self._tick()
        return events

    def _await(self, step: Await, steps: list[Step]) -> list[Event]:
        events: list[Event] = []
        end = self.now + step.limit_s
        while self.now < end and not step.done():
            events += self._tick()
        steps[:0] = step.then()
        return events

    def _tick(self, sent: bytes = b"") -> list[Event]:
        """A moment: what the host sends is heard, and answered."""
        asked = self.decoder.outgoing(self.now)
        answer = b"".join(s.data for s in self.device.hear(asked) if isinstance(s, Send)) if asked else b""
        self.now += STEP_S
        data = sent + answer
        said = self.decoder.decode(data, self.now) if data else self.decoder.idle(self.now)
        return [event for event, _ in said]


def shoe_of(cards: tuple[str, ...]) -> SimulatedShoe:
    return SimulatedShoe(1, cards=list(cards)) if cards else SimulatedShoe(1)


@pytest.fixture(params=sorted(READERS))
def protocol(request: pytest.FixtureRequest) -> str:
    name = request.param
    assert isinstance(name, str)
    return name


def reader(protocol: str, *cards: str) -> Pair:
    device, decoder = READERS[protocol]
    pair = Pair(device(shoe_of(cards), TagDeck(REGISTRY, 7), Random(1)), decoder(Mouth(SHOES)))
    pair.do(Outcome({}, [], []))
    return pair


def scanner(*cards: str) -> Pair:
    return Pair(SsiDevice(shoe_of(cards), "scan_table", Random(1)), SsiDecoder())


def test_cards_are_drawn_in_order(protocol: str) -> None:
    cards = ("QD", "QD", CUT, "AS", "2H")
    pair = reader(protocol, *cards)
    assert [event for _ in cards for event in pair.draw()] == [
        CutCard() if card == CUT else CardDrawn(card) for card in cards
    ]


def test_a_ninth_card_of_a_face_is_in_no_registry(protocol: str) -> None:
    pair = reader(protocol, *["QD"] * 9)
    events = [event for _ in range(9) for event in pair.draw()]
    assert events[:8] == [CardDrawn("QD")] * 8
    assert isinstance(events[8], TagUnknown)


def test_a_card_shown_again_or_pushed_back_is_a_repeat(protocol: str) -> None:
    pair = reader(protocol, "QD", "AS")
    pair.draw()
    pair.draw()
    for outcome, faces in [
        (pair.device.rescan(), ["QD", "AS"]),
        (pair.device.rescan_last(), ["AS"]),
        (pair.device.push_back([]), ["AS"]),
        (pair.device.draw(None), ["AS"]),
    ]:
        told = pair.do(outcome)
        assert [event.card for event in told if isinstance(event, TagRepeated)] == faces
        assert len(told) == len(faces)
    with pytest.raises(Refused, match="no argument"):
        pair.device.push_back(["midway"])
    pair.device.collect()
    with pytest.raises(Refused, match="draw first"):
        pair.device.rescan_last()


@pytest.mark.parametrize(
    ("fault", "argument", "expected"),
    [
        ("no_read", "", []),
        ("two_tags", "", [TagsTogether]),
        ("strange_tag", "", [TagUnknown]),
        ("strange_tag", FOREIGN, [TagForeign]),
        ("stuck", "", [CardDrawn]),
        ("drop", "", [Gap]),
        ("corrupt", "", [CardDrawn]),
        ("split", "", [CardDrawn]),
        ("unplug", "0.5", []),
    ],
)
def test_faults_of_a_reader(protocol: str, fault: str, argument: str, expected: list[type[Event]]) -> None:
    pair = reader(protocol, "2H", "QD", "AS", "KC")
    assert pair.draw() == [CardDrawn("2H")]
    assert [type(event) for event in pair.draw(fault, argument)] == expected
    pair.device.collect()
    pair.do(Outcome({}, [], []))
    after = "KC" if fault == "two_tags" else "AS"
    assert pair.draw() == [CardDrawn(after)], "the next card is sound"


def test_a_tag_that_sticks_holds_up_the_next_card(protocol: str) -> None:
    pair = reader(protocol, "QD", "AS", "KC")
    assert pair.draw("stuck") == [CardDrawn("QD")]
    assert pair.draw() == [TagsTogether("tags together", ("AS",), ("QD",))]


def test_an_inventory_that_cannot_be_resolved() -> None:
    pair = reader("rr3036", "QD", "AS")
    assert pair.draw("incomplete") == [NoRead("inventory incomplete (0A)")]
    assert pair.draw() == [CardDrawn("AS")]


def test_readers_answer_what_else_is_asked() -> None:
    pair = reader("feig", "QD")
    for form in ("advanced", "standard"):
        asked = feig.encode_request(feig.Request(feig.SOFTWARE_VERSION), form)  # type: ignore[arg-type]
        [step] = pair.device.hear(b"\xff" + asked)
        assert isinstance(step, Send)
        assert feig.parse_answer(step.data) == feig.Answer(feig.SOFTWARE_VERSION, feig.OK)
        assert feig.form_of(step.data) == form
    fresh = Rr3036Device(shoe_of(("QD",)), TagDeck(REGISTRY, 7), Random(1))
    [step] = fresh.hear(rr.encode_request(rr.INVENTORY))
    assert isinstance(step, Send)
    assert rr.parse_answer(step.data) == rr.Answer(rr.WRONG_MODE)


def test_the_same_seed_gives_the_same_tags() -> None:
    assert made_registry(7) == REGISTRY
    assert made_registry(8) != REGISTRY
    shoe = SimulatedShoe(1)
    items = [shoe.take() for _ in range(417)]
    decks = [TagDeck(REGISTRY, 7), TagDeck(REGISTRY, 7)]
    tags = [[deck.uid(item) for item in items] for deck in decks]
    assert tags[0] == tags[1]
    assert len(set(tags[0])) == 417
    assert all(REGISTRY.cards[uid] == item.card for uid, item in zip(tags[0], items, strict=True) if uid)


@pytest.mark.parametrize(
    ("fault", "argument", "expected"),
    [
        ("no_read", "", [NoRead("NR")]),
        ("corrupt", "", [CardDrawn("QD")]),
        ("duplicate", "", [CardDrawn("QD")]),
        ("repeat", "", [CardDrawn("QD"), Repeated("QD")]),
        ("two_cards", "", [CardDrawn("QD"), CardDrawn("AS")]),
        ("split", "", [CardDrawn("QD")]),
        ("drop", "", []),
        ("noise", "", [CardDrawn("QD")]),
        ("unplug", "0.5", []),
        ("half_packet", "0.5", [CardDrawn("QD")]),
    ],
)
def test_faults_of_a_scanner(fault: str, argument: str, expected: list[Event]) -> None:
    pair = scanner("2H", "QD", "AS", "KC")
    assert pair.draw() == [CardDrawn("2H")]
    assert pair.draw(fault, argument) == expected
    assert pair.draw() == [CardDrawn("KC" if fault == "two_cards" else "AS")]


def test_a_scanner_that_sends_nothing_but_damage() -> None:
    pair = scanner("QD", "AS")
    assert pair.draw("lost") + pair.draw() == [NoRead("damaged packet"), CardDrawn("AS")]


def test_a_scanner_that_is_wrong() -> None:
    [event] = scanner("QD").draw("misread")
    assert isinstance(event, CardDrawn)
    assert event.card != "QD"


def test_a_scanner_shows_the_felt_again() -> None:
    pair = scanner("QD", CUT, "AS")
    assert [event for _ in range(3) for event in pair.draw()] == [CardDrawn("QD"), CutCard(), CardDrawn("AS")]
    assert pair.do(pair.device.rescan()) == [CardDrawn("QD"), CardDrawn("AS")]
    assert pair.do(pair.device.rescan_last()) == [CardDrawn("AS")]
    assert pair.do(pair.device.push_back([])) == []
    with pytest.raises(Refused, match="no argument"):
        pair.device.push_back(["midway"])
    pair.device.collect()
    with pytest.raises(Refused, match="draw first"):
        pair.device.rescan_last()


@pytest.mark.parametrize("name", ["feig", "rr3036", "ssi"])
def test_every_fault_takes_one_or_two_cards_and_tells_no_face_to_the_dealer(name: str) -> None:
    for fault in FAULTS[name]:
        pair = scanner(*FACES) if name == "ssi" else reader(name, *FACES)
        outcome = pair.device.draw(Fault(fault))
        assert pair.device.shoe.drawn == len(outcome.entries) == (2 if fault in ("two_cards", "two_tags") else 1)
        assert {entry.fault for entry in outcome.entries} == {fault}
        assert set(outcome.answer) == {"ok", "left", "item"}
