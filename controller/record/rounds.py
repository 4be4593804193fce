"""A round's whole record, from its facts: phases, cards, decisions, incidents, holds, persons, versions.

Made of what may be told only (``told``), so a card that was never revealed reads ``**`` here, too. Who bet what is
not part of it (``bets``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from controller.cards import HIDDEN
from controller.frames import iso_ms
from controller.record.told import Json, Told, person_of, phase_after


class RoundRecord:
    """Folds the told facts of one round, given in order, into ``data``: one JSON object."""

    def __init__(self, first: Told, *, dealer: str | None = None, context: Json | None = None) -> None:
        """``first``: the round's ``betting_opened``; ``dealer``: who was logged on then; ``context`` is copied."""
        self._phase_since = first.at_ms
        self._window: Json | None = None
        self.data: Json = {
            "round": first.round,
            "shoe": first.shoe,
            "status": "in_progress",
            "phase": "betting",
            "version": 1,
            "opened_at": iso_ms(first.at_ms),
            "closed_at": None,
            "last_round": first.data["last_round"],
            "dealer": dealer,
            **(context or {}),
            "seats": [],
            "phases": [],
            "cards": [],
            "held": [],
            "put_aside": [],
            "windows": [],
            "insurance": None,
            "peeked": None,
            "bets": {"count": 0, "total": 0, "stake": None, "returned": None, "players": 0},
            "results": [],
            "corrections": [],
            "void": None,
            "incidents": [],
            "holds": [],
            "approvals": [],
            "devices": [],
            "manual": False,
            "persons": [],
            "timeline": [],
        }
        self.add(first)

    def add(self, told: Told) -> None:
        """Take the next fact of the round."""
        data = self.data
        data["timeline"].append(told.as_json())
        phase = phase_after(data["phase"], told)
        if phase != data["phase"]:
            self._end_phase(told.at_ms)
            data["phase"], self._phase_since = phase, told.at_ms
        handler = _FOLD.get(told.type)
        if handler is not None:
            handler(self, told, told.data)
        for key in ("by", "dealer", "approved_by"):
            person = person_of(told.data.get(key))
            if person is not None:
                self._person(person, told.type)

    def finish(self) -> Json:
        """The record so far."""
        data = dict(self.data)
        data["phases"] = [*data["phases"], self._phase(None)]
        data["bets"] = {key: value for key, value in data["bets"].items() if key != "posting"}
        return data

    def open_sealed(self, keys: Iterable[Json], at_ms: int) -> None:
        """Cards never shown are opened when the shoe has ended; ``keys`` are those of ``shoe_ended``."""
        for key in keys:
            if key["round"] == self.data["round"]:
                self._reveal(key["position"], key["card"], key.get("key"), at_ms)

    def _phase(self, until_ms: int | None) -> Json:
        ms = None if until_ms is None else until_ms - self._phase_since
        to = None if until_ms is None else iso_ms(until_ms)
        return {"phase": self.data["phase"], "from": iso_ms(self._phase_since), "to": to, "ms": ms}

    def _end_phase(self, at_ms: int) -> None:
        self.data["phases"].append(self._phase(at_ms))

    def _person(self, person: str, did: str) -> None:
        for entry in self.data["persons"]:
            if entry["person"] == person:
                if did not in entry["did"]:
                    entry["did"].append(did)
                return
        self.data["persons"].append({"person": person, "did": [did]})

    def _reveal(self, position: str, card: str, key: str | None, at_ms: int) -> None:
        for entry in self.data["cards"]:
            if entry["position"] == position:
                entry |= {"card": card, "key": key, "revealed_at": iso_ms(at_ms)}

    # --- by type -------------------------------------------------------------------------------------------

    def _closed(self, told: Told, data: Json) -> None:  # noqa: ARG002 -- all handlers are called alike
        self.data["seats"] = data.get("seats", [])

    def _dealt(self, told: Told, data: Json) -> None:
        self.data["cards"].append(
            {
                "card": data["card"],
                "position": data["position"],
                "at": iso_ms(told.at_ms),
                "validated_by": data.get("validated_by", ["shoe"]),
                "commitment": data.get("commitment"),
                "key": None,
                "revealed_at": None,
                "corrected": [],
            }
        )

    def _revealed(self, told: Told, data: Json) -> None:
        self._reveal(data["position"], data["card"], data.get("key"), told.at_ms)

    def _held(self, told: Told, data: Json) -> None:
        self.data["held"].append({"position": data["position"], "at": iso_ms(told.at_ms)})

    def _split(self, told: Told, data: Json) -> None:  # noqa: ARG002
        first, second = data["lines"]
        for entry in self.data["cards"]:
            if first.startswith("seat/") and entry["position"] == f"{first}/1":
                entry["position"] = f"{second}/0"

    def _corrected(self, told: Told, data: Json) -> None:
        for entry in self.data["cards"]:
            if entry["position"] == data["position"]:
                change = {"before": data["before"], "after": data["card"], "at": iso_ms(told.at_ms)}
                entry["corrected"].append(change)
                entry["card"] = data["card"]
                self._correction(told)["cards"].append({"position": data["position"], **change})

    def _correction(self, told: Told) -> Json:
        """The correction that this fact belongs to: all of one came at one time, after its approval."""
        at = iso_ms(told.at_ms)
        if not self.data["corrections"] or self.data["corrections"][-1]["at"] != at:
            given: Json = next((one for one in reversed(self.data["approvals"]) if one["given"]), {})
            self.data["corrections"].append(
                {
                    "at": at,
                    "by": given.get("by"),
                    "approved_by": given.get("closed_by"),
                    "reason": given.get("reason"),
                    "cards": [],
                    "before": None,
                    "after": None,
                }
            )
        found: Json = self.data["corrections"][-1]
        return found

    def _reassigned(self, told: Told, data: Json) -> None:  # noqa: ARG002
        for entry in self.data["cards"]:
            if entry["position"] == data["position"]:
                entry["position"] = data["to"]

    def _offered(self, told: Told, data: Json) -> None:  # noqa: ARG002
        self.data["insurance"] = {"from": iso_ms(told.at_ms), "to": None, "by": None, "taken": 0}

    def _insured(self, told: Told, data: Json) -> None:  # noqa: ARG002
        if self.data["insurance"] is not None:
            self.data["insurance"]["taken"] += data["rows"]

    def _offer_closed(self, told: Told, data: Json) -> None:
        if self.data["insurance"] is not None:
            self.data["insurance"] |= {"to": iso_ms(told.at_ms), "by": data["by"]}

    def _peeked(self, told: Told, data: Json) -> None:  # noqa: ARG002
        self.data["peeked"] = data["blackjack"]

    def _window_opened(self, told: Told, data: Json) -> None:
        self._window = {
            "line": data["line"], "prefix_len": data["prefix_len"], "options": data["options"],
            "from": iso_ms(told.at_ms), "to": None, "requests": {}, "draw": None, "split": None,
        }  # fmt: skip
        self.data["windows"].append(self._window)

    def _decided(self, told: Told, data: Json) -> None:  # noqa: ARG002
        if self._window is not None:
            requests = self._window["requests"]
            for name, count in data["requests"].items():
                requests[name] = requests.get(name, 0) + count

    def _window_closed(self, told: Told, data: Json) -> None:
        if self._window is None:
            self._window_opened(told, data | {"options": []})
        assert self._window is not None
        self._window |= {"to": iso_ms(told.at_ms), "draw": data["draw"], "split": data.get("split", False)}
        self._window = None

    def _bets(self, told: Told, data: Json) -> None:  # noqa: ARG002
        bets = self.data["bets"]
        bets["count"] += data["count"]
        bets["total"] += data["total"]

    def _settled(self, told: Told, data: Json) -> None:  # noqa: ARG002
        self.data["bets"] |= {"stake": data["stake"], "returned": data["returned"]}

    def _posted(self, told: Told, data: Json) -> None:
        bets = self.data["bets"]
        bets["players"] = data["rows"] + (bets["players"] if bets.get("posting") == told.type else 0)
        bets["posting"] = told.type

    def _result(self, told: Told, data: Json) -> None:
        results = self.data["results"]
        results.append({"version": len(results) + 1, "at": iso_ms(told.at_ms)} | data)
        self.data["version"] = len(results)
        if len(results) == 1:
            self.data |= {"status": "complete", "closed_at": iso_ms(told.at_ms)}

    def _result_corrected(self, told: Told, data: Json) -> None:
        self._result(told, data)
        before, after = self.data["results"][-2:]
        who = {key: data[key] for key in ("by", "approved_by", "reason")}
        change = {
            "before": {key: before[key] for key in ("version", "hands", "outcomes")},
            "after": {key: after[key] for key in ("version", "hands", "outcomes")},
        }
        self._correction(told).update(who | change)
        if data.get("voided"):
            self.data |= {"status": "void", "void": {"at": iso_ms(told.at_ms), **who, "shoe": False}}

    def _voided(self, told: Told, data: Json) -> None:
        if told.type == "shoe_voided":  # between rounds: what was settled stays settled
            return
        self.data |= {
            "status": "void",
            "closed_at": iso_ms(told.at_ms),
            "void": {"at": iso_ms(told.at_ms), **data},
        }
        # A void settles every incident of the round, and lifts its hold.
        for entry in self.data["incidents"]:
            if entry["resolved_at"] is None:
                ended = {"resolved_at": iso_ms(told.at_ms), "resolution": "void", "reason": data["reason"]}
                entry |= ended | {"resolved_by": data["by"]}
        for hold in self.data["holds"]:
            if hold["to"] is None and hold["hold"].startswith(("incident:", "restart")):
                hold |= {"to": iso_ms(told.at_ms), "lifted_by": data["by"], "lifted_reason": data["reason"]}

    def _raised(self, told: Told, data: Json) -> None:
        self.data["incidents"].append(
            {"raised_at": iso_ms(told.at_ms)} | data
            | {"resolved_at": None, "resolution": None, "reason": None, "resolved_by": None, "acknowledged_by": None}
        )  # fmt: skip
        self._hold(told, f"incident:{data['incident']}", f"{data['code']} {data['title']}", "policy:procedure")

    def _resolved(self, told: Told, data: Json) -> None:
        for entry in self.data["incidents"]:
            if entry["incident"] == data["incident"]:
                entry |= {"resolved_at": iso_ms(told.at_ms), "resolution": data["resolution"]}
                entry |= {"reason": data["reason"], "resolved_by": data["by"]}
                if data["resolution"] == "burn_card":
                    self.data["put_aside"].append({"incident": data["incident"], "at": iso_ms(told.at_ms)})
        self._lift(told, f"incident:{data['incident']}", data["by"], data["reason"])

    def _acknowledged(self, told: Told, data: Json) -> None:  # noqa: ARG002
        for entry in self.data["incidents"]:
            if entry["incident"] == data["incident"]:
                entry["acknowledged_by"] = data["by"]

    def _hold(self, told: Told, name: str, reason: str, by: str) -> None:
        self.data["holds"].append(
            {"hold": name, "reason": reason, "by": by, "from": iso_ms(told.at_ms), "to": None, "lifted_by": None}
            | {"lifted_reason": None}
        )

    def _lift(self, told: Told, name: str, by: str | None, reason: str | None) -> None:
        for hold in self.data["holds"]:
            if hold["hold"] == name and hold["to"] is None:
                hold |= {"to": iso_ms(told.at_ms), "lifted_by": by, "lifted_reason": reason}

    def _paused(self, told: Told, data: Json) -> None:
        self._hold(told, data["hold"], data["reason"], data["by"])

    def _resumed(self, told: Told, data: Json) -> None:
        self._lift(told, data["hold"], data["by"], data["reason"])

    def _lost(self, told: Told, data: Json) -> None:
        self.data["devices"].append(
            {"device": data["device"], "reason": data["reason"], "lost_at": iso_ms(told.at_ms)}
        )
        self._hold(told, f"device:{data['device']}", data["reason"], "policy:device")

    def _restored(self, told: Told, data: Json) -> None:
        for entry in self.data["devices"]:
            if entry["device"] == data["device"]:
                entry.setdefault("restored_at", iso_ms(told.at_ms))
        self._lift(told, f"device:{data['device']}", f"device:{data['device']}", "heard again")

    def _dealer(self, told: Told, data: Json) -> None:
        if told.type == "dealer_logged_on" and self.data["status"] == "in_progress":
            self.data["dealer"] = data["dealer"]

    def _asked(self, told: Told, data: Json) -> None:
        self.data["approvals"].append(
            {"asked_at": iso_ms(told.at_ms), "given": None, "closed_at": None, "closed_by": None} | data
        )

    def _answered(self, told: Told, data: Json) -> None:
        for entry in self.data["approvals"]:
            if entry["approval"] == data["approval"] and entry["closed_at"] is None:
                entry |= {"given": told.type == "approval_given", "closed_at": iso_ms(told.at_ms)}
                entry["closed_by"] = data["by"]

    def _manual(self, told: Told, data: Json) -> None:  # noqa: ARG002
        self.data["manual"] = self.data["manual"] or bool(data.get("manual", True))


