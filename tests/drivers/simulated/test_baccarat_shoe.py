"""The draw that the Angel Eye shoe knows, against the table of the rules page and against a real shoe."""

from __future__ import annotations

import pytest

from drivers.simulated.baccarat import Hand, points

# BAC-10, copied: row = banker's two cards, column = player's third card 0 to 9, then "player stood".
TABLEAU = (
    "DDDDDDDDDDD",
    "DDDDDDDDDDD",
    "DDDDDDDDDDD",
    "DDDDDDDDSDD",
    "SSDDDDDDSSD",
    "SSSSDDDDSSD",
    "SSSSSSDDSSS",
    "SSSSSSSSSSS",
)
CARDS = ["TS", "AS", "2S", "3S", "4S", "5S", "6S", "7S", "8S", "9S"]


def hand(*cards: str) -> Hand:
    dealt = Hand()
    for card in cards:
        dealt.add(card)
    return dealt


def test_points() -> None:
    assert points(["9S", "9H", "9D"]) == 7
    assert points(["TS", "JS", "QS"]) == 0
    assert points(["KS", "AS"]) == 1
    assert points([]) == 0


def test_places_of_the_first_four() -> None:
    dealt = Hand()
    assert dealt.empty
    assert [dealt.add("TS") for _ in range(4)] == [("player", 1), ("banker", 1), ("player", 2), ("banker", 2)]
    assert not dealt.empty


@pytest.mark.parametrize("banker", range(10))
def test_third_cards_follow_the_table(banker: int) -> None:
    for player in range(10):
        start = ("TS", "TH", CARDS[player], CARDS[banker])
        if player >= 8 or banker >= 8:
            assert hand(*start).next_place() is None
        elif player >= 6:
            assert hand(*start).next_place() == banker_third(banker, 10)
        else:
            assert hand(*start).next_place() == ("player", 3)
            for third, card in enumerate(CARDS):
                assert hand(*start, card).next_place() == banker_third(banker, third)


def banker_third(banker: int, column: int) -> tuple[str, int] | None:
    return ("banker", 3) if TABLEAU[banker][column] == "D" else None


# What a real shoe said of its own hands: revealed cards in order, then its result.
CAPTURED = [
    ("2S 7C 9S 7H QD", "banker", (False, True)),
    ("8C AD 6H TC 3D KD", "player", (False, False)),
    ("6C 8S QH 2H TS", "player", (False, False)),
    ("2S 9S 7C QD", "tie", (False, False)),
    ("9S 7H 5S KD 3D", "tie", (False, False)),
]


@pytest.mark.parametrize(("cards", "winner", "pairs"), CAPTURED)
def test_results_of_a_real_shoe(cards: str, winner: str, pairs: tuple[bool, bool]) -> None:
    dealt = hand(*cards.split())
    assert dealt.next_place() is None
    assert dealt.winner() == winner
    assert dealt.pairs() == pairs
    with pytest.raises(ValueError):
        dealt.add("AS")


def test_cards_in_the_order_they_were_dealt() -> None:
    dealt = hand("2S", "7C", "9S", "7H", "QD")
    assert dealt.placed() == [
        ("player", 1, "2S"),
        ("banker", 1, "7C"),
        ("player", 2, "9S"),
        ("banker", 2, "7H"),
        ("player", 3, "QD"),
    ]
    dealt.remove("player")
    assert dealt.next_place() == ("player", 3)
