"""The felt as the screens draw it: lines of cards with their totals, and the empty place where the next card goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from controller.cards import HIDDEN
from controller.console.words import line_name, place
from controller.rules.scores import baccarat_value, blackjack_score

State = dict[str, Any]
_WORDS: Final = {"player_pair": "PLAYER PAIR", "banker_pair": "BANKER PAIR"}


@dataclass(slots=True)
class Spot:
    """One card, or with ``card`` None the place where one is due."""

    position: str
    card: str | None
    label: str


@dataclass(slots=True)
class Line:
    """One hand: its name, cards in order, total in words and whether it is the one to act."""

    name: str
    title: str
    spots: list[Spot] = field(default_factory=list)
    score: str = ""
    active: bool = False


def lines(state: State | None) -> list[Line]:
    """The hands of the round in the order they are drawn, the dealer's or BANKER's own place included."""
    if state is None or state["round"] is None:
        return []
    round_, step = state["round"], state["step"] or {}
    found: dict[str, Line] = {}
    for name in _always(round_, step):
        found[name] = Line(name, line_name(name))
    for card in round_["cards"]:
        name = card["position"].rsplit("/", 1)[0]
        line = found.setdefault(name, Line(name, line_name(name)))
        line.spots.append(Spot(card["position"], card["card"], place(card["position"])))
    target = step.get("position") if step.get("step") == "draw" else None
    if target and not target.startswith("burn/"):
        name = target.rsplit("/", 1)[0]
        line = found.setdefault(name, Line(name, line_name(name)))
        if not any(spot.position == target for spot in line.spots):
            line.spots.append(Spot(target, None, f"{place(target)}: here"))
        line.active = True
    _share_split_cards(found)
    acting = step.get("line")
    for line in found.values():
        line.score = score(line.name, [s.card for s in line.spots if s.card is not None], "banker" in found)
        line.active = line.active or acting == line.name or (acting == "main" and line.name == "player")
    return [found[name] for name in sorted(found, key=_rank)]


def _always(round_: dict[str, Any], step: dict[str, Any]) -> list[str]:
    positions = [c["position"] for c in round_["cards"]] + [step.get("position") or ""]
    heads = {p.split("/")[0] for p in positions}
    if "banker" in heads:
        return ["player", "banker"]
    if "seat" in heads:
        return ["dealer"]
    return ["dealer", "player"] if heads & {"player", "dealer"} else []


def _share_split_cards(found: dict[str, Line]) -> None:
    """A split line begins with a card of the shared hand, which stays where it lies."""
    main = found.get("player")
    for name in ("split/0", "split/1"):
        line = found.get(name)
        if line is not None and main is not None and len(main.spots) > int(name[-1]):
            first = main.spots[int(name[-1])]
            line.spots.insert(0, Spot(first.position, first.card, first.label))


def _rank(name: str) -> tuple[int, str]:
    order = {"dealer": 0, "player": 1, "banker": 2}
    if name in order:
        return order[name], name
    return (3, name)


def score(name: str, cards: list[str], baccarat: bool) -> str:
    """The total in words: soft and hard where they differ, natural or bust where it is."""
    shown = [card for card in cards if card != HIDDEN]
    if not shown:
        return ""
    if baccarat:
        return str(baccarat_value(shown)) + (" +" if len(shown) < len(cards) else "")
    found = blackjack_score(shown)
    if found.bust:
        return f"{found.total} BUST"
    plus = " +" if len(shown) < len(cards) else ""
    if found.soft and found.total == 21 and len(cards) == 2 and not name.startswith("split"):
        return "BLACKJACK"
    return (
        f"{found.total - 10} / {found.total} soft" if found.soft and found.total < 21 else str(found.total)
    ) + plus


def result(state: State | None) -> list[str]:
    """The result of the round in a few words, one a line; empty before there is one."""
    round_ = (state or {}).get("round") or {}
    if round_.get("voided"):
        return [f"VOID: {round_['voided']}"]
    found = round_.get("result")
    return outcome_words(found["outcomes"]) if found else []


def outcome_words(outcomes: Any) -> list[str]:
    """``outcomes`` of a result, in words."""
    if isinstance(outcomes, dict):
        winner = str(outcomes.get("winner", "")).upper()
        said = "TIE" if winner == "TIE" else f"{winner} WINS"
        return [said, *(text for key, text in _WORDS.items() if outcomes.get(key))]
    return [f"{line_name(o['line'])} WITH {o['length']}: {_result(o['result'])}" for o in outcomes or ()]


def _result(word: str) -> str:
    return {"bj": "BLACKJACK"}.get(word, word.upper())
