"""Who stands at the table: log-on, lock; what the dealer reports and confirms (M-23, M-24, M-34, REG-22)."""

from __future__ import annotations

from typing import Any, Final

from controller import commands as c
from controller import facts as f
from controller.refusal import Refusal
from controller.rules.blackjack import UP
from controller.table import incidents
from controller.table.draft import Draft
from controller.table.state import DEAL_PHASES

#: Longest note with a report.
NOTE_MAX: Final = 500


def log_on(draft: Draft, command: c.Command, args: Any) -> None:  # noqa: ARG001 - all orders are called alike
    """This dealer deals from now on; whoever was there before is relieved. The same one again ends the lock."""
    state, person = draft.state, command.person
    if state.phase == "closed":
        raise Refusal("not_allowed_now", "the table is closed", expected="start_shift")
    if state.dealers and person not in state.dealers:
        raise Refusal("not_assigned", f"{person} is not assigned to this table", expected=", ".join(state.dealers))
    if state.dealer is not None and state.dealer != person:
        draft.emit(f.DealerLoggedOff(dealer=state.dealer, by=command.by))
    if draft.state.dealer != person:
        draft.emit(f.DealerLoggedOn(dealer=person))
    unlock(draft, command.by)


def log_off(draft: Draft, command: c.Command, args: Any) -> None:  # noqa: ARG001
    """The dealer leaves. A supervisor may log off whoever is there; another dealer relieves by logging on."""
    dealer = draft.state.dealer
    if dealer is None:
        return
    if command.role == "dealer" and command.person != dealer:
        raise Refusal("not_allowed_now", f"{dealer} is logged on, not {command.person}", expected="log_on")
    draft.emit(f.DealerLoggedOff(dealer=dealer, by=command.by))


def unlock(draft: Draft, by: str) -> None:
    """Somebody is there again."""
    if draft.state.locked:
        draft.emit(f.TableUnlocked(by=by))


def lock(draft: Draft) -> None:
    """Nobody drew a card or gave a command for too long. A round in progress goes on: the lock stops the next one."""
    if not draft.state.locked and draft.state.dealer is not None:
        minutes = draft.setting.rules.lock_after_s / 60
        draft.emit(f.TableLocked(reason=f"no card and no command of the dealer for {minutes:g} minutes"))


def may_open(draft: Draft) -> None:
    """Raise ``Refusal`` where nobody stands at the table."""
    if draft.setting.rules.dealer_log_on == "required" and draft.state.dealer is None:
        raise Refusal("no_dealer", "no dealer is logged on", expected="log_on")
    if draft.state.locked:
        raise Refusal("locked", "the table is locked: nobody touched it for too long", expected="log_on")


def unattended(draft: Draft) -> bool:
    """A card leaves the shoe though nobody is logged on who may deal (M-34)."""
    return draft.setting.rules.dealer_log_on == "required" and draft.state.dealer is None


def confirm(draft: Draft, command: c.Command, args: Any) -> None:  # noqa: ARG001
    """Felt and screen agree: the result may be published."""
    for number, incident in draft.state.incidents.items():
        if incident.cause == "M-24" and command.role == "supervisor":
            draft.emit(f.IncidentResolved(incident=number, resolution="resume", reason="confirmed", by=command.by))
            return
    step = draft.next_step()
    if draft.state.holds:
        raise Refusal("held", "the table is held", expected="resolve")
    if step.kind != "confirm":
        raise Refusal("not_allowed_now", "nothing is to be confirmed", expected=step.position or step.kind)
    draft.emit(f.ResultConfirmed(by=command.by))


