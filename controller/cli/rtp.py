"""``dealerd rtp``: the exact return of every bet."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import TYPE_CHECKING, Final

from controller.returns import GAMES, Return, returns

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

examples:
  dealerd rtp                     all three games
  dealerd rtp baccarat --json     one game as JSON: game, bet, rules, return_percent
"""
_QUIET_S: Final = 2.0
_TTY_EVERY_S: Final = 0.2


class _Progress:
    """Percent done on standard error: at once on a terminal, elsewhere a line each time two seconds have passed."""

    def __init__(self, game: str) -> None:
        self._game = game
        self._tty = sys.stderr.isatty()
        self._next = time.monotonic() + (0 if self._tty else _QUIET_S)
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (_TTY_EVERY_S if self._tty else _QUIET_S)
        self._shown = True
        text = f"{self._game}: counting deals, {100 * done // total} %"
        print("\r" + text if self._tty else text, end="" if self._tty else "\n", file=sys.stderr, flush=True)

    def close(self) -> None:
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
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the returns of ``args.game``, of every game if it is None. Returns the exit status."""
    found: list[Return] = []
    for game in GAMES if args.game is None else (args.game,):
        progress = _Progress(game)
        try:
            found += returns(game, progress)
        finally:
            progress.close()
    print(_json(found) if args.json else _table(found))
    return 0


def _json(found: list[Return]) -> str:
    rows = [{**row._asdict(), "return_percent": round(row.return_percent, 6)} for row in found]
    return "[\n" + ",\n".join("  " + json.dumps(row) for row in rows) + "\n]"


def _table(found: list[Return]) -> str:
    cells = [("game", "bet", "rules", "return %")]
    cells += [(row.game, row.bet, row.rules, f"{row.return_percent:.6f}") for row in found]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        f"{game:<{widths[0]}}  {bet:<{widths[1]}}  {rules:<{widths[2]}}  {percent:>{widths[3]}}"
        for game, bet, rules, percent in cells
    )
