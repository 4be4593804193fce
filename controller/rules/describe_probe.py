"""Rules found by asking the procedures: what a page of rules says is what they did when they were tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations_with_replacement
from types import ModuleType
from typing import Final

from controller.cards import HIDDEN, RANKS
from controller.rules import PROCEDURES
from controller.rules.blackjack import UP, dealer_stands
from controller.rules.classic import line_name
from controller.rules.options import GameOptions
from controller.rules.round import Demand, Round, RoundCard
from controller.rules.scores import baccarat_value, banker_draws, blackjack_score, player_draws
from controller.rules.steps import Step

#: No trial takes more steps; reaching this is a defect of a procedure.
_STEPS_MAX: Final = 100
#: A card that decides nothing.
_PLAIN: Final = "2C"
_TENS: Final = "TJQK"


def play(
    options: GameOptions,
    cards: Mapping[str, str],
    *,
    seats: tuple[int, ...] = (),
    demand: Callable[[Step], tuple[bool, bool]] = lambda _: (False, False),
    until: Callable[[Step], bool] = lambda _: False,
) -> list[Step]:
    """The steps of a round. ``cards`` by position, a plain card elsewhere; ``demand`` answers a decision window with
    (draw, split); the last step is the first that is ``until``, or ``finish``."""
    procedure: ModuleType = PROCEDURES[options.game]
    round_ = Round("trial", 1, seats=seats)
    steps: list[Step] = []
    while len(steps) < _STEPS_MAX:
        step: Step = procedure.next_step(round_, options)
        lines = procedure.parting(round_, step)
        if lines is not None:
            round_.part(lines)
            continue
        steps.append(step)
        if step.kind == "finish" or until(step):
            return steps
        _do(procedure, round_, step, cards, demand)
    raise AssertionError(f"{options.game}: a round does not end")


def _do(
    procedure: ModuleType,
    round_: Round,
    step: Step,
    cards: Mapping[str, str],
    demand: Callable[[Step], tuple[bool, bool]],
) -> None:
    position = step.position or ""
    match step.kind:
        case "draw":
            round_.place(RoundCard(position, cards.get(position, _PLAIN), not step.hidden))
        case "reveal":
            round_.reveal(position, round_.at(position) or HIDDEN)
        case "insurance":
            round_.insurance = "closed"
        case "peek":
            round_.peeked = procedure.peek(round_)
        case "decide":
            draw, split = demand(step)
            line, length = step.line or "", step.prefix_len or 0
            round_.demands[line, length] = Demand("trial", line, length, draw, split)
        case _:
            raise AssertionError(f"a procedure does not wait for {step.kind}")


class Hands:
    """Trials of a blackjack game in which one hand is played."""

    def __init__(self, options: GameOptions) -> None:
        self._options = options
        self._seats = (1,) if options.game == "classic" else ()
        self._hand = line_name(1, 0) if options.game == "classic" else "player"

    def _cards(self, first: str, second: str, up: str) -> dict[str, str]:
        return {f"{self._hand}/0": first, f"{self._hand}/1": second, UP: up, "dealer/1": "5D"}

    def opening(self, up: str, first: str = "9S", second: str = "7H") -> list[Step]:
        """The steps to the first decision."""
        cards = self._cards(first, second, up)
        return play(self._options, cards, seats=self._seats, until=lambda step: step.kind == "decide")

    def choices(self, up: str, first: str = "9S", second: str = "7H") -> tuple[str, ...]:
        """What a hand's first two cards may do; nothing if no decision is asked for."""
        return self.opening(up, first, second)[-1].options

    def ups_with(self, found: Callable[[list[Step]], bool]) -> str:
        """The ranks of the up-card whose opening is ``found``."""
        return "".join(rank for rank in RANKS if found(self.opening(rank + "S")))

    def splits(self) -> tuple[str, str]:
        """Ranks of which two equal cards may be split, and ranks that may be split with another one."""
        pairs = [
            pair for pair in combinations_with_replacement(RANKS, 2)
            if "split" in self.choices("6S", pair[0] + "S", pair[1] + "H")
        ]  # fmt: skip
        mixed = {rank for pair in pairs if pair[0] != pair[1] for rank in pair}
        return "".join(a for a, b in pairs if a == b), "".join(rank for rank in RANKS if rank in mixed)

    def after_hit(self) -> tuple[str, ...]:
        """What a hand of three cards may do."""
        steps = play(
            self._options, self._cards("3S", "4H", "6S"), seats=self._seats,
            demand=lambda step: (step.prefix_len == 2, False),
            until=lambda step: step.kind == "decide" and step.prefix_len == 3,
        )  # fmt: skip
        return steps[-1].options

    def split(self, card: str) -> list[Step]:
        """The steps of a round in which two cards like ``card`` are split, and each gets a third one like it. Where
        the hand is shared somebody hits it, too; every other decision is to stand."""
        shared = self._options.game == "boundless"
        begun = False

        def demand(_: Step) -> tuple[bool, bool]:
            nonlocal begun
            first, begun = not begun, True
            return (first and shared, first)

        rank = card[0]
        cards = self._cards(rank + "S", rank + "H", "6S")
        cards |= {f"{line}/1": rank + "D" for line in ("split/0", "split/1", line_name(1, 1))}
        return play(self._options, cards, seats=self._seats, demand=demand)


