"""Driver of the Angel Eye II / II-EX shoe (hardware page 1.1)."""

from __future__ import annotations

from typing import ClassVar, Final

from drivers.angel.codec import COPY_WINDOW_S, AngelDecoder
from drivers.decoder import Decoder
from drivers.errors import SettingsError
from drivers.settings import Capabilities, LineSettings
from drivers.shoe import ShoeDriver

# "triple about 50-150 ms": a shorter window would take the copies of one telegram for several.
MIN_COPY_WINDOW_S: Final = 0.2


class AngelShoe(ShoeDriver):
    """A baccarat shoe that knows the game: places, results, errors, cut card.

    Made from three public implementations and one public capture, not run on a shoe [I]. In hidden mode cards
    are drawn as ``**`` and revealed after the hand; in open mode their faces come with the draw. The shoe is
    only listened to: commands to it are not built, their check is disputed in the sources.
    """

    protocol: ClassVar[str] = "angel"
    capabilities: ClassVar[Capabilities] = Capabilities(
        identity_at_draw=None, positions=True, results=True, standby=True, sequence_numbers=True
    )
    # "RS-232C, 4800 baud, 8N1, no flow control"; "one test unit at 9600"
    default_line: ClassVar[LineSettings] = LineSettings(baudrate=4800)

    def make_decoder(self) -> Decoder:
        """See ``ShoeDriver.make_decoder``. Raises ``SettingsError`` for a window below ``MIN_COPY_WINDOW_S``."""
        window = COPY_WINDOW_S if self.settings.repeat_window_s is None else self.settings.repeat_window_s
        if window < MIN_COPY_WINDOW_S:
            raise SettingsError(
                f"repeat_window_s is {window}: angel needs {MIN_COPY_WINDOW_S} or more, for the three copies"
            )
        return AngelDecoder(window)

    def unverified(self) -> str | None:
        """See the class."""
        return "made from public sources and a capture, not yet run on a shoe; run the shoe self-test before use"
