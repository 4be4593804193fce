"""Settlement pages of earlier rounds, every version of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from controller import facts as f
from controller.record import settlements
from controller.record.settlements import Pages
from controller.refusal import Refusal


def corrected(play: Any) -> Any:
    """A coup with four players that PLAYER won, corrected to a win of BANKER, and the next one open."""
    p = play("baccarat")
    p.bets(("p1", "PLAYER", 10), ("p2", "BANKER", 20), ("p3", "TIE", 5), ("p4", "BANKER", 7))
    p.close()
    p.cards("9S 2H TD 2C")
    p.post()
    book, last = p.table.state.book, p.records[-1][1]
    draft = book.copy()
    told = draft.settle({"player": ["2S", "TD"], "banker": ["9H", "TC"]})
    facts = [
        f.BetsSettled(version=2, stake=told.stake, returned=told.returned, players=told.players),
        f.SettlementPosted(version=2, rows=tuple(draft.due(3))),
    ]
    draft.apply_posted(facts[1].rows)
    facts.append(f.SettlementPosted(version=2, rows=tuple(draft.due(3))))
    for n, fact in enumerate(facts, last.n + 1):
        p.records.append((p.now, f.Record(fact, n, None, last.shoe, last.round, last.round_in_shoe, 2)))
    return p


def pull(journal: Any, round_: str, version: int, pages: Pages) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after, more = None, True
    while more:
        page = pages.page(journal, round_, version, after, None)
        found.append(page)
        after, more = page["after"], page["more"]
    return found


def test_pages_of_each_version(play: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Page by page, whatever the slices were; a repeated or skipped page is the same page."""
    monkeypatch.setattr(settlements, "PAGE", 2)
    p = corrected(play)
    with p.journal(tmp_path / "t.journal") as journal:
        for version, amounts in ((1, [20, 0, 0, 0]), (2, [-20, 39, 0, 13])):
            pages = pull(journal, p.round, version, Pages())
            rows = [row for page in pages for row in page["rows"]]
            assert [(row["player"], row["version"], row["amount"]) for row in rows] == [
                (f"p{n}", version, amount) for n, amount in enumerate(amounts, 1)
            ]
            assert [len(page["rows"]) for page in pages] == [2, 2]
            again = Pages()
            assert again.page(journal, p.round, version, "p2", None) == pages[1]
            assert again.page(journal, p.round, version, None, None) == pages[0]
        orders = [order for page in pull(journal, p.round, 2, Pages()) for order in page["instructions"]]
        assert [(o["kind"], o["player"], o["amount"], o["reference"]) for o in orders] == [
            (kind, player, amount, f"t-1:{p.round}:1:settle:round:{player}")
            for kind, player, amount in (("debit", "p1", 20), ("credit", "p2", 39), ("credit", "p4", 13))
        ]


def test_pages_that_do_not_exist(play: Any, tmp_path: Path) -> None:
    p = corrected(play)
    with p.journal(tmp_path / "t.journal") as journal:
        for round_, version, after, code, expected in (
            ("20200101-0001-001", 1, None, "not_found", None),
            (p.round, 3, None, "bad_args", "1 to 2"),
            (p.round, 0, None, "bad_args", "1 to 2"),
            (p.round, 2, "p9", "bad_args", None),
        ):
            with pytest.raises(Refusal) as refused:
                Pages().page(journal, round_, version, after, None)
            assert (refused.value.code, refused.value.expected) == (code, expected)


def test_a_round_without_bets_has_an_empty_page(play: Any, tmp_path: Path) -> None:
    p = play("baccarat")
    p.close()
    p.cards("9S 2H TD 2C")
    with p.journal(tmp_path / "t.journal") as journal:
        page = Pages().page(journal, p.round, 1, None, None)
        assert (page["rows"], page["instructions"], page["more"]) == ([], [], False)
