"""What every fact has: which of its fields may leave the process."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from controller.cards import HIDDEN

Json = dict[str, Any]


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
