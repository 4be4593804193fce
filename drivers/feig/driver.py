"""Driver of FEIG OBID i-scan readers (hardware page 2.1)."""

from __future__ import annotations

from typing import ClassVar

from drivers.feig.codec import FeigDecoder
from drivers.feig.frames import ANY_READER
from drivers.mouth import Mouth
from drivers.polled import PolledTags
from drivers.settings import LineSettings
from drivers.tag_shoe import TagShoe


class FeigShoe(TagShoe):
    """A shoe with a FEIG reader at its mouth, asked over and over. Not run on a reader [I]."""

    protocol: ClassVar[str] = "feig"
    # "Serial default 38400 8E1 [I]"
    default_line: ClassVar[LineSettings] = LineSettings(baudrate=38400, parity="E")

    def make_reader(self, mouth: Mouth, poll_s: float) -> PolledTags:
        """See ``TagShoe.make_reader``."""
        address = ANY_READER if self.settings.address is None else self.settings.address
        return FeigDecoder(mouth, poll_s, self.settings.frames, address)

    def unverified(self) -> str | None:
        """Frames are from two public implementations; line settings, timing and antenna were not seen on hardware."""
        return (
            "made from public sources, not yet run on a reader: line settings, tag type 03, status 94 and the times "
            "at the mouth are assumptions; draw a whole shoe as a test before use"
        )
