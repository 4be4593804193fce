"""What is wrong with a file of settings, in a person's words and TOML's."""

from __future__ import annotations

import difflib
import re
import typing
from collections.abc import Iterator
from typing import Any, Final

import msgspec

#: One step of msgspec's paths: a key, or any entry of a table or list.
_STEP = re.compile(r"[A-Za-z0-9_]+|\[[^]]*\]")
#: msgspec's words for a value's kind, and a person's.
_KINDS: Final = {
    "str": "text in quotes",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list in [ ]",
    "object": "a section",
}


def explain(message: str, kind: type[msgspec.Struct]) -> str:
    """msgspec's ``message`` on a file of ``kind`` in words of TOML: ``$.game.burn`` becomes ``[game] burn``."""
    text, _, where = message.partition(" - at `$")
    steps: list[str] = _STEP.findall(where)
    at = _type_at(steps, kind)
    names = [step for step in steps if not step.startswith("[")]
    if len(steps) > 1 and steps[1][1:-1].isdecimal():  # which of several sections
        names[0] += steps[1]
    place = f"[{names[0]}] {'.'.join(names[1:])}".strip() if names else "top level"
    struct = _struct_of(at)
    if (missing := re.search(r"missing required field `(.+)`", text)) is not None:
        what = f"`{missing[1]}` is missing" if names else f"section [{missing[1]}] is missing"
        return f"{place}: {what}"
    if (unknown := re.search(r"unknown field `(.+)`", text)) is not None and struct is not None:
        known = struct.__struct_fields__
        meant = "".join(f", perhaps `{one}`" for one in difflib.get_close_matches(unknown[1], known, 1))
        what = "key" if names else "section"
        return f"{place}: unknown {what} `{unknown[1]}`{meant}; known: {', '.join(known)}"
    named = [str(value) for value in _literals(at)]
    allowed = "; allowed: " + ", ".join(named) if named else ""
    return f"{place}: {_in_words(text)}{allowed}"


def _in_words(text: str) -> str:
    """``Expected `bool | null`, got `str``` is ``true or false is needed, not text in quotes``."""
    if (value := re.fullmatch(r"Invalid enum value (.+)", text)) is not None:
        return f"{value[1]} is not possible"
    if (kinds := re.fullmatch(r"Expected `(.+)`, got `(.+)`", text)) is None:
        return text
    wanted = " or ".join(_KINDS.get(kind, kind) for kind in kinds[1].split(" | ") if kind != "null")
    return f"{wanted} is needed, not {_KINDS.get(kinds[2], kinds[2])}"


def _type_at(steps: list[str], root: type[msgspec.Struct]) -> Any:
    """The type at a path of keys, ``[...]`` for any key of a table or place of a list; None where there is none."""
    kind: Any = root
    for step in steps:
        args = [arg for arg in typing.get_args(kind) if arg is not type(None)]
        if step.startswith("["):
            kind = args[-1] if args else None
            continue
        struct = _struct_of(kind)
        fields = {field.name: field.type for field in msgspec.structs.fields(struct)} if struct else {}
        kind = fields.get(step)
    return kind


def _struct_of(kind: Any) -> type[msgspec.Struct] | None:
    """``kind``, or what it is when it is not None, if that is a struct."""
    for one in (kind, *typing.get_args(kind)):
        if isinstance(one, type) and issubclass(one, msgspec.Struct):
            return one
    return None


def _literals(kind: Any) -> Iterator[str | int]:
    for arg in typing.get_args(kind):
        if isinstance(arg, str | int):
            yield arg
        else:
            yield from _literals(arg)
