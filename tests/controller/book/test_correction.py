"""A result corrected after it was paid, against a reference that knows the posted rows and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from controller.book.baccarat import BaccaratPayer, winner
from controller.book.lines import NOTHING
from controller.book.money import transaction_id
from controller.book.pay import Insured, SideBets, hand_result, hand_return
from controller.book.rows import Bet, BetPaid, BetRequest, Entry, HandPaid, Insurance, Paid
from controller.book.seat_pay import first_two, kept_stake
from controller.book.setting import BookSetting
from controller.cards import FACES, shuffled_shoe
from controller.rules.scores import is_blackjack

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


class ByRows:
    """The reference: the next version of a settled round, from its posted rows and the corrected faces alone."""

    def __init__(self, setting: BookSetting, round_: str, cards: Mapping[str, Iterable[str]]) -> None:
        self._setting, self._round = setting, round_
        self._cards = {line: tuple(faces) for line, faces in cards.items()}
        self._sides: dict[int | None, SideBets] = {}
        self._coup = BaccaratPayer(winner(self._cards), {}) if setting.game == "baccarat" else None

    def paid(self, before: Paid) -> Paid:
        """The row that follows ``before``; ``amount`` is the difference, negative if money goes back."""
        hands = tuple(self._hand(hand) for hand in before.hands)
        bets = tuple(self._bet(before.player, bet) for bet in before.bets)
        insurance = None if before.insurance is None else self._insurance(before.player, before.insurance.stake)
        returned = sum(h.returned for h in hands) + sum(b.returned for b in bets)
        returned += 0 if insurance is None else insurance.returned
        version = before.version + 1
        return msgspec.structs.replace(
            before,
            version=version,
            returned=returned,
            amount=returned - before.returned,
            transaction=transaction_id(self._setting.table, self._round, version, "settle", "round", before.player),
            corrects=before.transaction,
            hands=hands,
            bets=bets,
            insurance=insurance,
        )

    def _hand(self, hand: HandPaid) -> HandPaid:
        dealer, number = self._cards["dealer"], 0
        split = hand.line.startswith("split/")
        if hand.line.startswith("seat/"):
            head, _, number_ = hand.line.rpartition("/")
            number, split = int(number_), f"{head}/1" in self._cards
        faces = self._cards[hand.line][: hand.length]
        result = hand_result(faces, dealer, surrendered=hand.result == "surrender", split=split)
        kept = kept_stake(number, hand.stake, doubled=hand.doubled) if self._first_stake_only else 0
        back = hand_return(result, hand.stake, hand.stake // 2, kept)
        return msgspec.structs.replace(hand, result=result, returned=back)

    @property
    def _first_stake_only(self) -> bool:
        return self._setting.game == "classic" and self._setting.obo and is_blackjack(self._cards["dealer"])

    def _bet(self, player: str, paid: BetPaid) -> BetPaid:
        bet = Bet(player, paid.bet, paid.stake, paid.box, paid.behind)
        if self._coup is not None:
            return self._coup.pay(player, Entry((bet,)))[1][0]
        return self._side(paid.box).pay(bet)

    def _side(self, box: int | None) -> SideBets:
        if box not in self._sides:
            two = self._cards["main"] if box is None else first_two(self._cards, box)
            self._sides[box] = SideBets(two, self._cards["dealer"])
        return self._sides[box]

    def _insurance(self, player: str, stake: int) -> BetPaid | None:
        return Insured(self._cards["dealer"], NOTHING).pay(Entry(insurance=Insurance(player, stake)))


@given(game=st.sampled_from(["boundless", "classic", "baccarat"]), seed=st.integers(0, 2**32))
def test_a_correction_is_what_follows_from_the_posted_rows(
    felt: type[Any], people: type[Any], game: str, seed: int
) -> None:
    """Versions 2 to 4 of any round: what the book works out from bets and decisions is what follows from the rows
    that were posted, to the last field; and nothing is lost on the way."""
    rng = Random(seed)
    table = played(felt, people, game, rng)
    name, posted = table.round.id, {p: table.book.paid(p) for p in PLAYERS if p in table.book.entries}
    start = {p: table.balance(p) for p in PLAYERS}
    first = dict(posted)
    for version in (2, 3, 4):
        cards = other_faces(table.cards(), rng)
        told = table.do(lambda book, cards=cards: book.settle(cards))
        rows = {row.player: row for row in table.post(rng.randrange(1, 5))}
        by_rows = ByRows(table.setting, name, cards)
        assert {p: by_rows.paid(row) for p, row in posted.items()} == rows
        assert (told.version, told.previous) == (version, sum(row.returned for row in posted.values()))
        assert told.returned - told.previous == sum(row.amount for row in rows.values())
        posted = rows
    for player, row in posted.items():
        assert table.balance(player) == start[player] + row.returned - first[player].returned
