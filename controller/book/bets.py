"""Accounts and bets: what a book takes in before the first card."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterable, Sequence, Set
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from controller.book.layered import Layered
from controller.book.lines import NOTHING, Sum
from controller.book.money import Money
from controller.book.pay import Payer
from controller.book.refusals import BATCH_MAX, BookRefusal, Checked, Refused
from controller.book.rows import Balance, BalanceRequest, Bet, BetRequest, Entry, Row
from controller.book.setting import BALANCE_MAX, STAKE_MAX, BookSetting
from controller.rules.side_bets import PAYTABLES

#: ``idle``: no round, or the last one is over; ``due``: settled or void, rows are still to be posted.
Phase = Literal["idle", "betting", "playing", "due"]
#: A code of ``refusals.CODES`` and a message.
Fault = tuple[str, str]
PLAYER_MAX = 64
_NEW = Entry()

B = TypeVar("B", bound="BetBook")


class BookFault(Exception):
    """The money of the book does not add up: a defect, never a refusal."""


class BetBook(ABC):
    """The part of a book that takes bets."""

    BETS: ClassVar[tuple[str, ...]]

    def __init__(self, setting: BookSetting) -> None:
        problems = setting.problems(self.BETS)
        if problems:
            raise ValueError("; ".join(problems))
        self.setting = setting
        self.money = Money(embedded=setting.wallet == "embedded")
        self.phase: Phase = "idle"
        self.round = ""
        self.round_in_shoe = 0
        self.entries: Layered[Entry] = Layered()
        self.staked = 0  # in this round
        self.sums: dict[str, Sum] = {}  # bets by name, or name/box
        self.voided = False
        self.forced: frozenset[str] = frozenset()  # players who lose their seat by this round (BJ7-05)
        self.versions: tuple[dict[str, tuple[str, ...]], ...] = ()  # cards of each version of the result
        self.posted = 0  # players of the latest version (or the void) whose rows were applied
        self.posted_amount = 0  # what those rows moved, in the whole round
        self._payers: dict[int, Payer] = {}
        self._retired: tuple[Layered[Any], ...] = ()  # of the round before, freed little by little

    # --- drafts --------------------------------------------------------------------------------------------------

    def copy(self: B) -> B:
        """A draft; dropped, it leaves no trace."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.money, new.entries, new.sums = self.money.copy(), self.entries.copy(), dict(self.sums)
        new._payers = dict(self._payers)
        return new

    def commit(self) -> None:
        """Make this draft the only copy; others may not be used again. Time of the changes, however many players."""
        self.money.commit()
        self.entries.commit()
        self._retired = tuple(old for old in self._retired if old.shed(BATCH_MAX))

    def content(self) -> tuple[Any, ...]:
        """All that makes two books equal."""
        return (
            self.setting,
            self.phase,
            self.round,
            self.round_in_shoe,
            self.staked,
            self.sums,
            self.voided,
            self.forced,
            self.versions,
            self.posted,
            self.posted_amount,
            self.money,
            self.entries,
        )

    def __eq__(self, other: object) -> bool:
        """The same bets, hands and money."""
        if not isinstance(other, BetBook) or type(other) is not type(self):
            return NotImplemented
        return self.content() == other.content()

    __hash__ = None  # type: ignore[assignment]

    # --- accounts ------------------------------------------------------------------------------------------------

    def check_balances(self, requests: Sequence[BalanceRequest]) -> Checked[Balance]:
        """Which accounts may be set. An account with a stake at risk may not."""
        require_batch(requests)
        checked: Checked[Balance] = Checked([], [])
        for index, request in enumerate(requests):
            fault = self._balance_fault(request)
            if fault is None:
                checked.rows.append(Balance(request.player, int(request.balance)))
            else:
                checked.refused.append(Refused(index, request.player[:PLAYER_MAX], *fault))
        return checked

    def _balance_fault(self, request: BalanceRequest) -> Fault | None:
        if not self.money.embedded:
            return "bad_transaction", "the balances are the platform's"
        if not _is_player(request.player):
            return "bad_player", "a player id is 1 to 64 printable ASCII characters without spaces"
        if type(request.balance) is not int or not 0 <= request.balance <= BALANCE_MAX:
            return "bad_balance", f"a balance is a whole number from 0 to {BALANCE_MAX}, not {request.balance!r}"
        if self.phase != "idle" and request.player in self.entries:
            return "round_open", f"{request.player} has bets in a round that is not settled"
        return None

    def apply_balances(self, rows: Iterable[Balance]) -> None:
        """Set accounts."""
        for row in rows:
            self.money.reset(row.player, row.balance)

    # --- bets ----------------------------------------------------------------------------------------------------

    def open_round(self, round_: str, round_in_shoe: int) -> None:
        """Betting opens on a round; the last one must be over (``phase`` idle). ``round_in_shoe`` counts from 1."""
        self._expect("idle")
        self._retired = (self.entries, *self.money.new_round())
        self.phase, self.round, self.round_in_shoe = "betting", round_, round_in_shoe
        self.entries = Layered()
        self.staked = self.posted = self.posted_amount = 0
        self.sums, self.versions, self._payers = {}, (), {}
        self.voided, self.forced = False, frozenset()

    def check_bets(self, requests: Sequence[BetRequest], spent: Set[str] = frozenset()) -> Checked[Bet]:
        """Which bets of a batch stand, each in the light of those before it. ``spent``: those of its transactions
        that came with bets of earlier rounds. A bet that stands already, under the same transaction, is neither taken
        again nor refused. Raises ``BookRefusal`` for the whole batch: no betting window, or too many rows."""
        if self.phase != "betting":
            raise BookRefusal("betting_closed", "no betting window is open: no more bets")
        require_batch(requests)
        trial = self.copy()
        checked: Checked[Bet] = Checked([], [])
        for index, request in enumerate(requests):
            fault = trial._form_fault(request) or trial._debit_fault(request)
            if fault is None and trial._is_repeat(request):
                checked.repeated.append(index)
                continue
            fault = fault or trial._spent_fault(request, spent)
            fault = fault or trial._place_fault(request) or trial._funds_fault(request)
            if fault is not None:
                checked.refused.append(Refused(index, request.player[:PLAYER_MAX], *fault))
                continue
            row = Bet(
                request.player,
                request.bet,
                int(request.stake),
                request.box,
                request.behind,
                request.transaction,
                None if request.available is None else int(request.available),
            )
            trial._take_bet(row)
            checked.rows.append(row)
        return checked

    def apply_bets(self, rows: Sequence[Bet]) -> None:
        """Accept bets."""
        for row in rows:
            self._take_bet(row)
        staked = sum(row.stake for row in rows)
        self.staked += staked
        self.money.taken += staked
        self._count_bets(rows)

    def _form_fault(self, request: BetRequest) -> Fault | None:
        """What is wrong with a bet whatever else was bet."""
        bet, stake = request.bet, request.stake
        if not _is_player(request.player):
            return "bad_player", "a player id is 1 to 64 printable ASCII characters without spaces"
        if bet not in self.BETS:
            return "unknown_bet", f"{self.setting.game} has no bet {bet[:40]!r}; its bets are {', '.join(self.BETS)}"
        if type(stake) is not int or not 1 <= stake <= STAKE_MAX:
            return "bad_stake", f"a stake is a whole number of minor units from 1 to {STAKE_MAX}, not {stake!r}"
        limits = self.setting.limits.get(bet)
        if limits is not None and limits.min is not None and stake < limits.min:
            return "below_minimum", f"the minimum for {bet} is {limits.min}"
        if limits is not None and limits.max is not None and stake > limits.max:
            return "above_maximum", f"the maximum for {bet} is {limits.max}"
        table = PAYTABLES.get(bet)
        if table is not None and not table.offered(self.round_in_shoe):
            return "round_limit", f"{bet} is offered in the first {table.rounds} rounds of a shoe"
        return None

    def _place_fault(self, request: BetRequest) -> Fault | None:
        """What is wrong with a bet beside the player's and others' bets. Here: no boxes, each bet once."""
        if request.box is not None or request.behind:
            return "bad_box", f"{self.setting.game} has no boxes"
        return self._repeated(request)

    def _repeated(self, request: BetRequest) -> Fault | None:
        entry = self.entries.get(request.player)
        if entry is not None:
            for bet in entry.bets:
                if bet.bet == request.bet and bet.box == request.box:
                    return "already_placed", f"{request.player} has a bet on {bet.bet} in this round"
        return None

    def _is_repeat(self, request: BetRequest) -> bool:
        """This very bet stands: its wallet sends it again because it missed the answer."""
        entry = self.entries.get(request.player) if request.transaction is not None else None
        return entry is not None and any(
            (bet.bet, bet.stake, bet.box, bet.behind, bet.transaction)
            == (request.bet, request.stake, request.box, request.behind, request.transaction)
            for bet in entry.bets
        )

    def _debit_fault(self, request: BetRequest) -> Fault | None:
        """What is wrong with the form of a platform's debit."""
        transaction, available = request.transaction, request.available
        if self.money.embedded:
            if transaction is not None or available is not None:
                return "bad_transaction", "an embedded wallet takes the stake itself: no transaction, no balance"
            return None
        if transaction is None or not _is_text(transaction, 128):
            return "bad_transaction", "the debit's transaction is 1 to 128 printable ASCII characters"
        if type(available) is not int or not 0 <= available <= BALANCE_MAX:
            return "bad_transaction", f"available is the balance after the debit, 0 to {BALANCE_MAX}"
        return None

    def _spent_fault(self, request: BetRequest, spent: Set[str]) -> Fault | None:
        """A debit is good for one bet. Comes before what is wrong with this bet, lest that debit be rolled back."""
        transaction = request.transaction
        if transaction is not None and (transaction in self.money.transactions or transaction in spent):
            return "transaction_known", f"transaction {transaction!r} came with another bet, whose debit it is"
        return None

    def _funds_fault(self, request: BetRequest) -> Fault | None:
        if not self.money.embedded:
            return None
        if request.player not in self.money.balances:
            return "unknown_player", f"the wallet holds no account of {request.player}"
        if self.money.available(request.player) < request.stake:
            return "insufficient_balance", f"the balance is less than {request.stake}"
        return None

    def _take_bet(self, row: Bet) -> None:
        """Move the stake and keep the bet; sums are kept by the batch."""
        self.money.take_bet(row.player, row.stake, row.transaction, row.available)
        entry = self.entries.get(row.player)
        found = Entry((row,)) if entry is None else Entry((*entry.bets, row), (), None, ())
        self.entries.set(row.player, found)

    def _count_bets(self, rows: Sequence[Bet]) -> None:
        """Keep the sums by which the result is computed."""
        added: dict[str, list[int]] = {}
        for row in rows:
            found = added.setdefault(row.bet if row.box is None else f"{row.bet}/{row.box}", [0, 0, 0])
            found[0] += 1
            found[1] += row.stake
            found[2] += self._part(row.bet, row.stake)
        for key, numbers in added.items():
            self.sums[key] = self.sums.get(key, NOTHING) + Sum(*numbers)

    def _part(self, bet: str, stake: int) -> int:  # noqa: ARG002 - half for all games but Baccarat
        """The floored fraction of a stake that its payout needs (``Sum.part``)."""
        return stake // 2

    def close_bets(self) -> None:
        """No more bets."""
        self._expect("betting")
        self.phase = "playing"

    def _expect(self, *phases: Phase) -> None:
        if self.phase not in phases:
            raise BookFault(f"the book is {self.phase}, not {' or '.join(phases)}")


