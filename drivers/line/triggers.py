"""Commands that make a scanner read which waits for one (hardware page 3.2). Pure.

A triggered scanner reads until it has read something, or until its own time-out: set that to "none" at the scanner,
or it says "no read" now and then, which is a card that left unread. That a scanner may be triggered again as soon as
it has sent a line was not seen on hardware [I].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from drivers.settings import Trigger

ACK: Final = b"\x06"


class Triggering(NamedTuple):
    """``on`` starts a reading, ``off`` ends it (empty if the make has no such command).

    ``answer`` is what the scanner says to ``on``: it stands before the next code and is no part of it.
    """

    on: bytes
    off: bytes = b""
    answer: bytes = b""


TRIGGERS: Final[Mapping[Trigger, Triggering]] = {
    # "on 16 54 0D, off 16 55 0D (serial-trigger mode)"
    "honeywell": Triggering(b"\x16T\r", b"\x16U\r"),
    # "LON\r, LOFF\r"
    "keyence": Triggering(b"LON\r", b"LOFF\r"),
    # "7E 00 08 01 00 02 01 AB CD, CRC field AB CD = don't check"; the answer is from general knowledge [I].
    "gm65": Triggering(bytes.fromhex("7E000801000201ABCD"), answer=bytes.fromhex("02000001003331")),
}
