"""Faces of a round by line, as the bet book takes a result."""

from __future__ import annotations

from controller.rules.blackjack import line_cards
from controller.rules.round import Round


def cards_by_line(round_: Round) -> dict[str, list[str]]:
    """Faces of every line of the round, the dealer's among them; baccarat has ``player`` and ``banker``."""
    names = dict.fromkeys(c.position.rsplit("/", 1)[0] for c in round_.cards)
    if "banker" in names:
        return {"player": round_.line("player"), "banker": round_.line("banker")}
    if "player" in names:
        del names["player"]
        names = {"main": None} | names
    names |= dict.fromkeys(sorted(round_.parted))
    return {name: line_cards(round_, name) for name in names}
