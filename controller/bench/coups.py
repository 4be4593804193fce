"""Baccarat coups through the real table and a real journal, without sockets: as the actor drives them.

The facts, frames and hash chain are the product's own. A benchmark chooses how many inputs share one commit.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Final

from controller import frames
from controller.bench.errors import BenchError
from controller.cards import shuffled_shoe
from controller.commands import Envelope, authorise
from controller.facts import encode_fact
from controller.journal.records import FactRow, Frame
from controller.journal.store import Journal
from controller.rules.options import GameOptions
from controller.table.draft import Setting
from controller.table.inputs import CommandInput, Input, ShoeInput, Start
from controller.table.table import Table
from drivers import events as e

TABLE: Final = "bench-1"
_ORDERS: Final = {
    "start_shift": "supervisor", "load_shoe": "supervisor", "open_bets": "game_server", "close_bets": "game_server",
}  # fmt: skip


class Coups:
    """A table that plays by itself. ``step`` does what the procedure asks next."""

    def __init__(self, journal: Path) -> None:
        rules = GameOptions(game="baccarat", burn="none")
        self.table = Table(Setting(TABLE, rules))
        self.journal = Journal.create_or_open(journal, table=TABLE, now_ms=0)
        self.results = self.bytes = 0
        self._rng = Random(1)
        self._cards: list[str] = []
        self._rows: list[FactRow] = []
        self._frames: list[Frame] = []
        self._asked = 0
        self._at_ms = 0
        self.put(Start("bench", "", "{}"))
        self.put(ShoeInput(e.PortRestored("bench")))

    def put(self, what: Input) -> None:
        """Decide and become; ``flush`` makes it durable."""
        outcome = self.table.decide(what, self._at_ms, os.urandom(32))
        if outcome.refusal is not None:
            raise BenchError(f"the table refuses: {outcome.refusal}")
        for record in outcome.records:
            body = encode_fact(record.fact)
            self._rows.append(FactRow(record.n, 1, self._at_ms, record.fact.type, record.shoe, record.round, body))
            self.bytes += len(body)
            if record.seq is not None:
                frame = frames.frame_bytes(record, feed=self.journal.feed_id, table=TABLE, epoch=1, at_ms=self._at_ms)
                self._frames.append(Frame(record.seq, record.n, frame))
                self.bytes += len(frame)
            self.results += record.fact.type == "round_result"
        self.table.accept(outcome)

    def flush(self) -> int:
        """One commit of everything since the last; how many facts it holds."""
        count = len(self._rows)
        self.journal.append(self._rows, self._frames)
        if self._frames:
            self.journal.mark_sent(self._frames[-1].seq)
        self._rows, self._frames = [], []
        return count

    def step(self, passed_ms: int = 0) -> None:
        """What the procedure asks next, ``passed_ms`` after the step before."""
        self._at_ms += passed_ms
        kind = self.table.state.step.kind
        if kind == "draw":
            self.put(ShoeInput(e.CardDrawn(self._cards.pop())))
            return
        role = _ORDERS.get(kind)
        if role is None:
            raise BenchError(f"the table asks for {kind}, which the benchmark does not know")
        if kind == "load_shoe":
            self._cards = shuffled_shoe(self._rng)
        self._asked += 1
        envelope = Envelope(id=f"bench-{self._asked:08d}", command=kind, args={})
        self.put(CommandInput(authorise(envelope, role=role, person="bench"), "20260101"))

    def close(self) -> None:
        """Close the journal."""
        self.journal.close()
