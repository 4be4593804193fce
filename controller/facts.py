"""Facts: what is accepted as having happened. The journal is their list, the table state their fold.

A fact class states which of its fields may leave the process: ``PUBLIC`` facts go to the feed, less the fields
named in ``SECRET``. A hidden card is stored in a secret field; its public field shows ``**``.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec

from controller.book.rows import Balance, Bet, Decision, Follow, Insurance, Paid, Refund
from controller.cards import HIDDEN

Json = dict[str, Any]


class Fact(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """Base of all facts."""

    PUBLIC: ClassVar[bool] = True
    SECRET: ClassVar[tuple[str, ...]] = ()

    @property
    def type(self) -> str:
        """The fact's name in journal and feed."""
        return type(self).__struct_config__.tag  # type: ignore[return-value]

    def public_data(self) -> Json:
        """What subscribers see: every field but the secret ones."""
        data: Json = msgspec.to_builtins(self)
        del data["type"]
        for name in self.SECRET:
            data.pop(name, None)
        return data

    def masked_data(self) -> Json:
        """What a reader of the journal sees: a fact that was never public keeps its cards to itself."""
        data = self.public_data()
        return data if self.PUBLIC else _without_cards(data)


#: Keys of device reports that tell a card, or the tag that stands for one.
_TELLING = frozenset({"card", "cards", "beside", "raw", "tag"})


def _without_cards(data: Json) -> Json:
    return {
        key: HIDDEN if key in _TELLING else _without_cards(value) if isinstance(value, dict) else value
        for key, value in data.items()
    }


# --- the process and its devices -------------------------------------------------------------------------------


class TableStarted(Fact, frozen=True, kw_only=True, tag="table_started"):
    """The service started: the epoch grows by one, every device is unheard of until it reports."""

    PUBLIC = False
    epoch: int
    program: str
    config_digest: str
    config: str


class DeviceReported(Fact, frozen=True, kw_only=True, tag="device_reported"):
    """A shoe event that moves no card, kept for the record."""

    PUBLIC = False
    device: str
    event: Json
    #: ``defer``: it came during a hold and waits; ``act``: it takes effect; else it is only kept for the record.
    use: Literal["record", "defer", "act"] = "record"


class ReadRepeated(Fact, frozen=True, kw_only=True, tag="read_repeated"):
    """The shoe reported a card again that is already accounted for; nothing was dealt."""

    PUBLIC = False
    card: str
    position: str | None = None


class ReadOutOfGame(Fact, frozen=True, kw_only=True, tag="read_out_of_game"):
    """A card was read while no shoe is in play, the table is voided (M-33) or a device babbles; nothing was dealt."""

    PUBLIC = False
    card: str


class DeviceLost(Fact, frozen=True, kw_only=True, tag="device_lost"):
    """A device, or the game server, is not heard; the table holds."""

    device: str
    reason: str


class DeviceRestored(Fact, frozen=True, kw_only=True, tag="device_restored"):
    """The device is heard again."""

    device: str


# --- shift and shoe --------------------------------------------------------------------------------------------


class ShiftStarted(Fact, frozen=True, kw_only=True, tag="shift_started"):
    """A supervisor opened the table."""

    by: str


class ShiftEnded(Fact, frozen=True, kw_only=True, tag="shift_ended"):
    """A supervisor closed the table."""

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


# --- the round -------------------------------------------------------------------------------------------------


class BettingOpened(Fact, frozen=True, kw_only=True, tag="betting_opened"):
    """A round begins. ``until_ms`` counts from the fact's own time, here and everywhere."""

    SECRET = ("round", "book")
    round: str
    book: bool = False
    until_ms: int
    last_round: bool
    #: A shuffling machine holds all 416 cards again (BAC-02, ``shuffle = "every_round"``).
    reshuffled: bool = False


class BettingClosed(Fact, frozen=True, kw_only=True, tag="betting_closed"):
    """No more bets. ``seats``: the occupied ones of a seated game, in dealing order."""

    by: str
    seats: tuple[int, ...] = ()


class BetsAccepted(Fact, frozen=True, kw_only=True, tag="bets_accepted"):
    """A batch of bets that stand. Who bet what stays in the journal."""

    SECRET = ("rows",)
    count: int
    total: int
    rows: tuple[Bet, ...]


class BalancesSet(Fact, frozen=True, kw_only=True, tag="balances_set"):
    """Accounts of the embedded wallet set from outside."""

    PUBLIC = False
    rows: tuple[Balance, ...]


class InsuranceTaken(Fact, frozen=True, kw_only=True, tag="insurance_taken"):
    """A batch of insurance."""

    PUBLIC = False
    rows: tuple[Insurance, ...]


class DecisionsTaken(Fact, frozen=True, kw_only=True, tag="decisions_taken"):
    """A batch of decisions."""

    PUBLIC = False
    rows: tuple[Decision, ...]


class FollowOpened(Fact, frozen=True, kw_only=True, tag="follow_opened"):
    """Bettors behind may follow the split or double of the hand ``line`` (BJ7-29, BJ7-30)."""

    PUBLIC = False
    line: str
    kind: Literal["split", "double"]


