"""The bet book: what players staked, what the rules return, what the wallets must do. One book a game.

Pure: no I/O, no clock, no randomness. Lives beside the rules and imports them and the card vocabulary, nothing else.
Money is integer minor units. ``open_book`` makes the book of a table; ``Book`` says how it is used.
"""

from __future__ import annotations

from typing import Final

from controller.book.baccarat import BaccaratBook
from controller.book.base import Book
from controller.book.boundless import BoundlessBook
from controller.book.classic import ClassicBook
from controller.book.setting import BookSetting

BOOKS: Final[dict[str, type[Book]]] = {
    "boundless": BoundlessBook,
    "classic": ClassicBook,
    "baccarat": BaccaratBook,
}


def open_book(setting: BookSetting) -> Book:
    """An empty book. Raises ``ValueError`` naming what the setting has wrong."""
    return BOOKS[setting.game](setting)
