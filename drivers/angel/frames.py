"""One interrupt telegram of the Angel Eye shoe, bytes to event and back (hardware page 1.1). Pure.

``05 SEQ CMD data... 03 B1 B2``: everything that depends on one telegram alone. What depends on the stream
(copies, sequence, resynchronisation) is ``drivers.angel.codec``. The letters ``C``, ``L`` and ``M`` are known
from one public implementation and were not in the capture this was checked against.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from operator import xor
from typing import Final

from controller.cards import HIDDEN, RANKS
from drivers.events import (
    CardDrawn,
    CardReused,
    CardRevealed,
    CutCard,
    ErrorCleared,
    ErrorRaised,
    Event,
    Lock,
    OutOfGame,
    OverdrawnDiscarded,
    Preset,
    RoundResult,
    StandBy,
    Started,
    TargetName,
    UnknownCode,
    Winner,
)

ENQ: Final = 0x05
ETX: Final = 0x03

# "SEQ is ASCII. '0' only in the start telegram S; then '1'...'9', 9 wraps to 1, never back to 0."
START_SEQ: Final = "0"
SEQS: Final = "123456789"

# "bits 6-4 target: 000 player, 001 banker, 010 burn, 100 first (face-up) card of a new shoe,
#  101 burn cards, index = cards still to burn"
TARGETS: Final[Mapping[int, TargetName]] = {0: "player", 1: "banker", 2: "burn", 4: "first", 5: "burn_left"}

# "bits 6-4 suit 1 diamonds, 2 clubs, 3 spades, 4 hearts; bits 3-0 rank 1 = A ... 10, 11 J, 12 Q, 13 K.
#  80 = hidden. Every other value is invalid."
HIDDEN_BYTE: Final = 0x80
CARDS: Final[Mapping[int, str]] = {
    0x80 | code << 4 | number: rank + suit
    for code, suit in ((1, "D"), (2, "C"), (3, "S"), (4, "H"))
    for number, rank in enumerate(RANKS, 1)
} | {HIDDEN_BYTE: HIDDEN}

# "bits 6-4: 001 player, 010 tie, 100 banker, 101 banker with 6, 111 forced end; bits 1-0: 01 player pair,
#  10 banker pair" (101 is known from one implementation only)
WINNERS: Final[Mapping[int, Winner]] = {1: "player", 2: "tie", 4: "banker", 5: "banker_six", 7: "forced"}
PLAYER_PAIR: Final = 0x01
BANKER_PAIR: Final = 0x02

# "bit 6 = shoe is in error mode; bits 5-0" the code. Other numbers than these are passed on as they are.
ERROR_MODE: Final = 0x40
ERROR_TEXTS: Final[Mapping[int, str]] = {
    1: "cannot read the card",
    2: "over-draw",
    3: "mishandling of the indication button",
    4: "reverse run: card pushed back at the exit",
    5: "reverse run midway",
    6: "card-code error",
    7: "time-out while drawing",
}

_TARGET_CODES: Final = {name: code for code, name in TARGETS.items()}
_CARD_BYTES: Final = {card: byte for byte, card in CARDS.items()}
_WINNER_CODES: Final = {name: code for code, name in WINNERS.items()}


def bcc(body: bytes) -> bytes:
    """ "BCC = XOR of SEQ ... ETX inclusive; ENQ not included; sent as two upper-case hex characters"."""
    return b"%02X" % reduce(xor, body, 0)


def check(frame: bytes) -> bool:
    """True if the check characters of ``frame`` (ENQ to B2) are right and in upper case."""
    return frame[-2:] == bcc(frame[1:-2])


def seal(seq: str, letter: str, data: bytes = b"") -> bytes:
    """A telegram of any content with a right check."""
    body = seq.encode("ascii") + letter.encode("ascii") + data + bytes((ETX,))
    return bytes((ENQ,)) + body + bcc(body)


def next_seq(seq: str) -> str:
    """The sequence character after ``seq``."""
    return SEQS[0] if seq in (START_SEQ, SEQS[-1]) else chr(ord(seq) + 1)


def parse(frame: bytes) -> Event:
    """The event of a telegram whose check is right; ``UnknownCode`` (hex) for content the page does not define."""
    seq = chr(frame[1])
    letter = chr(frame[2])
    try:
        if letter == "S":
            _need(seq == START_SEQ)
        else:
            _need(seq in SEQS)
        return _READERS[letter](frame[3:-3])
    except (KeyError, ValueError):
        return UnknownCode(frame.hex(" ").upper())


def encode(event: Event, seq: str) -> bytes:
    """The telegram a shoe sends for ``event``, one copy. Raises ``ValueError`` if there is none for it."""
    if isinstance(event, Started):
        return seal(START_SEQ, "S")
    if seq not in SEQS or len(seq) != 1:
        raise ValueError(f"sequence {seq!r} is not one of {SEQS}")
    try:
        letter, data = _content(event)
    except KeyError as error:
        raise ValueError(f"{event} has a value the shoe cannot send: {error}") from error
    return seal(seq, letter, data)


def _need(condition: bool) -> None:
    if not condition:
        raise ValueError("content not defined")


def _nothing(event: Event) -> Callable[[bytes], Event]:
    def read(data: bytes) -> Event:
        _need(not data)
        return event

    return read


def _target(byte: int, *, any_index: bool = False) -> tuple[TargetName, int]:
    """The T byte. Player and banker have the indices 1 to 3, the first card 0; those of burns are free."""
    _need(byte >= 0x80)
    target = TARGETS[byte >> 4 & 7]
    index = byte & 15
    if not any_index:
        if target in ("player", "banker"):
            _need(1 <= index <= 3)
        elif target == "first":
            _need(index == 0)
    return target, index


def _pair(data: bytes, *, any_index: bool = False) -> tuple[str, TargetName, int]:
    _need(len(data) == 2)
    target, index = _target(data[0], any_index=any_index)
    return CARDS[data[1]], target, index


def _revealed(data: bytes) -> Event:
    card, target, index = _pair(data)
    _need(card != HIDDEN)  # a reveal that shows nothing is not defined
    return CardRevealed(card, target, index)


def _result(data: bytes) -> Event:
    _need(len(data) == 1 and data[0] >= 0x80 and not data[0] & 0x0C)
    byte = data[0]
    return RoundResult(WINNERS[byte >> 4 & 7], bool(byte & PLAYER_PAIR), bool(byte & BANKER_PAIR))


def _error(kind: type[ErrorRaised] | type[ErrorCleared]) -> Callable[[bytes], Event]:
    def read(data: bytes) -> Event:
        _need(len(data) == 1 and data[0] >= 0x80 and data[0] & 0x3F > 0)
        return kind(data[0] & 0x3F, bool(data[0] & ERROR_MODE))

    return read


def _lock(data: bytes) -> Event:
    _need(data in (b"\x80", b"\x81"))
    return Lock(data == b"\x81")


def _preset(data: bytes) -> Event:
    text = data.decode("ascii")
    _need(len(text) == 6 and text.isprintable())
    return Preset(text[:2], text[2:])


# In ``d`` the implementations disagree about the T byte and the capture fits neither: any index is taken.
_READERS: Final[Mapping[str, Callable[[bytes], Event]]] = {
    "S": _nothing(Started()),
    "P": _nothing(StandBy()),
    "C": _nothing(CutCard()),
    "D": lambda data: CardDrawn(*_pair(data)),
    "I": _revealed,
    "R": lambda data: CardReused(*_pair(data)),
    "d": lambda data: OutOfGame(*_pair(data, any_index=True)),
    "i": lambda data: OverdrawnDiscarded(*_pair(data)),
    "G": _result,
    "E": _error(ErrorRaised),
    "e": _error(ErrorCleared),
    "L": _lock,
    "M": _preset,
}


def _content(event: Event) -> tuple[str, bytes]:
    """Letter and data for ``event``; ``KeyError`` or ``ValueError`` if it has none."""
    match event:
        case StandBy():
            return "P", b""
        case CutCard():
            return "C", b""
        case CardDrawn(card, target, index):
            return "D", _position(target, index, card)
        case CardRevealed(card, target, index):
            return "I", _position(target, index, card)
        case CardReused(card, target, index):
            return "R", _position(target, index, card)
        case OutOfGame(card, target, index):
            return "d", _position(target, index, card)
        case OverdrawnDiscarded(card, target, index):
            return "i", _position(target, index, card)
        case RoundResult(winner, player_pair, banker_pair):
            pairs = player_pair * PLAYER_PAIR | banker_pair * BANKER_PAIR
            return "G", bytes((0x80 | _WINNER_CODES[winner] << 4 | pairs,))
        case ErrorRaised(code, mode):
            return "E", _error_byte(code, mode)
        case ErrorCleared(code, mode):
            return "e", _error_byte(code, mode)
        case Lock(locked):
            return "L", bytes((0x80 | locked,))
        case Preset(address, value) if len(address) == 2 and len(value) == 4:
            return "M", (address + value).encode("ascii")
        case _:
            raise ValueError(f"the shoe has no telegram for {event}")


def _position(target: TargetName | None, index: int | None, card: str) -> bytes:
    if target is None or index is None or not 0 <= index <= 15:
        raise ValueError(f"target {target!r}, index {index!r}: the shoe names the place of every card")
    return bytes((0x80 | _TARGET_CODES[target] << 4 | index, _CARD_BYTES[card]))


def _error_byte(code: int, mode: bool) -> bytes:
    if not 1 <= code <= 0x3F:
        raise ValueError(f"error code {code} is not 1 to 63")
    return bytes((0x80 | mode * ERROR_MODE | code,))
