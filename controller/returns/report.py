"""The returns of one game, bet by bet."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple

from controller.returns import baccarat, blackjack, sides
from controller.returns.blackjack import Progress
from controller.rules.side_bets import bets_of

GAMES: Final = ("boundless", "classic", "baccarat")


class Return(NamedTuple):
    """What a bet returns on average, in percent of its stake.

    ``rules`` is ``text``, or ``house_model`` for the reading that gives the figures the games claim (C-08).
    """

    game: str
    bet: str
    rules: str
    return_percent: float


def returns(game: str, progress: Progress | None = None) -> list[Return]:
    """Every bet of ``game``: main bets, insurance, side bets. Raises ``ValueError`` for an unknown game.

    The first blackjack game takes some ten seconds, the other then next to nothing. ``progress`` is called with work
    done and work in all.
    """
    if game not in GAMES:
        raise ValueError(f"{game!r} is not a game: {', '.join(GAMES)}")
    if game == "baccarat":
        return [_percent(game, bet, "text", baccarat.bet_return(bet)) for bet in baccarat.PAID]
    found = [
        _percent(game, "main", rules, blackjack.main_return(model, progress))
        for (of, rules), model in blackjack.MODELS.items()
        if of == game
    ]
    found.append(_percent(game, "insurance", "text", blackjack.insurance_return()))
    found += [_percent(game, table.bet, "text", sides.bet_return(table.bet)) for table in bets_of(game)]
    return found


def _percent(game: str, bet: str, rules: str, returned: Fraction) -> Return:
    return Return(game, bet, rules, float(100 * returned))
