"""What the record of one shoe must be, from the facts alone: its burn, its copies of each face, its last round.

Independent of the table and its rules (SHOE-01, SHOE-08, A-01, M-26).
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from controller import facts as f
from controller.cards import HIDDEN
from controller.simulation.soak_odds import must

COPIES: Final = 8


class Record:
    """One table's shoes, one after the other. Every method raises ``Broken``."""

    def __init__(self, options: Any) -> None:
        self.burn, self.policy = options.burn, options.last_round_policy
        self._new()

    def _new(self) -> None:
        self.faces: Counter[str] = Counter()
        self.due: int | None = {"none": 0, "one": 1}.get(self.burn)
        self.burned = self.rounds = 0
        self.hidden: set[str] = set()  # places of this round whose face the shoe did not tell
        self.open = False  # a round is in progress
        self.last: int | None = None

    def take(self, fact: f.Fact) -> None:
        """One fact."""
        match fact:
            case f.ShoeLoaded():
                self._new()
            case f.BurnIndicatorDrawn(card=card):
                self.due = 10 if card[0] in "TJQK" else 1 if card[0] == "A" else int(card[0])
                self._face(card)
            case f.CardBurned(card=card):
                self.burned += 1
                self._face(card)
            case f.CutCardDrawn() if self.last is None:
                # Between two rounds it belongs to the next one.
                self.last = self.rounds + (self.policy == "next" or not self.open)
            case f.BettingOpened():
                if not self.rounds:
                    must(self.burned == self.due, "betting opens when the burn is complete")
                self.rounds, self.open = self.rounds + 1, True
                self.hidden.clear()
                must(self.last is None or self.rounds <= self.last, "no round after the last one of a shoe")
            case f.CardDealt(face=face, position=position):
                if face == HIDDEN:
                    self.hidden.add(position)
                self._face(face)
            case f.RoundResult() | f.RoundVoided():
                self.open = False
            case f.CardRevealed(card=card, position=position):
                if position in self.hidden:
                    self._face(card)
            case f.CardCorrected(card=card, before=before):
                self.faces[before] -= 1
                self._face(card)

    def _face(self, card: str) -> None:
        if card != HIDDEN:
            self.faces[card] += 1
            must(self.faces[card] <= COPIES, "a shoe has no more than eight copies of a card")
