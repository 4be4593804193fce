"""Facts about shift and shoe."""

from __future__ import annotations

from controller.facts.base import Fact, Json


class ShiftStarted(Fact, frozen=True, kw_only=True, tag="shift_started"):
    """A supervisor opened the table. ``dealers``: who is assigned to it; none named: anybody with a dealer's key."""

    by: str
    dealers: tuple[str, ...] = ()


class ShiftEnded(Fact, frozen=True, kw_only=True, tag="shift_ended"):
    """A supervisor closed the table."""

    by: str


class DealerLoggedOn(Fact, frozen=True, kw_only=True, tag="dealer_logged_on"):
    """This dealer deals from now on (REG-22)."""

    dealer: str


class DealerLoggedOff(Fact, frozen=True, kw_only=True, tag="dealer_logged_off"):
    """The dealer left; ``by`` names who said so."""

    dealer: str
    by: str


class TableLocked(Fact, frozen=True, kw_only=True, tag="table_locked"):
    """Nobody touched the table for too long: no betting opens until somebody logs on again (REG-22)."""

    reason: str


class TableUnlocked(Fact, frozen=True, kw_only=True, tag="table_unlocked"):
    """Somebody is there again."""

    by: str


class ShoeChangeStarted(Fact, frozen=True, kw_only=True, tag="shoe_change_started"):
    """The old shoe goes out."""

    reason: str


class ShoeLoaded(Fact, frozen=True, kw_only=True, tag="shoe_loaded"):
    """416 shuffled cards are in the shoe; ``shoe`` is its id."""

    shoe: str
    by: str


class BurnIndicatorDrawn(Fact, frozen=True, kw_only=True, tag="burn_indicator_drawn"):
    """The first card of the shoe, exposed; ``count`` cards follow face down (SHOE-07, SHOE-08)."""

    SECRET = ("from_hold",)
    card: str
    count: int
    from_hold: bool = False


class CardBurned(Fact, frozen=True, kw_only=True, tag="card_burned"):
    """A card burned face down (SHOE-09, SHOE-11)."""

    SECRET = ("card", "key", "from_hold")
    done: int
    of: int
    card: str
    key: str = ""
    commitment: str | None = None
    from_hold: bool = False


class CutCardDrawn(Fact, frozen=True, kw_only=True, tag="cut_card_drawn"):
    """The cut card is out; ``last_round`` is the number in this shoe of the last round (A-01)."""

    last_round: int


class ShoeEnded(Fact, frozen=True, kw_only=True, tag="shoe_ended"):
    """No further round on this shoe. ``burn_keys`` open the commitments of cards that were never shown."""

    burn_keys: list[Json]


class ShoeOrderKept(Fact, frozen=True, kw_only=True, tag="shoe_order_kept"):
    """Keyed hashes of the runs of an ended shoe's cards: a later shoe in the same order is not shuffled (M-29)."""

    PUBLIC = False
    runs: tuple[int, ...]
