"""Facts about holds, incidents, voids."""

from __future__ import annotations

from typing import Any, Literal

from controller.facts.base import Fact, Json


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

    SECRET = ("cause", "cards", "ledger", "note")
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
    note: str = ""


class IncidentResolved(Fact, frozen=True, kw_only=True, tag="incident_resolved"):
    """A supervisor, or a named policy, chose one of the legal resolutions. ``card``: entered by hand."""

    SECRET = ("card",)
    incident: int
    resolution: str
    reason: str
    by: str
    approved_by: str | None = None
    card: str | None = None


class IncidentAcknowledged(Fact, frozen=True, kw_only=True, tag="incident_acknowledged"):
    """A person has seen that alarm and answers for it by name."""

    incident: int
    by: str


class ApprovalRequested(Fact, frozen=True, kw_only=True, tag="approval_requested"):
    """An action that another person must approve within ``until_ms``; what it would change stays in the journal."""

    SECRET = ("args",)
    approval: int
    action: Literal["enter_card", "correct"]
    by: str
    reason: str
    until_ms: int
    args: Json


class ApprovalGiven(Fact, frozen=True, kw_only=True, tag="approval_given"):
    """Another person agrees; the action follows at once."""

    approval: int
    by: str
    reason: str


class ApprovalRefused(Fact, frozen=True, kw_only=True, tag="approval_refused"):
    """Another person does not agree, nobody answered in time, or its cause is gone: nothing was changed."""

    approval: int
    by: str
    reason: str


class ManualModeChanged(Fact, frozen=True, kw_only=True, tag="manual_mode_changed"):
    """Cards of this round are entered by people; players must be told (REG-05)."""

    manual: bool


class CardCorrected(Fact, frozen=True, kw_only=True, tag="card_corrected"):
    """A published card was not the one on the felt; the value before and after (REG-04, REG-14)."""

    position: str
    card: str
    before: str


class ResultCorrected(Fact, frozen=True, kw_only=True, tag="result_corrected"):
    """A new version of the round's result; the old one stays in the record (M-32). ``voided``: every bet is returned,
    because players decided on what was wrong."""

    supersedes: int
    hands: Json
    outcomes: Any
    roads: Json | None = None
    voided: bool = False
    reason: str
    by: str
    approved_by: str


class CardReassigned(Fact, frozen=True, kw_only=True, tag="card_reassigned"):
    """The last card lies at another place than was due and stays there (M-11..M-13)."""

    position: str
    to: str


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
