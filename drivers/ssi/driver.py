"""Driver of Zebra scanners that speak SSI (hardware page 3.3)."""

from __future__ import annotations

from typing import ClassVar

from drivers.decoder import Decoder
from drivers.line.codec import REPEAT_WINDOW_S
from drivers.settings import READS_CARDS, Capabilities, LineSettings
from drivers.shoe import ShoeDriver
from drivers.ssi.codec import SsiDecoder


class SsiShoe(ShoeDriver):
    """A scanner at the shoe's mouth that names each card and waits for an answer. Not run on a scanner [I]."""

    protocol: ClassVar[str] = "ssi"
    capabilities: ClassVar[Capabilities] = READS_CARDS
    # "9600 8N1"
    default_line: ClassVar[LineSettings] = LineSettings(baudrate=9600)

    def make_decoder(self) -> Decoder:
        """See ``ShoeDriver.make_decoder``."""
        settings = self.settings
        return SsiDecoder(
            settings.code_set,
            settings.cut_codes,
            settings.window(REPEAT_WINDOW_S),
            triggered=settings.trigger == "ssi",
        )

    def unverified(self) -> str | None:
        """Packets are from manuals and public implementations."""
        return (
            "made from manuals and public sources, not yet run on a scanner: its waiting times and continued packets "
            "are assumptions; run the shoe self-test before use"
        )
