"""Shoe events: what each one means for the table at this moment."""

from __future__ import annotations

from typing import Any

import msgspec

from controller import facts as f
from controller.cards import DECKS, HIDDEN
from controller.rules import baccarat
from controller.rules.steps import Step
from controller.table.checks import card_fault, extra_card
from controller.table.draft import Draft
from controller.table.integrity import check_cut
from controller.table.people import unattended
from controller.table.rescan import rescanned
from controller.table.sightings import accept
from controller.table.tags import tag_event, tags_left
from drivers import events as e

#: Shoe error codes (hardware page 1.1) that mean a card left the shoe without a face.
UNREAD_ERRORS = frozenset({1, 6})
#: Why the shoe is held as lost from the start of the service until its driver has spoken.
UNHEARD = "shoe: not connected yet"
PUSHED_BACK_ERRORS = frozenset({4, 5})


def shoe_event(draft: Draft, event: e.Event) -> None:
    """Take in one event of the shoe's driver."""
    tags_left(draft, event)
    match event:
        case e.CardDrawn() | e.CardReused() if draft.setting.sources == "camera":
            draft.report(event)
        case e.CardDrawn(card, target, index):
            _card(draft, card, _position(draft, target, index))
        case e.CardReused():
            _reused(draft, msgspec.to_builtins(event))
        case e.CardRevealed() | e.RoundResult() | e.StandBy():
            data = msgspec.to_builtins(event)
            if draft.state.holds or draft.state.claims:  # the cards come first
                draft.report(data, "defer")
            else:
                device_event(draft, data)
        case e.TagRepeated() | e.TagsTogether() | e.TagUnknown() | e.TagForeign():
            draft.report(event)
            tag_event(draft, event)
        case e.NoRead(raw) | e.UnknownCode(raw):
            draft.report(event)
            _unread(draft, raw)
        case e.Repeated(card):
            draft.emit(f.ReadRepeated(card=card))
        case e.CutCard():
            _cut_card(draft)
        case e.OutOfGame(card, _, _):
            _out_of_game(draft, card)
        case e.OverdrawnDiscarded(card, _, _):
            draft.report(event)
            if not draft.state.overdrawn:
                _out_of_game(draft, card)
        case e.Started() | e.Gap():
            draft.report(event)
            booted = isinstance(event, e.Started)
            if booted and "device" in draft.state.holds:  # its errors ended with the boot
                draft.emit(f.Resumed(hold="device", reason="the shoe started again", by="policy:device"))
            # A shoe may boot before the first card of a hand: then there is nothing it can have forgotten, unless
            # the camera sees a card that it told nobody of.
            if not booted or draft.state.on_felt or draft.state.foreseen:
                _order_in_doubt(draft, "the shoe started again" if booted else "telegrams are missing")
        case e.ErrorRaised(code, _):
            draft.report(event)
            _shoe_error(draft, code)
        case e.ErrorCleared(code, _):
            draft.report(event)
            if "device" in draft.state.holds:
                draft.emit(f.Resumed(hold="device", reason=f"shoe error {code} cancelled", by="policy:device"))
        case e.PortLost(reason):
            held = draft.state.holds.get("device:shoe")
            if held is None or held.reason == UNHEARD:  # at the start the reason comes after the fact
                draft.emit(f.DeviceLost(device="shoe", reason=reason))
        case e.PortRestored():
            _port_restored(draft)
        case _:
            draft.report(event)


def _position(draft: Draft, target: str | None, index: int | None) -> str | None:
    """The table's position for the shoe's own target; None if it names none."""
    if target is None or index is None:
        return None
    if target == "first":
        return "burn/0"
    if target == "burn_left":
        shoe = draft.state.shoe
        of = shoe.burn_of if shoe is not None and shoe.burn_of is not None else draft.burn_due
        return f"burn/{of - index}"
    if target == "burn" and draft.state.phase != "burning":
        return "burn"  # no place of a round: never taken for the card that is due
    return f"{target}/{index - 1}" if target in ("player", "banker") else None


def _card(draft: Draft, card: str, position: str | None) -> None:
    state = draft.state
    if state.phase in ("closed", "shoe_change", "voided"):
        draft.emit(f.ReadOutOfGame(card=card))
        return
    draft.touched()
    if unattended(draft) and not any(i.cause == "M-34" for i in state.incidents.values()):
        draft.incident("M-34", expected="a dealer logged on", actual="a card left the shoe")
    if state.rescan is not None:
        rescanned(draft, card)
        return
    if state.failed_rescan is not None:  # the rest of that reading: neither held nor dealt
        draft.emit(f.ReadRepeated(card=card))
        return
    if position is not None and _already(draft, position, card):
        draft.emit(f.ReadRepeated(card=card, position=position))
        return
    step = draft.next_step()
    if state.holds:
        _while_held(draft, step, card, position)
        return
    if step.kind != "draw":
        extra_card(draft, card)
        return
    place = position or step.position or ""
    if not step.takes(place):
        _misplaced(draft, step, place, card)
        return
    fault = card_fault(draft, step, place, card)
    if fault is not None:
        fault.raise_on(draft)
    else:
        accept(draft, step, place, card)


