"""The camera at the table: sightings confirm what the shoe claims, or say that the felt is another (design page 4).

``both``: a card that the shoe read is claimed; it is dealt when the camera sees it at its place. ``camera``: a card
is dealt when the camera sees it where one is due. The physical card is right: where two sources differ, people look.
"""

from __future__ import annotations

from typing import Final

from controller import commands as c
from controller import facts as f
from controller.cards import HIDDEN, is_card
from controller.refusal import Refusal
from controller.rules.round import RoundCard
from controller.rules.steps import Step
from controller.table.checks import card_fault
from controller.table.draft import Draft
from controller.table.people import open_to_correction
from controller.table.state import DEAL_PHASES, Pending

UNREADABLE: Final = "??"
#: A position is a short path; more sightings, or places with a card, than a felt has would be a camera gone mad.
POSITION_MAX, SEEN_MAX, PLACES_MAX = 40, 64, 128
#: A camera that says nothing for so long is lost, in milliseconds.
SILENCE_MS: Final = 5000


def watched(draft: Draft) -> bool:
    """The camera has a say at this table."""
    return draft.setting.sources != "shoe"


def _watched(draft: Draft) -> None:
    if not watched(draft):
        raise Refusal("wrong_mode", 'this table has [validation] sources = "shoe": the camera has no say')


def start(draft: Draft) -> None:
    """Until the camera service speaks the camera is lost."""
    if not watched(draft):
        return
    if "camera" not in draft.state.devices_lost:
        draft.emit(f.DeviceLost(device="camera", reason="not connected yet"))
    for claim in draft.state.claims:
        wait_for(draft, claim.position or "")


# --- commands --------------------------------------------------------------------------------------------------


def health(draft: Draft, command: c.Command, args: c.CameraHealth) -> None:  # noqa: ARG001 - orders are called alike
    """The camera can be believed, or not: then the table stops before the next card."""
    _watched(draft)
    draft.state.camera_due = draft.now + SILENCE_MS
    lost = "camera" in draft.state.devices_lost
    if args.ok and lost:
        draft.emit(f.DeviceRestored(device="camera"))
    elif not args.ok and not lost:
        draft.emit(f.DeviceLost(device="camera", reason=args.reason[:100] or "the camera service reports a fault"))


def silent(draft: Draft) -> None:
    """Nothing came from the camera service in time."""
    draft.state.camera_due = None
    if "camera" not in draft.state.devices_lost:
        draft.emit(f.DeviceLost(device="camera", reason=f"silent for {SILENCE_MS / 1000:g} s"))


def sighting(draft: Draft, command: c.Command, args: c.Sighting) -> None:  # noqa: ARG001
    """What came to lie, was turned or taken away."""
    _watched(draft)
    if len(args.seen) > SEEN_MAX:
        raise Refusal("bad_args", f"at most {SEEN_MAX} sightings at once, not {len(args.seen)}")
    for seen in args.seen:
        if not (0 < len(seen.position) <= POSITION_MAX and seen.position.isascii() and seen.position.isprintable()):
            raise Refusal("bad_args", f"{seen.position[:40]!r} is no position", expected="such as player/0")
        if not (seen.card is None or seen.card in (HIDDEN, UNREADABLE) or is_card(seen.card)):
            raise Refusal("bad_args", f"{seen.card[:8]!r} is no card", expected="such as TD, **, ?? or null")
        if not 0 <= seen.age_ms <= 60_000:
            raise Refusal("bad_args", f"age_ms {seen.age_ms} is not 0 to 60000")
    places = {seen.position for seen in args.seen} | set(draft.state.sighted)
    if len(places) > PLACES_MAX:
        raise Refusal("bad_args", f"cards at {len(places)} places", expected=f"at most {PLACES_MAX}")
    draft.state.camera_due = draft.now + SILENCE_MS
    for seen in args.seen:
        if draft.state.sighted.get(seen.position) == seen.card:
            continue
        reason = seen.reason[:100]
        draft.emit(f.CardSighted(position=seen.position, card=seen.card, age_ms=seen.age_ms, reason=reason))
        _weigh(draft, seen.position, seen.card)


# --- what a sighting means -------------------------------------------------------------------------------------


