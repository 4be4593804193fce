"""A table's state in the words people at the table act on. Pure: state in, words out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final, Literal

from controller.cards import HIDDEN

State = dict[str, Any]
_POSITION: Final = re.compile(r"\b(?:(?:player|dealer|banker|burn)/\d+|split/\d/\d+|seat/\d/hand/\d/\d+)\b")
#: ``act``: the dealer's hands are needed; ``wait``: hands off; ``stop``: something is wrong; ``off``: nothing to do.
Kind = Literal["act", "wait", "stop", "off"]


@dataclass(frozen=True, slots=True)
class Prompt:
    """The next step: big words, a line below them, a sign beside them."""

    kind: Kind
    words: str
    below: str = ""
    sign: str = "wait"
    target: str | None = None

    @property
    def brief(self) -> str:
        """The words for a small tile among many."""
        return _BRIEF.get(
            self.words, self.words.replace("DEAL → ", "→ ").replace(" DECIDES", "?").replace("SHOW ", "")
        )


def place(position: str | None) -> str:
    """A position in the dealer's words: ``player/1`` is PLAYER 2."""
    if not position:
        return ""
    parts = position.split("/")
    match parts:
        case ["seat", seat, "hand", hand, n]:
            second = f" HAND {int(hand) + 1}" if hand != "0" else ""
            return f"SEAT {seat}{second} CARD {int(n) + 1}"
        case ["split", hand, n]:
            return f"SPLIT {int(hand) + 1} CARD {int(n) + 1}"
        case [who, n] if n.isdigit():
            return f"{who.upper()} {int(n) + 1}"
    return position.upper()


def said(text: str) -> str:
    """A table's own sentence with its positions in the dealer's words."""
    return _POSITION.sub(lambda found: place(found[0]), text)


def line_name(line: str) -> str:
    """A line or hand in words."""
    parts = line.split("/")
    match parts:
        case ["main"] | ["player"]:
            return "PLAYERS" if parts == ["main"] else "PLAYER"
        case ["split", hand]:
            return f"SPLIT {int(hand) + 1}"
        case ["seat", seat, "hand", hand]:
            return f"SEAT {seat}" + (f" HAND {int(hand) + 1}" if hand != "0" else "")
    return line.upper()


_BRIEF: Final = {
    "PLAYERS DECIDE": "PLAYERS?", "BETS OPEN": "BETS", "CONFIRM RESULT": "CONFIRM", "CLOSE THE HAND": "CLOSE HAND",
    "TABLE CLOSED": "CLOSED", "READ ALL AGAIN": "READ AGAIN",
}  # fmt: skip
_PLAIN: Final[dict[str, Prompt]] = {
    "start_shift": Prompt("off", "TABLE CLOSED", "a supervisor opens the shift", "closed"),
    "load_shoe": Prompt("act", "NEW SHOE", "old cards out, new shoe in, then LOAD SHOE", "shoe"),
    "open_bets": Prompt("wait", "WAIT", "clear the felt; betting opens next", "wait"),
    "close_bets": Prompt("wait", "BETS OPEN", "do not deal", "bets"),
    "insurance": Prompt("wait", "INSURANCE", "players decide: wait", "bets"),
    "peek": Prompt("wait", "WAIT", "the table looks at the hole card", "wait"),
    "shoe_result": Prompt("act", "CONFIRM RESULT", "press the result on the shoe", "ok"),
    "finish": Prompt("wait", "WAIT", "the result is worked out", "wait"),
    "confirm": Prompt("act", "CONFIRM", "felt and screen agree? press CONFIRM (c)", "ok"),
    "standby": Prompt("act", "CLOSE THE HAND", "press the shoe's stand-by", "ok"),
    "reopen": Prompt("stop", "VOID", "wait for the supervisor; touch no card", "stop"),
}
_HOLDS: Final[dict[str, tuple[str, str]]] = {
    "pause": ("PAUSED", "wait until the supervisor lets the table go on"),
    "restart": ("HANDS OFF", "the table has just started; leave the cards as they lie"),
    "claim": ("WAIT", "the camera must see the last card"),
    "approval": ("WAIT", "a second person must approve"),
    "device": ("DEVICE LOST", "leave the cards as they lie; call the technician"),
    "locked": ("LOCKED", "the supervisor lets the table go on"),
}