_FOLD: Final[dict[str, Callable[[RoundRecord, Told, Any], None]]] = {
    "betting_closed": RoundRecord._closed,
    "card_dealt": RoundRecord._dealt,
    "card_revealed": RoundRecord._revealed,
    "card_held": RoundRecord._held,
    "card_corrected": RoundRecord._corrected,
    "hand_split": RoundRecord._split,
    "insurance_offered": RoundRecord._offered,
    "insurance_taken": RoundRecord._insured,
    "insurance_closed": RoundRecord._offer_closed,
    "dealer_peeked": RoundRecord._peeked,
    "decision_opened": RoundRecord._window_opened,
    "decisions_taken": RoundRecord._decided,
    "decision_closed": RoundRecord._window_closed,
    "bets_accepted": RoundRecord._bets,
    "bets_settled": RoundRecord._settled,
    "settlement_posted": RoundRecord._posted,
    "refunds_posted": RoundRecord._posted,
    "round_result": RoundRecord._result,
    "result_corrected": RoundRecord._result_corrected,
    "card_reassigned": RoundRecord._reassigned,
    "round_voided": RoundRecord._voided,
    "incident_raised": RoundRecord._raised,
    "incident_resolved": RoundRecord._resolved,
    "incident_acknowledged": RoundRecord._acknowledged,
    "paused": RoundRecord._paused,
    "resumed": RoundRecord._resumed,
    "device_lost": RoundRecord._lost,
    "device_restored": RoundRecord._restored,
    "dealer_logged_on": RoundRecord._dealer,
    "approval_requested": RoundRecord._asked,
    "approval_given": RoundRecord._answered,
    "approval_refused": RoundRecord._answered,
    "manual_mode_changed": RoundRecord._manual,
}


def summary(record: Json) -> Json:
    """A round in one line, from its whole record."""
    latest = record["results"][-1] if record["results"] else None
    return {
        "round": record["round"],
        "shoe": record["shoe"],
        "status": record["status"],
        "version": record["version"],
        "opened_at": record["opened_at"],
        "closed_at": record["closed_at"],
        "dealer": record["dealer"],
        "cards": len(record["cards"]),
        "hidden": sum(entry["card"] == HIDDEN for entry in record["cards"]),
        "outcomes": latest["outcomes"] if latest else None,
        "hands": latest["hands"] if latest else None,
        "incidents": [entry["code"] for entry in record["incidents"]],
        "void": record["void"]["reason"] if record["void"] else None,
        "corrected": bool(record["corrections"]),
        "manual": record["manual"],
        "bets": {key: record["bets"][key] for key in ("count", "total", "stake", "returned")},
    }
