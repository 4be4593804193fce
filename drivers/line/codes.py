"""Codes that scanners send for cards, whatever carries them: lines or packets (hardware page 1.2, 3.1). Pure.

Unknown is an answer: what is no code of the set is ``UnknownCode``, never a near card. The form that ``suit_rank``
takes was seen behind a middleware only; that devices send the same on the wire is [I].
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from controller.cards import CUT, HIDDEN, RANKS, SUITS, is_card
from drivers.decoder import escape
from drivers.errors import SettingsError
from drivers.events import CardDrawn, CutCard, Event, NoRead, UnknownCode
from drivers.settings import DEFAULT_CUT_CODES, CodeSet

# A code is below 10 characters; a cut code may be as long as a line.
MAX_CODE_BYTES: Final = 64

# "AIM identifier if enabled: ']' + code letter + modifier: A, C, I, F, G, E, e, L, Q, d, z" (3.1).
_AIM_PREFIX: Final = re.compile(r"\][ACIFGEeLQdz][0-9A-F]")

# "No-read strings: NR (Zebra), ERROR, OVER, ERRmm (Keyence), NOREAD (Microscan), ER, E0xx (Omron)" (3.1).
NO_READ: Final = re.compile(r"NR|ERROR|OVER|ERR[0-9]{2}|NOREAD|ER|E0[0-9A-F]{2}")


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


class CodeTable:
    """What each code means."""

    def __init__(self, code_set: CodeSet = "scan_table", cut_codes: Iterable[str] = DEFAULT_CUT_CODES) -> None:
        """Raises ``SettingsError`` if a cut code could be taken for something else or cannot be sent."""
        self._codes = _CODES[code_set]
        self._cut_codes = frozenset(cut_codes)
        for code in self._cut_codes:
            if not (code.isascii() and code.isprintable() and 0 < len(code) <= MAX_CODE_BYTES):
                raise SettingsError(f"cut code {code!r} must be 1 to {MAX_CODE_BYTES} printable ASCII characters")
            if code in self._codes or NO_READ.fullmatch(code):
                raise SettingsError(f"cut code {code!r} already means something else in code set {code_set!r}")

    def judge(self, raw: bytes) -> Event:
        """What ``raw``, a whole code without line ends, says on its own; STX and AIM identifier are skipped."""
        text = raw.removeprefix(b"\x02").decode("latin-1")
        prefix = _AIM_PREFIX.match(text)
        code = text[prefix.end() :] if prefix else text
        if code in self._cut_codes:
            return CutCard()
        card = self._codes.get(code)
        if card is not None:
            return CardDrawn(card)
        if NO_READ.fullmatch(code):
            return NoRead(escape(raw))
        return UnknownCode(escape(raw))


def face_of(event: Event) -> str:
    """The face that a repeat of ``event`` has: ``CUT`` for the cut card, ``HIDDEN`` if it told none."""
    match event:
        case CardDrawn(card=card):
            return card
        case CutCard():
            return CUT
        case _:
            return HIDDEN
