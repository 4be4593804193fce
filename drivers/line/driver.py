"""Driver of line-oriented shoes and scan tables (hardware page 1.2, 3.1)."""

from __future__ import annotations

from typing import ClassVar

from drivers.decoder import Decoder
from drivers.line.codec import REPEAT_WINDOW_S, LineDecoder
from drivers.settings import Capabilities, LineSettings
from drivers.shoe import ShoeDriver


class LineShoe(ShoeDriver):
    """A shoe or scanner that names each card as it leaves; it knows neither positions nor the game."""

    protocol: ClassVar[str] = "line"
    capabilities: ClassVar[Capabilities] = Capabilities(
        identity_at_draw=True, positions=False, results=False, standby=False, sequence_numbers=False
    )
    # "9600 8N1, ASCII lines" (1.2)
    default_line: ClassVar[LineSettings] = LineSettings(baudrate=9600)

    def make_decoder(self) -> Decoder:
        """See ``ShoeDriver.make_decoder``."""
        window = self.settings.repeat_window_s
        return LineDecoder(
            self.settings.code_set, self.settings.cut_codes, REPEAT_WINDOW_S if window is None else window
        )

    def unverified(self) -> str | None:
        """The suit-and-rank codes were seen behind a middleware, not on the wire [I]."""
        if self.settings.code_set == "suit_rank":
            return "code set suit_rank was never seen on a device's own line; run the shoe self-test before use"
        return None
