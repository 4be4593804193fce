"""The best return of the main bet at both blackjack games, by exact recursion over the composition of the shoe.

Every number is an integer count of deals: of all orders in which the next cards can leave the shoe up to a fixed
horizon, weighted by what is paid. A hand that stakes one unit gets back 2 (win), 1 (push) or 0 (lose, bust, dealer
Blackjack), so hitting and standing are worth the same in both games, with a hole card or without: whether the dealer
has Blackjack changes no comparison between them. Only what is staked against a dealer Blackjack differs.

The player sees his own cards and the up-card, plays from a full shoe without the burn (unseen burned cards change
nothing), and a split is worth twice one split hand that does not know the other's cards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations_with_replacement
from typing import Final

from controller.returns import dealer
from controller.returns.composition import EMPTY, FACE, FULL, VALUES, Hand, add, faces, left, orders, score
from controller.rules import boundless
from controller.rules.options import GameOptions
from controller.rules.round import Round, RoundCard
from controller.rules.scores import BLACKJACK, blackjack_value, is_blackjack

#: Called with work done and work in all.
Progress = Callable[[int, int], None]

ACE: Final = 1
#: One count for each up-card, index 0 the ace.
ByUp = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MainRules:
    """What the two games and their readings differ in. ``decisions`` says what a player may do."""

    decisions: GameOptions
    #: A hole card and a peek (BJS-21): a dealer Blackjack takes the first stake only. Without, it takes every stake
    #: (BJ7-44), and a surrender before it is final (BJ7-22).
    hole_card: bool


#: "house_model" is the reading that gives the returns the games claim (C-08). Both games ask the same module for the
#: decisions, for they share those rules (BJS-30..38, BJ7-20..25).
MODELS: Final = {
    ("boundless", "text"): MainRules(GameOptions(game="boundless"), hole_card=True),
    ("boundless", "house_model"): MainRules(
        GameOptions(game="boundless", surrender_against="two_to_ten", double_after_split=False), hole_card=True
    ),
    ("classic", "text"): MainRules(GameOptions(game="boundless", double_after_split=False), hole_card=False),
    ("classic", "house_model"): MainRules(
        GameOptions(game="boundless", surrender_against="two_to_ten", double_after_split=False), hole_card=False
    ),
}


def main_return(rules: MainRules, progress: Progress | None = None) -> Fraction:
    """What one unit staked on the first hand returns on average under optimal play."""
    _prepare(progress)
    net = 0
    for first, second in combinations_with_replacement(VALUES, 2):
        hand = add(add(EMPTY, first), second)
        dealt = FULL[first - 1] * (FULL[second - 1] - (first == second)) * (1 if first == second else 2)
        for up in VALUES:
            net += dealt * _first_hand(first, second, hand, up, rules)
    return 1 + Fraction(net, 2 * orders(0, _horizon()))


def insurance_return() -> Fraction:
    """What one unit of insurance (BJS-22, BJ7-26) returns to a player who looks at the up-card only; pays 2:1."""
    unseen = left(add(EMPTY, ACE))
    return Fraction(3 * unseen[-1], sum(unseen))


@cache
def best_decision(cards: tuple[str, ...], up: str, allowed: tuple[str, ...], rules: MainRules, *, split: bool) -> str:
    """What ``main_return`` does with these faces against this up-card, of what is ``allowed``. ``split``: half of a
    split pair; then the other half's first card is of the same value, and nothing else of it is looked at."""
    values = [blackjack_value(card) for card in cards]
    hand = reduce(add, values, EMPTY)
    other = values[0] if split else None
    at = blackjack_value(up) - 1
    gone = _gone(hand, other)
    # As in ``_first_hand``: after a negative peek only deals without dealer Blackjack are left to decide about.
    stake = _up_card(gone)[at] - (_dealer_naturals(gone)[at] if rules.hole_card else 0)
    worth = {
        "stand": lambda: 2 * (_stood(hand, other)[at] - stake),
        "hit": lambda: 2 * (_drawn(hand, other, _played)[at] - stake),
        "double": lambda: 4 * (_one_card(hand, other)[at] - stake),
        "split": lambda: 4 * _split_hand(values[0], at + 1, rules),
        "surrender": lambda: -stake,
    }
    return max(allowed, key=lambda decision: worth[decision]())


def _first_hand(first: int, second: int, hand: Hand, up: int, rules: MainRules) -> int:
    """Twice the net gain of the best decision on the first two cards, counted from two cards gone to the horizon."""
    at = up - 1
    dealt, beaten = _up_card(hand)[at], _dealer_naturals(hand)[at]
    if is_blackjack(faces(hand)):
        return 3 * (dealt - beaten)  # BJS-63, BJ7-42, both-Blackjack a push
    # After a negative peek only deals without dealer Blackjack are left to decide about; the others cost one unit.
    stake, lost = (dealt - beaten, beaten) if rules.hole_card else (dealt, 0)
    allowed = _allowed((FACE[first - 1], FACE[second - 1]), FACE[up - 1], None, rules.decisions)
    found = [2 * _one_hand(hand, None, at, stake, allowed)]
    if "split" in allowed:
        found.append(4 * _split_hand(first, up, rules))
    if "surrender" in allowed:
        found.append(-stake)
    return max(found) - 2 * lost


