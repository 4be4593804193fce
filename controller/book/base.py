"""What all three books share beyond bets: settlement, refunds, the wallet's instructions, the audit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from controller.book.bets import BetBook, BookFault
from controller.book.money import instructions, transaction_id
from controller.book.pay import Groups, Payer, Pays
from controller.book.rows import (
    Audit,
    Bet,
    BetGroup,
    BetPaid,
    Entry,
    Instruction,
    Paid,
    Refund,
    Row,
    Settlement,
    StakeItem,
)

#: Faces by line, the dealer's as ``dealer`` (baccarat: ``player``, ``banker``).
Cards = Mapping[str, Sequence[str]]
_NEW = Entry()
#: How a stake reads that comes back because the round was declared void.
VOID: Final = "void"


class Book(BetBook):
    """The bets of one table: what the players staked, what the rules return, what the wallets must do.

    Pure. A ``check_`` method says which rows of a request stand and changes nothing; an ``apply_`` method takes such
    rows and cannot fail. State changes only by ``open_round``, ``close_bets``, the window methods, the ``apply_``
    methods, ``settle`` and ``void``, so the same calls give the same book. ``copy`` is a draft in the time of its own
    changes; ``commit`` makes it the only one.
    """

    # --- settlement ----------------------------------------------------------------------------------------------

    @abstractmethod
    def _payer(self, cards: dict[str, tuple[str, ...]]) -> Payer:
        """What these cards return."""

    def payer(self, version: int) -> Payer:
        """What the cards of ``version`` return; computed once."""
        if version not in self._payers:
            cards = self.versions[version - 1]
            self._payers[version] = self._payer(cards) if cards else VoidPayer(self)
        return self._payers[version]

    def settle(self, cards: Cards) -> Settlement:
        """Take the result's ``cards``: the first time to settle the round, then to correct it by another version.

        Rows are then due for every player, in the order they first bet. Needs phase ``playing``, or a round that is
        settled and posted.
        """
        if self.phase != "idle" or not self.versions:
            self._expect("playing")
        self.versions = (*self.versions, {line: tuple(faces) for line, faces in cards.items()})
        self.posted = 0
        self._due()
        return self.settlement()

    def settle_void(self) -> Settlement:
        """The next version of a settled round is that it was void: every stake comes back (M-32, ERR-09)."""
        return self.settle({})

    @property
    def void_version(self) -> bool:
        """The latest version of the result says that the round was void."""
        return bool(self.versions) and not self.versions[-1]

    def settlement(self) -> Settlement:
        """Totals and groups of the latest version of the result."""
        version = len(self.versions)
        groups, bets = self.payer(version).groups()
        previous = self.payer(version - 1).total() if version > 1 else 0
        return Settlement(
            version=version,
            players=len(self.entries),
            stake=self.staked,
            returned=sum(g.returned for g in groups) + sum(b.returned for b in bets),
            previous=previous,
            groups=groups,
            bets=bets,
        )

    def void(self) -> None:
        """Every bet of the round is refunded, side bets and insurance included (ERR-09)."""
        if self.phase == "betting":
            self.phase = "playing"
        self._expect("playing")
        self.voided = True
        self._due()

    def _due(self) -> None:
        self.phase = "due" if len(self.entries) else "idle"

    @property
    def unposted(self) -> int:
        """Players whose rows are still to be posted."""
        return len(self.entries) - self.posted if self.phase == "due" else 0

    def due(self, limit: int) -> list[Paid] | list[Refund]:
        """The next rows to post, at most ``limit``: what each player is paid, or what is refunded."""
        if not self.unposted:
            return []
        players = self.entries.keys(self.posted, self.posted + limit)
        if self.voided:
            return [self.refund(player) for player in players]
        return self._paid(players, len(self.versions))

    def apply_posted(self, rows: Sequence[Paid] | Sequence[Refund]) -> None:
        """Pay the next rows, as ``due`` gave them."""
        self._expect("due")
        for row in rows:
            self.money.give(row.player, row.amount)
            self.posted_amount += row.amount
        self.posted += len(rows)
        if self.posted == len(self.entries):
            self.phase = "idle"

    def paid(self, player: str, version: int | None = None) -> Paid:
        """A player's settlement under a version of the result, the latest if not named."""
        return self._paid([player], len(self.versions) if version is None else version)[0]

    def _paid(self, players: Sequence[str], version: int) -> list[Paid]:
        """The rows of some players. A hundred thousand may be due: no call here that is not needed."""
        found = []
        pay, get, forced = self.payer(version).pay, self.entries.get, self.forced
        head = transaction_id(self.setting.table, self.round, version, "settle", "round", "")
        for player in players:
            hands, bets, insurance = pay(player, get(player) or _NEW)
            stake = returned = 0
            for hand in hands:
                stake += hand.stake
                returned += hand.returned
            for bet in bets if insurance is None else (*bets, insurance):
                stake += bet.stake
                returned += bet.returned
            row = (
                player,
                version,
                stake,
                returned,
                returned,
                head + player,
                hands,
                bets,
                insurance,
                player in forced,
            )
            found.append(Paid(*row))
        if version == 1:
            return found
        before = self._paid(players, version - 1)
        return [
            msgspec.structs.replace(new, amount=new.returned - old.returned, corrects=old.transaction)
            for new, old in zip(found, before, strict=True)
        ]

    def refund(self, player: str) -> Refund:
        """All that a player staked in this round."""
        items = tuple(self.stakes(player))
        return Refund(player, sum(item.amount for item in items), items)

    def stakes(self, player: str) -> list[StakeItem]:
        """Every amount taken from a player in this round, with the transaction that took it."""
        entry = self.entries.get(player) or _NEW
        return [item for row in _rows_of(entry) if (item := self._stake(row)) is not None]

    def _stake(self, row: Row) -> StakeItem | None:
        """What this row took from its player."""
        if not isinstance(row, Bet):
            return None
        what = row.bet if row.box is None else f"{row.bet}/{row.box}"
        own = row.transaction or transaction_id(self.setting.table, self.round, 1, "bet", what, row.player)
        return StakeItem("bet", what, row.stake, own)

    def instructions(self, rows: Sequence[Row]) -> list[Instruction]:
        """What the wallet must do because of ``rows`` just applied: the platform's outbox, the embedded ledger.

        A platform has debited bets before they came, so they call for nothing.
        """
        taken = []
        for row in rows:
            item = self._stake(row)
            if item is not None and (self.money.embedded or not isinstance(row, Bet)):
                taken.append((str(getattr(row, "player", "")), item))
        return list(instructions(rows, taken, table=self.setting.table, round_=self.round))

    # --- audit ---------------------------------------------------------------------------------------------------

    def audit(self) -> Audit:
        """Where all money is now, from the running totals. Constant time, balances excepted."""
        money = self.money
        unpaid = 0
        if self.versions:
            unpaid = self.payer(len(self.versions)).total() - self.posted_amount
        at_risk = 0
        if self.phase in ("betting", "playing") or self.voided:
            at_risk = self.staked - self.posted_amount
        balances = sum(value for _, value in money.balances.items()) if money.embedded else money.paid - money.taken
        house = money.taken - money.paid - at_risk - unpaid
        return Audit(money.deposited, balances, at_risk, unpaid, house)

    def check(self) -> Audit:
        """Add everything up again from the single rows. Raises ``BookFault`` where the running totals differ."""
        audit = self.audit()
        if audit.deposited != audit.balances + audit.at_risk + audit.unpaid + audit.house:
            raise BookFault(f"money does not add up: {audit}")
        staked = sum(item.amount for player, _ in self.entries.items() for item in self.stakes(player))
        if staked != self.staked:
            raise BookFault(f"{staked} staked by the rows, {self.staked} by the total")
        if self.versions:
            version = len(self.versions)
            rows = [self.paid(player) for player, _ in self.entries.items()]
            if sum(row.stake for row in rows) != self.staked:
                raise BookFault(f"{sum(row.stake for row in rows)} settled of {self.staked} staked")
            if sum(row.returned for row in rows) != self.payer(version).total():
                raise BookFault("the players' returns differ from the groups' total")
        return audit


class VoidPayer(Payer):
    """A round declared void after its result: every stake comes back, nothing else does."""

    def __init__(self, book: Book) -> None:
        self._book = book

    def pay(self, player: str, entry: Entry) -> Pays:  # noqa: ARG002 - every payer is called alike
        """See ``Payer.pay``: a row for each amount that was taken."""
        items = self._book.stakes(player)
        return (), tuple(BetPaid(item.what, item.amount, VOID, item.amount) for item in items), None

    def _groups(self) -> Groups:
        book = self._book
        return (), (BetGroup("all", VOID, 0, len(book.entries), book.staked, book.staked),)


def _rows_of(entry: Entry) -> list[Row]:
    insured = () if entry.insurance is None else (entry.insurance,)
    return [*entry.bets, *insured, *entry.decisions, *entry.follows]
