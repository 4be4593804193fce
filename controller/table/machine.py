"""The phases of a table as a ``transitions.Machine``: flat, synchronous, driven by facts.

``TRANSITIONS`` is data. A trigger is the type of the fact that fires it; a guard raises ``Refusal`` and leaves the
phase as it was. Callbacks do nothing else.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from transitions import Machine, MachineError

from controller.refusal import Refusal

if TYPE_CHECKING:
    from controller.facts import Fact
    from controller.table.state import TableState

# The library tells of every callback it finishes, at INFO.
logging.getLogger("transitions").setLevel(logging.WARNING)

PHASES: Final = (
    "closed",
    "shoe_change",
    "burning",
    "betting",
    "dealing",
    "insurance",
    "deciding",
    "dealer_drawing",
    "result",
    "voided",
)
_ROUND: Final = ("betting", "dealing", "insurance", "deciding", "dealer_drawing")


def shoe_is_new(state: TableState, fact: Any) -> None:
    """A shoe id is never used twice."""
    if fact.shoe in state.shoe_ids:
        raise Refusal("shoe_known", f"shoe {fact.shoe} was in play before: every shoe needs its own id")


def shoe_is_ready(state: TableState, fact: Any) -> None:  # noqa: ARG001 - all guards are called alike
    """SHOE-05, SHOE-10: the burn is complete and a round remains."""
    shoe = state.shoe
    if shoe is None or shoe.void:
        raise Refusal("not_allowed_now", "there is no shoe in play", expected="load_shoe")
    if shoe.burn_of is not None and shoe.burned < shoe.burn_of:  # None: no burn, or its first card is still due
        left = f"{shoe.burn_of - shoe.burned} card(s)"
        raise Refusal("not_allowed_now", f"the burn is not complete: {left} still to draw", expected="burn")
    if shoe.last_round is not None and shoe.rounds >= shoe.last_round:
        raise Refusal("not_allowed_now", "the last round of this shoe was played", expected="load_shoe")


def _t(trigger: str, source: str | tuple[str, ...], dest: str, *guards: Callable[..., None]) -> dict[str, Any]:
    return {"trigger": trigger, "source": list((source,) if isinstance(source, str) else source), "dest": dest,
            "conditions": [_Passes(g) for g in guards]}  # fmt: skip


class _Passes:
    """A guard as the machine calls it."""

    def __init__(self, guard: Callable[..., None]) -> None:
        self.guard = guard
        self.__name__ = guard.__name__

    def __call__(self, event: Any) -> bool:
        self.guard(event.kwargs["state"], event.kwargs["fact"])
        return True


TRANSITIONS: Final = [
    _t("shift_started", "closed", "shoe_change"),
    _t("shift_ended", ("shoe_change", "burning", "result", "voided"), "closed"),
    _t("shoe_loaded", "shoe_change", "burning", shoe_is_new),
    _t("betting_opened", ("burning", "result"), "betting", shoe_is_ready),
    _t("betting_closed", "betting", "dealing"),
    _t("insurance_offered", "dealing", "insurance"),
    _t("decision_opened", ("dealing", "insurance", "deciding"), "deciding"),
    _t("decision_opened", "dealer_drawing", "dealer_drawing"),
    _t("hole_revealed", ("dealing", "insurance", "deciding"), "dealer_drawing"),
    _t("dealer_second_dealt", ("dealing", "insurance", "deciding"), "dealer_drawing"),
    _t("round_result", ("dealing", "insurance", "deciding", "dealer_drawing"), "result"),
    _t("round_voided", _ROUND, "voided"),
    _t("shoe_voided", ("burning", "result"), "voided"),
    _t("table_reopened", "voided", "result"),
    _t("shoe_change_started", ("burning", "result"), "shoe_change"),
]
TRIGGERS: Final = frozenset(t["trigger"] for t in TRANSITIONS)


class _Phase:
    """The model: one attribute that the machine moves."""

    state: str


class PhaseMachine:
    """Moves a phase by a trigger, or refuses."""

    def __init__(self) -> None:
        self._model = _Phase()
        self._machine = Machine(
            model=self._model,
            states=list(PHASES),
            transitions=TRANSITIONS,
            initial="closed",
            auto_transitions=False,
            send_event=True,
            ignore_invalid_triggers=False,
            queued=False,
        )
        # The machine's own table, read once: where one transition is possible, all that is left to do is to ask its
        # guards. The library's events, callbacks and log would cost more than the rest of a fact.
        events: Any = self._machine.events
        self._moves: dict[tuple[str, str], tuple[list[Callable[..., None]], str]] = {
            (name, source): ([one.func.guard for one in found[0].conditions], found[0].dest)
            for name, event in events.items()
            for source, found in event.transitions.items()
            if len(found) == 1
        }

    def fire(self, trigger: str, state: TableState, fact: Fact) -> str:
        """The phase after ``trigger``. Raises ``Refusal`` if the phase or a guard does not allow it."""
        move = self._moves.get((trigger, state.phase))
        if move is not None:
            guards, dest = move
            for guard in guards:
                guard(state, fact)
            return dest
        self._model.state = state.phase
        try:
            self._model.trigger(trigger, state=state, fact=fact)  # type: ignore[attr-defined]
        except MachineError as error:
            allowed = sorted({t["trigger"] for t in TRANSITIONS if state.phase in t["source"]})
            raise Refusal(
                "not_allowed_now", f"{trigger} is not possible in phase {state.phase}", expected=", ".join(allowed)
            ) from error
        return self._model.state


def diagram() -> str:
    """The phases as a Mermaid state diagram, from ``TRANSITIONS``."""
    lines = ["stateDiagram-v2", "    [*] --> closed"]
    for t in TRANSITIONS:
        note = (
            " [" + ", ".join(c.__name__.replace("_", " ") for c in t["conditions"]) + "]" if t["conditions"] else ""
        )
        lines += [f"    {source} --> {t['dest']}: {t['trigger']}{note}" for source in t["source"]]
    return "\n".join(lines) + "\n"
