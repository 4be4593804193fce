"""PLAYER, BANKER, TIE: BAC-12..14, BAC-18."""

from __future__ import annotations

from typing import Any

import pytest

from controller.book.baccarat import win_return
from controller.book.rows import BetRequest

PLAYER_WINS = ["9S", "2H", "TD", "5C"]
BANKER_WINS = ["2S", "9H", "5D", "TC"]
TIE = ["9S", "9H", "TD", "TC"]


@pytest.mark.parametrize(("stake", "back"), [(10, 19), (20, 39), (30, 58), (1, 1), (2, 3), (100, 195)])
def test_banker_is_floored_for_each_bet(felt: type[Any], stake: int, back: int) -> None:
    """BAC-13 with its own figures; the sum of two floors, not the floor of the sum."""
    assert win_return("BANKER", stake) == back
    table = felt("baccarat")
    table.fund(A=1000, B=1000)
    table.open()
    table.bet(BetRequest("A", "BANKER", stake), BetRequest("B", "BANKER", stake))
    assert table.play(iter(BANKER_WINS)).returned == 2 * back
    assert table.balance("A") == 1000 - stake + back


@pytest.mark.parametrize(
    ("cards", "returned"),
    [
        (PLAYER_WINS, {"PLAYER": 66, "BANKER": 0, "TIE": 0}),
        (BANKER_WINS, {"PLAYER": 0, "BANKER": 64, "TIE": 0}),
        (TIE, {"PLAYER": 33, "BANKER": 33, "TIE": 297}),
    ],
)
def test_returns(felt: type[Any], cards: list[str], returned: dict[str, int]) -> None:
    """BAC-12, BAC-14: 2 for 1, 9 for 1; on a tie the other bets come back without commission."""
    table = felt("baccarat")
    table.fund(A=99)
    table.open()
    table.bet(*[BetRequest("A", bet, 33) for bet in returned])
    table.play(iter(cards))
    assert {bet.bet: bet.returned for bet in table.book.paid("A").bets} == returned
    groups = table.book.settlement().bets
    assert {group.bet: (group.count, group.odds, group.returned) for group in groups} == {
        bet: (1, 0, back) for bet, back in returned.items()
    }
