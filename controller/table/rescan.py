"""Cards going past the reader again, to prove their order (M-30, hold ``restart``)."""

from __future__ import annotations

from controller import commands as c
from controller import facts as f
from controller.cards import HIDDEN
from controller.refusal import Refusal
from controller.table.draft import Draft


def start_rescan(draft: Draft, command: c.Command, hold: str, cards: int | None, reason: str) -> None:
    """``cards`` on the felt are to pass the reader again in order; None: as many as recorded. Raises ``Refusal``."""
    recorded = len(draft.state.on_felt)
    total = recorded if cards is None else cards
    if not recorded <= total <= recorded + 20:
        raise Refusal(
            "bad_args",
            f"{total} cards on the felt cannot be rescanned against {recorded} recorded: void the round",
            expected=f"cards: {recorded} or a few more",
        )
    draft.emit(f.RescanStarted(hold=hold, cards=total, reason=reason, by=command.by))
    end_rescan(draft)


def rescanned(draft: Draft, card: str) -> None:
    """One card read again: it must be the recorded one; beyond the record it is new, but not while something else
    holds the table, when nothing is to pass the reader."""
    rescan = draft.state.rescan
    assert rescan is not None
    recorded = rescan.expected[rescan.done] if rescan.done < len(rescan.expected) else None
    if recorded not in (None, HIDDEN, card):
        _doubt(draft, card, f"card {rescan.done + 1} as recorded", "another card")
        return
    if recorded in (None, HIDDEN) and set(draft.state.holds) != {rescan.hold}:
        _doubt(draft, card, "no card while the table is held", "a card passed the reader")
        return
    draft.emit(f.CardRescanned(card=card, extra=recorded is None))
    end_rescan(draft)


def _doubt(draft: Draft, card: str, expected: str, actual: str) -> None:
    """It lies on the felt, so most likely it is one of those recorded."""
    draft.incident("M-30", expected=expected, actual=actual, cards=(card,), ledger="known")


def end_rescan(draft: Draft) -> None:
    """Lift the hold when every card on the felt was read again."""
    rescan = draft.state.rescan
    if rescan is None or rescan.done < rescan.total:
        return
    reason, by = f"{rescan.total} cards read again in order", "policy:rescan"
    if rescan.hold.startswith("incident:"):
        number = int(rescan.hold.split(":")[1])
        draft.emit(f.IncidentResolved(incident=number, resolution="rescan", reason=reason, by=by))
    else:
        draft.emit(f.Resumed(hold=rescan.hold, reason=reason, by=by))
