"""The book against a plain reference that keeps every player's cards and cents one by one, on random rounds.

The reference knows nothing of lines, groups or stories: each hand is a list of cards that grows when its player asks
for one. Rounds are voided at any step, results corrected, and money is counted after every step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from controller.book.rows import BetRequest
from controller.cards import shuffled_shoe

PLAYERS = [f"P{n}" for n in range(7)]


def total(cards: Sequence[str]) -> int:
    points = [11 if c[0] == "A" else 10 if c[0] in "TJQK" else int(c[0]) for c in cards]
    while sum(points) > 21 and 11 in points:
        points[points.index(11)] = 1
    return sum(points)


class Owned:
    """One hand of one player."""

    def __init__(self, owner: str, line: str, cards: list[str], stake: int) -> None:
        self.owner, self.line, self.cards, self.stake = owner, line, cards, stake
        self.done = self.doubled = self.gone = self.split = self.waits = False

    def returned(self, dealer: Sequence[str]) -> int:
        mine, theirs = total(self.cards), total(dealer)
        natural = mine == 21 and len(self.cards) == 2 and not self.split
        dealt = theirs == 21 and len(dealer) == 2
        if self.gone:
            return self.stake // 2
        if mine > 21 or (dealt and not natural):
            return 0
        if natural:
            return self.stake if dealt else int(self.stake + Fraction(3, 2) * self.stake)
        if theirs > 21 or mine > theirs:
            return 2 * self.stake
        return self.stake if mine == theirs else 0


class Model:
    """What every player should have, kept beside the book from the same choices."""

    def __init__(self, seated: dict[str, tuple[str, int]]) -> None:
        self.seated = seated  # player: (first line, stake)
        self.hands: list[Owned] = []
        self.asleep: set[str] = set()
        self.dealt: dict[str, int] = {}

    def see(self, felt: Any) -> None:
        """Give the cards dealt since to whoever asked for them."""
        for owner, (line, stake) in self.seated.items():
            cards = felt.line(line)
            if len(cards) == 2 and line not in self.dealt:
                self.hands.append(Owned(owner, line, list(cards), stake))
        for line in {hand.line for hand in self.hands} | {line for line, _ in self.seated.values()}:
            cards = felt.line(line)
            for hand in self.hands:
                if hand.line == line and hand.waits and len(cards) > len(hand.cards):
                    hand.cards.append(cards[len(hand.cards)])
                    hand.waits = False
            if len(cards) >= 2:
                self.dealt[line] = len(cards)

    def choose(self, line: str, choices: dict[str, str], split_lines: tuple[str, str]) -> None:
        """A window is locked: everybody on the line did something."""
        for hand in [h for h in self.hands if h.line == line and not h.done]:
            effect = choices.get(hand.owner)
            if effect is None:
                self.asleep.add(hand.owner)
                effect = "hit" if total(hand.cards) <= 11 else "stand"
            hand.done = effect in ("stand", "double", "surrender")
            hand.gone = effect == "surrender"
            hand.waits = effect in ("hit", "double")
            if effect == "double":
                hand.doubled, hand.stake = True, 2 * hand.stake
            if effect == "split":
                self.hands.remove(hand)
                for half, card in zip(split_lines, hand.cards, strict=True):
                    new = Owned(hand.owner, half, [card], hand.stake)
                    new.split = new.waits = True
                    self.hands.append(new)


def choosing(people: type[Any], rng: Random, model: Model, splits: Any) -> Any:
    """Choices of everybody, and the model that follows them."""

    class Acting(people):  # type: ignore[misc]
        def __init__(self) -> None:
            self.choices: dict[str, str] = {}
            self.seen: dict[str, int] = {}

        def insure(self) -> list[str]:
            return [player for player in PLAYERS if rng.random() < 0.4]

        def window(self, felt: Any, line: str, cards: Sequence[str], legal: Sequence[str]) -> None:  # noqa: ARG002
            model.see(felt)
            self.choices = {}

        def decide(self, line: str, n: int, legal: Sequence[str]) -> list[tuple[str, str]]:  # noqa: ARG002
            asked = [(player, rng.choice([*legal, *legal, "split"])) for player in PLAYERS if rng.random() < 0.85]
            return rng.sample(asked, len(asked))

        def locked(self, felt: Any, line: str, n: int) -> None:
            for player in PLAYERS:
                entry = felt.book.entries.get(player)
                decisions = entry.decisions if entry else ()
                for decision in decisions[self.seen.get(player, 0) :]:
                    assert (decision.line, decision.n) == (line, n)
                    self.choices[player] = decision.effect
                self.seen[player] = len(decisions)
            model.choose(line, self.choices, splits(line))

        def follow(self, line: str, kind: str) -> list[tuple[str, bool]]:  # noqa: ARG002
            return [(player, rng.random() < 0.7) for player in PLAYERS if rng.random() < 0.8]

    return Acting()


def cards_of(rng: Random) -> Iterator[str]:
    """A shoe with many pairs, aces and tens."""
    shoe = shuffled_shoe(rng)
    while True:
        yield rng.choice(["AS", "AD", "TH", "KC", "8S", "8D"]) if rng.random() < 0.35 else shoe.pop()


def play(table: Any, rng: Random, acting: Any, model: Model) -> bool:
    """Play to the end; False if the round was voided on the way."""
    source = cards_of(rng)
    table.close()
    stop = rng.randrange(60) if rng.random() < 0.3 else None
    for number in range(400):
        if number == stop:
            table.void()
            return False
        if table.step(source, acting):
            model.see(table)
            return True
    raise AssertionError("the round does not end")


def expected_bets(paid: Any) -> int:
    """Side bets are checked against the vectors; here they are only added up."""
    return sum(b.returned for b in paid.bets) + (paid.insurance.returned if paid.insurance else 0)


def check_groups(settlement: Any, rows: Iterable[Any]) -> None:
    """The groups are the rows put together, and nothing else."""
    hands: dict[Any, list[int]] = {}
    bets: dict[Any, list[int]] = {}
    for row in rows:
        for hand in row.hands:
            key = (hand.line, hand.length, hand.doubled, hand.result, hand.behind)
            hands[key] = [a + b for a, b in zip(hands.get(key, [0] * 3), [1, hand.stake, hand.returned], strict=True)]
        for bet in [*row.bets, *([row.insurance] if row.insurance else [])]:
            key = (bet.bet, bet.box, bet.result, bet.odds)
            bets[key] = [a + b for a, b in zip(bets.get(key, [0] * 3), [1, bet.stake, bet.returned], strict=True)]
    found = {(g.line, g.length, g.doubled, g.result, g.behind): [g.count, g.stake, g.returned]
             for g in settlement.groups}  # fmt: skip
    assert found == hands
    assert {(g.bet, g.box, g.result, g.odds): [g.count, g.stake, g.returned] for g in settlement.bets} == bets


def settle_and_correct(table: Any, rng: Random, hands_of: Any, before: dict[str, int]) -> None:
    """Settle, compare with the model, then correct the dealer's hand and compare again."""
    cards = table.cards()
    for _ in range(rng.randrange(1, 4)):
        settlement = table.do(lambda book, cards=cards: book.settle(cards))
        rows = {row.player: row for row in table.post(rng.randrange(1, 5))}
        assert settlement.stake == sum(row.stake for row in rows.values())
        assert settlement.returned == sum(row.returned for row in rows.values())
        check_groups(settlement, rows.values())
        for player, row in rows.items():
            mine = hands_of(player, cards["dealer"])
            assert sorted(h.returned for h in row.hands) == sorted(mine)
            seated = any(not bet.behind for bet in table.book.entries.get(player).bets)
            assert not any(h.behind for h in row.hands) if seated else all(h.behind for h in row.hands)
            assert row.returned == sum(mine) + expected_bets(row)
            assert table.balance(player) == before[player] - row.stake + row.returned
        last = rng.choice(["2S", "TD", "AH", "7C"])
        cards = {**cards, "dealer": [*cards["dealer"][:-1], last]}


