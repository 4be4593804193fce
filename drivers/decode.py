"""A captured byte stream to events, without a port: with the times of a recording, or without any."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from drivers.angel.codec import AngelDecoder
from drivers.decoder import Decoder
from drivers.errors import SettingsError
from drivers.events import Event
from drivers.feig.codec import FeigDecoder
from drivers.line.codec import LineDecoder
from drivers.mouth import Mouth
from drivers.recording import Entry
from drivers.rr3036.codec import Rr3036Decoder
from drivers.settings import CodeSet
from drivers.ssi.codec import SsiDecoder
from drivers.tags import Shoes

# A capture has no times. Reads of a line device are taken as this far apart, so that only what one read brought
# can be a repeat and a line may go on over reads.
_READ_INTERVAL_S: Final = 0.5

_DECODERS: Final[Mapping[str, Callable[[CodeSet, Shoes], Decoder]]] = {
    "angel": lambda _code_set, _tags: AngelDecoder(copy_window_s=None),
    "feig": lambda _code_set, tags: FeigDecoder(Mouth(tags, leave_s=None)),
    "line": lambda code_set, _tags: LineDecoder(code_set),
    "rr3036": lambda _code_set, tags: Rr3036Decoder(Mouth(tags, leave_s=None)),
    "ssi": lambda code_set, _tags: SsiDecoder(code_set),
}

# With times, copies and tags that leave are told by them.
_TIMED: Final[Mapping[str, Callable[[CodeSet, Shoes], Decoder]]] = {
    "angel": lambda _code_set, _tags: AngelDecoder(),
    "feig": lambda _code_set, tags: FeigDecoder(Mouth(tags)),
    "rr3036": lambda _code_set, tags: Rr3036Decoder(Mouth(tags)),
}

NO_SHOES: Final = Shoes()


def decode_capture(
    protocol: str, chunks: Iterable[bytes], *, code_set: CodeSet = "scan_table", tags: Shoes = NO_SHOES
) -> tuple[list[Event], dict[str, int]]:
    """Events of the capture, and the counters of ``DecoderStats`` by name. ``chunks`` are the reads, in order.

    Angel Eye: equal telegrams in a row are one event. Line, SSI: equal codes within one read are a repeat. RFID
    readers: ``tags`` knows the cards; a tag has gone when one answer does not name it.
    Raises ``SettingsError`` for an unknown protocol.
    """
    _known(protocol)
    decoder = _DECODERS[protocol](code_set, tags)
    events: list[Event] = []
    now = 0.0
    for chunk in chunks:
        now += _READ_INTERVAL_S
        events += decoder.feed(chunk, now)
    events += [decoded.event for decoded in decoder.flush(now)]
    return events, msgspec.structs.asdict(decoder.stats)


def _known(protocol: str) -> None:
    if protocol not in _DECODERS:
        raise SettingsError(f"protocol {protocol!r} is not known: choose one of {', '.join(sorted(_DECODERS))}")


def decode_recording(
    protocol: str, entries: Iterable[Entry], *, code_set: CodeSet = "scan_table", tags: Shoes = NO_SHOES
) -> tuple[list[Event], dict[str, int]]:
    """As ``decode_capture``, for entries that all have their times: what the driver that recorded them told.

    Raises ``SettingsError`` for an unknown protocol.
    """
    _known(protocol)
    decoder = _TIMED.get(protocol, _DECODERS[protocol])(code_set, tags)
    events: list[Event] = []
    now = 0.0
    for kind, at_s, data in entries:
        assert at_s is not None
        if at_s - now > decoder.poll_s:
            # The driver looks at the clock while nothing arrives.
            events += [decoded.event for decoded in decoder.idle(at_s)]
        now = at_s
        if kind == "rx":
            events += decoder.feed(data, now)
        elif kind == "open":
            decoder.reopened()
        elif kind == "lost":
            events += [decoded.event for decoded in decoder.flush(now)]
    events += [decoded.event for decoded in decoder.flush(now)]
    return events, msgspec.structs.asdict(decoder.stats)


def hex_chunks(lines: Iterable[str]) -> Iterator[bytes]:
    """The reads of a capture file: one read a line in hex, empty lines skipped.

    Raises ``ValueError`` naming the line.
    """
    for number, line in enumerate(lines, 1):
        try:
            chunk = bytes.fromhex(line)
        except ValueError as error:
            raise ValueError(f"line {number} of the capture is not hex: {line.strip()[:40]!r}") from error
        if chunk:
            yield chunk
