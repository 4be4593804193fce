"""A rescan that does not agree ends in one incident; the cards still to come are neither held nor dealt (M-30)."""

from __future__ import annotations

from typing import Any

import pytest

from controller import facts as f
from drivers import events as e


def in_doubt(bench: Any) -> Any:
    """Two cards are out and the line was lost; the supervisor has them read again, the first does not agree."""
    b = bench().open_round()
    b.cards("TC 6C")
    b.shoe(e.PortLost("unplugged"), e.PortRestored("pty"))
    b.resolve("rescan", cards=2)
    b.cards("KS")
    assert b.incident == "M-30"
    return b


@pytest.mark.parametrize("rest", ["6C", "6C 9D", "TC 6C"])
def test_the_rest_of_the_reading_changes_nothing(bench: Any, rest: str) -> None:
    b = in_doubt(bench)
    opened = dict(b.state.incidents)
    b.cards(rest)
    b.shoe(e.NoRead("NR"))
    assert b.state.incidents == opened
    assert b.state.pending == ()
    assert [c.card for c in b.state.round.cards] == ["TC", "6C"]
    assert b.last(f.ReadRepeated).card == rest.split()[-1]


def test_a_second_reading_that_agrees_goes_on_at_the_same_step(bench: Any) -> None:
    b = in_doubt(bench)
    b.cards("6C")
    b.resolve("resume")  # looked at: somebody had laid the cards down in the wrong order
    b.resolve("rescan", cards=2)
    b.cards("TC 6C")
    assert b.step == "draw player/1"
    b.cards("9H")
    assert b.state.round.at("player/1") == "9H"


def test_a_void_ends_it(bench: Any) -> None:
    b = in_doubt(bench)
    b.resolve("void_round")
    b.ok("reopen", reason="cleared")
    b.open_round()
    b.cards("9H")
    assert b.state.round.at("player/0") == "9H"
