"""Cards entered by hand: two people read what the reader did not (M-01, REG-05, REG-24)."""

from __future__ import annotations

from typing import Final

from controller import facts as f
from controller.cards import DECKS, FACES
from controller.refusal import Refusal
from controller.rules.blackjack import HOLE
from controller.table.draft import Draft
from controller.table.incidents import Incident
from controller.table.state import Approval

#: Resolution by which an incident ends when its card is entered.
ENTER: Final = "enter_card"


def check_entry(draft: Draft, number: int, card: str) -> None:
    """Raise ``Refusal`` unless ``card`` may be entered for incident ``number``."""
    incident = draft.state.incidents.get(number)
    if incident is None:
        open_ = ", ".join(map(str, sorted(draft.state.incidents))) or "none is open"
        raise Refusal("no_incident", f"incident {number} is not open", expected=open_)
    if ENTER not in incident.resolutions:
        raise Refusal(
            "not_legal",
            f"no card can be entered for incident {number}",
            expected=", ".join(incident.resolutions),
        )
    before = _recorded(draft, incident)
    if before == card:
        raise Refusal("bad_args", f"{incident.position} is {card} already", expected="another card, or resume")
    check_face(draft, card, more=1)
    _check_peek(draft, incident, card)


def _check_peek(draft: Draft, incident: Incident, card: str) -> None:
    """M-16: the answer of the peek was given on another card, and players decided by it."""
    round_ = draft.state.round
    if round_ is None or round_.peeked is None or incident.position != HOLE or incident.cause != "M-03":
        return
    again = round_.copy()
    again.correct(HOLE, card)
    if draft.procedure.peek(again) != round_.peeked:
        raise Refusal(
            "not_correctable",
            "with this hole card the peek would have answered otherwise (M-16): players decided by a wrong answer",
            expected="void_round",
        )


def check_face(draft: Draft, card: str, *, more: int) -> None:
    """A card of the deck, of which the shoe can still hold ``more``."""
    if card not in FACES:
        raise Refusal(
            "bad_args", f"{card[:8]!r} is no card", expected="rank A23456789TJQK, then suit SHDC, such as TD"
        )
    shoe = draft.state.shoe
    out = shoe.seen.get(card, 0) if shoe is not None else 0
    if out + more > DECKS:
        raise Refusal(
            "bad_args",
            f"{out} of {card} have left this shoe already, more than {DECKS} it cannot hold: look at the card again",
            expected="another card, or void_round_and_shoe",
        )


def carry_out_entry(draft: Draft, number: int, card: str, asked: Approval, approved_by: str) -> None:
    """End the incident. An unread card waits for its place and takes it when nothing holds the table; a misread one
    is corrected where it lies."""
    manual(draft, on=True)
    incident = draft.state.incidents[number]
    before = _recorded(draft, incident)
    draft.emit(
        f.IncidentResolved(
            incident=number, resolution=ENTER, reason=asked.reason, by=asked.by, approved_by=approved_by, card=card
        )
    )
    if before is not None and incident.position is not None:
        draft.emit(f.CardCorrected(position=incident.position, card=card, before=before))


def _recorded(draft: Draft, incident: Incident) -> str | None:
    """The face that was published for the card a person found to be another one (M-03); None for an unread card."""
    round_ = draft.state.round
    if incident.cause != "M-03" or round_ is None or incident.position is None:
        return None
    return round_.at(incident.position)  # None too for a claim, which was never published


def manual(draft: Draft, *, on: bool) -> None:
    """Players are told while people stand in for the reader (REG-05)."""
    if draft.state.manual != on:
        draft.emit(f.ManualModeChanged(manual=on))
