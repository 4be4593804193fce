"""The procedure of seated Blackjack (BJ7-): one hand a seat, the dealer without a hole card.

A line is one hand, ``seat/S/hand/H``; ``Round.seats`` are the occupied seats in dealing order (BJ7-10, BJ7-11). On a
split the second card moves from ``hand/0/1`` to ``hand/1/0``, which frees its place.
"""

from __future__ import annotations

from typing import Any, Final

from controller.rules.blackjack import (
    SURRENDER_BARRED,
    UP,
    dealer_hand,
    dealer_stands,
    outcome,
    scores_by_length,
)
from controller.rules.options import GameOptions
from controller.rules.round import Round
from controller.rules.scores import BLACKJACK, blackjack_score, blackjack_value
from controller.rules.steps import Step

MAX_SEATS: Final = 7  # BJ7-48


def line_name(seat: int, hand: int) -> str:
    """The line of a seat's hand."""
    return f"seat/{seat}/hand/{hand}"


def lines(round_: Round) -> list[str]:
    """Every hand of the round in playing order (BJ7-13)."""
    found = []
    for seat in round_.seats:
        found += [line_name(seat, 0)] + ([line_name(seat, 1)] if line_name(seat, 1) in round_.parted else [])
    return found


def options(round_: Round, rules: GameOptions, line: str) -> tuple[str, ...]:
    """Decisions open to a hand (BJ7-20..25)."""
    cards = round_.line(line)
    if line == "dealer":
        return ("draw", "stand")
    if len(cards) > 2:
        return ("hit", "stand")
    if line in round_.parted:  # BJ7-24
        return ("hit", "stand", "double") if rules.double_after_split else ("hit", "stand")
    found = ["hit", "stand", "double"]
    if blackjack_value(cards[0]) == blackjack_value(cards[1]):
        found.append("split")
    if blackjack_value(round_.at(UP) or "A") not in SURRENDER_BARRED[rules.surrender_against]:
        found.append("surrender")
    return tuple(found)


def next_step(round_: Round, rules: GameOptions) -> Step:
    """What the procedure demands next, from the first card to ``finish``."""
    step = _deal(round_)
    if step is not None:
        return step
    if (round_.at(UP) or "")[0] == "A" and round_.insurance != "closed":  # BJ7-26
        return Step("insurance", options=("insure",))
    for seat in round_.seats:
        step = _seat(round_, rules, seat)
        if step is not None:
            return step
    return _dealer(round_, rules)


def _deal(round_: Round) -> Step | None:
    """Two passes over the occupied seats, the dealer's one card between them (BJ7-10, BJ7-12)."""
    hands = [line_name(seat, 0) for seat in round_.seats]
    second = [f"{hand}/1" for hand in hands if hand not in round_.parted]
    laid = round_.laid
    for position in (*(f"{hand}/0" for hand in hands), UP, *second):
        if position not in laid:
            return Step("draw", position=position)
    return None


def _seat(round_: Round, rules: GameOptions, seat: int) -> Step | None:
    """The next card or window of a seat; None when its hands are complete."""
    first, second = line_name(seat, 0), line_name(seat, 1)
    if first not in round_.parted:
        return _hand(round_, rules, first)
    for hand in (first, second):
        # BJ7-23: one more card on each hand, then hit or stand
        for other in (first, second) if rules.split_second == "both" else (hand,):
            if round_.at(f"{other}/1") is None:
                return Step("draw", position=f"{other}/1")
        step = _hand(round_, rules, hand)
        if step is not None:
            return step
    return None


def _hand(round_: Round, rules: GameOptions, line: str) -> Step | None:
    """The next card or window of one hand; None when it is complete (BJ7-20, BJ7-21, BJ7-25, BJ7-28)."""
    cards = round_.line(line)
    if blackjack_score(cards).total >= BLACKJACK or (line in round_.parted and cards[0][0] == "A"):
        return None
    demand = round_.demands.get((line, len(cards)))
    if demand is None:
        return Step("decide", line=line, prefix_len=len(cards), options=options(round_, rules, line))
    return Step("draw", position=f"{line}/{len(cards)}") if demand.draw else None


def _dealer(round_: Round, rules: GameOptions) -> Step:
    """The dealer's second card and further ones (BJ7-40, BJ7-41); ``needed``: only where a result hangs on them."""
    count = len(round_.line("dealer"))
    if count > 1 and dealer_stands(round_):
        return Step("finish")
    if rules.dealer_draws == "needed" and count <= 2:
        demand = round_.demands.get(("dealer", count))
        if demand is None:
            return Step("decide", line="dealer", prefix_len=count, options=options(round_, rules, "dealer"))
        if not demand.draw:
            return Step("finish")
    return Step("draw", position=f"dealer/{count}")


def deal_places(round_: Round) -> tuple[str, ...]:
    """Where the first cards go, in order."""
    first, second = ([f"{line_name(seat, 0)}/{n}" for seat in round_.seats] for n in (0, 1))
    return (*first, UP, *second)


def parting(round_: Round, step: Step) -> tuple[str, str] | None:  # noqa: ARG001 - every procedure is called alike
    """The lines of a split that was decided and not carried out yet."""
    for demand in round_.demands.values():
        if demand.split and demand.line not in round_.parted:
            return demand.line, demand.line[:-1] + "1"
    return None


def result(round_: Round) -> dict[str, Any]:
    """Hands and outcomes by line (BJ7-42, BJ7-43). Call at ``finish`` only."""
    dealer = round_.line("dealer")
    hands: dict[str, Any] = {"dealer": dealer_hand(round_)}
    outcomes = []
    for line in lines(round_):
        cards = round_.line(line)
        hands[line] = {"cards": cards, "scores": scores_by_length(cards)}
        outcomes.append(
            {"line": line, "length": len(cards), "result": outcome(cards, dealer, split=line in round_.parted)}
        )
    return {"hands": hands, "outcomes": outcomes}