def _one_hand(hand: Hand, other: int | None, at: int, stake: int, allowed: tuple[str, ...]) -> int:
    """Net gain of a two-card hand that may be played on or doubled."""
    found = [_played(hand, other)[at] - stake]
    if "double" in allowed and score(hand).total < BLACKJACK:  # BJS-32: 21 stands by itself
        found.append(2 * (_one_card(hand, other)[at] - stake))
    return max(found)


def _split_hand(value: int, up: int, rules: MainRules) -> int:
    """Net gain of one of two split hands, its partner's first card gone and nothing else of it known."""
    at = up - 1
    start = add(EMPTY, value)
    net = 0
    for drawn, count in zip(VALUES, left(add(start, value)), strict=True):
        hand = add(start, drawn)
        gone = add(hand, value)
        stake = _up_card(gone)[at] - (_dealer_naturals(gone)[at] if rules.hole_card else 0)
        if value == ACE:  # BJS-37, BJ7-25: one card each
            net += count * (_stood(hand, value)[at] - stake)
        else:
            allowed = _allowed((FACE[value - 1],) * 2, FACE[up - 1], FACE[drawn - 1], rules.decisions)
            net += count * _one_hand(hand, value, at, stake, allowed)
    return net


@cache
def _allowed(pair: tuple[str, ...], up: str, drawn: str | None, rules: GameOptions) -> tuple[str, ...]:
    """Decisions the product offers on the first two cards, or on a split hand that drew ``drawn``."""
    cards = [("player/0", pair[0]), ("dealer/0", up), ("player/1", pair[1])]
    if drawn is not None:
        cards.append(("split/0/1", drawn))
    round_ = Round("", 1, [RoundCard(position, card, True) for position, card in cards])
    return boundless.options(round_, rules, "main" if drawn is None else "split/0")


def _gone(hand: Hand, other: int | None) -> Hand:
    """Cards the player has seen: his hand and, after a split, the first card of the other hand."""
    return hand if other is None else add(hand, other)


@cache
def _stood(hand: Hand, other: int | None) -> ByUp:
    """Returned to a hand that stands."""
    gone = _gone(hand, other)
    scale = _beyond(gone)
    equal = score(hand).total - dealer.TOTALS.start  # index of the dealer's equal total; below 17 there is none
    return tuple(
        scale * (2 * (ends[dealer.BUST] + sum(ends[: max(equal, 0)])) + (ends[equal] if equal >= 0 else 0))
        for ends in dealer.outcomes(gone)
    )


@cache
def _one_card(hand: Hand, other: int | None) -> ByUp:
    """Returned to a hand that takes one card and stands, for each unit staked."""
    return _drawn(hand, other, _stood)


@cache
def _played(hand: Hand, other: int | None) -> ByUp:
    """Returned to a hand that hits and stands as is best; 21 stands by itself (BJS-32)."""
    stood = _stood(hand, other)
    if score(hand).total == BLACKJACK:
        return stood
    return tuple(map(max, stood, _drawn(hand, other, _played)))


def _drawn(hand: Hand, other: int | None, then: Callable[[Hand, int | None], ByUp]) -> ByUp:
    """The sum over the next card; a bust returns nothing."""
    total = [0] * len(VALUES)
    for value, count in zip(VALUES, left(_gone(hand, other)), strict=True):
        longer = add(hand, value)
        if not score(longer).bust:
            total = [sum_ + count * got for sum_, got in zip(total, then(longer, other), strict=True)]
    return tuple(total)


@cache
def _up_card(gone: Hand) -> ByUp:
    """Deals in which each value is the up-card."""
    rest = orders(sum(gone) + 1, _horizon() - sum(gone) - 1)
    return tuple(count * rest for count in left(gone))


@cache
def _dealer_naturals(gone: Hand) -> ByUp:
    """Deals in which the dealer has Blackjack, by up-card."""
    scale = _beyond(gone)
    return tuple(scale * ends[dealer.NATURAL] for ends in dealer.outcomes(gone))


def _beyond(gone: Hand) -> int:
    """Orders of the cards after the longest dealer hand, up to the horizon."""
    used = sum(gone) + dealer.longest()
    return orders(used, _horizon() - used)


@cache
def _horizon() -> int:
    """A number of cards that no hand with its split partner and dealer exceeds."""
    return max(sum(hand) for hand in _hands()) + 1 + dealer.longest()


@cache
def _hands() -> tuple[Hand, ...]:
    """Every player hand of two or more cards that is not bust."""

    def grow(hand: Hand, lowest: int) -> Iterator[Hand]:
        for value in range(lowest, VALUES.stop):
            longer = add(hand, value)
            if not score(longer).bust and longer[value - 1] <= FULL[value - 1]:
                yield longer
                yield from grow(longer, value)

    return tuple(hand for hand in grow(EMPTY, VALUES.start) if sum(hand) > 1)


def _prepare(progress: Progress | None) -> None:
    """Work out the dealer for every set of seen cards, the slow part, reporting on the way."""
    seen = set(_hands())
    seen |= {add(hand, value) for hand in _hands() for value in VALUES if value != ACE and hand[value - 1]}
    seen |= {add(add(add(EMPTY, ACE), ACE), value) for value in VALUES}
    for done, gone in enumerate(seen, start=1):
        dealer.outcomes(gone)
        if progress is not None:
            progress(done, len(seen))
