"""Who holds which cards in a round, from the facts alone: which card may leave the shoe, which hand grows by it.

It knows neither lines' groups nor demands: every hand is a list of cards that grows when its player asked for one.
Independent of the table and its rules (procedures page 2.6, I1 to I10).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from controller import facts as f
from controller.cards import HIDDEN
from controller.simulation.soak_odds import (
    coup_due,
    coup_paid,
    ends,
    must,
    natural,
    points,
    side_odds,
    ten_or_ace,
    total,
)

SIDES = ("pairs", "bust_bonus", "lucky_trio", "poker_trio")


class Rules:
    """The rule choices that matter here, read from the table's options by name."""

    def __init__(self, options: Any) -> None:
        self.game: str = options.game
        self.seats: int = options.seats
        self.double_after_split: bool = options.double_after_split
        self.dealer_draws: str = options.dealer_draws
        self.obo: bool = options.obo
        self.to_ten: bool = options.surrender_against == "two_to_ten"


class Owned:
    """One hand of one player."""

    __slots__ = ("cards", "done", "doubled", "gone", "line", "owner", "split", "stake", "waits")

    def __init__(self, owner: str, line: str, cards: list[str], stake: int, *, split: bool = False) -> None:
        self.owner, self.line, self.cards, self.stake, self.split = owner, line, cards, stake, split
        self.done = self.doubled = self.gone = False
        self.waits = split

    @property
    def in_play(self) -> bool:
        """Its player may still decide."""
        aces = self.split and self.cards[0][0] == "A"
        return not (self.done or self.waits or aces or total(self.cards) >= 21)

    @property
    def live(self) -> bool:
        """A dealer's card can still matter to it."""
        return not self.gone and total(self.cards) <= 21 and (self.split or not natural(self.cards))

    def returned(self, dealer: Sequence[str], stake: int, kept: int = 0) -> int:
        """What ``stake`` on it returns. ``kept``: what does not lose against a dealer's Blackjack (BJ7-44)."""
        mine, theirs, black = total(self.cards), total(dealer), natural(self.cards) and not self.split
        if self.gone:
            return stake // 2
        if mine > 21:
            return 0
        if natural(dealer):
            return stake if black else kept
        if black:
            return 2 * stake + stake // 2
        if theirs > 21 or mine > theirs:
            return 2 * stake
        return stake if mine == theirs else 0


