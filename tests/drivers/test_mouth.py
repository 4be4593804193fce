"""What tags at the shoe's mouth mean."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.cards import HIDDEN
from drivers.events import (
    CardDrawn,
    CutCard,
    Event,
    NoRead,
    TagForeign,
    TagRepeated,
    TagsTogether,
    TagUnknown,
    UnknownCode,
)
from drivers.mouth import LEAVE_S, Mouth, Sighting
from drivers.tags import RegistryError, Shoes, TagRegistry


def uid(number: int) -> str:
    return f"E00401{number:010X}"


A, B, C, CUT_TAG, BLUE, NOBODY = (uid(n) for n in range(1, 7))
SHOES = Shoes([TagRegistry("red", {A: "AS", B: "TD", C: "AS", CUT_TAG: "CUT"}), TagRegistry("blue", {BLUE: "7H"})])
POLL_S = 0.05
NOTHING: tuple[str, ...] = ()


def faces(events: list[Event]) -> list[Event]:
    """Which tag it was, most tests do not ask."""
    tagged = {CardDrawn: {"tag": None}, CutCard: {"tag": None}, TagsTogether: {"tags": ()}}
    return [msgspec.structs.replace(event, **tagged.get(type(event), {})) for event in events]


class Table:
    """Polls a mouth every 50 ms."""

    def __init__(self, leave_s: float | None = LEAVE_S) -> None:
        self.mouth = Mouth(SHOES, leave_s)
        self.now = 100.0
        self.told: list[Event] = []

    def see(self, *uids: str, times: int = 1, blur: str | None = None) -> list[Event]:
        events = []
        for _ in range(times):
            self.now += POLL_S
            events += self.mouth.see(Sighting(uids, blur), self.now)
        self.told += events
        return faces(events)

    def gone(self, seconds: float = 0.5) -> list[Event]:
        return self.see(times=round(seconds / POLL_S))


def test_a_card_is_told_with_its_tag() -> None:
    table = Table()
    table.see(A)
    table.gone()
    table.see(B, C, NOBODY)
    table.gone()
    table.see(CUT_TAG)
    assert table.told == [
        CardDrawn("AS", tag=A),
        TagsTogether("tags together", ("**", "AS", "TD"), (), (B, C)),
        CutCard(CUT_TAG),
    ]


def test_what_left_before_a_restart_has_left() -> None:
    table = Table()
    table.mouth.new_shoe({A, CUT_TAG})
    assert table.see(A) == [TagRepeated("tag that left before", A, "AS")]
    table.gone()
    assert table.see(CUT_TAG) == [TagRepeated("tag that left before", CUT_TAG, "CUT")]
    table.gone()
    assert table.see(BLUE) == [TagForeign("tag of another shoe", BLUE, "7H", "blue")], "they tell which shoe it is"
    table.gone()
    assert table.see(B) == [CardDrawn("TD")]
    table.mouth.new_shoe()
    table.gone()
    assert table.see(A) == [CardDrawn("AS")]


def test_a_card_is_drawn_once_when_its_tag_is_first_seen() -> None:
    table = Table()
    assert table.see(A) == [CardDrawn("AS")]
    assert table.see(A, times=100) == []
    assert table.gone() == []
    assert table.mouth.present == frozenset()
    assert table.see(B) == [CardDrawn("TD")]


def test_a_tag_missed_for_a_moment_is_the_same_card() -> None:
    table = Table()
    assert table.see(A) == [CardDrawn("AS")]
    assert table.gone(LEAVE_S - 2 * POLL_S) == []
    assert table.see(A) == []


def test_two_cards_of_one_face_are_two_cards() -> None:
    table = Table()
    assert table.see(A) + table.gone() + table.see(C) == [CardDrawn("AS"), CardDrawn("AS")]


def test_the_cut_card_has_a_tag_too() -> None:
    assert Table().see(CUT_TAG) == [CutCard()]


def test_two_tags_at_once_have_no_order() -> None:
    table = Table()
    assert table.see(B, A) == [TagsTogether("tags together", ("AS", "TD"))]
    assert table.see(A, B, times=5) == []
    table.gone()
    assert table.see(A) == [TagRepeated("tag that left before", A, "AS")]


def test_a_tag_that_comes_while_another_is_there_has_no_order() -> None:
    table = Table()
    assert table.see(A) == [CardDrawn("AS")]
    assert table.see(A, B) == [TagsTogether("tags together", ("TD",), ("AS",))]
    assert table.see(A, B, C) == [TagsTogether("tags together", ("AS",), ("AS", "TD"))]
    assert table.see(B, times=10) == []


def test_a_tag_that_comes_too_soon_after_another_has_no_order() -> None:
    table = Table()
    table.see(A)
    table.gone(LEAVE_S - 2 * POLL_S)
    assert table.see(B) == [TagsTogether("tags together", ("TD",), ("AS",))]


def test_a_tag_that_stays_is_told_once_and_holds_up_the_next() -> None:
    table = Table()
    assert table.see(A, times=200) == [CardDrawn("AS")]
    assert isinstance(table.see(A, B)[0], TagsTogether)


def test_unknown_foreign_and_repeated_tags_are_told_as_what_they_are() -> None:
    table = Table()
    told = table.see(NOBODY) + table.gone()
    told += table.see(A) + table.gone()
    told += table.see(BLUE) + table.gone()
    told += table.see(A) + table.gone()
    assert told == [
        TagUnknown("tag in no registry", NOBODY),
        CardDrawn("AS"),
        TagForeign("tag of another shoe", BLUE, "7H", "blue"),
        TagRepeated("tag that left before", A, "AS"),
    ]
    for event in told[0], *told[2:]:
        assert isinstance(event, UnknownCode), "a table that knows no better takes it for a card nobody knows"
        assert not any(word in event.raw for word in (NOBODY, BLUE, A, "AS", "7H"))


def test_the_first_tag_tells_which_shoe_it_is() -> None:
    table = Table()
    assert table.see(BLUE) + table.gone() == [CardDrawn("7H")]
    assert table.see(A) + table.gone() == [TagForeign("tag of another shoe", A, "AS", "red")]
    table.mouth.new_shoe()
    assert table.see(A) + table.gone() == [CardDrawn("AS")]
    table.mouth.new_shoe()
    assert table.see(A) == [CardDrawn("AS")], "shuffled, the same cards may leave again"


def test_together_with_what_is_not_this_shoes() -> None:
    table = Table()
    table.see(A)
    table.gone()
    assert table.see(B, BLUE, NOBODY) == [TagsTogether("tags together", (HIDDEN, HIDDEN, "TD"))]


def test_shoes_mixed_at_the_first_draw_are_not_told_apart() -> None:
    table = Table()
    assert table.see(A, BLUE) == [TagsTogether("tags together", (HIDDEN, HIDDEN))]
    table.gone()
    assert table.see(B) == [CardDrawn("TD")]


def test_a_card_that_is_never_read_alone_is_told_when_it_has_left() -> None:
    table = Table()
    assert table.see(blur="why", times=2) == []
    assert table.gone() == [NoRead("why")]
    assert table.gone() == []


def test_a_card_that_becomes_readable_is_a_card() -> None:
    table = Table()
    assert table.see(blur="why", times=3) + table.see(A) + table.gone() == [CardDrawn("AS")]
    assert table.see(blur="edge") + table.gone() == [], "one such answer is a tag at the edge"


def test_an_unreadable_tag_that_stays_is_told_once() -> None:
    table = Table()
    assert table.see(blur="why", times=100) == [NoRead("why")]
    assert table.gone() == []
    assert table.see(blur="why", times=3) + table.gone() == [NoRead("why")]


def test_names_in_an_incomplete_answer_count_for_nothing() -> None:
    table = Table()
    assert table.see(A, blur="more") == []
    assert table.see(A) == [CardDrawn("AS")]
    assert table.see(A, blur="more", times=3) == []
    assert table.mouth.present == frozenset([A])


def test_the_end_of_answers_tells_of_an_unread_card() -> None:
    table = Table()
    table.see(blur="why", times=2)
    assert table.mouth.end() == [NoRead("why")]
    assert table.mouth.end() == []


def test_a_card_at_the_mouth_over_an_interruption_is_the_same() -> None:
    table = Table()
    table.see(A)
    table.mouth.interrupted()
    table.now += 60
    assert table.see(A) == []
    table.mouth.interrupted()
    table.now += 60
    assert table.see(B) == [CardDrawn("TD")], "the other one has gone meanwhile"


def test_without_times_an_answer_that_does_not_name_a_tag_means_it_has_gone() -> None:
    table = Table(leave_s=None)
    assert table.see(A) + table.see(A) == [CardDrawn("AS")]
    assert table.see() == []
    assert table.see(B) == [CardDrawn("TD")]
    assert table.see(C) == [CardDrawn("AS")]
    assert table.see(C, blur="more") + table.see(C) == []
    assert table.see(blur="why", times=2) + table.see() == [NoRead("why")]


@pytest.mark.parametrize(
    ("second", "message"),
    [(TagRegistry("red", {}), "two registries"), (TagRegistry("blue", {A: "7H"}), f"{A} is in the shoes 'red' and")],
)
def test_registries_of_a_table_exclude_each_other(second: TagRegistry, message: str) -> None:
    with pytest.raises(RegistryError, match=message):
        Shoes([TagRegistry("red", {A: "AS"}), second])


ANSWERS = st.lists(
    st.tuples(
        st.lists(st.sampled_from([A, B, C, CUT_TAG, BLUE, NOBODY]), max_size=3),
        st.sampled_from([None, None, None, "blur"]),
        st.floats(0.0, 1.0),
    ),
    max_size=60,
)


@given(ANSWERS)
def test_no_order_of_answers_deals_a_tag_twice_or_a_card_in_company(
    answers: list[tuple[list[str], str | None, float]],
) -> None:
    mouth, now = Mouth(SHOES), 0.0
    cards = 0
    for uids, blur, step in answers:
        now += step
        events = mouth.see(Sighting(tuple(uids), blur), now)
        drawn = [event for event in events if isinstance(event, CardDrawn)]
        cards += len(drawn)
        if drawn:
            assert blur is None
            assert len(set(uids)) == 1
            assert mouth.present == set(uids)
    assert cards <= 3, "three tags of the shoe in use are cards"
