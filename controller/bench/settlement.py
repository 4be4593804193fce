"""A boundless round with many players through the real table and a real journal: bets, one window, settlement.

The baseline of each size is as many durable commits of as many bytes as the settlement's slices, and nothing else.
"""

from __future__ import annotations

import os
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from controller.book.setting import BookSetting
from controller.commands import Envelope, authorise
from controller.facts import BetsSettled, Fact, SettlementPosted, encode_fact
from controller.journal.records import FactRow
from controller.journal.store import Journal
from controller.rules.options import GameOptions
from controller.table import debits
from controller.table.draft import Setting
from controller.table.inputs import CommandInput, DeadlineInput, Input, ShoeInput, Start
from controller.table.table import Table
from drivers import events as e

SIZES: Final = (1_000, 10_000, 100_000)
BATCH: Final = 2_000
_CARDS: Final = "TC 6C 5H TD"

Progress = Callable[[int, int], None]


class Felt:
    """A table with its journal, as the actor drives it, without sockets."""

    def __init__(self, folder: Path) -> None:
        rules = GameOptions(game="boundless", burn="none", peek_delay_s=0.0)
        book = BookSetting(table="bench", game="boundless", wallet="platform")
        self.table = Table(Setting("bench", rules, book=book))
        self.journal = Journal.create_or_open(folder / "bench.journal", table="bench", now_ms=0)
        self.worst_ms = 0.0
        self._id = 0

    def put(self, what: Input) -> list[Fact]:
        """Decide, make durable, become; then fold the log if it is time. Keeps the longest that either took."""
        began = time.perf_counter()
        if isinstance(what, CommandInput):
            what = replace(what, spent=self.journal.spent(debits.named(what.command)))
        outcome = self.table.decide(what, 0, os.urandom(32))
        if outcome.refusal is not None:
            raise outcome.refusal
        rows = [FactRow(r.n, 1, 0, r.fact.type, r.shoe, r.round, encode_fact(r.fact)) for r in outcome.records]
        self.journal.append(rows, [], transactions=debits.taken(r.fact for r in outcome.records))
        self.table.accept(outcome)
        self._took(began)
        began = time.perf_counter()
        self.journal.fold()
        self._took(began)
        return [r.fact for r in outcome.records]

    def _took(self, began: float) -> None:
        self.worst_ms = max(self.worst_ms, (time.perf_counter() - began) * 1000)

    def order(self, name: str, role: str, **args: Any) -> list[Fact]:
        """A command, arguments as they come over the wire."""
        self._id += 1
        envelope = Envelope(id=f"bench-{self._id:06d}", command=name, args=args, seen_seq=self.table.state.seq)
        return self.put(CommandInput(authorise(envelope, role=role, person="bench"), "20260101"))

    def cards(self, text: str) -> list[Fact]:
        """Cards from the shoe."""
        return [fact for card in text.split() for fact in self.put(ShoeInput(e.CardDrawn(card)))]


def measure(progress: Progress) -> dict[str, Any]:
    """Milliseconds and KiB a size, and how they grow from size to size."""
    found = {}
    for done, size in enumerate(SIZES):
        progress(done, len(SIZES))
        with tempfile.TemporaryDirectory(prefix="dealerd-bench-") as folder:
            found[str(size)] = _one(Path(folder), size)
    small, large = found[str(SIZES[-2])], found[str(SIZES[-1])]
    times = SIZES[-1] / SIZES[-2]
    growth = {name: round(large[name] / times / small[name], 2) for name in ("bets_ms", "durable_ms", "memory_kib")}
    return {"sizes": found, "growth_per_player": growth}


def _one(folder: Path, size: int) -> dict[str, Any]:
    before = _rss_kib()
    felt = Felt(folder)
    try:
        felt.put(Start("bench", "", "{}"))
        felt.put(ShoeInput(e.PortRestored("bench")))
        felt.order("start_shift", "supervisor")
        felt.order("load_shoe", "dealer")
        felt.order("open_bets", "game_server")
        bets_ms = _timed(lambda: _place(felt, size))
        felt.order("close_bets", "game_server")
        felt.cards(_CARDS)
        decisions_ms = _timed(lambda: _decide(felt, size))
        felt.worst_ms = 0.0
        began = time.perf_counter()
        facts = felt.cards("2S 4D")  # the hitters' card, then the dealer's
        settled = next(fact for fact in facts if isinstance(fact, BetsSettled))
        outcome_ms = felt.worst_ms
        slices = 0
        while felt.table.deadline() == ("post", 0):
            slices += sum(isinstance(fact, SettlementPosted) for fact in felt.put(DeadlineInput("post")))
        durable_ms = (time.perf_counter() - began) * 1000
        written = [len(row.body) for row in felt.journal.facts() if row.type == "settlement_posted"]
        baseline_ms = _timed(lambda: _write(felt.journal, written))
        return {
            "players": settled.players,
            "bets_ms": round(bets_ms, 2),
            "decisions_ms": round(decisions_ms, 2),
            "outcome_ms": round(outcome_ms, 2),
            "durable_ms": round(durable_ms, 2),
            "longest_input_ms": round(felt.worst_ms, 2),
            "slices": slices + 1,
            "baseline_ms": round(baseline_ms, 2),
            "durable_to_baseline": round(durable_ms / baseline_ms, 2),
            "memory_kib": max(1, _rss_kib() - before),
        }
    finally:
        felt.journal.close()


def _place(felt: Felt, size: int) -> None:
    round_ = felt.table.state.round
    assert round_ is not None
    for start in range(0, size, BATCH):
        rows = [
            {"player": f"p{n}", "bet": "main", "stake": 100, "transaction": f"t{n}", "available": 1000}
            for n in range(start, min(start + BATCH, size))
        ]
        felt.order("place_bets", "game_server", round=round_.id, bets=rows)


def _decide(felt: Felt, size: int) -> None:
    round_ = felt.table.state.round
    assert round_ is not None
    for start in range(0, size, BATCH):
        rows = [
            {"player": f"p{n}", "line": "main", "n": 2, "request": "double" if n % 3 else "stand"}
            for n in range(start, min(start + BATCH, size))
        ]
        felt.order("decide", "game_server", round=round_.id, decisions=rows)


def _write(journal: Journal, sizes: list[int]) -> None:
    """One commit for each of ``sizes``, in bytes."""
    for size in sizes:
        journal.append([FactRow(journal.last_n + 1, 1, 0, "baseline", None, None, b"0" * size)], [])


def _timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _rss_kib() -> int:
    """Memory this process holds now."""
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize() // 1024


def text(report: dict[str, Any]) -> str:
    """The report for a person."""
    lines = ["settlement of a boundless round (milliseconds)"]
    heads = (
        "bets_ms",
        "decisions_ms",
        "outcome_ms",
        "durable_ms",
        "longest_input_ms",
        "durable_to_baseline",
        "memory_kib",
    )
    lines.append("  players" + "".join(f"{head:>21}" for head in heads))
    for size, row in report["sizes"].items():
        lines.append(f"{size:>9}" + "".join(f"{row[head]:>21}" for head in heads))
    growth = ", ".join(f"{name} ×{value}" for name, value in report["growth_per_player"].items())
    lines.append(f"per player, from {SIZES[-2]} to {SIZES[-1]}: {growth} (1 is linear)")
    return "\n".join(lines)
