"""Whole rounds as a page that a person reads: one HTML file, no script, nothing fetched."""

from __future__ import annotations

import re
from typing import Any, Final

import jinja2
from markupsafe import Markup, escape

from controller.record.told import Json

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_SUITS: Final = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}

_STYLE: Final = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 86rem; padding: 0 1rem; color: #1a1a1a; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.25rem; margin-top: 3rem; border-top: 3px solid #1a1a1a; padding-top: .5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid #ccc; vertical-align: top; }
th { font-weight: 600; } dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
.card { display: inline-block; min-width: 2rem; padding: .1rem .3rem; border: 1px solid #555; border-radius: .25rem;
  background: #fff; text-align: center; font-weight: 600; } .red { color: #b00020; } .hidden { background: #ddd; }
.small { font-size: .85rem; overflow-wrap: anywhere; } time { white-space: nowrap; } i { color: #555; }
.void { color: #b00020; font-weight: 600; }
@media print { h2 { break-before: page; } body { margin: 0; max-width: none; } }
"""

_HEAD: Final = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/><title>Rounds of table {{ table }}</title>
<style>{{ style }}</style></head>
<body><h1>Rounds of table {{ table }}</h1>
<p>Journal {{ feed }}. Times are UTC. A card that was not revealed reads <span class="card hidden">**</span>.</p>
"""

_SECTION: Final = """
{%- macro table(title, head, rows) -%}
{%- if rows %}<h3>{{ title }}</h3>
<table><thead><tr>{% for name in head %}<th scope="col">{{ name }}</th>{% endfor %}</tr></thead>
<tbody>{% for row in rows %}<tr>{% for value in row %}<td>{{ value if value is not none else "–" }}</td>{% endfor %}
</tr>{% endfor %}</tbody></table>{% endif %}
{%- endmacro -%}
<section id="{{ r.round }}"><h2>Round {{ r.round }}</h2>
<dl>
<dt>Status</dt><dd{% if r.status == "void" %} class="void"{% endif %}>{{ r.status }}, version {{ r.version }}{% if
 r.manual %}, manual mode was in use{% endif %}</dd>
<dt>Table, game</dt><dd>{{ r.table }}, {{ r.game }}</dd>
<dt>Shoe</dt><dd>{{ r.shoe }}{% if r.last_round %}, last round{% endif %}</dd>
<dt>From, to</dt><dd>{{ r.opened_at }}, {{ r.closed_at or "open" }}</dd>
<dt>Dealer</dt><dd>{{ r.dealer or "nobody logged on" }}</dd>
<dt>Shift</dt><dd>{% if r.shift %}fact {{ r.shift.n }}, started by {{ r.shift.started_by }}{% endif %}</dd>
<dt>Program, rules</dt><dd>{{ r.program }}; configuration {{ r.config_digest }}</dd>
<dt>Bets</dt><dd>{{ r.bets.count }} for {{ r.bets.total }}; staked {{ r.bets.stake }}, returned {{ r.bets.returned }}
 (minor units)</dd>
{% if r.void %}<dt>Void</dt><dd class="void">{{ r.void.at }}: {{ r.void.reason }}, by {{ r.void.by }}</dd>{% endif %}
{% if r.insurance %}<dt>Insurance</dt><dd>{{ r.insurance.from }} to {{ r.insurance.to }}, taken by
 {{ r.insurance.taken }}</dd>{% endif %}
{% if r.peeked is not none %}<dt>Dealer's peek</dt>
<dd>{{ "Blackjack" if r.peeked else "no Blackjack" }}</dd>{% endif %}
<dt>Record</dt><dd>facts {{ r.chain.facts[0] }} to {{ r.chain.facts[1] }},
 hash of the last {{ r.chain.last_hash }}</dd>
</dl>
{{ table("Phases", ["phase", "from", "to", "ms"], phases) }}
{{ table("Cards in physical order", ["", "card", "position", "at", "validated by", "revealed", "corrected",
         "opening"], cards) }}
{{ table("Cards held and put aside", ["what", "at", "of"], aside) }}
{{ table("Decision windows", ["line", "cards", "options", "from", "to", "asked", "card drawn", "split"], windows) }}
{{ table("Results", ["version", "at", "outcomes", "hands"], results) }}
{{ table("Corrections", ["at", "by", "approved by", "reason", "cards", "before", "after"], corrections) }}
{{ table("Incidents", ["no.", "code", "raised", "expected", "happened", "legal", "resolution", "reason", "by",
         "at", "acknowledged"], incidents) }}
{{ table("Holds", ["hold", "reason", "by", "from", "to", "lifted by", "why"], holds) }}
{{ table("Approvals", ["no.", "action", "asked by", "reason", "asked", "given", "by", "at"], approvals) }}
{{ table("Devices", ["device", "lost", "reason", "heard again"], devices) }}
{{ table("Persons", ["person", "did"], persons) }}
{{ table("Players", ["at", "player", "what", "bet or line", "detail"], players) }}
{{ table("Every fact", ["n", "at", "fact", "content"], timeline) }}
</section>
"""

_FOOT: Final = "<p>{{ count }} round(s).</p></body></html>\n"

_env = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
_head, _section, _foot = (_env.from_string(text) for text in (_HEAD, _SECTION, _FOOT))


def head(table: str, feed: str) -> str:
    """The page up to its first round."""
    return _head.render(table=table, feed=feed, style=Markup(_STYLE))


def foot(count: int) -> str:
    """The end of the page."""
    return _foot.render(count=count)


def section(record: Json) -> str:
    """One round: what ``export.rounds`` gives."""
    return _section.render(
        r=record,
        phases=_rows(record["phases"], "phase", "from", "to", "ms"),
        cards=list(_cards(record)),
        aside=[("held", _text(one["at"]), one["position"]) for one in record["held"]]
        + [("put aside", _text(one["at"]), f"incident {one['incident']}") for one in record["put_aside"]],
        windows=_rows(record["windows"], "line", "prefix_len", "options", "from", "to", "requests", "draw", "split"),
        results=_rows(record["results"], "version", "at", "outcomes", "hands"),
        corrections=_rows(record["corrections"], "at", "by", "approved_by", "reason", "cards", "before", "after"),
        incidents=_rows(
            record["incidents"], "incident", "code", "raised_at", "expected", "actual", "resolutions", "resolution",
            "reason", "resolved_by", "resolved_at", "acknowledged_by",
        ),
        holds=_rows(record["holds"], "hold", "reason", "by", "from", "to", "lifted_by", "lifted_reason"),
        approvals=_rows(
            record["approvals"], "approval", "action", "by", "reason", "asked_at", "given", "closed_by", "closed_at"
        ),
        devices=_rows(record["devices"], "device", "lost_at", "reason", "restored_at"),
        persons=_rows(record["persons"], "person", "did"),
        players=[_player(row) for row in record["players"]],
        timeline=_rows(record["timeline"], "n", "at", "type", "data"),
    )  # fmt: skip


def card(name: str) -> Markup:
    """A card as it looks: rank and suit, or its back."""
    if len(name) != 2 or name[1] not in _SUITS:
        return Markup('<span class="card hidden">{}</span>').format(name)
    colour = " red" if name[1] in "HD" else ""
    return Markup('<span class="card{}">{}{}</span>').format(colour, name[0].replace("T", "10"), _SUITS[name[1]])


def _cards(record: Json) -> Any:
    for number, one in enumerate(record["cards"], 1):
        changed = "; ".join(f"{c['before']} → {c['after']} at {c['at']}" for c in one["corrected"])
        opening = None
        if one["commitment"]:
            opening = Markup('<span class="small">commitment {}<br/>key {}</span>').format(
                one["commitment"], one["key"] or "not yet"
            )
        yield (
            number, card(one["card"]), one["position"], _text(one["at"]), ", ".join(one["validated_by"]),
            _text(one["revealed_at"]),
            changed or None, opening,
        )  # fmt: skip


def _player(row: Json) -> tuple[object, ...]:
    rest = {k: v for k, v in row.items() if k not in ("at", "player", "what", "bet", "line")}
    return _text(row["at"]), row["player"], row["what"], row.get("line") or row.get("bet"), _text(rest)


def _rows(entries: list[Json], *names: str) -> list[tuple[object, ...]]:
    return [tuple(_text(entry.get(name)) for name in names) for entry in entries]


def _text(value: object) -> object:
    """For a cell: times unbroken, words joined, an object as its keys and values, a list line by line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and _TIME.fullmatch(value):
        return Markup("<time>{}</time>").format(value)
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return ", ".join(value) or None
    if isinstance(value, dict):
        pairs = [Markup("<i>{}</i> {}").format(key, _text(one)) for key, one in value.items() if one is not None]
        return Markup('<span class="small">{}</span>').format(Markup("; ").join(pairs)) if pairs else None
    if isinstance(value, list | tuple):
        return Markup("<br/>").join(escape(_text(one)) for one in value) or None
    return value
