"""The book of Boundless Blackjack: one shared hand, side bets without a main bet allowed (BJS-, PAY-S)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from controller.book.base import Cards
from controller.book.hands import HandBook, Window
from controller.book.lines import Chosen, Line, Sum, automatic, story
from controller.book.pay import Faces, Groups, Insured, Payer, Pays, SideBets, hand_result, hand_return
from controller.book.rows import Bet, Effect, Entry, GroupPaid, HandPaid
from controller.rules.side_bets import bets_of

MAIN: Final = "main"
SPLITS: Final = ("split/0", "split/1")
#: Hands kept for players who did the same with the same stake; more would take long to free.
KNOWN_MAX: Final = 4_096


def _chosen(entry: Entry) -> tuple[Chosen, ...]:
    return tuple([(d.line, d.n, d.request, d.effect) for d in entry.decisions])


class BoundlessPayer(Payer):
    """One version of a round's result; hands of one story are worked out once."""

    def __init__(
        self, cards: Mapping[str, Faces], lines: Mapping[str, Line], sums: Mapping[str, Sum], insured: Sum
    ) -> None:
        self._cards, self._lines, self._sums = cards, lines, sums
        self._dealer = cards["dealer"]
        self._side = SideBets(cards[MAIN], self._dealer)
        self._insured = Insured(self._dealer, insured)
        self._shapes: dict[tuple[Chosen, ...], list[tuple[str, int, bool, str]]] = {}
        self._known: dict[tuple[tuple[Chosen, ...], int], tuple[HandPaid, ...]] = {}

    def _result(self, line: str, length: int, surrendered: bool) -> str:
        hand = self._cards[line][:length]
        return hand_result(hand, self._dealer, surrendered=surrendered, split=line != MAIN)

    def _shape(self, chosen: tuple[Chosen, ...]) -> list[tuple[str, int, bool, str]]:
        """Line, length, doubled and result of the hands of everybody who decided like this."""
        shape = self._shapes.get(chosen)
        if shape is None:
            hands = story(chosen, self._lines, MAIN, SPLITS).hands
            shape = [(h.line, h.length, h.doubled, self._result(h.line, h.length, h.surrendered)) for h in hands]
            self._shapes[chosen] = shape
        return shape

    def _hands(self, chosen: tuple[Chosen, ...], main: int) -> tuple[HandPaid, ...]:
        """Those hands with this main bet."""
        hands = []
        for line, length, doubled, result in self._shape(chosen):
            stake = 2 * main if doubled else main
            hands.append(HandPaid(line, length, stake, result, hand_return(result, stake, stake // 2), doubled))
        return tuple(hands)

    def pay(self, player: str, entry: Entry) -> Pays:  # noqa: ARG002 - every payer is called alike
        """See ``Payer.pay``."""
        main = 0
        bets = []
        for bet in entry.bets:
            if bet.bet == MAIN:
                main = bet.stake
            else:
                bets.append(self._side.pay(bet))
        if not main:
            return (), tuple(bets), None
        key = (_chosen(entry), main)
        hands = self._known.get(key)
        if hands is None:
            hands = self._hands(*key)
            if len(self._known) < KNOWN_MAX:
                self._known[key] = hands
        return hands, tuple(bets), self._insured.pay(entry)

    def _groups(self) -> Groups:
        hands = []
        for name, line in self._lines.items():
            for length, doubled, surrendered, found in line.groups():
                result = self._result(name, length, surrendered)
                back = hand_return(result, found.stake, found.part)
                hands.append(GroupPaid(name, length, doubled, result, found.count, found.stake, back))
        bets = [self._side.group(bet, found) for bet, found in self._sums.items() if bet != MAIN]
        return tuple(hands), (*bets, *self._insured.groups())


class BoundlessBook(HandBook):
    """Any number of players on one hand; lines ``main``, ``split/0``, ``split/1``."""

    BETS = (MAIN, *(table.bet for table in bets_of("boundless")))

    def _count_bets(self, rows: Sequence[Bet]) -> None:
        super()._count_bets(rows)
        if MAIN in self.sums:  # until bets close, everybody with a main bet is in play
            self.lines[MAIN] = Line(deciders=self.sums[MAIN])

    @property
    def seated(self) -> int:
        """See ``HandBook.seated``."""
        return self.sums[MAIN].count if MAIN in self.sums else 0

    def _key(self, line: str) -> str:
        return line

    def _splits(self, key: str) -> tuple[str, str]:  # noqa: ARG002 - one hand, one split
        return SPLITS

    def _pairs(self) -> Iterable[tuple[str, str]]:
        return (SPLITS,)

    def _first(self, entry: Entry) -> tuple[str, int] | None:
        for bet in entry.bets:
            if bet.bet == MAIN:
                return MAIN, bet.stake
        return None

    def _chosen(self, entry: Entry) -> tuple[Chosen, ...]:
        return _chosen(entry)

    def _short(self, window: Window, request: str) -> Effect | None:  # noqa: ARG002
        """BJS-39: hit on 11 or less, else stand; after the card the player decides again."""
        return automatic(window.score)

    def dealer_needed(self, cards: Cards) -> bool:
        """A further dealer card can change what a bet returns: a hand is live, or there is a Bust Bonus (BJS-62).
        ``cards``: the faces of every line."""
        if "bust_bonus" in self.sums:
            return True
        return any(self._undetermined(line, cards[line]) for line in self.lines)

    def _payer(self, cards: dict[str, tuple[str, ...]]) -> Payer:
        return BoundlessPayer(cards, self.lines, self.sums, self.insured)
