"""What every subscriber may know: the fold of published frames, the same for snapshot and client."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Final

from controller.cards import HIDDEN

State = dict[str, Any]
Frame = dict[str, Any]

#: Results kept in the snapshot; older ones are in the journal.
HISTORY: Final = 20

_PHASE: Final = {
    "shift_started": "shoe_change",
    "shift_ended": "closed",
    "shoe_loaded": "burning",
    "shoe_change_started": "shoe_change",
    "betting_opened": "betting",
    "betting_closed": "dealing",
    "insurance_offered": "insurance",
    "round_result": "result",
    "round_voided": "voided",
    "shoe_voided": "voided",
    "table_reopened": "result",
}


def initial() -> State:
    """The state before the first frame."""
    return {
        "phase": "closed",
        "step": None,
        "holds": {},
        "incidents": {},
        "devices_lost": [],
        "shoe": None,
        "round": None,
        "history": [],
        "dealer": None,
        "dealers": [],
        "locked": False,
        "manual": False,
        "approvals": [],
        "alarms": {},
    }


def fold(state: State, frame: Frame) -> State:
    """``state`` after ``frame``, which is one published object (design page 6). ``state`` itself is not changed."""
    state = copy.deepcopy(state)
    apply(state, frame)
    return state


def apply(state: State, frame: Frame) -> None:
    """Fold ``frame`` into ``state`` in place. Unknown types are passed over, so that older clients live on."""
    kind, data = frame["type"], frame["data"]
    state["phase"] = _PHASE.get(kind, state["phase"])
    handler = _FOLD.get(kind)
    if handler is not None:
        handler(state, frame, data)


def _step(state: State, frame: Frame, data: Any) -> None:
    state["step"] = {**data, "time": frame["time"]}


def _device_lost(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001 - all handlers are called alike
    state["devices_lost"] = sorted({*state["devices_lost"], data["device"]})
    reason = f"{data['device']}: {data['reason']}"
    state["holds"][f"device:{data['device']}"] = {"hold": "device", "reason": reason, "by": "policy:device"}


def _device_restored(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["devices_lost"] = [d for d in state["devices_lost"] if d != data["device"]]
    state["holds"].pop(f"device:{data['device']}", None)


def _paused(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["holds"][data["hold"]] = data


def _resumed(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["holds"].pop(data["hold"], None)


def _incident_raised(state: State, frame: Frame, data: Any) -> None:
    number = str(data["incident"])
    state["incidents"][number] = data
    state["alarms"][number] = {"code": data["code"], "title": data["title"], "time": frame["time"]}
    reason = f"{data['code']} {data['title']}"
    state["holds"][f"incident:{number}"] = {"hold": "incident", "reason": reason, "by": "policy:procedure"}


def _incident_resolved(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["incidents"].pop(str(data["incident"]), None)
    state["holds"].pop(f"incident:{data['incident']}", None)
    if not data.get("by", "policy:").startswith("policy:"):
        state["alarms"].pop(str(data["incident"]), None)


def _acknowledged(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["alarms"].pop(str(data["incident"]), None)


def _approval_requested(state: State, frame: Frame, data: Any) -> None:
    asked = {key: data[key] for key in ("approval", "action", "by", "reason", "until_ms")}
    state["approvals"] = [*state["approvals"], asked | {"time": frame["time"]}]
    reason = f"{data['action']} waits for another person"
    state["holds"]["approval"] = {"hold": "approval", "reason": reason, "by": data["by"]}


def _approval_ended(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["approvals"] = [a for a in state["approvals"] if a["approval"] != data["approval"]]
    if not state["approvals"]:
        state["holds"].pop("approval", None)


def _manual_mode(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["manual"] = data["manual"]


def _shift_started(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["dealers"] = list(data.get("dealers", []))


def _logged_on(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["dealer"] = data["dealer"]


def _logged_off(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["dealer"], state["locked"] = None, False


def _locked(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["locked"] = True


def _unlocked(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["locked"] = False


def _voided(state: State, frame: Frame, data: Any) -> None:
    for number in list(state["incidents"]):
        _incident_resolved(state, frame, {"incident": number, "by": data["by"]})
    state["holds"].pop("restart", None)
    if state["shoe"] is not None:
        state["shoe"]["void"] = state["shoe"]["void"] or data.get("shoe", True)
    if state["round"] is not None and state["round"]["result"] is None:
        state["round"]["voided"] = data["reason"]


def _shift_ended(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["shoe"] = state["round"] = None


def _shoe_loaded(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["round"] = None
    state["shoe"] = {
        "id": data["shoe"], "burn_card": None, "burn_of": None, "burned": 0, "cut_out": False, "last_round": None,
        "rounds": 0, "void": False,
    }  # fmt: skip


def _burn_indicator(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["shoe"] |= {"burn_card": data["card"], "burn_of": data["count"]}


def _card_burned(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["shoe"] |= {"burned": data["done"], "burn_of": data["of"]}


def _cut_card(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["shoe"] |= {"cut_out": True, "last_round": data["last_round"]}


def _betting_opened(state: State, frame: Frame, data: Any) -> None:
    state["shoe"]["rounds"] = frame["round_in_shoe"]
    state["round"] = {
        "id": frame["round"], "number": frame["round_in_shoe"], "version": frame["version"],
        "last_round": data["last_round"], "cards": [], "insurance": "none", "peeked": None, "window": None,
        "demands": [], "seats": [], "parted": [], "bets": {"count": 0, "total": 0}, "settled": None, "result": None,
        "voided": None,
    }  # fmt: skip


def _betting_closed(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["round"]["seats"] = data.get("seats", [])


def _bets_accepted(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    bets = state["round"]["bets"]
    state["round"]["bets"] = {"count": bets["count"] + data["count"], "total": bets["total"] + data["total"]}


def _bets_settled(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["round"]["settled"] = data


def _card_dealt(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["round"]["cards"].append({k: data[k] for k in ("position", "card", "commitment") if data.get(k)})
    if data["position"] == "dealer/1" and data["card"] != HIDDEN:  # no hole card: the dealer's turn
        state["phase"] = "dealer_drawing"


def _card_revealed(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    for card in state["round"]["cards"]:
        if card["position"] == data["position"]:
            card["card"] = data["card"]
            if data.get("key"):
                card["key"] = data["key"]
    if data["position"] == "dealer/1":
        state["phase"] = "dealer_drawing"


def _insurance_offered(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["round"]["insurance"] = "open"


def _insurance_closed(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["round"]["insurance"] = "closed"


def _peeked(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["round"]["peeked"] = data["blackjack"]


def _decision_opened(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["round"]["window"] = {k: data[k] for k in ("line", "prefix_len", "options")}
    if state["phase"] != "dealer_drawing":
        state["phase"] = "deciding"


def _decision_closed(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    state["round"]["window"] = None
    state["round"]["demands"].append(data)


def _hand_split(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    first, second = data["lines"]
    state["round"]["parted"] = sorted({*state["round"]["parted"], first, second})
    for card in state["round"]["cards"]:
        if first.startswith("seat/") and card["position"] == f"{first}/1":
            card["position"] = f"{second}/0"


def _card_corrected(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    for card in state["round"]["cards"]:
        if card["position"] == data["position"]:
            card["card"] = data["card"]
    _ask_again(state["round"], data["position"])


def _ask_again(round_: State, position: str) -> None:
    """A hand is another than it seemed: whether the dealer draws for it is no longer decided."""
    drawn = sum(card["position"].startswith("dealer/") for card in round_["cards"])
    if round_["result"] is None and not position.startswith("dealer/"):
        round_["demands"] = [d for d in round_["demands"] if d["line"] != "dealer" or d["prefix_len"] < drawn]


def _card_reassigned(state: State, frame: Frame, data: Any) -> None:  # noqa: ARG001
    for card in state["round"]["cards"]:
        if card["position"] == data["position"]:
            card["position"] = data["to"]


def _result_corrected(state: State, frame: Frame, data: Any) -> None:
    """The new version takes the old one's place; the record keeps both."""
    round_ = state["round"]
    round_["version"] = frame["version"]
    round_["result"] = {key: data[key] for key in ("hands", "outcomes", "roads") if key in data}
    if data.get("voided"):
        round_["voided"] = data["reason"]
    entry = {"round": frame["round"], "version": frame["version"], "voided": bool(data.get("voided"))}
    entry |= {key: data[key] for key in ("hands", "outcomes")}
    state["history"] = [entry if one["round"] == frame["round"] else one for one in state["history"]]


