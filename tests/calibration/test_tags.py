"""Enrolling the tags of a shoe."""

from __future__ import annotations

import pytest

from calibration.tags import Enrolment, count, parse_deck
from controller.cards import CUT, DECKS, FACES
from drivers.events import CutCard, NoRead, PortLost, PortRestored, TagsTogether, TagUnknown
from drivers.tags import TagRegistry


def uid(number: int) -> str:
    return f"E00401{number:010X}"


def shown(number: int) -> TagUnknown:
    return TagUnknown("", uid(number))


def test_a_whole_shoe_card_by_card() -> None:
    enrolment = Enrolment(TagRegistry("red", {}), cut_tags=1)
    assert enrolment.prompt() == "show AS, number 1 of 8 (417 left)"
    for number in range(417):
        assert enrolment.due == (FACES[number // DECKS] if number < 416 else CUT)
        told = enrolment.take(shown(number))
        assert told is not None
        assert told.result == "enrolled"
    assert (enrolment.due, enrolment.left, enrolment.prompt()) == (None, 0, "all tags are enrolled")
    counted = count(enrolment.registry)
    assert counted.whole
    assert counted.tags == 416
    told = enrolment.take(shown(500))
    assert told is not None
    assert told.result == "again"


def test_what_is_there_already_is_not_asked_for() -> None:
    cards = {uid(n): face for n, face in enumerate(FACES * DECKS) if (face, n) != ("TD", FACES.index("TD"))}
    enrolment = Enrolment(TagRegistry("red", cards))
    assert enrolment.prompt() == "show TD, number 8 of 8 (1 left)"
    enrolment.take(shown(1000))
    assert enrolment.registry.cards[uid(1000)] == "TD"
    assert enrolment.due is None


@pytest.mark.parametrize(
    ("event", "result", "words"),
    [
        (shown(1), "again", "enrolled as AS"),
        (TagUnknown("", "0104010012345678"), "again", "must begin with E0"),
        (TagsTogether("", ("**", "**")), "again", "several tags"),
        (NoRead("x"), "again", "cannot be read"),
        (PortLost("unplugged"), "line", "unplugged"),
        (PortRestored("x"), "line", "answers"),
    ],
)
def test_what_a_person_is_told(event: object, result: str, words: str) -> None:
    enrolment = Enrolment(TagRegistry("red", {uid(1): "AS"}))
    told = enrolment.take(event)  # type: ignore[arg-type]
    assert told is not None
    assert told.result == result
    assert words in told.text
    assert len(enrolment.registry.cards) == 1


def test_other_events_mean_nothing_here() -> None:
    assert Enrolment(TagRegistry("red", {})).take(CutCard()) is None


def test_count() -> None:
    cards = {uid(n): face for n, face in enumerate(FACES * DECKS)}
    assert count(TagRegistry("red", cards)) == (416, {}, {})
    cards[uid(0)] = "KC"
    cards[uid(900)] = CUT
    assert count(TagRegistry("red", cards)) == (416, {"AS": 1}, {"KC": 1})


def test_a_list_of_tags() -> None:
    text = f"uid,card\n{uid(1)},AS\n\n {uid(10).lower()} , td \n{uid(3)},CUT\n"
    assert parse_deck(text) == {uid(1): "AS", uid(10): "TD", uid(3): "CUT"}
    assert parse_deck(f"{uid(1)},AS") == {uid(1): "AS"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{uid(1)},AS\n{uid(1)},TD", "line 2: tag .* is in line 1 already"),
        (f"{uid(1)},1S", "line 1: '1S' is not a card"),
        (f"{uid(1)}", "line 1: write uid,card"),
        (f"{uid(1)},AS,x", "line 1: write uid,card"),
        ("E004,AS", "line 1: 'E004' is no tag"),
        (f"uid,card\n{uid(1)},AS\nuid,card", "line 3: 'uid' is no tag"),
    ],
)
def test_what_is_wrong_with_a_list_is_named_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_deck(text)
