"""The figures of a campaign as Markdown tables, from the states that ``dealerd soak --state`` keeps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from controller.simulation.soak_faults import BY_NAME, Count, added
from controller.simulation.soak_state import State, StateError

BEGIN: Final = "<!-- figures of the soak: begin -->"
END: Final = "<!-- figures of the soak: end -->"
_ENDS: Final = ("injected", "detected", "corrected", "voided", "harmless", "missed", "unseen")


def read(paths: Sequence[Path]) -> list[State]:
    """The states at ``paths``. Raises ``StateError``."""
    found = []
    for path in paths:
        try:
            found.append(msgspec.json.decode(path.read_bytes(), type=State))
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise StateError(f"{path}: not a state of a soak: {error}; name another file") from error
    return found


def tables(states: Sequence[State]) -> str:
    """What was played, and what became of every kind of fault, with a shoe alone and with a camera."""
    lines = [
        "| game | sources | sessions | rounds | with a result | void | inputs | facts | incidents | failed "
        "| rounds a processor second |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for s in sorted(states, key=lambda s: (s.sources != "shoe", s.game)):
        speed = s.rounds / s.cpu_s if s.cpu_s else 0
        lines.append(
            f"| {s.game} | {s.sources} | {s.session} | {s.rounds} | {s.results} | {s.voids} | {s.inputs} | {s.facts} "
            f"| {s.incidents} | {len(s.failures)} | {speed:.0f} |"
        )
    seeds = ", ".join(sorted({str(s.seed) for s in states}))
    lines.append(
        f"\n{sum(s.rounds for s in states)} rounds, seed {seeds}. *Failed*: sessions in which a check broke."
    )
    for sources, head in (("shoe", "With a shoe alone"), ("both", "With a camera that must confirm each card")):
        counts: dict[str, Count] = {}
        for s in states:
            if s.sources == sources:
                counts = added(counts, s.counts)
        if counts:
            lines += ["", f"{head}:", "", *_faults(counts)]
    return "\n".join(lines)


def _faults(counts: dict[str, Count]) -> list[str]:
    lines = [f"| fault | expected | {' | '.join(_ENDS)} |", "|---|---|" + "---|" * len(_ENDS)]
    for name, kind in BY_NAME.items():
        count = counts.get(name)
        if count is not None and count.chances:
            figures = " | ".join(str(getattr(count, end)) for end in _ENDS)
            lines.append(f"| {name} | {count.chances * kind.chance:.0f} | {figures} |")
    return lines


def put_into(page: Path, text: str) -> None:
    """Replace the figures in ``page``. Raises ``StateError`` if it has no place for them."""
    try:
        old = page.read_text(encoding="utf-8")
        before, rest = old.split(BEGIN)
        _, after = rest.split(END)
    except (OSError, ValueError) as error:
        raise StateError(f"{page}: it needs the lines {BEGIN} and {END}, once each") from error
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
