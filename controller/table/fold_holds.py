"""How facts of supervision change the table: holds, incidents, rescans, voids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from controller import facts as f
from controller.cards import HIDDEN, is_card
from controller.rules.round import Round
from controller.table.incidents import Incident
from controller.table.lines import cards_by_line
from controller.table.order import UNSEEN
from controller.table.state import DEAL_PHASES, Approval, Hold, Pending, Rescan, Sealed, TableState


def unqueue(state: TableState, card: str, position: str | None) -> Pending:
    """Take the waiting card that got this place: the one that was due there, or one that was due elsewhere when it
    came; a kept one may have to wait longer than those behind it, and a claim has its own place."""

    def fits(p: Pending) -> int | None:
        if p.card != card:
            return 4 if p.origin == "kept" and p.card == HIDDEN else None
        if p.origin == "kept":
            return 3
        if p.position == position:
            return 0
        if None in (position, p.position):
            return 1
        return None if p.origin == "claimed" else 2

    ranked = [(rank, i) for i, p in enumerate(state.pending) if (rank := fits(p)) is not None]
    at = min(ranked)[1] if ranked else 0
    taken = state.pending[at]
    state.pending = (*state.pending[:at], *state.pending[at + 1 :])
    return taken


def _paused(state: TableState, fact: f.Paused, now: int) -> None:  # noqa: ARG001
    state.holds[fact.hold] = Hold(fact.hold, fact.reason, fact.by)


def _resumed(state: TableState, fact: f.Resumed, now: int) -> None:  # noqa: ARG001
    state.holds.pop(fact.hold, None)
    if state.rescan is not None and state.rescan.hold == fact.hold:
        state.rescan = None


def break_off_rescan(state: TableState) -> None:
    """Forget how far the cards were read again: readings may have been lost, so the next reading begins anew."""
    for found in (p for p in state.pending if p.origin == "found"):
        assert state.shoe is not None
        state.shoe.uncount(found.card)
    state.pending = tuple(p for p in state.pending if p.origin != "found")
    state.rescan = None


def _rescan_started(state: TableState, fact: f.RescanStarted, now: int) -> None:  # noqa: ARG001
    break_off_rescan(state)
    state.failed_rescan = None
    state.rescan = Rescan(fact.hold, state.on_felt, fact.cards)


def _card_rescanned(state: TableState, fact: f.CardRescanned, now: int) -> None:  # noqa: ARG001
    assert state.rescan is not None
    state.rescan = replace(state.rescan, done=state.rescan.done + 1)
    if fact.extra:
        state.pending = (*state.pending, Pending(fact.card, "found"))
        if state.shoe is not None:
            state.shoe.count(fact.card)


def _incident_raised(state: TableState, fact: f.IncidentRaised, now: int) -> None:  # noqa: ARG001
    if fact.ledger == "waiting":
        unqueue(state, fact.cards[0], fact.position)
    elif fact.ledger == "new" and state.shoe is not None:
        for card in fact.cards:
            state.shoe.count(card)
    state.incident_count = fact.incident
    state.alarms |= {fact.incident}
    state.incidents[fact.incident] = Incident(
        fact.incident, fact.code, fact.cause, fact.cards, fact.position, fact.resolutions
    )
    state.holds[f"incident:{fact.incident}"] = Hold("incident", f"{fact.code} {fact.title}", "policy:procedure")
    if state.rescan is not None:
        state.rescan, state.failed_rescan = None, fact.incident


def _incident_resolved(state: TableState, fact: f.IncidentResolved, now: int) -> None:  # noqa: ARG001
    incident = state.incidents.pop(fact.incident)
    if state.failed_rescan == fact.incident:
        state.failed_rescan = None
    state.holds.pop(f"incident:{fact.incident}", None)
    if fact.resolution == "use_as_next" and incident.cards:
        state.pending = (*state.pending, *(Pending(card, "kept") for card in incident.cards))
    if not fact.by.startswith("policy:"):
        state.alarms -= {fact.incident}
    if fact.resolution == "enter_card" and incident.unread and fact.card is not None and state.shoe is not None:
        # It left the shoe before any card that waits behind it, and was counted without a face.
        state.shoe.identify(fact.card)
        state.pending = (Pending(fact.card, "entered", incident.position), *state.pending)
    _settle_claim(state, incident, fact)
    if incident.cause == "M-03":
        _answered_for(state, incident.position)
    state.foreseen.pop(incident.position or "", None)
    if fact.resolution == "rescan" and incident.unread:
        state.reread = True
        for card in incident.cards:
            assert state.shoe is not None
            state.shoe.uncount(card)
    if incident.cause == "M-28" and state.shoe is not None:
        state.shoe.reconciled = True
    if incident.cause == "M-24" and state.round is not None and state.round_open:
        state.round.confirmed = True
    elif incident.cause == "M-24":
        state.standby = True
    if state.rescan is not None and state.rescan.hold == f"incident:{fact.incident}":
        state.rescan = None


def _settle_claim(state: TableState, incident: Incident, fact: f.IncidentResolved) -> None:
    """A person decided about a card that the camera did not confirm: it stands, was another one, or is read again."""
    at = next(
        (i for i, p in enumerate(state.pending) if p.origin == "claimed" and p.position == incident.position), None
    )
    if at is None or incident.cause not in ("M-03", "M-15"):
        return
    assert state.shoe is not None
    claim = state.pending[at]
    instead: tuple[Pending, ...] = ()
    if fact.resolution == "resume":
        instead = (replace(claim, origin="vouched"),)
    elif fact.resolution == "enter_card" and fact.card is not None:
        state.shoe.uncount(claim.card)
        state.shoe.count(fact.card)
        instead = (Pending(fact.card, "entered", claim.position),)
    elif fact.resolution == "rescan":
        state.shoe.uncount(claim.card)
        state.reread = True
        state.sighted.pop(claim.position or "", None)
    else:
        return
    state.pending = (*state.pending[:at], *instead, *state.pending[at + 1 :])


def _card_claimed(state: TableState, fact: f.CardClaimed, now: int) -> None:  # noqa: ARG001
    assert state.shoe is not None
    state.reread = False
    if not fact.from_hold:
        state.shoe.count(fact.card)
    elif unqueue(state, fact.card, fact.position).card == HIDDEN != fact.card:
        state.shoe.identify(fact.card)
    state.pending = (*state.pending, Pending(fact.card, "claimed", fact.position))
    if fact.card != HIDDEN:
        state.foreseen.pop(fact.position, None)


def _card_sighted(state: TableState, fact: f.CardSighted, now: int) -> None:  # noqa: ARG001
    if fact.card is None:
        state.sighted.pop(fact.position, None)
    else:
        state.sighted[fact.position] = fact.card
        if is_card(fact.card) and _untold(state, fact.position):
            state.foreseen.setdefault(fact.position, fact.card)
        if state.round is not None and state.round.at(fact.position) == fact.card:
            _answered_for(state, fact.position)


def _untold(state: TableState, position: str) -> bool:
    """No source but the camera has named a face for ``position``."""
    if state.round is None or state.phase not in DEAL_PHASES:
        return False
    claim = next((claim.card for claim in state.claims if claim.position == position), HIDDEN)
    return claim == HIDDEN and state.round.at(position) in (None, HIDDEN)


def _answered_for(state: TableState, position: str | None) -> None:
    """A turned face is no longer the shoe's word alone."""
    if state.round is not None and position in state.round.turned:
        state.round.turned = tuple(place for place in state.round.turned if place != position)


