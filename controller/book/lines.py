"""Hands on lines, counted instead of listed (procedures page 2.6, BJS-50..56).

All hands of a line that are still played have the same cards, so a window is locked in one step however many players
are in it: who chose nothing gets one and the same automatic decision (BJS-40, BJ7-27). A player's own hand follows
from his decisions and from the automatic decisions of the locked windows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from controller.book.rows import Effect, Lock, Play

HIT: Final = "hit"
STAND: Final = "stand"
DOUBLE: Final = "double"
SPLIT: Final = "split"
SURRENDER: Final = "surrender"
#: An automatic decision hits up to this score, an ace counting 11 unless that busts (BJS-39, BJS-40, BJ7-27).
AUTO_HIT_MAX: Final = 11


class Sum(msgspec.Struct, frozen=True, gc=False):
    """Stakes added up: how many, how much, and ``part``: the sum of what each stake's odd fraction is floored to
    (half of it for hands), because a sum of floors is not the floor of the sum."""

    count: int = 0
    stake: int = 0
    part: int = 0

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.count + other.count, self.stake + other.stake, self.part + other.part)

    def __sub__(self, other: Sum) -> Sum:
        return Sum(self.count - other.count, self.stake - other.stake, self.part - other.part)


NOTHING: Final = Sum()


def hand_sum(stake: int) -> Sum:
    """One hand of ``stake`` minor units."""
    return Sum(1, stake, stake // 2)


def automatic(score: int) -> Effect:
    """What the table does for a hand nobody decides on (BJS-40, BJ7-27)."""
    return HIT if score <= AUTO_HIT_MAX else STAND


@dataclass(frozen=True, slots=True)
class Line:
    """The hands of one line, immutable.

    ``deciders`` and ``autos`` are in play at ``length`` cards; ``choices`` are those of the open window; ``finals``
    are complete, by (length, doubled, surrendered); ``locks`` holds the automatic decision of every locked window,
    from two cards on.
    """

    deciders: Sum = NOTHING
    autos: Sum = NOTHING
    decided: Sum = NOTHING
    choices: Mapping[str, Sum] = field(default_factory=dict)
    locks: tuple[Effect, ...] = ()
    finals: Mapping[tuple[int, bool, bool], Sum] = field(default_factory=dict)

    @property
    def length(self) -> int:
        """Cards of the hands in play."""
        return len(self.locks) + 2

    def choose(self, effect: str, hands: Sum) -> Line:
        """Hands in the open window decided alike."""
        choices = {**self.choices, effect: self.choices.get(effect, NOTHING) + hands}
        return replace(self, decided=self.decided + hands, choices=choices)

    def miss(self, hands: Sum) -> Line:
        """These hands will be played for."""
        return replace(self, deciders=self.deciders - hands, autos=self.autos + hands)

    def demand(self, auto: Effect) -> Lock:
        """What the open window would come to if it were locked now."""
        count = {effect: found.count for effect, found in self.choices.items()}
        autos = self.deciders.count - self.decided.count + self.autos.count
        hits, doubles = count.get(HIT, 0), count.get(DOUBLE, 0)
        return Lock(
            draw=hits + doubles > 0 or (auto == HIT and autos > 0),
            split=count.get(SPLIT, 0) > 0,
            hit=hits,
            stand=count.get(STAND, 0),
            double=doubles,
            splits=count.get(SPLIT, 0),
            surrender=count.get(SURRENDER, 0),
            auto=autos,
            auto_effect=auto,
        )

    def missed(self) -> Sum:
        """Hands of the open window whose players have not decided."""
        return self.deciders - self.decided

    def lock(self, auto: Effect) -> Line:
        """Lock the window: everybody decided, or is played for."""
        rest, n, chosen = self.missed() + self.autos, self.length, self.choices
        doubled = chosen.get(DOUBLE, NOTHING)
        stand = chosen.get(STAND, NOTHING)
        finals = dict(self.finals)
        for key, hands in (
            ((n, False, False), stand + rest if auto == STAND else stand),
            ((n, False, True), chosen.get(SURRENDER, NOTHING)),
            ((n + 1, True, False), Sum(doubled.count, 2 * doubled.stake, doubled.stake)),
        ):
            if hands.count:
                finals[key] = finals.get(key, NOTHING) + hands
        return Line(
            deciders=chosen.get(HIT, NOTHING),
            autos=rest if auto == HIT else NOTHING,
            locks=(*self.locks, auto),
            finals=finals,
        )

    def groups(self) -> Iterator[tuple[int, bool, bool, Sum]]:
        """Final hands as (length, doubled, surrendered, sum), those included that end with the line."""
        found = dict(self.finals)
        rest = self.deciders + self.autos
        if rest.count:
            key = (self.length, False, False)
            found[key] = found.get(key, NOTHING) + rest
        for (length, doubled, surrendered), hands in sorted(found.items()):
            yield length, doubled, surrendered, hands


class Hand(msgspec.Struct, frozen=True, gc=False):
    """One hand of a player as it stands: a prefix of ``line``. ``choice`` is a decision in a window not yet locked,
    ``played`` that no further decision is possible, ``auto`` that the table decides for it."""

    line: str
    length: int
    doubled: bool = False
    surrendered: bool = False
    played: bool = False
    auto: bool = False
    choice: Effect | None = None


class Story(msgspec.Struct, frozen=True):
    """A player's hands, and every window they went through."""

    hands: tuple[Hand, ...]
    plays: tuple[Play, ...]


#: A decision as a hand's story needs it: line, length, request, effect.
Chosen = tuple[str, int, str, Effect]


def story(chosen: tuple[Chosen, ...], lines: Mapping[str, Line], first: str, splits: tuple[str, str]) -> Story:
    """Tell the story of the hand that began on ``first`` and continues on ``splits`` if it was split.

    A player who let one window pass is played for in the rest of the round, split hands included.
    """
    decided = {(line, n): (request, effect) for line, n, request, effect in chosen}
    plays: list[Play] = []
    missed = False

    def play(name: str) -> Hand | None:
        nonlocal missed
        n = 2
        for auto in lines[name].locks:
            request, effect = decided.get((name, n), (None if missed else "none", auto))
            own = (name, n) in decided
            plays.append(Play(name, n, request, effect, not own))
            missed = missed or not own
            if effect == SPLIT:
                return None
            if effect == HIT:
                n += 1
                continue
            doubled = effect == DOUBLE
            return Hand(name, n + doubled, doubled, effect == SURRENDER, True, missed)
        choice = decided.get((name, n), (None, None))[1]
        return Hand(name, n, auto=missed, choice=choice)

    hand = play(first)
    hands = (hand,) if hand is not None else tuple(h for h in map(play, splits) if h is not None)
    return Story(hands, tuple(plays))
