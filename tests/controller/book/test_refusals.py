"""What the book refuses, with which code; a refused row changes nothing and the others stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from controller.book import open_book
from controller.book.refusals import BATCH_MAX, CODES, BookRefusal
from controller.book.rows import BalanceRequest, BetRequest, DecisionRequest, FollowRequest, InsuranceRequest
from controller.book.setting import STAKE_MAX, BookSetting, Limits


@pytest.fixture
def table(felt: type[Any]) -> Any:
    """A boundless table with limits, betting open, A and B with an account."""
    made = felt("boundless", limits={"main": (10, 500)})
    made.fund(A=1000, B=1000)
    made.open(41)
    return made


BAD = [
    (BetRequest("nobody", "main", 10), "unknown_player"),
    (BetRequest("", "main", 10), "bad_player"),
    (BetRequest("A B", "main", 10), "bad_player"),
    (BetRequest("A\n", "main", 10), "bad_player"),
    (BetRequest("x" * 65, "main", 10), "bad_player"),
    (BetRequest("é", "main", 10), "bad_player"),
    (BetRequest("A", "jackpot", 10), "unknown_bet"),
    (BetRequest("A", "pair", 10), "unknown_bet"),
    (BetRequest("A", "insurance", 10), "unknown_bet"),
    (BetRequest("A", "main", 0), "bad_stake"),
    (BetRequest("A", "main", -10), "bad_stake"),
    (BetRequest("A", "main", 10.5), "bad_stake"),
    (BetRequest("A", "main", 10.0), "bad_stake"),
    (BetRequest("A", "main", True), "bad_stake"),
    (BetRequest("A", "main", float("nan")), "bad_stake"),
    (BetRequest("A", "main", STAKE_MAX + 1), "bad_stake"),
    (BetRequest("A", "main", 9), "below_minimum"),
    (BetRequest("A", "main", 501), "above_maximum"),
    (BetRequest("A", "pairs", 10), "round_limit"),
    (BetRequest("A", "main", 10, 1), "bad_box"),
    (BetRequest("A", "main", 10, None, True), "bad_box"),
    (BetRequest("A", "lucky_trio", 1001), "insufficient_balance"),
    (BetRequest("A", "main", 10, transaction="t-1"), "bad_transaction"),
    (BetRequest("A", "main", 10, available=10), "bad_transaction"),
]


@pytest.mark.parametrize(("request_", "code"), BAD, ids=[f"{r.bet}-{c}-{i}" for i, (r, c) in enumerate(BAD)])
def test_bad_bets(table: Any, request_: BetRequest, code: str) -> None:
    before = table.book.copy()
    checked = table.book.check_bets([request_, BetRequest("B", "main", 10)])
    assert [(r.index, r.code) for r in checked.refused] == [(0, code)]
    assert [row.player for row in checked.rows] == ["B"]
    assert code in CODES
    assert checked.refused[0].message
    assert table.book == before


def test_fractional_stakes_reach_the_book() -> None:
    """A fraction in a batch is refused by itself; other types make the whole message malformed."""
    raw = b'[{"player":"A","bet":"main","stake":1.5},{"player":"A","bet":"main","stake":2}]'
    found = msgspec.json.decode(raw, type=list[BetRequest])
    assert [type(request.stake) for request in found] == [float, int]
    for stake in (b'"10"', b"true", b"null", b"[]"):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(b'[{"player":"A","bet":"main","stake":%s}]' % stake, type=list[BetRequest])


def test_duplicates_and_the_running_balance(table: Any) -> None:
    """Each bet once, in a batch and across batches; earlier rows of a batch count against the balance."""
    checked = table.bet(
        BetRequest("A", "main", 400),
        BetRequest("A", "main", 400),
        BetRequest("A", "lucky_trio", 600),
        BetRequest("A", "poker_trio", 1),
    )
    assert [(r.index, r.code) for r in checked.refused] == [(1, "already_placed"), (3, "insufficient_balance")]
    assert [r.code for r in table.bet(BetRequest("A", "main", 10)).refused] == ["already_placed"]
    assert table.balance("A") == 0


def test_no_more_bets(table: Any) -> None:
    table.close()
    with pytest.raises(BookRefusal) as caught:
        table.book.check_bets([BetRequest("A", "main", 10)])
    assert caught.value.code == "betting_closed"


@pytest.mark.parametrize("method", ["check_bets", "check_balances", "check_decisions", "check_insurance"])
def test_a_batch_too_large(table: Any, method: str) -> None:
    table.book.insurance_open = True
    with pytest.raises(BookRefusal) as caught:
        getattr(table.book, method)([None] * (BATCH_MAX + 1))
    assert caught.value.code == "batch_too_large"
    assert len(table.book.check_bets([BetRequest("A", "main", 0)] * BATCH_MAX).refused) == BATCH_MAX


def decide(table: Any, *requests: tuple[str, str, int, str]) -> list[str]:
    return [r.code for r in table.book.check_decisions([DecisionRequest(*request) for request in requests]).refused]


def test_decisions(table: Any) -> None:
    table.bet(BetRequest("A", "main", 10), BetRequest("B", "lucky_trio", 10))
    table.close()
    assert decide(table, ("A", "main", 2, "hit")) == ["no_window"]
    table.book.open_window("main", ["8S", "8D"], ("hit", "stand", "double", "split"))
    assert decide(
        table,
        ("A", "main", 3, "hit"),
        ("A", "split/0", 2, "hit"),
        ("B", "main", 2, "hit"),
        ("nobody", "main", 2, "hit"),
        ("A", "main", 2, "surrender"),
        ("A", "main", 2, "fold"),
        ("A", "main", 2, "hit"),
        ("A", "main", 2, "stand"),
    ) == ["no_window", "no_window", "not_seated", "not_seated", "not_legal", "not_legal", "already_decided"]
    rows = table.book.check_decisions([DecisionRequest("A", "main", 2, "split")]).rows
    table.book.apply_decisions(rows)
    assert decide(table, ("A", "main", 2, "hit")) == ["already_decided"]
    table.book.lock("main", ["8S", "8D"])
    assert decide(table, ("A", "main", 2, "hit")) == ["no_window"]


def test_decisions_of_others_and_of_finished_hands(felt: type[Any], people: type[Any]) -> None:
    found: list[list[str]] = []

    class Probing(people):  # type: ignore[misc]
        def decide(self, line: str, n: int, legal: Sequence[str]) -> list[tuple[str, str]]:  # noqa: ARG002
            found.append(decide(table, *[(player, line, n, "stand") for player in "ABCD"]))
            wants = {"A": "stand", "B": "split", "C": "hit"} if n == 2 and line == "main" else {"B": "stand"}
            return [(p, w) for p, w in wants.items() if p != "B" or line != "main" or n == 2]

    table = felt("boundless")
    table.fund(A=100, B=100, C=100, D=100)
    table.open()
    table.bet(*[BetRequest(player, "main", 10) for player in "ABCD"])
    # 4 4: C hits to 7 and then, like D before, lets it pass
    table.play(iter(["4S", "9H", "4D", "9C", "3S", "5S", "9D", "6D", "KD", "KC"]), Probing())
    assert found[0] == []
    assert found[1] == ["hand_finished", "not_your_hand", "on_autoplay"]
    assert found[2] == ["not_your_hand", "not_your_hand", "not_your_hand"]


def test_insurance(table: Any) -> None:
    with pytest.raises(BookRefusal) as caught:
        table.book.check_insurance([InsuranceRequest("A")])
    assert caught.value.code == "no_insurance"
    table.bet(BetRequest("A", "main", 10), BetRequest("B", "lucky_trio", 10))
    table.close()
    table.do(lambda book: book.open_insurance())
    asked = [InsuranceRequest(player) for player in ("A", "A", "B", "nobody")]
    checked = table.rows(table.book.check_insurance(asked), "apply_insurance")
    assert [r.code for r in checked.refused] == ["already_insured", "not_seated", "not_seated"]
    again = table.book.check_insurance([InsuranceRequest("A")])
    assert [r.code for r in again.refused] == ["already_insured"]
    assert table.balance("A") == 1000 - 10 - 5
    table.do(lambda book: book.close_insurance())
    with pytest.raises(BookRefusal):
        table.book.check_insurance([InsuranceRequest("A")])


def test_following(felt: type[Any]) -> None:
    """BJ7-07: bettors behind decide nothing; they follow in their window only, once."""
    table = felt("classic")
    with pytest.raises(BookRefusal):
        table.book.check_follows([FollowRequest("B", "seat/1/hand/0")] * (BATCH_MAX + 1))
    table.fund(A=100, B=100, C=100)
    table.open()
    table.bet(BetRequest("A", "main", 10, 1), BetRequest("B", "main", 10, 1, True), BetRequest("C", "main", 10, 2))
    table.close()
    line, cards = "seat/1/hand/0", ["5S", "6D"]
    table.book.open_window(line, cards, ("hit", "stand", "double"))
    assert decide(table, ("B", line, 2, "hit"), ("C", line, 2, "hit")) == ["not_seated", "not_your_hand"]
    table.book.apply_decisions(table.book.check_decisions([DecisionRequest("A", line, 2, "double")]).rows)
    table.book.lock(line, cards)

    def follow(*who: str) -> list[str]:
        return [r.code for r in table.book.check_follows([FollowRequest(player, line) for player in who]).refused]

    assert follow("B") == ["no_follow"]
    assert table.book.followers(line) == 1
    table.book.open_follow(line, "double")
    assert table.book.unanswered() == 1
    assert follow("A", "C", "nobody", "B", "B") == ["not_behind", "not_behind", "not_behind", "already_answered"]
    table.book.apply_follows(table.book.check_follows([FollowRequest("B", line, False)]).rows)
    assert follow("B") == ["already_answered"]
    assert table.book.unanswered() == 0
    assert table.balance("B") == 90


def test_accounts(table: Any, felt: type[Any]) -> None:
    def codes(book: Any, *requests: Any) -> list[str]:
        return [r.code for r in book.check_balances([BalanceRequest(*request) for request in requests]).refused]

    table.bet(BetRequest("A", "main", 10))
    assert codes(table.book, ("A", 5), ("B", -1), ("B", 1.5), ("", 1), ("B", 7)) == [
        "round_open",
        "bad_balance",
        "bad_balance",
        "bad_player",
    ]
    assert codes(felt("baccarat", wallet="platform").book, ("A", 5)) == ["bad_transaction"]


def test_platform_rows(felt: type[Any]) -> None:
    table = felt("baccarat", wallet="platform")
    table.open()
    checked = table.bet(
        BetRequest("A", "TIE", 5, transaction="t-1", available=0),
        BetRequest("A", "BANKER", 5, transaction="t-1", available=0),
        BetRequest("A", "BANKER", 5, transaction="t 2", available=0),
        BetRequest("A", "BANKER", 5, transaction="", available=0),
        BetRequest("A", "BANKER", 5, transaction="t-2"),
        BetRequest("A", "BANKER", 5, available=5),
        BetRequest("A", "BANKER", 5, transaction="t-2", available=-1),
        BetRequest("A", "BANKER", 5, transaction="t-2", available=1.5),
        BetRequest("A", "BANKER", 5, transaction="x" * 129, available=0),
        BetRequest("A", "BANKER", 5, transaction="x" * 128, available=0),
    )
    assert [r.code for r in checked.refused] == ["transaction_known"] + ["bad_transaction"] * 7
    late = table.bet(BetRequest("B", "TIE", 5, transaction="t-1", available=0))
    assert [r.code for r in late.refused] == ["transaction_known"]


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ({"game": "classic", "seats": 8}, "seats must be 1 to 7"),
        ({"game": "classic", "idle_rounds_to_vacate": 0}, "at least 1"),
        ({"game": "boundless", "limits": {"pair": Limits(min=1)}}, "no bet 'pair'"),
        ({"game": "boundless", "limits": {"main": Limits(min=5, max=4)}}, "min 5 is above max 4"),
        ({"game": "boundless", "limits": {"main": Limits(min=0)}}, "limits.main.min"),
        ({"game": "boundless", "limits": {"main": Limits(max=STAKE_MAX + 1)}}, "limits.main.max"),
    ],
)
def test_settings(setting: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        open_book(BookSetting(table="t-1", **setting))
