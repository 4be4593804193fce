"""Listing and exporting: nothing unmasked, nothing a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json

import pytest

from controller.journal.show import COLUMNS, export, rows
from controller.journal.store import FactRow, Journal, JournalError

NASTY = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "＝1", "%0A=1", "|cmd", 'a"b,c;d', "", "\0=1"]


@pytest.fixture
def journal(path):
    with Journal.create_or_open(path, table="t1", now_ms=0) as journal:
        for n, text in enumerate(NASTY, 1):
            journal.append(
                [FactRow(n, 7, 1_764_445_267_123, text, "s1", None if n % 2 else "r2", b'{"card":"KS"}')], []
            )
        yield journal


def mask(fact: FactRow) -> dict[str, object]:
    return {"n": fact.n, "card": "**", "text": fact.type}


@pytest.mark.usefixtures("journal")
def test_rows_have_no_content_without_a_mask(path):
    found = list(rows(path))
    assert [row["n"] for row in found] == list(range(1, len(NASTY) + 1))
    assert found[0] == {
        "n": 1, "at": "2025-11-29T19:41:07.123Z", "epoch": 7, "type": "=1+1", "shoe": "s1", "round": None,
    }  # fmt: skip
    assert "KS" not in str(found)
    assert [row["n"] for row in rows(path, round="r2", types=["+1", "@SUM(A1)"])] == [2, 4]
    assert next(rows(path, shoe="s1", mask=mask))["data"] == {"n": 1, "card": "**", "text": "=1+1"}


@pytest.mark.usefixtures("journal")
@pytest.mark.parametrize("kind", ["json", "csv"])
def test_export_shows_what_the_mask_gives_and_no_more(path, kind):
    plain, masked = io.StringIO(newline=""), io.StringIO(newline="")
    assert export(path, format=kind, out=plain) == export(path, format=kind, out=masked, mask=mask) == len(NASTY)
    assert "card" not in plain.getvalue()
    assert "KS" not in masked.getvalue()
    assert "**" in masked.getvalue()


@pytest.mark.usefixtures("journal")
def test_json_is_one_object_a_line(path):
    out = io.StringIO()
    export(path, format="json", out=out, mask=mask)
    lines = out.getvalue().split("\n")
    assert lines.pop() == ""
    assert [json.loads(line) for line in lines] == list(rows(path, mask=mask))


@pytest.mark.usefixtures("journal")
def test_csv_is_quoted_and_starts_no_formula(path):
    out = io.StringIO(newline="")
    export(path, format="csv", out=out, mask=mask)
    text = out.getvalue()
    assert text.startswith('"n","at","epoch","type","shoe","round","data"\r\n"1",')
    table = list(csv.reader(io.StringIO(text, newline="")))
    assert all(len(row) == len(COLUMNS) + 1 for row in table)
    for line in table[1:]:
        for cell in line:
            assert cell.lstrip()[:1] not in tuple("=+-@＝|%"), cell
    kinds = [line[3] for line in table[1:]]
    assert kinds[0] == "'=1+1"
    assert kinds[11:] == ['a"b,c;d', "", "\ufffd=1"]
    assert [json.loads(line[-1])["text"] for line in table[1:]] == NASTY


def test_times_no_calendar_has(path):
    with Journal.create_or_open(path, table="t1", now_ms=0) as journal:
        journal.append([FactRow(n, 1, at, "t", None, None, b"") for n, at in ((1, 2**62), (2, -1), (3, 0))], [])
    at = [row["at"] for row in rows(path)]
    assert at == [str(2**62), "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00.000Z"]


def test_missing_journal(path):
    with pytest.raises(JournalError, match="there is no journal"):
        export(path, format="csv", out=io.StringIO())
