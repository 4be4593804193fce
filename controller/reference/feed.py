"""``feed.schema.json``: JSON Schema (2020-12) of every published frame, from the types of the facts."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from controller import facts, frames
from controller.bus import wire
from controller.facts import Fact

_TIME: Final = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"}
_TEXT_OR_NULL: Final = {"type": ["string", "null"]}


def public_facts() -> dict[str, type[Fact]]:
    """Type name → class, of every fact that is published."""
    kinds = [kind for kind in vars(facts).values() if isinstance(kind, type) and issubclass(kind, Fact)]
    return {str(kind.__struct_config__.tag): kind for kind in kinds if kind is not Fact and kind.PUBLIC}


def schema() -> dict[str, Any]:
    """One schema: an object of exactly one of the types."""
    definitions: dict[str, Any] = {}
    for name, kind in sorted(public_facts().items()):
        data, used = _data(kind)
        definitions |= used
        definitions[name] = _frame(name, data)
    definitions[wire.HEARTBEAT] = _heartbeat()
    names = [*sorted(public_facts()), wire.HEARTBEAT]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "dealerd feed, one published frame",
        "description": "Frame 1 of each message; frame 0 is the topic. Pass over types and keys you do not know.",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in names],
        "$defs": definitions,
    }


def text() -> str:
    """The file."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def _data(kind: type[Fact]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Schema of ``data``: the fact's fields less the secret ones, and what it refers to."""
    (whole,), used = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    own = used.pop(kind.__name__)
    assert whole == {"$ref": f"#/$defs/{kind.__name__}"}
    shown = {name: value for name, value in own["properties"].items() if name != "type" and name not in kind.SECRET}
    data: dict[str, Any] = {"type": "object", "properties": shown}
    required = [name for name in own.get("required", ()) if name in shown]
    if required:
        data["required"] = required
    # Rows and the like belong to secret fields only.
    kept = {name: value for name, value in used.items() if f"#/$defs/{name}" in json.dumps(shown)}
    return data, kept


def _frame(name: str, data: dict[str, Any]) -> dict[str, Any]:
    kind = public_facts()[name]
    properties = {
        "schema": {"const": frames.SCHEMA},
        "feed": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
        "table": {"type": "string"},
        "epoch": {"type": "integer", "minimum": 1},
        "seq": {"type": "integer", "minimum": 1},
        "time": _TIME,
        "type": {"const": name},
        "shoe": _TEXT_OR_NULL,
        "round": _TEXT_OR_NULL,
        "round_in_shoe": {"type": ["integer", "null"]},
        "version": {"type": "integer"},
        "data": data,
    }
    text = " ".join((kind.__doc__ or "").split()).replace("``", "`")
    return {"description": text, "type": "object", "properties": properties, "required": list(properties)}


def _heartbeat() -> dict[str, Any]:
    data = {"type": "object", "properties": {"last_seq": {"type": "integer"}}, "required": ["last_seq"]}
    properties = _frame(next(iter(public_facts())), data)["properties"]
    kept = {key: properties[key] for key in ("schema", "feed", "table", "epoch", "time", "type", "data")}
    kept["type"] = {"const": wire.HEARTBEAT}
    return {
        "description": "Once a second when nothing else is published; no fact, so it has no number of its own.",
        "type": "object", "properties": kept, "required": list(kept),
    }  # fmt: skip
