"""Wallets: what each movement is called, refunds, corrections, drafts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from controller.book.bets import BookFault
from controller.book.layered import Layered
from controller.book.rows import Bet, BetRequest, Instruction

ROUND = "t-1:20261129-0001-001"


def busy(people: type[Any]) -> Any:
    """A insures and splits, then doubles the first hand; B stands."""

    class Acting(people):  # type: ignore[misc]
        def insure(self) -> list[str]:
            return ["A"]

        def decide(self, line: str, n: int, legal: Sequence[str]) -> list[tuple[str, str]]:  # noqa: ARG002
            if line == "main":
                return [("A", "split"), ("B", "stand")]
            return [("A", "double" if line == "split/0" else "stand")]

    return Acting()


CARDS = ["8S", "AH", "8D", "5C", "3S", "TH", "TD", "4C"]  # 8+3+T = 21 doubled, 8+T = 18; dealer A+5+4 = 20


def bets(platform: bool) -> list[BetRequest]:
    asked = [("A", "main", 100), ("A", "lucky_trio", 7), ("B", "main", 30)]
    if not platform:
        return [BetRequest(*bet) for bet in asked]
    left = {"A": 1000, "B": 30}
    found = []
    for number, (player, bet, stake) in enumerate(asked):
        left[player] -= stake
        found.append(BetRequest(player, bet, stake, transaction=f"bet-{number}", available=left[player]))
    return found


def started(felt: type[Any], wallet: str) -> Any:
    table = felt("boundless", wallet=wallet)
    if wallet == "embedded":
        table.fund(A=1000, B=30)
    table.open()
    assert not table.bet(*bets(wallet == "platform")).refused
    return table


def test_platform_instructions(felt: type[Any], people: type[Any]) -> None:
    """Bets came debited; everything taken later is asked for, and each player gets one credit, if only of nothing."""
    table = started(felt, "platform")
    table.play(iter(CARDS), busy(people))
    assert table.instructions == [
        Instruction("debit", "A", 50, f"{ROUND}:1:insurance:main:A"),
        Instruction("debit", "A", 100, f"{ROUND}:1:split:main:A"),
        Instruction("debit", "A", 100, f"{ROUND}:1:double:split/0:A"),
        Instruction("credit", "A", 400, f"{ROUND}:1:settle:round:A"),
        Instruction("credit", "B", 0, f"{ROUND}:1:settle:round:B"),
    ]
    assert table.book.audit().house == 100 + 7 + 30 + 250 - 400


def test_embedded_ledger(felt: type[Any], people: type[Any]) -> None:
    """The embedded wallet's ledger holds the bets as well, and accounts for every balance."""
    table = started(felt, "embedded")
    table.play(iter(CARDS), busy(people))
    assert [i.transaction for i in table.instructions[:3]] == [
        f"{ROUND}:1:bet:main:A",
        f"{ROUND}:1:bet:lucky_trio:A",
        f"{ROUND}:1:bet:main:B",
    ]
    for player, start in (("A", 1000), ("B", 30)):
        moved = sum(i.amount if i.kind == "credit" else -i.amount for i in table.instructions if i.player == player)
        assert table.balance(player) == start + moved
    names = [i.transaction for i in table.instructions]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("wallet", ["embedded", "platform"])
def test_void_refunds_every_stake_by_its_transaction(felt: type[Any], people: type[Any], wallet: str) -> None:
    """ERR-09: side bets, insurance, doubles and splits included, each referring to what took it."""
    table = started(felt, wallet)
    table.close()
    people_ = busy(people)
    source = iter(CARDS)
    while len(table.round.cards) < 7:
        table.step(source, people_)
    taken = list(table.instructions)
    assert table.book.audit().at_risk == 100 + 7 + 30 + 50 + 100 + 100
    table.void()
    refunds = [i for i in table.instructions if i.kind == "refund"]
    assert sum(i.amount for i in refunds) == 387
    references = {i.transaction: i.amount for i in taken}
    if wallet == "platform":
        references |= {"bet-0": 100, "bet-1": 7, "bet-2": 30}
    assert {i.reference: i.amount for i in refunds} == references
    assert len({i.transaction for i in refunds}) == len(refunds) == 6
    assert table.book.audit().house == 0
    if wallet == "embedded":
        assert (table.balance("A"), table.balance("B")) == (1000, 30)
    table.open()
    assert table.book.check_bets([]).rows == []


@pytest.mark.parametrize("wallet", ["embedded", "platform"])
def test_void_in_betting_and_without_bets(felt: type[Any], wallet: str) -> None:
    table = started(felt, wallet)
    assert [refund.amount for refund in table.void()] == [107, 30]
    table.open()
    assert table.void() == []
    table.open()