def _already(draft: Draft, position: str, card: str) -> bool:
    """The shoe repeats a card that lies at its place. Two hidden faces prove nothing."""
    round_ = draft.state.round
    if round_ is None or not draft.state.round_open or card == HIDDEN:
        return False
    return round_.at(position) == card


def _while_held(draft: Draft, step: Step, card: str, position: str | None) -> None:
    """The first card of an open draw step waits for its place; any other is an incident (design page 3)."""
    waiting = _one_is_held(draft)
    if step.kind == "draw" and position is None and any(i.unread for i in draft.state.incidents.values()):
        # It may be the unread card or the one after it: only a person who saw it can say.
        draft.incident("M-02", expected="the unread card alone", actual="a card was read", cards=(card,))
    elif step.kind == "draw" and not waiting and (position is None or step.takes(position)):
        draft.emit(f.CardHeld(card=card, position=position or step.position or ""))
    elif position is not None and step.kind == "draw":
        _misplaced(draft, step, position, card)
    else:
        extra_card(draft, card)


def _one_is_held(draft: Draft) -> bool:
    return any(p.origin == "held" for p in draft.state.pending)


def _misplaced(draft: Draft, step: Step, place: str, card: str) -> None:
    """The shoe itself says the card belongs where none is due."""
    code = {"player/2": "M-17", "banker/2": "M-19"}.get(place, "M-30")
    due = " or ".join(filter(None, (step.position, *step.others)))
    draft.incident(code, expected=f"a card for {due}", actual=f"a card for {place}", cards=(card,), position=place)


def _reused(draft: Draft, event: dict[str, Any]) -> None:
    """An over-drawn card that was kept takes its place, now or when its hand begins; it was counted before."""
    state = draft.state
    card, position = event["card"], _position(draft, event["target"], event["index"])
    kept = next((p for p in state.pending if p.origin == "kept"), None)
    undecided = any(i.cause == "M-08" and i.cards for i in state.incidents.values())
    step = draft.next_step()
    place = position or step.position or ""
    if kept is None and not undecided:
        _reused_unknown(draft, card, position, place)
        return
    if kept is None or state.holds or not step.takes(place):
        draft.report(event, "defer")
        return
    face = kept.card if card == HIDDEN else card
    fault = card_fault(draft, step, place, face, counted=kept.card != HIDDEN)
    if fault is not None:
        fault.raise_on(draft)
    else:
        draft.deal(step, place, face, pending=True)


def _reused_unknown(draft: Draft, card: str, position: str | None, place: str) -> None:
    """The shoe re-uses a card that the record does not keep: burned, or put aside after a void, it lies nowhere."""
    state = draft.state
    aside = state.phase in ("closed", "shoe_change", "voided") or state.rescan is not None
    if aside or state.failed_rescan is not None or (position is not None and _already(draft, position, card)):
        _card(draft, card, position)
        return
    draft.touched()
    draft.incident(
        "M-30",
        expected="a card from the shoe",
        actual="the shoe re-uses a card that was not kept",
        cards=(card,),
        position=place or None,
        ledger="known",
    )


def reuse_is_due(draft: Draft, event: dict[str, Any]) -> bool:
    """The kept card of a deferred ``card_reused`` can take its place, or there is none any more."""
    if not any(p.origin == "kept" for p in draft.state.pending):
        return True
    return draft.next_step().takes(_position(draft, event["target"], event["index"]) or "")


def device_event(draft: Draft, event: dict[str, Any]) -> None:
    """Act on a reveal, result or stand-by of the shoe, fresh or deferred."""
    state = draft.state
    match event["event"]:
        case "card_revealed":
            _revealed(draft, event)
        case "card_reused":
            draft.report(event)
            if any(p.origin == "kept" for p in state.pending):
                _reused(draft, event)
        case "round_result" if not state.round_open:
            draft.report(event)
        case "round_result" if (step := draft.next_step()).kind != "shoe_result":
            draft.report(event)
            draft.incident("M-18", expected=_in_words(step), actual="the shoe announces a result")
        case _:
            draft.report(event, "act")


def _in_words(step: Step) -> str:
    return f"{step.kind} {step.position or ''}".strip()


