"""Whether the shoe is what it should be: shuffled, complete, its cut card where it was put (M-21, M-28, M-29)."""

from __future__ import annotations

from collections import Counter
from typing import Final

from controller import facts as f
from controller.cards import DECKS, FACES, SHOE_SIZE
from controller.table.draft import Draft
from controller.table.order import repeated, runs, sorted_run
from controller.table.state import Shoe

#: How far from its place the cut card may come out before somebody should look (procedures page 2.3).
CUT_TOLERANCE: Final = 15


def check_order(draft: Draft) -> None:
    """M-29: after each result, whether the cards seen so far come in the order of an old or unshuffled shoe."""
    shoe = draft.state.shoe
    if shoe is None or draft.setting.rules.shuffle == "every_round" or shoe.void:
        return
    seen = shoe.order
    start = len(seen) - shoe.order_new
    old = repeated(runs(draft.setting.salt, seen, start), draft.state.orders)
    if old or sorted_run(seen, start):
        what = "a run of cards that an earlier shoe had" if old else "cards in the order of a new deck"
        draft.incident("M-29", expected="a shuffled shoe", actual=what, ledger="known")


def keep_order(draft: Draft) -> None:
    """Remember the runs of a shoe that has ended."""
    shoe = draft.state.shoe
    if shoe is not None and draft.setting.rules.shuffle != "every_round":
        found = runs(draft.setting.salt, shoe.order)
        if found:
            draft.emit(f.ShoeOrderKept(runs=tuple(found)))


def check_cut(draft: Draft) -> None:
    """The cut card came out where it cannot have been put. Whether early or late is said, never how many are left."""
    shoe, expected = draft.state.shoe, draft.setting.rules.cut_card_left
    if shoe is None or expected is None or abs(shoe.left - expected) <= CUT_TOLERANCE:
        return
    draft.incident(
        "M-21",
        expected="the cut card where it was put in",
        actual=f"it came much {'earlier' if shoe.left > expected else 'later'}",
        ledger="known",
    )


def shortfall(shoe: Shoe, counted: int | None, reconcile: str) -> str | None:
    """What is wrong with the cards of a shoe that has ended (SHOE-01, M-28); None if all are there."""
    if reconcile == "off" or shoe.reconciled or shoe.void:
        return None
    if reconcile == "count":
        if counted is None:
            return "the cards left in the shoe were not counted"
        return None if shoe.out + counted == SHOE_SIZE else f"not {SHOE_SIZE} cards with those counted"
    if shoe.out + len(shoe.rest) != SHOE_SIZE:
        return f"not {SHOE_SIZE} cards with those read to the end"
    found = Counter(shoe.seen)
    found.update(shoe.rest)
    return None if all(found[face] == DECKS for face in FACES) else f"not {DECKS} of each card"
