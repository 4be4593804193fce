"""The chapters of a page of rules that only Baccarat has."""

from __future__ import annotations

from fractions import Fraction

from controller.rules.describe_document import Grid, Rule, Section
from controller.rules.describe_probe import (
    banker_rows,
    dealing_order,
    naturals,
    numbers_in_words,
    place_in_words,
    player_draws_on,
)
from controller.rules.describe_terms import Terms
from controller.rules.options import GameOptions


def sections(options: GameOptions, terms: Terms | None) -> list[Section]:
    """Dealing, third cards, results and payouts."""
    return [_dealing(options), _tableau(), *([_payouts(terms)] if terms is not None else [])]


def _dealing(options: GameOptions) -> Section:
    order = [place_in_words(step.position or "").replace("player", "PLAYER") for step in dealing_order(options)]
    return Section(
        "dealing",
        "Dealing",
        (
            Rule("The first cards, in this order: " + "; ".join(order) + ".", "BAC-03"),
            Rule("Then PLAYER's third card if one is due, then BANKER's.", "BAC-03 BAC-04"),
        ),
    )


def _tableau() -> Section:
    draws, ends = player_draws_on(), naturals()
    stands = [value for value in range(10) if value not in draws and value not in ends]
    rows = tuple(
        (str(value), *("draws" if draw else "stands" for draw in thirds), "draws" if stood else "stands")
        for value, thirds, stood in banker_rows()
    )
    return Section(
        "tableau",
        "Third cards",
        (
            Rule(f"If either hand counts {numbers_in_words(ends)} with two cards, nobody draws.", "BAC-07"),
            Rule(f"PLAYER draws on {numbers_in_words(draws)} and stands on {numbers_in_words(stands)}.", "BAC-08"),
            Grid(
                "BANKER by his two cards (rows) and by what PLAYER's third card counts (columns)",
                ("BANKER", *map(str, range(10)), "PLAYER stood"),
                rows,
                "BAC-09 BAC-10",
            ),
            Rule("The higher hand wins; equal hands are a TIE.", "BAC-11"),
        ),
    )


def _payouts(terms: Terms) -> Section:
    stakes, whole = (10, 20, 30), 100
    rows = []
    for bet in terms.bets:
        won = terms.coup_return(bet, bet, whole)
        ends = [terms.coup_return(bet, winner, whole) for winner in terms.bets]
        rows.append((bet, f"{Fraction(won, whole) * 1.0:g} for 1", *map(str, ends)))
    plain = max(terms.coup_return(bet, bet, whole) for bet in ("PLAYER", "BANKER"))
    kept = Fraction(plain - terms.coup_return("BANKER", "BANKER", whole), plain - whole)
    floored = "; ".join(f"{stake} returns {terms.coup_return('BANKER', 'BANKER', stake)}" for stake in stakes)
    return Section(
        "payouts",
        "Results and payouts",
        (
            Grid(
                f"What a bet of {whole} returns, its stake included",
                ("bet", "a win returns", *(f"{winner} wins" if winner != "TIE" else "TIE" for winner in terms.bets)),
                tuple(rows),
                "BAC-12 BAC-13 BAC-14 A-21",
            ),
            Rule(f"The commission on a BANKER win is {float(100 * kept):g} %, none on a tie; what comes back is "
                 f"rounded down to the minor unit: {floored}.", "BAC-13 BAC-18"),
        ),
    )  # fmt: skip
