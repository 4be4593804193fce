"""A result corrected after its bets were settled: what every player gets under the next version.

Two ways, which agree. A round the book still holds is corrected by ``Book.correct``: totals at once, rows in slices.
An older one is corrected row by row from the ``Paid`` rows its last version was posted with, in memory of one slice.
Stakes, hands and decisions stay as they were played; only the faces differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from controller.book.baccarat import BaccaratPayer, winner
from controller.book.lines import NOTHING
from controller.book.money import transaction_id
from controller.book.pay import Insured, SideBets, hand_result, hand_return
from controller.book.rows import Bet, BetPaid, Entry, HandPaid, Insurance, Paid
from controller.book.seat_pay import first_two, kept_stake
from controller.book.setting import BookSetting
from controller.rules.scores import is_blackjack

#: Lines whose hands began as half of a split, at the shared table.
_SPLIT: Final = "split/"


class Correction:
    """The next version of a settled round, from its posted rows. ``cards``: the corrected faces of every line."""

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
        split = hand.line.startswith(_SPLIT)
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