class Hands:
    """The cards of one round and whose they are. ``bets`` maps a player to his accepted bet rows."""

    def __init__(self, rules: Rules, bets: dict[str, list[Any]], *, booked: bool) -> None:
        self.rules, self.bets, self.booked = rules, bets, booked
        self.game = rules.game
        self.betting = True
        self.lines: dict[str, list[str]] = {}
        self.hands: list[Owned] = []
        self.first: dict[str, list[str]] = {}  # two cards of each line, before any split
        self.asleep: set[str] = set()
        self.choices: dict[str, str] = {}
        self.insured: dict[str, int] = {}
        self.window: tuple[str, int] | None = None
        self.following: tuple[str, str] | None = None
        self.follows: dict[tuple[str, str, str], int] = {}
        self.places: set[str] = set()
        self.peeked: bool | None = None

    def main(self, player: str) -> Any:
        """The bet of his own that a hand is played for."""
        return next((b for b in self.bets.get(player, ()) if b.bet == "main" and not b.behind), None)

    def line_of(self, bet: Any) -> str:
        """Where the hand of a bet begins."""
        return "main" if self.game == "boundless" else f"seat/{bet.box}/hand/0"

    # --- facts ---

    def take(self, fact: f.Fact) -> None:
        """One fact of this round. Raises ``Broken``."""
        match fact:
            case f.BettingClosed():
                self.betting = False
                if self.game == "classic" and self.booked:
                    seated = sorted(b.box for p in self.bets if (b := self.main(p)) is not None)
                    must(list(fact.seats) == seated, "the occupied seats are those with a main bet")
            case f.CardDealt():
                self._dealt(fact.position, fact.face)
            case f.CardRevealed():
                self._revealed(fact.position, fact.card)
            case f.CardCorrected():
                self._corrected(fact.position, fact.card)
            case f.HandSplit():
                self._parted(fact.lines)
            case f.DecisionOpened() if self.booked and fact.line != "dealer":
                self._opened(fact)
            case f.DecisionsTaken():
                for row in fact.rows:
                    must(row.player not in self.choices, "one decision a player and window")
                    self.choices[row.player] = row.effect
            case f.DecisionClosed() if self.booked:
                self._lock(fact)
            case f.InsuranceTaken():
                for premium in fact.rows:
                    must(self.lines["dealer"][0][0] == "A", "insurance against an ace only")
                    self.insured[premium.player] = premium.stake
            case f.FollowOpened():
                self.following = (fact.line, fact.kind)
            case f.FollowsTaken():
                for answer in fact.rows:
                    self.follows[answer.player, answer.line, answer.kind] = answer.extra
            case f.FollowClosed():
                must(self.following is not None, "a follow window closes once")
                self.following = None
            case f.RoundResult():
                self.window = self.following = None
                self._complete()
                self._told(fact.hands, fact.outcomes)
            case f.DealerPeeked():
                must(fact.blackjack == natural(self.lines["dealer"]), "the peek tells the truth")
                self.peeked = fact.blackjack
            case _:
                pass

    # --- decisions ---

    def legal(self, line: str, n: int) -> set[str]:
        """Decisions on a hand that is the first ``n`` cards of ``line``."""
        cards, found = self.lines[line], {"hit", "stand"}
        split = line.startswith("split/") or f"{line[:-1]}1" in self.lines
        if n == 2 and (not split or self.rules.double_after_split):
            found.add("double")
        if n == 2 and not split:
            if len({c[0] if c[0] not in "TJQK" else "T" for c in cards}) == 1:
                found.add("split")
            up = self.lines["dealer"][0]
            if not ten_or_ace(up) or (self.rules.to_ten and up[0] != "A"):
                found.add("surrender")
        return found

    def may_decide(self, player: str, line: str, n: int) -> bool:
        """The player has a hand there and is not played for."""
        return player not in self.asleep and any(
            h.owner == player and h.line == line and len(h.cards) == n and h.in_play for h in self.hands
        )

    def _opened(self, fact: f.DecisionOpened) -> None:
        must(self.window is None, "one window at a time")
        wanted = any(self.may_decide(p, fact.line, fact.prefix_len) for p in self.bets)
        must(wanted, "a window opens for somebody who may decide")
        must(set(fact.options) == self.legal(fact.line, fact.prefix_len), "the options are those of the rules")
        self.window = (fact.line, fact.prefix_len)

    def _lock(self, fact: f.DecisionClosed) -> None:
        if fact.line == "dealer":
            must(fact.draw == self.dealer_needed(), "the dealer draws exactly when a bet needs it")
            return
        must(self.window in (None, (fact.line, fact.prefix_len)), "the open window is the one that locks")
        self.window = None
        parted = False
        mine = [h for h in self.hands if h.line == fact.line and h.in_play]
        for hand in mine:
            must(len(hand.cards) == fact.prefix_len, "a window concerns hands of its length")
            effect = self.choices.pop(hand.owner, None)
            if effect is None:
                self.asleep.add(hand.owner)
                effect = "hit" if total(hand.cards) <= 11 else "stand"
            hand.done = effect in ("stand", "double", "surrender")
            hand.gone, hand.doubled = effect == "surrender", effect == "double"
            hand.waits = effect in ("hit", "double")
            if effect == "split":
                parted = True
                self._split(hand)
        must(not self.choices, "no decision without a hand")
        must(fact.split == parted, "the hand parts exactly when somebody split")
        must(fact.draw == any(h.waits for h in mine), "a card is drawn exactly when somebody waits for it (I8)")

    def _split(self, hand: Owned) -> None:
        names = ("split/0", "split/1") if self.game == "boundless" else (hand.line, f"{hand.line[:-1]}1")
        self.hands.remove(hand)
        for name, card in zip(names, hand.cards, strict=True):
            self.lines[name] = [card]
            self.hands.append(Owned(hand.owner, name, [card], hand.stake, split=True))

    def _parted(self, names: tuple[str, str]) -> None:
        """The table's own word for a split; with a platform nobody else says it."""
        first, second = names
        if not self.booked:
            whole = self.lines["main" if self.game == "boundless" else first]
            self.lines[first], self.lines[second] = [whole[0]], [whole[1]]
        if first.startswith("seat/"):
            self.places.discard(f"{first}/1")
            self.places.add(f"{second}/0")

    # --- cards ---

    def _dealt(self, position: str, face: str) -> None:
        """A card of the round: was it due, and whose is it?"""
        must(not self.betting, "no card before bets are closed")
        must(self.window is None, "no card while a window is open (I5)")
        must(self.following is None, "no card while others may follow")
        must(face != HIDDEN or self.game == "baccarat", "only baccarat is dealt without faces")
        must(position not in self.places, "each card has a place of its own (I1)")
        self.places.add(position)
        head, index = position.rsplit("/", 1)
        line = "main" if head == "player" and self.game == "boundless" else head
        cards = self.lines.setdefault(line, [])
        if self.game == "baccarat":
            self._coup_card(line, face)
        must(len(cards) == int(index), "cards of a line come in order")
        if self.booked and self.game != "baccarat":
            self._check_due(line, cards)
        waiting = [h for h in self.hands if h.line == line and h.waits]
        cards.append(face)
        for hand in waiting:
            hand.cards.append(face)
            hand.waits = False
        if self.game != "baccarat" and len(cards) == 2 and line != "dealer" and not waiting:
            self._begin(line, cards)

    def _coup_card(self, line: str, face: str) -> None:
        player, banker = self.lines.get("player", ()), self.lines.get("banker", ())
        if HIDDEN not in player and HIDDEN not in banker:
            must(coup_due(player, banker) == line, f"a card for {coup_due(player, banker)}, not for {line}")
        else:  # faces come after the last card
            must(face == HIDDEN, "one mode a coup")

    def _revealed(self, position: str, card: str) -> None:
        head, index = position.rsplit("/", 1)
        cards, at = self.lines[head], int(index)
        must(cards[at] in (HIDDEN, card), "a reveal shows the card that was dealt")
        cards[at] = card

    def _corrected(self, position: str, card: str) -> None:
        """A card of the round was another one."""
        head, _, place = position.rpartition("/")
        at = int(place)
        changed = [("main" if head == "player" and self.game == "boundless" else head, at)]
        if head == "player" and self.game == "boundless" and f"split/{at}" in self.lines:
            changed.append((f"split/{at}", 0))
        for line, index in changed:
            self.lines[line][index] = card
            for hand in self.hands:
                if hand.line == line and index < len(hand.cards):
                    hand.cards[index] = card
        place_of = self._first_of(*changed[0])
        if place_of is not None and place_of[0] in self.first:
            self.first[place_of[0]][place_of[1]] = card

    def _first_of(self, line: str, index: int) -> tuple[str, int] | None:
        """Which of the first two cards of which hand lies there: what side bets look at."""
        if line == "main":
            return (line, index) if index < 2 else None
        if not line.startswith("seat/"):
            return None
        whole = f"{line[:-1]}0"
        if line != whole:
            return (whole, 1) if index == 0 else None
        split = f"{line[:-1]}1" in self.lines
        return (whole, index) if index == 0 or (index == 1 and not split) else None

    def _check_due(self, line: str, cards: list[str]) -> None:
        if line == "dealer" and len(cards) >= (2 if self.game == "boundless" else 1) and self.hands:
            must(not any(h.waits or (h.in_play and not h.done) for h in self.hands), "players finish first")
            must(total(cards) < 17, "the dealer stands on 17")
            free = self.rules.dealer_draws == "always" or len(cards) > 2
            must(free or self.dealer_needed(), "the dealer draws for somebody")
        if line != "dealer" and len(cards) >= 2:
            must(total(cards) < 21, "no card on 21 or more (I4)")
            must(any(h.line == line and h.waits for h in self.hands), "somebody asked for this card (I3)")

    def _begin(self, line: str, cards: list[str]) -> None:
        self.first[line] = list(cards)
        for player in self.bets:
            bet = self.main(player)
            if bet is not None and self.line_of(bet) == line:
                self.hands.append(Owned(player, line, list(cards), bet.stake))

    def dealer_needed(self) -> bool:
        """BJS-62; a dealer of one card must also answer insurance and naturals."""
        if any(h.live for h in self.hands) or any(b.bet == "bust_bonus" for m in self.bets.values() for b in m):
            return True
        dealer = self.lines["dealer"]
        doubt = len(dealer) == 1 and ten_or_ace(dealer[0])
        return doubt and (bool(self.insured) or any(natural(h.cards) and not h.split for h in self.hands))

    def _complete(self) -> None:
        """The round has a result: no hand waits, every hand is a prefix, every card ends one."""
        if self.game == "baccarat":
            must(coup_due(self.lines["player"], self.lines["banker"]) is None, "no result while a card is due")
            return
        if self.peeked is not None:
            must(
                self.peeked == natural(self.lines["dealer"][:2]),
                "players decided by a true answer of the peek (M-16)",
            )
        dealt_out = self.game == "boundless" and natural(self.lines["dealer"])
        for hand in self.hands:
            must(hand.cards == self.lines[hand.line][: len(hand.cards)], "a hand is a prefix of its line (I2, I6)")
            must(not hand.waits, "nobody waits for a card at the result")
            must(not hand.in_play or dealt_out, "nobody may still decide at the result")
        for line, cards in self.lines.items():
            mine = [h for h in self.hands if h.line == line]
            if self.booked and line != "dealer" and len(cards) > 2:
                must(any(len(h.cards) == len(cards) for h in mine), "the last card of a line ends a hand (I3)")
            if line.startswith(("main", "split/")) and mine:
                kinds = {(len(h.cards), h.doubled, h.gone) for h in mine}
                most = len(cards) + 1 + len({n for n, doubled, _ in kinds if doubled})
                must(len(kinds) <= most, "few distinct hands on a line (I7)")

    def _told(self, hands: Any, outcomes: Any) -> None:
        """What the result says is what the cards say: a platform that keeps its own book pays by it."""
        must(
            all(hands[line]["cards"] == self.lines[line] for line in hands),
            "the result shows the cards that lie there",
        )
        if self.game == "baccarat":
            one, other = self.lines["player"], self.lines["banker"]
            mine, theirs = points(one), points(other)
            who = "player" if mine > theirs else "banker" if theirs > mine else "tie"
            pairs = one[0][0] == one[1][0], other[0][0] == other[1][0]
            same = (outcomes["winner"], outcomes["player_pair"], outcomes["banker_pair"]) == (who, *pairs)
            must(
                same and (hands["player"]["value"], hands["banker"]["value"]) == (mine, theirs), "the winner is told"
            )
            return
        dealer = self.lines["dealer"]
        for told in outcomes:
            line, cards = told["line"], self.lines[told["line"]][: told["length"]]
            parted = line.startswith("split/") or f"{line[:-1]}1" in self.lines
            must(told["result"] == ends(cards, dealer, parted), "how each hand ended is told")

    # --- pay ---

    def hands_paid(self, player: str) -> Counter[tuple[Any, ...]]:
        """(line, length, stake, returned, doubled, behind) of every hand of a player."""
        return Counter(self._hands_paid(player))

    def _hands_paid(self, player: str) -> Iterator[tuple[Any, ...]]:
        dealer = self.lines.get("dealer", [])
        kept = self.rules.obo and natural(dealer)
        for hand in [h for h in self.hands if h.owner == player]:
            yield self._hand_paid(hand, hand.stake, hand.doubled, False, kept)
        for bet in [b for b in self.bets[player] if b.behind and b.bet == "main"]:
            first = self.line_of(bet)
            for hand in [h for h in self.hands if h.line.startswith(first[:-1])]:
                if hand.line != first and not self.follows.get((player, first, "split")):
                    continue
                doubled = bool(self.follows.get((player, hand.line, "double")))
                yield self._hand_paid(hand, bet.stake, doubled, True, kept)

    def _hand_paid(self, hand: Owned, first: int, doubled: bool, behind: bool, kept: bool) -> tuple[Any, ...]:
        stake, back = 2 * first if doubled else first, 0
        if kept:
            back = stake if hand.line.endswith("/1") else first if doubled else 0
        return hand.line, len(hand.cards), stake, hand.returned(self.lines["dealer"], stake, back), doubled, behind

    def bets_paid(self, player: str) -> Counter[tuple[Any, ...]]:
        """(bet, box, behind, stake, returned) of every bet of a player that is not a hand."""
        found: Counter[tuple[Any, ...]] = Counter()
        for bet in self.bets[player]:
            if self.game == "baccarat":
                back = coup_paid(bet.bet, bet.stake, self.lines["player"], self.lines["banker"])
            elif bet.bet == "main":
                continue
            else:
                odds = side_odds(bet.bet, self.first[self.line_of(bet)], self.lines["dealer"])
                back = 0 if odds is None else bet.stake * (odds + 1)
            found[bet.bet, bet.box, bet.behind, bet.stake, back] += 1
        return found