#: For each incident: what the dealer does now.
DO_NOW: Final = {
    "M-01": "The last card was not read. Leave it where it lies.",
    "M-02": "A card was drawn before the last one was read. Draw no more; keep both in order.",
    "M-03": "Reader and camera saw different cards. Touch nothing.",
    "M-04": "Two cards came together. Keep them in the order they lie.",
    "M-05": "A card left the shoe while bets are open. Do not turn it; keep it on the shoe.",
    "M-06": "A card was shown before bets closed. Put it aside, face down.",
    "M-08": "One card too many. Leave it where it lies, do not turn it.",
    "M-09": "One card too many, and shown. Leave it where it lies.",
    "M-07": "The burn card was dealt. Touch no card.",
    "M-10": "A card lies face up. Leave it where it is.",
    "M-12": "Your own card was left out. Draw no more.",
    "M-13": "A seat was left out, or an empty one served. Draw no more.",
    "M-15": "The hole card was seen. Leave it as it lies.",
    "M-29": "The order of the shoe looks wrong. Draw no more.",
    "M-34": "Nobody is logged on. Log on before you deal.",
    "M-11": "A card lies at the wrong place. Do not move it.",
    "M-17": "A card too many for PLAYER. Leave it where it lies.",
    "M-18": "A card is still due. Do not collect.",
    "M-19": "A card too many for BANKER. Leave it where it lies.",
    "M-20": "A card went back into the shoe. Hands off the shoe.",
    "M-21": "The cut card came at a wrong moment. Put it aside.",
    "M-22": "A card more than the burn. Leave it where it lies.",
    "M-23": "The table was cleared too early. Touch no card.",
    "M-24": "Nobody confirmed the hand, or the shoe did not close it. Do not draw.",
    "M-25": "A card is on the floor. Leave it there.",
    "M-26": "This card cannot be in this shoe. Draw no more.",
    "M-30": "The order of the cards is not proven. Leave all cards as they lie.",
    "hidden": "The face-down card was not accepted. Leave it face down.",
}
#: Resolutions: what the button says, what it does.
RESOLUTIONS: Final = {
    "rescan": ("Read again", "the same card, or all cards in order, pass the reader once more"),
    "resume": ("Go on", "nothing is changed; you saw that all is in order"),
    "burn_card": ("Burn the card", "the surplus card goes to the discard, face down, and never counts"),
    "use_as_next": ("Use as next card", "the card takes the next place that is due"),
    "enter_card": ("Enter the card", "you name the card that lies there; another person must approve"),
    "reassign": ("Leave it there", "the card counts at the place where it lies; the one left out gets the next card"),
    "void_round": ("Void the round", "every bet is refunded; the table stays shut until it is reopened"),
    "void_round_and_shoe": ("Void round and shoe", "every bet is refunded and the shoe goes out"),
}


def prompt(state: State | None) -> Prompt:
    """What the dealer does next."""
    if state is None:
        return Prompt("off", "NO CONNECTION", "the table has not been heard yet", "closed")
    step = state["step"]
    if state["holds"] and (step is None or step["step"] in ("wait", "rescan")):
        return _held(state, step)
    if step is None:
        return Prompt("wait", "WAIT")
    return _step(state, step)


def _is_turned(state: State, position: str) -> bool:
    """A card that was dealt face down and is announced: the camera waits for its face."""
    cards = (state.get("round") or {}).get("cards") or []
    return any(card["position"] == position and card["card"] != HIDDEN for card in cards)


