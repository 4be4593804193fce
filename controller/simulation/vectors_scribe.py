"""What the facts of a table say about its rounds, in the words of the rule vectors.

The scribe folds every fact, as a journal stores it, into a second table and reads that: nothing is known here that
the facts do not tell.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from controller import facts as f
from controller.book.hands import HandBook
from controller.book.rows import Paid
from controller.rules import PROCEDURES
from controller.rules.blackjack import line_cards
from controller.rules.scores import blackjack_score
from controller.table.draft import Setting
from controller.table.state import TableState
from controller.table.table import Table

Json = dict[str, Any]
#: A decision window, and its rows by player.
Window = tuple[str, int]


@dataclass(slots=True)
class RoundLog:
    """One round as its facts tell it."""

    number: int
    start: int
    end: int = 0
    last: bool = False
    events: list[Json] = field(default_factory=list)
    accepted: dict[str, dict[str, int]] = field(default_factory=dict)
    decisions: dict[str, list[Json]] = field(default_factory=dict)
    insurance_offered: bool = False
    dealer_blackjack: bool = False
    follow_windows: list[tuple[str, str]] = field(default_factory=list)  # (line, kind)
    followed: set[tuple[str, str, str]] = field(default_factory=set)  # (player, line, kind)
    hands: Json = field(default_factory=dict)
    outcomes: Any = None
    paid: dict[str, Paid] = field(default_factory=dict)

    def cards(self, line: str) -> list[str]:
        """Faces of a line."""
        found: list[str] = self.hands[line]["cards"]
        return found


class Scribe:
    """Hears facts in their order; ``round`` is the latest, ``burn`` the burn of the shoe in play."""

    def __init__(self, setting: Setting) -> None:
        self._game = setting.rules.game
        self._rules = setting.rules
        self._procedure = PROCEDURES[setting.rules.game]
        self._mirror = Table(setting)
        self.round = RoundLog(0, 0)
        self.burn: list[Json] = []
        self._open: tuple[Window, dict[str, Json]] | None = None
        self._splits = 0

    @property
    def state(self) -> TableState:
        """The fold of all facts told so far."""
        return self._mirror.state

    @property
    def _out(self) -> int:
        """Cards that have left the shoe: the index of the next one."""
        return self.state.shoe.out if self.state.shoe is not None else 0

    def take(self, told: f.Fact) -> None:
        """Hear one fact."""
        fact = f.decode_fact(f.encode_fact(told))
        pos = self._out
        if isinstance(fact, f.DecisionClosed) and fact.line != "dealer":
            self._closing(fact)
        self._mirror.replay([fact])
        match fact:
            case f.DecisionOpened() if fact.line != "dealer":
                self._opened((fact.line, fact.prefix_len), fact.options)
            case f.DecisionClosed() if fact.line != "dealer":
                self._closed()
            case f.CardDealt() | f.CutCardDrawn() | f.HandSplit() | f.CardRevealed() | f.DealerPeeked():
                self._card(fact, pos)
            case f.BurnIndicatorDrawn() | f.CardBurned() | f.ShoeLoaded() | f.ShoeChangeStarted():
                self._shoe(fact, pos)
            case f.InsuranceOffered():
                self.round.insurance_offered = True
                self.round.events.append({"e": "insurance_offer"})
            case f.BettingOpened() | f.RoundResult():
                self._bounds(fact)
            case f.BetsAccepted() | f.FollowOpened() | f.FollowsTaken() | f.SettlementPosted():
                self._money(fact)

    # --- the shoe and the felt -------------------------------------------------------------------------------------

    def _shoe(self, fact: f.Fact, pos: int) -> None:
        match fact:
            case f.ShoeLoaded():
                self.burn = []
            case f.ShoeChangeStarted():
                self.round.last = True
            case f.BurnIndicatorDrawn():
                self.burn.append({"e": "burn_indicator", "card": fact.card, "pos": pos, "face": "up"})
            case f.CardBurned():
                self.burn.append({"e": "burn", "card": fact.card, "pos": pos, "face": "down"})

    def _card(self, fact: f.Fact, pos: int) -> None:
        match fact:
            case f.CardDealt():
                face = "up" if fact.card == fact.face else "down"
                told = {"e": "deal", "slot": fact.position, "card": fact.face, "pos": pos, "face": face}
            case f.CutCardDrawn():
                told = {"e": "cut_card", "before_pos": pos}
            case f.HandSplit() if self._game == "classic":
                first, second = fact.lines
                told = {"e": "split", "seat": seat_of(first)[0], "move": [f"{first}/1", f"{second}/0"]}
            case f.HandSplit():
                told = {"e": "split", "players": self._splits}
            case f.CardRevealed():
                told = {"e": "reveal", "slot": fact.position, "card": fact.card}
            case f.DealerPeeked():
                self.round.dealer_blackjack = fact.blackjack
                told = {"e": "peek", "dealer_bj": fact.blackjack}
            case _:
                return
        self.round.events.append(told)

    def _bounds(self, fact: f.BettingOpened | f.RoundResult) -> None:
        if isinstance(fact, f.BettingOpened):
            assert self.state.round is not None
            self.round = RoundLog(self.state.round.number, self._out)
            self._open = None
            return
        self.round.end, self.round.hands, self.round.outcomes = self._out, fact.hands, fact.outcomes
        if self._game != "baccarat":
            reason = "dealer_bj" if self.round.dealer_blackjack else "settled"
            self.round.events.append({"e": "round_end", "reason": reason})

    # --- bets ------------------------------------------------------------------------------------------------------

    def _money(self, fact: f.Fact) -> None:
        log = self.round
        match fact:
            case f.BetsAccepted():
                for row in fact.rows:
                    log.accepted.setdefault(row.player, {})[row.bet] = row.stake
            case f.FollowOpened():
                log.follow_windows.append((fact.line, fact.kind))
            case f.FollowsTaken():
                log.followed |= {(row.player, row.line, row.kind) for row in fact.rows if row.extra}
            case f.SettlementPosted():
                log.paid |= {row.player: row for row in fact.rows}

    # --- decisions -------------------------------------------------------------------------------------------------

    @property
    def _book(self) -> HandBook:
        book = self.state.book
        assert isinstance(book, HandBook)
        return book

    def _opened(self, window: Window, legal: tuple[str, ...]) -> None:
        """A window in which ``legal`` decisions are possible: who has a hand in it, and what each is offered."""
        round_, book, (line, n) = self.state.round, self._book, window
        assert round_ is not None
        score = blackjack_score(line_cards(round_, line)).total
        rows = {
            player: {"n": n, "score": score, "legal": list(legal), "offered": list(book.offered(player, legal))}
            for player, _ in book.entries.items()
            if any(hand.line == line and not hand.played for hand in book.story(player).hands)
        }
        self._open = (window, rows)
        if rows and self._game == "boundless":
            self.round.events.append({"e": "decide", "hand": line, "n": n, "players": len(rows)})

    def _closing(self, fact: f.DecisionClosed) -> None:
        """A window is about to be locked; one in which nobody could decide was never opened."""
        round_ = self.state.round
        assert round_ is not None
        window = (fact.line, fact.prefix_len)
        if self._open is None or self._open[0] != window:
            self._opened(window, self._procedure.options(round_, self._rules, fact.line))
        if fact.split:
            self._splits = self._book.demand(fact.line, line_cards(round_, fact.line)).splits

    def _closed(self) -> None:
        """The window is locked: what became of every hand in it."""
        assert self._open is not None
        (line, n), rows = self._open
        self._open = None
        for player, row in rows.items():
            play = next(p for p in reversed(self._book.plays(player)) if (p.line, p.n) == (line, n))
            if self._game == "classic":
                seat, hand = seat_of(line)
                self.round.events.append({"e": "decision", "seat": seat, "hand": hand, "effect": play.effect})
            asked = {"request": play.request, "auto": play.auto, "effect": play.effect}
            self.round.decisions.setdefault(player, []).append({"line": line, **row, **asked})


def seat_of(line: str) -> tuple[int, int]:
    """Seat and hand of ``seat/S/hand/H``."""
    _, seat, _, hand = line.split("/")
    return int(seat), int(hand)
