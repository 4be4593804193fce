"""Scores of hands: SHOE-03, SHOE-08, BJS-10..13, BAC-05..10."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.cards import FACES
from controller.rules.scores import (
    Score,
    baccarat_value,
    banker_draws,
    blackjack_score,
    blackjack_value,
    burn_count,
    is_blackjack,
    is_natural,
    is_ten_or_ace,
    player_draws,
)

# BAC-10, copied cell by cell from the printed table: row BANKER's two cards, column PLAYER's third card, last column
# PLAYER stood.
TABLEAU = """
    0 1 2 3 4 5 6 7 8 9 -
0   D D D D D D D D D D D
1   D D D D D D D D D D D
2   D D D D D D D D D D D
3   D D D D D D D D S D D
4   S S D D D D D D S S D
5   S S S S D D D D S S D
6   S S S S S S D D S S S
7   S S S S S S S S S S S
"""
CELLS = [
    (int(row.split()[0]), column, cell == "D")
    for row in TABLEAU.split("\n")[2:-1]
    for column, cell in zip(TABLEAU.split("\n")[1].split(), row.split()[1:], strict=True)
]


def _cards(text: str) -> list[str]:
    """Faces from ranks: suits do not count (SHOE-04)."""
    return [rank + "SHDC"[i % 4] for i, rank in enumerate(text)]


def _of_value(value: int) -> str:
    """A face of a baccarat value."""
    return "TA23456789"[value] + "S"


@pytest.mark.parametrize(
    ("ranks", "total", "soft"),
    [
        ("A9", 20, True),
        ("A95", 15, False),
        ("AA", 12, True),
        ("AA9", 21, True),
        ("AKK", 21, False),
        ("A6", 17, True),
        ("A5", 16, True),
        ("AT", 21, True),
        ("AAAAAAAAAAA", 21, True),
        ("AAAAAAAAAAAA", 12, False),
        ("T65", 21, False),
        ("T66", 22, False),
        ("2", 2, False),
        ("A", 11, True),
    ],
)
def test_BJS_10_score_of_a_hand(ranks: str, total: int, soft: bool) -> None:
    assert blackjack_score(_cards(ranks)) == Score(total, soft)


def test_BJS_11_bust_is_over_21() -> None:
    assert not blackjack_score(_cards("T65")).bust
    assert blackjack_score(_cards("T66")).bust


@given(st.lists(st.sampled_from(FACES), min_size=1, max_size=12))
def test_BJS_10_best_of_all_valuations(cards: list[str]) -> None:
    totals = {0}
    for card in cards:
        worth = {1, 11} if card[0] == "A" else {10 if card[0] in "TJQK" else int(card[0])}
        totals = {total + value for total in totals for value in worth}
    good = [total for total in totals if total <= 21]
    assert blackjack_score(cards).total == (max(good) if good else min(totals))


@pytest.mark.parametrize(
    ("ranks", "natural"),
    [
        ("AT", True),
        ("KA", True),
        ("AJ", True),
        ("QA", True),
        ("A9", False),
        ("TT", False),
        ("AA", False),
        ("A55", False),
    ],
)
def test_BJS_12_blackjack_is_an_ace_and_a_ten(ranks: str, natural: bool) -> None:
    assert is_blackjack(_cards(ranks)) is natural


def test_BJS_21_peek_on_ace_or_ten_only() -> None:
    assert [rank for rank in "A23456789TJQK" if is_ten_or_ace(rank + "C")] == list("ATJQK")


def test_SHOE_03_values_and_SHOE_08_burn_counts() -> None:
    values = dict(zip("A23456789TJQK", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10], strict=True))
    for rank, value in values.items():
        assert blackjack_value(rank + "D") == value
        assert burn_count(rank + "H") == value


@pytest.mark.parametrize(
    ("ranks", "value"),
    [("999", 7), ("A9", 0), ("TK", 0), ("55", 0), ("28", 0), ("89", 7), ("A23", 6), ("9", 9), ("QJK", 0), ("TA", 1)],
)
def test_BAC_06_value_is_the_sum_modulo_ten(ranks: str, value: int) -> None:
    assert baccarat_value(_cards(ranks)) == value


def test_BAC_07_naturals() -> None:
    assert is_natural(_cards("T8"))
    assert is_natural(_cards("45"))
    assert not is_natural(_cards("T7"))
    assert not is_natural(_cards("332"))


@pytest.mark.parametrize("natural", ["T8", "T9"])
@pytest.mark.parametrize("other", ["TT", "T5", "T7"])
def test_BAC_07_a_natural_stops_both_hands(natural: str, other: str) -> None:
    for player, banker in ((natural, other), (other, natural)):
        assert not player_draws(_cards(player), _cards(banker))
        assert not banker_draws(_cards(player), _cards(banker))


@pytest.mark.parametrize("value", range(8))
def test_BAC_08_player_draws_on_0_to_5(value: int) -> None:
    assert player_draws(["TS", _of_value(value)], _cards("T7")) is (value <= 5)


@pytest.mark.parametrize(("banker", "third", "draws"), CELLS)
def test_BAC_09_BAC_10_banker_follows_the_tableau(banker: int, third: str, draws: bool) -> None:
    player = _cards("T7") if third == "-" else [*_cards("TT"), _of_value(int(third))]
    assert banker_draws(player, ["TH", _of_value(banker)]) is draws


def test_BAC_10_the_tableau_here_is_complete() -> None:
    assert len(CELLS) == len({cell[:2] for cell in CELLS}) == 88
