"""Corrections after the result: a new version of it, the old one stays (M-03, M-32, REG-04, REG-14).

A correction changes faces that nobody decided on. Where players decided with a wrong face before their eyes, or where
the right face would have led the procedure elsewhere, the round can only be declared void by a new version, which
returns every stake.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from controller import facts as f
from controller.refusal import Refusal
from controller.rules.consistency import influenced, walk
from controller.rules.roads import roads
from controller.rules.round import Round
from controller.table.draft import Draft
from controller.table.entries import check_face
from controller.table.state import Approval

Cards = Sequence[tuple[str, str]]


def check_correction(draft: Draft, round_id: str, cards: Cards, *, void: bool) -> None:
    """Raise ``Refusal`` unless the last round's result may be corrected so."""
    round_ = _settled(draft, round_id)
    if not void and not cards:
        raise Refusal("bad_args", "nothing to correct", expected="cards, each with its position, or void")
    places = [position for position, _ in cards]
    for position, card in cards:
        before = round_.at(position)
        if before is None or places.count(position) > 1:
            raise Refusal(
                "bad_args",
                f"no single card lies at {position[:40]!r} in that round",
                expected=", ".join(c.position for c in round_.cards),
            )
        if before == card:
            raise Refusal("bad_args", f"{position} is {card} already", expected="only cards that were wrong")
        more = [c for _, c in cards].count(card) - [round_.at(p) for p, _ in cards].count(card)
        check_face(draft, card, more=more)
    if not void:
        _check_consistent(draft, round_, dict(cards))


def _settled(draft: Draft, round_id: str) -> Round:
    state = draft.state
    round_, book = state.round, state.betting
    if round_ is None or round_.id != round_id or round_.outcome is None:
        last = round_.id if round_ is not None and round_.outcome is not None else "none: it has gone"
        raise Refusal("wrong_round", f"round {round_id[:60]!r} is not the last one with a result", expected=last)
    if book is not None and book.phase == "due":
        raise Refusal("not_allowed_now", "the result is still being settled", expected="bets_settled")
    if book is not None and book.void_version:
        raise Refusal("not_allowed_now", "that round was declared void: nothing is left to correct")
    return round_


def _check_consistent(draft: Draft, round_: Round, faces: dict[str, str]) -> None:
    rules, procedure = draft.setting.rules, draft.procedure
    was = walk(procedure, round_, rules, {})
    would = walk(procedure, round_, rules, faces)
    if was is None or would != was:
        raise Refusal(
            "not_correctable",
            "with these cards the procedure would have gone another way",
            expected="correct with void: true, which returns every stake",
        )
    if influenced(was, frozenset(faces)):
        raise Refusal(
            "not_correctable",
            "players decided with the wrong card before their eyes",
            expected="correct with void: true, which returns every stake",
        )


def carry_out_correction(draft: Draft, cards: Cards, asked: Approval, approved_by: str, *, void: bool) -> None:
    """Put the right cards into the record and publish the next version of the result."""
    round_ = draft.state.round
    assert round_ is not None
    for position, card in cards:
        draft.emit(f.CardCorrected(position=position, card=card, before=round_.at(position) or ""))
    now = draft.state.round
    assert now is not None
    assert now.outcome is not None
    result: dict[str, Any] = now.outcome if void else draft.procedure.result(now)
    draft.emit(
        f.ResultCorrected(
            supersedes=now.version,
            hands=result["hands"],
            outcomes=result["outcomes"],
            roads=_roads(draft, result, void=void),
            voided=void,
            reason=asked.reason,
            by=asked.by,
            approved_by=approved_by,
        )
    )


def _roads(draft: Draft, result: dict[str, Any], *, void: bool) -> dict[str, Any] | None:
    """The shoe's roads with the corrected round in its place; a void one is in none (procedures page 5.3)."""
    if draft.setting.rules.game != "baccarat":
        return None
    assert draft.state.shoe is not None
    before = draft.state.shoe.winners[:-1]
    return dict(roads(before if void else [*before, result["outcomes"]["winner"]]))
