"""The bytes of the line shoe, sound and faulty, judged by the codec that the table uses."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest

from controller.cards import CUT, FACES
from drivers.events import CardDrawn, CutCard, NoRead, Repeated, UnknownCode
from drivers.line.codec import LineDecoder
from drivers.settings import CodeSet
from drivers.simulated.faults import FAULTS, Fault
from drivers.simulated.line_device import LineDevice
from drivers.simulated.shoe import SimulatedShoe
from drivers.simulated.steps import Entry, Outcome, Refused, Send, Unplug, wire_of

CODE_SETS: tuple[CodeSet, ...] = ("scan_table", "suit_rank")


def device(*cards: str, code_set: CodeSet = "scan_table", seed: int = 1) -> LineDevice:
    return LineDevice(SimulatedShoe(seed, cards=list(cards)), code_set, Random(seed))


def draw(shoe: LineDevice, name: str | None = None, argument: str = "") -> Outcome:
    return shoe.draw(Fault(name, argument) if name else None)


def heard(outcome: Outcome, code_set: CodeSet = "scan_table") -> list[Any]:
    return LineDecoder(code_set).feed(wire_of(outcome.steps), 0.0)


@pytest.mark.parametrize("code_set", CODE_SETS)
def test_every_card_and_the_cut_card_are_heard_as_they_are(code_set: CodeSet) -> None:
    shoe = device(*FACES, CUT, code_set=code_set)
    for number, card in enumerate(FACES, 1):
        outcome = draw(shoe)
        assert heard(outcome, code_set) == [CardDrawn(card)]
        assert outcome.answer == {"ok": True, "left": len(FACES) - number, "item": "card"}
    outcome = draw(shoe)
    assert heard(outcome, code_set) == [CutCard()]
    assert outcome.answer == {"ok": True, "left": 0, "item": "cut"}


def test_golden_bytes() -> None:
    outcome = draw(device("QD"))
    assert outcome.steps == [Send(bytes.fromhex("44 31 32 0D 0A"))]
    assert outcome.entries == [Entry(1, 0, "card", "QD", b"D12\r\n", None)]
    assert draw(device("TH", code_set="suit_rank")).steps == [Send(b"H10\r\n")]


def test_no_read_leaves_the_card_on_the_felt_and_it_can_be_read_again() -> None:
    shoe = device("QD", "AS")
    outcome = draw(shoe, "no_read")
    assert outcome.steps == [Send(b"NR\r\n")]
    assert outcome.entries == [Entry(1, 0, "card", "QD", b"NR\r\n", "no_read")]
    assert heard(outcome) == [NoRead("NR")]
    assert shoe.rescan_last().steps == [Send(b"D12\r\n")]
    assert shoe.felt_count() == 1


@pytest.mark.parametrize("code_set", CODE_SETS)
def test_a_corrupt_code_is_one_bit_away_and_no_code(code_set: CodeSet) -> None:
    for card, seed in product(FACES, range(10)):
        sound = wire_of(draw(device(card, code_set=code_set)).steps)
        outcome = draw(device(card, code_set=code_set, seed=seed), "corrupt")
        damaged = wire_of(outcome.steps)
        assert [type(event) for event in heard(outcome, code_set)] == [UnknownCode]
        assert sum((a ^ b).bit_count() for a, b in zip(sound, damaged, strict=True)) == 1


def test_a_misread_is_another_face_and_the_log_has_the_truth() -> None:
    seen = set()
    for seed in range(50):
        outcome = draw(device("QD", seed=seed), "misread")
        (event,) = heard(outcome)
        assert isinstance(event, CardDrawn)
        assert event.card != "QD"
        assert outcome.entries[0].card == "QD"
        seen.add(event.card)
    assert len(seen) > 20


def test_repeat_is_the_line_twice_within_50_ms() -> None:
    outcome = draw(device("QD"), "repeat")
    first, second = outcome.steps
    assert isinstance(second, Send)
    assert first == Send(b"D12\r\n")
    assert second.data == b"D12\r\n"
    assert 0 < second.after_s <= 0.05
    assert heard(outcome) == [CardDrawn("QD"), Repeated("QD")]


def test_two_cards_leave_and_both_are_logged() -> None:
    shoe = device("QD", "AS", "2H")
    outcome = draw(shoe, "two_cards")
    assert heard(outcome) == [CardDrawn("QD"), CardDrawn("AS")]
    assert [(entry.index, entry.card, entry.wire) for entry in outcome.entries] == [
        (0, "QD", b"D12\r\n"),
        (1, "AS", b"A01\r\n"),
    ]
    assert outcome.answer["left"] == 1
    assert shoe.felt_count() == 2
    assert len(draw(shoe, "two_cards").entries) == 1


def test_split_writes_each_byte_alone() -> None:
    steps = draw(device("QD"), "split").steps
    assert [step.data for step in steps if isinstance(step, Send)] == [b"D", b"1", b"2", b"\r", b"\n"]


def test_drop_sends_nothing_and_the_card_has_left() -> None:
    shoe = device("QD", "AS")
    outcome = draw(shoe, "drop")
    assert outcome == Outcome({"ok": True, "left": 1, "item": "card"}, [], [Entry(1, 0, "card", "QD", b"", "drop")])
    assert shoe.felt_count() == 1


def test_noise_is_junk_on_a_line_of_its_own() -> None:
    outcome = draw(device("QD"), "noise")
    assert wire_of(outcome.steps) == b"\xff\xff\xc5\xfc\r\nD12\r\n"
    assert [type(event) for event in heard(outcome)] == [UnknownCode, CardDrawn]


def test_unplug_and_half_a_line() -> None:
    assert draw(device("QD"), "unplug", "0.5").steps == [Unplug(0.5)]
    half, unplug = draw(device("QD"), "half_line", "3").steps
    assert half == Send(b"D1")
    assert isinstance(unplug, Unplug)
    assert unplug.seconds == 3


def test_faults_wait_for_a_card() -> None:
    shoe = device(CUT, "QD")
    assert not shoe.takes_fault
    draw(shoe)
    assert shoe.takes_fault


@pytest.mark.parametrize("name", FAULTS["line"])
def test_every_fault_takes_one_or_two_cards_and_tells_no_face_to_the_dealer(name: str) -> None:
    shoe = device(*FACES)
    outcome = draw(shoe, name)
    assert shoe.shoe.drawn == len(outcome.entries) == (2 if name == "two_cards" else 1)
    assert {entry.fault for entry in outcome.entries} == {name}
    assert set(outcome.answer) == {"ok", "left", "item"}


def test_the_felt_goes_past_the_reader_in_order_slower_than_a_reader_repeats() -> None:
    shoe = device("QD", "QD", CUT, "AS")
    for _ in range(4):
        draw(shoe)
    outcome = shoe.rescan()
    assert outcome.answer == {"ok": True, "count": 3}
    assert outcome.entries == []
    decoder = LineDecoder()
    now, events = 0.0, []
    for step in outcome.steps:
        assert isinstance(step, Send)
        now += step.after_s
        events += decoder.feed(step.data, now)
    assert events == [CardDrawn("QD"), CardDrawn("QD"), CardDrawn("AS")]
    shoe.collect()
    assert shoe.rescan() == Outcome({"ok": True, "count": 0}, [], [])
    with pytest.raises(Refused, match="draw first"):
        shoe.rescan_last()


def test_a_card_pushed_back_is_silent_and_comes_again() -> None:
    shoe = device("QD", "AS")
    draw(shoe)
    outcome = shoe.push_back([])
    assert outcome == Outcome({"ok": True, "left": 2}, [], [Entry(1, 0, "pushed_back", "QD", b"")])
    assert heard(draw(shoe)) == [CardDrawn("QD")]
    with pytest.raises(Refused, match="no argument"):
        shoe.push_back(["midway"])


def test_load_answers_with_the_number_of_the_shoe() -> None:
    shoe = LineDevice(SimulatedShoe(1), "scan_table", Random(1))
    draw(shoe)
    assert shoe.load(None) == Outcome({"ok": True, "shoe": 2, "cards": 416}, [], [])
    assert shoe.status() == {"left": 416, "drawn": 0, "shoe": 2, "felt": 0}
