"""A rescan that a restart or a lost line interrupts begins anew: what passed meanwhile was not heard (M-30)."""

from __future__ import annotations

from typing import Any

import pytest

from drivers import events as e


def half_read(bench: Any) -> Any:
    """Three cards and one that nobody heard lie there; two of them were read again."""
    b = bench().open_round()
    b.cards("2C JS 3C")
    b.restart()
    b.ok("resume", reason="read again", how="rescan", cards=4)
    b.cards("2C JS")
    assert b.state.rescan.done == 2
    return b


def test_after_a_restart_the_first_card_is_not_taken_for_the_next_one(bench: Any) -> None:
    b = half_read(bench)
    b.restart()
    assert (b.state.rescan, b.step) == (None, "wait")
    assert "restart" in b.state.holds
    b.ok("resume", reason="read again", how="rescan", cards=4)
    b.cards("2C JS 3C 9H")
    assert b.state.holds == {}
    assert [c.card for c in b.state.round.cards] == ["2C", "JS", "3C", "9H"]


@pytest.mark.parametrize("done", ["2C JS", "2C JS 3C"])
def test_a_lost_line_breaks_a_rescan_off(bench: Any, done: str) -> None:
    b = half_read(bench)
    b.cards(done[6:])
    b.shoe(e.PortLost("pulled out"), e.PortRestored("pty"))
    assert (b.state.rescan, b.step) == (None, "wait")
    b.ok("resume", reason="read again", how="rescan", cards=4)
    b.cards("2C JS 3C 9H")
    assert [c.card for c in b.state.round.cards] == ["2C", "JS", "3C", "9H"]


def test_a_card_found_by_a_broken_rescan_is_found_again(bench: Any) -> None:
    b = bench().open_round()
    b.cards("2C JS")
    b.restart()
    b.ok("resume", reason="read again", how="rescan", cards=4)
    b.cards("2C JS 3C")
    out = b.state.shoe.out
    b.restart()
    assert (b.state.shoe.out, b.state.pending) == (out - 1, ())
    b.ok("resume", reason="read again", how="rescan", cards=4)
    b.cards("2C JS 3C 9H")
    assert [c.card for c in b.state.round.cards] == ["2C", "JS", "3C", "9H"]
    assert b.state.shoe.out == out + 1
