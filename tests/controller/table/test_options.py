"""What a choice in ``[game]`` does at the table, for values other than the game's own."""

from __future__ import annotations

from typing import Any

import pytest

from controller import facts as f
from controller.book.rows import BalanceRequest
from controller.rules.options import Game
from controller.table.inputs import BalancesInput
from controller.table.state import Traits
from drivers import events as e

GAMES: tuple[Game, ...] = ("boundless", "classic", "baccarat")


def dealing(bench: Any, game: str, **rules: Any) -> Any:
    """One card of a round lies on the felt."""
    b = bench(game, burn="none", **rules)
    b.ok("start_shift")
    b.ok("load_shoe")
    b.ok("open_bets")
    b.ok("close_bets", **({"seats": [1]} if game == "classic" else {}))
    b.cards("TC")
    return b


@pytest.mark.parametrize("policy", ["pause_and_resolve", "void_affected", "cancel_and_reshuffle"])
@pytest.mark.parametrize("game", GAMES)
def test_C_05_on_error_says_what_a_void_costs_in_every_game(bench: Any, game: str, policy: str) -> None:
    b = dealing(bench, game, on_error=policy)
    b.shoe(e.NoRead("NR"))
    reshuffle = policy == "cancel_and_reshuffle"
    assert ("void_round" in b.last(f.IncidentRaised).resolutions) is not reshuffle
    assert "rescan" in b.last(f.IncidentRaised).resolutions  # what is certain and harmless is mended in every game
    b.ok("void", reason="cannot be read")
    assert b.last(f.RoundVoided).shoe is reshuffle
    b.ok("reopen", reason="cleared")
    assert b.step == ("load_shoe" if reshuffle else "open_bets")


@pytest.mark.parametrize("game", GAMES)
def test_on_error_holds_for_a_void_by_time_as_well(bench: Any, game: str) -> None:
    b = dealing(bench, game, on_error="cancel_and_reshuffle", auto_void_after_s=60.0)
    b.shoe(e.NoRead("NR"))
    b.wait()
    assert (b.last(f.RoundVoided).by, b.last(f.RoundVoided).shoe) == ("policy:auto_void", True)


@pytest.mark.parametrize("game", GAMES)
def test_on_restart_is_a_choice_of_every_game(bench: Any, game: str) -> None:
    b = dealing(bench, game, on_restart="resume")
    b.restart(away_ms=86_400_000)
    assert (b.state.phase, set(b.state.holds)) == ("dealing", {"restart"})
    b = dealing(bench, game, on_restart="void_round_and_shoe", host_loss_void_after_s=5.0)
    b.restart(away_ms=5_000)
    assert b.state.phase == "dealing"
    b.restart(away_ms=5_001)
    assert (b.last(f.RoundVoided).by, b.last(f.RoundVoided).shoe) == ("policy:on_restart", True)


# --- times -----------------------------------------------------------------------------------------------------


def seated(bench: Any, **rules: Any) -> Any:
    """A seat with a pair and a bettor behind it, against an ace."""
    b = bench("classic", burn="none", decisions="book", **rules)
    b.put(BalancesInput(tuple(BalanceRequest(player, 1000) for player in ("ann", "bob"))))
    b.ok("start_shift")
    b.ok("load_shoe")
    b.ok("open_bets")
    bets = [{"player": "ann", "bet": "main", "stake": 10, "box": 1},
            {"player": "bob", "bet": "main", "stake": 10, "box": 1, "behind": True}]  # fmt: skip
    assert b.order("place_bets", round=b.state.round.id, bets=bets).reply["refused"] == []
    return b


def test_every_window_of_a_seated_round_takes_its_own_time(bench: Any) -> None:
    b = seated(bench, betting_s=11.0, insurance_s=12.0, decision_s=13.0, follow_s=14.0)
    assert (b.step, b.state.step_ms) == ("close_bets", 11_000)
    b.wait()
    b.cards("8C AH 8D")
    assert (b.step, b.state.step_ms) == ("insurance", 12_000)
    b.wait()
    assert (b.step, b.state.step_ms) == ("decide seat/1/hand/0@2", 13_000)
    row = {"player": "ann", "line": "seat/1/hand/0", "n": 2, "request": "split"}
    assert b.order("decide", round=b.state.round.id, decisions=[row]).reply["refused"] == []
    assert (b.state.step.kind, b.state.step_ms) == ("follow", 14_000)


def test_peek_and_confirmation_take_their_own_time(bench: Any) -> None:
    b = bench("boundless", burn="none", peek_delay_s=3.0, confirm_result=True, confirm_s=7.0).open_round()
    b.cards("TC TH 9S TD")
    assert (b.step, b.state.step_ms) == ("peek", 3_000)
    b.wait()
    b.demand("main", 2, False)  # 20: the dealer stands
    assert (b.step, b.state.step_ms) == ("confirm", 7_000)


def test_a_shoes_stand_by_and_an_approval_take_their_own_time(bench: Any) -> None:
    traits = Traits(positions=True, results=True, standby=True)
    b = bench("baccarat", traits=traits, burn="none", standby_s=4.0, approval_s=50.0).open_round()
    for card, side, index in (("TS", "player", 1), ("KD", "banker", 1), ("9S", "player", 2), ("6D", "banker", 2)):
        b.shoe(e.CardDrawn(card, side, index))
    b.shoe(e.RoundResult("player", False, False))
    assert (b.step, b.state.step_ms) == ("standby", 4_000)
    b.shoe(e.StandBy())
    b.ok("correct", round=b.state.round.id, void=True, reason="video")
    assert b.last(f.ApprovalRequested).until_ms == 50_000
    assert b.table.deadline() == ("approval", b.now + 50_000)
