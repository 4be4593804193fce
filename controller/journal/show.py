"""List and export a journal without its secrets.

This package cannot tell which fact hides a card, so a fact's content appears only through the caller's ``mask``.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, TextIO

from controller.journal.reader import open_read_only
from controller.journal.records import FactRow

Mask = Callable[[FactRow], dict[str, Any]]
"""Gives what may be shown of a fact's content, as JSON data."""

COLUMNS: Final = ("n", "at", "epoch", "type", "shoe", "round")

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# What spreadsheets take for the start of a formula, or skip before one, full-width forms included
# (owasp.org/www-community/attacks/CSV_Injection).
_FORMULA: Final = frozenset("=+-@\t\r\n ＝＋－＠|%")


def rows(
    path: str | os.PathLike[str],
    *,
    round: str | None = None,  # noqa: A002 -- the trade's word
    shoe: str | None = None,
    types: Collection[str] | None = None,
    mask: Mask | None = None,
) -> Iterator[dict[str, Any]]:
    """The matching facts in order, as ``{n, at, epoch, type, shoe, round}`` with ``at`` in UTC, ISO 8601.

    With ``mask``, also ``data``: what it returns for the fact. Without, no content at all. Raises ``JournalError``.
    """
    with open_read_only(path) as journal:
        for fact in journal.facts(round=round, shoe=shoe, types=types):
            row: dict[str, Any] = {
                "n": fact.n,
                "at": _iso(fact.at_ms),
                "epoch": fact.epoch,
                "type": fact.type,
                "shoe": fact.shoe,
                "round": fact.round,
            }
            if mask is not None:
                row["data"] = mask(fact)
            yield row


def export(
    path: str | os.PathLike[str],
    *,
    format: Literal["json", "csv"],  # noqa: A002 -- the option's name
    out: TextIO,
    round: str | None = None,  # noqa: A002 -- the trade's word
    shoe: str | None = None,
    types: Collection[str] | None = None,
    mask: Mask | None = None,
) -> int:
    """Write what ``rows`` gives to ``out`` and return how many.

    ``json`` is JSON Lines, one object a line. ``csv`` is RFC 4180 with a header line, every cell quoted, ``data``
    as JSON text; a text that a spreadsheet could take for a formula gets a leading apostrophe. Open a file for it
    with ``newline=""``. Raises ``JournalError``, and what ``out`` raises.
    """
    found = rows(path, round=round, shoe=shoe, types=types, mask=mask)
    names = COLUMNS if mask is None else (*COLUMNS, "data")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    if format == "csv":
        writer.writerow(names)
    count = 0
    for row in found:
        if format == "json":
            out.write(_json(row) + "\n")
        else:
            writer.writerow([cell(_json(row[name]) if name == "data" else row[name]) for name in names])
        count += 1
    return count


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def cell(value: object) -> str:
    if value is None:
        return ""
    # A NUL ends a text in some readers, and what follows would then start the cell.
    text = str(value).replace("\0", "\ufffd")
    return "'" + text if isinstance(value, str) and text[:1] in _FORMULA else text


def _iso(at_ms: int) -> str:
    """``at_ms`` (UTC, milliseconds) as the feed writes it; the bare number if no calendar has that day."""
    try:
        at = _EPOCH + timedelta(milliseconds=at_ms)
    except OverflowError:
        return str(at_ms)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"
