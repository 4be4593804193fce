"""A table's state as JSON and back: a form of its own, because state holds books, tuples and keys that JSON has not.

Only classes of the table, its book and its rules are made again, by setting their attributes: no code of theirs
runs. What a book computed and can compute again is left out; its settings come from the table that takes the state
over.
"""

from __future__ import annotations

import copy
import dataclasses
import sys
from typing import Any, Final

import msgspec

from controller.book.base import Book
from controller.table.state import TableState

_PACKAGES: Final = ("controller.table.", "controller.book.", "controller.rules.")
#: Attributes of a book that are not its content.
_LEFT_OUT: Final[dict[str, Any]] = {"setting": None, "_payers": {}, "_stories": {}, "_retired": ()}
#: Deadlines count on a clock that ends with the process.
_DEADLINES: Final = tuple(name for name in TableState.__dataclass_fields__ if name.endswith("_due"))


class FreezeError(Exception):
    """The state holds something this form has no place for, or the bytes are not of this program's state."""


def freeze(state: TableState) -> bytes:
    """The state as canonical bytes: equal states of the same history give equal bytes. Raises ``FreezeError``."""
    return msgspec.json.encode(_down(state))


def thaw(data: bytes, *, like: TableState) -> TableState:
    """The state that ``freeze`` took; ``like`` is the fresh table's own, whose book's settings it takes over.

    Raises ``FreezeError`` for anything else, also for the state of a program whose classes had other attributes.
    """
    try:
        state = _up(msgspec.json.decode(data))
    except FreezeError:
        raise
    except (
        msgspec.DecodeError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        IndexError,
        RecursionError,
    ) as error:
        raise FreezeError(f"not a frozen state: {type(error).__name__}") from error
    if not isinstance(state, TableState) or type(state.book) is not type(like.book):
        raise FreezeError("the frozen state is of another kind of table")
    if state.book is not None and like.book is not None:
        state.book.setting = like.book.setting
    return state


def _down(value: Any) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list():
            return ["l", *map(_down, value)]
        case tuple():
            return ["t", *map(_down, value)]
        case frozenset():
            return ["f", *sorted((_down(one) for one in value), key=repr)]
        case set():
            return ["s", *sorted((_down(one) for one in value), key=repr)]
        case dict():
            return ["d", *([_down(key), _down(one)] for key, one in value.items())]
    kind = type(value)
    if not kind.__module__.startswith(_PACKAGES):
        raise FreezeError(f"no form for {kind.__module__}.{kind.__qualname__}")
    given = _attributes(value)
    if isinstance(value, Book):
        given = {name: one for name, one in given.items() if name not in _LEFT_OUT}
    elif isinstance(value, TableState):
        given = {name: one for name, one in given.items() if name not in _DEADLINES}
    return ["o", kind.__module__, kind.__qualname__, {name: _down(one) for name, one in given.items()}]


def _attributes(value: Any) -> dict[str, Any]:
    if isinstance(value, msgspec.Struct):
        return {name: getattr(value, name) for name in value.__struct_fields__}
    if dataclasses.is_dataclass(value):  # in the order of its fields, however it was made
        return {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
    found = dict(getattr(value, "__dict__", {}))
    for kind in reversed(type(value).__mro__):
        names = kind.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name not in ("__weakref__", "__dict__") and hasattr(value, name):
                found[name] = getattr(value, name)
    return found


def _up(value: Any) -> Any:
    if not isinstance(value, list):
        if isinstance(value, dict):
            raise FreezeError("a bare object")
        return value
    form, *rest = value
    match form:
        case "l":
            return [_up(one) for one in rest]
        case "t":
            return tuple(_up(one) for one in rest)
        case "f":
            return frozenset(_up(one) for one in rest)
        case "s":
            return {_up(one) for one in rest}
        case "d":
            return {_up(key): _up(one) for key, one in rest}
        case "o":
            module, name, given = rest
            return _made(module, name, {key: _up(one) for key, one in given.items()})
    raise FreezeError(f"an unknown form {form!r}")


def _made(module: str, name: str, given: dict[str, Any]) -> Any:
    kind = getattr(sys.modules.get(module), name, None) if module.startswith(_PACKAGES) else None
    if not isinstance(kind, type):
        raise FreezeError(f"this program has no {module}.{name}")
    if issubclass(kind, msgspec.Struct):
        return kind(**given)
    made = object.__new__(kind)
    if issubclass(kind, Book):
        given = copy.deepcopy(_LEFT_OUT) | given  # each book fills its own
    expected = set(given)
    if dataclasses.is_dataclass(kind):
        given = _defaults(kind) | given
        expected = {one.name for one in dataclasses.fields(kind)}
    if set(given) != expected:
        odd = ", ".join(sorted(set(given) ^ expected))
        raise FreezeError(f"{name} has other attributes in this program: {odd}")
    for key, one in given.items():
        object.__setattr__(made, key, one)
    return made


def _defaults(kind: Any) -> dict[str, Any]:
    """What a program that came later added, with its default."""
    found = {}
    for one in dataclasses.fields(kind):
        if one.default is not dataclasses.MISSING:
            found[one.name] = one.default
        elif one.default_factory is not dataclasses.MISSING:
            found[one.name] = one.default_factory()
    return found
