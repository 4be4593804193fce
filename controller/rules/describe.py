"""The rules and paytables of a table as a page, generated from the objects that enforce them.

Figures are asked of procedures, scores, paytables and (through ``Terms``) the bet book; what a setting chooses is
worded by its value. Nothing here is a second copy of a number. ``controller.rules.describe_document`` has the forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controller.cards import DECKS, FACES, RANKS, SHOE_SIZE
from controller.rules import describe_baccarat as baccarat
from controller.rules import describe_blackjack as blackjack
from controller.rules.describe_document import Document, Grid, Rule, Section
from controller.rules.describe_probe import ranks_in_words
from controller.rules.describe_supervision import errors
from controller.rules.describe_terms import Terms
from controller.rules.options import BOOK_ONLY, GameOptions
from controller.rules.scores import BACCARAT_VALUE, BLACKJACK_VALUE, baccarat_value, blackjack_score, burn_count
from controller.rules.side_bets import PAYTABLES, bets_of

NAMES: Final = {"boundless": "Boundless Blackjack", "classic": "Blackjack with seats", "baccarat": "Baccarat"}
#: Settings that no part of a game reads, beside those that a table file of it may not change.
UNUSED: Final[Mapping[str, tuple[str, ...]]] = {
    "boundless": ("seats", "shuffle", "obo", "idle_rounds_to_vacate", "follow_s"),
    "classic": ("split_order", "shuffle", "peek_delay_s"),
    "baccarat": (
        "split_order", "split_second", "dealer_draws", "surrender_against", "double_after_split", "seats", "obo",
        "idle_rounds_to_vacate", "follow_s", "insurance_s", "decision_s", "peek_delay_s",
    ),
}  # fmt: skip
_DECIDING: Final = {"player": "the first two cards", "player_and_up": "the first two cards and the dealer's up-card",
                    "dealer": "the dealer's whole hand"}  # fmt: skip


def describe(options: GameOptions, terms: Terms | None, *, of: str = "", digest: str = "") -> Document:
    """The page of a table with these options. ``terms``: of the table's own book, None where a platform keeps the
    bets. ``of`` names the table, ``digest`` is that of its whole configuration."""
    game = NAMES[options.game]
    intro = [
        "Generated from the program that enforces these rules. The marks in brackets are the numbers of the rules."
    ]
    if digest:
        intro.append(
            f"Configuration digest {digest}: the one in the journal of every start under this configuration."
        )
    else:
        intro.append("These are the game's own settings; a table file may choose others.")
    sections = [_shoe(options), _burn(options), _betting(options, terms)]
    if options.game == "baccarat":
        sections += baccarat.sections(options, terms)
    else:
        sections += blackjack.sections(options, terms)
        sections += [_side_bets(options)] if terms is not None else []
    sections += [errors(options, booked=terms is not None), _times(options, terms), _settings(options)]
    return Document(f"Rules of {game}{f', table {of}' if of else ''}", tuple(intro), tuple(sections))


# --- shoe and burn -----------------------------------------------------------------------------------------------

_LAST_ROUND: Final = {
    "next": "If the cut card comes out during a round, one more round is played on the shoe. In place of a round's "
    "first card it makes that round the last one.",
    "current": "The round in which the cut card comes out is the last one on the shoe.",
}


def _shoe(options: GameOptions) -> Section:
    parts: list[Rule | Grid] = [
        Rule(f"A shoe holds {DECKS} decks of {len(FACES)} cards without jokers, {SHOE_SIZE} cards.", "SHOE-01"),
        Rule("A card counts only if it was drawn from the shoe.", "SHOE-02"),
    ]
    if options.shuffle == "every_round":
        text = f"A machine shuffles all {SHOE_SIZE} cards before each round; no cut card is used."
        parts.append(Rule(text, "BAC-02 C-01"))
    else:
        parts += [
            Rule(_LAST_ROUND[options.last_round_policy], "SHOE-05 A-01"),
            Rule("Between two rounds it makes the coming round the last one. It is never dealt.", "SHOE-05 A-01"),
            Rule(f"After the last round a new shoe of {SHOE_SIZE} shuffled cards is put in.", "SHOE-06"),
            Rule(f"A round opens only if at least {options.reserve_cards} cards are left; otherwise the shoe ends."),
        ]
    parts.append(_values(options))
    if options.game == "baccarat":
        example = ["9S", "9H", "9D"]
        text = f"A hand counts the last digit of its sum: 9 + 9 + 9 counts {baccarat_value(example)}."
        parts.append(Rule(text, "BAC-06"))
    else:
        parts.append(Rule("Suits count for side bets only.", "SHOE-04"))
    return Section("shoe", "Shoe and cut card", tuple(parts))


def _values(options: GameOptions) -> Grid:
    plain = options.game == "baccarat"
    values = BACCARAT_VALUE if plain else BLACKJACK_VALUE
    worth: dict[str, str] = {}
    for rank in RANKS:
        name = str(values[rank])
        alone = blackjack_score([rank + "S"]).total
        if not plain and alone != values[rank]:
            name = f"{name} or {alone}, whichever is better"
        worth.setdefault(name, "")
        worth[name] += rank
    rows = tuple((ranks_in_words(ranks), value) for value, ranks in worth.items())
    return Grid("What cards count", ("card", "counts"), rows, "BAC-05" if plain else "SHOE-03 BJS-10")


def _burn(options: GameOptions) -> Section:
    unseen = Rule("No face of a card burned face down is published before the shoe has ended.", "SHOE-11")
    early = Rule("Betting on a shoe's first round opens only when exactly these cards have been drawn.", "SHOE-10")
    parts: tuple[Rule | Grid, ...]
    if options.burn == "none":
        parts = (Rule("No card is burned.", "SHOE-12"),)
    elif options.burn == "one":
        parts = (Rule("One card of a new shoe is burned face down.", "SHOE-12"), early, unseen)
    else:
        counts: dict[int, str] = {}
        for rank in RANKS:
            counts[burn_count(rank + "S")] = counts.get(burn_count(rank + "S"), "") + rank
        rows = tuple((ranks_in_words(ranks), str(count)) for count, ranks in counts.items())
        parts = (
            Rule("The first card of a new shoe is drawn and exposed; it says how many more are burned face down.",
                 "SHOE-07 SHOE-09 A-02"),
            Grid("Cards burned by the exposed card, itself not among them", ("exposed card", "burned"), rows,
                 "SHOE-08"),
            early,
            unseen,
        )  # fmt: skip
    return Section("burn", "Burn", parts)


# --- betting -----------------------------------------------------------------------------------------------------


def _betting(options: GameOptions, terms: Terms | None) -> Section:
    if terms is None:
        parts: list[Rule | Grid] = [
            Rule("A platform keeps the bets, their limits, insurance and payouts: this table takes no bet and pays "
                 'none. It states hands and results (decisions = "platform").'),
        ]  # fmt: skip
        if options.game == "classic":
            parts.append(Rule(f"When betting closes the platform names the occupied seats, of 1 to {options.seats}.",
                              "BJ7-48"))  # fmt: skip
        return Section("betting", "Betting", tuple(parts))
    names = {table.bet: table.name for table in bets_of(options.game)}
    names["main"] = "Main bet"
    rows = []
    for bet in terms.bets:
        low, high = terms.limits(bet)
        table = PAYTABLES.get(bet)
        rounds = "every round" if table is None or table.rounds is None else f"the first {table.rounds} of a shoe"
        rows.append((bet, names.get(bet, bet), f"{low or 1:,}", f"{high or terms.stake_max:,}", rounds))
    main_rules = {"boundless": _boundless_bets, "classic": _classic_bets, "baccarat": _baccarat_bets}[options.game]
    return Section(
        "betting",
        "Betting",
        (
            Rule('The table keeps the bets (decisions = "book"). Stakes are whole minor units of the currency.'),
            Grid("Bets and limits in minor units", ("bet", "name", "least", "most", "offered in"), tuple(rows),
                 "SHOE-13 A-04" if any(t.rounds for t in bets_of(options.game)) else ""),
            *main_rules(options),
            Rule(f"Betting is open for {options.betting_s:g} s. A bet once taken is neither changed nor withdrawn."),
        ),
    )  # fmt: skip


def _boundless_bets(options: GameOptions) -> tuple[Rule, ...]:  # noqa: ARG001 - one form for all games
    return (
        Rule("Any number of players play one shared hand; each may place each bet once a round.", "BJS-03"),
        Rule("Side bets need no main bet. Only players with a main bet get decisions.", "BJS-01 BJS-02 BJS-06"),
    )


def _classic_bets(options: GameOptions) -> tuple[Rule, ...]:
    rounds = options.idle_rounds_to_vacate
    inaction = "one round" if rounds == 1 else f"{rounds} rounds in a row"
    return (
        Rule(f"Seats are numbered 1 to {options.seats}. A player takes at most one, with a main bet there; a seat "
             "has one player.", "BJ7-48 BJ7-02 BJ7-11"),
        Rule("Nobody takes a seat or bets behind one during a round.", "BJ7-03"),
        Rule("The Pair bet on a seat needs a main bet there by the same player first.", "BJ7-04 BJ7-08"),
        Rule("A player without a seat may bet behind any occupied seats; the result is that of the hand, and the "
             "seated player alone decides. Nobody plays at a seat and bets behind in one round.",
             "BJ7-06 BJ7-07 C-04"),
        Rule(f"After {inaction} in which a player could have decided and never did, the player leaves the seat.",
             "BJ7-05 A-13"),
    )  # fmt: skip


def _baccarat_bets(options: GameOptions) -> tuple[Rule, ...]:  # noqa: ARG001 - one form for all games
    return (Rule("A player may place each bet once a round.", "BAC-01"),)


def _side_bets(options: GameOptions) -> Section:
    parts: list[Rule | Grid] = [
        Rule("Odds are profit to stake; the stake comes back, too. Only the highest row that matches pays.")
    ]
    for table in bets_of(options.game):
        limit = "" if table.rounds is None else f"; offered in the first {table.rounds} rounds of a shoe"
        caption = f"{table.name} ({table.bet}): {_DECIDING[table.decided_by]}{limit}"
        rows = tuple((row.name, f"{row.odds}:1") for row in table.rows)
        parts.append(Grid(caption, ("result", "odds"), rows, table.rule + (" SHOE-13" if table.rounds else "")))
    return Section("side-bets", "Side bets", tuple(parts))


# --- errors, times, settings -------------------------------------------------------------------------------------


def _times(options: GameOptions, terms: Terms | None) -> Section:
    book, game = terms is not None, options.game
    close = "betting closes"
    if game == "classic":
        close = "betting closes; with no seat taken it stays open as long again" if book else (
            "the table holds until the platform has named the seats"
        )  # fmt: skip
    ends = {
        "betting_s": ("betting", close),
        "insurance_s": ("insurance", "no more insurance"),
        "peek_delay_s": ("from the end of insurance, or the deal, to the answer of the peek, for yes and no alike",
                         "the answer is published"),
        "decision_s": ("a decision", "the table plays for the player" if book else "the table holds"),
        "follow_s": ("following a split or double behind a seat", "declined"),
        "auto_void_after_s": ("an incident or a lost device", "the round is void"),
        "standby_s": ("a shoe that reports its stand-by, after the result", "an incident"),
    }  # fmt: skip
    rows = []
    for name, (what, end) in ends.items():
        if name in UNUSED[game] or (not book and name in BOOK_ONLY):
            continue
        seconds: float = getattr(options, name)
        never = name == "auto_void_after_s" and not seconds
        rows.append((what, "no limit" if never else f"{seconds:g} s", "" if never else end))
    return Section("times", "Times", (Grid("Windows", ("for", "time", "when it ends"), tuple(rows), "A-25"),))


def _settings(options: GameOptions) -> Section:
    unread = UNUSED[options.game] + (() if options.decisions == "book" else BOOK_ONLY)
    unread += ("reserve",) if options.shuffle == "every_round" else ()
    rows = tuple(
        (name, _value(options.reserve_cards if name == "reserve" else getattr(options, name)))
        for name in options.__struct_fields__
        if name not in unread
    )
    return Section("settings", "Settings in force", (Grid("[game] of the table file", ("setting", "value"), rows),))


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
