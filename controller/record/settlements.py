"""What the players of an earlier round were paid or refunded, in pages: for a platform that was away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from controller import facts as f
from controller.book.money import instructions
from controller.book.rows import Paid, Refund
from controller.facts import decode_fact
from controller.journal.reader import JournalReader
from controller.record.told import Json
from controller.refusal import Refusal

#: Players in one page.
PAGE: Final = 1_000
_POSTED: Final = ("settlement_posted", "refunds_posted")


class Pages:
    """Reads pages; remembers where the last one ended, so that a round is read once and not once a page."""

    def __init__(self) -> None:
        self._ended: tuple[str, int, str] | None = None
        self._at = 0

    def page(self, journal: JournalReader, round_: str, version: int, after: str | None, end: int | None) -> Json:
        """Rows and wallet instructions of at most ``PAGE`` players after player ``after``. ``end``: the round's last
        fact. Raises ``Refusal`` (``not_found``, ``bad_args``)."""
        first = journal.mark("betting_opened", round=round_)
        if first is None:
            raise Refusal("not_found", f"the journal holds no round {round_[:64]!r}")
        goes_on = after is not None and self._ended == (round_, version, after)
        rows: list[Paid | Refund] = []
        last = 0
        skipping = after is not None
        for n, row in self._rows(journal, round_, version, self._at if goes_on else first.n, end):
            if len(rows) == PAGE:
                self._ended, self._at = (round_, version, rows[-1].player), last
                return self._answer(journal, round_, rows, after, more=True)
            if not skipping:
                rows.append(row)
                last = n
            skipping = skipping and row.player != after
        if skipping:
            raise Refusal("bad_args", f"player {after!r} has nothing in version {version} of round {round_}")
        if not rows and after is None:
            self._refuse_version(journal, round_, version, first.n, end)
        return self._answer(journal, round_, rows, after, more=False)

    def _rows(
        self, journal: JournalReader, round_: str, version: int, start: int, end: int | None
    ) -> Iterator[tuple[int, Paid | Refund]]:
        for stored in journal.facts(start, to_n=end, round=round_, types=_POSTED):
            fact = decode_fact(stored.body)
            assert isinstance(fact, f.SettlementPosted | f.RefundsPosted)
            if version == (fact.version if isinstance(fact, f.SettlementPosted) else 1):
                yield from ((stored.n, row) for row in fact.rows)

    def _refuse_version(self, journal: JournalReader, round_: str, version: int, start: int, end: int | None) -> None:
        """Nobody was paid: without a bet that is so, else there is no such version."""
        versions = [0]
        for stored in journal.facts(start, to_n=end, round=round_, types=("bets_settled",)):
            fact = decode_fact(stored.body)
            assert isinstance(fact, f.BetsSettled)
            versions.append(fact.version)
        if version not in versions[1:]:
            raise Refusal("bad_args", f"round {round_} has no version {version}", expected=f"1 to {max(versions)}")

    def _answer(
        self, journal: JournalReader, round_: str, rows: list[Paid | Refund], after: str | None, *, more: bool
    ) -> Json:
        orders = instructions(rows, (), table=journal.table, round_=round_)
        return {
            "rows": msgspec.to_builtins(rows),
            "instructions": msgspec.to_builtins(list(orders)),
            "more": more,
            "after": rows[-1].player if rows else after,
        }
