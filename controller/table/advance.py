"""What the table does by itself once an input is taken in: the automatic steps, up to the next one that waits."""

from __future__ import annotations

from typing import Final

from controller import facts as f
from controller.rules import baccarat
from controller.rules.roads import roads
from controller.rules.steps import Step
from controller.table import betting, sightings
from controller.table.checks import card_fault, extra_card
from controller.table.draft import Draft
from controller.table.entries import manual
from controller.table.integrity import check_order, keep_order
from controller.table.reads import device_event, reuse_is_due

#: Who answers for a card that waited, where a person decided about it.
VOUCHERS: Final = {"entered": ("people",), "vouched": ("shoe", "people")}
#: The rule that says how many seconds a step may take.
_TIMES: Final = {
    "close_bets": "betting_s",
    "insurance": "insurance_s",
    "decide": "decision_s",
    "follow": "follow_s",
    "peek": "peek_delay_s",
    "standby": "standby_s",
    "confirm": "confirm_s",
}
#: A round has far fewer automatic steps; reaching this is a defect of a procedure.
_LIMIT = 100


def advance(draft: Draft, *, announce: bool = False) -> None:
    """Go on until the procedure waits for somebody, then publish that step if it is new, or to ``announce`` it."""
    for _ in range(_LIMIT):
        if draft.state.holds:
            _publish(draft, _held_step(draft), announce)
            return
        step = draft.next_step()
        if not _automatic(draft, step) and not draft.state.holds:
            _publish(draft, step, announce)
            return
    raise AssertionError(f"the procedure does not come to rest: {draft.state.step}")


def _held_step(draft: Draft) -> Step:
    rescan = draft.state.rescan
    if rescan is not None and set(draft.state.holds) == {rescan.hold}:
        return Step("rescan", left=rescan.total - rescan.done)
    return Step("wait")


def _automatic(draft: Draft, step: Step) -> bool:
    """Do what needs nobody; False if the step waits."""
    state = draft.state
    if step.kind == "follow":
        return False
    lines = draft.procedure.parting(state.round, step) if state.round is not None and state.round_open else None
    if lines is not None:
        draft.emit(f.HandSplit(lines=lines))
        return True
    if sightings.confirm(draft) or sightings.see(draft):
        return True
    if state.pending and _place_pending(draft, step):
        return True
    if state.deferred and not state.claims and _take_deferred(draft):
        return True
    if betting.automatic(draft, step):
        return True
    round_ = state.round
    match step.kind:
        case "draw" if state.round_open and state.shoe is not None and state.shoe.left <= 0:
            draft.incident("M-27", expected=f"a card for {step.position}", actual="the shoe is empty")
        case "insurance" if round_ is not None and round_.insurance == "none":
            draft.emit(f.InsuranceOffered(until_ms=_ms(draft.setting.rules.insurance_s)))
        case "decide" if round_ is not None and round_.window != (step.line, step.prefix_len):
            draft.emit(
                f.DecisionOpened(
                    line=step.line or "",
                    prefix_len=step.prefix_len or 0,
                    options=step.options,
                    until_ms=_ms(draft.setting.rules.decision_s),
                )
            )
        case "sight":
            return sightings.look_at_turned(draft, step.position or "")
        case "reveal" if draft.setting.rules.game == "boundless":
            _reveal_hole(draft, step.position or "")
        case "finish":
            _finish(draft)
        case "open_bets" if _shoe_is_done(draft):
            end_shoe(draft, "shoe void" if _void(draft) else "last round played")
        case _:
            return False
    return True


def _void(draft: Draft) -> bool:
    return draft.state.shoe is None or draft.state.shoe.void


def _shoe_is_done(draft: Draft) -> bool:
    shoe = draft.state.shoe
    if draft.state.phase != "result":
        return False
    if shoe is None or shoe.void:
        return True
    return shoe.last_round is not None and shoe.rounds >= shoe.last_round


def end_shoe(draft: Draft, reason: str) -> None:
    """No further round on this shoe: open the commitments of cards never shown (SHOE-05, SHOE-06)."""
    open_seals(draft)
    draft.emit(f.ShoeChangeStarted(reason=reason))


def open_seals(draft: Draft) -> None:
    """Publish the keys of the cards of this shoe that were never shown."""
    shoe = draft.state.shoe
    if shoe is not None:
        keys = [{"round": s.round, "position": s.position, "card": s.card, "key": s.key} for s in shoe.sealed]
        draft.emit(f.ShoeEnded(burn_keys=keys))
        keep_order(draft)


