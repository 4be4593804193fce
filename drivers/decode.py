"""A captured byte stream to events, without a port and without times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from drivers.angel.codec import AngelDecoder
from drivers.decoder import Decoder
from drivers.errors import SettingsError
from drivers.events import Event
from drivers.line.codec import LineDecoder
from drivers.settings import CodeSet

# A capture has no times. Reads of a line device are taken as this far apart, so that only what one read brought
# can be a repeat and a line may go on over reads.
_READ_INTERVAL_S: Final = 0.5

_DECODERS: Final[Mapping[str, Callable[[CodeSet], Decoder]]] = {
    "angel": lambda _code_set: AngelDecoder(copy_window_s=None),
    "line": lambda code_set: LineDecoder(code_set),
}


def decode_capture(
    protocol: str, chunks: Iterable[bytes], *, code_set: CodeSet = "scan_table"
) -> tuple[list[Event], dict[str, int]]:
    """Events of the capture, and the counters of ``DecoderStats`` by name. ``chunks`` are the reads, in order.

    Angel Eye: equal telegrams in a row are one event. Line: equal lines within one read are a repeat.
    Raises ``SettingsError`` for an unknown protocol.
    """
    if protocol not in _DECODERS:
        raise SettingsError(f"protocol {protocol!r} is not known: choose one of {', '.join(sorted(_DECODERS))}")
    decoder = _DECODERS[protocol](code_set)
    events: list[Event] = []
    now = 0.0
    for chunk in chunks:
        now += _READ_INTERVAL_S
        events += decoder.feed(chunk, now)
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
