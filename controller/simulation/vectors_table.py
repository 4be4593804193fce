"""A table in virtual time, its shoe, and everybody who sends it commands, for rule vectors.

The table is the real one: inputs go through ``Table.decide``. Not simulated: devices and their faults, sockets, the
journal's file, supervisors, real time; a window that nobody answers passes at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from controller import facts as f
from controller.book.refusals import BATCH_MAX
from controller.book.rows import BalanceRequest
from controller.commands import Envelope, authorise
from controller.rules.steps import Step
from controller.simulation.vectors_input import VectorError
from controller.table.draft import Setting
from controller.table.inputs import BalancesInput, CommandInput, DeadlineInput, Input, ShoeInput, Start
from controller.table.state import TableState
from controller.table.table import Outcome, Table
from drivers import events as e

Json = dict[str, Any]
Tell = Callable[[f.Fact], None]
_DATE: Final = "20000101"
_ROLES: Final = {"start_shift": "supervisor", "end_shift": "supervisor", "load_shoe": "dealer"}


class VirtualTable:
    """One table; ``tell`` hears every fact once it is accepted."""

    def __init__(self, setting: Setting, tell: Tell) -> None:
        self._table = Table(setting)
        self._tell = tell
        self._now = 0
        self._inputs = 0
        self._cards: Sequence[str] = ()
        self._cut: int | None = None
        self._drawn = 0
        self._put(Start("vectors", "", "{}"))
        self._put(ShoeInput(e.PortRestored("vectors")))
        self.order("start_shift")

    @property
    def state(self) -> TableState:
        """The table's state."""
        return self._table.state

    @property
    def step(self) -> Step:
        """What the table waits for. Raises ``VectorError`` if it is held."""
        if self.state.holds:
            why = "; ".join(hold.reason for hold in self.state.holds.values())
            raise VectorError(f"the table is held: {why}")
        return self.state.step

    def waits_for(self, kind: str) -> bool:
        """The table waits for a step of this kind. Raises ``VectorError`` if it is held."""
        return self.step.kind == kind

    # --- inputs ----------------------------------------------------------------------------------------------------

    def _put(self, what: Input) -> Outcome:
        self._inputs += 1
        outcome = self._table.decide(what, self._now, self._inputs.to_bytes(32, "big"))
        self._table.accept(outcome)
        for record in outcome.records:
            self._tell(record.fact)
        return outcome

    def order(self, name: str, **args: Any) -> Json:
        """Send a command and return its reply. Raises ``VectorError`` if it is refused as a whole."""
        envelope = Envelope(id=f"vectors-{self._inputs:08d}", command=name, args=args)
        command = authorise(envelope, role=_ROLES.get(name, "game_server"), person="vectors")
        outcome = self._put(CommandInput(command, _DATE))
        if outcome.refusal is not None:
            raise VectorError(f"the table refuses {name}: {outcome.refusal.message}")
        return dict(outcome.reply)

    def batch(self, name: str, key: str, rows: list[Json]) -> list[Json]:
        """Send rows for the round in progress, in batches as large as allowed; the refusals, by index in ``rows``."""
        assert self.state.round is not None
        refused = []
        for start in range(0, len(rows), BATCH_MAX):
            args = {"round": self.state.round.id, key: rows[start : start + BATCH_MAX]}
            refused += [r | {"index": r["index"] + start} for r in self.order(name, **args).get("refused", [])]
        return refused

    def set_balances(self, balances: dict[str, int]) -> None:
        """Set the wallets. Raises ``VectorError`` naming the first that cannot be set."""
        rows = [BalanceRequest(player, amount) for player, amount in balances.items()]
        for start in range(0, len(rows), BATCH_MAX):
            outcome = self._put(BalancesInput(tuple(rows[start : start + BATCH_MAX])))
            for refused in outcome.reply["refused"]:
                raise VectorError(f"the balance of {refused['player']!r} cannot be set: {refused['message']}")

    def wait(self) -> None:
        """Let the next deadline pass."""
        found = self._table.deadline()
        if found is None:
            raise VectorError(f"the table waits for {self.step.kind}, and nothing in the vectors answers")
        name, due = found
        self._now = max(self._now, due)
        self._put(DeadlineInput(name))

    def post(self) -> None:
        """Let the settlement be posted to its end."""
        while (found := self._table.deadline()) is not None and found[0] == "post":
            self.wait()

    # --- the shoe --------------------------------------------------------------------------------------------------

    def fill(self, cards: Sequence[str], cut: int | None) -> None:
        """Put these cards into the shoe, the cut card before index ``cut``."""
        self._cards, self._cut, self._drawn = cards, cut, 0

    def draw(self) -> None:
        """Draw the card that is due, and the cut card if it lies before it."""
        if self._drawn >= len(self._cards):
            raise VectorError(f"the shoe is out of cards; the table waits for one at {self.step.position}")
        if self._drawn == self._cut:
            self._put(ShoeInput(e.CutCard()))
        card = self._cards[self._drawn]
        self._drawn += 1
        self._put(ShoeInput(e.CardDrawn(card)))
