"""The table in a terminal: positions, cards, next step, phase and holds at one glance."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any

from rich.align import Align
from rich.console import Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from controller.cli.watch import line
from controller.rules.scores import baccarat_value, blackjack_score

_SUIT = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}
_EVENTS = 8


class View:
    """A live picture of one table; used as a context manager that yields ``show(frame, state)``."""

    def __init__(self, hint: str = "") -> None:
        self._hint = hint
        self._events: deque[str] = deque(maxlen=_EVENTS)
        self._live = Live(Text("the table is starting …"), refresh_per_second=12, screen=False)

    def __enter__(self) -> Callable[[dict[str, Any], Any], None]:
        self._live.start()
        return self._show

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def _show(self, frame: dict[str, Any], state: Any) -> None:
        if frame["type"] != "step_opened":
            self._events.append(line(frame))
        if state is not None:
            self._live.update(Group(picture(state, list(self._events), frame), Text(self._hint, style="dim")))


def picture(state: dict[str, Any], events: list[str], frame: dict[str, Any]) -> RenderableType:
    """The table's public ``state`` as rich draws it; ``frame`` is the newest one."""
    parts: list[RenderableType] = [_head(state, frame), _prompt(state)]
    parts += [Panel(_felt(state), title="felt", border_style="green")]
    for incident in state["incidents"].values():
        text = (
            f"{incident['code']} {incident['title']}\nexpected: {incident['expected']}\n"
            f"happened: {incident['actual']}\nlegal: {', '.join(incident['resolutions'])}"
        )
        parts.append(Panel(text, title=f"incident {incident['incident']}", border_style="yellow"))
    tail = Text("\n".join(events), style="dim", no_wrap=True, overflow="ellipsis")
    return Group(*parts, Panel(tail, title="feed", border_style="blue"))


def _head(state: dict[str, Any], frame: dict[str, Any]) -> RenderableType:
    round_, shoe = state["round"], state["shoe"]
    grid = Table.grid(expand=True)
    grid.add_column()
    grid.add_column(justify="right")
    left = f"table {frame['table']}   phase {state['phase'].replace('_', ' ')}"
    right = f"round {round_['id']}" if round_ else f"shoe {shoe['id']}" if shoe else "no shoe"
    if shoe and shoe["cut_out"]:
        right += "   cut card out"
    if round_ and round_["last_round"]:
        right += "   LAST ROUND"
    grid.add_row(Text(left, style="bold"), Text(right, style="bold"))
    return grid


_PROMPTS = {
    "start_shift": "TABLE CLOSED",
    "load_shoe": "NEW SHOE",
    "open_bets": "WAIT FOR BETS",
    "close_bets": "BETS OPEN: DO NOT DEAL",
    "insurance": "INSURANCE",
    "peek": "PEEK: WAIT",
    "decide": "PLAYERS DECIDE: WAIT",
    "shoe_result": "CONFIRM THE RESULT",
    "standby": "PRESS STAND-BY",
    "wait": "HANDS OFF",
    "reopen": "VOID: WAIT FOR THE SUPERVISOR",
}


def prompt(step: dict[str, Any] | None) -> str:
    """The step in the words a dealer acts on."""
    if step is None:
        return "WAIT"
    kind, position = step["step"], step.get("position") or ""
    if kind == "draw" and position.startswith("burn/"):
        return "EXPOSE THE FIRST CARD" if position == "burn/0" else f"BURN: {step.get('left')} LEFT"
    place = position.replace("/", " ").upper()
    if kind == "draw":
        verb = "SCAN AGAIN" if step.get("again") else "DEAL"
        return f"{verb} → {place}" + (" FACE DOWN" if step.get("hidden") else "")
    if kind == "reveal":
        return f"TURN {place}"
    if kind == "decide" and (step.get("line") or "").startswith("seat/"):
        return f"SEAT {step['line'].split('/')[1]} DECIDES: WAIT"
    if kind == "rescan":
        return f"SCAN THE FELT AGAIN: {step.get('left')} LEFT"
    return _PROMPTS.get(kind, str(kind).upper())


def _prompt(state: dict[str, Any]) -> RenderableType:
    held = bool(state["holds"])
    text = Text(prompt(state["step"]), style="bold black on yellow" if held else "bold white on dark_green")
    reasons = "\n".join(f"hold {h['hold']}: {h['reason']} ({h['by']})" for h in state["holds"].values())
    body: list[RenderableType] = [Align.center(text)]
    if reasons:
        body.append(Align.center(Text(reasons, style="yellow")))
    return Panel(Group(*body), border_style="yellow" if held else "dark_green")


def _felt(state: dict[str, Any]) -> RenderableType:
    round_ = state["round"]
    if round_ is None:
        shoe = state["shoe"]
        if shoe and shoe["burn_card"]:
            return Text.assemble(
                "burn ", _card(shoe["burn_card"]), f"   {shoe['burned']} of {shoe['burn_of']} burned"
            )
        return Text("no cards", style="dim")
    lines: dict[str, list[str]] = {}
    for card in round_["cards"]:
        lines.setdefault(card["position"].rsplit("/", 1)[0], []).append(card["card"])
    grid = Table.grid(padding=(0, 2))
    for name, cards in lines.items():
        whole = cards if not name.startswith("split/") else [lines["player"][int(name[-1])], *cards]
        row = Text("  ").join(_card(card) for card in whole)
        grid.add_row(Text(name, style="bold"), row, Text(_score(lines, whole), style="cyan"))
    if round_["result"]:
        grid.add_row(Text("result", style="bold"), Text(_outcome(round_["result"])), Text(""))
    if round_["voided"]:
        grid.add_row(Text("void", style="bold red"), Text(round_["voided"]), Text(""))
    return grid if lines else Text("no cards", style="dim")


def _score(lines: dict[str, list[str]], cards: list[str]) -> str:
    shown = [card for card in cards if card != "**"]
    if not shown:
        return ""
    if "banker" in lines:
        return str(baccarat_value(shown))
    score = blackjack_score(shown)
    return f"{'soft ' if score.soft else ''}{score.total}" + (" bust" if score.bust else "")


def _outcome(result: dict[str, Any]) -> str:
    outcomes = result["outcomes"]
    if isinstance(outcomes, dict):
        pairs = [side for side in ("player", "banker") if outcomes[f"{side}_pair"]]
        return str(outcomes["winner"]).upper() + "".join(f", {side} pair" for side in pairs)
    return "   ".join(f"{o['line']} with {o['length']}: {o['result']}" for o in outcomes)


def _card(card: str) -> Text:
    if card == "**":
        return Text("▒▒", style="white on blue")
    red = card[1] in "HD"
    return Text(("10" if card[0] == "T" else card[0]) + _SUIT[card[1]], style="bold red" if red else "bold")
