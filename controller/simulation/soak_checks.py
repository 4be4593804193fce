"""What must hold after every step of a soak, checked from facts, frames and the physical cards (design page 9).

Nothing here calls the table or the rules: procedure and money have references of their own (``soak_hands``,
``soak_money``), the feed is read as a subscriber reads it, and a validated card is compared with the card itself.
"""

from __future__ import annotations

from typing import Any, Final

from controller import facts as f
from controller.cards import HIDDEN
from controller.simulation.soak_cards import Card
from controller.simulation.soak_faults import UNSEEN
from controller.simulation.soak_feed import Feed
from controller.simulation.soak_hands import Hands, Rules
from controller.simulation.soak_money import Ledger
from controller.simulation.soak_odds import Broken, must
from controller.simulation.soak_record import Record
from controller.simulation.soak_shoe import Line
from drivers import events as e

#: Facts by which a game moves on: none of them while the table is held.
_MOVES: Final = (
    f.CardDealt, f.CardBurned, f.BurnIndicatorDrawn, f.BettingOpened, f.BettingClosed, f.BetsAccepted,
    f.InsuranceOffered, f.InsuranceClosed, f.InsuranceTaken, f.DealerPeeked, f.DecisionOpened, f.DecisionsTaken,
    f.DecisionClosed, f.FollowOpened, f.FollowsTaken, f.FollowClosed, f.HandSplit, f.RoundResult, f.CardRevealed,
)  # fmt: skip
_CARD_EVENTS: Final = (e.CardDrawn, e.NoRead, e.UnknownCode)
#: Facts that account for a reading.
_ACCOUNTS: Final = frozenset({
    "card_dealt", "card_burned", "burn_indicator_drawn", "card_held", "card_rescanned",
    "card_claimed", "read_repeated", "read_out_of_game", "incident_raised", "device_reported",
})  # fmt: skip
#: Facts that the checks of holds and of cards look at.
_SUPERVISED: Final = frozenset({
    f.Paused, f.Resumed, f.DeviceLost, f.DeviceRestored, f.ApprovalRequested, f.ApprovalGiven, f.ApprovalRefused,
    f.IncidentRaised, f.IncidentResolved, f.RoundVoided, f.ShoeVoided,
})  # fmt: skip
_CARDS: Final = frozenset({
    f.CardDealt, f.CardRevealed, f.CardBurned, f.BurnIndicatorDrawn, f.CardHeld, f.CardRescanned, f.IncidentRaised,
    f.ReadOutOfGame, f.CardCorrected, f.CardClaimed,
})  # fmt: skip
_ROUND: Final = frozenset({
    f.BettingOpened, f.ShoeLoaded, f.RoundVoided, f.ShoeVoided, f.ShoeChangeStarted, f.ShiftEnded, f.HandSplit,
    f.CardReassigned, f.RoundResult,
})  # fmt: skip
_UNHEARD: Final = "not connected yet"


