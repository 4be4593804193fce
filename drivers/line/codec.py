"""Lines of ASCII codes, one a card (hardware page 1.2, 3.1): both directions, no I/O.

What a code means is in ``drivers.line.codes``, commands to scanners are in ``drivers.line.triggers``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from controller.cards import HIDDEN
from drivers.decoder import Decoded, Decoder, escape
from drivers.events import CardDrawn, CutCard, Event, NoRead, Repeated, UnknownCode
from drivers.line.codes import NO_READ, CodeTable, card_code, face_of
from drivers.line.triggers import ACK, Triggering
from drivers.settings import DEFAULT_CUT_CODES, CodeSet

__all__ = ["LineDecoder", "card_code", "encode"]

# "Accept CR, LF, CRLF, LFCR, and ETX; strip STX; treat an empty line as the other half of a terminator" (3.1).
CR: Final = 0x0D
LF: Final = 0x0A
ETX: Final = 0x03
STX: Final = 0x02
TERMINATORS: Final = frozenset((CR, LF, ETX))

# The longest known line (prefix, code) is below 10 bytes; without a bound a babbling line would grow for ever.
MAX_LINE_BYTES: Final = 64

# A whole line takes 67 ms at 9600 baud and a device server may hold bytes back; silence beyond this is an end.
PARTIAL_TIMEOUT_S: Final = 1.0

# A reader that scans a card twice on its way out does so within about 0.1 s; two cards never follow so closely.
REPEAT_WINDOW_S: Final = 0.3


def encode(
    event: Event,
    code_set: CodeSet = "scan_table",
    *,
    cut_code: str = DEFAULT_CUT_CODES[0],
    terminator: bytes = b"\r\n",
) -> bytes:
    """The line a device sends for ``event``: ``CardDrawn``, ``CutCard`` or ``NoRead`` (its raw text).

    Raises ``ValueError`` for what a line device cannot say.
    """
    match event:
        case CardDrawn(card=card):
            text = card_code(card, code_set)
        case CutCard():
            text = cut_code
        case NoRead(raw=raw) if NO_READ.fullmatch(raw):
            text = raw
        case _:
            raise ValueError(f"a line device has no line for {event}")
    return text.encode("ascii") + terminator


class LineDecoder(Decoder):
    """Bytes of a line device to events.

    Repeats: a line that equals the line directly before it and comes within ``repeat_window_s`` seconds of it is
    ``Repeated``; each repeat starts the window anew, any other line ends it, 0 turns it off. ``Repeated.card`` is
    the face, ``CUT`` for the cut card, ``HIDDEN`` for a no-read or an unknown code. Lines of one read have one
    time: two equal cards that waited in a buffer together come out as a card and a repeat.

    A line that stops in its middle (``PARTIAL_TIMEOUT_S`` without a byte, line lost, or an STX, which starts a
    line) is ``UnknownCode``; what comes after it is judged on its own. A line over ``MAX_LINE_BYTES`` is reported
    once, cut, and dropped up to its end.

    With ``triggering`` the device is told to read when the line opens and after each line it sends. ``acknowledge``
    answers each line, whatever it says, with 06h: "the reader does not read while it waits for it" (3.2).
    """

    def __init__(
        self,
        code_set: CodeSet = "scan_table",
        cut_codes: Iterable[str] = DEFAULT_CUT_CODES,
        repeat_window_s: float = REPEAT_WINDOW_S,
        *,
        triggering: Triggering | None = None,
        acknowledge: bool = False,
    ) -> None:
        """Raises ``SettingsError`` if a cut code could be taken for something else or cannot be a line."""
        super().__init__()
        self._codes = CodeTable(code_set, cut_codes)
        self._window = repeat_window_s
        self._triggering = triggering
        self._after_line = (ACK if acknowledge else b"") + (triggering.on if triggering else b"")
        self._answer = triggering.answer if triggering else b""
        self._to_send = b""
        self._buffer = bytearray()
        self._skipping = False
        self._byte_at = 0.0
        self._last_line: bytes | None = None
        self._last_card = HIDDEN
        self._last_at = 0.0

    @property
    def pending(self) -> bytes:
        """Bytes of a line that has not ended yet."""
        return bytes(self._buffer)

    def decode(self, data: bytes, now: float) -> list[Decoded]:
        """See ``Decoder.decode``."""
        out = self.idle(now) if data else []
        for byte in data:
            if byte in TERMINATORS:
                out += self._end_line(now)
            elif byte == STX:
                out += self.flush(now)
                self._buffer.append(byte)
            elif self._skipping:
                self.stats.junk_bytes += 1
            elif len(self._buffer) < MAX_LINE_BYTES:
                self._buffer.append(byte)
                if self._buffer == self._answer:
                    self._buffer.clear()
            else:
                out += self.flush(now)
                self._skipping = True
                self.stats.junk_bytes += 1
        if data:
            self._byte_at = now
        return out

    def idle(self, now: float) -> list[Decoded]:
        """Report a line whose last byte is older than ``PARTIAL_TIMEOUT_S``."""
        if now - self._byte_at <= PARTIAL_TIMEOUT_S:
            return []
        return self.flush(now)

    def flush(self, now: float) -> list[Decoded]:  # noqa: ARG002  (a cut-off line starts no repeat window)
        """Report the unended line, if any, as ``UnknownCode``: its rest will not come."""
        self._skipping = False
        if not self._buffer:
            return []
        raw = bytes(self._buffer)
        self._buffer.clear()
        self._last_line = None
        self.stats.frames += 1
        self.stats.accepted += 1
        return [Decoded(UnknownCode(escape(raw)), raw)]

    def reopened(self) -> None:
        """A line after an interruption is no repeat, and does not continue one from before."""
        self._buffer.clear()
        self._skipping = False
        self._last_line = None
        self._to_send = self._triggering.on if self._triggering else b""

    def outgoing(self, now: float) -> bytes:  # noqa: ARG002  (nothing here waits for a time)
        """See ``Decoder.outgoing``: acknowledgements and triggers."""
        data, self._to_send = self._to_send, b""
        return data

    def _end_line(self, now: float) -> list[Decoded]:
        self._skipping = False
        if not self._buffer:
            return []
        raw = bytes(self._buffer)
        self._buffer.clear()
        self.stats.frames += 1
        self._to_send += self._after_line
        repeat = raw == self._last_line and now - self._last_at < self._window
        self._last_at = now
        if repeat:
            self.stats.duplicates += 1
            return [Decoded(Repeated(self._last_card), raw)]
        self.stats.accepted += 1
        event = self._codes.judge(raw)
        self._last_line = raw
        self._last_card = face_of(event)
        return [Decoded(event, raw)]
