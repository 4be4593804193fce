"""A fact as it may be told: without hidden cards, and with players counted instead of named."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from controller.facts import decode_fact
from controller.frames import iso_ms
from controller.journal.records import FactRow

Json = dict[str, Any]

#: The phase in which a fact leaves the table. What is not here leaves it as it was.
_PHASE: Final = {
    "betting_opened": "betting",
    "betting_closed": "dealing",
    "insurance_offered": "insurance",
    "round_result": "result",
    "round_voided": "voided",
    "shoe_voided": "voided",
    "table_reopened": "result",
}
_HOLE: Final = "dealer/1"


class Told(NamedTuple):
    """A fact's place, time (UTC, milliseconds) and what may be told of its content."""

    n: int
    at_ms: int
    epoch: int
    type: str
    shoe: str | None
    round: str | None
    data: Json

    def as_json(self) -> Json:
        """For an answer or an export: ``{n, at, type, data}``."""
        return {"n": self.n, "at": iso_ms(self.at_ms), "type": self.type, "data": self.data}


def tell(row: FactRow) -> Told:
    """What may be told of a stored fact. Raises ``msgspec.DecodeError`` if this program does not know it."""
    fact = decode_fact(row.body)
    data = fact.masked_data()
    rows = getattr(fact, "rows", None)
    if rows is not None:
        data["rows"] = len(rows)
    if row.type == "decisions_taken":
        data["requests"] = _counted(one.request for one in rows or ())
    return Told(row.n, row.at_ms, row.epoch, row.type, row.shoe, row.round, data)


def phase_after(phase: str, told: Told) -> str:
    """The table's phase after a fact of a round."""
    data = told.data
    if told.type == "decision_opened":
        return phase if phase == "dealer_drawing" else "deciding"
    if data.get("position") == _HOLE and (
        told.type == "card_revealed" or (told.type == "card_dealt" and data["card"] != "**")
    ):
        return "dealer_drawing"
    return _PHASE.get(told.type, phase)


def person_of(by: Any) -> str | None:
    """``by`` if it names a person, None for a policy, a device or nothing."""
    return by if isinstance(by, str) and ":" in by and not by.startswith("policy:") else None


def _counted(names: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in names:
        found[name] = found.get(name, 0) + 1
    return found
