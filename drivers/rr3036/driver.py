"""Driver of RR3036 readers (hardware page 2.2)."""

from __future__ import annotations

from typing import ClassVar

from drivers.mouth import Mouth
from drivers.polled import PolledTags
from drivers.rr3036.codec import Rr3036Decoder
from drivers.settings import LineSettings
from drivers.tag_shoe import TagShoe


class Rr3036Shoe(TagShoe):
    """A shoe with an RR3036 reader at its mouth, asked over and over. Not run on a reader [I]."""

    protocol: ClassVar[str] = "rr3036"
    # "19200 8N1"
    default_line: ClassVar[LineSettings] = LineSettings(baudrate=19200)

    def make_reader(self, mouth: Mouth, poll_s: float) -> PolledTags:
        """See ``TagShoe.make_reader``."""
        return Rr3036Decoder(mouth, poll_s, self.settings.address or 0x00)

    def unverified(self) -> str | None:
        """Frames are from one public implementation; the rest was not seen on hardware."""
        return (
            "made from a public source, not yet run on a reader: answers with several tags, and the times at the "
            "mouth, are assumptions; draw a whole shoe as a test before use"
        )