class Checks:
    """Follows one session. Every method raises ``Broken``."""

    def __init__(
        self, options: Any, line: Line, *, booked: bool, embedded: bool, deep: bool, watched: bool = False
    ) -> None:
        rules = Rules(options)
        self.record, self.feed = Record(options), Feed(rules.game, deep=deep)
        self.rules, self.line, self.deep, self.watched = rules, line, deep, watched
        self.claims: dict[str, Card] = {}  # read, and not yet confirmed by the camera
        self.ledger = Ledger(rules, embedded=embedded) if booked else None
        self.hands = Hands(rules, {}, booked=False)
        self.holds: dict[str, str] = {}
        self.legal: dict[int, tuple[str, ...]] = {}
        self.cards_of: dict[int, list[Card]] = {}  # of open incidents
        self.rounds: set[str] = set()
        self.shoes: set[str] = set()
        self.waiting: list[Card] = []  # held ones
        self.places: dict[str, Card] = {}
        self.n = self.seq = 0
        self.blamed: set[str] = set()  # kinds behind a wrong card of this round
        self.turned: dict[str, str] = {}  # faces of this round that were announced: the camera must have seen them
        self.wrong: list[Card | None] = []  # wrong cards of this round; None: one that did not leave the shoe
        self.playing = False  # burn or round in progress: cards are due
        self.incidents = 0

    @property
    def holds_many(self) -> bool:
        """So many incidents are open that a further card is only noted."""
        return len(self.legal) >= 20

    # --- one step --------------------------------------------------------------------------------------------------

    def step(self, records: tuple[f.Record, ...], state: Any, card: Card | None, event: e.Event | None) -> None:
        """What one input led to. ``card``: the physical card that ``event`` is about."""
        for record in records:
            fact = record.fact
            self.n += 1
            must(record.n == self.n, "facts are numbered without gaps")
            if record.seq is not None:
                self.seq += 1
                must(record.seq == self.seq, "frames are numbered without gaps")
            if self.holds and isinstance(fact, _MOVES):
                raise Broken(f"{fact.type} while the table is held")
            if type(fact) in _SUPERVISED:
                self._supervision(fact)
            self.record.take(fact)
            if type(fact) in _CARDS:
                self._card(fact, card)
            if self.ledger is not None:
                self.ledger.take(fact, record.round_in_shoe, state.book.instructions)
            else:
                self._unbooked(fact)
            if type(fact) in _ROUND:
                self._round(fact)
        if isinstance(event, _CARD_EVENTS):
            found = any(record.fact.type in _ACCOUNTS for record in records)
            must(found, "every reading is accounted for (3)")
        if self.ledger is not None and self.deep and records:
            self.ledger.balanced(state.book)
        must(set(self.holds) == set(state.holds), "the holds are those of the facts")

    def _unbooked(self, fact: f.Fact) -> None:
        if isinstance(fact, f.BettingOpened):
            self.hands = Hands(self.rules, {}, booked=False)
        self.hands.take(fact)

    def _round(self, fact: f.Fact) -> None:
        match fact:
            case f.BettingOpened():
                self.playing = True
                must(fact.round not in self.rounds, "a round's id is never used again")
                self.rounds.add(fact.round)
                self.places.clear()
                self.claims.clear()
                self.turned.clear()
            case f.RoundResult() if self.watched:
                for place, face in self.turned.items():
                    card = self.places.get(place)
                    if card is not None and face != card.face and card.seen != face:
                        raise Broken(f"{face} counts at {place}, but the camera saw another card there")
            case f.HandSplit(lines=(first, second)):
                if first.startswith("seat/") and f"{first}/1" in self.places:
                    self.places[f"{second}/0"] = self.places.pop(f"{first}/1")
            case f.CardReassigned():
                if fact.position in self.places:
                    self.places[fact.to] = self.places.pop(fact.position)
            case f.ShoeLoaded():
                self.playing = True
                must(fact.shoe not in self.shoes, "a shoe's id is never used again")
                self.shoes.add(fact.shoe)
                self.waiting.clear()
            case f.RoundVoided() | f.ShoeVoided() | f.ShoeChangeStarted() | f.ShiftEnded():
                self.playing = False
                self.waiting.clear()
                self.cards_of.clear()
                if not isinstance(fact, f.ShoeChangeStarted | f.ShiftEnded):
                    self.places.clear()  # what lies there belongs to no round: drawn again it is another card
                for kept in list(self.line.kept):
                    self.line.put_aside(kept)

    # --- holds and incidents ---------------------------------------------------------------------------------------

    def _supervision(self, fact: f.Fact) -> None:
        match fact:
            case f.Paused():
                must(bool(fact.reason and fact.by), "every stop has a reason and a person or policy (6)")
                self.holds[fact.hold] = fact.reason
            case f.Resumed():
                must(not fact.hold.startswith("incident:"), "an incident ends by its resolution")
                must(self.holds.pop(fact.hold, None) is not None, "only a hold is lifted")
            case f.DeviceLost():
                held = f"device:{fact.device}"
                again = self.holds.get(held) == _UNHEARD  # the reason comes after the start
                must(again or held not in self.holds, "a loss is told once (6)")
                self.holds[held] = fact.reason
            case f.DeviceRestored():
                must(self.holds.pop(f"device:{fact.device}", None) is not None, "a return is told once (6)")
            case f.ApprovalRequested():
                self.holds["approval"] = fact.reason
            case f.ApprovalGiven() | f.ApprovalRefused():
                asked = self.holds.pop("approval", None)
                must(asked is not None, "an approval answers a request")
            case f.IncidentRaised():
                self._raised(fact)
            case f.IncidentResolved():
                self._resolved(fact)
            case f.RoundVoided() | f.ShoeVoided():
                self.holds = {name: why for name, why in self.holds.items() if not _ends_by_void(name)}
                self.legal.clear()
            case _:
                pass

    def _raised(self, fact: f.IncidentRaised) -> None:
        self.incidents += 1
        must(fact.incident == self.incidents, "incidents are numbered")
        must(bool(fact.resolutions) or fact.code == "M-22", "an incident has a way out")
        self.legal[fact.incident] = fact.resolutions
        self.holds[f"incident:{fact.incident}"] = fact.code

    def _resolved(self, fact: f.IncidentResolved) -> None:
        legal = self.legal.pop(fact.incident, None)
        must(legal is not None and fact.resolution in legal, "a resolution is one of the legal ones")
        self.holds.pop(f"incident:{fact.incident}", None)
        mine = self.cards_of.pop(fact.incident, [])
        if fact.resolution == "enter_card":
            lying = mine or [card for card in self.line.felt if not card.dealt]
            self.waiting += [card for card in lying if card.face == fact.card][:1]
        for card in mine:
            if fact.resolution == "burn_card":
                self.line.put_aside(card)
            elif fact.resolution == "use_as_next":
                self.line.put_aside(card, keep=True)
            elif fact.resolution == "rescan" and card in self.line.kept:  # it comes back to be read again
                self.line.place_kept(card, behind=tuple(self.claims.values()))

    # --- cards -----------------------------------------------------------------------------------------------------

    def _card(self, fact: f.Fact, card: Card | None) -> None:
        match fact:
            case f.CardDealt(position=position, face=face, from_hold=from_hold):
                self._placed(face, card, from_hold=from_hold, position=position)
            case f.CardRevealed(position=position, card=face):
                self.turned[position] = face
                shown = self.places.get(position)
                if shown is not None and shown.face != face:
                    self._wrong(shown, f"{face} is revealed, but the card is {shown.face}")
            case f.CardBurned(card=face, from_hold=from_hold, done=done):
                self._placed(face, card, from_hold=from_hold, position=f"burn/{done}")
            case f.BurnIndicatorDrawn(card=face, from_hold=from_hold):
                self._placed(face, card, from_hold=from_hold, position="burn/0")
            case f.CardHeld():
                if card is not None:
                    card.named = True
                    self.waiting.append(card)
            case f.CardClaimed(card=face, position=position, from_hold=from_hold):
                self._claimed(face, position, card, from_hold=from_hold)
            case f.CardRescanned(extra=extra):
                if card is not None:
                    self._read_again(card, extra=extra)
            case f.IncidentRaised(cards=cards):
                if card is not None and cards and fact.ledger != "waiting":
                    card.named = True
                    known = fact.cause.startswith("M-01") or card.told or card is self.line.overdrawn
                    waits = any(c is card for c in self.waiting)  # the same card was heard once more
                    self.cards_of[fact.incident] = [card] if known and not waits else []
                elif cards and fact.ledger == "waiting":
                    self._from_waiting(fact)
            case f.ReadOutOfGame():
                must(not self.playing or self.holds_many, "a card of a round is not out of game")
                if card is not None:
                    self.line.put_aside(card)
            case f.CardCorrected(position=position, card=face):
                self._corrected(position, face)
            case _:
                pass

    def _read_again(self, card: Card, *, extra: bool) -> None:
        """A rescan says anew which card is the one that waits: of two with one face it may be the other."""
        card.named = True
        if extra:
            self.waiting.append(card)
        elif not card.dealt and (twin := self._twin(card)) is not None:  # which of the two lies there nobody can tell
            self.places = {place: card if one is twin else one for place, one in self.places.items()}
            card.dealt, twin.dealt = True, False
        elif not card.dealt and card not in self.waiting:
            at = next((n for n, other in enumerate(self.waiting) if other.face == card.face), None)
            if at is not None:
                self.waiting[at] = card

    def _twin(self, card: Card) -> Card | None:
        """A recorded card of the same face that left after ``card``, which nobody heard of."""
        felt = self.line.felt
        if card in self.waiting or card not in felt or any(card is one for one in self.claims.values()):
            return None
        later = felt[felt.index(card) + 1 :]
        return next((one for one in later if one.dealt and one.face == card.face and self.counted(one)), None)

    def _from_waiting(self, fact: f.IncidentRaised) -> None:
        """A card that waited has no place after all."""
        claims = self.claims.values()
        mine = [c for c in self.waiting if not any(c is one for one in claims)] or self.waiting
        found = next((c for c in mine if fact.cards[0] in (c.face, HIDDEN)), None)
        if found is None:
            found = next((c for c in self.line.kept if fact.cards[0] in (c.face, HIDDEN)), None)
        if found is not None:
            self.cards_of[fact.incident] = [found]
            self.waiting = [c for c in self.waiting if c is not found]

    def _placed(self, face: str, card: Card | None, *, from_hold: bool, position: str) -> None:
        """A card counts: it must be the physical one, in its order, once (1)."""
        if not from_hold:
            self._nothing_kept()
        else:
            card = self.claims.get(position) or self._waited(face)
            self.waiting = [c for c in self.waiting if c is not card]
        if card is None:
            self._wrong(None, "a card counts that did not leave the shoe")
            return
        if card.dealt or self.counted(card):
            card.dealt = True
            self._wrong(card, "one card counts twice", told=self.line.polled)  # it has a name of its own
            return
        card.dealt = True
        self.places[position] = card
        self.claims.pop(position, None)
        if card in self.line.kept:
            self.line.place_kept(card)
        if face not in (HIDDEN, card.face):
            down = position == "dealer/1" and self.rules.game == "boundless"
            seen = self.watched and not down and not position.startswith("burn") and card.seen != face
            seen = seen and not any(one.shown and one.face == face and not one.dealt for one in self.line.felt)
            self._wrong(card, f"{face} counts, but the card is {card.face}", told=seen)
        for before in self.line.felt:
            if before is card:
                break
            if not before.dealt:
                self._wrong(before, "a card that left before it is missing", told=self._lay_open(before, face))
        card.noise = False

    def _nothing_kept(self) -> None:
        """A card of the shoe takes a place: none that a supervisor kept as the next one may still wait."""
        claimed = self.claims.values()
        waits = [card for card in self.line.kept if not any(card is one for one in claimed)]
        must(not waits or self.line.protocol == "angel", "a card kept as the next one is the next one")

    def _lay_open(self, card: Card, face: str) -> bool:
        """The camera saw that the card lies there, and not as a twin of the one that counts now."""
        return self.watched and card.shown and card.face != face

    def _waited(self, face: str) -> Card | None:
        lying = (*self.line.felt, *self.line.kept)
        again = next((card for card in self.waiting if card.dealt and face in (card.face, HIDDEN)), None)
        self.waiting = [card for card in self.waiting if not card.dealt and any(card is one for one in lying)]
        for cards in (self.waiting, self.line.kept):
            for card in cards:
                claimed = any(card is other for other in self.claims.values())
                if not claimed and (card.told == face or face in (card.face, HIDDEN)):
                    if cards is self.waiting:
                        self.waiting.remove(card)
                    return card
        return again  # pushed back and drawn again

    def _claimed(self, face: str, position: str, card: Card | None, *, from_hold: bool) -> None:
        """The shoe's word for a card that the camera has yet to see."""
        if not from_hold:
            self._nothing_kept()
        else:
            card = self._waited(face)
        if card is None:
            return
        card.named = True
        self.waiting.append(card)
        if card in self.line.kept:
            self.line.place_kept(card, behind=tuple(self.claims.values()))
        self.claims[position] = card

    def _corrected(self, position: str, face: str) -> None:
        """People put the right face into the record."""
        if position in self.turned:
            self.turned[position] = face
        shown = self.places.get(position)
        if shown is None or shown.face != face:
            raise Broken(f"{position} is corrected to another card than lies there")
        if shown in self.wrong:
            self.wrong.remove(shown)
            if not self.wrong:
                self.blamed.clear()

    def counted(self, card: Card) -> bool:
        """The card is in the record of this round or burn."""
        return any(card is other for other in self.places.values())

    def wrong_cards(self, state: Any) -> dict[str, str | None]:
        """What a person sees who compares the record of the round with its cards: the right face by position; None
        where that cannot be told card by card."""
        if state.round is None:
            return {}
        found: dict[str, str | None] = {}
        for recorded in state.round.cards:
            card = self.places.get(recorded.position)
            if card is None:
                found[recorded.position] = None
            elif recorded.card not in (HIDDEN, card.face):
                found[recorded.position] = card.face
        return found

    def _wrong(self, card: Card | None, what: str, *, told: bool = False) -> None:
        """A wrong card is validated: forgiven only where no enabled source had any sign of it. ``told``: the camera
        saw another face."""
        if any(card is known for known in self.wrong):
            return  # forgiven once
        self.wrong.append(card)
        if card is None or card.noise or told or not UNSEEN.intersection(card.kinds):
            kinds = ", ".join(card.kinds) if card is not None else ""
            raise Broken(f"a wrong card is validated: {what} (faults on it: {kinds or 'none'})")
        self.blamed |= set(card.kinds)


def _ends_by_void(hold: str) -> bool:
    return hold == "restart" or hold.startswith("incident:")
