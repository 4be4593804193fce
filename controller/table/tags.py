"""Readings of an RFID reader that name no card to be dealt: doubles, foreign cards, two at once."""

from __future__ import annotations

from controller import facts as f
from controller.cards import HIDDEN
from controller.table.draft import Draft
from controller.table.rescan import rescanned
from drivers import events as e


def tags_left(draft: Draft, event: e.Event) -> None:
    """Keep which tags have left the shoe: after a restart the driver cannot know it by itself."""
    shoe = draft.state.shoe
    match event:
        case e.CardDrawn(tag=str(tag)) | e.CutCard(tag=str(tag)):
            tags: tuple[str, ...] = (tag,)
        case e.TagsTogether(tags=tags):
            pass
        case _:
            return
    fresh = tuple(tag for tag in tags if shoe is not None and tag not in shoe.tags)
    if fresh:
        draft.emit(f.TagsLeft(tags=fresh))


def tag_event(draft: Draft, event: e.Event) -> None:
    """M-04, M-26: never a card, and between shoes nothing but a record."""
    state = draft.state
    if state.phase in ("closed", "shoe_change", "voided"):
        return
    match event:
        case e.TagRepeated(card=card):
            if state.rescan is not None:
                rescanned(draft, card)
            elif card not in state.on_felt:  # a card of the felt shown again changes nothing
                _foul(draft, "a card that had left the shoe before", (card,), known=True)
        case e.TagsTogether(cards=cards):
            draft.incident("M-04", expected="one card at a time", actual=f"{len(cards)} cards together", cards=cards)
        case e.TagForeign(card=card):
            _foul(draft, "a card of another shoe", (card,))
        case e.TagUnknown():
            _foul(draft, "a card that was never enrolled", (HIDDEN,))


def _foul(draft: Draft, what: str, cards: tuple[str, ...], *, known: bool = False) -> None:
    draft.incident(
        "M-26", expected="cards of this shoe, each once", actual=what, cards=cards, ledger="known" if known else "new"
    )
