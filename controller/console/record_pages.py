"""What a table's record tells: rounds, one round whole, the shoe's life, devices. Asked as the person who looks."""

from __future__ import annotations

import csv
import io
from typing import Any, Final
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from controller.console import felt, plots, words
from controller.console.link import Link
from controller.console.questions import ask
from controller.console.sessions import Session
from controller.console.state import Console
from controller.console.web import guarded, link_of, page

PAGE: Final = 50
_NONE: Final[dict[str, Any]] = {"count": 0}
#: Rounds a search looks through at most.
SEARCHED: Final = 1_000
#: Facts that a round's timeline leaves out: they repeat what its other parts say.
_QUIET: Final = {"step_opened", "settlement_posted", "refunds_posted", "device_reported"}
#: Fields of a fact that are said in their own way, or elsewhere on the page.
_SAID: Final = {
    "card", "position", "commitment", "key", "validated_by", "hands", "outcomes", "roads", "by", "reason", "title",
    "resolutions", "options", "rows",
}  # fmt: skip
_COLUMNS: Final = (
    "round", "shoe", "status", "version", "opened_at", "closed_at", "dealer", "cards", "outcome", "incidents", "void",
    "corrected", "manual", "bets", "stake", "returned",
)  # fmt: skip


@guarded("supervisor")
async def _rounds(request: Request, console: Console, session: Session) -> Response:
    link = link_of(request, console)
    find, only = request.query_params.get("find", "").strip(), request.query_params.get("only", "")
    after = request.query_params.get("after") or None
    rounds, older = await _found(console, session, link, after, find, only)
    drawn = _roads(link)
    return page(
        console, session, "rounds.html", title=f"{link.id} rounds", link=link, rounds=[_line(one) for one in rounds],
        older=f"?{urlencode({'after': older, 'find': find, 'only': only})}" if older else "", find=find, only=only,
        roads=drawn,
    )  # fmt: skip


