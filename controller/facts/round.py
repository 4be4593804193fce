"""Facts about a round, from betting to result."""

from __future__ import annotations

from typing import Any

from controller.facts.base import Fact, Json


class BettingOpened(Fact, frozen=True, kw_only=True, tag="betting_opened"):
    """A round begins. ``until_ms`` counts from the fact's own time, here and everywhere."""

    SECRET = ("round", "book")
    round: str
    book: bool = False
    until_ms: int
    last_round: bool
    #: A shuffling machine holds all 416 cards again (BAC-02, ``shuffle = "every_round"``).
    reshuffled: bool = False
    #: Side bets offered in this round of the shoe (SHOE-13).
    side_bets_open: tuple[str, ...] = ()


class BettingClosed(Fact, frozen=True, kw_only=True, tag="betting_closed"):
    """No more bets. ``seats``: the occupied ones of a seated game, in dealing order."""

    by: str
    seats: tuple[int, ...] = ()


class StepOpened(Fact, frozen=True, kw_only=True, tag="step_opened"):
    """What the procedure demands now. ``kept_ms``: what the interrupted step had left, when a hold begins."""

    SECRET = ("kept_ms",)
    step: str
    position: str | None = None
    hidden: bool = False
    others: tuple[str, ...] = ()
    line: str | None = None
    prefix_len: int | None = None
    options: tuple[str, ...] = ()
    left: int | None = None
    again: bool = False
    until_ms: int | None = None
    kept_ms: int | None = None


class CardDealt(Fact, frozen=True, kw_only=True, tag="card_dealt"):
    """A card is at its position. ``face`` is the card itself, ``card`` what may be shown of it."""

    SECRET = ("face", "key", "from_hold")
    position: str
    card: str
    face: str
    key: str = ""
    commitment: str | None = None
    validated_by: tuple[str, ...] = ("shoe",)
    from_hold: bool = False


class CardRevealed(Fact, frozen=True, kw_only=True, tag="card_revealed"):
    """A face is turned. ``key`` (hex) opens the commitment published at the deal, if there was one."""

    position: str
    card: str
    key: str | None = None


class CardHeld(Fact, frozen=True, kw_only=True, tag="card_held"):
    """A card left the shoe while the table was held; it takes its place when play goes on."""

    SECRET = ("card",)
    card: str
    position: str


class InsuranceOffered(Fact, frozen=True, kw_only=True, tag="insurance_offered"):
    """The dealer shows an ace (BJS-22)."""

    until_ms: int


class InsuranceClosed(Fact, frozen=True, kw_only=True, tag="insurance_closed"):
    """No more insurance."""

    by: str


class DealerPeeked(Fact, frozen=True, kw_only=True, tag="dealer_peeked"):
    """The one bit of the hole card that is published before its reveal (BJS-24)."""

    blackjack: bool


class DecisionOpened(Fact, frozen=True, kw_only=True, tag="decision_opened"):
    """A decision window for hands that are the first ``prefix_len`` cards of ``line``."""

    line: str
    prefix_len: int
    options: tuple[str, ...]
    until_ms: int


class DecisionClosed(Fact, frozen=True, kw_only=True, tag="decision_closed"):
    """The window is locked; ``draw``: somebody needs a card on the line."""

    SECRET = ("key",)
    line: str
    prefix_len: int
    draw: bool
    split: bool = False
    key: str = ""


class HandSplit(Fact, frozen=True, kw_only=True, tag="hand_split"):
    """A hand lies as two: these lines begin with its cards (BJS-54, BJ7-23)."""

    lines: tuple[str, str]


class ResultConfirmed(Fact, frozen=True, kw_only=True, tag="result_confirmed"):
    """The dealer, or for him the supervisor, says that the cards on the felt are those on the screen (M-24)."""

    by: str


class RoundResult(Fact, frozen=True, kw_only=True, tag="round_result"):
    """Hands and outcomes as the rules give them; ``roads`` of this shoe with this result (baccarat)."""

    hands: Json
    outcomes: Any
    roads: Json | None = None
