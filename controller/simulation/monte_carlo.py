"""Rounds at the real table core, facts, book and settlement included, to hold the exact returns against.

The player of a blackjack game plays as ``controller.returns`` counts: by his own hand and the up-card alone, and a
half of a split pair as if nothing of the other half were known but its first card. Then the two may be compared:
which hand the next card goes to never depends on cards still to come, so the cards that one hand and the dealer get
are spread alike whether or not other hands, the burn or earlier rounds took some of the shoe before, and two such
halves together are worth twice one of them. For the same reason several rounds are dealt from one shoe; their number
is fixed, since "until the cut card" would favour rounds that take few cards.

Not simulated: what ``vectors_table`` leaves out; limits; players short of money; bets behind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from random import Random
from typing import Any, Final, NamedTuple

from controller import facts as f
from controller.book.rows import Paid
from controller.book.setting import BookSetting
from controller.cards import shuffled_shoe
from controller.returns import Progress, baccarat, blackjack, sides
from controller.rules.blackjack import UP, line_cards
from controller.rules.options import GameOptions
from controller.rules.side_bets import bets_of
from controller.simulation.vectors_table import VirtualTable
from controller.table.draft import Setting

#: Half an interval in standard errors: the true return lies within 999 times of 1,000.
DEVIATIONS: Final = 3.2905
#: Fewer rounds say nothing.
ROUNDS_MIN: Final = 100
#: Rounds from one shoe, for which its cards always last: a coup takes six at most, the longest of 60,000 boundless
#: rounds took 19, and 60 are kept for seven seats.
_A_SHOE: Final = {"boundless": 15, "classic": 5, "baccarat": 60}
_STAKE: Final = 100
_BALANCE: Final = 10**9


class Simulated(NamedTuple):
    """A bet's simulated return in percent of its stake, with its interval: ``low`` to ``high``."""

    return_percent: float
    low: float
    high: float
    rounds: int


@dataclass(slots=True)
class _Tally:
    """What one bet returned for a unit staked, round by round. ``spread``: the deviation of one, if it is known."""

    spread: float | None
    rounds: int = 0
    units: int = 0  # bets, several a round where there are several seats
    total: float = 0.0
    squares: float = 0.0

    def add(self, found: list[float]) -> None:
        """The bets of a round."""
        mean = sum(found) / len(found)
        self.rounds, self.units = self.rounds + 1, self.units + len(found)
        self.total, self.squares = self.total + mean, self.squares + mean * mean

    def simulated(self) -> Simulated:
        mean = self.total / self.rounds
        if self.spread is None:
            error = sqrt(max(0.0, self.squares / self.rounds - mean * mean) / self.rounds)
        else:
            error = self.spread / sqrt(self.units)
        half = 100 * DEVIATIONS * error
        return Simulated(100 * mean, 100 * mean - half, 100 * mean + half, self.rounds)


@dataclass(slots=True)
class _Round:
    """What the facts of one round tell."""

    paid: list[Paid] = field(default_factory=list)

    def hear(self, fact: f.Fact) -> None:
        if isinstance(fact, f.SettlementPosted):
            self.paid += fact.rows


def simulate(game: str, rules: str, rounds: int, seed: int, progress: Progress | None = None) -> dict[str, Simulated]:
    """Play ``rounds`` rounds of fresh shoes drawn from ``seed``; the return of every bet, ``main`` for a model other
    than ``text`` only. Raises ``ValueError`` for fewer than ``ROUNDS_MIN`` rounds."""
    if rounds < ROUNDS_MIN:
        raise ValueError(f"{rounds} rounds say nothing: at least {ROUNDS_MIN} are needed")
    table = _Table(game, rules, Random(f"{game}/{rules}/{seed}"))
    for done in range(rounds):
        table.play()
        if progress is not None:
            progress(done + 1, rounds)
    return {bet: tally.simulated() for bet, tally in table.tallies.items() if tally.rounds}


