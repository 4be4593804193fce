"""Actions that need another person: asked for by one supervisor, approved or refused by another (REG-14, REG-24)."""

from __future__ import annotations

from typing import Any, Final, Literal

from controller import commands as c
from controller import facts as f
from controller.refusal import Refusal
from controller.table import betting
from controller.table.corrections import carry_out_correction, check_correction
from controller.table.draft import Draft
from controller.table.entries import carry_out_entry, check_entry
from controller.table.state import Approval

#: Who refuses when nobody answers in time.
BY_TIME: Final = "policy:approval_time"


def person_of(by: str) -> str:
    """The name in ``role:person``."""
    return by.partition(":")[2]


def request(
    draft: Draft, command: c.Command, action: Literal["enter_card", "correct"], reason: str, args: dict[str, Any]
) -> None:
    """Ask for another person. One request at a time: two could contradict each other."""
    for open_ in draft.state.approvals.values():
        raise Refusal(
            "not_allowed_now",
            f"{open_.action} by {open_.by} still waits for an answer",
            expected=f"approve with approval {open_.id}",
        )
    number = draft.state.approval_count + 1
    draft.emit(
        f.ApprovalRequested(
            approval=number,
            action=action,
            by=command.by,
            reason=reason,
            until_ms=round(draft.setting.rules.approval_s * 1000),
            args=args,
        )
    )
    draft.reply["approval"] = number


def enter_card(draft: Draft, command: c.Command, args: c.EnterCard) -> None:
    """A supervisor reads a card with the eyes that the reader could not (M-01)."""
    check_entry(draft, args.incident, args.card)
    request(draft, command, "enter_card", args.reason, {"incident": args.incident, "card": args.card})


def correct(draft: Draft, command: c.Command, args: c.Correct) -> None:
    """The last result rests on a wrong card, or was wrong to stand (M-32)."""
    check_correction(draft, args.round, args.cards, void=args.void)
    cards = [[position, card] for position, card in args.cards]
    request(draft, command, "correct", args.reason, {"round": args.round, "cards": cards, "void": args.void})


def approve(draft: Draft, command: c.Command, args: c.Approve) -> None:
    """Another person's answer."""
    asked = draft.state.approvals.get(args.approval)
    if asked is None:
        open_ = ", ".join(map(str, draft.state.approvals)) or "none is open"
        raise Refusal("not_allowed_now", f"approval {args.approval} is not asked for", expected=open_)
    if args.accept and person_of(asked.by) == command.person:
        raise Refusal(
            "same_person",
            f"{command.person} asked for it: another person must approve",
            expected="another supervisor",
        )
    if not args.accept:
        draft.emit(f.ApprovalRefused(approval=asked.id, by=command.by, reason=args.reason))
        return
    draft.emit(f.ApprovalGiven(approval=asked.id, by=command.by, reason=args.reason))
    _carry_out(draft, asked, command.by)


def _carry_out(draft: Draft, asked: Approval, approved_by: str) -> None:
    args = asked.args
    if asked.action == "enter_card":
        check_entry(draft, args["incident"], args["card"])
        carry_out_entry(draft, args["incident"], args["card"], asked, approved_by)
    else:
        cards = [(position, card) for position, card in args["cards"]]
        check_correction(draft, args["round"], cards, void=args["void"])
        carry_out_correction(draft, cards, asked, approved_by, void=args["void"])
        betting.settle(draft)


def expire(draft: Draft) -> None:
    """Nobody answered in time."""
    for number in list(draft.state.approvals):
        draft.emit(f.ApprovalRefused(approval=number, by=BY_TIME, reason="nobody answered in time"))


def withdraw(draft: Draft) -> None:
    """What was asked for concerns an incident or a round that is gone."""
    for asked in list(draft.state.approvals.values()):
        if asked.action == "enter_card" and asked.args["incident"] not in draft.state.incidents:
            draft.emit(
                f.ApprovalRefused(
                    approval=asked.id, by="policy:procedure", reason="the incident is settled another way"
                )
            )
