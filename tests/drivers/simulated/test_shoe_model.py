"""The cards in the shoe: order, cut card, felt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.cards import CUT, SHOE_SIZE, composition_faults
from drivers.simulated.cards_file import parse_cards
from drivers.simulated.pace import BETWEEN_CARDS_S, SCAN_S, Pace
from drivers.simulated.shoe import CUT_FROM_END, SimulatedShoe
from drivers.simulated.steps import Refused


def deal(shoe: SimulatedShoe, count: int) -> list[str]:
    return [shoe.take().card for _ in range(count)]


def everything(shoe: SimulatedShoe) -> list[str]:
    return deal(shoe, SHOE_SIZE + 1)


def test_a_seed_gives_the_same_shoes_whatever_was_dealt() -> None:
    one, other = SimulatedShoe(7), SimulatedShoe(7)
    first = everything(one)
    deal(other, 13)
    one.load()
    other.load()
    second = everything(one)
    assert everything(other) == second
    assert second != first
    assert everything(SimulatedShoe(7)) == first
    assert everything(SimulatedShoe(8)) != first


@given(st.integers())
def test_every_shoe_is_eight_decks_with_the_cut_card_near_the_end(seed: int) -> None:
    order = everything(SimulatedShoe(seed))
    nearest, farthest = CUT_FROM_END
    assert nearest <= SHOE_SIZE - order.index(CUT) <= farthest
    order.remove(CUT)
    assert composition_faults(order) == []


@pytest.mark.parametrize("cut", [0, 5, SHOE_SIZE])
def test_the_cut_card_lies_where_it_is_put_in_every_shoe(cut: int) -> None:
    shoe = SimulatedShoe(7, cut=cut)
    assert everything(shoe).index(CUT) == cut
    shoe.load()
    assert everything(shoe).index(CUT) == cut


@pytest.mark.parametrize("cut", [-1, SHOE_SIZE + 1])
def test_a_cut_card_outside_the_shoe_is_refused(cut: int) -> None:
    with pytest.raises(ValueError, match="0 to 416"):
        SimulatedShoe(7, cut=cut)


def test_a_stacked_shoe_comes_again_until_a_seed_is_given() -> None:
    shoe = SimulatedShoe(7, cards=["TD", CUT, "AS"])
    assert deal(shoe, 3) == ["TD", CUT, "AS"]
    shoe.load()
    assert deal(shoe, 3) == ["TD", CUT, "AS"]
    shoe.load(9)
    assert (shoe.number, shoe.left) == (3, SHOE_SIZE)
    other = SimulatedShoe(9)
    other.load()
    other.load()
    assert everything(shoe) == everything(other)


def test_a_stacked_shoe_has_a_cut_card_only_if_asked_for() -> None:
    assert deal(SimulatedShoe(7, cards=["TD", "AS"]), 2) == ["TD", "AS"]
    assert deal(SimulatedShoe(7, cards=["TD", "AS"], cut=1), 3) == ["TD", CUT, "AS"]
    with pytest.raises(ValueError, match="leave the cut out"):
        SimulatedShoe(7, cards=["TD", CUT], cut=1)


def test_counts_are_of_cards_and_the_felt_holds_no_cut_card() -> None:
    shoe = SimulatedShoe(7, cards=["TD", CUT, "AS", "2H"])
    deal(shoe, 3)
    assert (shoe.drawn, shoe.left) == (2, 1)
    assert [item.card for item in shoe.felt] == ["TD", "AS"]
    assert [item.index for item in shoe.felt] == [0, 2]
    assert shoe.collect() == 2
    assert shoe.felt == ()
    deal(shoe, 1)
    assert shoe.collect() == 1


def test_an_empty_shoe_says_what_to_do() -> None:
    shoe = SimulatedShoe(7, cards=["TD"])
    deal(shoe, 1)
    with pytest.raises(Refused, match="load the next"):
        shoe.take()


def test_the_last_thing_drawn_can_go_back_once() -> None:
    shoe = SimulatedShoe(7, cards=["TD", "AS", CUT])
    deal(shoe, 2)
    assert shoe.push_back().card == "AS"
    assert [item.card for item in shoe.felt] == ["TD"]
    with pytest.raises(Refused):
        shoe.push_back()
    assert deal(shoe, 2) == ["AS", CUT]
    assert shoe.push_back().card == CUT
    assert len(shoe.felt) == 2
    shoe.take()
    shoe.collect()
    with pytest.raises(Refused):
        shoe.push_back()


def test_cards_file() -> None:
    assert parse_cards("TD AS\n# a comment\n CUT\t2H # so\n") == ["TD", "AS", CUT, "2H"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("TD AS\n  2X", "line 2, column 3: '2X'"),
        ("td", "line 1, column 1"),
        ("TD **", r"line 1, column 4: '\*\*'"),
        ("TD CUT AS CUT", "line 1, column 11: a second CUT"),
        ("# none\n", "no card"),
        ("CUT", "no card"),
    ],
)
def test_a_wrong_cards_file_is_told_where(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_cards(text)


def test_the_pace_is_seeded_and_scaled() -> None:
    one, other, fast, none = Pace(7, 1.0), Pace(7, 1.0), Pace(7, 10.0), Pace(7, 0.0)
    scans = [one.scan() for _ in range(100)]
    assert [other.scan() for _ in range(100)] == scans
    assert [fast.scan() for _ in range(100)] == [seconds / 10 for seconds in scans]
    assert all(SCAN_S[0] <= seconds <= SCAN_S[1] for seconds in scans)
    assert BETWEEN_CARDS_S[0] <= one.between_cards() <= BETWEEN_CARDS_S[1]
    assert none.scan() == none.between_cards() == none.scaled(5.0) == 0.0
