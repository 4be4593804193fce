"""An Angel Eye as a reader for a game it does not know: cards and nothing else, each once."""

from __future__ import annotations

import pytest

from drivers.angel.codec import AngelEncoder
from drivers.angel.driver import AngelShoe
from drivers.angel.reader import AngelReader, AngelReaderDecoder
from drivers.errors import SettingsError
from drivers.events import (
    CardDrawn,
    CardReused,
    CardRevealed,
    CutCard,
    ErrorRaised,
    Event,
    Gap,
    NoRead,
    OutOfGame,
    OverdrawnDiscarded,
    RoundResult,
    StandBy,
    Started,
)
from drivers.registry import open_shoe
from drivers.settings import ShoeSettings


def test_cards_are_told_without_places_and_nothing_twice() -> None:
    encoder = AngelEncoder()
    said: list[Event] = [
        Started(), CardDrawn("8S", "player", 1), CardDrawn("**", "banker", 1), CutCard(), ErrorRaised(2, False),
        OutOfGame("**", "burn", 0), OutOfGame("KD", "player", 1), OverdrawnDiscarded("7S", "player", 1),
        CardRevealed("AH", "banker", 1), RoundResult("player", False, False), StandBy(),
        CardReused("**", "player", 1),
    ]  # fmt: skip
    decoder = AngelReaderDecoder()
    told = decoder.feed(b"".join(encoder.triple(event) for event in said), 0.0)
    unread = NoRead("the shoe tells no face")
    assert told == [Started(), CardDrawn("8S"), unread, CutCard(), ErrorRaised(2, False), unread, CardDrawn("KD")]
    encoder.encode(StandBy())
    assert decoder.feed(encoder.encode(CardDrawn("AS", "player", 2)), 5.0) == [Gap("2", "4"), CardDrawn("AS")]


def test_it_is_chosen_by_its_setting_and_warns() -> None:
    plain = open_shoe(ShoeSettings(protocol="angel", port="/dev/null"))
    reader = open_shoe(ShoeSettings(protocol="angel", port="/dev/null", as_reader=True))
    assert (type(plain), type(reader)) == (AngelShoe, AngelReader)
    assert (plain.capabilities.identity_at_draw, reader.capabilities.identity_at_draw) == (None, True)
    assert not reader.capabilities.positions
    assert "never seen to work" in str(reader.unverified())
    with pytest.raises(SettingsError, match="as_reader"):
        ShoeSettings(protocol="line", port="/dev/null", as_reader=True)
