"""One shared hand: BJS- and PAY-S as far as they concern a player's money."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from controller.book.bets import BookFault
from controller.book.rows import BetRequest, DecisionRequest, Lock


def scripted(people: type[Any], choices: dict[tuple[str, int], dict[str, str]], insured: Sequence[str] = ()) -> Any:
    """People whose requests are given by window."""

    class Scripted(people):  # type: ignore[misc]
        def insure(self) -> list[str]:
            return list(insured)

        def decide(self, line: str, n: int, legal: Sequence[str]) -> list[tuple[str, str]]:  # noqa: ARG002
            return list(choices.get((line, n), {}).items())

    return Scripted()


def hands(table: Any, player: str) -> list[tuple[str, int, int, str, int]]:
    return [(h.line, h.length, h.stake, h.result, h.returned) for h in table.book.paid(player).hands]


def test_three_players_stand_hit_double_and_split_a_pair_of_aces(felt: type[Any], people: type[Any]) -> None:
    """BJS-37, BJS-50..56: every hand is a prefix of its line; split aces get one card each."""
    table = felt("boundless")
    table.fund(A=1000, B=1000, C=1000, D=1000)
    table.open()
    table.bet(*[BetRequest(player, "main", 100) for player in "ABCD"])
    choices = {("main", 2): {"A": "stand", "B": "hit", "C": "double", "D": "split"}, ("main", 3): {"B": "stand"}}
    # player A A, dealer 6 and T; main 9 (21 soft is A+A+9); split cards T and 5; dealer draws 4 = 20
    settlement = table.play(iter(["AS", "6H", "AD", "TC", "9S", "TH", "5C", "4D"]), scripted(people, choices))
    assert hands(table, "A") == [("main", 2, 100, "lose", 0)]
    assert hands(table, "B") == [("main", 3, 100, "win", 200)]
    assert hands(table, "C") == [("main", 3, 200, "win", 400)]
    assert hands(table, "D") == [("split/0", 2, 100, "win", 200), ("split/1", 2, 100, "lose", 0)]
    assert [table.balance(player) for player in "ABCD"] == [900, 1100, 1200, 1000]
    assert (settlement.version, settlement.players) == (1, 4)
    assert (settlement.stake, settlement.returned, settlement.previous) == (600, 800, 0)
    assert {(g.line, g.length, g.doubled, g.count, g.returned) for g in settlement.groups} == {
        ("main", 2, False, 1, 0),
        ("main", 3, False, 1, 200),
        ("main", 3, True, 1, 400),
        ("split/0", 2, False, 1, 200),
        ("split/1", 2, False, 1, 0),
    }


def test_a_lock_says_who_did_what(felt: type[Any]) -> None:
    """BJS-51: a card is drawn if somebody needs one, by choice or because the table plays for him."""
    table = felt("boundless")
    players = "ABCDEFG"
    table.fund(**dict.fromkeys(players, 100))
    table.open()
    table.bet(*[BetRequest(player, "main", 10) for player in players])
    table.close()
    cards, legal = ["8S", "8D"], ("hit", "stand", "double", "split", "surrender")
    table.book.open_window("main", cards, legal)
    assert (table.book.seated, table.book.deciders("main", 2), table.book.deciders("main", 3)) == (7, 7, 0)
    for chosen, expected in (
        ({}, Lock(False, False, 0, 0, 0, 0, 0, 7, "stand")),
        ({"A": "surrender", "B": "stand"}, Lock(False, False, 0, 1, 0, 0, 1, 5, "stand")),
        ({"C": "split"}, Lock(False, True, 0, 1, 0, 1, 1, 4, "stand")),
        ({"D": "double"}, Lock(True, True, 0, 1, 1, 1, 1, 3, "stand")),
        ({"E": "hit", "F": "hit"}, Lock(True, True, 2, 1, 1, 1, 1, 1, "stand")),
    ):
        requests = [DecisionRequest(player, "main", 2, what) for player, what in chosen.items()]
        table.rows(table.book.check_decisions(requests), "apply_decisions")
        assert table.book.demand("main", cards) == expected
    assert table.book.undecided() == 1
    assert table.book.demand("main", ["4S", "4D"]).draw
    with pytest.raises(BookFault):
        table.book.demand("main", [*cards, "2S"])


def test_who_stood_keeps_his_hand(felt: type[Any], people: type[Any]) -> None:
    """BJS-53: a later card on the line never changes a finished hand."""
    table = felt("boundless")
    table.fund(A=100, B=100)
    table.open()
    table.bet(BetRequest("A", "main", 100), BetRequest("B", "main", 100))
    table.play(
        iter(["TS", "6H", "9D", "TC", "TH", "5C"]), scripted(people, {("main", 2): {"A": "stand", "B": "hit"}})
    )
    assert hands(table, "A") == [("main", 2, 100, "lose", 0)]
    assert hands(table, "B") == [("main", 3, 100, "bust", 0)]


@pytest.mark.parametrize(
    ("cards", "request_", "effect"),
    [(["AS", "AD"], "split", "stand"), (["5S", "5D"], "double", "hit"), (["5S", "5D"], "split", "hit")],
)
def test_too_little_money(felt: type[Any], people: type[Any], cards: list[str], request_: str, effect: str) -> None:
    """BJS-39: hit on 11 or less, stand above (A,A: stand; 5,5: hit); after the card the player decides again."""
    table = felt("boundless")
    table.fund(A=199)
    table.open()
    table.bet(BetRequest("A", "main", 100))
    asked: list[Any] = []

    class Short(people):  # type: ignore[misc]
        def decide(self, line: str, n: int, legal: Sequence[str]) -> list[tuple[str, str]]:
            asked.append((line, n, table.book.offered("A", legal)))
            return [("A", request_ if n == 2 else "stand")]

    table.play(iter([cards[0], "9H", cards[1], "9C", "4S", "KD"]), Short())
    assert asked[0][2] == ("hit", "stand", "surrender")
    assert table.book.plays("A")[0].effect == effect
    assert not table.book.plays("A")[0].auto
    assert len(asked) == (2 if effect == "hit" else 1)
    assert hands(table, "A")[0][1:3] == (3 if effect == "hit" else 2, 100)
    assert table.book.paid("A").stake == 100


def test_blackjacks_push_and_insurance(felt: type[Any], people: type[Any]) -> None:
    """BJS-22, BJS-23, BJS-63: insurance is half, floored, also with a Blackjack, and pays 2:1; both BJ push."""
    table = felt("boundless")
    table.fund(A=151, B=1, C=101)
    table.open()
    table.bet(BetRequest("A", "main", 101), BetRequest("B", "main", 1), BetRequest("C", "main", 101))
    table.play(iter(["AS", "AH", "KD", "KC"]), scripted(people, {}, ["A", "B", "C"]))
    assert {r.player: r.code for r in table.refused} == {"B": "nothing_to_insure", "C": "insufficient_balance"}
    paid = table.book.paid("A")
    assert (paid.insurance.stake, paid.insurance.returned) == (50, 150)
    assert hands(table, "A") == [("main", 2, 101, "push", 101)]
    assert table.balance("A") == 251


def test_odd_stakes_are_floored(felt: type[Any], people: type[Any]) -> None:
    """3:2 and half of an odd stake: floored for each player, not for their sum."""
    table = felt("boundless")
    table.fund(A=3, B=3)
    table.open()
    table.bet(BetRequest("A", "main", 3), BetRequest("B", "main", 3))
    assert table.play(iter(["AS", "9H", "KD", "7C"])).returned == 14
    assert hands(table, "A") == [("main", 2, 3, "bj", 7)]
    table.open()
    table.bet(BetRequest("A", "main", 5), BetRequest("B", "main", 5))
    table.play(iter(["9S", "9H", "7D", "9C"]), scripted(people, {("main", 2): {"A": "surrender", "B": "surrender"}}))
    assert hands(table, "A") == [("main", 2, 5, "surrender", 2)]
    assert table.book.settlement().returned == 4


def test_side_bets_without_main_bet(felt: type[Any]) -> None:
    """BJS-01, BJS-06, BJS-62: no decisions; a Bust Bonus makes the dealer draw, its row pays odds to one."""
    table = felt("boundless")
    table.fund(A=100)
    table.open()
    checked = table.bet(*[BetRequest("A", bet, 10) for bet in ("pairs", "bust_bonus", "lucky_trio", "poker_trio")])
    assert len(checked.rows) == 4
    assert table.book.seated == 0
    settlement = table.play(iter(["7S", "7H", "7D", "9C", "TH"]))
    assert {b.bet: (b.result, b.odds, b.returned) for b in table.book.paid("A").bets} == {
        "pairs": ("mixed", 5, 60),
        "bust_bonus": ("bust_3", 1, 20),
        "lucky_trio": ("777_unsuited", 50, 510),
        "poker_trio": ("three_of_a_kind", 30, 310),
    }
    assert settlement.returned == 900
    assert table.balance("A") == 960


def test_without_live_hand_the_dealer_does_not_draw(felt: type[Any]) -> None:
    """BJS-62: a Blackjack is decided, so the dealer keeps his two cards."""
    table = felt("boundless")
    table.fund(A=10)
    table.open()
    table.bet(BetRequest("A", "main", 10))
    table.play(iter(["AS", "5H", "KD", "6C"]))
    assert table.cards()["dealer"] == ["5H", "6C"]


def test_time_outs(felt: type[Any], people: type[Any]) -> None:
    """BJS-40: hit to 11, then stand; who missed one decision is played for to the end, split hands included."""
    table = felt("boundless")
    table.fund(A=100, B=300)
    table.open()
    table.bet(BetRequest("A", "main", 100), BetRequest("B", "main", 100))
    seen: list[tuple[str, int, int]] = []

    class Sleepy(people):  # type: ignore[misc]
        def decide(self, line: str, n: int, legal: Sequence[str]) -> list[tuple[str, str]]:  # noqa: ARG002
            seen.append((line, n, table.book.undecided()))
            return [("B", "split")] if (line, n) == ("main", 2) else []

    table.play(iter(["4S", "9H", "4D", "9C", "9S", "2S", "3S", "5S", "8S", "KS"]), Sleepy())
    # main 8: A is played for (hit to 17); B splits, then misses split/0 at 6, so split/1 is played for as well
    assert seen == [("main", 2, 2), ("split/0", 2, 1)]
    assert [(p.request, p.effect, p.auto) for p in table.book.plays("A")] == [
        ("none", "hit", True),
        (None, "stand", True),
    ]
    assert [(p.line, p.n, p.request, p.effect) for p in table.book.plays("B")] == [
        ("main", 2, "split", "split"),
        ("split/0", 2, "none", "hit"),
        ("split/0", 3, None, "hit"),
        ("split/0", 4, None, "stand"),
        ("split/1", 2, None, "hit"),
        ("split/1", 3, None, "stand"),
    ]


def test_ace_counts_eleven_for_the_automatic_decision(felt: type[Any]) -> None:
    """BJS-40: A+5 = 16 stands."""
    table = felt("boundless")
    table.fund(A=100)
    table.open()
    table.bet(BetRequest("A", "main", 100))
    table.play(iter(["AS", "9H", "5D", "9C"]))
    assert hands(table, "A") == [("main", 2, 100, "lose", 0)]


def test_two_rounds_do_not_mix(felt: type[Any]) -> None:
    table = felt("boundless")
    table.fund(A=100)
    for _ in range(2):
        table.open()
        table.bet(BetRequest("A", "main", 10))
        table.play(iter(["TS", "9H", "TD", "9C"]))
    assert table.balance("A") == 120
    assert table.book.audit().house == -20
