"""What a shoe driver says happened, in physical order.

Every driver reports in these types and no others. A face is a card (``"TD"``) or ``controller.cards.HIDDEN``;
no driver turns bytes it cannot read into a card: that is ``NoRead`` or ``UnknownCode``.
"""

from __future__ import annotations

from typing import Literal

import msgspec

TargetName = Literal["player", "banker", "burn", "first", "burn_left"]
Winner = Literal["player", "banker", "tie", "forced", "banker_six"]


class Event(msgspec.Struct, frozen=True, tag_field="event", omit_defaults=True):
    """Base of all shoe events; ``msgspec.json.encode`` gives the form that ``dealerd decode`` prints."""


class CardDrawn(Event, frozen=True, tag="card_drawn"):
    """A card left the shoe. ``target`` is set by shoes that know the game (Angel Eye), else None.

    Here and below ``index`` is as on the wire: 1-based for player and banker. ``tag`` is the number of its tag, if it
    has one, and no more public than a hidden card."""

    card: str
    target: TargetName | None = None
    index: int | None = None
    tag: str | None = None


class CardRevealed(Event, frozen=True, tag="card_revealed"):
    """The face of a card drawn hidden before."""

    card: str
    target: TargetName
    index: int


class CardReused(Event, frozen=True, tag="card_reused"):
    """An over-drawn card is the first card of this hand."""

    card: str
    target: TargetName
    index: int


class OutOfGame(Event, frozen=True, tag="out_of_game"):
    """A card left the shoe outside the game the shoe knows."""

    card: str
    target: TargetName
    index: int


class OverdrawnDiscarded(Event, frozen=True, tag="overdrawn_discarded"):
    """An over-drawn card was put away; its face."""

    card: str
    target: TargetName
    index: int


class NoRead(Event, frozen=True, tag="no_read"):
    """A card left the shoe and the reader said it could not read it (``NR``, ``ERROR``, ``NOREAD`` …)."""

    raw: str


class UnknownCode(Event, frozen=True, tag="unknown_code"):
    """Something was read that is no card and no known message; ``raw`` as received, non-ASCII escaped."""

    raw: str


class TagUnknown(UnknownCode, frozen=True, tag="tag_unknown"):
    """A card left the shoe whose tag is in no registry of this table: a card that was never enrolled.

    This and the next three are readings of an RFID reader that identify no card to be dealt, so each is an
    ``UnknownCode``, too. ``raw`` says so in words and names neither tag nor face; ``tag`` is the tag's number (16 hex
    digits, ``E0`` first) and no more public than a hidden card."""

    tag: str


class TagForeign(UnknownCode, frozen=True, tag="tag_foreign"):
    """A card of another shoe came out of this one: ``owner`` is the name of the shoe whose registry has its tag."""

    tag: str
    card: str
    owner: str


class TagRepeated(UnknownCode, frozen=True, tag="tag_repeated"):
    """A card passes the mouth that has left this shoe before: put back, shown again, or a double of its tag.

    When the felt is read again on request, this is how its cards are heard."""

    tag: str
    card: str


class TagsTogether(UnknownCode, frozen=True, tag="tags_together"):
    """Cards left the shoe together or too closely: which of them came first is not known.

    ``cards`` are the faces of those not told before, in the order of their names (``HIDDEN`` for a tag that is not
    this shoe's); ``beside`` are the faces of cards that were told before and are still at the mouth. ``tags`` are the
    numbers of those of this shoe, in order of number."""

    cards: tuple[str, ...]
    beside: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class Repeated(Event, frozen=True, tag="repeated"):
    """The identical reading again within the device's repeat window: the same card, not a second one."""

    card: str


class CutCard(Event, frozen=True, tag="cut_card"):
    """The cut card left the shoe. ``tag`` as in ``CardDrawn``."""

    tag: str | None = None


class Started(Event, frozen=True, tag="started"):
    """The shoe booted: cards drawn just before may be missing from its telegrams."""


class StandBy(Event, frozen=True, tag="standby"):
    """The shoe closed its hand."""


class RoundResult(Event, frozen=True, tag="round_result"):
    """The result as the shoe computed it."""

    winner: Winner
    player_pair: bool
    banker_pair: bool


class ErrorRaised(Event, frozen=True, tag="error_raised"):
    """The shoe reports an error (Angel Eye codes, hardware page 1.1)."""

    code: int
    error_mode: bool


class ErrorCleared(Event, frozen=True, tag="error_cleared"):
    """The shoe reports an error as cancelled."""

    code: int
    error_mode: bool


class Lock(Event, frozen=True, tag="lock"):
    """The shoe's exit lock changed."""

    locked: bool


class Preset(Event, frozen=True, tag="preset"):
    """A setting of the shoe changed."""

    address: str
    value: str


class Gap(Event, frozen=True, tag="gap"):
    """At least one telegram is missing, or its bytes arrived damaged; order is not proven from here on."""

    after_seq: str
    seq: str


class PortLost(Event, frozen=True, tag="port_lost"):
    """The line to the device is gone. Sent once; cards drawn from now on are not heard."""

    reason: str


class PortRestored(Event, frozen=True, tag="port_restored"):
    """The line to the device is back (sent at the first open, too)."""

    port: str


ShoeEvent = (
    CardDrawn
    | CardRevealed
    | CardReused
    | OutOfGame
    | OverdrawnDiscarded
    | NoRead
    | UnknownCode
    | TagUnknown
    | TagForeign
    | TagRepeated
    | TagsTogether
    | Repeated
    | CutCard
    | Started
    | StandBy
    | RoundResult
    | ErrorRaised
    | ErrorCleared
    | Lock
    | Preset
    | Gap
    | PortLost
    | PortRestored
)