def test_corrections(felt: type[Any], people: type[Any]) -> None:
    """Each version pays the difference to the one before, and never edits it; a debit may overdraw."""
    table = started(felt, "embedded")
    table.play(iter(CARDS), busy(people))
    balances = table.balance("A"), table.balance("B")
    before = len(table.instructions)
    cards = table.cards()

    def version(dealer: list[str]) -> Any:
        settlement = table.do(lambda book: book.settle({**cards, "dealer": dealer}))
        return settlement, table.post(1)

    settlement, rows = version(["AH", "5C", "8C", "8D"])  # 22: everybody wins
    assert (settlement.version, settlement.previous, settlement.returned) == (2, 400, 660)
    assert [(r.player, r.amount, r.returned) for r in rows] == [("A", 200, 600), ("B", 60, 60)]
    _, rows = version(["AH", "KC"])  # a Blackjack after all: insurance pays, hands lose
    assert [(r.player, r.amount) for r in rows] == [("A", -450), ("B", -60)]
    assert rows[0].insurance.result == "win"
    _, rows = version(["AH", "KC"])
    assert [r.amount for r in rows] == [0, 0]
    assert [(i.kind, i.player, i.amount, i.transaction) for i in table.instructions[before:]] == [
        ("credit", "A", 200, f"{ROUND}:2:settle:round:A"),
        ("credit", "B", 60, f"{ROUND}:2:settle:round:B"),
        ("debit", "A", 450, f"{ROUND}:3:settle:round:A"),
        ("debit", "B", 60, f"{ROUND}:3:settle:round:B"),
    ]
    assert (table.balance("A"), table.balance("B")) == (balances[0] - 250, balances[1])
    assert table.book.paid("A", 2).returned == 600
    table.fund(B=0)
    version(["AH", "5C", "8C", "8D"])
    table.fund(B=0)
    version(["AH", "KC"])
    assert table.balance("B") == -60


def test_slices(felt: type[Any], people: type[Any]) -> None:
    """Rows come in slices, in the order in which players first bet; the next round waits for the last one."""
    table = started(felt, "embedded")
    table.close()
    source, acting = iter(CARDS), busy(people)
    while not table.step(source, acting):
        pass
    table.do(lambda book: book.settle(table.cards()))
    assert table.book.unposted == 2
    assert [row.player for row in table.book.due(1)] == ["A"]
    with pytest.raises(BookFault):
        table.book.copy().open_round("r", 2)
    with pytest.raises(BookFault):
        table.book.copy().settle(table.cards())
    assert table.book.audit().unpaid == 400
    table.do(lambda book: book.apply_posted(book.due(1)))
    assert [row.player for row in table.book.due(9)] == ["B"]
    assert table.book.unposted == 1
    table.do(lambda book: book.apply_posted(book.due(9)))
    assert (table.book.due(9), table.book.unposted, table.book.phase) == ([], 0, "idle")


def test_books_know_when_money_is_missing(felt: type[Any]) -> None:
    """The audit is no formality: a balance changed behind the book's back is found."""
    table = started(felt, "embedded")
    table.book.money.balances.set("A", 5)
    with pytest.raises(BookFault):
        table.book.check()
    table = started(felt, "embedded")
    table.book.staked += 1
    with pytest.raises(BookFault):
        table.book.check()


def test_one_row_for_both_wallets() -> None:
    assert Bet("A", "main", 5, transaction="t-1", available=0).stake == Bet("A", "main", 5).stake


def test_layered() -> None:
    base: Layered[int] = Layered()
    for key in "abc":
        base.set(key, ord(key))
    base.commit()
    draft, other = base.copy(), base.copy()
    draft.set("d", 4)
    draft.set("a", 1)
    assert draft.keys() == ["a", "b", "c", "d"]
    assert draft.keys(1, 2) == ["b"]
    assert draft.keys(3, 9) == ["d"]
    assert draft.keys(9, 12) == []
    assert dict(draft.items()) == {"a": 1, "b": 98, "c": 99, "d": 4}
    assert dict(base.items()) == {"a": 97, "b": 98, "c": 99}
    assert other == base != draft
    nested = draft.copy()
    nested.set("e", 5)
    assert ("e" in nested, "e" in draft, len(nested), len(draft)) == (True, False, 5, 4)
    draft.commit()
    assert dict(draft.items()) == {"a": 1, "b": 98, "c": 99, "d": 4}
    for stale in (base, other, nested):
        for use in (stale.copy, stale.keys, stale.commit, lambda stale=stale: stale.set("z", 1)):
            with pytest.raises(RuntimeError):
                use()
    assert draft.shed(3)
    assert draft.get("d") is None
    assert not draft.shed(3)
