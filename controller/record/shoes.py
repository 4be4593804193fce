"""A shoe's record: burn, cut card, rounds, incidents, and how its cards were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from controller.cards import SHOE_SIZE
from controller.frames import iso_ms
from controller.record.statistics import MISREADS, Intervals
from controller.record.told import Json, Told

_CARDS: Final = frozenset({"card_dealt", "card_burned", "burn_indicator_drawn"})
_PAUSES: Final = frozenset(
    {"betting_opened", "betting_closed", "insurance_offered", "decision_opened", "dealer_peeked", "paused", "resumed"}
    | {"incident_raised", "incident_resolved", "device_lost", "device_restored", "round_result", "round_voided"}
)


def shoe_report(told: Iterable[Told]) -> Json:
    """The report of the shoe whose facts these are, ``shoe_loaded`` first.

    ``cards_out`` counts cards dealt, burned or put aside. Faces are not counted: while a shoe is in play that would
    tell what is left in it.
    """
    shoe: Json = {
        "shoe": None, "loaded_at": None, "loaded_by": None, "ended_at": None, "void": None,
        "burn": {"card": None, "count": None, "done": 0},
        "cut_card": None, "last_round": None, "cards_out": 0, "cards_in_shoe": SHOE_SIZE,
        "rounds": [], "incidents": {}, "misreads": 0, "repeated": 0, "out_of_game": 0, "held": 0, "put_aside": 0,
    }  # fmt: skip
    reader = _Reader(shoe)
    for one in told:
        reader.take(one)
    shoe["incidents"] = dict(sorted(reader.incidents.items()))
    shoe["read_interval_ms"] = reader.intervals.as_json()
    return shoe


class _Reader:
    """Folds the facts of one shoe into its report."""

    def __init__(self, shoe: Json) -> None:
        self._shoe = shoe
        self.incidents: Counter[str] = Counter()
        self.intervals = Intervals()
        self._last: int | None = None

    def take(self, told: Told) -> None:
        """The next fact."""
        shoe, data, at = self._shoe, told.data, iso_ms(told.at_ms)
        if told.type in _PAUSES:
            self._last = None
        if told.type in _CARDS:
            self._card(told)
        match told.type:
            case "shoe_loaded":
                shoe |= {"shoe": told.shoe, "loaded_at": at, "loaded_by": data["by"]}
            case "burn_indicator_drawn":
                shoe["burn"] |= {"card": data["card"], "count": data["count"]}
            case "card_burned":
                shoe["burn"] |= {"count": data["of"], "done": data["done"]}
            case "cut_card_drawn":
                shoe["cut_card"] = {"at": at, "after_cards": shoe["cards_out"], "round": told.round}
                shoe["last_round"] = data["last_round"]
            case "shoe_ended":
                shoe["ended_at"] = at
            case "shoe_voided":
                shoe["void"] = {"at": at, **data}
            case "betting_opened":
                shoe["rounds"].append(
                    {"round": told.round, "at": at, "status": "in_progress", "cards": 0, "incidents": []}
                )
            case _:
                self._rest(told, data)

    def _card(self, told: Told) -> None:
        shoe = self._shoe
        shoe["cards_out"] += 1
        if self._last is not None:
            self.intervals.add(told.at_ms - self._last)
        self._last = told.at_ms
        if told.type == "card_dealt" and shoe["rounds"]:
            shoe["rounds"][-1]["cards"] += 1

    def _rest(self, told: Told, data: Any) -> None:
        shoe = self._shoe
        current = shoe["rounds"][-1] if shoe["rounds"] else None
        match told.type:
            case "round_result" | "round_voided" if current is not None:
                current["status"] = "complete" if told.type == "round_result" else "void"
                if told.type == "round_voided" and data.get("shoe"):
                    shoe["void"] = {"at": iso_ms(told.at_ms), **data}
            case "incident_raised":
                self.incidents[data["code"]] += 1
                shoe["misreads"] += data["code"] in MISREADS
                if current is not None:
                    current["incidents"].append(data["code"])
            case "incident_resolved":
                if data["resolution"] == "burn_card":
                    shoe["put_aside"] += 1
                    shoe["cards_out"] += 1
            case "read_repeated":
                shoe["repeated"] += 1
            case "read_out_of_game":
                shoe["out_of_game"] += 1
            case "card_held":
                shoe["held"] += 1