def bet_boundless(rng: Random) -> list[BetRequest]:
    found = [BetRequest(p, bet, rng.randrange(-1, 40)) for p in PLAYERS for bet in
             ("main", "pairs", "bust_bonus", "lucky_trio", "poker_trio") if rng.random() < 0.6]  # fmt: skip
    return rng.sample(found, len(found))


@given(seed=st.integers(0, 2**32))
def test_boundless(felt: type[Any], people: type[Any], seed: int) -> None:
    rng = Random(seed)
    table = felt(
        "boundless",
        split_order=rng.choice(["main_first", "split_first"]),
        split_second=rng.choice(["both", "as_played"]),
        dealer_draws=rng.choice(["needed", "always"]),
        surrender_against=rng.choice(["two_to_nine", "two_to_ten"]),
        double_after_split=rng.random() < 0.7,
    )
    for _ in range(3):
        before = {player: rng.randrange(200) for player in PLAYERS}
        table.fund(**before)
        table.open()
        table.bet(*bet_boundless(rng))
        bets = {(b.player, b.bet): b.stake for _, e in table.book.entries.items() for b in e.bets}
        model = Model({p: ("main", stake) for (p, bet), stake in bets.items() if bet == "main"})
        acting = choosing(people, rng, model, lambda _line: ("split/0", "split/1"))
        if not play(table, rng, acting, model):
            assert {player: table.balance(player) for player in PLAYERS} == before
            continue
        settle_and_correct(
            table, rng, lambda p, dealer, m=model: [h.returned(dealer) for h in m.hands if h.owner == p], before
        )