def _acknowledged(state: TableState, fact: f.IncidentAcknowledged, now: int) -> None:  # noqa: ARG001
    state.alarms -= {fact.incident}


def _approval_requested(state: TableState, fact: f.ApprovalRequested, now: int) -> None:
    state.approval_count = fact.approval
    state.approvals[fact.approval] = Approval(fact.approval, fact.action, fact.by, fact.reason, fact.args)
    state.holds["approval"] = Hold("approval", f"{fact.action} waits for another person", fact.by)
    state.approval_due = now + fact.until_ms


def _approval_ended(state: TableState, fact: f.ApprovalGiven | f.ApprovalRefused, now: int) -> None:  # noqa: ARG001
    state.approvals.pop(fact.approval, None)
    if not state.approvals:
        state.holds.pop("approval", None)
        state.approval_due = None


def _manual_mode(state: TableState, fact: f.ManualModeChanged, now: int) -> None:  # noqa: ARG001
    state.manual = fact.manual


def _card_corrected(state: TableState, fact: f.CardCorrected, now: int) -> None:  # noqa: ARG001
    assert state.round is not None
    assert state.shoe is not None
    state.shoe.seen[fact.before] -= 1
    state.shoe.identify(fact.card)
    state.round.correct(fact.position, fact.card)


def _result_corrected(state: TableState, fact: f.ResultCorrected, now: int) -> None:  # noqa: ARG001
    assert state.round is not None
    state.round.version = fact.supersedes + 1
    state.round.outcome = {"hands": fact.hands, "outcomes": fact.outcomes}
    if state.betting is not None and fact.voided:
        state.betting.settle_void()
    elif state.betting is not None:
        state.betting.settle(cards_by_line(state.round))
    if fact.roads is not None and state.shoe is not None:
        del state.shoe.winners[-1:]
        if not fact.voided:
            state.shoe.winners.append(fact.outcomes["winner"])


