"""The bet record: rows of facts, and what they add up to."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from controller import facts as f
from controller.book.rows import Bet, BetPaid, HandPaid, Paid
from controller.record.bets import BetRecord, BetRow, Timed, Totals, bet_rows, round_totals


def rows_of(p: Any, player: str | None = None) -> list[BetRow]:
    game = p.table.setting.rules.game
    return list(bet_rows(BetRecord("t-1", game), p.timed, player))


def totals_of(p: Any, player: str | None = None) -> list[Totals]:
    return list(round_totals(BetRecord("t-1", p.table.setting.rules.game), p.timed, player))


def boundless(play: Any) -> Any:
    """Insurance, a split, doubles, side bets; then settled."""
    p = play("boundless")
    p.bets(("p1", "main", 100), ("p1", "pairs", 10), ("p2", "main", 51), ("p3", "bust_bonus", 5))
    p.close()
    p.cards("8C AH 8S 5D")
    p.order("insure", round=p.round, players=[{"player": "p2"}])
    p.order("close_decisions", round=p.round)
    p.wait()  # the peek
    p.choose("main", 2, p1="split", p2="double")
    p.cards("5H")  # p2: 21
    p.cards("3H 9D")  # 11 and 17
    p.choose("split/0", 2, p1="double")
    p.cards("TD")  # 21
    p.choose("split/1", 2, p1="stand")
    p.cards("TH 5S")  # dealer 5 A T 5 = 21
    p.post()
    return p


def test_a_row_for_every_stake_and_every_result(play: Any) -> None:
    p = boundless(play)
    rows = rows_of(p)
    found = [(r.player, r.what, r.bet, r.line, r.stake, r.result, r.returned, r.amount) for r in rows]
    assert found == [
        ("p1", "bet", "main", None, 100, None, None, -100),
        ("p1", "bet", "pairs", None, 10, None, None, -10),
        ("p2", "bet", "main", None, 51, None, None, -51),
        ("p3", "bet", "bust_bonus", None, 5, None, None, -5),
        ("p2", "insurance", "insurance", None, 25, None, None, -25),
        ("p1", "split", "main", "main", 100, None, None, -100),
        ("p2", "double", "main", "main", 51, None, None, -51),
        ("p1", "double", "main", "split/0", 100, None, None, -100),
        ("p1", "settlement", "main", "split/0", 200, "push", 200, 200),
        ("p1", "settlement", "main", "split/1", 100, "lose", 0, 0),
        ("p1", "settlement", "pairs", None, 10, "coloured", 110, 110),
        ("p2", "settlement", "main", "main", 102, "push", 102, 102),
        ("p2", "settlement", "insurance", None, 25, "lose", 0, 0),
        ("p3", "settlement", "bust_bonus", None, 5, "lose", 0, 0),
    ]
    assert {r.round for r in rows} == {p.round}
    assert [r.at_ms for r in rows] == sorted(r.at_ms for r in rows)


def test_amounts_add_up_to_what_each_player_won_or_lost(play: Any) -> None:
    for p in (boundless(play), seated(play)):
        moved: Counter[str] = Counter()
        for row in rows_of(p):
            moved[row.player] += row.amount
        assert {player: 1000 + moved[player] for player in ("p1", "p2", "p3", "p4")} == {
            player: p.balance(player) for player in ("p1", "p2", "p3", "p4")
        }


def test_transactions_are_those_of_the_wallet(play: Any) -> None:
    p = boundless(play)
    book = p.table.state.book
    taken = {(s.transaction, s.amount) for player in ("p1", "p2", "p3") for s in book.stakes(player)}
    rows = rows_of(p)
    assert {(r.transaction, r.stake) for r in rows if r.returned is None} == taken
    assert {(r.player, r.transaction) for r in rows if r.what == "settlement"} == {
        (player, book.paid(player).transaction) for player in ("p1", "p2", "p3")
    }


def seated(play: Any) -> Any:
    """A split followed by one bettor behind, a pair behind, a double that is followed."""
    p = play("classic")
    p.bets(("p1", "main", 100, 3), ("p1", "pair", 20, 3), ("p4", "main", 60, 5))
    p.bets(("p2", "main", 10, 3, True), ("p2", "pair", 4, 3, True), ("p3", "main", 30, 3, True))
    p.bets(("p3", "main", 40, 5, True))
    p.close()
    p.cards("8C 5C 6C 8H 6H")
    p.choose("seat/3/hand/0", 2, p1="split")
    p.order("follow", round=p.round, answers=[{"player": "p2", "line": "seat/3/hand/0", "follow": True}])
    p.wait()
    p.cards("TD TS")
    p.choose("seat/3/hand/0", 2, p1="stand")
    p.choose("seat/3/hand/1", 2, p1="stand")
    p.choose("seat/5/hand/0", 2, p4="double")
    p.order("follow", round=p.round, answers=[{"player": "p3", "line": "seat/5/hand/0", "follow": True}])
    p.cards("9H TH 9S")
    p.post()
    return p


def test_seats_bets_behind_and_follows(play: Any) -> None:
    rows = rows_of(seated(play))
    stakes = [(r.player, r.what, r.bet, r.box, r.behind, r.line, r.stake) for r in rows if r.returned is None]
    assert stakes[-4:] == [
        ("p1", "split", "main", 3, False, "seat/3/hand/0", 100),
        ("p2", "follow-split", "main", 3, True, "seat/3/hand/0", 10),
        ("p4", "double", "main", 5, False, "seat/5/hand/0", 60),
        ("p3", "follow-double", "main", 5, True, "seat/5/hand/0", 40),
    ]
    assert ("p2", "bet", "pair", 3, True, None, 4) in stakes
    settled = {(r.player, r.box, r.behind, r.line, r.bet): r.returned for r in rows if r.returned is not None}
    assert settled["p3", 3, True, "seat/3/hand/0", "main"] == 60
    assert settled["p3", 5, True, "seat/5/hand/0", "main"] == 160
    assert settled["p2", 3, True, None, "pair"] == 48
    assert ("p3", 3, True, "seat/3/hand/1", "main") not in settled


def test_a_void_round_gives_every_stake_back_with_its_transaction(play: Any) -> None:
    p = play("classic")
    p.bets(("p1", "main", 100, 3), ("p1", "pair", 20, 3))
    p.bets(("p2", "main", 10, 3, True))
    p.close()
    p.cards("8C 6C 8H")
    p.choose("seat/3/hand/0", 2, p1="split")
    p.order("void", "supervisor", reason="a card fell")
    p.post()
    rows = rows_of(p)
    stakes = {r.transaction: r for r in rows if r.returned is None}
    refunds = [r for r in rows if r.what == "refund"]
    assert len(refunds) == len(stakes) == 4
    for row in refunds:
        old = stakes[row.reference]
        assert (row.player, row.bet, row.box, row.behind, row.line) == (
            old.player, old.bet, old.box, old.behind, old.line,
        )  # fmt: skip
        assert (row.result, row.returned, row.amount) == ("void", old.stake, old.stake)
        assert row.transaction not in stakes
    assert sum(row.amount for row in rows) == 0
    (total,) = totals_of(p)
    assert total[2:] == (1, "void", 2, 230, 230, 0, True)


def test_a_platforms_own_transactions_are_kept(play: Any) -> None:
    p = play("baccarat", wallet="platform")
    p.bets(("p1", "BANKER", 10), transaction="tx-1", available=90)
    p.close()
    p.order("void", "supervisor", reason="a card fell")
    p.post()
    bet, refund = rows_of(p)
    assert (bet.transaction, bet.amount) == ("tx-1", -10)
    assert (refund.reference, refund.amount) == ("tx-1", 10)
    assert refund.transaction not in (None, "tx-1")


def test_one_player(play: Any) -> None:
    p = boundless(play)
    mine = rows_of(p, "p2")
    assert mine == [row for row in rows_of(p) if row.player == "p2"]
    assert len(mine) == 5
    (total,) = totals_of(p, "p2")
    assert total[2:] == (1, "settled", 1, 127, 102, -25, None)
    assert rows_of(p, "nobody") == []
    assert totals_of(p, "nobody") == []


@pytest.mark.parametrize("make", [boundless, seated])
def test_totals_equal_what_the_table_announced(play: Any, make: Any) -> None:
    p = make(play)
    settled = next(t.fact for t in p.timed if isinstance(t.fact, f.BetsSettled))
    (total,) = totals_of(p)
    assert (total.stake, total.returned, total.players) == (settled.stake, settled.returned, settled.players)
    assert (total.state, total.agrees, total.amount) == ("settled", True, total.returned - total.stake)


def test_totals_by_round_open_and_not_yet_posted(play: Any) -> None:
    p = play("baccarat")
    p.bets(("p1", "BANKER", 10))
    p.close()
    p.cards("2C 9H TC TD")
    p.post()
    first = p.round
    p.order("open_bets")
    p.close()  # a round without bets
    p.cards("2C 9H TC TD")
    p.order("open_bets")
    p.bets(("p2", "TIE", 7))
    done, empty, running = totals_of(p)
    assert (done.round, done.stake, done.returned, done.agrees) == (first, 10, 19, True)
    assert (empty.state, empty.players, empty.stake, empty.agrees) == ("settled", 0, 0, True)
    assert (running.state, running.stake, running.returned, running.agrees) == ("open", 7, 0, None)
    unposted = [t for t in p.timed if not isinstance(t.fact, f.SettlementPosted)]
    posting = next(round_totals(BetRecord("t-1", "baccarat"), unposted))
    assert (posting.state, posting.returned, posting.agrees) == ("posting", 0, None)


def test_totals_that_do_not_add_up_are_told(play: Any) -> None:
    p = boundless(play)
    changed = [
        Timed(t.at_ms, t.round, f.BetsSettled(version=1, stake=1, returned=1, players=3))
        if isinstance(t.fact, f.BetsSettled)
        else t
        for t in p.timed
    ]
    (total,) = round_totals(BetRecord("t-1", "boundless"), changed)
    assert total.agrees is False


def test_a_corrected_result_moves_the_difference() -> None:
    """Two versions of one coup, as facts."""

    def paid(version: int, returned: int, amount: int) -> f.SettlementPosted:
        won = BetPaid("BANKER", 10, "win" if returned else "lose", returned)
        return f.SettlementPosted(
            version=version, rows=(Paid("p1", version, 10, returned, amount, f"t:{version}", bets=(won,)),)
        )

    def settled(version: int, returned: int) -> f.BetsSettled:
        return f.BetsSettled(version=version, stake=10, returned=returned, players=1)

    facts = [
        f.BetsAccepted(count=1, total=10, rows=(Bet("p1", "BANKER", 10),)),
        settled(1, 0), paid(1, 0, 0), settled(2, 19), paid(2, 19, 19),
    ]  # fmt: skip
    timed = [Timed(n, "r-1", fact) for n, fact in enumerate(facts)]
    rows = list(bet_rows(BetRecord("t", "baccarat"), timed))
    assert [(r.version, r.returned, r.amount, r.transaction) for r in rows[1:]] == [
        (1, 0, 0, "t:1"), (2, 19, 19, "t:2"),
    ]  # fmt: skip
    (total,) = round_totals(BetRecord("t", "baccarat"), timed)
    assert total[2:] == (2, "settled", 1, 10, 19, 9, True)
    back = Timed(9, "r-1", f.SettlementPosted(version=3, rows=(Paid("p1", 3, 10, 0, -19, "t:3", bets=()),)))
    assert list(bet_rows(BetRecord("t", "baccarat"), [back])) == []


def test_a_hand_settled_twice_in_other_rounds_is_not_a_correction() -> None:
    def paid(returned: int) -> f.SettlementPosted:
        hand = HandPaid("main", 2, 10, "win", returned)
        return f.SettlementPosted(version=1, rows=(Paid("p1", 1, 10, returned, returned, "t", hands=(hand,)),))

    timed = [Timed(1, "r-1", paid(20)), Timed(2, "r-2", paid(20))]
    assert [r.amount for r in bet_rows(BetRecord("t", "boundless"), timed)] == [20, 20]


def test_a_round_declared_void_after_its_result(play: Any) -> None:
    """Hands give back what they had brought, stakes come back: in the end nobody won or lost anything."""
    for p in (boundless(play), seated(play)):
        book = p.table.state.book.copy()
        told = book.settle_void()
        timed, paid = p.timed, tuple(book.due(99))
        totals = f.BetsSettled(version=2, stake=told.stake, returned=told.returned, players=told.players)
        timed += [
            Timed(p.EPOCH_MS + p.now, p.round, fact)
            for fact in (totals, f.SettlementPosted(version=2, rows=paid))
        ]  # fmt: skip
        moved: Counter[str] = Counter()
        rows = list(bet_rows(BetRecord("t-1", p.table.setting.rules.game), timed))
        for row in rows:
            moved[row.player] += row.amount
        assert set(moved.values()) == {0}
        named = [[(r.player, r.bet, r.box, r.behind, r.line, r.stake) for r in rows if keep(r)] for keep in (
            lambda r: r.returned is None, lambda r: r.version == 2 and r.stake,
        )]  # fmt: skip
        assert sorted(named[0], key=str) == sorted(named[1], key=str)  # by the names they were taken under
        (total,) = round_totals(BetRecord("t-1", p.table.setting.rules.game), timed)
        assert (total.version, total.returned, total.amount, total.agrees) == (2, total.stake, 0, True)