def _weigh(draft: Draft, position: str, seen: str | None) -> None:
    state = draft.state
    if state.phase not in (*DEAL_PHASES, "betting") or state.round is None or state.rescan is not None:
        return
    recorded = next((card for card in state.round.cards if card.position == position), None)
    if recorded is not None:
        _weigh_dealt(draft, recorded, seen)
        return
    claim = next((p for p in state.claims if p.position == position), None)
    if claim is not None:
        _weigh_claim(draft, claim, seen)
        return
    if seen is None:
        state.sight_due.pop(position, None)
        return
    due = draft.due_step()
    if due.takes(position) or position in (p.position for p in state.pending):
        wait_for(draft, position)  # the shoe's read, or a face, may still come
        return
    stray = next((p for p in state.claims if p.card == seen and not _hidden(draft, p)), None)
    if stray is not None:
        _raise(draft, "M-11", f"a card at {stray.position}", f"a card at {position}", stray.position)
        return
    wait_for(draft, position)  # a card on its way to its place is not there yet


def _weigh_dealt(draft: Draft, card: RoundCard, seen: str | None) -> None:
    if draft.turned_unseen != card.position:  # there the camera's time runs on
        draft.state.sight_due.pop(card.position, None)
    if seen is None:
        _raise(draft, "M-23", f"the card at {card.position}", "nothing lies there", card.position)
    elif card.card == HIDDEN or not is_card(seen):
        return
    elif not card.public:  # whichever face it is: the public form must not tell
        _raise(draft, "M-15", f"a face-down card at {card.position}", "a face is open", card.position)
    elif seen != card.card:
        _raise(draft, "M-03", f"the card dealt at {card.position}", "another card", card.position)


def _weigh_claim(draft: Draft, claim: Pending, seen: str | None) -> None:
    if _hidden(draft, claim):
        if seen is not None and is_card(seen):
            _raise(draft, "M-15", f"a face-down card at {claim.position}", "a face is open", claim.position)
    elif claim.card == HIDDEN:  # a shoe that tells no face until the hand is dealt: an open one is no secret
        return
    elif seen is not None and is_card(seen) and seen != claim.card:
        _raise(draft, "M-03", f"the card the shoe read for {claim.position}", "another card", claim.position)


def _raise(draft: Draft, code: str, expected: str, actual: str, position: str | None) -> None:
    """One incident a position at a time: a camera that changes its mind adds none."""
    if any(i.position == position and i.cause == code for i in draft.state.incidents.values()):
        return
    claimed = any(p.position == position for p in draft.state.claims)
    also: tuple[str, ...] = ()
    if code == "M-03":
        also = ("rescan", "enter_card") if claimed else ("resume",)
        if not claimed and position is not None and open_to_correction(draft, position):
            also += ("enter_card",)
    draft.incident(code, expected=expected, actual=actual, position=position, ledger="known", also=also)


def _hidden(draft: Draft, claim: Pending) -> bool:
    return draft.is_hidden(claim.position or "")


# --- waiting ---------------------------------------------------------------------------------------------------


def wait_for(draft: Draft, position: str) -> None:
    """Shoe and camera may differ for so long about ``position``."""
    draft.state.sight_due.setdefault(position, draft.now + draft.setting.confirm_within_ms)


def due(draft: Draft) -> None:
    """Time is up for some positions: what is not agreed by now is an incident."""
    state = draft.state
    for position in [p for p, at in state.sight_due.items() if at <= draft.now]:
        del state.sight_due[position]
        if not state.round_open:
            continue
        claim = next((p for p in state.claims if p.position == position), None)
        if claim is not None and _agrees(draft, claim):
            continue  # it waits for the card before it
        if claim is not None:
            seen = state.sighted.get(position)
            said = {None: "the camera has not seen it", HIDDEN: "it lies face down"}
            actual = said.get(seen, "the camera cannot read it")
            draft.incident(
                "M-03",
                expected=f"the card the shoe read, seen at {position}",
                actual="the camera does not confirm it" if _hidden(draft, claim) else actual,
                position=position,
                ledger="known",
                also=("resume", "rescan", "enter_card"),
            )
        elif position == draft.turned_unseen:
            said = {None: "the camera has not seen it", HIDDEN: "it lies face down"}
            _raise(draft, "M-03", f"the card the shoe read, turned at {position}",
                   said.get(state.sighted.get(position), "the camera cannot read it"), position)  # fmt: skip
        elif position in state.sighted and state.round is not None and state.round.at(position) is None:
            _unclaimed(draft, position)