def _card_reassigned(state: TableState, fact: f.CardReassigned, now: int) -> None:  # noqa: ARG001
    assert state.round is not None
    state.round.move(fact.position, fact.to)


def _result_confirmed(state: TableState, fact: f.ResultConfirmed, now: int) -> None:  # noqa: ARG001
    assert state.round is not None
    state.round.confirmed = True


def _shift_started(state: TableState, fact: f.ShiftStarted, now: int) -> None:  # noqa: ARG001
    state.dealers = fact.dealers


def _logged_on(state: TableState, fact: f.DealerLoggedOn, now: int) -> None:  # noqa: ARG001
    state.dealer = fact.dealer


def _logged_off(state: TableState, fact: f.DealerLoggedOff, now: int) -> None:  # noqa: ARG001
    state.dealer, state.locked, state.idle_due = None, False, None


def _locked(state: TableState, fact: f.TableLocked, now: int) -> None:  # noqa: ARG001
    state.locked, state.idle_due = True, None


def _unlocked(state: TableState, fact: f.TableUnlocked, now: int) -> None:  # noqa: ARG001
    state.locked = False


def _round_voided(state: TableState, fact: f.RoundVoided, now: int) -> None:  # noqa: ARG001
    _voided(state, shoe=fact.shoe, by=fact.by, between=False)
    if state.betting is not None:
        state.betting.void()


def _shoe_voided(state: TableState, fact: f.ShoeVoided, now: int) -> None:  # noqa: ARG001
    _voided(state, shoe=True, by=fact.by, between=True)


def _voided(state: TableState, *, shoe: bool, by: str, between: bool) -> None:
    for number in list(state.incidents):
        if not by.startswith("policy:"):
            state.alarms -= {number}
        del state.incidents[number]
        state.holds.pop(f"incident:{number}", None)
    state.holds.pop("restart", None)
    state.rescan = state.failed_rescan = None
    state.reread = False
    state.pending = state.deferred = ()
    state.sight_due.clear()
    state.standby = True
    if state.shoe is not None:
        state.shoe.void = state.shoe.void or shoe
        if not between:
            note_order(state)
        if state.round is not None:
            state.shoe.sealed += [s for s in _unrevealed(state.round) if s not in state.shoe.sealed]


def note_order(state: TableState) -> None:
    """The cards of a round that has ended, as everybody saw them."""
    round_, shoe = state.round, state.shoe
    if round_ is not None and shoe is not None:
        seen = tuple(c.card if c.public and c.card != HIDDEN else UNSEEN for c in round_.cards)
        shoe.order, shoe.order_new = (*shoe.order, *seen), len(seen)


def _unrevealed(round_: Round) -> list[Sealed]:
    return [
        Sealed(round_.id, c.position, c.card, c.key or "", c.commitment)
        for c in round_.cards
        if not c.public and c.commitment
    ]


HOLDS: dict[type[f.Fact], Callable[[TableState, Any, int], None]] = {
    f.Paused: _paused,
    f.Resumed: _resumed,
    f.RescanStarted: _rescan_started,
    f.CardRescanned: _card_rescanned,
    f.IncidentRaised: _incident_raised,
    f.IncidentResolved: _incident_resolved,
    f.RoundVoided: _round_voided,
    f.ShoeVoided: _shoe_voided,
    f.CardClaimed: _card_claimed,
    f.CardSighted: _card_sighted,
    f.IncidentAcknowledged: _acknowledged,
    f.ApprovalRequested: _approval_requested,
    f.ApprovalGiven: _approval_ended,
    f.ApprovalRefused: _approval_ended,
    f.ManualModeChanged: _manual_mode,
    f.CardCorrected: _card_corrected,
    f.ResultCorrected: _result_corrected,
    f.CardReassigned: _card_reassigned,
    f.ResultConfirmed: _result_confirmed,
    f.ShiftStarted: _shift_started,
    f.DealerLoggedOn: _logged_on,
    f.DealerLoggedOff: _logged_off,
    f.TableLocked: _locked,
    f.TableUnlocked: _unlocked,
}
