"""Which of the waiting cards is taken when one gets its place: never another card than the one that is dealt."""

from __future__ import annotations

import pytest

from controller.table.fold_holds import unqueue
from controller.table.state import Pending, TableState

CLAIM = Pending("6C", "claimed", "seat/4/hand/0/1")


@pytest.mark.parametrize(
    ("waiting", "card", "position"),
    [
        (Pending("3D", "held", "seat/1/hand/0/1"), "3D", "seat/6/hand/0/1"),  # due elsewhere when it came
        (Pending("3D", "kept"), "3D", "seat/6/hand/0/1"),
        (Pending("**", "kept"), "3D", "seat/6/hand/0/1"),
        (Pending("3D", "found"), "3D", "seat/6/hand/0/1"),
    ],
)
def test_a_claim_keeps_its_place(waiting: Pending, card: str, position: str) -> None:
    state = TableState(pending=(CLAIM, waiting))
    assert unqueue(state, card, position) == waiting
    assert state.pending == (CLAIM,)


def test_of_two_equal_cards_the_one_that_was_due_there_is_taken() -> None:
    """One was claimed for the place, the other was found behind it by a rescan."""
    found, claim = Pending("KH", "found"), Pending("KH", "claimed", "player/1")
    state = TableState(pending=(found, claim))
    assert unqueue(state, "KH", "player/1") == claim
    assert state.pending == (found,)