def _reveal_hole(draft: Draft, position: str) -> None:
    round_ = draft.state.round
    assert round_ is not None
    card = next(c for c in round_.cards if c.position == position)
    draft.emit(f.CardRevealed(position=position, card=card.card, key=card.key))


def _finish(draft: Draft) -> None:
    round_ = draft.state.round
    assert round_ is not None
    if draft.setting.rules.game == "baccarat":
        result = baccarat.result(round_)
        if round_.shoe_result is not None and not _agrees(round_.shoe_result, result["outcomes"]):
            draft.incident("M-03", expected=_words(result["outcomes"]), actual=_words(round_.shoe_result))
            return
    else:
        result = draft.procedure.result(round_)
    drawn = None
    if draft.setting.rules.game == "baccarat":
        assert draft.state.shoe is not None
        drawn = dict(roads([*draft.state.shoe.winners, result["outcomes"]["winner"]]))
    draft.emit(f.RoundResult(hands=result["hands"], outcomes=result["outcomes"], roads=drawn))
    manual(draft, on=False)
    betting.settle(draft)
    check_order(draft)


def _agrees(shoe: dict[str, object], ours: dict[str, object]) -> bool:
    winner = "banker" if shoe["winner"] == "banker_six" else shoe["winner"]
    return (winner, shoe["player_pair"], shoe["banker_pair"]) == (
        ours["winner"],
        ours["player_pair"],
        ours["banker_pair"],
    )


def _words(result: dict[str, object]) -> str:
    pairs = [side for side in ("player", "banker") if result[f"{side}_pair"]]
    return f"{result['winner']}" + "".join(f", {side} pair" for side in pairs)


def _place_pending(draft: Draft, step: Step) -> bool:
    """Give the first waiting card its place, or raise the incident that there is none."""
    # A kept card waits until one is due; a shoe that names places reports it again itself.
    kept_waits = step.kind != "draw" or draft.setting.traits.positions
    waiting = [p for p in draft.state.pending if not (kept_waits and p.origin == "kept")]
    waiting.sort(key=lambda p: p.origin != "claimed" and p.origin not in VOUCHERS)  # they have their places already
    first = next((p for p in waiting if p.origin != "claimed"), None)
    if first is None:
        return False
    if step.again and first.position not in (None, step.position):  # the card before it is read again first
        return False
    settled = first.origin in VOUCHERS  # people said which card lies at that very place
    if settled and draft.state.claims:
        step = draft.own_step()
        if not step.takes(first.position or ""):  # a claim before it is not confirmed yet
            return False
    if step.kind != "draw" or (settled and not step.takes(first.position or "")):
        extra_card(draft, first.card, counted=True)
        return True
    position = (first.position if step.takes(first.position or "") else step.position) or ""
    fault = card_fault(draft, step, position, first.card, counted=True)
    if fault is None and settled:
        draft.deal(step, position, first.card, pending=True, by=VOUCHERS[first.origin])
    elif fault is None:
        sightings.accept(draft, step, position, first.card, pending=True)
    else:
        fault.raise_on(draft)
    return True


def _take_deferred(draft: Draft) -> bool:
    """Act on what the shoe reported during a hold; a re-used card waits for the hand it begins."""
    for event in draft.state.deferred:
        if event["event"] != "card_reused" or reuse_is_due(draft, event):
            device_event(draft, event)
            return True
    return False


def _publish(draft: Draft, step: Step, announce: bool) -> None:
    state = draft.state
    if step == state.step and (state.step_due is None) == (_time_for(draft, step) is None) and not announce:
        return
    until, kept = _time_for(draft, step), None
    if step.kind in ("wait", "rescan"):
        kept = _left(draft) if state.step.kind not in ("wait", "rescan") else None
    elif state.kept is not None and state.kept[0] == step:
        until = state.kept[1]
    draft.emit(
        f.StepOpened(
            step=step.kind,
            position=step.position,
            hidden=step.hidden,
            others=step.others,
            line=step.line,
            prefix_len=step.prefix_len,
            options=step.options,
            left=step.left,
            again=step.again,
            until_ms=until,
            kept_ms=kept,
        )
    )


def _left(draft: Draft) -> int | None:
    """Milliseconds the interrupted step still had."""
    state = draft.state
    if state.step_due is not None:
        return max(0, state.step_due - draft.now)
    return state.step_ms


def _time_for(draft: Draft, step: Step) -> int | None:
    rule = _TIMES.get(step.kind)
    return None if rule is None else _ms(getattr(draft.setting.rules, rule))


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
