"""Driver of line-oriented shoes and scan tables (hardware page 1.2, 3.1)."""

from __future__ import annotations

from typing import ClassVar

from drivers.decoder import Decoder
from drivers.line.codec import REPEAT_WINDOW_S, LineDecoder
from drivers.line.triggers import TRIGGERS
from drivers.settings import READS_CARDS, Capabilities, LineSettings
from drivers.shoe import ShoeDriver


class LineShoe(ShoeDriver):
    """A shoe or scanner that names each card as it leaves; it knows neither positions nor the game."""

    protocol: ClassVar[str] = "line"
    capabilities: ClassVar[Capabilities] = READS_CARDS
    # "9600 8N1, ASCII lines" (1.2); "BL-1300 default 9600 7E1" (3.2) is for bytesize and parity to set.
    default_line: ClassVar[LineSettings] = LineSettings(baudrate=9600)

    def make_decoder(self) -> Decoder:
        """See ``ShoeDriver.make_decoder``."""
        settings = self.settings
        return LineDecoder(
            settings.code_set,
            settings.cut_codes,
            settings.window(REPEAT_WINDOW_S),
            triggering=TRIGGERS.get(settings.trigger),
            acknowledge=settings.acknowledge,
        )

    def unverified(self) -> str | None:
        """The suit-and-rank codes were seen behind a middleware, triggers in manuals, neither on the wire [I]."""
        doubts = []
        if self.settings.code_set == "suit_rank":
            doubts.append("code set suit_rank was never seen on a device's own line")
        if self.settings.trigger != "none":
            doubts.append(f"trigger {self.settings.trigger} is from manuals and was never seen on hardware")
        return f"{'; '.join(doubts)}; run the shoe self-test before use" if doubts else None
