"""What a check says: whether it holds, what was found, why it matters, what to do."""

from __future__ import annotations

from typing import Literal

import msgspec

Level = Literal["ok", "note", "warning", "failure"]


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One answer. Only a ``failure`` keeps a table from its shift; ``why`` and ``do`` are empty where all is well."""

    check: str
    level: Level
    found: str
    why: str = ""
    do: str = ""


def ok(check: str, found: str) -> Finding:
    """It holds."""
    return Finding(check=check, level="ok", found=found)


def note(check: str, found: str, why: str, do: str) -> Finding:
    """Worth knowing."""
    return Finding(check=check, level="note", found=found, why=why, do=do)


def warning(check: str, found: str, why: str, do: str) -> Finding:
    """The table runs, but somebody should look."""
    return Finding(check=check, level="warning", found=found, why=why, do=do)


def failure(check: str, found: str, why: str, do: str) -> Finding:
    """Not fit for a shift."""
    return Finding(check=check, level="failure", found=found, why=why, do=do)


def text(findings: list[Finding]) -> str:
    """For a person: what holds in a line each, what does not with reason and remedy."""
    lines = []
    for one in findings:
        lines.append(f"{one.level:<8} {one.check:<17} {one.found}")
        lines += [f"{'':<27}{words}" for words in (f"why: {one.why}", f"do:  {one.do}") if words[5:].strip()]
    count = {level: sum(one.level == level for one in findings) for level in ("failure", "warning", "note", "ok")}
    lines.append(
        ", ".join(f"{number} {level}{'s' * (number != 1 and level != 'ok')}" for level, number in count.items())
    )
    return "\n".join(lines)
