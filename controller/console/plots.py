"""Plots and baccarat roads as SVG of our own. Pure; every picture says in words what it shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup

from controller.rules.roads import ROWS

#: Side of a road's cell and of a derived road's, in units of the picture.
CELL: Final = 24
SMALL: Final = 12
#: Columns a road shows at least.
COLUMNS: Final = 30
_LETTER: Final = {"player": "P", "banker": "B", "tie": "T"}
_BAR: Final = 26


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its label, its length in any unit, and the value in words."""

    label: str
    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Spread:
    """Percentiles of one group, in milliseconds."""

    label: str
    count: int
    p50: float
    p95: float
    p99: float


def bars(title: str, rows: Sequence[Bar]) -> Markup:
    """Horizontal bars from zero, the longest as wide as there is room."""
    most = max((row.value for row in rows), default=0) or 1
    inner = Markup("").join(
        Markup(
            '<text x="84" y="{y}" class="name">{label}</text>'
            '<rect x="92" y="{top}" width="{width:.1f}" height="16"/>'
            '<text x="{end:.1f}" y="{y}">{text}</text>'
        ).format(
            y=n * _BAR + 17, top=n * _BAR + 5, label=row.label, width=max(1.0, 190 * row.value / most),
            end=98 + 190 * row.value / most, text=row.text,
        )
        for n, row in enumerate(rows)
    )  # fmt: skip
    said = f"{title}: " + "; ".join(f"{row.label} {row.text}" for row in rows)
    return _picture("plot bars", 430, max(1, len(rows)) * _BAR + 4, said, inner)


def spreads(title: str, rows: Sequence[Spread], unit: str = "ms") -> Markup:
    """For each group a line from p50 to p99 with a mark at p95, on one scale from zero."""
    most = max((row.p99 for row in rows), default=0) or 1

    def at(value: float) -> float:
        return 92 + 180 * value / most

    inner = Markup("").join(
        Markup(
            '<text x="84" y="{y}" class="name">{label}</text><line x1="{a:.1f}" x2="{c:.1f}" y1="{m}" y2="{m}"/>'
            '<circle cx="{a:.1f}" cy="{m}" r="6"/><path d="M{b:.1f} {top}v14"/><path d="M{c:.1f} {top}v14"/>'
            '<text x="{end:.1f}" y="{y}">{p50:g} · {p95:g} · {p99:g} {unit}</text>'
        ).format(
            y=n * _BAR + 17, m=n * _BAR + 12, top=n * _BAR + 5, label=row.label, a=at(row.p50), b=at(row.p95),
            c=at(row.p99), end=at(row.p99) + 10, p50=row.p50, p95=row.p95, p99=row.p99, unit=unit,
        )
        for n, row in enumerate(rows)
    )  # fmt: skip
    said = f"{title}, half of them within, 95 % within, 99 % within: " + "; ".join(
        f"{row.label} {row.p50:g}, {row.p95:g}, {row.p99:g} {unit} of {row.count}" for row in rows
    )
    return _picture("plot spreads", 430, max(1, len(rows)) * _BAR + 4, said, inner)


def shoe_life(report: dict[str, Any]) -> Markup:
    """The shoe from its first card to its last: burned, dealt round by round, the cut card, what was never drawn."""
    total = report["cards_in_shoe"]
    scale = 1200 / total
    burned = report["burn"]["done"] + (1 if report["burn"]["card"] else 0)
    parts = [_stretch("rest", 0, 1200, "not drawn"), _stretch("burned", 0, burned * scale, f"{burned} burned")]
    at = float(burned)
    for n, one in enumerate(report["rounds"]):
        kind = "void" if one["status"] == "void" else "odd" if n % 2 else "even"
        parts.append(_stretch(kind, at * scale, one["cards"] * scale, f"{one['round']}: {one['cards']} cards"))
        at += one["cards"]
    cut = report["cut_card"]
    if cut:
        mark = Markup('<path class="cut" d="M{0:.2f} 16v46"/><text x="{0:.2f}" y="12">cut card</text>')
        parts.append(mark.format(cut["after_cards"] * scale))
    out = f"{report['cards_out']} of {total} cards out"
    parts.append(Markup('<text class="end" x="1200" y="76">{}</text>').format(out))
    ends = f"cut card after {cut['after_cards']} cards" if cut else "cut card not out"
    said = f"{out}, {burned} burned, {len(report['rounds'])} rounds, {ends}"
    return _picture("plot life", 1200, 84, said, Markup("").join(parts))