def require_batch(requests: Sequence[object]) -> None:
    """Raises ``BookRefusal`` for more rows than one batch may carry."""
    if len(requests) > BATCH_MAX:
        raise BookRefusal("batch_too_large", f"{len(requests)} rows in one batch; at most {BATCH_MAX} are taken")


class Asking(Protocol):
    """A request that names its player."""

    @property
    def player(self) -> str: ...


Q = TypeVar("Q", bound=Asking)
R = TypeVar("R", bound=Row)


def check_each(requests: Sequence[Q], check: Callable[[Q, bool], R | Fault]) -> Checked[R]:
    """What a batch comes to whose rows do not touch each other. ``check`` is also told whether the player has a row
    that stands in this batch. Raises ``BookRefusal`` for too many rows."""
    require_batch(requests)
    checked: Checked[R] = Checked([], [])
    seen: set[str] = set()
    for index, request in enumerate(requests):
        found = check(request, request.player in seen)
        if isinstance(found, Row):
            seen.add(request.player)
            checked.rows.append(found)
        else:
            checked.refused.append(Refused(index, request.player[:PLAYER_MAX], *found))
    return checked


def _is_text(text: str, longest: int) -> bool:
    return 0 < len(text) <= longest and text.isascii() and text.isprintable() and " " not in text


def _is_player(text: str) -> bool:
    return _is_text(text, PLAYER_MAX)
