"""The page's part on errors: what stops a round, what a void costs, who must agree, who must be there."""

from __future__ import annotations

from typing import Final

from controller.rules.describe_document import Rule, Section
from controller.rules.options import GameOptions

_HOLDS: Final = (
    "When something happens that the procedure does not allow, or a device is lost, the table holds at once. A "
    "supervisor chooses one of the resolutions that are legal then and gives a reason; play goes on at the same "
    "step, or the round is void"
)
_ON_ERROR: Final = {
    "pause_and_resolve": f"{_HOLDS}. The shoe stays.",
    "void_affected": f"{_HOLDS}: all bets of that round are affected, and no others. The shoe stays.",
    "cancel_and_reshuffle": f"{_HOLDS}, and then all cards are shuffled again before the next one.",
}
_ERROR_IDS: Final = {
    "boundless": "ERR-01 ERR-02 ERR-08",
    "classic": "ERR-04 ERR-08 ERR-10",
    "baccarat": "ERR-07 ERR-08",
}
_WRONG_PLACE: Final = {
    "leave_and_compensate": "A card at a wrong place stays there, and the place left out gets the next card.",
    "reassign": "A card at a wrong place is moved to where it belongs; the order of cards never changes.",
    "void": "A card at a wrong place makes the round void.",
}


def errors(options: GameOptions, *, booked: bool) -> Section:
    """Errors, void rounds, refunds, corrections."""
    limit = options.auto_void_after_s
    late = f"An incident or a lost device that lasts {limit:g} s voids the round." if limit else (
        "No round is voided by the passing of time."
    )  # fmt: skip
    insured = "" if options.game == "baccarat" else ", side bets and insurance included"
    refund = f"A void round gives every stake back{insured}; nothing of it is settled."
    if not booked:
        refund = "A void round has no result; the platform gives the stakes back."
    return Section(
        "errors",
        "Errors, void rounds and refunds",
        (
            Rule(_ON_ERROR[options.on_error or ""], _ERROR_IDS[options.game]),
            Rule(late, "ERR-03" if options.game == "boundless" else ""),
            Rule(_restart(options), "ERR-05" if options.on_restart != "resume" else ""),
            Rule(refund, "ERR-09 A-22" if options.game != "baccarat" else "ERR-09 BAC-16"),
            Rule("After a void the table stays shut until a supervisor reopens it. The round counts as one of the "
                 "shoe.", "A-04"),
            Rule(_WRONG_PLACE[options.position_error_policy]),
            Rule(
                "A card entered by hand and a correction of a published result need a second supervisor within "
                f"{options.approval_s:g} s. A corrected result is a new version; the old one stays on record."
            ),
            *_people(options),
            *_shoe(options),
        ),
    )  # fmt: skip


def _restart(options: GameOptions) -> str:
    if options.on_restart == "resume":
        return "After a restart of the table a round goes on when the order of its cards is proven."
    return (
        f"A round that was open while the table was away for more than {options.host_loss_void_after_s:g} s is void, "
        "and all cards are shuffled again."
    )


def _people(options: GameOptions) -> tuple[Rule, ...]:
    found = []
    if options.dealer_log_on == "required":
        found.append(Rule("Betting opens only while a dealer is logged on."))
    if options.lock_after_s:
        found.append(
            Rule(f"After {options.lock_after_s:g} s without a card or a command no betting opens until a new log-on.")
        )
    if options.confirm_result:
        found.append(
            Rule(
                "The dealer confirms that felt and screen agree before a result is published, within "
                f"{options.confirm_s:g} s; then a supervisor does."
            )
        )
    return tuple(found)


def _shoe(options: GameOptions) -> tuple[Rule, ...]:
    found = []
    if options.cut_card_left is not None:
        found.append(
            Rule(
                f"The cut card is put in {options.cut_card_left} cards from the end; where it comes out far from "
                "there a supervisor looks."
            )
        )
    if options.reconcile != "off":
        how = {"count": "counted", "read": "read to the last one"}[options.reconcile]
        found.append(
            Rule(f"When a shoe has ended its cards are {how}; unless all 416 are there a supervisor answers for it.")
        )
    return tuple(found)