def _stretch(kind: str, x: float, width: float, said: str) -> Markup:
    shape = Markup('<rect class="{}" x="{:.2f}" y="20" width="{:.2f}" height="36"><title>{}</title></rect>')
    return shape.format(kind, x, width, said)


# --- roads -------------------------------------------------------------------------------------------------------


def bead_plate(cells: Sequence[dict[str, Any]]) -> Markup:
    """Every coup, ties too, column by column."""
    shapes = (
        Markup('<circle class="{0}" cx="{1}" cy="{2}" r="10"/><text x="{1}" y="{3}">{4}</text>').format(
            cell["result"], *_middle(cell, CELL), _middle(cell, CELL)[1] + 5, _LETTER[cell["result"]]
        )
        for cell in cells
    )
    return _road("bead plate", cells, CELL, shapes, " ".join(_LETTER[c["result"]] for c in cells))


def big_road(cells: Sequence[dict[str, Any]], leading_ties: int = 0) -> Markup:
    """A column a streak; at the bottom or at an occupied cell it turns right. Ties are struck through and counted."""
    shapes = []
    for cell in cells:
        x, y = _middle(cell, CELL)
        shape = Markup('<circle class="{} hollow" cx="{}" cy="{}" r="9"/>').format(cell["result"], x, y)
        if cell["ties"]:
            shape += Markup('<path class="tie" d="M{} {}l16-16"/>').format(x - 8, y + 8)
        if cell["ties"] > 1:
            shape += Markup('<text x="{}" y="{}">{}</text>').format(x, y + 5, cell["ties"])
        shapes.append(shape)
    said = " ".join(_LETTER[c["result"]] + ("'" * c["ties"]) for c in cells)
    return _road("big road", cells, CELL, shapes, said + (f", {leading_ties} ties first" if leading_ties else ""))


def derived_road(name: str, cells: Sequence[dict[str, Any]]) -> Markup:
    """Big Eye Boy in rings, Small Road in dots, Cockroach Pig in strokes; red is regular, blue is not."""
    shapes = []
    for cell in cells:
        x, y = _middle(cell, SMALL)
        match name:
            case "big_eye_boy":
                shape = Markup('<circle class="{} hollow" cx="{}" cy="{}" r="4"/>').format(cell["colour"], x, y)
            case "small_road":
                shape = Markup('<circle class="{}" cx="{}" cy="{}" r="4.5"/>').format(cell["colour"], x, y)
            case _:
                shape = Markup('<path class="{} hollow" d="M{} {}l8-8"/>').format(cell["colour"], x - 4, y + 4)
        shapes.append(shape)
    return _road(name.replace("_", " "), cells, SMALL, shapes, "".join(c["colour"][0].upper() for c in cells))


def _middle(cell: dict[str, Any], side: int) -> tuple[int, int]:
    return cell["col"] * side + side // 2, cell["row"] * side + side // 2


def _road(name: str, cells: Sequence[dict[str, Any]], side: int, shapes: Iterable[Markup], said: str) -> Markup:
    columns = max(COLUMNS * CELL // side, 1 + max((cell["col"] for cell in cells), default=0))
    width, height = columns * side, ROWS * side
    lines = "".join(f"M{n * side} 0v{height}" for n in range(columns + 1))
    lines += "".join(f"M0 {n * side}h{width}" for n in range(ROWS + 1))
    inner = Markup('<path class="lines" d="{}"/>').format(lines) + Markup("").join(shapes)
    return _picture(f"road {name.replace(' ', '-')}", width, height, f"{name}: {said or 'empty'}", inner)


def _picture(kind: str, width: int, height: int, said: str, inner: Markup) -> Markup:
    return Markup('<svg class="{}" viewBox="-1 -1 {} {}" role="img" aria-label="{}">{}</svg>').format(
        kind, width + 2, height + 2, said, inner
    )
