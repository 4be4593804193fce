"""Lines of ASCII codes, one a card (hardware page 1.2, 3.1): both directions, no I/O.

Unknown is an answer: a line that is no code of the set is ``UnknownCode``, never a near card. The form that
``suit_rank`` takes was seen behind a middleware only; that the device sends the same on the wire is [I].
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from controller.cards import CUT, HIDDEN, RANKS, SUITS, is_card
from drivers.decoder import Decoded, Decoder, escape
from drivers.errors import SettingsError
from drivers.events import CardDrawn, CutCard, Event, NoRead, Repeated, UnknownCode
from drivers.settings import DEFAULT_CUT_CODES, CodeSet

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

# "AIM identifier if enabled: ']' + code letter + modifier: A, C, I, F, G, E, e, L, Q, d, z" (3.1).
_AIM_PREFIX: Final = re.compile(r"\][ACIFGEeLQdz][0-9A-F]")

# "No-read strings: NR (Zebra), ERROR, OVER, ERRmm (Keyence), NOREAD (Microscan), ER, E0xx (Omron)" (3.1).
_NO_READ: Final = re.compile(r"NR|ERROR|OVER|ERR[0-9]{2}|NOREAD|ER|E0[0-9A-F]{2}")


def _scan_table_codes() -> dict[str, str]:
    """ "Suit letter A = spades, H = hearts, C = clubs, D = diamonds + two-digit rank 01-13" (1.2)."""
    letters = {"S": "A", "H": "H", "C": "C", "D": "D"}
    return {f"{letters[suit]}{number:02d}": rank + suit for suit in SUITS for number, rank in enumerate(RANKS, 1)}


def _suit_rank_codes() -> dict[str, str]:
    """ "Suit letter first, either case, then rank A 2...9 10/T J Q K" (1.2)."""
    codes = {}
    for suit in SUITS:
        for rank in RANKS:
            for letter in (suit, suit.lower()):
                codes[letter + rank] = rank + suit
                if rank == "T":
                    codes[letter + "10"] = rank + suit
    return codes


_CODES: Final[Mapping[CodeSet, Mapping[str, str]]] = {
    "scan_table": _scan_table_codes(),
    "suit_rank": _suit_rank_codes(),
}


def card_code(card: str, code_set: CodeSet) -> str:
    """The code a device of ``code_set`` sends for ``card`` (tens as ``10``). Raises ``ValueError`` for no card."""
    if not is_card(card):
        raise ValueError(f"{card!r} has no code: a line device names cards only")
    rank, suit = card[0], card[1]
    if code_set == "scan_table":
        return f"{'A' if suit == 'S' else suit}{RANKS.index(rank) + 1:02d}"
    return suit + ("10" if rank == "T" else rank)


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
        case NoRead(raw=raw) if _NO_READ.fullmatch(raw):
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
    """

    def __init__(
        self,
        code_set: CodeSet = "scan_table",
        cut_codes: Iterable[str] = DEFAULT_CUT_CODES,
        repeat_window_s: float = REPEAT_WINDOW_S,
    ) -> None:
        """Raises ``SettingsError`` if a cut code could be taken for something else or cannot be a line."""
        super().__init__()
        self._codes = _CODES[code_set]
        self._cut_codes = frozenset(cut_codes)
        self._window = repeat_window_s
        for code in self._cut_codes:
            if not (code.isascii() and code.isprintable() and 0 < len(code) <= MAX_LINE_BYTES):
                raise SettingsError(f"cut code {code!r} must be 1 to {MAX_LINE_BYTES} printable ASCII characters")
            if code in self._codes or _NO_READ.fullmatch(code):
                raise SettingsError(f"cut code {code!r} already means something else in code set {code_set!r}")
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

    def _end_line(self, now: float) -> list[Decoded]:
        self._skipping = False
        if not self._buffer:
            return []
        raw = bytes(self._buffer)
        self._buffer.clear()
        self.stats.frames += 1
        repeat = raw == self._last_line and now - self._last_at < self._window
        self._last_at = now
        if repeat:
            self.stats.duplicates += 1
            return [Decoded(Repeated(self._last_card), raw)]
        self.stats.accepted += 1
        event = self._judge(raw)
        self._last_line = raw
        self._last_card = _face(event)
        return [Decoded(event, raw)]

    def _judge(self, raw: bytes) -> Event:
        """What a whole line says, on its own."""
        text = raw.removeprefix(bytes((STX,))).decode("latin-1")
        prefix = _AIM_PREFIX.match(text)
        code = text[prefix.end() :] if prefix else text
        if code in self._cut_codes:
            return CutCard()
        card = self._codes.get(code)
        if card is not None:
            return CardDrawn(card)
        if _NO_READ.fullmatch(code):
            return NoRead(escape(raw))
        return UnknownCode(escape(raw))


def _face(event: Event) -> str:
    match event:
        case CardDrawn(card=card):
            return card
        case CutCard():
            return CUT
        case _:
            return HIDDEN
