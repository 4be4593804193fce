"""The games: one pure module each, answering what the procedure demands next. No I/O, no clock, no randomness.

A new game is one module with ``next_step``, ``parting`` and ``result``, and its row in ``PROCEDURES``.
"""

from __future__ import annotations

from types import ModuleType
from typing import Final

from controller.rules import baccarat, boundless, classic

PROCEDURES: Final[dict[str, ModuleType]] = {"boundless": boundless, "classic": classic, "baccarat": baccarat}
