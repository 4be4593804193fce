"""Cards going past the reader again, to prove their order (M-30, hold ``restart``)."""

from __future__ import annotations

from controller import facts as f
from controller.cards import HIDDEN
from controller.table.draft import Draft


def rescanned(draft: Draft, card: str) -> None:
    """One card read again: it must be the recorded one; beyond the record it is new."""
    rescan = draft.state.rescan
    assert rescan is not None
    if rescan.done < len(rescan.expected):
        recorded = rescan.expected[rescan.done]
        if card != recorded and recorded != HIDDEN:
            draft.incident(
                "M-30",
                expected=f"card {rescan.done + 1} as recorded",
                actual="another card",
                cards=(card,),
                ledger="known",  # it lies on the felt, so most likely it is one of those recorded
            )
            return
        draft.emit(f.CardRescanned(card=card))
    else:
        draft.emit(f.CardRescanned(card=card, extra=True))
    end_rescan(draft)


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
