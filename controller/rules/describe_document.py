"""A page of rules as data, and its three forms: text for a terminal, Markdown, HTML."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

WIDTH: Final = 100


@dataclass(frozen=True, slots=True)
class Rule:
    """One sentence or a few, with the ids of the rules they state, separated by blanks."""

    text: str
    ids: str = ""

    def __str__(self) -> str:
        return f"{self.text} {_bracket(self.ids)}".rstrip()


@dataclass(frozen=True, slots=True)
class Grid:
    """A table."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    ids: str = ""

    @property
    def title(self) -> str:
        """The caption with its ids."""
        return f"{self.caption} {_bracket(self.ids)}".rstrip()


@dataclass(frozen=True, slots=True)
class Section:
    """A chapter; ``name`` is its anchor."""

    name: str
    title: str
    parts: tuple[Rule | Grid, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """The whole page."""

    title: str
    intro: tuple[str, ...]
    sections: tuple[Section, ...]

    def without(self, name: str) -> Document:
        """The same page less one section."""
        return Document(self.title, self.intro, tuple(s for s in self.sections if s.name != name))


def _bracket(ids: str) -> str:
    return f"[{', '.join(ids.split())}]" if ids else ""


# --- text --------------------------------------------------------------------------------------------------------


def to_text(page: Document) -> str:
    """For a terminal of 100 columns."""
    lines = [page.title, "=" * len(page.title)]
    for text in page.intro:
        lines += ["", *textwrap.wrap(text, WIDTH)]
    for section in page.sections:
        lines += ["", "", section.title, "-" * len(section.title)]
        for part in section.parts:
            if isinstance(part, Rule):
                lines += textwrap.wrap(str(part), WIDTH, initial_indent="* ", subsequent_indent="  ")
            else:
                lines += ["", *textwrap.wrap(part.title, WIDTH), *_aligned(part), ""]
    return _single_spaced(lines)


def _aligned(grid: Grid) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(grid.head, *grid.rows, strict=True)]
    for row in (grid.head, tuple("-" * width for width in widths), *grid.rows):
        yield "  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


def _single_spaced(lines: list[str]) -> str:
    """Blank lines between parts, never more than two in a row, none at the end."""
    found: list[str] = []
    for line in lines:
        if line or found[-2:] != ["", ""]:
            found.append(line)
    return "\n".join(found).rstrip("\n") + "\n"


# --- Markdown ----------------------------------------------------------------------------------------------------


def to_markdown(page: Document) -> str:
    """GitHub's Markdown."""
    lines = [f"# {page.title}"]
    for text in page.intro:
        lines += ["", text]
    for section in page.sections:
        lines += ["", f"## {section.title}"]
        before: Rule | Grid | None = None
        for part in section.parts:
            if isinstance(part, Grid):
                lines += ["", part.title, "", *_piped(part)]
            else:
                lines += [f"* {part}"] if isinstance(before, Rule) else ["", f"* {part}"]
            before = part
    return "\n".join(lines) + "\n"


def _piped(grid: Grid) -> Iterator[str]:
    for row in (grid.head, ("---",) * len(grid.head), *grid.rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


# --- HTML --------------------------------------------------------------------------------------------------------

_STYLE: Final = """\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1b;
  background: #fff; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #bbb; }
table { border-collapse: collapse; margin: 1rem 0; } caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { border: 1px solid #bbb; padding: .25rem .6rem; text-align: left; } thead th { background: #eee; }
nav ul { columns: 2; } @media print { nav { display: none; } }"""


def to_html(page: Document) -> str:
    """One whole page that needs nothing else; it is well-formed XML, too."""
    title = html.escape(page.title)
    lines = [
        "<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8"/>',
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>', f"<title>{title}</title>",
        f"<style>\n{_STYLE}\n</style>", "</head>", "<body>", "<main>", f"<h1>{title}</h1>",
    ]  # fmt: skip
    lines += [f"<p>{html.escape(text)}</p>" for text in page.intro]
    lines += ['<nav aria-label="Sections">', "<ul>"]
    lines += [f'<li><a href="#{s.name}">{html.escape(s.title)}</a></li>' for s in page.sections]
    lines += ["</ul>", "</nav>"]
    for section in page.sections:
        lines += [f'<section id="{section.name}">', f"<h2>{html.escape(section.title)}</h2>"]
        lines += [line for part in section.parts for line in _element(part)]
        lines.append("</section>")
    return "\n".join([*lines, "</main>", "</body>", "</html>"]) + "\n"


def _element(part: Rule | Grid) -> Iterator[str]:
    if isinstance(part, Rule):
        yield f"<p>{html.escape(str(part))}</p>"
        return
    yield f"<table>\n<caption>{html.escape(part.title)}</caption>"
    yield "<thead><tr>" + "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in part.head) + "</tr></thead>"
    yield "<tbody>"
    for first, *rest in part.rows:
        cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in rest)
        yield f'<tr><th scope="row">{html.escape(first)}</th>{cells}</tr>'
    yield "</tbody>\n</table>"


#: The forms by their names on the command line.
FORMATS: Final[Mapping[str, Callable[[Document], str]]] = MappingProxyType(
    {"text": to_text, "md": to_markdown, "html": to_html}
)
