"""``docs/reference/config.md``: every section and key of a table file."""

from __future__ import annotations

import typing
from typing import Any, Final

import msgspec

from controller.config import TableConfig
from controller.reference.fields import FieldText, fields_of, summary, toml_of
from controller.rules.options import Game, GameOptions

_HEAD: Final = """\
# The table file

One TOML file a table. A key or section that is not named here is refused; an error names the file, the section, the
key and what is allowed. `dealerd run TABLE.toml --check` checks a file without starting anything. Paths are relative
to the file. The configuration that is in force and its SHA-256 are journaled at every start, and each round's record
carries that digest.

Whole files to begin with lie in `examples/`: one for each game and one for each kind of shoe, each key explained.

This page is made from the program's types: `make reference`. Where a default is —, the text says what happens without
the key.
"""


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for field in msgspec.structs.fields(TableConfig):
        kind = _struct(field.type)
        need = "required" if field.required else "may be left out"
        parts.append(f"## `[{field.name}]` ({need})\n")
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and typing.get_origin(field.type) is None:
            parts.append(_text(kind) + "\n")
            parts.append(_table(fields_of(kind), _by_game(field.name)))
        else:
            (entry,) = (one for one in fields_of(TableConfig) if one.name == field.name)
            parts.append(f"{entry.text}\n\n```toml\n[{field.name}]\nmain = {{ min = 100, max = 500000 }}\n```\n")
            parts.append(_table(fields_of(kind), {}))
    return "\n".join(parts)


def _struct(kind: Any) -> Any:
    """The structure behind ``dict[str, X]`` or ``X | None``."""
    args = [arg for arg in typing.get_args(kind) if arg not in (str, type(None))]
    return _struct(args[-1]) if args else kind


def _text(struct: type) -> str:
    """The docstring without its beginning that repeats the section."""
    head, _, rest = summary(struct).partition(": ")
    return rest[:1].upper() + rest[1:] if head.startswith("`[") else summary(struct)


def _by_game(section: str) -> dict[str, str]:
    """Defaults of ``[game]`` that each game sets for itself."""
    if section != "game":
        return {}
    games = {game: GameOptions(game=game) for game in typing.get_args(Game)}
    found = {}
    for field in msgspec.structs.fields(GameOptions):
        values = {game: getattr(options, field.name) for game, options in games.items()}
        if field.default is None and None not in values.values():
            same = len(set(values.values())) == 1
            each = [f"{game} {toml_of(value)}" for game, value in values.items()]
            found[field.name] = toml_of(values["boundless"]) if same else ", ".join(each)
    return found


def _table(fields: typing.Iterable[FieldText], defaults: dict[str, str]) -> str:
    lines = ["| key | value | default | |", "|---|---|---|---|"]
    for one in fields:
        default = defaults.get(one.name, one.default)
        lines.append(f"| `{one.name}` | {one.kind} | {default} | {one.text.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"
