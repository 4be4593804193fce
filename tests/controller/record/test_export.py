"""Whole rounds for a regulator: the three forms say the same, completely, and hide what is hidden."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from controller.cli import main
from controller.journal.verify import verify
from controller.record.export import COLUMNS, Format, Period, export
from controller.record.page import card

VOID_TAGS = {"meta", "br"}


def played(play: Any) -> Any:
    """Two boundless rounds: a whole one with an incident, and one void with its hole card still down."""
    p = play("boundless")
    p.bets(("p1", "main", 100), ("p2", "main", 50))
    p.close()
    p.cards("9C 7H 8S TD 3D")
    p.order("resolve", "supervisor", incident=1, resolution="burn_card", reason="<b>put</b> aside")
    p.choose("main", 2, p1="hit", p2="stand")
    p.cards("4C")
    p.post()
    p.order("open_bets")
    p.bets(("p1", "main", 100))
    p.close()
    p.cards("9D 7C 8H QS")
    p.order("void", "supervisor", reason="=felt disturbed")
    p.post()
    return p


@pytest.fixture
def exported(play: Any, tmp_path: Path) -> Any:
    def write(form: Format, period: Period | None = None, p: Any = None) -> str:
        out = io.StringIO(newline="")
        with (p or played(play)).journal(tmp_path / "t.journal") as journal:
            export(journal, period or Period(), form, out)
        return out.getvalue()

    return write


def test_json_has_everything_of_a_round(exported: Any, tmp_path: Path) -> None:
    first, second = (json.loads(line) for line in exported("json").splitlines())
    assert (first["status"], second["status"]) == ("complete", "void")
    assert (first["game"], first["program"], first["config_digest"]) == ("boundless", "test", "digest")
    choices = [(r["player"], r["request"]) for r in first["players"] if r["what"] == "decision"]
    assert choices == [("p1", "hit"), ("p2", "stand")]
    moved = {(r["player"], r["what"]): r["amount"] for r in first["players"] if r["what"] in ("bet", "settlement")}
    assert moved == {("p1", "bet"): -100, ("p2", "bet"): -50, ("p1", "settlement"): 200, ("p2", "settlement"): 50}
    assert [r["what"] for r in second["players"]] == ["bet", "refund"]
    assert second["void"]["by"] == "supervisor:pat"
    n, last = first["chain"]["facts"][1], first["chain"]["last_hash"]
    assert verify(tmp_path / "t.journal", expect_last=(n, last)).ok


def test_csv_has_a_line_for_every_event(exported: Any) -> None:
    text = exported("csv")
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    assert tuple(head) == COLUMNS
    found = [dict(zip(head, row, strict=True)) for row in rows]
    dealt = [(row["position"], row["card"]) for row in found if row["event"] == "card_dealt"]
    assert dealt[:5] == [
        ("player/0", "9C"), ("dealer/0", "7H"), ("player/1", "8S"), ("dealer/1", "**"), ("player/2", "4C"),
    ]  # fmt: skip
    (void,) = [row for row in found if row["event"] == "round_voided"]
    assert void["person"] == "supervisor:pat"
    assert all(cell[:1] not in "=+-@" or cell == "" for row in rows for cell in row)
    assert {row["player"] for row in found if row["event"] == "decision"} == {"p1", "p2"}


class Balanced(HTMLParser):
    """Every element that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in VOID_TAGS:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag in VOID_TAGS or self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data.strip())


def test_the_page_is_whole_readable_and_needs_nothing(exported: Any) -> None:
    text = exported("html")
    page = Balanced()
    page.feed(text)
    assert page.open == []
    assert page.links == []
    assert "<script" not in text
    assert "<b>put</b>" not in text
    assert "<b>put</b> aside" in page.words
    for word in ("Phases", "Decision windows", "Incidents", "Holds", "Persons", "Players", "Every fact", "9♣", "10♦"):
        assert word in page.words, word
    assert text.count("<section") == 2


@pytest.mark.parametrize("form", ["json", "csv", "html"])
def test_a_card_that_was_not_revealed_is_in_no_form(exported: Any, form: Format) -> None:
    text = exported(form)
    assert "QS" not in text
    assert "Q♠" not in text
    assert "TD" in text or "10♦" in text


def test_a_period_chooses_rounds_by_their_beginning(exported: Any, play: Any) -> None:
    p = played(play)
    starts = [at for at, r in p.records if r.fact.type == "betting_opened"]
    cut = p.EPOCH_MS + starts[1]
    assert len(exported("json", Period(until_ms=cut), p).splitlines()) == 1
    assert len(exported("json", Period(since_ms=cut), p).splitlines()) == 1
    assert exported("json", Period(shoe="no such"), p) == ""


def test_the_command_writes_pages_and_refuses_what_makes_no_sense(
    play: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    p = played(play)
    path = tmp_path / "t.journal"
    p.journal(path).close()
    words = ["journal", "export", str(path)]
    page = tmp_path / "page.html"
    assert main([*words, "--format", "html", "--out", str(page)]) == 0
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert "2 rounds written" in capsys.readouterr().out
    assert main([*words, "--rounds", "--round", p.round]) == 0
    assert json.loads(capsys.readouterr().out)["round"] == p.round
    for more, named in (
        (["--rounds", "--round", "no"], "there is no round no"),
        (["--rounds", "--from", "yesterday"], "--from 'yesterday'"),
        (["--from", "2026-11-01"], "--rounds"),
        (["--rounds", "--type", "paused"], "--type"),
    ):
        assert main([*words, *more]) == 2, more
        assert named in capsys.readouterr().err


def test_cards_look_like_cards() -> None:
    assert card("TD") == '<span class="card red">10♦</span>'
    assert card("AS") == '<span class="card">A♠</span>'
    assert card("**") == '<span class="card hidden">**</span>'
