"""Exact returns held against rounds at the real table core."""

from __future__ import annotations

import argparse
import json
from typing import Any

import pytest

from controller.book import baccarat as book
from controller.cli import rtp
from controller.cli.errors import UsageError
from controller.returns import blackjack, sides
from controller.rules.side_bets import bets_of
from controller.simulation import monte_carlo
from controller.simulation.monte_carlo import ROUNDS_MIN, simulate

#: C-08, pinned with the other exact figures in tests/controller/rules/test_returns.py.
MAIN = {"boundless": 99.517, "classic": 99.287}


def run(*words: str) -> int:
    parser = argparse.ArgumentParser(prog="dealerd")
    rtp.add_parser(parser.add_subparsers(required=True))
    args = parser.parse_args(["rtp", *words])
    status: int = args.run(args)
    return status


def test_baccarat_agrees(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("baccarat", "--check", "1200", "--seed", "3", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["bet"], row["rounds"], row["agrees"]) for row in rows] == [
        ("BANKER", 1200, True),
        ("PLAYER", 1200, True),
        ("TIE", 1200, True),
    ]
    for row in rows:
        low, high = row["interval"]
        assert low < row["simulated_percent"] < high
        assert low <= row["return_percent"] <= high


@pytest.mark.timeout(600)
def test_blackjack_agrees_and_plays_as_counted() -> None:
    """Both games; one test, for the dealer's chances are worked out once. Any player who knows the game can say what
    is best in these hands."""
    for game, rounds, seats in (("boundless", 300, 1), ("classic", 100, 7)):
        found = simulate(game, "text", rounds, seed=4)
        exact = {"main": MAIN[game], "insurance": float(100 * blackjack.insurance_return())}
        exact |= {table.bet: float(100 * sides.bet_return(table.bet)) for table in bets_of(game)}
        assert set(found) == set(exact)
        for bet, figure in exact.items():
            assert found[bet].low <= figure <= found[bet].high, (game, bet)
        assert found["main"].rounds == rounds
        assert found["main"].high - found["main"].low < 2 * 100 * monte_carlo.DEVIATIONS * 1.5 / rounds**0.5
        assert seats == 1 or found["pair"].high - found["pair"].low < 100
    text = blackjack.MODELS["boundless", "text"]
    every = ("hit", "stand", "double", "split", "surrender")
    for hand, up, split, best in (
        (("TS", "6H"), "TD", False, "hit"),
        (("TS", "6H"), "9D", False, "surrender"),
        (("TS", "2H"), "4D", False, "stand"),
        (("TS", "2H"), "3D", False, "hit"),
        (("6S", "5H"), "6D", False, "double"),
        (("AS", "7H"), "9D", False, "hit"),
        (("AS", "7H"), "8D", False, "stand"),
        (("8S", "8H"), "6D", False, "split"),
        (("TS", "KH"), "6D", False, "stand"),
        (("8S", "3H"), "6D", True, "double"),
        (("8S", "TH"), "TD", True, "stand"),
        (("5S", "4H", "2C"), "TD", False, "hit"),
        (("7S", "7H", "7C"), "TD", False, "stand"),
    ):
        legal = ("hit", "stand") if len(hand) > 2 else ("hit", "stand", "double") if split else every
        if hand[0][0] not in "8T" or hand[1][0] not in "8K":
            legal = tuple(choice for choice in legal if choice != "split")
        if up[0] == "T":
            legal = tuple(choice for choice in legal if choice != "surrender")
        assert blackjack.best_decision(hand, up, legal, text, split=split) == best, (hand, up)


def test_a_seed_gives_the_same_rounds() -> None:
    one, again, other = (simulate("baccarat", "text", ROUNDS_MIN, seed) for seed in (1, 1, 2))
    assert one == again != other


def test_a_table_that_pays_wrong_is_found(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setitem(book.RETURNS, "PLAYER", 250)
    assert run("baccarat", "--check", "300") == 1
    lines = {line.split()[1]: line.split()[-1] for line in capsys.readouterr().out.splitlines()}
    assert lines == {"bet": "agrees", "BANKER": "yes", "PLAYER": "NO", "TIE": "yes"}


@pytest.mark.parametrize("rounds", ["0", "99", "-100", "1e3", "many", ""])
def test_numbers_of_rounds_that_say_nothing(capsys: pytest.CaptureFixture[str], rounds: str) -> None:
    with pytest.raises(SystemExit) as stop:
        run("baccarat", f"--check={rounds}")
    assert stop.value.code == 2
    assert "is not a number of rounds from 100 on" in capsys.readouterr().err


def test_a_seed_without_rounds() -> None:
    with pytest.raises(UsageError, match="--seed belongs to --check"):
        run("baccarat", "--seed", "5")
