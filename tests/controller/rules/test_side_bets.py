"""Side bets: PAY-S1..S5, BJ7-46, SHOE-13."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.cards import FACES
from controller.returns import sides
from controller.rules.side_bets import PAYTABLES, bets_of, evaluate


def _paid(bet: str, cards: str) -> tuple[str, int] | None:
    row = evaluate(bet, cards.split())
    return None if row is None else (row.key, row.odds)


@pytest.mark.parametrize(
    ("cards", "paid"),
    [
        ("7H 7H", ("perfect", 30)),
        ("7H 7D", ("coloured", 10)),
        ("7S 7C", ("coloured", 10)),
        ("7H 7C", ("mixed", 5)),
        ("7S 7D", ("mixed", 5)),
        ("AS AS", ("perfect", 30)),
        ("7H 8H", None),
        ("TH KH", None),  # equal value is no pair
        ("JD QD", None),
    ],
)
def test_PAY_S1_pair(cards: str, paid: tuple[str, int] | None) -> None:
    assert _paid("pairs", cards) == paid


@pytest.mark.parametrize(
    ("cards", "paid"),
    [
        ("TH 6D KS", ("bust_3", 1)),
        ("TH 2D 4C KS", ("bust_4", 2)),
        ("2H 2D 2C TS 9S", ("bust_5", 9)),
        ("2H 2D 2C 2S 7S 9S", ("bust_6", 50)),
        ("2H 2D 2C 2S 2S 6S KS", ("bust_7", 100)),
        ("2H 2D 2C 2S 2S 2S 4S KS", ("bust_8", 250)),
        ("AH AD AC AS AS AS TS 9S AD AD TS", ("bust_8", 250)),
        ("TH 7D", None),
        ("AH KD", None),
        ("TH 6D 5S", None),
    ],
)
def test_PAY_S2_bust_bonus(cards: str, paid: tuple[str, int] | None) -> None:
    assert _paid("bust_bonus", cards) == paid


@pytest.mark.parametrize(
    ("cards", "paid"),
    [
        ("7H 7H 7H", ("777_suited", 200)),
        ("7H 7H 7D", ("777_unsuited", 50)),
        ("7H 7S 7D", ("777_unsuited", 50)),
        ("6C 7C 8C", ("678_suited", 100)),
        ("8C 6C 7D", ("678_unsuited", 30)),
        ("5H 6H TH", ("total_21_suited", 10)),
        ("AH AH 9H", ("total_21_suited", 10)),
        ("AH TH KH", ("total_21_suited", 10)),
        ("5H 6S TD", ("total_21_unsuited", 3)),
        ("5H 6H TD", ("total_21_unsuited", 3)),
        ("9H 9S 2H", ("total_19_20", 2)),
        ("9H 9H AH", ("total_19_20", 2)),
        ("AH 4S 5H", ("total_19_20", 2)),  # the ace as 11
        ("AH 8S KH", ("total_19_20", 2)),  # the ace as 1
        ("AH AS 7H", ("total_19_20", 2)),
        ("8H 9S AH", None),
        ("TH 9S 3H", None),
        ("TH TH TH", None),
        ("AH AS AD", None),
    ],
)
def test_PAY_S3_lucky_trio(cards: str, paid: tuple[str, int] | None) -> None:
    assert _paid("lucky_trio", cards) == paid


@pytest.mark.parametrize(
    ("cards", "paid"),
    [
        ("9H 9H 9H", ("suited_trips", 100)),
        ("9H 9H 9D", ("three_of_a_kind", 30)),
        ("9H 9S 9D", ("three_of_a_kind", 30)),
        ("9H TH JH", ("straight_flush", 40)),
        ("9H TS JH", ("straight", 10)),
        ("9H TS JD", ("straight", 10)),
        ("AH 2S 3D", ("straight", 10)),
        ("QH KS AD", ("straight", 10)),
        ("AC QC KC", ("straight_flush", 40)),
        ("AC 2C 3C", ("straight_flush", 40)),
        ("KH AS 2D", None),
        ("KH AH 2H", ("flush", 5)),
        ("2H 9H KH", ("flush", 5)),
        ("2H 2H KH", ("flush", 5)),
        ("2H 2S 3D", None),
        ("2H 4H 6D", None),
        ("TH JH KD", None),
    ],
)
def test_PAY_S4_poker_trio(cards: str, paid: tuple[str, int] | None) -> None:
    assert _paid("poker_trio", cards) == paid


@pytest.mark.parametrize(
    ("cards", "paid"), [("7H 7C", ("pair", 11)), ("7H 7H", ("pair", 11)), ("TH KH", None), ("7H 8H", None)]
)
def test_BJ7_46_pair(cards: str, paid: tuple[str, int] | None) -> None:
    assert _paid("pair", cards) == paid


@given(st.sampled_from(["lucky_trio", "poker_trio"]), st.lists(st.sampled_from(FACES), min_size=3, max_size=3))
def test_PAY_S3_PAY_S4_the_order_of_the_cards_does_not_matter(bet: str, cards: list[str]) -> None:
    assert len({_paid(bet, " ".join(order)) for order in permutations(cards)}) == 1


def test_PAY_S_rows_stand_highest_odds_first() -> None:
    """So that the first row that matches is the only one that pays."""
    for table in PAYTABLES.values():
        odds = [row.odds for row in table.rows]
        assert odds == sorted(odds, reverse=True)
        assert len({row.key for row in table.rows}) == len({row.name for row in table.rows}) == len(odds)


def test_SHOE_13_A_04_last_round_of_each_bet() -> None:
    limits = {bet: table.rounds for bet, table in PAYTABLES.items()}
    assert limits == {"pairs": 40, "bust_bonus": 45, "lucky_trio": 45, "poker_trio": 45, "pair": None}
    assert PAYTABLES["pairs"].offered(40)
    assert not PAYTABLES["pairs"].offered(41)
    assert PAYTABLES["bust_bonus"].offered(45)
    assert not PAYTABLES["bust_bonus"].offered(46)
    assert PAYTABLES["pair"].offered(80)


def test_PAY_S_bets_of_each_game() -> None:
    assert [table.bet for table in bets_of("boundless")] == ["pairs", "bust_bonus", "lucky_trio", "poker_trio"]
    assert [table.bet for table in bets_of("classic")] == ["pair"]
    assert bets_of("baccarat") == ()


def test_PAY_S_deciding_cards() -> None:
    player, dealer = ["AS", "2S", "3S"], ["4H", "5H", "6H"]
    found = {bet: table.deciding(player, dealer) for bet, table in PAYTABLES.items()}
    assert found["pairs"] == found["pair"] == ["AS", "2S"]
    assert found["lucky_trio"] == found["poker_trio"] == ["AS", "2S", "4H"]
    assert found["bust_bonus"] == dealer


def test_PAY_S_wrong_use_is_refused() -> None:
    with pytest.raises(ValueError, match="3 cards, not 2"):
        evaluate("lucky_trio", ["7H", "7H"])
    with pytest.raises(ValueError, match="2 cards, not 3"):
        evaluate("pairs", ["7H", "7H", "7H"])
    with pytest.raises(KeyError):
        evaluate("parlay", ["7H", "7H"])


# The chances of the rows by combinatorics alone, 8 decks: 32 cards of a rank, 8 of a face, 104 of a suit.
_TRIOS = comb(416, 3)
_TRIPS, _SUITED_TRIPS = 13 * comb(32, 3), 13 * 4 * comb(8, 3)
_STRAIGHTS, _STRAIGHT_FLUSHES = 12 * 32**3, 12 * 4 * 8**3


def test_PAY_S1_BJ7_46_chances() -> None:
    assert sides.row_chances("pairs") == {
        "perfect": Fraction(7, 415),
        "coloured": Fraction(8, 415),
        "mixed": Fraction(16, 415),
    }
    assert sides.row_chances("pair") == {"pair": Fraction(31, 415)}


def test_PAY_S3_chances_of_the_named_trios() -> None:
    chances = sides.row_chances("lucky_trio")
    assert chances["777_suited"] == Fraction(4 * comb(8, 3), _TRIOS)
    assert chances["777_unsuited"] == Fraction(comb(32, 3) - 4 * comb(8, 3), _TRIOS)
    assert chances["678_suited"] == Fraction(4 * 8**3, _TRIOS)
    assert chances["678_unsuited"] == Fraction(32**3 - 4 * 8**3, _TRIOS)


def test_PAY_S4_chances() -> None:
    assert sides.row_chances("poker_trio") == {
        "suited_trips": Fraction(_SUITED_TRIPS, _TRIOS),
        "straight_flush": Fraction(_STRAIGHT_FLUSHES, _TRIOS),
        "three_of_a_kind": Fraction(_TRIPS - _SUITED_TRIPS, _TRIOS),
        "straight": Fraction(_STRAIGHTS - _STRAIGHT_FLUSHES, _TRIOS),
        "flush": Fraction(4 * comb(104, 3) - _SUITED_TRIPS - _STRAIGHT_FLUSHES, _TRIOS),
    }
