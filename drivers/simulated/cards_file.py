"""A stacked shoe: the order of the cards in a text file."""

from __future__ import annotations

import re

from controller.cards import CUT, is_card


def parse_cards(text: str) -> list[str]:
    """The physical order that ``text`` names: cards separated by white space, ``CUT`` where the cut card lies.

    ``#`` starts a comment that ends with its line. Raises ``ValueError`` naming line and column.
    """
    order: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        for match in re.finditer(r"\S+", line.partition("#")[0]):
            word = match.group()
            where = f"line {number}, column {match.start() + 1}"
            if word == CUT and CUT in order:
                raise ValueError(f"{where}: a second {CUT}, a shoe has one cut card")
            if word != CUT and not is_card(word):
                raise ValueError(
                    f"{where}: {word[:20]!r} is not a card: rank A23456789TJQK, then suit SHDC, such as TD, or {CUT}"
                )
            order.append(word)
    if not any(word != CUT for word in order):
        raise ValueError("no card in it")
    return order
