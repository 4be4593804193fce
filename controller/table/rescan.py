"""Cards going past the reader again, to prove their order (M-30, hold ``restart``)."""

from __future__ import annotations

from controller import facts as f
from controller.cards import HIDDEN
from controller.table.draft import Draft


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
