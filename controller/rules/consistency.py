"""Whether other faces would have led to the same round: the same steps, windows and options (M-32, REG-04)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from controller.rules.options import GameOptions
from controller.rules.round import Round
from controller.rules.steps import Step

#: No round has as many steps; reaching this means that the faces do not fit the procedure at all.
_LIMIT = 400
#: Steps at which players decide something.
_DECISIONS = ("insurance", "decide")


def walk(procedure: Any, round_: Round, rules: GameOptions, faces: Mapping[str, str]) -> list[Step] | None:
    """The steps that lead through ``round_`` if ``faces`` (position to face) lay at its places; None if the procedure
    cannot end there. Windows are answered as they were. A drawn card is named by the place it has in the end."""
    again = Round(id=round_.id, number=round_.number, seats=round_.seats)
    cards = [replace(c, card=faces.get(c.position, c.card)) for c in round_.cards]
    demands = list(round_.answered.values())
    steps: list[Step] = []
    while len(steps) < _LIMIT:
        step = procedure.next_step(again, rules)
        lines = procedure.parting(again, step)
        if lines is not None:
            again.part(lines)
            continue
        match step.kind:
            case "finish":
                return steps if len(again.cards) == len(cards) else None
            case "draw":
                card = next((c for c in cards if _lies(c.position, again) == step.position), None)
                if card is None:
                    return None
                again.place(replace(card, position=step.position or "", public=not step.hidden))
                step = msgspec.structs.replace(step, position=card.position)
            case "insurance":
                again.insurance = "closed"
            case "peek":
                again.peeked = procedure.peek(again)
                if again.peeked != round_.peeked:
                    return None
            case "reveal":
                there = again.at(step.position or "")
                if there is None:
                    return None
                again.reveal(step.position or "", there)
            case "decide":
                found = next((d for d in demands if (d.line, d.prefix_len) == (step.line, step.prefix_len)), None)
                if found is None:
                    return None
                demands.remove(found)
                again.demands[found.line, found.prefix_len] = found
            case _:
                return None
        steps.append(step)
    return None


def _lies(position: str, again: Round) -> str:
    """Where a card of the finished round lay at this point: a seat's second card moves when its hand is split."""
    line, _, place = position.rpartition("/")
    moved = place == "0" and line.startswith("seat/") and line.endswith("/hand/1") and line not in again.parted
    return f"{line[:-1]}0/1" if moved else position


def influenced(steps: list[Step], positions: frozenset[str]) -> bool:
    """Players decided something while a face at ``positions`` was open to them."""
    shown: set[str] = set()
    for step in steps:
        place = step.position or ""
        if (step.kind == "draw" and not step.hidden) or step.kind == "reveal":
            shown.add(place)
        elif step.kind in _DECISIONS and step.line != "dealer" and shown & positions:
            return True
    return False
