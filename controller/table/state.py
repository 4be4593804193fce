"""What a table knows: phase, shoe, round, holds, incidents. Mutable only inside a draft."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from controller.book.base import Book
from controller.cards import HIDDEN, SHOE_SIZE
from controller.rules.round import Demand, Round, shallow_copy
from controller.rules.steps import Step
from controller.table.incidents import Incident


@dataclass(frozen=True, slots=True)
class Traits:
    """What the configured shoe can tell, from its driver.

    ``positions``: it says where a card belongs. ``results``: it announces the result. ``standby``: it reports when
    its hand is closed. ``actions``: what a technician may have it do.
    """

    positions: bool = False
    results: bool = False
    standby: bool = False
    actions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hold:
    """A named reason why the table must not move."""

    name: str
    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class Sealed:
    """A card that was never shown: opened when the shoe has ended."""

    round: str
    position: str
    card: str
    key: str
    commitment: str


@dataclass
class Shoe:
    """The ledger of one shoe: what has left it."""

    id: str
    out: int = 0
    seen: dict[str, int] = field(default_factory=dict)
    burn_of: int | None = None
    burned: int = 0
    burn_cards: list[str] = field(default_factory=list)
    indicator_shown: bool = False
    rounds: int = 0
    cut_out: bool = False
    last_round: int | None = None
    void: bool = False
    sealed: list[Sealed] = field(default_factory=list)
    winners: list[str] = field(default_factory=list)
    #: Faces that everybody has seen, in physical order; ``UNSEEN`` for the others. ``order_new``: of the last round.
    order: tuple[str, ...] = ()
    order_new: int = 0
    #: Cards that went past the reader after the shoe had ended; they are in no other figure.
    rest: tuple[str, ...] = ()
    #: A person answered for what was missing.
    reconciled: bool = False
    #: Tags of cards that left, where cards have tags.
    tags: frozenset[str] = frozenset()

    def copy(self) -> Shoe:
        """A draft that shares only immutable parts."""
        new = shallow_copy(self)
        new.seen, new.winners = dict(self.seen), list(self.winners)
        new.sealed, new.burn_cards = list(self.sealed), list(self.burn_cards)
        return new

    def count(self, card: str) -> None:
        """A card has left the shoe; ``HIDDEN`` counts without a face until ``identify``."""
        self.out += 1
        if card != HIDDEN:
            self.identify(card)

    def identify(self, card: str) -> None:
        """The face of a card that has left the shoe is known."""
        self.seen[card] = self.seen.get(card, 0) + 1

    def uncount(self, card: str) -> None:
        """The card will be read again, and counted then."""
        self.out -= 1
        if card != HIDDEN:
            self.seen[card] -= 1

    @property
    def left(self) -> int:
        """Cards that must still be in the shoe."""
        return SHOE_SIZE - self.out


@dataclass(frozen=True, slots=True)
class Rescan:
    """Cards going past the reader again: ``expected`` as recorded, ``total`` lying on the felt."""

    hold: str
    expected: tuple[str, ...]
    total: int
    done: int = 0


@dataclass(frozen=True, slots=True)
class Pending:
    """A card that has left the shoe and waits for its place: ``held`` during a hold, ``found`` on the felt by a
    rescan, ``kept`` by a supervisor as the next card, ``entered`` by hand and approved, ``claimed`` by the shoe and
    not yet seen by the camera, ``vouched`` for by a person who saw it."""

    card: str
    origin: Literal["held", "found", "kept", "entered", "claimed", "vouched"]
    position: str | None = None  # where it was due when it was held


@dataclass(frozen=True, slots=True)
class Approval:
    """An action that waits for another person. ``args``: what it would do, as its command gave it."""

    id: int
    action: Literal["enter_card", "correct"]
    by: str
    reason: str
    args: dict[str, Any]


#: Phases in which a round is in progress: its bets are at stake.
ROUND_PHASES = frozenset({"betting", "dealing", "insurance", "deciding", "dealer_drawing"})
#: Phases in which cards of the round leave the shoe.
DEAL_PHASES = ROUND_PHASES - {"betting"}


@dataclass
class TableState:
    """The fold of all facts. Fields ending in ``_due`` are monotonic ms and not part of the fold."""

    phase: str = "closed"
    epoch: int = 0
    n: int = 0
    seq: int = 0
    supervised_seq: int = 0
    shoe: Shoe | None = None
    shoe_ids: frozenset[str] = frozenset()
    round: Round | None = None
    book: Book | None = None
    holds: dict[str, Hold] = field(default_factory=dict)
    incidents: dict[int, Incident] = field(default_factory=dict)
    incident_count: int = 0
    devices_lost: frozenset[str] = frozenset()
    step: Step = field(default_factory=lambda: Step("start_shift"))
    step_ms: int | None = None
    kept: tuple[Step, int] | None = None
    pending: tuple[Pending, ...] = ()
    deferred: tuple[dict[str, Any], ...] = ()
    rescan: Rescan | None = None
    #: Incident that ended a rescan: until it is resolved, what passes the reader is the rest of that reading.
    failed_rescan: int | None = None
    reread: bool = False
    standby: bool = True
    #: What the camera sees at each position, of the round in progress.
    sighted: dict[str, str] = field(default_factory=dict)
    #: The first face it saw at a place for which the shoe has read none yet.
    foreseen: dict[str, str] = field(default_factory=dict)
    approvals: dict[int, Approval] = field(default_factory=dict)
    approval_count: int = 0
    #: Incidents that no person has answered for yet.
    alarms: frozenset[int] = frozenset()
    manual: bool = False
    #: Runs of earlier shoes, oldest first.
    orders: tuple[frozenset[int], ...] = ()
    dealer: str | None = None
    dealers: tuple[str, ...] = ()
    locked: bool = False
    step_due: int | None = field(default=None, compare=False)
    void_due: int | None = field(default=None, compare=False)
    approval_due: int | None = field(default=None, compare=False)
    #: When the table locks unless somebody does something.
    idle_due: int | None = field(default=None, compare=False)
    #: When something the camera saw, or did not see, becomes an incident: position and monotonic ms.
    sight_due: dict[str, int] = field(default_factory=dict, compare=False)
    #: When a camera that says nothing is lost.
    camera_due: int | None = field(default=None, compare=False)

    def copy(self) -> TableState:
        """A draft: mutable parts are copied, immutable ones shared."""
        new = shallow_copy(self)
        new.shoe = self.shoe.copy() if self.shoe else None
        new.round = self.round.copy() if self.round else None
        new.book = self.book.copy() if self.book else None
        new.holds, new.incidents, new.approvals = dict(self.holds), dict(self.incidents), dict(self.approvals)
        new.sighted, new.sight_due = dict(self.sighted), dict(self.sight_due)
        new.foreseen = dict(self.foreseen)
        return new

    @property
    def betting(self) -> Book | None:
        """The book, if the round in progress or just ended is in it."""
        return self.book if self.round is not None and self.round.booked else None

    @property
    def round_open(self) -> bool:
        """Bets are at stake."""
        return self.phase in ROUND_PHASES

    @property
    def shoe_can_go(self) -> bool:
        """There is a shoe in play, and a moment at which it can be voided."""
        in_play = self.round_open or self.phase in ("burning", "result")
        return in_play and self.shoe is not None and not self.shoe.void

    @property
    def cards_out(self) -> bool:
        """Cards of a burn or a round are on the felt, so their order can be in doubt."""
        if self.phase == "burning":
            return self.shoe is not None and bool(self.shoe.burn_cards)
        return self.round is not None and self.phase in DEAL_PHASES

    @property
    def on_felt(self) -> tuple[str, ...]:
        """The recorded cards of the burn or round in progress, in physical order; a card that waits for
        its place after it was held, claimed or read by people lies there too."""
        held = tuple(p.card for p in self.pending if p.origin in ("held", "claimed", "vouched", "entered"))
        if self.phase == "burning" and self.shoe is not None:
            return (*self.shoe.burn_cards, *held)
        if self.round is not None and self.phase in DEAL_PHASES:
            return (*(c.card for c in self.round.cards), *held)
        return ()

    @property
    def overdrawn(self) -> bool:
        """An over-drawn card without a face is the matter of an open incident."""
        return any(i.cause == "M-08" and HIDDEN in i.cards for i in self.incidents.values())

    @property
    def claims(self) -> tuple[Pending, ...]:
        """Cards the shoe has read and the camera has not confirmed, in physical order."""
        return tuple(p for p in self.pending if p.origin == "claimed") if self.pending else ()

    def demand_with(self, key: str) -> Demand | None:
        """The demand of this round that was made under ``key``."""
        if self.round is None:
            return None
        return self.round.answered.get(key)
