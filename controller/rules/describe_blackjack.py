"""The chapters of a page of rules that only the two blackjack games have."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from controller.rules.blackjack import outcome
from controller.rules.describe_document import Grid, Rule, Section
from controller.rules.describe_probe import (
    Hands,
    dealer_stands_from,
    dealing_order,
    line_in_words,
    natural_ends,
    place_in_words,
    ranks_in_words,
)
from controller.rules.describe_terms import Terms
from controller.rules.options import GameOptions
from controller.rules.scores import BLACKJACK
from controller.rules.side_bets import bets_of
from controller.rules.steps import Step

_WHOLE: Final = 100
_ODD: Final = 5
_SHOWN: Final = {"6": "6S", "10": "TS", "ace": "AS"}


def sections(options: GameOptions, terms: Terms | None) -> list[Section]:
    """Dealing, insurance, decisions, dealer, results and payouts."""
    return [
        _dealing(options),
        _insurance(options, terms),
        _decisions(options, terms),
        _split(options),
        _dealer(options, terms),
        _results(options, terms),
    ]


def _ids(options: GameOptions, boundless: str, classic: str) -> str:
    return boundless if options.game == "boundless" else classic


def _dealing(options: GameOptions) -> Section:
    order = [
        place_in_words(step.position or "") + (" (face down)" if step.hidden else "")
        for step in dealing_order(options)
    ]
    if options.game == "boundless":
        parts: tuple[Rule | Grid, ...] = (
            Rule("The first cards, face up unless it says otherwise: " + "; ".join(order) + ".", "BJS-04 BJS-05"),
            Rule("The face-down card is in nothing that is published or shown before it is turned.", "BJS-07"),
        )
    else:
        parts = (
            Rule("The first cards, all face up, with the first seats occupied: " + "; ".join(order) + ".",
                 "BJ7-10 BJ7-12 A-14"),
            Rule("Only occupied seats get cards. A seat completes its hands before the next one plays.",
                 "BJ7-11 BJ7-13 A-15"),
        )  # fmt: skip
    return Section("dealing", "Dealing", parts)


def _kinds(steps: list[Step]) -> set[str]:
    return {step.kind for step in steps}


def _insurance(options: GameOptions, terms: Terms | None) -> Section:
    hands = Hands(options)
    offered = ranks_in_words(hands.ups_with(lambda steps: "insurance" in _kinds(steps)))
    parts = [
        Rule(f"Insurance is offered when the dealer's up-card is: {offered}.", _ids(options, "BJS-22", "BJ7-26"))
    ]
    if terms is not None:
        stake = terms.insurance_stake(_WHOLE)
        odd = terms.insurance_stake(_ODD)
        behind = "" if options.game == "boundless" else " There is none for bets behind."
        parts += [
            Rule(f"It costs {Fraction(stake, _WHOLE)} of the main bet, rounded down to the minor unit: {odd} for a "
                 f"main bet of {_ODD}.{behind}", _ids(options, "BJS-22", "BJ7-26")),
            Rule(f"It pays {_odds(terms.insurance_return(stake), stake)} if the dealer has Blackjack and is lost "
                 "otherwise, whatever the hand's result.", _ids(options, "BJS-23 PAY-S6", "BJ7-26 BJ7-47")),
        ]  # fmt: skip
    peeks = hands.ups_with(lambda steps: "peek" in _kinds(steps))
    if peeks:
        parts.append(
            Rule(f"The table looks at the face-down card, before any decision, when the up-card is: "
                 f"{ranks_in_words(peeks)}. Only whether the dealer has Blackjack is published.",
                 "BJS-21 BJS-24 A-05")
        )  # fmt: skip
        if natural_ends(options):
            parts.append(Rule("If he has, the round ends at once without a further card.", "BJS-20"))
    else:
        parts.append(
            Rule("The dealer has no second card, and so no Blackjack, before all hands are complete.", "BJ7-40")
        )
    return Section("insurance", "Insurance and dealer Blackjack", tuple(parts))


def _decisions(options: GameOptions, terms: Terms | None) -> Section:
    hands = Hands(options)
    rows = [
        (f"first two cards {cards}, up-card {name}", ", ".join(hands.choices(up, *faces)))
        for cards, faces in (("9 7", ("9S", "7H")), ("8 8", ("8S", "8H")))
        for name, up in _SHOWN.items()
    ]
    rows.append(("three or more cards", ", ".join(hands.after_hit())))
    split = next(
        step for step in _after_split(hands.split("8S")) if step.kind == "decide" and step.line in _lines(options)
    )
    rows.append(("two cards of a split hand", ", ".join(split.options)))
    same, mixed = hands.splits()
    surrender = hands.ups_with(lambda steps: "surrender" in steps[-1].options)
    parts: list[Rule | Grid] = [
        Grid("Choices", ("hand", "may"), tuple(rows), _ids(options, "BJS-30 BJS-31 BJS-35", "BJ7-20 BJ7-21 BJ7-24")),
        Rule(f"Surrender ends the hand: on the first two cards only, against up-cards {ranks_in_words(surrender)}."
             f"{_surrendered(terms)}", _ids(options, "BJS-33 C-08", "BJ7-22 C-02 C-08")),
        Rule(f"Split: the first two cards if they are of one rank ({ranks_in_words(same)}) or two of "
             f"{ranks_in_words(mixed)}.", _ids(options, "BJS-36 A-07", "BJ7-23")),
        Rule("Double: exactly one more card.", _ids(options, "BJS-34 A-06", "BJ7-21 A-06")),
        Rule(f"A hand at {BLACKJACK} stands by itself.", _ids(options, "BJS-32 BJS-56", "BJ7-20 BJ7-28")),
    ]  # fmt: skip
    if terms is None:
        text = "The platform says for each window whether a card is drawn or the hand is split"
        parts.append(Rule(f"{text}; without its word the table holds."))
    else:
        parts += _by_the_book(options, terms)
    return Section("decisions", "Decisions", tuple(parts))


def _surrendered(terms: Terms | None) -> str:
    if terms is None:
        return ""
    return f" Of a stake of {_WHOLE}, {_WHOLE - terms.hand_return('surrender', _WHOLE)} are lost."


def _by_the_book(options: GameOptions, terms: Terms) -> list[Rule]:
    most = max(score for score in range(4, BLACKJACK) if terms.automatic(score) == "hit")
    low, high = terms.short("double", ["5S", "6H"]), terms.short("double", ["5S", "7H"])
    short = f"becomes {low} on 11 and {high} on 12" if low is not None else "is refused"
    doubled, split = (terms.extra(name, _WHOLE) for name in ("double", "split"))
    found = [
        Rule(f"On a main bet of {_WHOLE} a double costs {doubled} more and a split {split} more.",
             _ids(options, "BJS-34 BJS-36", "BJ7-21 BJ7-23")),
        Rule(f"A double or split that the balance does not cover {short}.", _ids(options, "BJS-39", "")),
        Rule(f"Who does not decide in {options.decision_s:g} s is played for in the rest of the round: hit on {most} "
             "or less, stand above, an ace counting 11 unless that busts.", _ids(options, "BJS-40 BJS-41", "BJ7-27")),
    ]  # fmt: skip
    if options.game == "classic":
        found.append(
            Rule(f"Bettors behind have {options.follow_s:g} s to follow a split or double with the same stake again; "
                 "no answer is a refusal, and the first stake stays on the first hand.", "BJ7-29 BJ7-30 A-16")
        )  # fmt: skip
    return found


def _lines(options: GameOptions) -> tuple[str, ...]:
    """The lines of a split hand."""
    return ("split/0", "split/1") if options.game == "boundless" else ("seat/1/hand/0", "seat/1/hand/1")


def _after_split(steps: list[Step]) -> list[Step]:
    """Steps of the players' hands after the window in which they were split."""
    split = next(n for n, step in enumerate(steps) if step.kind == "decide")
    return [
        step for step in steps[split + 1 :]
        if step.kind in ("draw", "decide") and not (step.position or step.line or "").startswith("dealer")
    ]  # fmt: skip