async def _found(
    console: Console, session: Session, link: Link, after: str | None, find: str, only: str
) -> tuple[list[dict[str, Any]], str | None]:
    """(rounds that fit, the round to go on from or None at the end of the record)."""
    found: list[dict[str, Any]] = []
    for _ in range(SEARCHED // PAGE):
        rounds = (await ask(console, session, link, "history", {"after": after, "limit": PAGE}))["rounds"]
        found += [one for one in rounds if _fits(one, find, only)]
        if len(rounds) < PAGE:
            return found, None
        after = rounds[-1]["round"]
        if len(found) >= PAGE or not (find or only):
            break
    return found, after


def _fits(one: dict[str, Any], find: str, only: str) -> bool:
    kinds = {
        "incidents": bool(one["incidents"]), "void": one["status"] == "void", "corrected": one["corrected"],
        "manual": one["manual"],
    }  # fmt: skip
    if only and not kinds.get(only, True):
        return False
    text = " ".join(map(str, (one["round"], one["dealer"], *one["incidents"], one["void"], *_outcome(one))))
    return find.lower() in text.lower()


def _outcome(one: dict[str, Any]) -> list[str]:
    return felt.outcome_words(one["outcomes"]) if one["outcomes"] else []


def _line(one: dict[str, Any]) -> dict[str, Any]:
    hands = one["hands"] or {}
    shown = [(words.line_name(name), hand["cards"]) for name, hand in hands.items() if isinstance(hand, dict)]
    return one | {"said": _outcome(one), "shown": [(name, cards) for name, cards in shown if cards]}


def _roads(link: Link) -> list[tuple[str, Any]]:
    """The roads of the shoe in play, drawn; empty where the game has none."""
    roads = link.roads
    if not roads:
        return []
    derived = ("big_eye_boy", "small_road", "cockroach_pig")
    return [
        ("Bead plate", plots.bead_plate(roads["bead_plate"])),
        ("Big road", plots.big_road(roads["big_road"], roads["leading_ties"])),
        *((name.replace("_", " ").title(), plots.derived_road(name, roads[name])) for name in derived),
    ]


@guarded("supervisor")
async def _rounds_csv(request: Request, console: Console, session: Session) -> Response:
    link = link_of(request, console)
    rounds, after = [], None
    for _ in range(SEARCHED // PAGE):
        some = (await ask(console, session, link, "history", {"after": after, "limit": PAGE}))["rounds"]
        rounds += some
        if len(some) < PAGE:
            break
        after = some[-1]["round"]
    out = io.StringIO()
    table = csv.DictWriter(out, _COLUMNS, extrasaction="ignore")
    table.writeheader()
    for one in rounds:
        bets = one["bets"]
        table.writerow(
            one
            | {"outcome": "; ".join(_outcome(one)), "incidents": " ".join(one["incidents"]), "bets": bets["count"]}
            | {"stake": bets["stake"], "returned": bets["returned"]}
        )
    return Response(
        out.getvalue(), media_type="text/csv",
        headers={"content-disposition": f'attachment; filename="{link.id}-rounds.csv"'},
    )  # fmt: skip


@guarded("supervisor")
async def _round(request: Request, console: Console, session: Session) -> Response:
    link = link_of(request, console)
    record = await ask(console, session, link, "history", {"round": request.path_params["round"]})
    first = record["timeline"][0]["at"] if record["timeline"] else record["opened_at"]
    timeline = [
        one | {"said": _told(one), "after": _seconds(one["at"], first)}
        for one in record["timeline"]
        if one["type"] not in _QUIET
    ]
    hands: dict[str, list[dict[str, Any]]] = {}
    for card in record["cards"]:
        hands.setdefault(card["position"].rsplit("/", 1)[0], []).append(card)
    return page(
        console, session, "round.html", title=record["round"], link=link, record=record, timeline=timeline,
        hands=[(words.line_name(name), cards) for name, cards in hands.items()],
        results=[one | {"said": felt.outcome_words(one["outcomes"])} for one in record["results"]],
    )  # fmt: skip


def _told(one: dict[str, Any]) -> str:
    """A fact's content in a few words, its cards apart."""
    data = one["data"]
    parts = [words.place(data["position"])] if data.get("position") else []
    parts += [str(data[key]) for key in ("title", "reason") if data.get(key)]
    for key, value in data.items():
        if key not in _SAID and value not in (None, "", [], False):
            parts.append(f"{key.replace('_', ' ')} {_short(value)}")
    if data.get("by"):
        parts.append(f"· {words.person(data['by'])}")
    return " ".join(parts)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= 80 else text[:77] + "…"


def _seconds(at: str, first: str) -> str:
    from datetime import datetime

    gone = datetime.fromisoformat(at.replace("Z", "+00:00")) - datetime.fromisoformat(first.replace("Z", "+00:00"))
    return f"{gone.total_seconds():.1f}"


@guarded("supervisor")
async def _round_json(request: Request, console: Console, session: Session) -> Response:
    link = link_of(request, console)
    record = await ask(console, session, link, "history", {"round": request.path_params["round"]})
    return Response(
        msgspec.json.format(msgspec.json.encode(record)), media_type="application/json",
        headers={"content-disposition": f'attachment; filename="{record["round"]}.json"'},
    )  # fmt: skip


@guarded("supervisor")
async def _shoe(request: Request, console: Console, session: Session) -> Response:
    link = link_of(request, console)
    report = await ask(console, session, link, "shoe_report", {"shoe": request.query_params.get("shoe") or None})
    rounds = [plots.Bar(one["round"][-3:], one["cards"], f"{one['cards']}") for one in report["rounds"][-25:]]
    reads = _spread("this shoe", report["read_interval_ms"])
    return page(
        console, session, "shoe.html", title=f"{link.id} shoe", link=link, report=report,
        life=plots.shoe_life(report), rounds=plots.bars("Cards of each round", rounds) if rounds else "",
        reads=plots.spreads("Time between cards", reads) if reads else "",
        incidents=plots.bars("Incidents", [plots.Bar(k, v, str(v)) for k, v in report["incidents"].items()]),
    )  # fmt: skip


def _spread(label: str, found: dict[str, Any]) -> list[plots.Spread]:
    if not found["count"]:
        return []
    return [plots.Spread(label, found["count"], found["p50"], found["p95"], found["p99"])]


def _uptime(device: dict[str, Any]) -> float | None:
    """The share of the table's running time that the device was heard; None before anything ran."""
    watched = device["watched_ms"]
    return max(0.0, 1 - device["lost_ms"] / watched) if watched else None


def _share(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f} %"


@guarded("supervisor")
async def _devices(request: Request, console: Console, session: Session) -> Response:
    link = link_of(request, console)
    groups = {
        by: (await ask(console, session, link, "statistics", {"by": by}))["groups"]
        for by in ("device", "dealer", "error", "shift")
    }
    dealers = [spread for one in groups["dealer"] for spread in _spread(one["dealer"], one["read_interval_ms"])]
    misread = [
        plots.Bar(one["dealer"], one["misreads"], f"{one['misreads']} of {one['cards']} cards")
        for one in groups["dealer"]
    ]
    devices = [one | {"uptime": _uptime(one)} for one in groups["device"]]
    up = [plots.Bar(one["device"].replace("_", " "), one["uptime"] or 0, _share(one["uptime"])) for one in devices]
    shoe = [spread for one in devices for spread in _spread(one["device"], one.get("read_interval_ms") or _NONE)]
    errors = [plots.Bar(one["error"], one["count"], f"{one['count']} {one['title']}") for one in groups["error"]]
    return page(
        console, session, "devices.html", title=f"{link.id} devices", link=link, groups=groups,
        devices=[one | {"up": _share(one["uptime"])} for one in devices],
        uptime=plots.bars("Share of the time heard", up) if up else "",
        reads=plots.spreads("Time between cards", shoe + dealers) if shoe + dealers else "",
        misreads=plots.bars("Misreads by dealer", misread) if misread else "",
        errors=plots.bars("Incidents", errors) if errors else "", lost=(link.state or {}).get("devices_lost", []),
    )  # fmt: skip


ROUTES = [
    Route("/table/{table}/rounds", _rounds),
    Route("/table/{table}/rounds.csv", _rounds_csv),
    Route("/table/{table}/round/{round}.json", _round_json),
    Route("/table/{table}/round/{round}", _round),
    Route("/table/{table}/shoe", _shoe),
    Route("/table/{table}/devices", _devices),
]
