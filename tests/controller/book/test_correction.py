"""A result corrected after it was paid: by the book that holds the round, and by the stored rows alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.book.correction import Correction
from controller.book.refusals import CODES, BookRefusal
from controller.book.rows import BetRequest, Paid
from controller.cards import FACES, shuffled_shoe

PLAYERS = [f"P{n}" for n in range(6)]


def acting(people: type[Any], rng: Random) -> Any:
    """People who do anything that is legal, and now and then nothing."""

    class Acting(people):  # type: ignore[misc]
        def insure(self) -> list[str]:
            return [player for player in PLAYERS if rng.random() < 0.5]

        def decide(self, line: str, n: int, legal: Sequence[str]) -> list[tuple[str, str]]:  # noqa: ARG002
            return [(player, rng.choice(legal)) for player in PLAYERS if rng.random() < 0.9]

        def follow(self, line: str, kind: str) -> list[tuple[str, bool]]:  # noqa: ARG002
            return [(player, rng.random() < 0.7) for player in PLAYERS]

    return Acting()


def wishes(game: str, rng: Random) -> list[BetRequest]:
    """Bets of everybody."""
    if game == "baccarat":
        return [BetRequest(p, bet, rng.randrange(1, 99)) for p in PLAYERS for bet in ("PLAYER", "BANKER", "TIE")]
    if game == "boundless":
        bets = ("main", "pairs", "bust_bonus", "lucky_trio", "poker_trio")
        return [BetRequest(p, bet, rng.randrange(1, 99)) for p in PLAYERS for bet in bets if rng.random() < 0.7]
    found = [BetRequest(p, bet, rng.randrange(1, 99), n + 1) for n, p in enumerate(PLAYERS[:3]) for bet in
             ("main", "pair")]  # fmt: skip
    return found + [BetRequest(p, bet, rng.randrange(1, 99), box, True) for p in PLAYERS[3:] for box in (1, 2)
                    for bet in ("main", "pair")]  # fmt: skip


def played(felt: type[Any], people: type[Any], game: str, rng: Random) -> Any:
    """A table whose first round is played and paid."""
    options = {"obo": rng.random() < 0.5, "double_after_split": True} if game == "classic" else {}
    table = felt(game, **options)
    table.fund(**dict.fromkeys(PLAYERS, 5_000))
    table.open()
    table.bet(*wishes(game, rng))
    table.play(cards_of(rng), acting(people, rng))
    return table


def cards_of(rng: Random) -> Iterator[str]:
    """A shoe with many pairs, aces and tens."""
    shoe = shuffled_shoe(rng)
    while True:
        yield rng.choice(["AS", "AD", "TH", "KC", "8S", "8D"]) if rng.random() < 0.4 else shoe.pop()


def other_faces(cards: dict[str, list[str]], rng: Random) -> dict[str, list[str]]:
    """The same places with one to three other faces."""
    found = {line: list(faces) for line, faces in cards.items()}
    for _ in range(rng.randrange(1, 4)):
        line = rng.choice(sorted(line for line in found if found[line]))
        found[line][rng.randrange(len(found[line]))] = rng.choice(["AS", "TH", *FACES])
    return found


@given(game=st.sampled_from(["boundless", "classic", "baccarat"]), seed=st.integers(0, 2**32))
def test_both_ways_agree(felt: type[Any], people: type[Any], game: str, seed: int) -> None:
    """Versions 2 to 4 of any round: what the book works out from bets and decisions is what follows from the rows
    that were posted, to the last field; and nothing is lost on the way."""
    rng = Random(seed)
    table = played(felt, people, game, rng)
    name, posted = table.round.id, {p: table.book.paid(p) for p in PLAYERS if p in table.book.entries}
    start = {p: table.balance(p) for p in PLAYERS}
    first = dict(posted)
    for version in (2, 3, 4):
        cards = other_faces(table.cards(), rng)
        told = table.book.check_correction(name, cards)
        assert table.do(lambda book, cards=cards: book.correct(name, cards)) == told
        rows = {row.player: row for row in table.post(rng.randrange(1, 5))}
        by_rows = Correction(table.setting, name, cards)
        assert {p: by_rows.paid(row) for p, row in posted.items()} == rows
        assert (told.version, told.previous) == (version, sum(row.returned for row in posted.values()))
        assert told.returned - told.previous == sum(row.amount for row in rows.values())
        posted = rows
    for player, row in posted.items():
        assert table.balance(player) == start[player] + row.returned - first[player].returned


def test_an_older_round_is_corrected_while_the_next_is_played(felt: type[Any], people: type[Any]) -> None:
    """From the stored rows alone: the difference moves, refers to the settlement it corrects, and adds up."""
    table = felt("baccarat")
    table.fund(A=1_000, B=1_000)
    table.open()
    table.bet(BetRequest("A", "BANKER", 30), BetRequest("B", "PLAYER", 50), BetRequest("B", "TIE", 1))
    table.play(iter(["9S", "2H", "TD", "2C", "3D"]), people())  # 9 to 4, a natural: PLAYER
    before = [table.book.paid(player) for player in ("A", "B")]
    name = table.round.id
    table.open()
    table.bet(BetRequest("A", "TIE", 5))
    assert (table.balance("A"), table.balance("B")) == (965, 1_049)

    stored = msgspec.json.decode(msgspec.json.encode(before), type=list[Paid])
    correction = Correction(table.setting, name, {"player": ["2S", "TD"], "banker": ["9H", "TC"]})
    rows = [correction.paid(row) for row in stored]
    table.do(lambda book: book.apply_corrected(rows))
    assert [(row.version, row.returned, row.amount) for row in rows] == [(2, 58, 58), (2, 0, -100)]
    assert (table.balance("A"), table.balance("B")) == (965 + 58, 1_049 - 100)
    assert [(i.kind, i.player, i.amount, i.transaction, i.reference) for i in table.book.instructions(rows)] == [
        ("credit", "A", 58, f"t-1:{name}:2:settle:round:A", f"t-1:{name}:1:settle:round:A"),
        ("debit", "B", 100, f"t-1:{name}:2:settle:round:B", f"t-1:{name}:1:settle:round:B"),
    ]
    assert table.book.audit().at_risk == 5


def refused(book: Any, round_: str, cards: Any) -> str:
    before = book.copy()
    for way in (book.check_correction, book.correct):
        with pytest.raises(BookRefusal) as caught:
            way(round_, cards)
        assert caught.value.code in CODES
        assert book == before
    return caught.value.code


def test_what_cannot_be_corrected(felt: type[Any], people: type[Any]) -> None:
    table = felt("boundless")
    table.fund(A=1_000, B=1_000)
    table.open()
    name = table.round.id
    cards = {"main": ["TS", "9H"], "dealer": ["TD", "8C"]}
    assert refused(table.book, name, cards) == "not_settled"
    table.bet(BetRequest("A", "main", 10), BetRequest("B", "main", 10))
    assert refused(table.book, name, cards) == "not_settled"
    table.close()
    source = iter(["TS", "TD", "9H", "8C"])
    while not table.step(source, people()):
        pass
    table.do(lambda book: book.settle(table.cards()))
    table.do(lambda book: book.apply_posted(book.due(1)))
    assert refused(table.book, name, cards) == "not_settled"
    table.post()
    assert refused(table.book, "20261129-0001-999", cards) == "wrong_round"
    for bad in (
        {"main": ["TS", "9H"]},
        {**cards, "split/0": ["TS", "2S"]},
        {**cards, "dealer": ["TD", "8C", "2C"]},
        {**cards, "dealer": ["TD"]},
        {**cards, "dealer": ["TD", "**"]},
        {**cards, "dealer": ["TD", "1C"]},
    ):
        assert refused(table.book, name, bad) == "bad_cards"
    assert table.do(lambda book: book.correct(name, cards)).version == 2
    table.post()
    table.open()
    assert refused(table.book, name, cards) == "wrong_round"
    table.void()
    assert refused(table.book, table.round.id, cards) == "not_settled"