class _Table:
    """A table at which every bet is placed in every round."""

    def __init__(self, game: str, rules: str, rng: Random) -> None:
        self.game, self._rng, self._shoes, self._left = game, rng, 0, 0
        self._model = blackjack.MODELS.get((game, rules))
        options: dict[str, Any] = {"game": game, "burn": "none", "peek_delay_s": 0.0, "decisions": "book"}
        if self._model is not None:
            chosen = self._model.decisions
            options |= {
                "surrender_against": chosen.surrender_against,
                "double_after_split": chosen.double_after_split,
            }
        self.options = GameOptions(**options)
        book = BookSetting(table="returns", game=self.options.game, seats=self.options.seats)
        self._round = _Round()
        self._table = VirtualTable(Setting("returns", self.options, book=book), lambda fact: self._round.hear(fact))
        self._players = [f"p{n}" for n in range(1, self.options.seats + 1 if game == "classic" else 2)]
        self._table.set_balances(dict.fromkeys(self._players, _BALANCE))
        self.tallies = self._tallies(rules)

    def _tallies(self, rules: str) -> dict[str, _Tally]:
        if self.game == "baccarat":
            return {bet: _Tally(baccarat.bet_spread(bet)) for bet in baccarat.PAID}
        main = {"main": _Tally(None)}
        if rules != "text":
            return main
        return (
            main | {"insurance": _Tally(None)} | {t.bet: _Tally(sides.bet_spread(t.bet)) for t in bets_of(self.game)}
        )

    # --- a round -------------------------------------------------------------------------------------------------

    def play(self) -> None:
        """One round with every bet; what came back is added up."""
        self._shuffle()
        self._round = _Round()
        table = self._table
        table.order("open_bets")
        refused = table.batch("place_bets", "bets", self._bets())
        assert not refused, refused
        table.order("close_bets")
        while not table.waits_for("open_bets"):
            self._step()
        table.post()
        self._count()

    def _shuffle(self) -> None:
        table = self._table
        if not self._left:
            if self._shoes:
                table.order("end_shift")
                table.order("start_shift")
            self._shoes += 1
            table.order("load_shoe", shoe=f"shoe-{self._shoes}")
            table.fill(shuffled_shoe(self._rng), None)
            self._left = _A_SHOE[self.game]
        self._left -= 1

    def _bets(self) -> list[dict[str, Any]]:
        names = [bet for bet in self.tallies if bet != "insurance"]
        if self.game != "classic":
            return [{"player": "p1", "bet": bet, "stake": _STAKE} for bet in names]
        return [
            {"player": player, "bet": bet, "stake": _STAKE, "box": box}
            for box, player in enumerate(self._players, start=1)
            for bet in names
        ]

    def _step(self) -> None:
        table = self._table
        state, step = table.state, table.step
        assert state.round is not None
        match step.kind:
            case "draw":
                table.draw()
            case "insurance":
                if "insurance" in self.tallies:
                    table.batch("insure", "players", [{"player": player} for player in self._players])
                table.order("close_decisions", round=state.round.id, window="insurance")
            case "decide":
                self._decide(step.line or "", step.options)
            case _:
                table.wait()

    def _decide(self, line: str, options: tuple[str, ...]) -> None:
        round_ = self._table.state.round
        assert round_ is not None
        assert self._model is not None
        cards = line_cards(round_, line)
        best = blackjack.best_decision(
            tuple(cards), round_.at(UP) or "", options, self._model, split=line in round_.parted
        )
        player = f"p{line.split('/')[1]}" if line.startswith("seat/") else "p1"
        row = {"player": player, "line": line, "n": len(cards), "request": best}
        refused = self._table.batch("decide", "decisions", [row])
        assert not refused, refused

    # --- what came back ------------------------------------------------------------------------------------------

    def _count(self) -> None:
        found: dict[str, list[float]] = {}
        for paid in self._round.paid:
            if self.game != "baccarat":
                staked = sum(hand.stake for hand in paid.hands)
                returned = sum(hand.returned for hand in paid.hands)
                found.setdefault("main", []).append(1 + (returned - staked) / _STAKE)
            insured = () if paid.insurance is None else (paid.insurance,)
            for bet in (*paid.bets, *insured):
                found.setdefault(bet.bet, []).append(bet.returned / bet.stake)
        for bet, each in found.items():
            self.tallies[bet].add(each)
