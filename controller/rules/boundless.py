"""The procedure of Boundless Blackjack: one shared hand, any number of players (BJS-, procedures page 2.6).

Lines are ``main``, ``split/0`` and ``split/1``; every player's hand is a prefix of a line, so the table needs to
know only whether anybody on a line still wants a card: the demand for (line, prefix length).
"""

from __future__ import annotations

from typing import Any

from controller.rules.blackjack import (
    HOLE,
    SURRENDER_BARRED,
    UP,
    dealer_hand,
    dealer_stands,
    line_cards,
    outcome,
    scores_by_length,
)
from controller.rules.options import GameOptions
from controller.rules.round import Round
from controller.rules.scores import BLACKJACK, blackjack_score, blackjack_value, is_blackjack, is_ten_or_ace
from controller.rules.steps import Step

DEAL = ("player/0", UP, "player/1", HOLE)  # BJS-04
SPLITS = ("split/0", "split/1")


def line_position(line: str, index: int) -> str:
    """Where card ``index`` of a line lies."""
    return f"{'player' if line == 'main' else line}/{index}"


def has_split(round_: Round) -> bool:
    """Somebody split the initial hand."""
    first = round_.demands.get(("main", 2))
    return first is not None and first.split


def options(round_: Round, rules: GameOptions, line: str) -> tuple[str, ...]:
    """Decisions open to a hand that is the whole line (BJS-30..38)."""
    cards = line_cards(round_, line)
    if line == "dealer":
        return ("draw", "stand")
    if len(cards) > 2:
        return ("hit", "stand")
    if line != "main":
        return ("hit", "stand", "double") if rules.double_after_split else ("hit", "stand")
    up = round_.at(UP) or ""
    found = ["hit", "stand", "double"]
    if blackjack_value(cards[0]) == blackjack_value(cards[1]):  # BJS-36, A-07
        found.append("split")
    if blackjack_value(up) not in SURRENDER_BARRED[rules.surrender_against]:  # BJS-33
        found.append("surrender")
    return tuple(found)


def next_step(round_: Round, rules: GameOptions) -> Step:
    """What the procedure demands next, from the first card to ``finish``."""
    laid = round_.laid
    for position in DEAL:
        if position not in laid:
            return Step("draw", position=position, hidden=position == HOLE)
    up = round_.at(UP) or ""
    if up[0] == "A" and round_.insurance != "closed":  # BJS-22
        return Step("insurance", options=("insure",))
    if is_ten_or_ace(up) and round_.peeked is None:  # BJS-21
        return Step("peek")
    if not round_.peeked and not is_blackjack(line_cards(round_, "main")):
        step = _players(round_, rules)
        if step is not None:
            return step
    if not _public(round_, HOLE):
        return Step("reveal", position=HOLE)
    return _dealer(round_, rules)


def _players(round_: Round, rules: GameOptions) -> Step | None:
    """The next step on the players' lines; None when all are closed."""
    if ("main", 2) not in round_.demands:  # the first window decides whether there are split lines at all
        return _line(round_, rules, "main")
    order = ("main", *SPLITS) if rules.split_order == "main_first" else (*SPLITS, "main")
    for line in order:
        if line == "main":
            step = _line(round_, rules, line)
        elif not has_split(round_):
            continue
        else:
            step = _split_seconds(round_, rules, line) or _line(round_, rules, line)
        if step is not None:
            return step
    return None


def _split_seconds(round_: Round, rules: GameOptions, line: str) -> Step | None:
    """The second card of split hands, before decisions on them open (BJS-55)."""
    due = SPLITS if rules.split_second == "both" else (line,)
    for split in due:
        if round_.at(f"{split}/1") is None:
            return Step("draw", position=f"{split}/1")
    return None


def _line(round_: Round, rules: GameOptions, line: str) -> Step | None:
    """The next window or card of one line; None when the line is closed (BJS-51, BJS-56)."""
    cards = line_cards(round_, line)
    if blackjack_score(cards).total >= BLACKJACK:
        return None
    if line != "main" and cards[0][0] == "A":  # BJS-37: split aces take one card each
        return None
    demand = round_.demands.get((line, len(cards)))
    if demand is None:
        return Step("decide", line=line, prefix_len=len(cards), options=options(round_, rules, line))
    return Step("draw", position=line_position(line, len(cards))) if demand.draw else None


def _dealer(round_: Round, rules: GameOptions) -> Step:
    """The dealer's hand after the reveal (BJS-61, BJS-62)."""
    cards = line_cards(round_, "dealer")
    if round_.peeked or dealer_stands(round_):
        return Step("finish")
    if rules.dealer_draws == "needed":
        demand = round_.demands.get(("dealer", 2))
        if demand is None:
            return Step("decide", line="dealer", prefix_len=2, options=options(round_, rules, "dealer"))
        if not demand.draw:
            return Step("finish")
    return Step("draw", position=line_position("dealer", len(cards)))


def _public(round_: Round, position: str) -> bool:
    return any(c.position == position and c.public for c in round_.cards)


def peek(round_: Round) -> bool:
    """The dealer has Blackjack (BJS-20). The one bit of the hole card that is ever published early (BJS-24)."""
    return is_blackjack(line_cards(round_, "dealer"))


def deal_places(round_: Round) -> tuple[str, ...]:  # noqa: ARG001 - every procedure is called alike
    """Where the first cards go face up, in order."""
    return tuple(p for p in DEAL if p != HOLE)


def parting(round_: Round, step: Step) -> tuple[str, str] | None:
    """The split lines, when their first further card is due: until then the hand lies as one (A-08)."""
    due = (step.position or "").startswith("split/") and not round_.parted
    return (SPLITS[0], SPLITS[1]) if due else None


def result(round_: Round) -> dict[str, Any]:
    """Hands and outcomes by line and length (BJS-63..66). Call at ``finish`` only."""
    dealer = line_cards(round_, "dealer")
    hands: dict[str, Any] = {"dealer": dealer_hand(round_)}
    outcomes = []
    for line in ("main", *SPLITS) if has_split(round_) else ("main",):
        cards = line_cards(round_, line)
        hands[line] = {"cards": cards, "scores": scores_by_length(cards)}
        outcomes += [
            {"line": line, "length": n, "result": outcome(cards[:n], dealer, split=line != "main")}
            for n in range(2, len(cards) + 1)
        ]
    return {"hands": hands, "outcomes": outcomes}