def _told(step: Step) -> str:
    if step.kind == "draw":
        return place_in_words(step.position or "")
    return f"decisions on {line_in_words(step.line or '')}"


def _split(options: GameOptions) -> Section:
    hands = Hands(options)
    eights = _after_split(hands.split("8S"))
    order = "; ".join(_told(step) for step in eights)
    again = any("split" in step.options for step in eights if step.line in _lines(options))
    aces = _after_split(hands.split("AS"))
    drawn = {line: sum((step.position or "").startswith(line) for step in aces) for line in _lines(options)}
    assert len(set(drawn.values())) == 1
    count = drawn[_lines(options)[0]]
    asked = any(step.kind == "decide" and step.line in _lines(options) for step in aces)
    others = ", another player hits the undivided hand once" if options.game == "boundless" else ""
    parts = [
        Rule(f"When two eights are split{others} and all then stand, this follows: {order}.",
             _ids(options, "BJS-50 BJS-54 BJS-55 A-08", "BJ7-23")),
        Rule(f"A split hand {'may be' if again else 'is never'} split again.", _ids(options, "BJS-38", "BJ7-23")),
        Rule(f"Split aces get {'one card' if count == 1 else f'{count} cards'} each"
             f"{', with decisions' if asked else ' and no decision'}.", _ids(options, "BJS-37", "BJ7-25")),
        Rule(_natural_split(), _ids(options, "BJS-13", "BJ7-25")),
    ]  # fmt: skip
    return Section("split", "Split hands", tuple(parts))


