"""The baccarat roads of one shoe, rebuilt from its results: bead plate, big road and the three derived roads.

A shoe has at most some eighty coups, so every road is recomputed from the list; a corrected coup needs nothing
else. A machine that shuffles before each coup has no end that would clear them: there they begin anew after
``COUPS_MAX`` coups. Columns and rows count from 0, from the top left. The data returned is plain and ready for JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final, Literal, TypedDict

from controller.cards import SHOE_SIZE

Result = Literal["player", "banker", "tie"]
Colour = Literal["red", "blue"]

ROWS: Final = 6
#: No shoe holds more coups: each takes four cards at least.
COUPS_MAX: Final = SHOE_SIZE // 4
#: How many columns back each derived road looks, beyond the last.
DERIVED: Final = {"big_eye_boy": 1, "small_road": 2, "cockroach_pig": 3}


class Bead(TypedDict):
    """One coup on the bead plate."""

    col: int
    row: int
    result: str


class BigCell(TypedDict):
    """One PLAYER or BANKER win on the big road; ``ties`` counts the ties marked on it."""

    col: int
    row: int
    result: str
    ties: int


class DerivedCell(TypedDict):
    """One mark of a derived road."""

    col: int
    row: int
    colour: Colour


class Roads(TypedDict):
    """Every road of a shoe. ``leading_ties`` wait for the first win and are 0 once there is one."""

    bead_plate: list[Bead]
    big_road: list[BigCell]
    leading_ties: int
    big_eye_boy: list[DerivedCell]
    small_road: list[DerivedCell]
    cockroach_pig: list[DerivedCell]


def roads(results: Iterable[str]) -> Roads:
    """All roads of a shoe's valid coups in order: ``player``, ``banker`` or ``tie`` each; void coups left out.

    Raises ``ValueError`` for any other word.
    """
    coups = list(results)
    for word in coups:
        if word not in ("player", "banker", "tie"):
            raise ValueError(f"{word!r} is not a result: player, banker or tie")
    big, leading = big_road(coups)
    return {
        "bead_plate": bead_plate(coups),
        "big_road": big,
        "leading_ties": leading,
        "big_eye_boy": derived_road(coups, DERIVED["big_eye_boy"]),
        "small_road": derived_road(coups, DERIVED["small_road"]),
        "cockroach_pig": derived_road(coups, DERIVED["cockroach_pig"]),
    }


def bead_plate(results: Sequence[str]) -> list[Bead]:
    """Every coup, ties too, column by column."""
    return [{"col": i // ROWS, "row": i % ROWS, "result": word} for i, word in enumerate(results)]


def big_road(results: Sequence[str]) -> tuple[list[BigCell], int]:
    """The wins, a new column at each change of winner, and the number of ties that still wait for a first win."""
    wins = [word for word in results if word != "tie"]
    cells: list[BigCell] = [
        {"col": col, "row": row, "result": word, "ties": 0}
        for word, (col, row) in zip(wins, _places(streaks(wins)), strict=True)
    ]
    waiting, won = 0, -1
    for word in results:
        if word != "tie":
            won += 1
        elif won < 0:
            waiting += 1
        else:
            cells[won]["ties"] += 1
    if cells:
        cells[0]["ties"] += waiting
        waiting = 0
    return cells, waiting


def derived_road(results: Sequence[str], k: int) -> list[DerivedCell]:
    """The derived road that compares with the column ``k`` back: 1 Big Eye Boy, 2 Small Road, 3 Cockroach Pig."""
    marks = colours(streaks(word for word in results if word != "tie"), k)
    return [
        {"col": col, "row": row, "colour": mark}
        for mark, (col, row) in zip(marks, _places(streaks(marks)), strict=True)
    ]


def streaks(words: Iterable[str]) -> list[int]:
    """Lengths of the runs of equal words: the full columns of the big road, however they are drawn."""
    return [sum(1 for _ in run) for _, run in groupby(words)]


def colours(lengths: Sequence[int], k: int) -> list[Colour]:
    """The marks of a derived road from the streak lengths of the big road.

    A first result is red if the two columns before it, 1 and 1+k back, are equally long; a later one is blue if it
    goes one below the end of the column k back.
    """
    marks: list[Colour] = []
    for n, length in enumerate(lengths):
        if n - 1 - k >= 0:
            marks.append("red" if lengths[n - 1] == lengths[n - 1 - k] else "blue")
        if n - k >= 0:
            marks += ["blue" if m == lengths[n - k] + 1 else "red" for m in range(2, length + 1)]
    return marks


def _places(lengths: Iterable[int]) -> list[tuple[int, int]]:
    """(column, row) of every cell. A streak goes down until the bottom or an occupied cell, then right to its end."""
    taken: set[tuple[int, int]] = set()
    places = []
    start = -1
    for length in lengths:
        start += 1
        while (start, 0) in taken:
            start += 1
        col, row, turned = start, 0, False
        for i in range(length):
            if i:
                turned = turned or row + 1 == ROWS or (col, row + 1) in taken
                col, row = (col + 1, row) if turned else (col, row + 1)
            taken.add((col, row))
            places.append((col, row))
    return places
