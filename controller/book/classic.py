"""The book of Blackjack with seats: one seat a player, bets behind, and the windows to follow (BJ7-)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from controller.book.base import Cards
from controller.book.bets import PLAYER_MAX, Fault, check_each
from controller.book.hands import HandBook, Window
from controller.book.lines import NOTHING, SPLIT, Chosen, Line, Sum, hand_sum
from controller.book.pay import Payer, hand_result
from controller.book.refusals import Checked
from controller.book.rows import (
    Bet,
    BetRequest,
    Effect,
    Entry,
    Follow,
    FollowKind,
    FollowRequest,
    Row,
    Settlement,
    StakeItem,
)
from controller.book.seat_pay import SeatHand, SeatPayer, SeatResult
from controller.book.setting import BookSetting
from controller.rules.scores import is_blackjack, is_ten_or_ace
from controller.rules.side_bets import bets_of

MAIN: Final = "main"


class FollowWindow(msgspec.Struct, frozen=True):
    """Bettors behind the seat may follow the split or double of its hand (BJ7-29, BJ7-30)."""

    line: str
    kind: FollowKind
    seat: int
    hand: int
    answered: int = 0


class ClassicBook(HandBook):
    """Up to seven hands with one player each, any number of bettors behind. Lines are ``seat/S/hand/H``; in the book
    the hand before a split is ``seat/S``, for a split deals ``seat/S/hand/0/1`` a second time."""

    BETS = (MAIN, *(table.bet for table in bets_of("classic")))

    def __init__(self, setting: BookSetting) -> None:
        super().__init__(setting)
        self.seats: dict[int, str] = {}  # who plays at each occupied seat in this round (BJ7-11)
        self.holders: dict[int, str] = {}  # whose each seat is, from round to round
        self.idle: dict[str, int] = {}  # rounds in a row without any action (BJ7-05)
        #: Bets behind by (seat, hand, doubled): their first stakes. (S, 0, False) is everybody behind S,
        #: (S, 1, False) who followed its split, (S, H, True) who followed the double of hand H.
        self.backing: dict[tuple[int, int, bool], Sum] = {}
        self.follow: FollowWindow | None = None

    def copy(self) -> ClassicBook:
        """See ``Book.copy``."""
        new = super().copy()
        new.seats, new.holders, new.idle = dict(self.seats), dict(self.holders), dict(self.idle)
        new.backing = dict(self.backing)
        return new

    def content(self) -> tuple[Any, ...]:
        """See ``Book.content``."""
        return (*super().content(), self.seats, self.holders, self.idle, self.backing, self.follow)

    def open_round(self, round_: str, round_in_shoe: int) -> None:
        """See ``Book.open_round``."""
        super().open_round(round_, round_in_shoe)
        self.seats, self.backing, self.follow = {}, {}, None

    def close_bets(self) -> None:
        """See ``Book.close_bets``. A seat without a main bet is free for the next round."""
        super().close_bets()
        self.holders = dict(self.seats)

    def void(self) -> None:
        """See ``Book.void``."""
        super().void()
        self.follow = None

    @property
    def occupied(self) -> tuple[int, ...]:
        """Seats that get cards, in deal order (BJ7-11, BJ7-13)."""
        return tuple(sorted(self.seats))

    @property
    def seated(self) -> int:
        """See ``HandBook.seated``."""
        return len(self.seats)

    # --- bets ----------------------------------------------------------------------------------------------------

    def _place_fault(self, request: BetRequest) -> Fault | None:
        box = request.box
        if box is None or not 1 <= box <= self.setting.seats:
            return "bad_box", f"a bet names a seat from 1 to {self.setting.seats}, not {box}"
        entry = self.entries.get(request.player)
        bets = () if entry is None else entry.bets
        seat = next((bet.box for bet in bets if not bet.behind), None)
        fault = self._behind_fault(request, seat) if request.behind else self._seat_fault(request, seat, bool(bets))
        fault = fault or self._repeated(request)
        if fault is None and request.bet != MAIN and not any(b.bet == MAIN and b.box == box for b in bets):
            fault = "main_first", f"{request.bet} on seat {box} needs a confirmed main bet there"
        return fault

    def _seat_fault(self, request: BetRequest, seat: int | None, has_bets: bool) -> Fault | None:
        """BJ7-02: one seat a player, one player a seat."""
        box, player = request.box, request.player
        if seat is None and has_bets:
            return "seat_and_behind", f"{player} bets behind in this round and cannot take a seat"
        if seat is not None and seat != box:
            return "one_seat", f"{player} plays at seat {seat} in this round"
        holder = self.holders.get(box or 0)
        if holder is not None and holder != player:
            return "seat_taken", f"seat {box} belongs to another player in this round"
        return None

    def _behind_fault(self, request: BetRequest, seat: int | None) -> Fault | None:
        """BJ7-06: behind occupied seats, and not by a seated player."""
        if seat is not None:
            return "seat_and_behind", f"{request.player} plays at seat {seat} and cannot bet behind in this round"
        if request.box not in self.seats:
            return "seat_empty", f"nobody plays at seat {request.box} yet"
        return None

    def _take_bet(self, row: Bet) -> None:
        super()._take_bet(row)
        box = row.box or 0
        if row.bet != MAIN:
            return
        for held in [held for held, holder in self.holders.items() if holder == row.player]:
            del self.holders[held]
        if row.behind:
            key = (box, 0, False)
            self.backing[key] = self.backing.get(key, NOTHING) + hand_sum(row.stake)
        else:
            self.seats[box] = self.holders[box] = row.player
            self.lines[f"seat/{box}"] = Line(deciders=hand_sum(row.stake))

    # --- names ---------------------------------------------------------------------------------------------------

    def _key(self, line: str) -> str:
        if line.endswith("/hand/0") and line not in self.lines:
            return line.removesuffix("/hand/0")
        return line

    def _outer(self, key: str) -> str:
        return key if "/hand/" in key else f"{key}/hand/0"

    def _splits(self, key: str) -> tuple[str, str]:
        return f"{key}/hand/0", f"{key}/hand/1"

    def _pairs(self) -> Iterable[tuple[str, str]]:
        return [self._splits(f"seat/{seat}") for seat in self.seats]

    def _first(self, entry: Entry) -> tuple[str, int] | None:
        for bet in entry.bets:
            if bet.bet == MAIN and not bet.behind:
                return f"seat/{bet.box}", bet.stake
        return None

    def _chosen(self, entry: Entry) -> tuple[Chosen, ...]:
        found, parted = [], False
        for d in entry.decisions:
            found.append((d.line if parted else d.line.removesuffix("/hand/0"), d.n, d.request, d.effect))
            parted = parted or d.effect == SPLIT
        return tuple(found)

    def _short(self, window: Window, request: str) -> Effect | None:  # noqa: ARG002 - books answer alike
        return None

    # --- following -----------------------------------------------------------------------------------------------

    def followers(self, line: str) -> int:
        """Bettors behind with a stake on the hand ``line``: whom a split or double of it asks to follow."""
        seat, hand = _seat_of(line)
        return self.backing.get((seat, hand, False), NOTHING).count

    def open_follow(self, line: str, kind: FollowKind) -> None:
        """The seat split or doubled its hand ``line``; bettors behind may follow."""
        self._expect("playing")
        self.follow = FollowWindow(line, kind, *_seat_of(line))

    def unanswered(self) -> int:
        """Bettors behind who have not answered in the open follow window."""
        return 0 if self.follow is None else self.followers(self.follow.line) - self.follow.answered

    def close_follow(self) -> None:
        """No answer is a refusal (BJ7-29, BJ7-30)."""
        self.follow = None

    def check_follows(self, requests: Sequence[FollowRequest]) -> Checked[Follow]:
        """Which answers stand. Raises ``BookRefusal`` for a batch that is too large."""
        return check_each(requests, self._answer)

    def _answer(self, request: FollowRequest, again: bool) -> Follow | Fault:
        window, player = self.follow, request.player
        if window is None or request.line != window.line:
            opened = "none" if window is None else window.line
            return "no_follow", f"no follow window on {request.line[:40]} is open; open is: {opened}"
        entry = self.entries.get(player) or Entry()
        stake = next((b.stake for b in entry.bets if b.behind and b.bet == MAIN and b.box == window.seat), 0)
        if not stake or (window.hand and not _followed(entry, window.seat)):
            return "not_behind", f"{player[:PLAYER_MAX]} has no bet behind {window.line}"
        if again or any(f.line == window.line and f.kind == window.kind for f in entry.follows):
            return "already_answered", "the player has answered in this window"
        if request.follow and self.money.available(player) < stake:
            return "insufficient_balance", f"following costs {stake}; the balance is less"
        return Follow(player, window.line, window.kind, stake if request.follow else 0)

    def apply_follows(self, rows: Iterable[Follow]) -> None:
        """Take answers, and the stakes they add."""
        for row in rows:
            entry = self.entries.get(row.player) or Entry()
            self.entries.set(row.player, msgspec.structs.replace(entry, follows=(*entry.follows, row)))
            self._take(row.player, row.extra)
            if self.follow is not None:
                self.follow = msgspec.structs.replace(self.follow, answered=self.follow.answered + 1)
            if row.extra:
                seat, hand = _seat_of(row.line)
                key = (seat, 1, False) if row.kind == SPLIT else (seat, hand, True)
                self.backing[key] = self.backing.get(key, NOTHING) + hand_sum(row.extra)

    def _stake(self, row: Row) -> StakeItem | None:
        """See ``Book._stake``."""
        if isinstance(row, Follow) and row.extra:
            return self._further(f"follow-{row.kind}", row.line, row.extra, row.player)
        return super()._stake(row)

    # --- the end of the round ------------------------------------------------------------------------------------

    def dealer_needed(self, cards: Cards) -> bool:
        """A further dealer card can change what a bet returns (BJS-62). Before his second card that is also a natural
        or insurance against an ace or ten, which that card decides; a natural against any other up-card has won."""
        if any(self._undetermined(key, cards[self._outer(key)]) for key in self.lines):
            return True
        dealer = cards["dealer"]
        if len(dealer) > 1 or not is_ten_or_ace(dealer[0]):
            return False
        return self.insured.count > 0 or any(
            is_blackjack(cards[f"seat/{seat}/hand/0"]) and f"seat/{seat}/hand/0" not in self.lines
            for seat in self.seats
        )

    def settle(self, cards: Cards) -> Settlement:
        """See ``Book.settle``. The first version also counts inaction and frees seats (BJ7-05, A-13)."""
        if not self.versions:
            self._count_idle()
        return super().settle(cards)

    def _count_idle(self) -> None:
        forced = set()
        for seat, player in self.seats.items():
            plays = self.plays(player)
            if any(not play.auto for play in plays):
                self.idle.pop(player, None)
            elif plays:  # a natural leaves nothing to do
                self.idle[player] = self.idle.get(player, 0) + 1
            if self.idle.get(player, 0) >= self.setting.idle_rounds_to_vacate:
                forced.add(player)
                del self.idle[player], self.holders[seat]
        self.forced = frozenset(forced)

    def _payer(self, cards: dict[str, tuple[str, ...]]) -> Payer:
        seats = {seat: self._played(player, cards) for seat, player in self.seats.items()}
        return SeatPayer(cards, seats, self.backing, self.sums, self.insured, obo=self.setting.obo)

    def _played(self, player: str, cards: dict[str, tuple[str, ...]]) -> SeatResult:
        """A seat's hands with their results."""
        first = self._first(self.entries.get(player) or Entry())
        assert first is not None
        hands = self.story(player).hands
        found = []
        for hand in hands:
            faces = cards[hand.line][: hand.length]
            result = hand_result(faces, cards["dealer"], surrendered=hand.surrendered, split=len(hands) > 1)
            found.append(SeatHand(hand.line, hand.length, hand.doubled, result))
        return SeatResult(first[1], tuple(found))


def _seat_of(line: str) -> tuple[int, int]:
    """Seat and hand of ``seat/S/hand/H``."""
    _, seat, _, hand = line.split("/")
    return int(seat), int(hand)


def _followed(entry: Entry, seat: int) -> bool:
    """The bettor followed the split of this seat."""
    return any(f.kind == SPLIT and f.extra and _seat_of(f.line)[0] == seat for f in entry.follows)
