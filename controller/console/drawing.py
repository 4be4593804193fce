"""Cards, suits and signs as SVG of our own. Pure; everything is a string ready for a page."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from controller.cards import CUT, HIDDEN

_RANKS: Final = {
    "A": "ace", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven", "8": "eight",
    "9": "nine", "T": "ten", "J": "jack", "Q": "queen", "K": "king",
}  # fmt: skip
_SUITS: Final = {"S": "spades", "H": "hearts", "D": "diamonds", "C": "clubs"}
#: Each in a square of 100.
_PATHS: Final = {
    "S": "M50 4C40 26 8 42 8 66a21 21 0 0 0 37 14C44 88 40 93 32 96h36c-8-3-12-8-13-16a21 21 0 0 0 37-14C92 42 60 "
    "26 50 4z",
    "H": "M50 94C42 78 6 58 6 32A23 23 0 0 1 50 22 23 23 0 0 1 94 32C94 58 58 78 50 94z",
    "D": "M50 3C58 20 72 38 86 50 72 62 58 80 50 97 42 80 28 62 14 50 28 38 42 20 50 3z",
    "C": "M50 5a21 21 0 0 1 19 30 21 21 0 1 1-13 36C57 83 61 92 69 96H31c8-4 12-13 13-25A21 21 0 1 1 31 35 21 21 0 "
    "0 1 50 5z",
}
#: Signs beside the words of a prompt, in a square of 100, drawn with the text's own colour.
_SIGNS: Final = {
    "deal": '<rect x="6" y="18" width="38" height="54" rx="6"/>'
    '<path d="M48 45h22m0 0-11-13m11 13-11 13" class="line"/>'
    '<rect x="80" y="12" width="14" height="70" rx="3" class="dash"/>',
    "down": '<rect x="22" y="6" width="56" height="70" rx="7"/><path d="M34 18h32v46H34z" class="dash dark"/>'
    '<path d="M30 90h40" class="line"/>',
    "turn": '<rect x="14" y="20" width="32" height="60" rx="5"/>'
    '<path d="M58 76a28 28 0 1 0 0-52m0 0 6 16m-6-16 16-4" class="line"/>',
    "burn": '<rect x="28" y="38" width="44" height="56" rx="6"/>'
    '<path d="M50 4c14 14 18 22 8 34H42C32 28 40 20 50 4z"/>',
    "wait": '<path d="M26 6h48v14L58 50l16 30v14H26V80l16-30-16-30z" class="line"/><path d="M36 86h28L50 62z"/>',
    "bets": '<circle cx="50" cy="50" r="40" class="line"/><circle cx="50" cy="50" r="22" class="line"/>'
    '<path d="M50 4v18M50 78v18M4 50h18M78 50h18" class="line"/>',
    "stop": '<path d="M32 5h36l27 27v36L68 95H32L5 68V32z"/><path d="M50 24v34m0 12v8" class="line dark"/>',
    "shoe": '<path d="M6 82V34l60-20v68z"/><path d="M66 30l28 30v22H66z" class="line"/>',
    "scan": '<rect x="26" y="14" width="48" height="72" rx="7"/><path d="M4 50h92" class="line dark"/>'
    '<path d="M4 50h16M80 50h16" class="line"/>',
    "closed": '<rect x="16" y="44" width="68" height="50" rx="8"/>'
    '<path d="M30 44V30a20 20 0 0 1 40 0v14" class="line"/>',
    "ok": '<path d="M8 52l28 30L92 18" class="line"/>',
    "cut": '<rect x="22" y="4" width="56" height="92" rx="7"/><path d="M10 84 90 16" class="line dark"/>',
    "talk": '<path d="M8 12h84v58H48L26 92V70H8z"/>',
}


def card_name(card: str) -> str:
    """The card in words; ``**`` is a face-down card."""
    if card == HIDDEN:
        return "face-down card"
    if card == CUT:
        return "cut card"
    return f"{_RANKS[card[0]]} of {_SUITS[card[1]]}"


def short(card: str) -> str:
    """The card as people write it, ``10♥``."""
    if card == HIDDEN:
        return "▒▒"
    if card == CUT:
        return "CUT"
    return ("10" if card[0] == "T" else card[0]) + {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}[card[1]]


def card(face: str, kind: str = "") -> Markup:
    """A card; ``kind`` is a further class of the picture."""
    classes = Markup("card {}").format(kind) if kind else Markup("card")
    if face == HIDDEN:
        inner = Markup(
            '<rect class="back" x="2" y="2" width="96" height="136" rx="10"/>'
            '<path class="weave" d="M14 14h72v112H14zM14 50l36-36 36 36-36 36zm0 36 36-36 36 36-36 36z"/>'
        )
    elif face == CUT:
        inner = Markup(
            '<rect class="cut" x="2" y="2" width="96" height="136" rx="10"/>'
            '<text class="cutword" x="50" y="80">CUT</text>'
        )
    else:
        red = "red" if face[1] in "HD" else "black"
        rank = "10" if face[0] == "T" else face[0]
        inner = Markup(
            '<rect class="face" x="2" y="2" width="96" height="136" rx="10"/>'
            '<text class="rank {}" x="50" y="66">{}</text>'
            '<path class="{}" d="{}" transform="translate(26 76) scale(.48)"/>'
        ).format(red + (" ten" if rank == "10" else ""), rank, red, _PATHS[face[1]])
    return Markup('<svg class="{}" viewBox="0 0 100 140" role="img" aria-label="{}">{}</svg>').format(
        classes, card_name(face), inner
    )


def slot(label: str) -> Markup:
    """An empty place for the card that is due."""
    return Markup(
        '<svg class="card slot" viewBox="0 0 100 140" role="img" aria-label="{}">'
        '<rect x="4" y="4" width="92" height="132" rx="10"/>'
        '<path d="M50 34v46m0 0L30 60m20 20 20-20"/><text x="50" y="118">HERE</text></svg>'
    ).format(label)


def sign(name: str) -> Markup:
    """A sign beside words that say the same."""
    return Markup('<svg class="sign" viewBox="0 0 100 100" aria-hidden="true">{}</svg>').format(Markup(_SIGNS[name]))
