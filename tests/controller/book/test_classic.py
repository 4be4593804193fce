"""Seats and bets behind: BJ7- as far as it concerns a player's money."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from controller.book.rows import BetRequest

Choices = dict[tuple[str, int], list[str]]
FIRST, SECOND = "seat/1/hand/0", "seat/1/hand/1"


def seated(people: type[Any], choices: Choices, follows: dict[str, list[tuple[str, bool]]] | None = None) -> Any:
    """The player A at seat 1, whose requests are given by window, and what bettors behind answer by kind."""

    class Seated(people):  # type: ignore[misc]
        def decide(self, line: str, n: int, legal: Sequence[str]) -> list[tuple[str, str]]:  # noqa: ARG002
            left = choices.get((line, n), [])
            return [("A", left.pop(0))] if left else []

        def follow(self, line: str, kind: str) -> list[tuple[str, bool]]:  # noqa: ARG002
            return (follows or {}).get(kind, [])

    return Seated()


def seat(player: str, stake: int, box: int = 1, bet: str = "main") -> BetRequest:
    return BetRequest(player, bet, stake, box)


def behind(player: str, stake: int, box: int = 1, bet: str = "main") -> BetRequest:
    return BetRequest(player, bet, stake, box, True)


def hands(table: Any, player: str) -> list[tuple[int, int, str, int]]:
    return [(int(h.line[-1]), h.stake, h.result, h.returned) for h in table.book.paid(player).hands]


def started(felt: type[Any], *bets: BetRequest, **options: Any) -> Any:
    """A table with A, B and C, 1,000 each, and these bets accepted."""
    table = felt("classic", **options)
    table.fund(A=1000, B=1000, C=1000)
    table.open()
    table.bet(*bets)
    return table


def codes(table: Any) -> list[str]:
    return [refused.code for refused in table.refused]


def test_seats(felt: type[Any]) -> None:
    """BJ7-02, BJ7-04, BJ7-06, BJ7-08, BJ7-11."""
    table = started(
        felt,
        seat("A", 10, bet="pair"),
        seat("A", 10),
        seat("A", 10, bet="pair"),
        seat("A", 10, 2),
        seat("B", 10),
        behind("A", 10),
        behind("B", 10, 3),
        behind("B", 10, bet="pair"),
        behind("B", 10),
        behind("B", 10, bet="pair"),
        seat("B", 10, 3),
        seat("C", 10, 8),
        seat("C", 10, 7),
        BetRequest("C", "main", 10),
        behind("C", 10),
    )
    assert codes(table) == [
        "main_first",
        "one_seat",
        "seat_taken",
        "seat_and_behind",
        "seat_empty",
        "main_first",
        "seat_and_behind",
        "bad_box",
        "bad_box",
        "seat_and_behind",
    ]
    assert table.book.occupied == (1, 7)


def test_behind_follows_the_first_hand(felt: type[Any], people: type[Any]) -> None:
    """BJ7-29: the second hand only by an answer; no answer is a refusal. BJ7-46: the pair is the first two cards."""
    table = started(
        felt, seat("A", 100), seat("A", 5, bet="pair"), behind("B", 50), behind("B", 5, bet="pair"), behind("C", 20)
    )
    choices: Choices = {(FIRST, 2): ["split", "stand"], (SECOND, 2): ["stand"]}
    settlement = table.play(
        iter(["8S", "6H", "8D", "TC", "9S", "TH", "2C"]), seated(people, choices, {"split": [("B", True)]})
    )
    # 18 and 17 against 6 + T + 2 = 18
    assert hands(table, "A") == [(0, 100, "push", 100), (1, 100, "lose", 0)]
    assert hands(table, "B") == [(0, 50, "push", 50), (1, 50, "lose", 0)]
    assert hands(table, "C") == [(0, 20, "push", 20)]
    assert [bet.returned for bet in table.book.paid("B").bets] == [60]
    assert settlement.returned == 100 + 50 + 20 + 60 + 60
    assert table.book.plays("A")[0].line == FIRST


def test_behind_follows_a_double(felt: type[Any], people: type[Any]) -> None:
    """BJ7-30, A-16: who declines keeps his stake on the three-card hand; too little money is a refusal."""
    table = started(felt, seat("A", 100), behind("B", 50), behind("C", 600))
    answers = {"double": [("B", True), ("C", True)]}
    table.play(iter(["6S", "6H", "5D", "9C", "TS", "7H"]), seated(people, {(FIRST, 2): ["double"]}, answers))
    assert codes(table) == ["insufficient_balance"]
    assert hands(table, "A") == [(0, 200, "win", 400)]
    assert hands(table, "B") == [(0, 100, "win", 200)]
    assert hands(table, "C") == [(0, 600, "win", 1200)]


def test_behind_a_double_after_split(felt: type[Any], people: type[Any]) -> None:
    """Only who followed the split has a stake on the second hand, and may follow its double."""
    table = started(felt, seat("A", 100), behind("B", 50), behind("C", 20), double_after_split=True)
    choices: Choices = {(FIRST, 2): ["split", "stand"], (SECOND, 2): ["double"]}
    answers = {"split": [("B", True)], "double": [("B", True), ("C", True)]}
    table.play(iter(["8S", "6H", "8D", "TC", "3S", "TH", "TD", "7C"]), seated(people, choices, answers))
    assert codes(table) == ["not_behind"]
    assert hands(table, "B")[1][1] == 100
    assert hands(table, "C") == [(0, 20, "win", 40)]
    table.open()
    table.bet(seat("A", 100), behind("B", 50))
    choices = {(FIRST, 2): ["split", "double"], (SECOND, 2): ["double"]}
    table.play(iter(["8S", "6H", "8D", "TC", "3S", "TH", "2D", "7C", "9S"]), seated(people, choices, answers))
    assert [hand[1] for hand in hands(table, "B")] == [100, 100]


def test_behind_a_blackjack_and_a_surrender(felt: type[Any], people: type[Any]) -> None:
    """BJ7-45: 3:2 behind as well; a surrender takes half of the bets behind."""
    table = started(felt, seat("A", 10), behind("B", 15))
    table.play(iter(["AS", "9H", "KD", "8C"]))
    assert hands(table, "B") == [(0, 15, "bj", 37)]
    table.open()
    table.bet(seat("A", 10), behind("B", 15))
    table.play(iter(["TS", "9H", "6D", "8C"]), seated(people, {(FIRST, 2): ["surrender"]}))
    assert hands(table, "B") == [(0, 15, "surrender", 7)]


@pytest.mark.parametrize(("obo", "returned"), [(False, (0, 0)), (True, (100, 50))])
def test_dealer_blackjack_after_a_double(felt: type[Any], people: type[Any], obo: bool, returned: Any) -> None:
    """BJ7-44: all bets lose; with ``obo`` only the first stake does."""
    table = started(felt, seat("A", 100), behind("B", 50), obo=obo)
    table.play(
        iter(["6S", "TH", "5D", "9C", "AS"]), seated(people, {(FIRST, 2): ["double"]}, {"double": [("B", True)]})
    )
    assert (hands(table, "A")[0][3], hands(table, "B")[0][3]) == returned
    assert table.book.settlement().returned == sum(returned)


@pytest.mark.parametrize(("obo", "returned"), [(False, [0, 0]), (True, [0, 100])])
def test_dealer_blackjack_after_a_split(felt: type[Any], people: type[Any], obo: bool, returned: list[int]) -> None:
    """BJ7-44: the second hand's bet was added, so with ``obo`` it comes back unless that hand is bust."""
    table = started(felt, seat("A", 100), obo=obo)
    choices: Choices = {(FIRST, 2): ["split", "stand"], (SECOND, 2): ["stand"]}
    table.play(iter(["8S", "TH", "8D", "9C", "9S", "AS"]), seated(people, choices))
    assert [hand[3] for hand in hands(table, "A")] == returned
    bust: Choices = {(FIRST, 2): ["split", "stand"], (SECOND, 2): ["hit"]}
    table.open()
    table.bet(seat("A", 100))
    table.play(iter(["8S", "TH", "8D", "9C", "9S", "KD", "AS"]), seated(people, bust))
    assert hands(table, "A") == [(0, 100, "lose", 0), (1, 100, "bust", 0)]


