"""Cards and odds as the rules page states them, written for the soak alone.

Nothing here comes from ``controller.rules``, ``controller.book`` or ``controller.table``: it is what they are checked
against.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

#: BAC-10: the third cards of PLAYER (as points) on which BANKER draws, by BANKER's two cards.
_BANKER_DRAWS: Final = {3: "012345679", 4: "234567", 5: "4567", 6: "67", 7: ""}
_ACE_LOW: Final = "A23456789TJQK"
_ACE_HIGH: Final = "23456789TJQKA"


class Broken(Exception):
    """Something that must always hold does not; the message says what."""


def must(holds: bool, what: str) -> None:
    """Raise ``Broken`` unless ``holds``."""
    if not holds:
        raise Broken(what)


def total(cards: Sequence[str]) -> int:
    """The best blackjack total (BJS-10)."""
    points, aces = 0, 0
    for card in cards:
        rank = card[0]
        if rank == "A":
            aces += 1
            points += 11
        else:
            points += 10 if rank in "TJQK" else int(rank)
    while points > 21 and aces:
        points -= 10
        aces -= 1
    return points


def ten_or_ace(card: str) -> bool:
    """An up-card behind which a Blackjack can lie."""
    return card[0] in "ATJQK"


def natural(cards: Sequence[str]) -> bool:
    """Two cards worth 21."""
    return len(cards) == 2 and total(cards) == 21


def points(cards: Sequence[str]) -> int:
    """A baccarat hand's value (BAC-05, BAC-06)."""
    return sum(1 if c[0] == "A" else 0 if c[0] in "TJQK" else int(c[0]) for c in cards) % 10


def coup_due(player: Sequence[str], banker: Sequence[str]) -> str | None:
    """Whose card is next; None when the coup is complete (BAC-03, BAC-07..10)."""
    if len(player) + len(banker) < 4:
        return "player" if len(player) == len(banker) else "banker"
    if len(banker) == 3 or (len(player) == len(banker) == 2 and max(points(player), points(banker)) >= 8):
        return None
    if len(player) == 2:
        return "player" if points(player) <= 5 else "banker" if points(banker) <= 5 else None
    return "banker" if str(points(player[2:])) in _BANKER_DRAWS.get(points(banker), "0123456789") else None


def coup_paid(bet: str, stake: int, player: Sequence[str], banker: Sequence[str]) -> int:
    """What a baccarat bet returns, stake included."""
    mine, theirs = points(player), points(banker)
    winner = "PLAYER" if mine > theirs else "BANKER" if theirs > mine else "TIE"
    if bet == winner:
        return stake * {"PLAYER": 200, "BANKER": 195, "TIE": 900}[winner] // 100
    return stake if winner == "TIE" else 0


def _trio(cards: Sequence[str]) -> tuple[list[str], bool, bool]:
    """Ranks, all of one suit, in a row with the ace at either end."""
    ranks = sorted(c[0] for c in cards)
    orders = ([_ACE_LOW.index(r) for r in ranks], [_ACE_HIGH.index(r) for r in ranks])
    rows = [all(b - a == 1 for a, b in pairwise(sorted(order))) for order in orders]
    return ranks, len({c[1] for c in cards}) == 1, any(rows)


def side_odds(bet: str, hand: Sequence[str], dealer: Sequence[str]) -> int | None:
    """Profit per unit of a side bet, None if it loses (PAY-S, BJ7-46). ``hand``: its first two cards."""
    a, b = hand
    if bet == "pair":
        return 11 if a[0] == b[0] else None
    if bet == "pairs":
        if a[0] != b[0]:
            return None
        return 30 if a[1] == b[1] else 10 if (a[1] in "HD") == (b[1] in "HD") else 5
    if bet == "bust_bonus":
        return {3: 1, 4: 2, 5: 9, 6: 50, 7: 100}.get(len(dealer), 250) if total(dealer) > 21 else None
    ranks, suited, in_a_row = _trio([*hand, dealer[0]])
    if bet == "poker_trio":
        return _poker_trio("trips" if len(set(ranks)) == 1 else "straight" if in_a_row else "", suited)
    return _lucky_trio(ranks, suited)


def _poker_trio(kind: str, suited: bool) -> int | None:
    paid = {
        ("trips", True): 100, ("straight", True): 40, ("trips", False): 30, ("straight", False): 10, ("", True): 5,
    }  # fmt: skip
    return paid.get((kind, suited))


def _lucky_trio(ranks: list[str], suited: bool) -> int | None:
    if ranks == ["7", "7", "7"]:
        return 200 if suited else 50
    if ranks == ["6", "7", "8"]:
        return 100 if suited else 30
    sums = {0}
    for rank in ranks:
        values = (1, 11) if rank == "A" else (10,) if rank in "TJQK" else (int(rank),)
        sums = {s + v for s in sums for v in values}
    if 21 in sums:
        return 10 if suited else 3
    return 2 if sums & {19, 20} else None


def ends(mine: Sequence[str], dealer: Sequence[str], parted: bool) -> str:
    """How a hand ends against the dealer's (BJS-63..66)."""
    black = natural(mine) and not parted
    if total(mine) > 21:
        return "bust"
    if natural(dealer):
        return "push" if black else "lose"
    if black:
        return "bj"
    if total(dealer) > 21 or total(mine) > total(dealer):
        return "win"
    return "push" if total(mine) == total(dealer) else "lose"
