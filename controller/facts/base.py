"""What every fact has: which of its fields may leave the process."""

from __future__ import annotations

from functools import lru_cache
from operator import attrgetter
from typing import Any, ClassVar, Final

import msgspec

from controller.cards import HIDDEN

Json = dict[str, Any]
_encoder: Final = msgspec.json.Encoder()


class Fact(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """Base of all facts."""

    PUBLIC: ClassVar[bool] = True
    SECRET: ClassVar[tuple[str, ...]] = ()

    @property
    def type(self) -> str:
        """The fact's name in journal and feed."""
        return type(self).__struct_config__.tag  # type: ignore[return-value]

    def public_data(self) -> Json:
        """What subscribers see: every field but the secret ones."""
        data: Json = msgspec.to_builtins(self)
        del data["type"]
        for name in self.SECRET:
            data.pop(name, None)
        return data

    def public_json(self) -> bytes:
        """``public_data`` as JSON."""
        return _encode_public(self)

    def masked_data(self) -> Json:
        """What a reader of the journal sees: a fact that was never public keeps its cards to itself."""
        data = self.public_data()
        return data if self.PUBLIC else _without_cards(data)


#: Keys of device reports that tell a card, or the tag that stands for one.
_TELLING = frozenset({"card", "cards", "beside", "raw", "tag", "tags"})


def _without_cards(data: Json) -> Json:
    return {
        key: HIDDEN if key in _TELLING else _without_cards(value) if isinstance(value, dict) else value
        for key, value in data.items()
    }


@lru_cache(maxsize=256)
def _public_form(kind: type[Fact]) -> tuple[Any, Any]:
    """How a kind of fact is encoded without its secrets: a struct of its public fields, and how to get them."""
    info = [one for one in msgspec.structs.fields(kind) if one.name not in kind.SECRET]
    # A value equal to its default is left out, and a required field has none.
    defaults = [object() if one.required else _default(one) for one in info]
    fields = [(one.encode_name, Any, default) for one, default in zip(info, defaults, strict=True)]
    return msgspec.defstruct(kind.__name__, fields, omit_defaults=True), attrgetter(*(one.name for one in info))


def _default(one: msgspec.structs.FieldInfo) -> Any:
    if one.default_factory is not msgspec.NODEFAULT:
        return msgspec.field(default_factory=one.default_factory)
    return one.default


def _encode_public(fact: Fact) -> bytes:
    if not fact.SECRET:
        tagged = _encoder.encode(fact)
        skip = 11 + len(fact.type)  # {"type":"…",
        return b"{" + tagged[skip:] if len(tagged) > skip else b"{}"
    twin, get = _public_form(type(fact))
    values = get(fact)
    return _encoder.encode(twin(*values) if isinstance(values, tuple) else twin(values))
