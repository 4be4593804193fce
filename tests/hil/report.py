"""The report of a rig: one HTML file with its plots in it, nothing else needed to read it."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rig import Findings

WIDTH: Final = 640
HEIGHT: Final = 180
MARGIN: Final = 44
BINS: Final = 40

_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 46em; color: #222; background: #fff; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 2em; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .25em .6em .25em 0;
 border-bottom: 1px solid #ddd; vertical-align: top; }
.passed { color: #1a7f37; } .failed, .fault { color: #b3261e; font-weight: 600; } .skipped { color: #777; }
svg { width: 100%; height: auto; } svg text { font: 11px system-ui, sans-serif; fill: #555; }
.bar { fill: #3a6ea5; } .mark { stroke: #b3261e; stroke-width: 1; } .axis { stroke: #999; stroke-width: 1; }
"""


def page(findings: Findings, *, made_at: str, program: str) -> str:
    """The report as HTML."""
    rig = findings.rig
    facts = {
        "rig": rig.name,
        "shoe": f"{rig.shoe.protocol} at {rig.shoe.port}"
        if rig.simulate is None
        else f"{rig.shoe.protocol}, simulated",
        "camera": "none" if rig.camera is None else rig.camera.public().source,
        "notes": rig.notes or "none",
        "made": f"{made_at} with {program}",
    }
    counts = {
        "cards told": findings.cards,
        "misread": len(findings.misread),
        "not read, or unknown": findings.unread,
        "gaps (telegrams missing)": findings.gaps,
        "wrong checks": findings.bad_checksum,
        "junk bytes": findings.junk_bytes,
    }
    parts = [
        f"<h1>{_text(rig.name)}</h1>",
        f'<p class="fault">The rig failed: {_text(findings.fault)}. What came after it was not tried.</p>'
        if findings.fault
        else "",
        _table(facts),
        "<h2>What was counted</h2>",
        _table(counts),
        "".join(f"<p>misread: {_text(line)}</p>" for line in findings.misread),
        "<h2>From the read to the table</h2>",
        histogram(findings.latencies_ms, "milliseconds", limit=rig.plan.told_ms),
        _quantiles(findings.latencies_ms, "ms"),
        "<h2>From card to card</h2>",
        histogram(findings.intervals_ms, "milliseconds"),
        _quantiles(findings.intervals_ms, "ms"),
        "<h2>From the loss of the line to its return</h2>",
        _quantiles(findings.restored_s, "s"),
        *(_camera(findings) if findings.frame_ms else ()),
        "<h2>Tests</h2>",
        _results(findings.results),
    ]
    title = f"rig report: {rig.name}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{_text(title)}</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _camera(findings: Findings) -> list[str]:
    return [
        "<h2>From picture to picture</h2>",
        histogram(findings.frame_ms, "milliseconds"),
        _quantiles(findings.frame_ms, "ms"),
        "<h2>From the loss of the camera to its return</h2>",
        _quantiles(findings.camera_back_s, "s"),
        "".join(f"<p>the camera named wrongly: {_text(line)}</p>" for line in findings.miscalled),
    ]


def histogram(values: Sequence[float], unit: str, *, limit: float | None = None) -> str:
    """An inline SVG of how often each value came; ``limit`` is marked. A sentence if there are no values."""
    if not values:
        return "<p>nothing was measured</p>"
    high = max(*values, limit or 0.0, 1e-9)
    counts = [0] * BINS
    for value in values:
        counts[min(int(value / high * BINS), BINS - 1)] += 1
    top = max(counts)
    step = (WIDTH - 2 * MARGIN) / BINS
    base = HEIGHT - MARGIN
    bars = "".join(
        f'<rect class="bar" x="{MARGIN + n * step:.1f}" y="{base - count / top * (base - 20):.1f}" '
        f'width="{step - 1:.1f}" height="{count / top * (base - 20):.1f}"><title>{count}</title></rect>'
        for n, count in enumerate(counts)
        if count
    )
    right = WIDTH - MARGIN
    mark = ""
    if limit is not None:
        x = MARGIN + limit / high * (right - MARGIN)
        mark = f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="10" y2="{base}"/>'
        mark += f'<text x="{x - 4:.1f}" y="10" text-anchor="end">limit {limit:g}</text>'
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{len(values)} values, up to {max(values):.3g} {unit}">'
        f'{bars}<line class="axis" x1="{MARGIN}" x2="{right}" y1="{base}" y2="{base}"/>{mark}'
        f'<text x="{MARGIN}" y="{base + 16}">0</text>'
        f'<text x="{right}" y="{base + 16}" text-anchor="end">{high:.3g} {unit}</text>'
        f'<text x="{MARGIN - 6}" y="24" text-anchor="end">{top}</text></svg>'
    )


def _quantiles(values: Sequence[float], unit: str) -> str:
    if not values:
        return "<p>nothing was measured</p>"
    ordered = sorted(values)
    picks = {"median": 0.5, "95 of 100": 0.95, "99 of 100": 0.99, "worst": 1.0}
    found = {name: ordered[max(0, math.ceil(share * len(ordered)) - 1)] for name, share in picks.items()}
    words = ", ".join(f"{name} {value:.3g} {unit}" for name, value in found.items())
    return f"<p>{len(ordered)} values: {words}</p>"


def _table(rows: dict[str, object] | dict[str, str] | dict[str, int]) -> str:
    return (
        "<table>" + "".join(f"<tr><th>{_text(k)}</th><td>{_text(v)}</td></tr>" for k, v in rows.items()) + "</table>"
    )


def _results(results: Sequence[tuple[str, str, str]]) -> str:
    rows = "".join(
        f'<tr><td>{_text(name)}</td><td class="{_text(outcome)}">{_text(outcome)}</td><td>{_text(reason)}</td></tr>'
        for name, outcome, reason in results
    )
    return f"<table>{rows}</table>"


def _text(value: object) -> str:
    return html.escape(str(value))
