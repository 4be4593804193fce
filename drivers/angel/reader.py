"""An Angel Eye as a mere card reader, for games it does not know (hardware page 1.1).

Inferred, not seen on a device [I]: that the shoe, set to show faces at the draw, can be used so at all. It goes on
dealing baccarat by itself, and what it thinks of places, results and over-drawn cards is left out here; a card whose
face it does not tell is ``NoRead``.
"""

from __future__ import annotations

from typing import ClassVar

from controller.cards import HIDDEN
from drivers.angel.codec import AngelDecoder
from drivers.angel.driver import AngelShoe
from drivers.decoder import Decoded
from drivers.events import (
    CardDrawn,
    CardReused,
    CardRevealed,
    Event,
    NoRead,
    OutOfGame,
    OverdrawnDiscarded,
    RoundResult,
    StandBy,
)
from drivers.settings import Capabilities


def as_read(event: Event) -> Event | None:
    """``event`` as a reader that knows no game tells it; None for what it does not know."""
    match event:
        case CardDrawn(card) | OutOfGame(card):
            return NoRead("the shoe tells no face") if card == HIDDEN else CardDrawn(card)
        case CardReused() | CardRevealed() | OverdrawnDiscarded() | RoundResult() | StandBy():
            return None  # no card leaves the shoe with any of them
        case _:
            return event


class AngelReaderDecoder(AngelDecoder):
    """See the module."""

    def decode(self, data: bytes, now: float) -> list[Decoded]:
        """See ``Decoder.decode``."""
        told = ((as_read(event), raw) for event, raw in super().decode(data, now))
        return [Decoded(event, raw) for event, raw in told if event is not None]


class AngelReader(AngelShoe):
    """See the module; chosen by ``as_reader``."""

    capabilities: ClassVar[Capabilities] = Capabilities(
        identity_at_draw=True, positions=False, results=False, standby=False, sequence_numbers=True
    )
    decoder_class: ClassVar[type[AngelDecoder]] = AngelReaderDecoder

    def unverified(self) -> str | None:
        """See the module."""
        return f"used as a reader for a game it does not know, which was never seen to work; {super().unverified()}"
