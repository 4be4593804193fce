"""The table with its own bet book: bets, windows, settlement, refunds, restarts (BJS-, BJ7-, ERR-09)."""

from __future__ import annotations

from typing import Any

import pytest

from controller import facts as f
from controller.book.rows import BalanceRequest, BetRequest
from controller.table.inputs import BalancesInput


def seated(bench: Any, game: str = "boundless", *, burn: str = "AS 2H", **rules: Any) -> Any:
    """A table in its first betting window; players p1 to p4 hold 1,000 each."""
    b = bench(game, decisions="book", **rules)
    b.ok("start_shift")
    b.ok("load_shoe")
    if b.step.startswith("draw burn"):
        b.cards(burn)
    b.put(BalancesInput(tuple(BalanceRequest(f"p{n}", 1000) for n in range(1, 5))))
    b.ok("open_bets")
    return b


def bets(b: Any, *rows: dict[str, Any]) -> Any:
    b.order("place_bets", round=b.state.round.id, bets=list(rows))
    return b.last(f.BetsAccepted)


def choose(b: Any, line: str, n: int, **choices: str) -> None:
    b.ok(
        "decide",
        round=b.state.round.id,
        decisions=[{"player": p, "line": line, "n": n, "request": r} for p, r in choices.items()],
    )


def finish_posting(b: Any) -> None:
    while b.table.deadline() is not None and b.table.deadline()[0] == "post":
        b.wait()


def balances(b: Any) -> dict[str, int]:
    return {p: b.state.book.money.available(p) for p in ("p1", "p2", "p3", "p4")}


def test_three_players_of_one_hand_stand_hit_and_split_aces_in_one_round(bench: Any) -> None:
    b = seated(bench)
    accepted = bets(b, *({"player": p, "bet": "main", "stake": 100} for p in ("p1", "p2", "p3")))
    assert (accepted.count, accepted.total) == (3, 300)
    assert accepted.public_data() == {"count": 3, "total": 300}
    b.ok("close_bets")
    b.cards("AC 6H AS TD")
    assert b.step == "decide main@2"
    choose(b, "main", 2, p1="stand", p2="hit", p3="split")
    b.cards("9D")  # p2: A A 9 is 21 and closes the line
    b.cards("KD 5S")
    b.cards("8C")  # dealer 24
    assert b.state.phase == "result"
    finish_posting(b)
    assert balances(b) == {"p1": 1100, "p2": 1100, "p3": 1200, "p4": 1000}
    settled = b.last(f.BetsSettled)
    assert (settled.stake, settled.returned) == (400, 800)
    assert "players" not in settled.public_data()


def test_BJS_40_nobody_answers_and_the_table_plays_for_them(bench: Any) -> None:
    b = seated(bench)
    bets(b, {"player": "p1", "bet": "main", "stake": 10})
    b.ok("close_bets")
    b.cards("5C 6H 4S TD")  # 9: hits
    b.wait()
    assert b.step == "draw player/2"
    b.cards("3D")  # 12: stands, without another window
    assert b.step == "draw dealer/2"


def test_BJS_62_side_bets_alone_make_the_dealer_draw_only_for_bust_bonus(bench: Any) -> None:
    for bet, step in (("pairs", "open_bets"), ("bust_bonus", "draw dealer/2")):
        b = seated(bench)
        bets(b, {"player": "p1", "bet": bet, "stake": 10})
        b.ok("close_bets")
        b.cards("9C 6H 4S TD")
        assert b.step == step, bet


def test_ERR_09_a_void_refunds_every_stake(bench: Any) -> None:
    b = seated(bench)
    bets(b, {"player": "p1", "bet": "main", "stake": 100}, {"player": "p1", "bet": "pairs", "stake": 50})
    b.ok("close_bets")
    b.cards("5C 6H 4S TD")
    choose(b, "main", 2, p1="double")
    assert balances(b)["p1"] == 750
    b.ok("void", reason="a card fell")
    finish_posting(b)
    assert balances(b)["p1"] == 1000
    assert b.last(f.BetsSettled).returned == 250
    b.ok("reopen", reason="cleared")
    b.ok("open_bets")


def test_refused_bets_are_listed_and_the_others_stand(bench: Any) -> None:
    b = seated(bench)
    rows = [
        {"player": "p1", "bet": "main", "stake": 100},
        {"player": "nobody", "bet": "main", "stake": 1},
        {"player": "p2", "bet": "main", "stake": -5},
        {"player": "p2", "bet": "main", "stake": 1.5},
        {"player": "p2", "bet": "jackpot", "stake": 5},
        {"player": "p3", "bet": "main", "stake": 1001},
    ]
    outcome = b.order("place_bets", round=b.state.round.id, bets=rows)
    assert outcome.reply["accepted"] == 1
    assert [(r["index"], r["code"]) for r in outcome.reply["refused"]] == [
        (1, "unknown_player"), (2, "bad_stake"), (3, "bad_stake"), (4, "unknown_bet"), (5, "insufficient_balance"),
    ]  # fmt: skip
    b.ok("close_bets")
    assert b.refused("place_bets", round=b.state.round.id, bets=rows[:1]).code == "betting_closed"


