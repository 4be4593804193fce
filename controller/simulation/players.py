"""Virtual players with accounts at a virtual platform: they bet, decide, and are paid what the table says.

Every choice follows from seed, shoe and round alone. Not simulated: anybody's reaction time, or second thoughts.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

Row = dict[str, Any]
FIRST_BALANCE = 100_000
STAKES = (100, 250, 500, 1_000, 2_500)
SIDE_BETS = {"boundless": ("pairs", "bust_bonus", "lucky_trio", "poker_trio"), "classic": ("pair",), "baccarat": ()}


class Players:
    """Six players of one table and their balances in minor units."""

    def __init__(self, game: str, seed: str, count: int = 6, seats: int = 7) -> None:
        self._game = game
        self._seed = seed
        self.balances = {f"v{number}": FIRST_BALANCE for number in range(1, count + 1)}
        #: Four of them keep their seats for the evening, the others bet behind.
        taken = sorted(Random(f"{seed}/seats").sample(range(1, seats + 1), min(4, seats)))
        self._seated = dict(zip(self.balances, taken, strict=False)) if game == "classic" else {}

    def _rng(self, *where: object) -> Random:
        return Random("/".join(map(str, (self._seed, "players", *where))))

    def bets(self, round_: str, shoe: str, number: int) -> list[Row]:
        """The bets of a round, debited: each with its transaction and the balance after it."""
        rng = self._rng(shoe, number, "bets")
        rows: list[Row] = []
        for wish in self._wishes(rng):
            player, stake = wish["player"], wish["stake"]
            if self.balances[player] < max(STAKES):
                self.balances[player] += FIRST_BALANCE  # everybody brings more money sooner or later
            self.balances[player] -= stake
            place = f"{wish['bet']}/{wish.get('box', '-')}"
            rows.append(wish | {"transaction": f"{round_}/{player}/{place}", "available": self.balances[player]})
        return rows

    def _wishes(self, rng: Random) -> list[Row]:
        people = list(self.balances)
        if self._game == "baccarat":
            bets = ("PLAYER", "BANKER", "TIE")
            return [{"player": p, "bet": rng.choice(bets), "stake": rng.choice(STAKES)} for p in people]
        if self._game == "boundless":
            rows = [{"player": p, "bet": "main", "stake": rng.choice(STAKES)} for p in people if rng.random() < 0.9]
            side = [{"player": p, "bet": rng.choice(SIDE_BETS["boundless"]), "stake": 100} for p in people[:3]]
            return rows + side
        seats = list(self._seated.values())
        rows = [{"player": p, "bet": "main", "stake": rng.choice(STAKES), "box": s} for p, s in self._seated.items()]
        rows += [{"player": p, "bet": "pair", "stake": 50, "box": s} for p, s in self._seated.items()]
        behind = [p for p in people if p not in self._seated]
        rows += [{"player": p, "bet": "main", "stake": 100, "box": rng.choice(seats), "behind": True} for p in behind]
        return rows

    def insured(self, shoe: str, number: int) -> list[Row]:
        """Who takes insurance."""
        rng = self._rng(shoe, number, "insurance")
        return [{"player": player} for player in self.balances if rng.random() < 0.3]

    def decisions(self, where: tuple[str, int, str, int], options: Sequence[str], total: int) -> list[Row]:
        """What everybody asks for in a window: ``where`` is shoe, round in shoe, line and length. Who has no hand
        there is refused by the table, which alone knows."""
        rng = self._rng(*where)
        line, length = where[2], where[3]
        if line.startswith("seat/"):
            seat = int(line.split("/")[1])
            people = [player for player, mine in self._seated.items() if mine == seat]
        else:
            people = list(self.balances)
        return [
            {"player": player, "line": line, "n": length, "request": _choice(rng, options, total)}
            for player in people
        ]

    def follows(self, shoe: str, number: int, line: str) -> list[Row]:
        """Bettors behind answer a split or double."""
        rng = self._rng(shoe, number, line, "follow")
        return [
            {"player": player, "line": line, "follow": rng.random() < 0.5}
            for player in self.balances
            if player not in self._seated
        ]

    def paid(self, instructions: Sequence[Row]) -> None:
        """Carry out the table's wallet instructions."""
        for row in instructions:
            sign = -1 if row["kind"] == "debit" else 1
            self.balances[row["player"]] += sign * row["amount"]


def _choice(rng: Random, options: Sequence[str], total: int) -> str:
    draw = rng.random()
    if "split" in options and draw < 0.5:
        return "split"
    if "double" in options and 9 <= total <= 11 and draw < 0.8:
        return "double"
    if "surrender" in options and total in (15, 16) and draw < 0.3:
        return "surrender"
    return "hit" if rng.random() < (0.95 if total <= 11 else 0.55 if total <= 16 else 0.03) else "stand"