def _unclaimed(draft: Draft, position: str) -> None:
    """A card lies where the shoe has read none (M-01), or where none belongs (M-08)."""
    step = draft.due_step()
    if step.takes(position) and not draft.state.holds:
        both = draft.setting.sources == "both"
        draft.incident(
            "M-01",
            expected=f"a card for {position}",
            actual="the camera sees one that the shoe has not read" if both else "the camera cannot read it",
            cards=(HIDDEN,),
            position=position,
            secret=step.hidden,
        )
    elif not step.takes(position):
        draft.incident(
            "M-06" if draft.state.phase == "betting" else "M-08",
            expected=f"no card at {position}",
            actual="the camera sees one",
            position=position,
            ledger="known",
            also=("resume",) if draft.state.phase != "betting" else (),
        )


def look_at_turned(draft: Draft, position: str) -> bool:
    """The camera's time for ``position`` runs; a face that it saw there before the shoe told one may be another."""
    round_, state = draft.state.round, draft.state
    seen = {state.sighted.get(position, HIDDEN), state.foreseen.get(position, HIDDEN)}
    recorded = round_.at(position) if round_ is not None and position in round_.turned else None
    if recorded is not None and any(is_card(face) and face != recorded for face in seen):
        _raise(draft, "M-03", f"the card the shoe read, turned at {position}", "another card", position)
        return True
    wait_for(draft, position)
    return False


# --- claims ----------------------------------------------------------------------------------------------------


def accept(draft: Draft, step: Step, place: str, card: str, *, pending: bool = False) -> None:
    """A card of the shoe passed every check: it is dealt, or waits for the camera to see it.

    If the camera saw another face there before, that card is one that the shoe did not read, and this one lies on it.
    """
    if draft.setting.sources != "both" or place.startswith("burn/"):
        draft.deal(step, place, card, pending=pending)
        return
    before = draft.state.foreseen.get(place)
    draft.emit(f.CardClaimed(position=place, card=card, from_hold=pending))
    draft.state.sight_due.pop(place, None)
    wait_for(draft, place)
    for seen in (before, draft.state.sighted.get(place)):
        if seen is not None:
            _weigh_claim(draft, draft.state.claims[-1], seen)


def confirm(draft: Draft) -> bool:
    """Deal the claim whose turn it is, if the camera agrees; the order of cards is the shoe's."""
    if not draft.state.claims:
        return False
    step = draft.own_step()
    first = next((p for p in draft.state.claims if step.takes(p.position or "")), None)
    if first is None or not _agrees(draft, first) or _stray(draft):
        return False
    draft.deal(step, first.position or "", first.card, pending=True, by=("shoe", "camera"))
    draft.state.sight_due.pop(first.position or "", None)
    return True


def _stray(draft: Draft) -> bool:
    """The camera waits to hear what lies where no card is due: it may be a card that the shoe did not read, and the
    one that was read the next."""
    state, due = draft.state, draft.due_step()
    claimed = {p.position for p in state.claims}
    return any(
        place in state.sighted and place not in claimed and not due.takes(place)
        for place in state.sight_due
        if state.round is not None and state.round.at(place) is None
    )


def _agrees(draft: Draft, claim: Pending) -> bool:
    """The camera sees what the shoe claims; of a card without a face, that it lies there."""
    seen = draft.state.sighted.get(claim.position or "")
    if _hidden(draft, claim):
        return seen == HIDDEN
    return seen is not None and claim.card in (HIDDEN, seen)


def see(draft: Draft) -> bool:
    """Camera alone: deal what it sees where a card is due."""
    if draft.setting.sources != "camera":
        return False
    step = draft.next_step()
    seen = draft.state.sighted.get(step.position or "") if step.kind == "draw" else None
    if seen is None or not is_card(seen):
        return False
    place = step.position or ""
    fault = card_fault(draft, step, place, seen)
    if fault is None:
        draft.deal(step, place, seen, by=("camera",))
        draft.state.sight_due.pop(place, None)
    else:
        fault.raise_on(draft)
    return True
