"""Checks a read card must pass before it is dealt: identity, inventory, place."""

from __future__ import annotations

from dataclasses import dataclass

from controller import facts as f
from controller.cards import DECKS, HIDDEN
from controller.rules.steps import Step
from controller.table.draft import Draft

#: Beyond this many open incidents a babbling device adds records, not decisions for a person.
MAX_OPEN = 20


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a card was not dealt."""

    code: str
    expected: str
    actual: str
    cards: tuple[str, ...]
    position: str
    secret: bool
    counted: bool

    def raise_on(self, draft: Draft) -> None:
        """Make it an incident."""
        draft.incident(
            self.code,
            expected=self.expected,
            actual=self.actual,
            cards=self.cards,
            position=self.position,
            secret=self.secret,
            ledger="waiting" if self.counted else "new",
        )


def card_fault(draft: Draft, step: Step, position: str, card: str, *, counted: bool = False) -> Fault | None:
    """What keeps ``card`` from ``position``; None if nothing does. ``counted``: it already left the ledger."""
    shoe = draft.state.shoe
    assert shoe is not None
    if card == HIDDEN:
        # Only baccarat can be dealt without faces; a burn indicator must show its value (SHOE-08).
        if draft.setting.rules.game == "baccarat" and position != "burn/0":
            return None
        return Fault("M-01", f"a card with a face for {position}", "no face", (card,), position, step.hidden, counted)
    copies = shoe.seen.get(card, 0) - (1 if counted else 0)
    if copies >= DECKS:
        return Fault(
            "M-26",
            f"at most {DECKS} copies of a card",
            f"copy {copies + 1} of {card}",
            (card,),
            position,
            step.hidden,
            counted,
        )
    return None


def extra_card(draft: Draft, card: str, *, counted: bool = False) -> None:
    """A card left the shoe and no step takes it. Its face stays out of the feed: it may lie face down."""
    state = draft.state
    if len(state.incidents) >= MAX_OPEN and not counted:
        draft.emit(f.ReadOutOfGame(card=card))
        return
    step = draft.next_step()
    copies = state.shoe.seen.get(card, 0) - (1 if counted else 0) if state.shoe is not None else 0
    if copies >= DECKS:
        code, expected = "M-26", f"at most {DECKS} copies of a card"
    elif state.phase == "betting":
        code, expected = "M-05", "no card before bets are closed"
    elif state.phase == "burning":
        burn = state.shoe.burned if state.shoe is not None else 0
        code, expected = "M-22", f"no card after {burn} burned"
    else:
        code, expected = "M-08", f"no card while the step is {step.kind}"
    draft.incident(
        code, expected=expected, actual="a card left the shoe", cards=(card,), ledger="waiting" if counted else "new"
    )
