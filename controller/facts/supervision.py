"""Facts about holds, incidents, voids."""

from __future__ import annotations

from typing import Literal

from controller.facts.base import Fact


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
