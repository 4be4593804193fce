"""What both blackjack books share: insurance, decision windows, locks, and each player's hands."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from controller.book.base import Book
from controller.book.bets import PLAYER_MAX, BookFault, Fault, check_each
from controller.book.lines import DOUBLE, NOTHING, SPLIT, Chosen, Line, Story, Sum, automatic, hand_sum, story
from controller.book.money import transaction_id
from controller.book.refusals import BookRefusal, Checked
from controller.book.rows import (
    Decision,
    DecisionRequest,
    Effect,
    Entry,
    Insurance,
    InsuranceRequest,
    Lock,
    Play,
    Row,
    StakeItem,
)
from controller.book.setting import BookSetting
from controller.rules.scores import BLACKJACK, blackjack_score, is_blackjack

H = TypeVar("H", bound="HandBook")


class Window(msgspec.Struct, frozen=True):
    """An open decision window. ``line`` is its name outside, ``key`` the line of the book; ``legal`` is what the
    rules allow on these cards, ``score`` what they count."""

    line: str
    key: str
    n: int
    score: int
    legal: tuple[str, ...]


class HandBook(Book):
    """Bets whose hands are played by decisions."""

    def __init__(self, setting: BookSetting) -> None:
        super().__init__(setting)
        self.lines: dict[str, Line] = {}
        self.window: Window | None = None
        self.insurance_open = False
        self.insured = NOTHING
        self._stories: dict[tuple[str, tuple[Chosen, ...]], Story] = {}

    def copy(self: H) -> H:
        """See ``Book.copy``."""
        new = super().copy()
        new.lines = dict(self.lines)
        return new

    def content(self) -> tuple[Any, ...]:
        """See ``Book.content``."""
        return (*super().content(), self.lines, self.window, self.insurance_open, self.insured)

    def open_round(self, round_: str, round_in_shoe: int) -> None:
        """See ``Book.open_round``."""
        super().open_round(round_, round_in_shoe)
        self.lines, self.window, self.insured, self._stories = {}, None, NOTHING, {}
        self.insurance_open = False

    def void(self) -> None:
        """See ``Book.void``."""
        super().void()
        self.window, self.insurance_open = None, False

    # --- names: who has which hand -------------------------------------------------------------------------------

    @abstractmethod
    def _key(self, line: str) -> str:
        """The line of the book that is called ``line`` outside."""

    @abstractmethod
    def _splits(self, key: str) -> tuple[str, str]:
        """The lines that a split of ``key`` begins."""

    @abstractmethod
    def _first(self, entry: Entry) -> tuple[str, int] | None:
        """The line a player's hand began on and its stake; None if he has no hand to decide for."""

    @abstractmethod
    def _chosen(self, entry: Entry) -> tuple[Chosen, ...]:
        """A player's decisions by the lines of the book."""

    @abstractmethod
    def _short(self, window: Window, request: str) -> Effect | None:
        """What an unaffordable double or split becomes; None if it is refused."""

    def _outer(self, key: str) -> str:
        """The name outside of a line of the book."""
        return key

    def _tell(self, entry: Entry, first: str) -> Story:
        """The story of a player's hands."""
        chosen = self._chosen(entry)
        told = self._stories.get((first, chosen))
        if told is None:
            told = self._stories[first, chosen] = story(chosen, self.lines, first, self._splits(first))
        return told

    def story(self, player: str) -> Story:
        """A player's hands as they stand and the windows they went through."""
        entry = self.entries.get(player)
        first = None if entry is None else self._first(entry)
        if entry is None or first is None:
            return Story((), ())
        told = self._tell(entry, first[0])
        return Story(
            tuple(msgspec.structs.replace(hand, line=self._outer(hand.line)) for hand in told.hands),
            tuple(msgspec.structs.replace(play, line=self._outer(play.line)) for play in told.plays),
        )

    def plays(self, player: str) -> tuple[Play, ...]:
        """The locked windows a player's hands went through: what he asked, what was done, by whom."""
        return self.story(player).plays

    @property
    @abstractmethod
    def seated(self) -> int:
        """Players with a main bet of their own: who may insure and decide (BJS-02)."""

    # --- insurance -----------------------------------------------------------------------------------------------

    def open_insurance(self) -> None:
        """The dealer shows an ace (BJS-22, BJ7-26)."""
        self._expect("playing")
        self.insurance_open = True

    def close_insurance(self) -> None:
        """No more insurance."""
        self.insurance_open = False

    def check_insurance(self, requests: Sequence[InsuranceRequest]) -> Checked[Insurance]:
        """Who may buy insurance. Raises ``BookRefusal`` if the window is not open or the batch too large."""
        if not self.insurance_open:
            raise BookRefusal("no_insurance", "the insurance window is not open")
        return check_each(requests, self._insure)

    def _insure(self, request: InsuranceRequest, again: bool) -> Insurance | Fault:
        player = request.player
        entry = self.entries.get(player)
        first = None if entry is None else self._first(entry)
        if entry is None or first is None:
            return "not_seated", "insurance is for players with a main bet of their own in this round"
        if again or entry.insurance is not None:
            return "already_insured", f"{player} has bought insurance in this round"
        stake = first[1] // 2
        if not stake:
            return "nothing_to_insure", "half of the main bet is less than one minor unit"
        if self.money.available(player) < stake:
            return "insufficient_balance", f"insurance costs {stake}; the balance is less"
        return Insurance(player, stake)

    def apply_insurance(self, rows: Iterable[Insurance]) -> None:
        """Take the premiums."""
        for row in rows:
            entry = self.entries.get(row.player) or Entry()
            self.entries.set(row.player, msgspec.structs.replace(entry, insurance=row))
            self._take(row.player, row.stake)
            self.insured += hand_sum(row.stake)

    def _take(self, player: str, amount: int) -> None:
        """A further stake of this round."""
        self.money.take(player, amount)
        self.staked += amount

    # --- decisions -----------------------------------------------------------------------------------------------

    def deciders(self, line: str, n: int) -> int:
        """Hands of ``n`` cards on ``line`` whose players may decide; without any no window needs to be opened."""
        found = self.lines.get(self._key(line))
        return found.deciders.count if found is not None and found.length == n else 0

    def undecided(self) -> int:
        """Hands in the open window that wait for their players."""
        if self.window is None:
            return 0
        line = self.lines[self.window.key]
        return line.missed().count

    def open_window(self, line: str, cards: Sequence[str], legal: Sequence[str]) -> None:
        """Decisions open on the hands that are ``cards``; ``legal`` is what the rules allow on them."""
        self._expect("playing")
        score = blackjack_score(cards).total
        self.window = Window(line, self._key(line), len(cards), score, tuple(legal))

    def offered(self, player: str, legal: Sequence[str]) -> tuple[str, ...]:
        """What a hand is offered: what is ``legal`` on its cards less what the player's balance does not cover."""
        entry = self.entries.get(player)
        first = None if entry is None else self._first(entry)
        if first is not None and self.money.available(player) >= first[1]:
            return tuple(legal)
        return tuple(choice for choice in legal if choice not in (DOUBLE, SPLIT))

    def check_decisions(self, requests: Sequence[DecisionRequest]) -> Checked[Decision]:
        """Which decisions stand. Raises ``BookRefusal`` for a batch that is too large; without an open window every
        row is refused."""
        return check_each(requests, self._decide)

    def _decide(self, request: DecisionRequest, again: bool) -> Decision | Fault:
        window, player = self.window, request.player
        if window is None or (request.line, request.n) != (window.line, window.n):
            opened = "none" if window is None else f"{window.line} at {window.n} cards"
            return "no_window", f"no window on {request.line[:40]} at {request.n} cards is open; open is: {opened}"
        entry = self.entries.get(player)
        first = None if entry is None else self._first(entry)
        if entry is None or first is None:
            return "not_seated", f"{player[:PLAYER_MAX]} has no main bet of his own in this round"
        fault = self._hand_fault(self._tell(entry, first[0]), window, again)
        if fault is not None:
            return fault
        if request.request not in window.legal:
            return "not_legal", f"{request.request[:40]} is not allowed; allowed are {', '.join(window.legal)}"
        effect: Effect = request.request  # type: ignore[assignment]
        if effect not in (DOUBLE, SPLIT):
            return Decision(player, request.line, request.n, effect, effect)
        if self.money.available(player) >= first[1]:
            return Decision(player, request.line, request.n, effect, effect, first[1])
        short = self._short(window, effect)
        if short is None:
            return "insufficient_balance", f"{effect} costs {first[1]}; the balance is less"
        return Decision(player, request.line, request.n, request.request, short)

    def _hand_fault(self, told: Story, window: Window, again: bool) -> Fault | None:
        """Why the player may not decide in this window."""
        hand = next((h for h in told.hands if h.line == window.key), None)
        if again or (hand is not None and hand.choice is not None):
            return "already_decided", "the player has decided in this window"
        if hand is None:
            return "not_your_hand", f"the player has no hand on {window.line}"
        if hand.auto:
            return "on_autoplay", "the player missed a decision and is played for in the rest of the round"
        if hand.played or hand.length != window.n:
            return "hand_finished", f"the player's hand on {window.line} is complete at {hand.length} cards"
        return None

    def apply_decisions(self, rows: Iterable[Decision]) -> None:
        """Take decisions, and the stakes they add."""
        chosen: dict[tuple[str, str], list[int]] = {}
        for row in rows:
            old = self.entries.get(row.player) or Entry()
            first = self._first(old)
            assert first is not None
            found = chosen.setdefault((self._key(row.line), row.effect), [0, 0, 0])
            found[0] += 1
            found[1] += first[1]
            found[2] += first[1] // 2
            self.entries.set(row.player, Entry(old.bets, (*old.decisions, row), old.insurance, old.follows))
            if row.extra:
                self._take(row.player, row.extra)
        for (key, effect), numbers in chosen.items():
            self.lines[key] = self.lines[key].choose(effect, Sum(*numbers))

    def demand(self, line: str, cards: Sequence[str]) -> Lock:
        """What locking the window on ``line`` at ``cards`` comes to; changes nothing. Time-outs and hands on autoplay
        hit on 11 or less and stand above (BJS-40, BJ7-27)."""
        return self._line_at(line, cards).demand(automatic(blackjack_score(cards).total))

    def lock(self, line: str, cards: Sequence[str]) -> Lock:
        """Lock the window on ``line`` at ``cards``, whether it was opened or nobody could decide in it."""
        self._expect("playing")
        key, found = self._key(line), self._line_at(line, cards)
        auto = automatic(blackjack_score(cards).total)
        result = found.demand(auto)
        self.lines[key] = found.lock(auto)
        self.window = None
        self._stories = {}
        parted = found.choices.get(SPLIT, NOTHING)
        if parted.count:
            for half in self._splits(key):
                self.lines[half] = Line(deciders=parted)
        self._pass_on(key, found.missed())
        return result

    def _line_at(self, line: str, cards: Sequence[str]) -> Line:
        """The line as it stands; one without hands if nobody plays on it."""
        found = self.lines.get(self._key(line)) or Line()
        if found.length != len(cards):
            raise BookFault(f"{line} is at {found.length} cards, not {len(cards)}")
        return found

    def _pass_on(self, key: str, missed: Sum) -> None:
        """Who missed a decision on the first split hand is played for on the second."""
        if not missed.count:
            return
        for first, second in self._pairs():
            other = self.lines.get(second)
            if key == first and other is not None and not other.locks:
                self.lines[second] = other.miss(missed)

    @abstractmethod
    def _pairs(self) -> Iterable[tuple[str, str]]:
        """All pairs of split lines."""

    # --- the dealer ----------------------------------------------------------------------------------------------

    def _undetermined(self, key: str, cards: Sequence[str]) -> bool:
        """A hand on this line neither bust, nor surrendered, nor a natural (BJS-62)."""
        split = any(key in pair for pair in self._pairs())
        for length, _, surrendered, _ in self.lines[key].groups():
            hand = cards[:length]
            if not surrendered and blackjack_score(hand).total <= BLACKJACK and (split or not is_blackjack(hand)):
                return True
        return False

    # --- stakes --------------------------------------------------------------------------------------------------

    def _stake(self, row: Row) -> StakeItem | None:
        """See ``Book._stake``."""
        if isinstance(row, Insurance):
            return self._further("insurance", "main", row.stake, row.player)
        if isinstance(row, Decision) and row.extra:
            return self._further(row.effect, row.line, row.extra, row.player)
        return super()._stake(row)

    def _further(self, kind: Any, what: str, amount: int, player: str) -> StakeItem:
        own = transaction_id(self.setting.table, self.round, 1, kind, what, player)
        return StakeItem(kind, what, amount, own)
