"""A table with its own book, driven in virtual time; every record is kept with a time of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from controller import facts as f
from controller.book.rows import BalanceRequest
from controller.book.setting import BookSetting
from controller.commands import Envelope, authorise
from controller.journal.reader import JournalReader, open_read_only
from controller.journal.store import FactRow, Journal
from controller.record.bets import TYPES, Timed
from controller.rules.options import GameOptions
from controller.table.draft import Setting
from controller.table.inputs import BalancesInput, CommandInput, DeadlineInput, Input, ShoeInput, Start
from controller.table.table import Table
from drivers import events as e

EPOCH_MS = 1_796_000_000_000
PLAYERS = ("p1", "p2", "p3", "p4")


class Play:
    """One table; ``timed`` are its facts so far as the bet record takes them."""

    EPOCH_MS = EPOCH_MS

    def __init__(self, game: str = "boundless", *, wallet: str = "embedded", **rules: Any) -> None:
        options = GameOptions(game=game, **{"peek_delay_s": 0.0, "burn": "none"} | rules)  # type: ignore[arg-type]
        book = BookSetting(table="t-1", game=options.game, wallet=wallet)  # type: ignore[arg-type]
        self.table = Table(Setting("t-1", options, book=book))
        self.records: list[tuple[int, f.Record]] = []
        self.now = 1000
        self._ids = 0
        self.put(Start("test", "digest", f'{{"game":{{"game":"{game}"}}}}'))
        self.put(ShoeInput(e.PortRestored("pty")))
        self.order("start_shift", "supervisor")
        self.order("load_shoe", "dealer")
        if wallet == "embedded":
            self.put(BalancesInput(tuple(BalanceRequest(player, 1000) for player in PLAYERS)))
        self.order("open_bets")

    @property
    def timed(self) -> list[Timed]:
        return [
            Timed(EPOCH_MS + at, r.round or "", f.decode_fact(f.encode_fact(r.fact)))
            for at, r in self.records
            if r.fact.type in TYPES
        ]

    @property
    def round(self) -> str:
        assert self.table.state.round is not None
        return self.table.state.round.id

    def put(self, what: Input) -> None:
        self.now += 1
        outcome = self.table.decide(what, self.now, self.now.to_bytes(32, "big"))
        assert outcome.refusal is None, outcome.refusal
        assert not outcome.reply.get("refused"), outcome.reply
        self.table.accept(outcome)
        self.records += [(self.now, record) for record in outcome.records]

    def order(self, name: str, role: str = "game_server", *, person: str = "pat", **args: Any) -> None:
        self._ids += 1
        envelope = Envelope(id=f"test-{self._ids:06d}", command=name, args=args, seen_seq=self.table.state.seq)
        self.put(CommandInput(authorise(envelope, role=role, person=person), "20261129"))

    def bets(self, *bets: tuple[Any, ...], **more: Any) -> None:
        """(player, bet, stake[, box[, behind]]) each."""
        names = ("player", "bet", "stake", "box", "behind")
        rows = [dict(zip(names, bet, strict=False)) | more for bet in bets]
        self.order("place_bets", round=self.round, bets=rows)

    def close(self) -> None:
        self.order("close_bets")

    def cards(self, text: str) -> None:
        for card in text.split():
            self.put(ShoeInput(e.CardDrawn(card)))

    def choose(self, line: str, n: int, **choices: str) -> None:
        rows = [{"player": p, "line": line, "n": n, "request": r} for p, r in choices.items()]
        self.order("decide", round=self.round, decisions=rows)

    def wait(self) -> None:
        """Let the next deadline pass."""
        found = self.table.deadline()
        assert found is not None
        self.now = max(self.now, found[1])
        self.put(DeadlineInput(found[0]))

    def post(self) -> None:
        """Post what is left of a settlement."""
        while (found := self.table.deadline()) is not None and found[0] == "post":
            self.wait()

    def journal(self, path: Path) -> JournalReader:
        """A journal at ``path`` with every fact so far, open for reading."""
        with Journal.create_or_open(path, table="t-1", now_ms=EPOCH_MS) as journal:
            rows = [
                FactRow(r.n, 1, EPOCH_MS + at, r.fact.type, r.shoe, r.round, f.encode_fact(r.fact))
                for at, r in self.records[journal.last_n :]
            ]
            journal.append(rows, [])
        return open_read_only(path)

    def balance(self, player: str) -> int:
        assert self.table.state.book is not None
        return self.table.state.book.money.available(player)


@pytest.fixture
def play() -> type[Play]:
    """The class itself: tests choose game and rules."""
    return Play
