"""Roads: the fixtures of the trade, and a second formulation of the derived roads."""

from __future__ import annotations

import json
from itertools import groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.rules.roads import DERIVED, ROWS, DerivedCell, big_road, derived_road, roads

WORDS = {"P": "player", "B": "banker", "T": "tie"}
SHOES = st.lists(st.sampled_from(["player", "banker", "tie"]), max_size=90)


def _results(letters: str) -> list[str]:
    return [WORDS[letter] for letter in letters.replace(" ", "")]


def _letters(cells: list[DerivedCell]) -> str:
    return "".join({"red": "R", "blue": "B"}[cell["colour"]] for cell in cells)


@pytest.mark.parametrize(
    ("results", "derived"),
    [
        ("BPP", "B//"),
        ("BBPPP", "RB//"),
        ("BPBPBPBP", "RRRRRR/RRRRR/RRRR"),
        ("BBPPBBPP", "RRRRR/RRR/R"),
        ("BBBPBBPPPB", "BBBRBB/RBBRB/RRR"),
        ("PBBTPPPBBPBBBBP", "BBRBBRBBBRRB/BRBRRBRBRB/BBBRRBB"),
    ],
)
def test_derived_roads_of_known_shoes(results: str, derived: str) -> None:
    found = roads(_results(results))
    assert "/".join(map(_letters, (found["big_eye_boy"], found["small_road"], found["cockroach_pig"]))) == derived


def _cells(results: str) -> list[tuple[str, int, int, int]]:
    cells, _ = big_road(_results(results))
    return [(cell["result"][0].upper(), cell["col"], cell["row"], cell["ties"]) for cell in cells]


def test_big_road_counts_ties_on_the_last_cell_and_leading_ties_on_the_first() -> None:
    assert _cells("TBPTTB") == [("B", 0, 0, 1), ("P", 1, 0, 2), ("B", 2, 0, 0)]


def test_big_road_dragon_tails() -> None:
    banker = [("B", 0, row, 0) for row in range(6)] + [("B", 1, 5, 0)]
    player = [("P", 1, row, 0) for row in range(5)] + [("P", col, 4, 0) for col in (2, 3, 4)]
    assert _cells("BBBBBBB PPPPPPPP") == banker + player


def test_big_road_a_tail_on_the_top_row_pushes_the_next_streak_on() -> None:
    streaks = "".join(letter * 20 for letter in "BPBPBP")  # each tail one row higher, the sixth on row 0
    cells = _cells(streaks + "B")
    assert [(col, row) for _, col, row, _ in cells[100:120]] == [(5 + i, 0) for i in range(20)]
    assert cells[-1] == ("B", 25, 0, 0)


def test_leading_ties_wait_for_the_first_win() -> None:
    assert big_road(_results("TT")) == ([], 2)
    assert roads(_results("TT"))["leading_ties"] == 2
    assert roads(_results("TTP"))["leading_ties"] == 0
    assert _cells("TTP") == [("P", 0, 0, 2)]


def test_bead_plate_fills_columns_of_six_with_every_result() -> None:
    beads = roads(_results("BPTBPTB"))["bead_plate"]
    assert [(bead["col"], bead["row"]) for bead in beads] == [(0, row) for row in range(6)] + [(1, 0)]
    assert [bead["result"] for bead in beads] == _results("BPTBPTB")


def test_an_empty_shoe_has_empty_roads() -> None:
    found = roads([])
    assert set(map(str, found.values())) == {"[]", "0"}


def test_unknown_results_are_refused() -> None:
    with pytest.raises(ValueError, match="'void' is not a result"):
        roads(["player", "void"])


@given(SHOES)
def test_roads_are_plain_data(results: list[str]) -> None:
    found = roads(results)
    assert json.loads(json.dumps(found)) == found


@given(SHOES)
def test_big_road_cells_never_meet_and_streaks_hang_together(results: list[str]) -> None:
    cells, waiting = big_road(results)
    places = [(cell["col"], cell["row"]) for cell in cells]
    assert len(set(places)) == len(places)
    assert all(0 <= row < ROWS for _, row in places)
    assert sum(cell["ties"] for cell in cells) + waiting == results.count("tie")
    assert [cell["result"] for cell in cells] == [word for word in results if word != "tie"]
    for before, cell in pairwise(cells):
        step = (cell["col"] - before["col"], cell["row"] - before["row"])
        if before["result"] == cell["result"]:
            assert step in ((0, 1), (1, 0))
        else:
            assert cell["row"] == 0


@given(SHOES, st.sampled_from(["player", "banker", "tie"]))
def test_another_coup_only_adds_to_the_roads(results: list[str], last: str) -> None:
    before, after = roads(results), roads([*results, last])
    assert after["bead_plate"][:-1] == before["bead_plate"]
    for old, new in (
        (before["big_eye_boy"], after["big_eye_boy"]),
        (before["small_road"], after["small_road"]),
        (before["cockroach_pig"], after["cockroach_pig"]),
    ):
        assert new[: len(old)] == old


def _by_looking(results: list[str], k: int) -> str:
    """The derived road as players read it off the big road, its columns drawn without a bottom.

    At the top of a column compare the depths of the two columns concerned: equal is red. Elsewhere look k columns to
    the left: a mark there is red; none is blue, unless there is none above it either, which is red again.
    """
    columns = [len(list(run)) for _, run in groupby(word for word in results if word != "tie")]
    marked = {(col, row) for col, depth in enumerate(columns) for row in range(depth)}
    first = (k, 1) if (k, 1) in marked else (k + 1, 0)
    found = ""
    for col, row in sorted(marked):
        if (col, row) < first:
            continue
        if row == 0:
            depths = [sum(1 for c, _ in marked if c == look) for look in (col - 1, col - 1 - k)]
            red = depths[0] == depths[1]
        else:
            red = ((col - k, row) in marked) == ((col - k, row - 1) in marked)
        found += "R" if red else "B"
    return found


@given(SHOES, st.sampled_from(sorted(DERIVED.values())))
def test_derived_roads_agree_with_column_comparison(results: list[str], k: int) -> None:
    assert _letters(derived_road(results, k)) == _by_looking(results, k)