def _revealed(draft: Draft, event: dict[str, Any]) -> None:
    round_ = draft.state.round
    card, position = event["card"], f"{event['target']}/{event['index'] - 1}"
    there = round_.at(position) if round_ is not None and draft.state.round_open else None
    if there is None or card == HIDDEN:
        draft.report(event)
        if draft.state.round_open:
            draft.incident("M-30", expected="the reveal of a card dealt", actual=f"a reveal at {position}", cards=())
        return
    if there == card:
        draft.report(event)
        return
    if there != HIDDEN:
        draft.report(event)
        draft.incident("M-03", expected=f"the card dealt at {position}", actual="another card", position=position)
        return
    step = draft.next_step()
    if step.kind != "reveal" and "reveal" not in step.others:
        draft.report(event)
        draft.incident("M-18", expected=_in_words(step), actual="faces are turned")
        return
    copies = draft.state.shoe.seen.get(card, 0) if draft.state.shoe is not None else 0
    if copies >= DECKS:
        draft.report(event)
        draft.incident("M-26", expected=f"at most {DECKS} copies of a card", actual=f"copy {copies + 1} of {card}")
        return
    draft.emit(f.CardRevealed(position=position, card=card))
    fault = baccarat.tableau_fault(round_) if round_ is not None and round_.faces_known else None
    if fault is not None and fault[0] != "M-18":  # a card that is still due can be dealt now
        draft.incident(fault[0], expected=fault[1], actual=fault[2])


def _unread(draft: Draft, raw: str) -> None:
    """A card left the shoe and nobody knows which (M-01)."""
    state = draft.state
    if state.phase in ("closed", "shoe_change", "voided"):
        draft.emit(f.ReadOutOfGame(card=HIDDEN))
        return
    if state.failed_rescan is not None:
        return
    if state.rescan is not None:
        draft.incident("M-30", expected="a card of the felt, read again", actual="the reader did not read it")
        return
    step = draft.next_step()
    if step.kind != "draw" or _one_is_held(draft):
        extra_card(draft, HIDDEN)
        return
    draft.incident(
        "M-01",
        expected=f"a card for {step.position}",
        actual=f"the reader answered {raw!r}",
        cards=(HIDDEN,),
        position=step.position,
        secret=step.hidden,
    )


def _cut_card(draft: Draft) -> None:
    """A-01, M-21: put aside, never dealt; in its turn it only marks the last round."""
    state, step = draft.state, draft.next_step()
    shoe = state.shoe
    told_again = shoe is not None and shoe.cut_out and draft.setting.traits.positions
    if shoe is None or told_again or state.phase in ("closed", "shoe_change"):
        draft.report(e.CutCard())
        return
    in_turn = step.kind == "draw" and state.phase in ("dealing", "deciding", "dealer_drawing") and not shoe.cut_out
    held = bool(state.holds)
    if not shoe.cut_out:
        draft.emit(f.CutCardDrawn(last_round=_last_round(draft)))
    if in_turn and not held:
        check_cut(draft)
    elif state.phase != "voided":
        draft.incident(
            "M-21",
            expected="the cut card in place of a card that is due",
            actual=f"the cut card while the step is {step.kind} in phase {state.phase}",
        )


def _last_round(draft: Draft) -> int:
    state = draft.state
    assert state.shoe is not None
    number = state.shoe.rounds
    if state.phase == "betting":
        return number  # it came before the first card of this round
    if not state.round_open:
        return number + 1
    if draft.setting.rules.last_round_policy == "current":
        return number
    cards = state.round.cards if state.round is not None else []
    return number + 1 if cards else number


def _out_of_game(draft: Draft, card: str) -> None:
    state = draft.state
    if state.phase in ("closed", "shoe_change", "voided"):
        draft.emit(f.ReadOutOfGame(card=card))
        return
    draft.incident(
        "M-08", expected="no card beyond those due", actual="the shoe reports a card outside the game", cards=(card,)
    )


def _order_in_doubt(draft: Draft, what: str) -> None:
    """Cards may be missing from what was heard (M-30); where none lies and none is due there is nothing to doubt."""
    state = draft.state
    if "restart" in state.holds or any(i.cause == "M-30" for i in state.incidents.values()):
        return
    if not state.cards_out and draft.next_step().kind != "draw":
        return
    draft.incident("M-30", expected="an unbroken line of telegrams", actual=what)


def _shoe_error(draft: Draft, code: int) -> None:
    state = draft.state
    if code in UNREAD_ERRORS:
        _unread(draft, f"shoe error {code}")
    elif code in PUSHED_BACK_ERRORS and state.cards_out:
        draft.incident("M-20", expected="cards leave the shoe", actual=f"shoe error {code}: pushed back")
    elif "device" not in state.holds and state.phase not in ("closed", "shoe_change"):
        draft.emit(f.Paused(hold="device", reason=f"shoe error {code}", by="policy:device"))


def _port_restored(draft: Draft) -> None:
    state = draft.state
    if "shoe" not in state.devices_lost:
        return
    draft.emit(f.DeviceRestored(device="shoe"))
    _order_in_doubt(draft, "the line to the shoe was lost")
