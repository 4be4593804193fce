"""Every way the dealer's hand can end (BJS-61, BJ7-41), and how often, for any cards already gone from the shoe.

Order within a hand matters only to where it stops, so hands are kept as multisets with the number of orders in which
the dealer reaches them; the chance of one order depends on the multiset alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from operator import mul
from typing import Final

from controller.returns.composition import EMPTY, VALUES, Hand, add, faces, left, orders, score
from controller.rules.scores import BLACKJACK, DEALER_STANDS, is_blackjack

#: Indexes into one up-card's outcomes: totals 17 to 21 come first, then these.
TOTALS: Final = range(DEALER_STANDS, BLACKJACK + 1)
BUST: Final = len(TOTALS)
NATURAL: Final = BUST + 1
OUTCOMES: Final = NATURAL + 1


@dataclass(frozen=True, slots=True)
class _Tree:
    """All dealer hands, each after the one it grows from; hand 0 is empty.

    ``steps[i]`` makes hand i + 1: (index of the hand it grows from, index of the value added, how many of that value
    were there already). ``ends[up - 1][outcome]`` is (indexes of hands, numbers of orders).
    """

    hands: tuple[Hand, ...]
    sizes: tuple[int, ...]
    steps: tuple[tuple[int, int, int], ...]
    ends: tuple[tuple[tuple[tuple[int, ...], tuple[int, ...]], ...], ...]


def _outcome(hand: Hand) -> int | None:
    """How a dealer hand counts; None while the dealer must draw."""
    if is_blackjack(faces(hand)):
        return NATURAL
    total = score(hand).total
    if sum(hand) < 2 or total < DEALER_STANDS:
        return None
    return BUST if total > BLACKJACK else total - DEALER_STANDS


@cache
def _tree() -> _Tree:
    index = {EMPTY: 0}
    steps: list[tuple[int, int, int]] = []

    def visit(parent: Hand, value: int) -> Hand:
        hand = add(parent, value)
        if hand not in index:
            index[hand] = len(index)
            steps.append((index[parent], value - 1, parent[value - 1]))
        return hand

    ends = []
    for up in VALUES:
        finals: list[dict[int, int]] = [{} for _ in range(OUTCOMES)]
        drawing = {visit(EMPTY, up): 1}
        while drawing:
            longer: dict[Hand, int] = {}
            for parent, ways in drawing.items():
                for value in VALUES:
                    hand = visit(parent, value)
                    outcome = _outcome(hand)
                    if outcome is None:
                        longer[hand] = longer.get(hand, 0) + ways
                    else:
                        at = index[hand]
                        finals[outcome][at] = finals[outcome].get(at, 0) + ways
            drawing = longer
        ends.append(tuple((tuple(found), tuple(found.values())) for found in finals))
    return _Tree(tuple(index), tuple(map(sum, index)), tuple(steps), tuple(ends))


@cache
def longest() -> int:
    """Cards of the longest dealer hand, up-card included."""
    return max(_tree().sizes)


def _weights(removed: Hand) -> list[int]:
    """For each hand of the tree: the orders of ``longest()`` cards that begin with one given order of that hand."""
    tree = _tree()
    have = left(removed)
    gone = sum(removed)
    rest = [orders(gone + n, longest() - n) for n in range(longest() + 1)]
    begun = [1]
    for parent, at, already in tree.steps:
        begun.append(begun[parent] * (have[at] - already))
    return list(map(mul, begun, map(rest.__getitem__, tree.sizes)))


@cache
def outcomes(removed: Hand) -> tuple[tuple[int, ...], ...]:
    """``outcomes(removed)[up - 1][outcome]``: how many orders of the next ``longest()`` cards begin with that up-card
    and a dealer hand that ends so, out of ``orders(sum(removed), longest())``."""
    at = _weights(removed).__getitem__
    return tuple(tuple(sum(map(mul, ways, map(at, found))) for found, ways in ends) for ends in _tree().ends)


def final_hands() -> list[tuple[Hand, int]]:
    """Every complete dealer hand from a full shoe and in how many of ``orders(0, longest())`` it is dealt."""
    tree = _tree()
    weights = _weights(EMPTY)
    return [
        (tree.hands[at], weights[at] * ways)
        for ends in tree.ends
        for found, counts in ends
        for at, ways in zip(found, counts, strict=True)
    ]
