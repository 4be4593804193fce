"""``dealerd rtp``: the exact return of every bet, and a simulation to hold it against."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Final, Self

from controller.cli.errors import UsageError
from controller.returns import GAMES, Return, returns
from controller.simulation.monte_carlo import ROUNDS_MIN, Simulated, simulate

if TYPE_CHECKING:
    _Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_DESCRIPTION: Final = """\
Print what every bet returns on average, in percent of its stake, stake included: 98.94 means that of 100 staked,
98.94 come back in the long run. The figures are exact: every deal of a freshly shuffled eight-deck shoe is counted
with the rules this program enforces, and the main blackjack bet is played as well as possible on the cards in sight.
"""
_EPILOG: Final = """\
rules: "text" is the game as its rules are written and as the table plays it by default; "house_model" (surrender
barred only against an ace, no double after split) is the reading that gives the returns the games claim.
Baccarat's BANKER is counted at 5% commission, before rounding to the currency unit. Insurance and side bets are
counted on what is known when they are made. A blackjack game takes up to a minute; progress goes to standard error.

--check plays so many rounds at the table itself, with its book and settlement, on shoes drawn from --seed, and prints
beside each exact figure what came back and the interval in which the true return lies 999 times of 1,000: narrow
after many rounds, half as wide after four times as many. Exit status 1 if an exact figure lies outside its interval.
The blackjack player plays the decisions that the exact figure counts; a half of a split pair looks at nothing of the
other half but its first card.

examples:
  dealerd rtp                                   all three games
  dealerd rtp baccarat --json                   as JSON: game, bet, rules, return_percent
  dealerd rtp boundless --check 20000 --seed 7  beside 20,000 simulated rounds for each of its two rules
"""
#: A bet with its exact return, and what was simulated of it.
Row = tuple[Return, Simulated | None]
#: Columns of a table that hold words.
_WORDS: Final = 3
_QUIET_S: Final = 2.0
_TTY_EVERY_S: Final = 0.2


class _Progress:
    """Percent done on standard error: at once on a terminal, elsewhere a line each time two seconds have passed."""

    def __init__(self, game: str, doing: str) -> None:
        self._what = f"{game}: {doing}"
        self._tty = sys.stderr.isatty()
        self._next = time.monotonic() + (0 if self._tty else _QUIET_S)
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (_TTY_EVERY_S if self._tty else _QUIET_S)
        self._shown = True
        text = f"{self._what}, {100 * done // total} %"
        print("\r" + text if self._tty else text, end="" if self._tty else "\n", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the line on a terminal."""
        if self._tty and self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def add_parser(subparsers: _Subparsers) -> None:
    """Register ``rtp [GAME] [--json]``."""
    parser = subparsers.add_parser(
        "rtp",
        help="exact returns of every bet",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("game", nargs="?", choices=GAMES, metavar="GAME", help=f"{', '.join(GAMES)}; all if left out")
    parser.add_argument("--json", action="store_true", help="print a JSON list instead of a table")
    parser.add_argument("--check", type=_rounds, metavar="ROUNDS", help="play so many rounds beside it")
    parser.add_argument("--seed", type=int, metavar="N", help="what the shoes of --check follow from; default: 1")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the returns of ``args.game``, of every game if it is None. Returns the exit status."""
    if args.seed is not None and args.check is None:
        raise UsageError("--seed belongs to --check ROUNDS")
    found: list[Row] = []
    for game in GAMES if args.game is None else (args.game,):
        with _Progress(game, "counting deals") as progress:
            exact = returns(game, progress)
        found += (
            _checked(exact, args.check, 1 if args.seed is None else args.seed)
            if args.check
            else [(row, None) for row in exact]
        )
    print(_json(found) if args.json else _table(found))
    return 0 if all(simulated is None or _agrees(row, simulated) for row, simulated in found) else 1


def _rounds(text: str) -> int:
    """Raises ``ArgumentTypeError`` for what is no number of rounds that says anything."""
    if not text.isdecimal() or not text.isascii() or int(text) < ROUNDS_MIN:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of rounds from {ROUNDS_MIN} on")
    return int(text)


def _checked(exact: list[Return], rounds: int, seed: int) -> list[Row]:
    """Each exact figure with its simulation; None for a bet that was never offered in so few rounds."""
    simulated: dict[tuple[str, str], Simulated] = {}
    for game, rules in dict.fromkeys((row.game, row.rules) for row in exact):
        with _Progress(game, f"playing rounds ({rules})") as progress:
            played = simulate(game, rules, rounds, seed, progress)
        simulated |= {(bet, rules): result for bet, result in played.items()}
    return [(row, simulated.get((row.bet, row.rules))) for row in exact]


def _agrees(row: Return, simulated: Simulated) -> bool:
    return simulated.low <= row.return_percent <= simulated.high


def _json(found: list[Row]) -> str:
    lines = []
    for row, simulated in found:
        line = {**row._asdict(), "return_percent": round(row.return_percent, 6)}
        if simulated is not None:
            line |= {
                "simulated_percent": round(simulated.return_percent, 6),
                "interval": [round(simulated.low, 6), round(simulated.high, 6)],
                "rounds": simulated.rounds,
                "agrees": _agrees(row, simulated),
            }
        lines.append("  " + json.dumps(line))
    return "[\n" + ",\n".join(lines) + "\n]"


def _table(found: list[Row]) -> str:
    cells: list[tuple[str, ...]] = [("game", "bet", "rules", "return %")]
    cells += [(row.game, row.bet, row.rules, f"{row.return_percent:.6f}") for row, _ in found]
    if any(simulated is not None for _, simulated in found):
        more = [("simulated %", "interval", "rounds", "agrees")] + [_simulated(*pair) for pair in found]
        cells = [(*left, *right) for left, right in zip(cells, more, strict=True)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(f"{text:<{width}}" if at < _WORDS else f"{text:>{width}}" for at, (text, width) in
                  enumerate(zip(line, widths, strict=True)))
        for line in cells
    )  # fmt: skip


def _simulated(row: Return, found: Simulated | None) -> tuple[str, str, str, str]:
    if found is None:
        return "", "never offered", "0", ""
    interval = f"{found.low:.3f} to {found.high:.3f}"
    return f"{found.return_percent:.3f}", interval, str(found.rounds), "yes" if _agrees(row, found) else "NO"