def test_unaffordable_double_is_refused(felt: type[Any], people: type[Any]) -> None:
    table = started(felt, seat("A", 501))
    table.play(iter(["6S", "6H", "5D", "9C", "TS", "7H"]), seated(people, {(FIRST, 2): ["double"]}))
    assert codes(table) == ["insufficient_balance"]


def test_inaction_frees_the_seat(felt: type[Any]) -> None:
    """BJ7-05, A-13: one round without action; a Blackjack asks for none; a seat is kept while its player bets."""
    table = started(felt, seat("A", 10))
    table.play(iter(["AS", "9H", "KD", "8C"]))
    assert not table.book.paid("A").forced_to_leave
    table.open()
    table.bet(seat("B", 10))
    table.bet(seat("A", 10))
    assert codes(table) == ["seat_taken"]
    table.play(iter(["TS", "9H", "KD", "8C"]))
    assert table.book.paid("A").forced_to_leave
    table.open()
    table.bet(seat("B", 10))
    assert table.book.seats == {1: "B"}


def test_two_idle_rounds(felt: type[Any], people: type[Any]) -> None:
    table = started(felt, seat("A", 10), idle_rounds_to_vacate=2)
    acts = seated(people, {(FIRST, 2): ["stand"]})
    for who, forced in ((None, False), (acts, False), (None, False), (None, True)):
        table.play(iter(["TS", "9H", "KD", "8C"]), who)
        assert table.book.paid("A").forced_to_leave is forced
        table.open()
        table.bet(seat("A", 10))


def test_a_seat_is_given_up_by_not_betting_or_betting_elsewhere(felt: type[Any]) -> None:
    table = started(felt, seat("A", 10), seat("B", 10, 2), seat("C", 10, 3), idle_rounds_to_vacate=9)
    table.play(iter(["TS"] * 3 + ["9H"] + ["9S"] * 3 + ["8C"]))
    table.open()
    table.bet(seat("A", 10, 4), behind("B", 10, 4), seat("C", 10, 1))
    assert codes(table) == []
    assert table.book.holders == {4: "A", 1: "C"}
    table.void()
    assert table.book.holders == {4: "A", 1: "C"}


def test_second_card_of_the_dealer_only_if_needed(felt: type[Any], people: type[Any]) -> None:
    """BJ7-40 with ``dealer_draws = "needed"``: a Blackjack needs it against an ace or ten only, insurance always."""
    table = felt("classic", dealer_draws="needed")
    table.fund(A=100)
    for up, second, dealt in (("9H", "TC", 1), ("TH", "5C", 2), ("AH", "5C", 2)):
        table.open()
        table.bet(seat("A", 10))
        table.play(iter(["AS", up, "KD", second]))
        assert len(table.cards()["dealer"]) == dealt

    class Insured(people):  # type: ignore[misc]
        def insure(self) -> list[str]:
            return ["A"]

        def decide(self, line: str, n: int, legal: Sequence[str]) -> list[tuple[str, str]]:  # noqa: ARG002
            return [("A", "hit")]

    table.open()
    table.bet(seat("A", 10))
    table.play(iter(["TS", "AH", "6D", "KD", "KC"]), Insured())
    assert table.book.paid("A").insurance.returned == 15
