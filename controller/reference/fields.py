"""What the source says of a structure's fields: ``#:`` comments, types, defaults."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec

_FIELD: Final = re.compile(r"    ([a-z_0-9]+): ")
_KINDS: Final = {str: "text", int: "whole number", float: "number", bool: "true or false"}


@dataclass(frozen=True)
class FieldText:
    """One field for a reader of the page."""

    name: str
    kind: str
    default: str
    text: str


def fields_of(struct: type[msgspec.Struct]) -> Iterator[FieldText]:
    """Every field in the order of its definition."""
    comments = _comments(struct)
    for field in msgspec.structs.fields(struct):
        yield FieldText(field.encode_name, kind_of(field.type), _default(field), comments.get(field.name, ""))


def summary(struct: type) -> str:
    """The docstring as paragraphs on one line each, code marks as in Markdown."""
    paragraphs = inspect.cleandoc(struct.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(text.split()) for text in paragraphs).replace("``", "`")


def _comments(struct: type) -> dict[str, str]:
    found: dict[str, str] = {}
    lines: list[str] = []
    for line in inspect.getsource(struct).splitlines():
        if line.startswith("    #:"):
            lines.append(line[6:].strip())
            continue
        match = _FIELD.match(line)
        if match and lines:
            found[match[1]] = " ".join(lines).replace("``", "`")
        lines = []
    return found


def kind_of(kind: Any) -> str:
    """A type in words: ``"a" or "b"``, ``whole number``, ``list of text``."""
    origin = typing.get_origin(kind)
    args = typing.get_args(kind)
    if origin is typing.Literal:
        return " or ".join(f"`{_value(arg)}`" for arg in args)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(kind_of(arg) for arg in args if arg is not type(None))
    if origin in (tuple, list):
        return f"list of {kind_of(args[0])}"
    if origin is dict:
        return f"table of {kind_of(args[1])}"
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return "{ " + ", ".join(field.name for field in msgspec.structs.fields(kind)) + " }"
    return _KINDS.get(kind, getattr(kind, "__name__", str(kind)))


def toml_of(value: Any) -> str:
    """A value as one writes it in a table file, as code."""
    return f"`{_value(value)}`"


def _default(field: Any) -> str:
    if field.required:
        return "**required**"
    default = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
    return "—" if default is None else f"`{_value(default)}`"


def _value(value: Any) -> str:
    """As one writes it in TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    if isinstance(value, dict):
        return "{}"
    return f'"{value}"' if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)
