"""What both blackjack games share: results of hands, and the dealer's own hand (BJS-61..66, BJ7-41..43)."""

from __future__ import annotations

from typing import Any, Final

from controller.rules.round import Round
from controller.rules.scores import DEALER_STANDS, blackjack_score, is_blackjack

UP: Final = "dealer/0"
HOLE: Final = "dealer/1"
#: Up-card values against which surrender is barred: 1 is the ace (BJS-33, BJ7-22, C-08).
SURRENDER_BARRED: Final = {"two_to_nine": (1, 10), "two_to_ten": (1,)}


def line_cards(round_: Round, line: str) -> list[str]:
    """Faces of a line in order; shared split lines start with the first and second player card (BJS-54)."""
    if line == "main":
        return round_.line("player")
    if not line.startswith("split/"):
        return round_.line(line)
    first = round_.at(f"player/{line[-1]}")
    return ([first] if first is not None else []) + round_.line(line)


def dealer_stands(round_: Round) -> bool:
    """17 or more, soft 17 included (BJS-61)."""
    return blackjack_score(round_.line("dealer")).total >= DEALER_STANDS


def outcome(hand: list[str], dealer: list[str], *, split: bool) -> str:
    """``bj``, ``win``, ``push``, ``lose`` or ``bust`` for one final hand (BJS-13, BJS-63..66, BJ7-42, BJ7-43).

    A dealer's single card (nobody needed more) beats nothing: every hand it is compared with is decided already.
    """
    mine, theirs = blackjack_score(hand), blackjack_score(dealer)
    if mine.bust:
        return "bust"
    natural = is_blackjack(hand) and not split
    if is_blackjack(dealer):
        return "push" if natural else "lose"
    if natural:
        return "bj"
    if theirs.bust or mine.total > theirs.total:
        return "win"
    return "push" if mine.total == theirs.total else "lose"


def dealer_hand(round_: Round) -> dict[str, Any]:
    """The dealer's cards and score as a result shows them."""
    dealer = round_.line("dealer")
    score = blackjack_score(dealer)
    return {"cards": dealer, "score": score.total, "blackjack": is_blackjack(dealer), "bust": score.bust}


def scores_by_length(cards: list[str]) -> dict[str, int]:
    """The score of every prefix from two cards on."""
    return {str(n): blackjack_score(cards[:n]).total for n in range(2, len(cards) + 1)}
