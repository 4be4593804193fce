"""How long a dealer's hands take, seeded."""

from __future__ import annotations

from random import Random
from typing import Final

SCAN_S: Final = (0.08, 0.2)
BETWEEN_CARDS_S: Final = (1.2, 2.0)


class Pace:
    """Seconds of real time; ``speed`` divides them, 0 makes all of them 0."""

    def __init__(self, seed: int, speed: float) -> None:
        self.speed = speed
        self._scan = Random(f"{seed}/scan")
        self._between = Random(f"{seed}/between")

    def scaled(self, seconds: float) -> float:
        """``seconds`` at speed 1, at this speed."""
        return seconds / self.speed if self.speed else 0.0

    def scan(self) -> float:
        """From the decision to draw until the card passes the reader."""
        return self.scaled(self._scan.uniform(*SCAN_S))

    def between_cards(self) -> float:
        """From one card to the next, when the shoe draws by itself."""
        return self.scaled(self._between.uniform(*BETWEEN_CARDS_S))
