"""Facts: what is accepted as having happened. The journal is their list, the table state their fold.

A fact class states which of its fields may leave the process: ``PUBLIC`` facts go to the feed, less the fields
named in ``SECRET``. A hidden card is stored in a secret field; its public field shows ``**``.
"""

from __future__ import annotations

import zlib
from typing import Final

import msgspec

from controller.facts.base import (
    Fact,
    Json,
)
from controller.facts.devices import (
    CalibrationSaved,
    ClockStepped,
    DeviceAnswered,
    DeviceCommanded,
    DeviceLost,
    DeviceReported,
    DeviceRestored,
    ReadOutOfGame,
    ReadRepeated,
    TableStarted,
    TagsLeft,
)
from controller.facts.money import (
    BalancesSet,
    BetsAccepted,
    BetsSettled,
    DecisionsTaken,
    FollowClosed,
    FollowOpened,
    FollowsTaken,
    InsuranceTaken,
    RefundsPosted,
    SettlementPosted,
)
from controller.facts.round import (
    BettingClosed,
    BettingOpened,
    CardDealt,
    CardHeld,
    CardRevealed,
    DealerPeeked,
    DecisionClosed,
    DecisionOpened,
    HandSplit,
    InsuranceClosed,
    InsuranceOffered,
    ResultConfirmed,
    RoundResult,
    StepOpened,
)
from controller.facts.shoe import (
    BurnIndicatorDrawn,
    CardBurned,
    CutCardDrawn,
    DealerLoggedOff,
    DealerLoggedOn,
    ShiftEnded,
    ShiftStarted,
    ShoeChangeStarted,
    ShoeEnded,
    ShoeLoaded,
    ShoeOrderKept,
    TableLocked,
    TableUnlocked,
)
from controller.facts.sightings import CardClaimed, CardSighted
from controller.facts.supervision import (
    ApprovalGiven,
    ApprovalRefused,
    ApprovalRequested,
    CardCorrected,
    CardReassigned,
    CardRescanned,
    IncidentAcknowledged,
    IncidentRaised,
    IncidentResolved,
    ManualModeChanged,
    Paused,
    RescanStarted,
    ResultCorrected,
    Resumed,
    RoundVoided,
    ShoeVoided,
    TableReopened,
)

__all__ = [
    "AnyFact",
    "ApprovalGiven",
    "ApprovalRefused",
    "ApprovalRequested",
    "BalancesSet",
    "BetsAccepted",
    "BetsSettled",
    "BettingClosed",
    "BettingOpened",
    "BurnIndicatorDrawn",
    "CalibrationSaved",
    "CardBurned",
    "CardClaimed",
    "CardCorrected",
    "CardDealt",
    "CardHeld",
    "CardReassigned",
    "CardRescanned",
    "CardRevealed",
    "CardSighted",
    "ClockStepped",
    "CutCardDrawn",
    "DealerLoggedOff",
    "DealerLoggedOn",
    "DealerPeeked",
    "DecisionClosed",
    "DecisionOpened",
    "DecisionsTaken",
    "DeviceLost",
    "DeviceAnswered",
    "DeviceCommanded",
    "DeviceReported",
    "DeviceRestored",
    "Fact",
    "FollowClosed",
    "FollowOpened",
    "FollowsTaken",
    "HandSplit",
    "IncidentAcknowledged",
    "IncidentRaised",
    "IncidentResolved",
    "InsuranceClosed",
    "InsuranceOffered",
    "InsuranceTaken",
    "Json",
    "ManualModeChanged",
    "Paused",
    "ReadOutOfGame",
    "ReadRepeated",
    "Record",
    "RefundsPosted",
    "RescanStarted",
    "ResultConfirmed",
    "ResultCorrected",
    "Resumed",
    "RoundResult",
    "RoundVoided",
    "SettlementPosted",
    "ShiftEnded",
    "ShiftStarted",
    "ShoeChangeStarted",
    "ShoeEnded",
    "ShoeLoaded",
    "ShoeOrderKept",
    "ShoeVoided",
    "StepOpened",
    "TableLocked",
    "TableReopened",
    "TableStarted",
    "TableUnlocked",
    "TagsLeft",
    "decode_fact",
    "encode_fact",
]

AnyFact = (
    TableStarted | DeviceReported | ReadRepeated | ReadOutOfGame | DeviceLost | DeviceRestored | ShiftStarted
    | ShiftEnded | ShoeChangeStarted | ShoeLoaded | BurnIndicatorDrawn | CardBurned | CutCardDrawn | ShoeEnded
    | BettingOpened | BettingClosed | BetsAccepted | BalancesSet | InsuranceTaken | DecisionsTaken
    | FollowOpened | FollowsTaken | FollowClosed | BetsSettled | SettlementPosted | RefundsPosted | StepOpened
    | CardDealt | CardRevealed | CardHeld | InsuranceOffered | InsuranceClosed | DealerPeeked | DecisionOpened
    | DecisionClosed | HandSplit | RoundResult | Paused | Resumed | RescanStarted | CardRescanned
    | IncidentRaised | IncidentResolved | RoundVoided | ShoeVoided | TableReopened | IncidentAcknowledged
    | ApprovalRequested | ApprovalGiven | ApprovalRefused | ManualModeChanged | CardCorrected | ResultCorrected
    | CardReassigned | DealerLoggedOn | DealerLoggedOff | TableLocked | TableUnlocked | ResultConfirmed
    | CardClaimed | CardSighted | ShoeOrderKept | ClockStepped | TagsLeft
    | DeviceCommanded | DeviceAnswered | CalibrationSaved
)  # fmt: skip

_decoder: msgspec.json.Decoder[Fact] = msgspec.json.Decoder(AnyFact)
_encoder = msgspec.json.Encoder()
#: Facts of this many bytes are stored compressed: batches of thousands of rows, which shrink to a tenth or less.
LONG: Final = 16 * 1024
#: No fact unpacks to more; a journal that says otherwise is damaged.
LONGEST: Final = 64 * 1024 * 1024
_ZLIB: Final = b"\x78"  # JSON never begins with it


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
    """The fact as the journal stores it, secrets included: JSON, a long one in zlib's format."""
    body = _encoder.encode(fact)
    return body if len(body) < LONG else zlib.compress(body, level=1)


def decode_fact(body: bytes) -> Fact:
    """The inverse of ``encode_fact``. Raises ``msgspec.DecodeError`` for anything else."""
    if body.startswith(_ZLIB):
        unpacking = zlib.decompressobj()
        try:
            body = unpacking.decompress(body, LONGEST)
        except zlib.error as error:
            raise msgspec.DecodeError(f"a long fact cannot be unpacked: {error}") from error
        if not unpacking.eof or unpacking.unused_data:
            raise msgspec.DecodeError("a long fact is not whole")
    return _decoder.decode(body)
