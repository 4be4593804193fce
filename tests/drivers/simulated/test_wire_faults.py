"""Faults of the line: seeded, named, and no protocol with a check makes another card of them."""

from __future__ import annotations

from random import Random

import pytest

from drivers.angel.codec import AngelDecoder
from drivers.decoder import Decoder
from drivers.events import CardDrawn, CardReused, CardRevealed, Event, Gap
from drivers.line.codec import LineDecoder
from drivers.simulated.angel_device import AngelDevice
from drivers.simulated.device import CardDevice
from drivers.simulated.faults import FAULTS, Fault
from drivers.simulated.line_device import LineDevice
from drivers.simulated.recording import Recording, ReplayDevice
from drivers.simulated.shoe import SimulatedShoe
from drivers.simulated.steps import Send, Step, Unplug, wire_of
from drivers.simulated.wire_faults import DELAY_S, STUCK_COPIES, WIRE_FAULTS, damage, draw, faults_of

STEPS: list[Step] = [Send(b"ABCD", 0.1), Send(b"EFGH", 0.2), Send(b"ABCD", 0.3)]


def device(protocol: str, seed: int = 1) -> CardDevice:
    shoe = SimulatedShoe(seed)
    if protocol == "angel":
        return AngelDevice(shoe, "open")
    return LineDevice(shoe, "scan_table", Random(seed))


def damaged(name: str, seed: int = 1) -> list[Step]:
    return damage(STEPS, Fault(name), Random(seed))


def test_what_each_does() -> None:
    assert damaged("merge") == [Send(b"ABCDEFGHABCD", 0.1)]
    assert [step.data for step in damaged("split") if isinstance(step, Send)] == [
        bytes((n,)) for n in b"ABCDEFGHABCD"
    ]
    assert damaged("duplicate") == [step for step in STEPS for _ in range(2)]
    assert sorted(damaged("reorder")) == sorted(STEPS)
    assert damaged("reorder") != STEPS
    assert 8 <= len(wire_of(damaged("drop"))) < 12
    before, after = wire_of(STEPS), wire_of(damaged("corrupt"))
    assert sum((x ^ y).bit_count() for x, y in zip(before, after, strict=True)) == 1
    assert wire_of(damaged("delay")) == before
    assert sum(step.after_s == DELAY_S for step in damaged("delay")) == 1
    assert wire_of(damaged("babble"))[400:-400] == before
    assert wire_of(damaged("noise")).endswith(b"\xc5\xfc" + before)
    assert wire_of(damaged("stuck")) == before + b"ABCD" * STUCK_COPIES
    assert damage(STEPS, Fault("unplug", "3"), Random(1)) == [Unplug(3.0), *STEPS]


def test_every_fault_has_its_place_and_nothing_is_no_message() -> None:
    for name in WIRE_FAULTS:
        damage(STEPS, Fault(name), Random(1))
        damage([], Fault(name), Random(1))
        damage([Unplug(1.0), Send(b"A")], Fault(name), Random(1))


@pytest.mark.parametrize("name", WIRE_FAULTS)
def test_the_seed_alone_decides(name: str) -> None:
    assert damaged(name, 5) == damaged(name, 5)


def test_pauses_are_kept() -> None:
    for name in ("drop", "corrupt", "delay"):
        assert [step.after_s for step in damaged(name) if step.after_s != DELAY_S] == [0.1, 0.2, 0.3]


def test_the_devices_own_fault_comes_first_and_the_log_has_the_truth() -> None:
    outcome = draw(device("line"), Fault("drop"), Random(1))
    assert (outcome.steps, outcome.entries[0].wire) == ([], b"")
    outcome = draw(device("line"), Fault("duplicate"), Random(1))
    assert wire_of(outcome.steps) == outcome.entries[0].wire * 2
    assert outcome.entries[0].fault == "duplicate"
    replay = ReplayDevice(Recording("line", [b"D12\r\n", b"H01\r\n"]))
    assert len(wire_of(draw(replay, Fault("drop"), Random(1)).steps)) < 5


def test_faults_by_protocol() -> None:
    assert faults_of("line") == {**WIRE_FAULTS, **FAULTS["line"]}
    assert faults_of("replay")["babble"] == WIRE_FAULTS["babble"]


def cards_of(events: list[Event]) -> list[str]:
    return [event.card for event in events if isinstance(event, CardDrawn | CardReused | CardRevealed)]


def in_order(heard: list[str], truth: list[str]) -> bool:
    left = iter(truth)
    return all(card in left for card in heard)


@pytest.mark.parametrize("name", sorted(set(WIRE_FAULTS) - {"unplug"}))
@pytest.mark.parametrize("seed", range(20))
def test_the_angel_eye_makes_no_other_card_of_any_of_them(name: str, seed: int) -> None:
    shoe, rng = device("angel", seed), Random(seed)
    decoder: Decoder = AngelDecoder()
    events: list[Event] = []
    truth: list[str] = []
    now = 0.0
    for _ in range(25):
        outcome = draw(shoe, Fault(name) if rng.random() < 0.5 else None, rng)
        truth += [entry.card for entry in outcome.entries]
        for step in outcome.steps:
            assert isinstance(step, Send)
            now += step.after_s
            events += decoder.feed(step.data, now)
        now += 1.2
    heard = cards_of(events)
    # A card that comes again after another telegram is told again, behind a gap: never a face that was not drawn.
    gaps = sum(isinstance(event, Gap) for event in events)
    assert in_order(heard, truth) or gaps
    assert set(heard) <= set(truth)
    if name in ("split", "merge", "delay", "noise", "duplicate"):
        assert (heard, gaps) == (truth, 0)


@pytest.mark.parametrize("name", ["split", "merge", "delay", "noise", "duplicate", "stuck"])
def test_a_line_shoe_tells_the_same_cards(name: str) -> None:
    shoe, rng = device("line"), Random(1)
    decoder = LineDecoder()
    events: list[Event] = []
    truth: list[str] = []
    now = 0.0
    for _ in range(25):
        outcome = draw(shoe, Fault(name), rng)
        truth += [entry.card for entry in outcome.entries]
        for step in outcome.steps:
            assert isinstance(step, Send)
            now += step.after_s
            events += decoder.feed(step.data, now)
        now += 1.2
    assert cards_of(events) == truth