def report(draft: Draft, command: c.Command, args: c.Report) -> None:
    """The dealer says what no device can see. The note may name a card, so it stays in the journal."""
    state = draft.state
    if args.code not in incidents.REPORTABLE:
        raise Refusal(
            "bad_args", f"{args.code[:8]!r} cannot be reported", expected=", ".join(sorted(incidents.REPORTABLE))
        )
    if state.phase in ("closed", "voided"):
        raise Refusal("not_allowed_now", f"the table is {state.phase}", expected=draft.next_step().kind)
    if len(args.note) > NOTE_MAX or not args.note.isprintable():
        raise Refusal("bad_args", f"a note has up to {NOTE_MAX} printable characters")
    taken = _reclassified(draft, command, args.code)
    last = last_shown(draft) if args.code in incidents.ABOUT_THE_LAST else None
    also: tuple[str, ...] = ()
    if args.position is not None:
        last = _named(draft, args)
    if args.code == "M-03":
        also = ("resume", "enter_card") if last is not None and open_to_correction(draft, last) else ("resume",)
    draft.incident(
        args.code,
        expected=incidents.EXPECTED.get(args.code, "the procedure as published"),
        actual=f"reported by {command.by}",
        cards=taken,
        position=last,
        ledger="known",
        note=args.note,
        also=also,
    )


def last_shown(draft: Draft) -> str | None:
    """Where the last card of the round lies, if its face is open."""
    round_ = draft.state.round
    if round_ is None or draft.state.phase not in DEAL_PHASES or not round_.cards or not round_.cards[-1].public:
        return None
    return round_.cards[-1].position


def _named(draft: Draft, args: c.Report) -> str:
    """The open card that a report is about."""
    round_ = draft.state.round
    shown = [card.position for card in round_.cards if card.public] if round_ is not None else []
    if args.code != "M-03" or draft.state.phase not in DEAL_PHASES or args.position not in shown:
        raise Refusal("bad_args", f"{args.code} at {(args.position or '')[:40]!r}: no open card lies there",
                      expected=", ".join(shown) or "no position")  # fmt: skip
    return args.position


def open_to_correction(draft: Draft, position: str) -> bool:
    """Nobody has decided anything since the card at ``position`` was shown, and nobody is asked now.

    The dealer's cards after the first are shown when all decisions have been made.
    """
    kind = draft.next_step().kind
    if kind == "sight" and draft.state.claims:
        return False
    if kind not in ("sight", "draw", "reveal", "finish", "confirm", "shoe_result", "peek"):
        return False
    if position.startswith("dealer/") and position != UP:
        return True
    round_ = draft.state.round
    return position == last_shown(draft) and round_ is not None and round_.decided_at < len(round_.cards)


def _reclassified(draft: Draft, command: c.Command, code: str) -> tuple[str, ...]:
    """The card of the open incident that the dealer knows more about: it was exposed, or lay face up."""
    for number, incident in sorted(draft.state.incidents.items(), reverse=True):
        if incident.code in incidents.BECOMES.get(code, ()):
            draft.emit(
                f.IncidentResolved(incident=number, resolution="reported", reason=f"it is {code}", by=command.by)
            )
            return incident.cards
    return ()


def acknowledge(draft: Draft, command: c.Command, args: c.Acknowledge) -> None:
    """An alarm is seen by a person with a name."""
    if not 1 <= args.incident <= draft.state.incident_count:
        raise Refusal(
            "no_incident", f"there was no incident {args.incident}", expected=f"1 to {draft.state.incident_count}"
        )
    if args.incident in draft.state.alarms:
        draft.emit(f.IncidentAcknowledged(incident=args.incident, by=command.by))


def device_command(draft: Draft, command: c.Command, args: c.DeviceCommand) -> None:
    """A technician has the shoe do something, while no card of it is due."""
    actions = draft.setting.traits.actions
    if args.action not in actions:
        has = ", ".join(actions) or "nothing: it takes no commands"
        raise Refusal("bad_args", f"the {args.device} does not {args.action[:40]!r}", expected=has)
    if args.device in draft.state.devices_lost:
        raise Refusal("not_allowed_now", f"the {args.device} is not heard", expected="device_restored")
    if draft.next_step().kind == "draw" and not draft.state.holds:
        raise Refusal("not_allowed_now", "a card is due from the shoe: have the table paused first", expected="pause")
    draft.emit(f.DeviceCommanded(device=args.device, action=args.action, reason=args.reason, by=command.by))
