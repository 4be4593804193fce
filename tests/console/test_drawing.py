"""Cards, roads and plots as pictures, and the alarms' fold: pure, so without a browser."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from controller import public
from controller.cards import CUT, FACES, HIDDEN
from controller.console import drawing, plots
from controller.console.alarms import Alarms
from controller.rules.roads import roads

WORDS = {"B": "banker", "P": "player", "T": "tie"}


def drawn(text: str) -> dict[str, Any]:
    return dict(roads([WORDS[letter] for letter in text]))


@pytest.mark.parametrize("face", [*FACES, HIDDEN, CUT])
def test_every_card_is_a_picture_with_a_name(face: str) -> None:
    picture = ElementTree.fromstring(str(drawing.card(face)))
    assert picture.get("aria-label") == drawing.card_name(face)
    assert "style" not in picture.keys()  # noqa: SIM118 - an XML element is no mapping


def test_a_hidden_card_looks_like_any_other() -> None:
    assert len({str(drawing.card(HIDDEN)) for _ in range(3)}) == 1
    assert "<text" not in str(drawing.card(HIDDEN))


def test_a_long_streak_turns_right_at_the_bottom_and_the_next_one_before_it() -> None:
    found = drawn("BBBBBBBPPPPPPPP")
    picture = str(plots.big_road(found["big_road"]))
    middles = [(int(x), int(y)) for x, y in re.findall(r'hollow" cx="(\d+)" cy="(\d+)"', picture)]
    cells = [((x - 12) // plots.CELL, (y - 12) // plots.CELL) for x, y in middles]
    assert cells[:7] == [*((0, row) for row in range(6)), (1, 5)]
    assert cells[7:] == [*((1, row) for row in range(5)), (2, 4), (3, 4), (4, 4)]


def test_ties_are_struck_through_and_counted() -> None:
    found = drawn("BTTPT")
    picture = str(plots.big_road(found["big_road"]))
    assert picture.count('class="tie"') == 2
    assert ">2</text>" in picture
    assert (ElementTree.fromstring(picture).get("aria-label") or "").endswith("B'' P'")


@pytest.mark.parametrize(
    ("text", "eye", "small", "pig"),
    [("BPBPBPBP", "RRRRRR", "RRRRR", "RRRR"), ("BBBPBBPPPB", "BBBRBB", "RBBRB", "RRR"), ("BPP", "B", "", "")],
)
def test_derived_roads_say_their_marks(text: str, eye: str, small: str, pig: str) -> None:
    found = drawn(text)
    for name, marks in (("big_eye_boy", eye), ("small_road", small), ("cockroach_pig", pig)):
        label = ElementTree.fromstring(str(plots.derived_road(name, found[name]))).get("aria-label") or ""
        assert label.endswith(marks or "empty")


def test_plots_escape_names_and_say_their_values() -> None:
    picture = str(plots.bars("Misreads", [plots.Bar("<b>x", 3, "3 of 9"), plots.Bar("y", 0, "0")]))
    ElementTree.fromstring(picture)
    assert "<b>" not in picture
    assert "3 of 9" in picture
    spread = str(plots.spreads("Reads", [plots.Spread("ben", 100, 350, 420, 900)]))
    assert "350, 420, 900 ms of 100" in spread


def test_a_shoe_that_has_not_begun_is_drawn() -> None:
    report = {
        "cards_in_shoe": 416, "burn": {"card": None, "count": None, "done": 0}, "rounds": [], "cut_card": None,
        "cards_out": 0,
    }  # fmt: skip
    assert "0 of 416 cards out" in str(plots.shoe_life(report))


# --- alarms --------------------------------------------------------------------------------------------------------


def frame(kind: str, seq: int = 1, **data: Any) -> dict[str, Any]:
    return {"type": kind, "seq": seq, "time": f"2026-11-29T19:41:0{seq}.000Z", "data": data}


def test_a_lost_device_stays_until_somebody_has_seen_it() -> None:
    book = Alarms()
    book.take(frame("device_lost", device="shoe", reason="unplugged"))
    (alarm,) = book.open(public.initial())
    assert (alarm.text, alarm.over) == ("shoe lost: unplugged", False)
    book.take(frame("device_restored", device="shoe"))
    (alarm,) = book.open(public.initial())
    assert alarm.over
    assert book.acknowledge(alarm.key)
    assert not book.acknowledge(alarm.key)
    assert book.open(public.initial()) == []


def test_a_void_by_policy_is_an_alarm_and_one_by_a_person_is_not() -> None:
    book = Alarms()
    book.take(frame("round_voided", 2, reason="nobody came", by="policy:auto_void", shoe=False))
    book.take(frame("round_voided", 3, reason="a card fell", by="supervisor:anna", shoe=False))
    (alarm,) = book.open(None)
    assert "nobody came" in alarm.text


def test_alarms_of_incidents_are_the_tables_own() -> None:
    state = public.initial() | {
        "alarms": {"4": {"code": "M-01", "title": "card drawn but not read", "time": "2026-11-29T19:41:00.000Z"}},
        "incidents": {},
    }
    (alarm,) = Alarms().open(state)
    assert (alarm.incident, alarm.over, alarm.key) == (4, True, "incident:4")


def test_a_snapshot_brings_what_is_lost_and_ends_what_is_not() -> None:
    book = Alarms()
    lost = public.initial() | {"devices_lost": ["camera"], "holds": {"device:camera": {"reason": "camera: dark"}}}
    book.adopt(lost, "2026-11-29T19:41:00.000Z")
    assert [(a.text, a.over) for a in book.open(lost)] == [("camera lost: dark", False)]
    book.adopt(public.initial(), "2026-11-29T19:42:00.000Z")
    assert [a.over for a in book.open(None)] == [True]