def test_commands_of_the_other_mode_are_refused(bench: Any) -> None:
    b = seated(bench)
    args = {"round": b.state.round.id, "line": "main", "prefix_len": 2, "draw": True, "key": "k"}
    assert b.refused("branch_demand", **args).code == "wrong_mode"
    platform = bench().open_round()
    assert platform.refused("place_bets", round=platform.state.round.id, bets=[]).code == "wrong_mode"


def test_held_bets_are_refused(bench: Any) -> None:
    b = seated(bench)
    b.ok("pause", reason="x")
    row = {"player": "p1", "bet": "main", "stake": 1}
    assert b.refused("place_bets", round=b.state.round.id, bets=[row]).code == "held"


@pytest.mark.parametrize("cards", [0, 4, 5])
def test_a_restart_keeps_every_bet_and_decision(bench: Any, cards: int) -> None:
    b = seated(bench)
    bets(b, {"player": "p1", "bet": "main", "stake": 100}, {"player": "p2", "bet": "main", "stake": 20})
    b.ok("close_bets")
    b.cards(" ".join(["5C", "6H", "4S", "TD"][:cards]))
    if cards == 5:
        choose(b, "main", 2, p1="double", p2="stand")
        b.cards("8H")
    before = b.state.book.copy()
    b.restart()
    assert b.state.book == before
    assert b.state.book.check().at_risk == (220 if cards == 5 else 120)


def test_BJ7_29_bettors_behind_may_follow_a_split_for_five_seconds(bench: Any) -> None:
    b = seated(bench, "classic")
    bets(
        b,
        {"player": "p1", "bet": "main", "stake": 100, "box": 3},
        {"player": "p2", "bet": "main", "stake": 10, "box": 3, "behind": True},
        {"player": "p3", "bet": "main", "stake": 20, "box": 3, "behind": True},
    )
    b.ok("close_bets")
    b.cards("8C 6C 8H")
    choose(b, "seat/3/hand/0", 2, p1="split")
    assert (b.state.step.kind, b.state.step.line) == ("follow", "seat/3/hand/0")
    answers = [{"player": "p2", "line": "seat/3/hand/0", "follow": True}]
    b.ok("follow", round=b.state.round.id, answers=answers)
    assert b.state.step.kind == "follow"
    b.wait()  # p3 never answers
    assert b.step == "draw seat/3/hand/0/1"
    b.cards("TD TS")
    choose(b, "seat/3/hand/0", 2, p1="stand")
    choose(b, "seat/3/hand/1", 2, p1="stand")
    b.cards("TH 9S")  # dealer 25
    finish_posting(b)
    assert balances(b) == {"p1": 1200, "p2": 1020, "p3": 1020, "p4": 1000}


def test_a_seated_table_waits_until_somebody_sits(bench: Any) -> None:
    b = seated(bench, "classic")
    assert b.refused("close_bets").code == "not_allowed_now"
    b.wait()
    assert b.step == "close_bets"
    bets(b, {"player": "p1", "bet": "main", "stake": 1, "box": 7})
    b.ok("close_bets")
    assert b.step == "draw seat/7/hand/0/0"


def test_BAC_13_banker_is_floored(bench: Any) -> None:
    b = seated(bench, "baccarat", burn="AS 2H")
    bets(b, {"player": "p1", "bet": "BANKER", "stake": 10}, {"player": "p2", "bet": "PLAYER", "stake": 10})
    b.ok("close_bets")
    b.cards("2C 9H TC TD")
    finish_posting(b)
    assert balances(b)["p1"] == 1009
    assert balances(b)["p2"] == 990


def offered(b: Any) -> tuple[str, ...]:
    """Open betting: what the feed offers, and that the book refuses the rest."""
    (fact,) = [fact for fact in b.ok("open_bets") if isinstance(fact, f.BettingOpened)]
    names = [bet for bet in b.state.book.BETS if bet not in ("main", "PLAYER", "BANKER", "TIE")]
    checked = b.state.book.check_bets([BetRequest("A", bet, 10) for bet in names])
    limited = {names[r.index] for r in checked.refused if r.code == "round_limit"}
    assert limited == set(names) - set(fact.side_bets_open)
    assert fact.public_data().get("side_bets_open", ()) == fact.side_bets_open
    return tuple(fact.side_bets_open)


def test_SHOE_13_the_feed_says_which_side_bets_are_open(bench: Any) -> None:
    """Counted by rounds of the shoe, void ones included (A-04)."""
    b = bench("boundless", decisions="book", burn="none")
    b.ok("start_shift")
    b.ok("load_shoe")
    found = {}
    for number in range(1, 47):
        found[number] = offered(b)
        b.ok("void", reason="only the number counts")
        b.ok("reopen", reason="go on")
    late = ("bust_bonus", "lucky_trio", "poker_trio")
    assert found == {n: ("pairs", *late) if n <= 40 else late if n <= 45 else () for n in range(1, 47)}


@pytest.mark.parametrize(("game", "bets"), [("classic", ("pair",)), ("baccarat", ())])
def test_side_bets_of_the_other_games(bench: Any, game: str, bets: tuple[str, ...]) -> None:
    b = bench(game, decisions="book", burn="none")
    b.ok("start_shift")
    b.ok("load_shoe")
    assert offered(b) == bets
