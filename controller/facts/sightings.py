"""Facts of a table that the camera watches as well: what the shoe claims, what the camera sees."""

from __future__ import annotations

from controller.facts.base import Fact


class CardClaimed(Fact, frozen=True, kw_only=True, tag="card_claimed"):
    """The shoe read a card that is due at ``position``; it is dealt when the camera sees it there (design page 4)."""

    PUBLIC = False
    position: str
    card: str
    from_hold: bool = False


class CardSighted(Fact, frozen=True, kw_only=True, tag="card_sighted"):
    """What the camera says lies at ``position``: a face, ``**`` for a back, ``??`` unreadable, None for nothing.

    ``age_ms``: how long before this fact it came to lie there. ``reason``: why it is unreadable."""

    PUBLIC = False
    position: str
    card: str | None = None
    age_ms: int = 0
    reason: str = ""
