"""The procedure of Baccarat (BAC-), for shoes that show each face at once and shoes that reveal all at the end."""

from __future__ import annotations

from typing import Any

from controller.cards import HIDDEN
from controller.rules.options import GameOptions
from controller.rules.round import Round
from controller.rules.scores import baccarat_value, banker_draws, is_natural, player_draws
from controller.rules.steps import Step

DEAL = ("player/0", "banker/0", "player/1", "banker/1")  # BAC-03
THIRDS = ("player/2", "banker/2")
REVEAL_ORDER = (*DEAL, *THIRDS)


def next_step(round_: Round, rules: GameOptions) -> Step:  # noqa: ARG001 - every procedure is called alike
    """What the procedure demands next, from the first card to ``finish``."""
    laid = round_.laid
    for position in DEAL:
        if position not in laid:
            return Step("draw", position=position)
    if not round_.faces_known:
        return _face_down(round_)
    player, banker = round_.line("player"), round_.line("banker")
    if len(player) == 2 and len(banker) == 2 and player_draws(player, banker):
        return Step("draw", position="player/2")
    if len(banker) == 2 and banker_draws(player, banker):
        return Step("draw", position="banker/2")
    return Step("finish")


def _face_down(round_: Round) -> Step:
    """Faces come after the last card, so whether a third card is due is not known: the draws are checked at the
    reveal (``tableau_fault``)."""
    hidden = [p for p in REVEAL_ORDER if round_.at(p) == HIDDEN]
    revealing = any(c.card != HIDDEN for c in round_.cards)
    if not revealing and round_.at("banker/2") is None:
        if round_.at("player/2") is None:
            return Step("draw", position="player/2", others=("banker/2", "reveal"))
        return Step("draw", position="banker/2", others=("reveal",))
    return Step("reveal", position=hidden[0])


def tableau_fault(round_: Round) -> tuple[str, str, str] | None:
    """(misdeal code, expected, actual) if the third cards dealt are not those of BAC-07..10; all faces known."""
    player, banker = round_.line("player"), round_.line("banker")
    due = player_draws(player[:2], banker[:2])
    if due and len(player) == 2:
        return "M-18", "PLAYER's third card", "none dealt"
    if not due and len(player) == 3:
        return "M-17", "no third card to PLAYER", "a third card dealt to PLAYER"
    due = banker_draws(player, banker[:2])
    if due and len(banker) == 2:
        return "M-18", "BANKER's third card", "none dealt"
    if not due and len(banker) == 3:
        return "M-19", "no third card to BANKER", "a third card dealt to BANKER"
    return None


def deal_places(round_: Round) -> tuple[str, ...]:  # noqa: ARG001 - every procedure is called alike
    """Where the first cards go, in order."""
    return DEAL


def parting(round_: Round, step: Step) -> None:
    """No hand is ever parted."""


def result(round_: Round) -> dict[str, Any]:
    """Values, winner and pairs (BAC-06, BAC-11). Call at ``finish`` only."""
    player, banker = round_.line("player"), round_.line("banker")
    p, b = baccarat_value(player), baccarat_value(banker)
    return {
        "hands": {
            "player": {"cards": player, "value": p, "natural": is_natural(player[:2])},
            "banker": {"cards": banker, "value": b, "natural": is_natural(banker[:2])},
        },
        "outcomes": {
            "winner": "player" if p > b else "banker" if b > p else "tie",
            "player_pair": player[0][0] == player[1][0],
            "banker_pair": banker[0][0] == banker[1][0],
        },
    }