class FollowsTaken(Fact, frozen=True, kw_only=True, tag="follows_taken"):
    """A batch of their answers."""

    PUBLIC = False
    rows: tuple[Follow, ...]


class FollowClosed(Fact, frozen=True, kw_only=True, tag="follow_closed"):
    """No more answers; who gave none declined."""

    PUBLIC = False
    line: str


class BetsSettled(Fact, frozen=True, kw_only=True, tag="bets_settled"):
    """What a round comes to, in minor units; stakes are part of what is returned. Void: all of it."""

    SECRET = ("players",)
    version: int
    stake: int
    returned: int
    players: int


class SettlementPosted(Fact, frozen=True, kw_only=True, tag="settlement_posted"):
    """A slice of players is paid."""

    PUBLIC = False
    version: int
    rows: tuple[Paid, ...]


class RefundsPosted(Fact, frozen=True, kw_only=True, tag="refunds_posted"):
    """A slice of players is refunded."""

    PUBLIC = False
    rows: tuple[Refund, ...]


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


class RoundResult(Fact, frozen=True, kw_only=True, tag="round_result"):
    """Hands and outcomes as the rules give them; ``roads`` of this shoe with this result (baccarat)."""

    hands: Json
    outcomes: Any
    roads: Json | None = None


# --- supervision -----------------------------------------------------------------------------------------------


class Paused(Fact, frozen=True, kw_only=True, tag="paused"):
    """A hold with its name, reason and person or policy."""

    hold: str
    reason: str
    by: str


class Resumed(Fact, frozen=True, kw_only=True, tag="resumed"):
    """That hold is lifted."""

    hold: str
    reason: str
    by: str


class RescanStarted(Fact, frozen=True, kw_only=True, tag="rescan_started"):
    """The cards on the felt, ``cards`` in number, go past the reader again in the recorded order."""

    PUBLIC = False
    hold: str
    cards: int
    reason: str
    by: str


class CardRescanned(Fact, frozen=True, kw_only=True, tag="card_rescanned"):
    """One card read again. ``extra``: beyond the record, to be placed when the rescan is complete."""

    PUBLIC = False
    card: str
    extra: bool = False


class IncidentRaised(Fact, frozen=True, kw_only=True, tag="incident_raised"):
    """Something the procedure did not allow or could not confirm. ``cause`` and ``cards`` stay in the journal."""

    SECRET = ("cause", "cards", "ledger")
    incident: int
    code: str
    title: str
    expected: str
    actual: str
    resolutions: tuple[str, ...]
    position: str | None = None
    cause: str = ""
    cards: tuple[str, ...] = ()
    #: ``new``: the cards have just left the shoe. ``waiting``: they left it before and waited for a place.
    #: ``known``: as far as anybody can tell they were counted before.
    ledger: Literal["new", "waiting", "known"] = "new"


class IncidentResolved(Fact, frozen=True, kw_only=True, tag="incident_resolved"):
    """A supervisor, or a named policy, chose one of the legal resolutions."""

    incident: int
    resolution: str
    reason: str
    by: str


class RoundVoided(Fact, frozen=True, kw_only=True, tag="round_voided"):
    """Every bet of the round is refunded; ``shoe``: the shoe goes out too."""

    reason: str
    by: str
    shoe: bool


class ShoeVoided(Fact, frozen=True, kw_only=True, tag="shoe_voided"):
    """The shoe goes out between rounds; a round that was settled stays settled."""

    reason: str
    by: str


class TableReopened(Fact, frozen=True, kw_only=True, tag="table_reopened"):
    """A supervisor lets the table go on after a void."""

    reason: str
    by: str


AnyFact = (
    TableStarted | DeviceReported | ReadRepeated | ReadOutOfGame | DeviceLost | DeviceRestored | ShiftStarted
    | ShiftEnded | ShoeChangeStarted | ShoeLoaded | BurnIndicatorDrawn | CardBurned | CutCardDrawn | ShoeEnded
    | BettingOpened | BettingClosed | BetsAccepted | BalancesSet | InsuranceTaken | DecisionsTaken
    | FollowOpened | FollowsTaken | FollowClosed | BetsSettled | SettlementPosted | RefundsPosted | StepOpened
    | CardDealt | CardRevealed | CardHeld | InsuranceOffered | InsuranceClosed | DealerPeeked | DecisionOpened
    | DecisionClosed | HandSplit | RoundResult | Paused | Resumed | RescanStarted | CardRescanned
    | IncidentRaised | IncidentResolved | RoundVoided | ShoeVoided | TableReopened
)  # fmt: skip

_decoder: msgspec.json.Decoder[Fact] = msgspec.json.Decoder(AnyFact)
_encoder = msgspec.json.Encoder()


class Record(msgspec.Struct, frozen=True):
    """A fact with its place in the table's history: the context its frame carries."""

    fact: Fact
    n: int
    seq: int | None
    shoe: str | None
    round: str | None
    round_in_shoe: int | None
    version: int


def encode_fact(fact: Fact) -> bytes:
    """The fact as the journal stores it, secrets included."""
    return _encoder.encode(fact)


def decode_fact(body: bytes) -> Fact:
    """The inverse of ``encode_fact``. Raises ``msgspec.DecodeError`` for anything else."""
    return _decoder.decode(body)