def _step(state: State, step: dict[str, Any]) -> Prompt:
    kind, position = step["step"], step.get("position") or ""
    if kind == "draw":
        return _draw(state, step, position)
    if kind == "reveal":
        return Prompt("act", f"TURN {place(position)}", "", "turn", position)
    if kind == "sight" and not step.get("hidden") and _is_turned(state, position):
        return Prompt("act", f"TURN {place(position)}", "hands away then: the camera looks for it", "turn", position)
    if kind == "sight":
        return Prompt(
            "wait", f"CAMERA: {place(position)}", "hands away: the camera looks for the card", "scan", position
        )
    if kind in ("decide", "follow"):
        who = line_name(step.get("line") or "")
        below = f"wait: {' or '.join(step.get('options') or ('follow',))}"
        return Prompt("wait", f"{who} DECIDE{'' if who == 'PLAYERS' else 'S'}", below, "talk")
    if kind == "rescan":
        return Prompt("act", "READ ALL AGAIN", f"{step.get('left')} cards left, in the order they were dealt", "scan")
    if kind == "wait":
        return Prompt("wait", "HANDS OFF", "the table is held", "wait")
    if kind == "open_bets" and state["phase"] == "result" and state["round"] and state["round"]["result"]:
        return Prompt("wait", "ROUND OVER", "collect the cards; betting opens next", "ok")
    return _PLAIN.get(kind, Prompt("wait", kind.replace("_", " ").upper()))


def _target(position: str) -> tuple[str, str]:
    """A position as (where, which card there): short enough to be read from two metres."""
    head, _, n = position.rpartition("/")
    if head.startswith(("split/", "seat/")):
        return line_name(head), f"CARD {int(n) + 1}"
    return place(position), ""


def _draw(state: State, step: dict[str, Any], position: str) -> Prompt:
    if step.get("again"):
        return Prompt("act", "SCAN AGAIN", f"the same card, for {place(position)}", "scan", position)
    if position == "burn/0":
        return Prompt("act", "SHOW FIRST CARD", "face up: it says how many to burn", "burn", position)
    if position.startswith("burn/"):
        total = (state["shoe"] or {}).get("burn_of")
        said = f"BURN {total}: {step.get('left')} LEFT" if total else f"BURN: {step.get('left')} LEFT"
        return Prompt("act", said, "face down", "burn", position)
    first = not (state["round"] or {}).get("cards")
    where, which = _target(position)
    below = "FACE DOWN" if step.get("hidden") else "NO MORE BETS" if first else which
    others = [o for o in step.get("others") or () if o != "reveal"]
    if others:
        below = "or " + ", ".join(place(o) for o in others)
    return Prompt("act", f"DEAL → {where}", below, "down" if step.get("hidden") else "deal", position)


def _held(state: State, step: dict[str, Any] | None) -> Prompt:
    holds, incidents = state["holds"], state["incidents"]
    if step is not None and step["step"] == "rescan":
        return Prompt("act", "READ ALL AGAIN", f"{step.get('left')} cards left, in the order they were dealt", "scan")
    if incidents:
        newest = incidents[max(incidents, key=int)]
        do = DO_NOW.get(newest["code"], "Touch no card.")
        return Prompt("stop", "STOP", f"{do} Wait for the supervisor.", "stop", newest.get("position"))
    if state["phase"] == "voided":
        return _PLAIN["reopen"]
    if state["devices_lost"]:
        what = ", ".join(state["devices_lost"]).replace("_", " ")
        words, below = _HOLDS["device"]
        if state["devices_lost"] == ["game_server"]:
            return Prompt("stop", "WAIT", "the game server does not answer; leave the cards as they lie", "stop")
        return Prompt("stop", words, f"{what}: {below}", "stop")
    first = next(iter(holds.values()))
    words, below = _HOLDS.get(first["hold"], ("HELD", "wait for the supervisor"))
    return Prompt("wait", words, below, "wait") if first["hold"] == "pause" else Prompt("stop", words, below, "stop")


def phase(state: State | None) -> str:
    """The phase as people say it."""
    return "not heard" if state is None else str(state["phase"]).replace("_", " ")


def person(by: str | None) -> str:
    """``supervisor:anna`` → anna (supervisor); ``policy:x`` → the table (x)."""
    if not by:
        return ""
    role, _, name = by.partition(":")
    if not name:
        return by
    if role == "policy":
        return f"the table ({name.replace('_', ' ')})"
    return f"{name} ({role.replace('_', ' ')})"


def resolution(name: str) -> tuple[str, str]:
    """(what its button says, what it does)."""
    return RESOLUTIONS.get(name, (name.replace("_", " ").capitalize(), ""))