def natural_ends(options: GameOptions) -> bool:
    """A dealer Blackjack found by the peek ends the round: no further card, no decision (BJS-20)."""
    cards = {"player/0": "9S", "player/1": "7H", UP: "AS", "dealer/1": "KD"}
    after = [step.kind for step in play(options, cards)]
    return not {"draw", "decide"} & set(after[after.index("peek") :])


def dealing_order(options: GameOptions) -> list[Step]:
    """The cards of every round, in order: up to three seats at a seated table."""
    seats = tuple(range(1, min(3, options.seats) + 1)) if options.game == "classic" else ()
    steps = play(options, {UP: "6S", "player/1": "7H"}, seats=seats, until=lambda step: step.kind != "draw")
    return steps[:4] if options.game == "baccarat" else steps[:-1]


def dealer_stands_from(*, soft: bool) -> int:
    """The lowest total of two cards from which the dealer stands, and at any higher one."""
    hands = [["AS", rank + "H"] if soft else ["TS", rank + "H"] for rank in RANKS[1:9]] + [["TS", "KH"]]
    stands = {}
    for hand in hands:
        score = blackjack_score(hand)
        if score.soft == soft:
            round_ = Round("trial", 1, [RoundCard(f"dealer/{n}", card, True) for n, card in enumerate(hand)])
            stands[score.total] = dealer_stands(round_)
    lowest = min(total for total, standing in stands.items() if standing)
    assert all(standing == (total >= lowest) for total, standing in stands.items())
    return lowest


# --- Baccarat ----------------------------------------------------------------------------------------------------


def _worth(value: int, *, cards: int) -> list[str]:
    """A hand of so many cards with this value, tens aside."""
    return ["KS"] * (cards - 1) + [_third(value)]


def _third(value: int) -> str:
    """A card of this value."""
    return next(rank + "S" for rank in RANKS if baccarat_value([rank + "S"]) == value)


def player_draws_on() -> list[int]:
    """PLAYER's two-card values on which he draws, BANKER having none of his naturals."""
    return [value for value in range(10) if player_draws(_worth(value, cards=2), ["KS", "KH"])]


def naturals() -> list[int]:
    """BANKER's two-card values on which nobody draws, whatever the other hand."""
    return [value for value in range(10) if not player_draws(["KS", "KH"], _worth(value, cards=2))]


def banker_rows() -> list[tuple[int, list[bool], bool]]:
    """BANKER's tableau: his value, whether he draws on each third card of PLAYER, and whether when PLAYER stood."""
    standing = next(v for v in range(10) if v not in player_draws_on() and v not in naturals())
    rows = []
    for value in range(10):
        if value in naturals():
            continue
        banker = _worth(value, cards=2)
        thirds = [banker_draws(["KS", "KH", _third(third)], banker) for third in range(10)]
        rows.append((value, thirds, banker_draws(_worth(standing, cards=2), banker)))
    return rows


# --- words -------------------------------------------------------------------------------------------------------


def ranks_in_words(ranks: Iterable[str]) -> str:
    """``A23456`` as "ace, 2 to 6", ``TJQK`` as "10, J, Q, K"; "none" for nothing."""
    found = set(ranks)
    words = ["ace"] if "A" in found else []
    pips = [rank for rank in "23456789" if rank in found]
    while pips:
        run = [pips.pop(0)]
        while pips and int(pips[0]) == int(run[-1]) + 1:
            run.append(pips.pop(0))
        words += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else run
    words += ["10" if rank == "T" else rank for rank in _TENS if rank in found]
    return ", ".join(words) or "none"


def numbers_in_words(numbers: Sequence[int]) -> str:
    """``[0, 1, 2, 3]`` as "0 to 3", ``[8, 9]`` as "8 or 9"."""
    if len(numbers) > 2 and list(numbers) == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]} to {numbers[-1]}"
    return " or ".join(map(str, numbers))


def place_in_words(position: str) -> str:
    """Where a card lies, for a reader."""
    parts = position.split("/")
    card = f"card {int(parts[-1]) + 1}"
    match parts[:-1]:
        case ["player"]:
            return f"player's {card}"
        case ["dealer"]:
            return f"dealer's {card}"
        case ["banker"]:
            return f"BANKER's {card}"
        case ["split", hand]:
            return f"split hand {int(hand) + 1}, {card}"
        case ["seat", seat, "hand", hand]:
            return f"seat {seat}, hand {int(hand) + 1}, {card}"
    raise AssertionError(position)


def line_in_words(line: str) -> str:
    """Whose cards a line holds."""
    if line == "main":
        return "the hand"
    return place_in_words(f"{line}/0").rsplit(", card", 1)[0]
