"""Exact returns: BAC-15, C-08, and the chances printed with the rules."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import pytest

from controller.returns import GAMES, Return, baccarat, blackjack, dealer, returns, sides
from controller.returns.composition import EMPTY, FACE, FULL, VALUES, Hand, add, left, orders
from controller.rules import boundless
from controller.rules.options import GameOptions
from controller.rules.scores import DEALER_STANDS, blackjack_score

# The first blackjack figure takes some ten seconds on one free core.
SLOW = pytest.mark.timeout(300)


@cache
def _percent(game: str) -> dict[tuple[str, str], float]:
    return {(row.bet, row.rules): row.return_percent for row in returns(game)}


@pytest.mark.parametrize(("bet", "percent"), [("BANKER", 98.94), ("PLAYER", 98.76), ("TIE", 85.64)])
def test_BAC_15_returns(bet: str, percent: float) -> None:
    assert round(_percent("baccarat")[bet, "text"], 2) == percent


def test_BAC_15_chances() -> None:
    chances = {winner: round(float(chance), 7) for winner, chance in baccarat.outcome_chances().items()}
    assert chances == {"player": 0.4462466, "banker": 0.4585974, "tie": 0.0951560}
    assert sum(baccarat.outcome_chances().values()) == 1


@SLOW
def test_C_08_main_bet_by_the_text_and_by_the_house_model() -> None:
    assert round(_percent("boundless")["main", "text"], 2) == 99.52
    assert round(_percent("boundless")["main", "house_model"], 2) == 99.46
    assert round(_percent("classic")["main", "text"], 2) == 99.29
    assert round(_percent("classic")["main", "house_model"], 2) == 99.54


@SLOW
def test_C_08_main_bet_to_the_digits_printed_with_the_rules() -> None:
    assert round(_percent("boundless")["main", "text"], 3) == 99.517
    assert round(_percent("boundless")["main", "house_model"], 4) == 99.4636
    assert round(_percent("classic")["main", "text"], 3) == 99.287
    assert round(_percent("classic")["main", "house_model"], 4) == 99.5389
    no_das, das = GameOptions(game="boundless", double_after_split=False), GameOptions(game="boundless")
    assert round(float(100 * blackjack.main_return(blackjack.MainRules(no_das, hole_card=True))), 3) == 99.395
    assert round(float(100 * blackjack.main_return(blackjack.MainRules(das, hole_card=False))), 3) == 99.407


@SLOW
@pytest.mark.parametrize(
    ("game", "bet", "share"),
    [
        ("boundless", "pairs", 0.96627),
        ("boundless", "bust_bonus", 0.93816),
        ("boundless", "lucky_trio", 0.94722),
        ("boundless", "poker_trio", 0.96296),
        ("classic", "pair", 0.89639),
    ],
)
def test_PAY_S_BJ7_46_returns(game: str, bet: str, share: float) -> None:
    assert round(float(sides.bet_return(bet)), 5) == share
    assert round(_percent(game)[bet, "text"] / 100, 5) == share


def test_PAY_S2_dealer_busts_by_number_of_cards() -> None:
    chances = sides.bust_chances()
    printed = {3: 0.1730149, 4: 0.0871627, 5: 0.0191393, 6: 0.0023366, 7: 0.0001768, 8: 0.0000086}
    assert {cards: round(float(chances[cards]), 7) for cards in printed} == printed
    assert round(float(sum(chances.values()) - sum(chances[cards] for cards in printed)), 7) == 0.0000003
    assert round(float(sum(chances.values())), 7) == 0.2818391


def test_BJS_22_insurance_never_pays_on_a_full_shoe() -> None:
    """Not even for the hand that leaves the most tens unseen."""
    unseen = left(add(add(add(EMPTY, 1), 2), 3))
    assert blackjack.insurance_return() == Fraction(3 * 128, 415)
    assert blackjack.insurance_return() < Fraction(3 * unseen[-1], sum(unseen)) < 1


def test_BJS_20_BJ7_44_dealer_blackjack_is_the_only_two_card_end_at_21() -> None:
    naturals = sum(ends[dealer.NATURAL] for ends in dealer.outcomes(EMPTY))
    assert Fraction(naturals, orders(0, dealer.longest())) == Fraction(2 * 32 * 128, 416 * 415)


@pytest.mark.parametrize("up", [1, 6, 10])
def test_BJS_61_dealer_outcomes_equal_dealing_card_by_card(up: int) -> None:
    removed = add(add(add(EMPTY, 10), 6), 6)
    unseen = list(left(removed))
    found: dict[int, Fraction] = dict.fromkeys(range(dealer.OUTCOMES), Fraction(0))

    def deal(cards: list[str], chance: Fraction) -> None:
        total = blackjack_score(cards).total
        if len(cards) > 1 and total >= DEALER_STANDS:
            natural = len(cards) == 2 and total == 21
            end = dealer.NATURAL if natural else dealer.BUST if total > 21 else total - DEALER_STANDS
            found[end] += chance
            return
        size = sum(unseen)
        for value in VALUES if cards else (up,):
            have = unseen[value - 1]
            unseen[value - 1] -= 1
            deal([*cards, FACE[value - 1]], chance * Fraction(have, size))
            unseen[value - 1] += 1

    deal([], Fraction(1))
    of = orders(sum(removed), dealer.longest())
    assert [Fraction(count, of) for count in dealer.outcomes(removed)[up - 1]] == list(found.values())


def test_BJS_64_to_66_a_hand_that_stands_is_paid_as_the_table_pays_it() -> None:
    """Win, push and loss are those of the game's own ``outcome``."""
    gone = add(add(EMPTY, 10), 8)
    for total, player in ((17, ["TS", "7S"]), (18, ["TS", "8S"]), (21, ["TS", "8S", "3S"])):
        paid = [
            {"win": 2, "push": 1, "lose": 0}[boundless.outcome(player, ["TH", *end], split=False)]
            for end in (["7H"], ["8H"], ["9H"], ["TH"], ["5H", "6H"], ["6H", "TH"])
        ]
        assert paid == [*(2 * (n < total) + (n == total) for n in dealer.TOTALS), 2]
    assert sum(map(sum, dealer.outcomes(gone))) == orders(2, dealer.longest())


def test_SHOE_01_composition_is_that_of_eight_decks() -> None:
    assert FULL == (32,) * 9 + (128,)
    hand: Hand = add(add(EMPTY, 10), 10)
    assert left(hand) == (32,) * 9 + (126,)


def test_progress_runs_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blackjack, "_hands", lambda: (add(add(EMPTY, 9), 8), add(add(EMPTY, 10), 10)))
    monkeypatch.setattr(dealer, "outcomes", lambda _: ())
    seen: list[tuple[int, int]] = []
    blackjack._prepare(lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == list(range(1, seen[0][1] + 1))
    assert {total for _, total in seen} == {len(seen)}


def test_every_bet_of_baccarat_is_reported_in_order() -> None:
    assert [(row.game, row.bet, row.rules) for row in returns("baccarat")] == [
        ("baccarat", bet, "text") for bet in ("BANKER", "PLAYER", "TIE")
    ]
    assert Return._fields == ("game", "bet", "rules", "return_percent")
    assert GAMES == ("boundless", "classic", "baccarat")


def test_an_unknown_game_is_refused() -> None:
    with pytest.raises(ValueError, match="'poker' is not a game: boundless, classic, baccarat"):
        returns("poker")
