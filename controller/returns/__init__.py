"""Exact returns of every bet, computed from the rule modules by counting deals of a full eight-deck shoe.

Pure; imports ``controller.rules`` and ``controller.cards`` only. The command line imports it, the table never does.
"""

from __future__ import annotations

from controller.returns.blackjack import Progress
from controller.returns.report import GAMES, Return, returns

__all__ = ["GAMES", "Progress", "Return", "returns"]