def _round_result(state: State, frame: Frame, data: Any) -> None:
    state["round"]["result"] = data
    entry = {"round": frame["round"], "version": frame["version"]} | {k: data[k] for k in ("hands", "outcomes")}
    state["history"] = [*state["history"][-(HISTORY - 1) :], entry]


_FOLD: Final[dict[str, Callable[[State, Frame, Any], None]]] = {
    "step_opened": _step,
    "device_lost": _device_lost,
    "device_restored": _device_restored,
    "paused": _paused,
    "resumed": _resumed,
    "incident_raised": _incident_raised,
    "incident_resolved": _incident_resolved,
    "round_voided": _voided,
    "shoe_voided": _voided,
    "shift_ended": _shift_ended,
    "shoe_loaded": _shoe_loaded,
    "burn_indicator_drawn": _burn_indicator,
    "card_burned": _card_burned,
    "cut_card_drawn": _cut_card,
    "betting_opened": _betting_opened,
    "betting_closed": _betting_closed,
    "bets_accepted": _bets_accepted,
    "bets_settled": _bets_settled,
    "card_dealt": _card_dealt,
    "card_revealed": _card_revealed,
    "insurance_offered": _insurance_offered,
    "insurance_closed": _insurance_closed,
    "dealer_peeked": _peeked,
    "decision_opened": _decision_opened,
    "decision_closed": _decision_closed,
    "hand_split": _hand_split,
    "round_result": _round_result,
    "incident_acknowledged": _acknowledged,
    "approval_requested": _approval_requested,
    "approval_given": _approval_ended,
    "approval_refused": _approval_ended,
    "manual_mode_changed": _manual_mode,
    "shift_started": _shift_started,
    "dealer_logged_on": _logged_on,
    "dealer_logged_off": _logged_off,
    "table_locked": _locked,
    "table_unlocked": _unlocked,
    "card_corrected": _card_corrected,
    "card_reassigned": _card_reassigned,
    "result_corrected": _result_corrected,
}