def _natural_split() -> str:
    counts = outcome(["AS", "KS"], ["TS", "5H", "6D"], split=True)
    return f"An ace and a ten-valued card of a split hand are 21, no Blackjack: against a dealer's 21 a {counts}."


def _dealer(options: GameOptions, terms: Terms | None) -> Section:
    hard, soft = dealer_stands_from(soft=False), dealer_stands_from(soft=True)
    parts = [
        Rule(f"The dealer draws on {hard - 1} or less and stands on {hard} or more; with an ace counted 11 he stands "
             f"on {soft} or more.", _ids(options, "BJS-61", "BJ7-41 A-17")),
    ]  # fmt: skip
    if options.game == "boundless":
        parts.insert(0, Rule("When all decisions are made the face-down card is turned.", "BJS-60"))
    else:
        parts.insert(0, Rule("When all hands are complete the dealer's second card is dealt, face up.", "BJ7-40"))
    if options.dealer_draws == "always":
        text = "He plays his hand out whether or not a bet depends on it."
    elif terms is None:
        text = "He draws only if the platform says so."
    else:
        whole = [table.name for table in bets_of(options.game) if table.decided_by == "dealer"]
        text = (
            "He draws only while a bet depends on it: a hand that is neither bust, nor surrendered, nor decided as "
        )
        text += "Blackjack"
        text += ", or insurance or Blackjack that his second card decides" if options.game == "classic" else ""
        text += "".join(f", or any {name} bet" for name in whole) + "."
    parts.append(Rule(text, _ids(options, "BJS-62 A-09", "BJ7-40 A-09")))
    return Section("dealer", "Dealer", tuple(parts))


#: Hands that show every result: what the player has, what the dealer has, whether the hand was split.
_CASES: Final = (
    ("Blackjack", "21 with three cards", ("AS", "KS"), ("TS", "5H", "6D"), False),
    ("Blackjack", "Blackjack", ("AS", "KS"), ("AH", "QD"), False),
    ("21 with three cards", "Blackjack", ("7S", "7H", "7D"), ("AH", "QD"), False),
    ("20", "19", ("TS", "KS"), ("TS", "9H"), False),
    ("18", "bust", ("TS", "8S"), ("TS", "6H", "9D"), False),
    ("18", "18", ("TS", "8S"), ("TH", "8H"), False),
    ("18", "19", ("TS", "8S"), ("TH", "9H"), False),
    ("bust", "bust", ("TS", "8S", "7S"), ("TH", "6H", "9D"), False),
    ("ace and king, split", "20", ("AS", "KS"), ("TS", "KH"), True),
)


def _results(options: GameOptions, terms: Terms | None) -> Section:
    ids = _ids(options, "BJS-63 BJS-64 BJS-65 BJS-66 PAY-S6", "BJ7-42 BJ7-43 BJ7-45 BJ7-47 C-10")
    rows = [
        (mine, theirs, outcome(list(hand), list(dealer), split=split)) for mine, theirs, hand, dealer, split in _CASES
    ]
    parts: list[Rule | Grid] = [
        Rule(
            "Blackjack is an ace and a ten-valued card, the hand's first two.", _ids(options, "BJS-12", "BJ7-42 A-18")
        ),
        Rule(f"Over {BLACKJACK} is bust.", _ids(options, "BJS-11", "BJ7-43")),
        Grid("Results", ("player has", "dealer has", "result"), tuple(rows), ids),
    ]
    if terms is None:
        return Section("results", "Results", tuple(parts))
    paid = []
    for result in terms.hand_results:
        back = terms.hand_return(result, _WHOLE)
        odds = _odds(back, _WHOLE) if back > _WHOLE else ""
        paid.append((result, odds, str(back), str(terms.hand_return(result, _ODD))))
    parts.append(
        Grid("What a hand returns, its stake included, rounded down to the minor unit",
             ("result", "pays", f"of {_WHOLE}", f"of {_ODD}"), tuple(paid),
             _ids(options, "BJS-33 PAY-S6", "BJ7-22 BJ7-45 BJ7-47"))
    )  # fmt: skip
    if options.game == "classic":
        kept = terms.first_stake_only()
        lost = "only the first stake is lost" if kept else "all stakes are lost"
        parts.append(
            Rule(f"If the dealer has Blackjack {lost}: of {_WHOLE} doubled to {2 * _WHOLE}, {kept} come back.",
                 "BJ7-44 A-19")
        )  # fmt: skip
    return Section("results", "Results and payouts", tuple(parts))


def _odds(back: int, stake: int) -> str:
    profit = Fraction(back - stake, stake)
    return f"{profit.numerator}:{profit.denominator}"