def bet_classic(rng: Random, seats: int) -> list[BetRequest]:
    found = []
    for player in PLAYERS:
        seat = rng.randrange(1, seats + 2)
        if rng.random() < 0.6:
            found += [BetRequest(player, bet, rng.randrange(0, 40), seat) for bet in ("main", "pair")]
        else:
            boxes = rng.sample(range(1, seats + 1), min(2, seats))
            found += [BetRequest(player, bet, rng.randrange(1, 40), box, True) for box in boxes for bet in
                      ("main", "pair")]  # fmt: skip
    return found


@given(seed=st.integers(0, 2**32))
def test_classic(felt: type[Any], people: type[Any], seed: int) -> None:
    rng = Random(seed)
    seats = rng.randrange(1, 5)
    table = felt(
        "classic",
        seats=seats,
        split_second=rng.choice(["both", "as_played"]),
        dealer_draws=rng.choice(["needed", "always"]),
        double_after_split=rng.random() < 0.7,
    )
    for _ in range(3):
        before = {player: rng.randrange(200) for player in PLAYERS}
        table.fund(**before)
        table.open()
        table.bet(*bet_classic(rng, seats))
        stakes = {seat: table.book.entries.get(p).bets[0].stake for seat, p in table.book.seats.items()}
        model = Model({p: (f"seat/{seat}/hand/0", stakes[seat]) for seat, p in table.book.seats.items()})
        acting = choosing(people, rng, model, lambda line: (line, line[:-1] + "1"))
        if not play(table, rng, acting, model):
            assert {player: table.balance(player) for player in PLAYERS} == before
            continue

        def hands_of(player: str, dealer: Sequence[str], model: Model = model) -> list[int]:
            entry = table.book.entries.get(player)
            own = [h.returned(dealer) for h in model.hands if h.owner == player]
            return own + [back for bet in entry.bets if bet.behind and bet.bet == "main" for back in
                          backing(bet, entry, dealer, model, table.book.seats)]  # fmt: skip

        settle_and_correct(table, rng, hands_of, before)


def backing(bet: Any, entry: Any, dealer: Sequence[str], model: Model, seats: dict[int, str]) -> list[int]:
    """What a bet behind returns: the seat's hands with the bettor's own stakes."""
    answers = {(f.line, f.kind): f.extra > 0 for f in entry.follows}
    found = []
    for hand in [h for h in model.hands if h.owner == seats[bet.box]]:
        if hand.line.endswith("/hand/1") and not answers.get((hand.line[:-1] + "0", "split")):
            continue
        copy = Owned(entry, hand.line, hand.cards, bet.stake * (2 if answers.get((hand.line, "double")) else 1))
        copy.gone, copy.split = hand.gone, hand.split
        found.append(copy.returned(dealer))
    return found


@given(seed=st.integers(0, 2**32))
def test_baccarat(felt: type[Any], seed: int) -> None:
    rng = Random(seed)
    table = felt("baccarat")
    table.fund(**dict.fromkeys(PLAYERS, 1000))
    for _ in range(3):
        table.open()
        table.bet(*[BetRequest(p, b, rng.randrange(0, 99)) for p in PLAYERS for b in ("PLAYER", "BANKER", "TIE")])
        before = {p: table.balance(p) for p in PLAYERS}
        shoe = shuffled_shoe(rng)
        table.play(islice(shoe, 10))
        values = [sum(min(total([c]) % 11 if c[0] != "A" else 1, 10) for c in table.cards()[w]) % 10 for w in
                  ("player", "banker")]  # fmt: skip
        winner = "TIE" if values[0] == values[1] else "PLAYER" if values[0] > values[1] else "BANKER"
        odds = {"PLAYER": Fraction(2), "BANKER": Fraction(195, 100), "TIE": Fraction(9)}
        for player in PLAYERS:
            entry = table.book.entries.get(player)
            back = 0
            for bet in entry.bets if entry else ():
                if bet.bet == winner:
                    back += int(odds[bet.bet] * bet.stake)
                elif winner == "TIE":
                    back += bet.stake
            assert table.balance(player) == before[player] + back
