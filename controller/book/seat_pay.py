"""What cards return at a table with seats: hands played at a seat, and the bets behind it (BJ7-40..47)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from controller.book.lines import DOUBLE, NOTHING, SPLIT, Sum
from controller.book.pay import Faces, Groups, Insured, Payer, Pays, SideBets, hand_return
from controller.book.rows import Bet, BetGroup, Entry, GroupPaid, HandPaid
from controller.rules.scores import is_blackjack


class SeatHand(msgspec.Struct, frozen=True):
    """A final hand of a seat, before anybody is paid."""

    line: str
    length: int
    doubled: bool
    result: str


class SeatResult(msgspec.Struct, frozen=True):
    """An occupied seat: its player's main stake and his hands, the first one first."""

    stake: int
    hands: tuple[SeatHand, ...]


class SeatPayer(Payer):
    """One version of a round's result."""

    def __init__(
        self,
        cards: Mapping[str, Faces],
        seats: Mapping[int, SeatResult],
        backing: Mapping[tuple[int, int, bool], Sum],
        sums: Mapping[str, Sum],
        insured: Sum,
        *,
        obo: bool,
    ) -> None:
        dealer = cards["dealer"]
        self._seats, self._backing, self._sums = seats, backing, sums
        self._insured = Insured(dealer, insured)
        self._first_stake_only = obo and is_blackjack(dealer)
        self._side = {seat: SideBets(first_two(cards, seat), dealer) for seat in seats}

    def _returned(self, number: int, doubled: bool, result: str, hands: Sum) -> int:
        """What hands of one seat return. With ``obo`` a dealer Blackjack takes the first stake only: what doubling
        and splitting added comes back, unless that hand is bust (BJ7-44, BJ7-28)."""
        kept = 0
        if self._first_stake_only:
            kept = kept_stake(number, hands.stake, doubled=doubled)
        return hand_return(result, hands.stake, hands.part, kept)

    def pay(self, player: str, entry: Entry) -> Pays:  # noqa: ARG002 - every payer is called alike
        """See ``Payer.pay``."""
        hands: list[HandPaid] = []
        bets = []
        for bet in entry.bets:
            if bet.bet != "main":
                bets.append(self._side[bet.box or 0].pay(bet))
            elif bet.behind:
                hands += self._behind(bet, entry)
            else:
                for number, hand in enumerate(self._seats[bet.box or 0].hands):
                    hands.append(self._hand(number, hand, bet.stake, doubled=hand.doubled, behind=False))
        return tuple(hands), tuple(bets), self._insured.pay(entry)

    def _behind(self, bet: Bet, entry: Entry) -> Iterator[HandPaid]:
        """The hands a bet behind is on: the first always, the second if its split was followed (BJ7-29, BJ7-30)."""
        followed = {(f.line, f.kind) for f in entry.follows if f.extra}
        hands = self._seats[bet.box or 0].hands
        for number, hand in enumerate(hands):
            if number and (hands[0].line, SPLIT) not in followed:
                continue
            yield self._hand(number, hand, bet.stake, doubled=(hand.line, DOUBLE) in followed, behind=True)

    def _hand(self, number: int, hand: SeatHand, first: int, *, doubled: bool, behind: bool) -> HandPaid:
        stake = 2 * first if doubled else first
        back = self._returned(number, doubled, hand.result, Sum(1, stake, stake // 2))
        return HandPaid(hand.line, hand.length, stake, hand.result, back, doubled, behind)

    def _groups(self) -> Groups:
        found = []
        for seat, result in sorted(self._seats.items()):
            for number, hand in enumerate(result.hands):
                stake = 2 * result.stake if hand.doubled else result.stake
                found.append(self._group(number, hand, hand.doubled, Sum(1, stake, stake // 2), behind=False))
                everybody = self._backing.get((seat, number, False), NOTHING)
                more = self._backing.get((seat, number, True), NOTHING)
                doubled = Sum(more.count, 2 * more.stake, more.stake)
                for is_doubled, hands in ((False, everybody - more), (True, doubled)):
                    if hands.count:
                        found.append(self._group(number, hand, is_doubled, hands, behind=True))
        return tuple(found), (*self._side_groups(), *self._insured.groups())

    def _group(self, number: int, hand: SeatHand, doubled: bool, hands: Sum, *, behind: bool) -> GroupPaid:
        back = self._returned(number, doubled, hand.result, hands)
        return GroupPaid(hand.line, hand.length, doubled, hand.result, hands.count, hands.stake, back, behind)

    def _side_groups(self) -> Iterator[BetGroup]:
        for key, bets in self._sums.items():
            bet, _, seat = key.partition("/")
            if bet != "main":
                yield self._side[int(seat)].group(bet, bets, int(seat))


def kept_stake(number: int, stake: int, *, doubled: bool) -> int:
    """The part of a hand's ``stake`` that splitting (hand ``number`` 1) or doubling added."""
    return stake if number else stake // 2 if doubled else 0


def first_two(cards: Mapping[str, Faces], seat: int) -> Faces:
    """The first two cards of a seat, which a split parted."""
    first, second = cards[f"seat/{seat}/hand/0"], cards.get(f"seat/{seat}/hand/1")
    return first[:2] if second is None else (first[0], second[0])
