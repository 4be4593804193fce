"""What lies on the simulated table, and the hand that is over it at a moment. Pure: times come in."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

import numpy as np

from controller.cards import HIDDEN, is_card
from vision.geometry import Points
from vision.simulated.scene import Scene

#: Cards come from the shoe, right of the picture, and go to the discard holder, left of it (mm beyond its edge).
_SHOE_MM: Final = (60.0, -80.0)
_HOLDER_MM: Final = (-60.0, -80.0)
#: Seconds at human pace: a card's way to its place, then the hand's way back.
CARRY_S: Final = 0.55
RETURN_S: Final = 0.35


class Refused(Exception):
    """The hands cannot do that; the message says why."""


@dataclass(frozen=True)
class Lying:
    """A card on the felt: its middle (mm), its turn (degrees, clockwise) and which side is up."""

    card: str
    position: str
    at: tuple[float, float]
    turn: float
    face_up: bool

    @property
    def shown(self) -> str:
        """What the camera can see of it."""
        return self.card if self.face_up else HIDDEN


@dataclass(frozen=True)
class Hand:
    """A hand whose finger tips are at ``at`` (mm), its arm reaching in from the dealer's edge; what it carries."""

    at: tuple[float, float]
    carries: Lying | None = None


@dataclass(frozen=True)
class _Move:
    """A hand on its way: from ``begin`` to the card's place and back; ``lands`` comes to lie half-way."""

    begin: float
    start: tuple[float, float]
    goal: tuple[float, float]
    carry_s: float
    return_s: float
    card: Lying | None


@dataclass
class Felt:
    """The cards of one scene. Every change takes the time it is made at and returns when the hand is gone again."""

    scene: Scene
    rng: Random
    #: Divides the time hands take; 0: no hands, cards jump.
    speed: float = 1.0
    cards: list[Lying] = field(default_factory=list)
    #: Grows with every change of what lies still.
    version: int = 0
    _moves: list[_Move] = field(default_factory=list)

    def place(self, card: str, position: str, now: float, *, face_up: bool = True) -> float:
        """Lay a card down. Raises ``Refused``."""
        if not is_card(card):
            raise Refused(f"{card!r} is not a card: rank and suit, such as TD")
        self._known(position)
        if self._find(position) is not None:
            raise Refused(f"a card lies at {position} already")
        middle = np.mean(self.scene.positions[position], axis=0)
        at = (float(middle[0]) + self.rng.uniform(-3, 3), float(middle[1]) + self.rng.uniform(-3, 3))
        turn = self.rng.uniform(-3, 3) + (90 if position in self.scene.sideways else 0)
        shoe = (self.scene.extent_mm[0] + _SHOE_MM[0], _SHOE_MM[1])
        return self._carry(Lying(card, position, at, turn, face_up), shoe, now)

    def turn(self, position: str, now: float) -> float:
        """Turn the card at ``position`` over. Raises ``Refused``."""
        card = self._take(position)
        return self._carry(replace(card, face_up=not card.face_up), card.at, now)

    def remove(self, position: str, now: float) -> float:
        """Take the card at ``position`` away. Raises ``Refused``."""
        card = self._take(position)
        return self._away(card, now)

    def move(self, source: str, target: str, now: float) -> float:
        """Slide a card to another position. Raises ``Refused``."""
        self._known(target)
        if self._find(target) is not None:
            raise Refused(f"a card lies at {target} already")
        card = self._take(source)
        middle = np.mean(self.scene.positions[target], axis=0)
        turn = 90.0 if target in self.scene.sideways else 0.0
        moved = replace(card, position=target, at=(float(middle[0]), float(middle[1])), turn=turn)
        return self._carry(moved, card.at, now)

    def collect(self, now: float) -> float:
        """Clear the felt."""
        cards, self.cards = self.cards, []
        self.version += 1
        return self._away(cards[-1], now) if cards else now

    def wave(self, position: str, now: float, seconds: float) -> float:
        """Hold a hand over ``position`` for some seconds. Raises ``Refused``."""
        self._known(position)
        middle = np.mean(self.scene.positions[position], axis=0)
        at = (float(middle[0]), float(middle[1]) + 20)
        self._moves.append(_Move(now, at, at, seconds, 0.0, None))
        return now + seconds

    def lying(self, now: float) -> list[Lying]:
        """The cards that lie still at ``now``."""
        for move in [m for m in self._moves if m.card is not None and now >= m.begin + m.carry_s]:
            assert move.card is not None
            self.cards.append(move.card)
            self.version += 1
            self._moves[self._moves.index(move)] = replace(move, card=None)
        self._moves = [m for m in self._moves if now < m.begin + m.carry_s + m.return_s]
        return self.cards

    def hands(self, now: float) -> list[Hand]:
        """The hands over the table at ``now``."""
        found = []
        for move in self._moves:
            gone = now - move.begin
            start, goal = np.array(move.start), np.array(move.goal)
            if gone < move.carry_s:
                at = _ease(start, goal, gone / move.carry_s)
                card = replace(move.card, at=(float(at[0]), float(at[1]))) if move.card is not None else None
                found.append(Hand((float(at[0]), float(at[1])), card))
            elif gone < move.carry_s + move.return_s:
                rest = np.array([goal[0], -200.0])
                at = _ease(goal, rest, (gone - move.carry_s) / move.return_s)
                found.append(Hand((float(at[0]), float(at[1]))))
        return found

    def _carry(self, card: Lying, start: tuple[float, float], now: float) -> float:
        if self.speed == 0:
            self.cards.append(card)
            self.version += 1
            return now
        self._moves.append(_Move(now, start, card.at, CARRY_S / self.speed, RETURN_S / self.speed, card))
        return now + (CARRY_S + RETURN_S) / self.speed

    def _away(self, card: Lying, now: float) -> float:
        if self.speed == 0:
            return now
        self._moves.append(_Move(now, card.at, _HOLDER_MM, CARRY_S / self.speed, 0.0, None))
        return now + CARRY_S / self.speed

    def _take(self, position: str) -> Lying:
        self._known(position)
        card = self._find(position)
        if card is None:
            raise Refused(f"no card lies at {position}")
        self.cards.remove(card)
        self.version += 1
        return card

    def _find(self, position: str) -> Lying | None:
        waiting = [m.card for m in self._moves if m.card is not None]
        return next((card for card in [*self.cards, *waiting] if card.position == position), None)

    def _known(self, position: str) -> None:
        if position not in self.scene.positions:
            raise Refused(f"{position!r} is no position of this table: {', '.join(self.scene.positions)}")


def _ease(start: Points, goal: Points, share: float) -> Points:
    """A point on the way, slow at both ends."""
    smooth = share * share * (3 - 2 * share)
    return np.asarray(start + (goal - start) * smooth, np.float64)
