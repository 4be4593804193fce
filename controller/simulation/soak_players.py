"""The game server of a soak and its players: bets, insurance, decisions, answers, with orders late, twice or wrong.

Not simulated: a platform's own errors in its accounts, networks.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

from controller.simulation.soak_hands import SIDES
from controller.simulation.soak_odds import total

Row = dict[str, Any]
PLAYERS: Final = tuple(f"p{n}" for n in range(1, 6))
STAKES: Final = (100, 250, 500, 1_000, 2_500)
RICH: Final = 100_000_000
_WRONG: Final = ({"player": "p\n"}, {"bet": "jackpot"}, {"stake": -5}, {"stake": 1.5}, {"stake": 10**13}, {"box": 9})


class Players:
    """What the players of one session do; every choice is drawn from its seed."""

    def __init__(self, game: str, seats: int, rng: Random, *, embedded: bool) -> None:
        self.game, self.embedded, self.rng = game, embedded, rng
        self.balances = dict.fromkeys(PLAYERS, RICH)
        self._debits = 0
        count = min(seats, 3)
        places = sorted(rng.sample(range(1, seats + 1), count)) if game == "classic" else []
        self.seated = dict(zip(PLAYERS, places, strict=False))

    def funds(self) -> list[tuple[str, int]]:
        """Accounts to be set now: some players are poor."""
        return [(p, self.rng.choice((300, 1_000, RICH, RICH, RICH))) for p in PLAYERS]

    def bets(self, *, wrong: bool = False) -> list[Row]:
        """The bets of a round, seats first."""
        rng = self.rng
        rows = self._wishes()
        if wrong:
            rows.append(dict(rng.choice(rows)) | rng.choice(_WRONG))
        if not self.embedded:
            for row in rows:
                self._debits += 1
                row |= {"transaction": f"d{self._debits}", "available": RICH}
        return rows

    def _wishes(self) -> list[Row]:
        rng = self.rng
        if self.game == "baccarat":
            return [self._bet(p, rng.choice(("PLAYER", "BANKER", "BANKER", "TIE"))) for p in PLAYERS]
        if self.game == "boundless":
            rows = [self._bet(p, "main") for p in PLAYERS if rng.random() < 0.9]
            return rows + [self._bet(p, rng.choice(SIDES)) for p in PLAYERS[:2] if rng.random() < 0.5]
        seats = list(self.seated.items())
        rows = [self._bet(p, "main", box=box) for p, box in seats]
        rows += [self._bet(p, "pair", box=box) for p, box in seats if rng.random() < 0.3]
        behind = [p for p in PLAYERS if p not in self.seated]
        return rows + [self._bet(p, "main", box=rng.choice(seats)[1], behind=True) for p in behind]

    def _bet(self, player: str, bet: str, **more: Any) -> Row:
        return {"player": player, "bet": bet, "stake": self.rng.choice(STAKES)} | more

    def insured(self) -> list[Row]:
        """Who takes insurance."""
        return [{"player": p} for p in PLAYERS if self.rng.random() < 0.4]

    def decisions(self, line: str, n: int, options: tuple[str, ...], cards: list[str]) -> list[Row]:
        """What everybody asks for in a window; the table alone knows who has a hand there."""
        people: tuple[str, ...] | list[str] = PLAYERS
        if line.startswith("seat/"):
            seat = int(line.split("/")[1])
            people = [player for player, mine in self.seated.items() if mine == seat]
        points = total(cards)
        return [
            {"player": p, "line": line, "n": n, "request": self._choice(options, points)}
            for p in people
            if self.rng.random() < 0.97
        ]

    def _choice(self, options: tuple[str, ...], points: int) -> str:
        draw = self.rng.random()
        if "split" in options and draw < 0.5:
            return "split"
        if "double" in options and draw < (0.6 if 9 <= points <= 11 else 0.05):
            return "double"
        if "surrender" in options and draw < 0.15:
            return "surrender"
        return "hit" if self.rng.random() < (0.95 if points <= 11 else 0.5 if points <= 16 else 0.03) else "stand"

    def follows(self, line: str) -> list[Row]:
        """Bettors behind answer."""
        behind = [p for p in PLAYERS if p not in self.seated]
        return [{"player": p, "line": line, "follow": self.rng.random() < 0.6} for p in behind]

    def demand(self, line: str, options: tuple[str, ...], cards: list[str]) -> tuple[bool, bool]:
        """What a platform that decides asks for: (draw, split)."""
        rng = self.rng
        split = "split" in options and rng.random() < 0.5
        points = total(cards)
        draw = rng.random() < (0.9 if line == "dealer" else 0.95 if points <= 11 else 0.5 if points <= 16 else 0.03)
        return draw and not (split and line.startswith("seat/")), split
