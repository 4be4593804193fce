"""The game that an Angel Eye shoe knows, written from the rules page (section 4) and from nothing else.

It must stay independent of ``controller.rules``: a shoe that computes its own result is a second opinion.
"""

from __future__ import annotations

from typing import Final, Literal

from controller.cards import RANKS

Side = Literal["player", "banker"]

# BAC-10: which third card of the player makes the banker draw, by the banker's two-card value.
_BANKER_DRAWS: Final = ("0123456789", "0123456789", "0123456789", "012345679", "234567", "4567", "67", "")


def points(cards: list[str]) -> int:
    """The value of a hand (BAC-05, BAC-06)."""
    return sum(min(RANKS.index(card[0]) + 1, 10) for card in cards) % 10


class Hand:
    """One round from the first card to the result."""

    def __init__(self) -> None:
        self.player: list[str] = []
        self.banker: list[str] = []

    @property
    def empty(self) -> bool:
        """True before the first card."""
        return not self.player

    def next_place(self) -> tuple[Side, int] | None:
        """Where the next card goes, index from 1; None if the round is over."""
        if len(self.banker) < 2:
            side: Side = "player" if len(self.player) == len(self.banker) else "banker"
            return side, len(self.banker if side == "banker" else self.player) + 1
        player, banker = points(self.player[:2]), points(self.banker[:2])
        if player >= 8 or banker >= 8 or len(self.banker) == 3:
            return None
        if len(self.player) == 2:
            if player <= 5:
                return "player", 3
            return ("banker", 3) if banker <= 5 else None
        third = str(points(self.player[2:]))
        return ("banker", 3) if third in _BANKER_DRAWS[banker] else None

    def add(self, card: str) -> tuple[Side, int]:
        """Put ``card`` in its place. Raises ``ValueError`` if the round is over."""
        place = self.next_place()
        if place is None:
            raise ValueError("the round is over")
        (self.player if place[0] == "player" else self.banker).append(card)
        return place

    def remove(self, side: Side) -> None:
        """Take the last card of ``side`` away again."""
        (self.player if side == "player" else self.banker).pop()

    def placed(self) -> list[tuple[Side, int, str]]:
        """The cards in the order in which they were dealt."""
        hands: tuple[tuple[Side, list[str]], ...] = (("player", self.player), ("banker", self.banker))
        return [(side, index + 1, cards[index]) for index in range(3) for side, cards in hands if index < len(cards)]

    def winner(self) -> Literal["player", "banker", "tie"]:
        """Who has the higher value (BAC-11)."""
        player, banker = points(self.player), points(self.banker)
        if player == banker:
            return "tie"
        return "player" if player > banker else "banker"

    def pairs(self) -> tuple[bool, bool]:
        """Whether the first two cards of player and banker are of one rank."""
        return self.player[0][0] == self.player[1][0], self.banker[0][0] == self.banker[1][0]
