"""What a hand is offered and how it ends, rule by rule (BJS-, BJ7-)."""

from __future__ import annotations

from typing import Any

import pytest

from controller.rules import boundless, classic
from controller.rules.blackjack import outcome
from controller.rules.options import GameOptions
from controller.rules.round import Round, RoundCard

THREE = ("hit", "stand")
WHOLE = (*THREE, "double", "surrender")
PAIR = (*THREE, "double", "split", "surrender")
BARRED = (*THREE, "double")


def lie(**lines: str) -> Round:
    """A round with these cards; ``_`` in a name stands for the slash of a place."""
    found = Round("20261129-0001-001", 1)
    for name, cards in lines.items():
        for index, card in enumerate(cards.split()):
            found.place(RoundCard(f"{name.replace('_', '/')}/{index}", card, public=True))
    return found


HANDS = [
    ("TC 6H", "7D", WHOLE),
    ("TC 6H", "2D", WHOLE),
    ("TC 6H", "9D", WHOLE),
    ("TC 6H", "TD", BARRED),
    ("TC 6H", "KD", BARRED),
    ("TC 6H", "AD", BARRED),
    ("8C 8H", "7D", PAIR),
    ("KC TH", "7D", PAIR),  # equal values, not ranks
    ("AC AH", "7D", PAIR),
    ("2C 3H 4S", "7D", THREE),  # A-06, C-03: neither double nor surrender after a card
    ("2C 2H 2S", "7D", THREE),
]


@pytest.mark.parametrize(("cards", "up", "offered"), HANDS)
def test_BJS_31_33_35_36_what_a_shared_hand_is_offered(cards: str, up: str, offered: tuple[str, ...]) -> None:
    round_ = lie(player=cards, dealer=up)
    assert boundless.options(round_, GameOptions(game="boundless"), "main") == offered


@pytest.mark.parametrize(("cards", "up", "offered"), HANDS)
def test_BJ7_20_21_22_23_what_a_seat_is_offered(cards: str, up: str, offered: tuple[str, ...]) -> None:
    round_ = lie(seat_3_hand_0=cards, dealer=up)
    assert classic.options(round_, GameOptions(game="classic"), "seat/3/hand/0") == offered


def test_BJS_34_38_a_split_hand_doubles_and_is_never_split_again() -> None:
    round_ = lie(player="8C 8H", dealer="7D")
    round_.place(RoundCard("split/0/1", "8S", public=True))
    assert boundless.options(round_, GameOptions(game="boundless"), "split/0") == ("hit", "stand", "double")


def test_BJ7_23_24_a_split_hand_is_only_hit_or_stood_on() -> None:
    round_ = lie(seat_3_hand_0="8C 8H", dealer="7D")
    round_.part(("seat/3/hand/0", "seat/3/hand/1"))
    round_.place(RoundCard("seat/3/hand/0/1", "8S", public=True))
    assert classic.options(round_, GameOptions(game="classic"), "seat/3/hand/0") == ("hit", "stand")


@pytest.mark.parametrize(
    ("hand", "dealer", "split", "result"),
    [
        ("AC KH", "TD 9S", False, "bj"),
        ("AC KH", "7D 7S 7H", False, "bj"),  # C-10: a Blackjack beats any other 21
        ("AC KH", "AD KS", False, "push"),
        ("AC KH", "TD 9S", True, "win"),
        ("AC KH", "7D 7S 7H", True, "push"),
        ("AC KH", "AD KS", True, "lose"),
        ("7C 7H 7S", "AD KS", False, "lose"),
        ("7C 7H 7S", "TD 9S", False, "win"),
        ("TC 9H", "TD 8S", False, "win"),
        ("TC 2H", "TD 6S 9H", False, "win"),  # the dealer is bust
        ("TC 6H KS", "TD 6S 9H", False, "bust"),  # both are: the player was first
        ("TC 8H", "TD 8S", False, "push"),
        ("TC 7H", "TD 8S", False, "lose"),
        ("AC 6H", "TD 7S", False, "push"),
    ],
)
def test_BJS_63_to_66_BJ7_42_43_how_a_hand_ends(hand: str, dealer: str, split: bool, result: str) -> None:
    assert outcome(hand.split(), dealer.split(), split=split) == result


@pytest.mark.parametrize("seats", [0, 8, -1])
def test_BJ7_48_one_to_seven_seats(seats: int) -> None:
    assert GameOptions(game="classic").seats == 7
    assert GameOptions(game="classic", seats=1).problems() == GameOptions(game="classic", seats=7).problems() == []
    assert any("seats must be 1 to 7" in problem for problem in GameOptions(game="classic", seats=seats).problems())


@pytest.mark.parametrize(("game", "expected"), [("boundless", ("needed", True)), ("classic", ("always", False))])
def test_BJS_62_BJ7_24_40_what_the_games_differ_in_by_default(game: Any, expected: tuple[str, bool]) -> None:
    rules = GameOptions(game=game)
    assert (rules.dealer_draws, rules.double_after_split) == expected
