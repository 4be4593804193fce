"""The table: one way in (``decide``), one way out (facts or a refusal)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from controller import facts as f
from controller.book import open_book
from controller.refusal import Refusal
from controller.rules import PROCEDURES
from controller.rules.steps import Step
from controller.table import approvals, betting, people, sightings
from controller.table.advance import advance
from controller.table.draft import Draft, Setting
from controller.table.fold import Fold, replay_error
from controller.table.inputs import (
    AnswerInput,
    BalancesInput,
    CalibrationInput,
    ClockInput,
    CommandInput,
    Deadline,
    DeadlineInput,
    DiskInput,
    Input,
    ServerInput,
    ShoeInput,
    Start,
)
from controller.table.orders import close_by_book, order, void
from controller.table.reads import shoe_event
from controller.table.state import TableState


@dataclass(frozen=True, slots=True)
class Outcome:
    """What ``decide`` found: the draft with its facts, or a refusal and nothing else."""

    state: TableState
    records: tuple[f.Record, ...]
    refusal: Refusal | None = None
    reply: Mapping[str, Any] = field(default_factory=dict)
    #: What the procedure demands in ``state``, holds aside, if it was looked up.
    step: Step | None = None


#: In a replay nobody holds an older copy of the book, so its changes are folded in now and then.
_COMMIT_EVERY: Final = 16


class JournalFault(Exception):
    """A journal that the rules of this table do not allow; the start stops (design page 3)."""


class Table:
    """Pure: no I/O, no clock. Times are monotonic milliseconds and come with the input."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.state = TableState(book=open_book(setting.book) if setting.book is not None else None)
        self._fold = Fold()
        self._busy = False
        self._step: Step | None = None

    def replay(self, facts: Iterable[f.Fact], now: int = 0) -> None:
        """Fold a journal. Raises ``JournalFault`` at the first fact that is not possible."""
        self._step = None
        state, book, apply = self.state, self.state.book, self._fold.apply
        for count, fact in enumerate(facts):
            try:
                apply(state, fact, now)
            except Refusal as refusal:
                raise JournalFault(replay_error(fact, state.n + 1, refusal)) from refusal
            if book is not None and not count % _COMMIT_EVERY:
                book.commit()
        if book is not None:
            book.commit()
        state.step_due = state.void_due = state.approval_due = state.idle_due = state.camera_due = None
        state.sight_due.clear()

    def decide(self, what: Input, now: int, entropy: bytes) -> Outcome:
        """Decide one input at ``now`` on a draft. The state is untouched until ``accept``."""
        assert not self._busy, "decide is not re-entrant"
        self._busy = True
        try:
            draft = Draft(self.setting, self.state, self._fold, now, entropy, self._step)
            _take(draft, what)
            # After the cut card the same card is still due: the dealer must be told to draw again.
            cut = any(isinstance(r.fact, f.CutCardDrawn) for r in draft.records)
            approvals.withdraw(draft)
            advance(draft, announce=cut or isinstance(what, Start))
            _watch(draft, now)
            return Outcome(draft.state, tuple(draft.records), reply=draft.reply, step=draft.known_step)
        except Refusal as refusal:
            return Outcome(self.state, (), refusal)
        finally:
            self._busy = False

    def accept(self, outcome: Outcome) -> None:
        """Make the draft the state, once its facts are durable."""
        self.state, self._step = outcome.state, outcome.step
        if self.state.book is not None:
            self.state.book.commit()

    def deadline(self) -> tuple[Deadline, int] | None:
        """The next deadline and its monotonic ms; None if nothing is timed. A slice still to be posted is due now."""
        state = self.state
        if state.book is not None and state.book.unposted:
            return "post", 0
        found: list[tuple[int, Deadline]] = []
        if state.step_due is not None and not state.holds:
            found.append((state.step_due, "step"))
        if state.void_due is not None:
            found.append((state.void_due, "void"))
        if state.sight_due and not state.holds:
            found.append((min(state.sight_due.values()), "sight"))
        if state.camera_due is not None:
            found.append((state.camera_due, "camera"))
        if state.approval_due is not None:
            found.append((state.approval_due, "approval"))
        if state.idle_due is not None:
            found.append((state.idle_due, "idle"))
        if not found:
            return None
        due, name = min(found)
        return name, due


def _take(draft: Draft, what: Input) -> None:
    match what:
        case ShoeInput(event):
            shoe_event(draft, event)
        case CommandInput(command, date):
            draft.spent = what.spent
            order(draft, command, date)
        case BalancesInput(rows):
            betting.set_balances(draft, rows)
        case DeadlineInput("step"):
            _step_deadline(draft)
        case DeadlineInput("post"):
            betting.post(draft)
        case DeadlineInput("sight"):
            if not draft.state.holds:
                sightings.due(draft)
        case DeadlineInput("camera"):
            if draft.state.camera_due is not None and draft.now >= draft.state.camera_due:
                sightings.silent(draft)
        case DeadlineInput("approval"):
            if draft.state.approval_due is not None and draft.now >= draft.state.approval_due:
                approvals.expire(draft)
        case DeadlineInput("idle"):
            if draft.state.idle_due is not None and draft.now >= draft.state.idle_due:
                people.lock(draft)
        case DeadlineInput() if draft.state.void_due is not None and draft.now >= draft.state.void_due:
            void(draft, "not resolved in time", "policy:auto_void", shoe=False)
        case AnswerInput(device, action, ok, text):
            draft.emit(f.DeviceAnswered(device=device, action=action, ok=ok, text=text))
        case DiskInput(reason):
            disk(draft, reason)
        case ServerInput(here):
            _game_server(draft, here=here)
        case ClockInput(by_ms):
            draft.emit(f.ClockStepped(by_ms=by_ms))
        case CalibrationInput():
            draft.emit(f.CalibrationSaved(**dataclasses.asdict(what)))
        case Start():
            _start(draft, what)


def _start(draft: Draft, start: Start) -> None:
    state = draft.state
    draft.emit(
        f.TableStarted(
            epoch=state.epoch + 1, program=start.program, config_digest=start.config_digest, config=start.config
        )
    )
    if "shoe" not in state.devices_lost:
        draft.emit(f.DeviceLost(device="shoe", reason="not connected yet"))
    if state.phase != "closed" and "restart" not in state.holds:
        draft.emit(
            f.Paused(hold="restart", reason="cards may have been drawn while the table was down", by="policy:restart")
        )
    sightings.start(draft)
    if state.approvals:
        draft.state.approval_due = draft.now + round(draft.setting.rules.approval_s * 1000)
    draft.touched()
    rules = draft.setting.rules
    too_long = start.away_ms > rules.host_loss_void_after_s * 1000
    if rules.on_restart == "void_round_and_shoe" and state.round_open and too_long:
        void(draft, f"the table was away for {start.away_ms // 1000} s", "policy:on_restart", shoe=True)


def _step_deadline(draft: Draft) -> None:
    state = draft.state
    match state.step.kind:
        case "close_bets" if state.betting is not None:
            _close_in_time(draft)
        case "close_bets" if draft.setting.rules.game == "classic":
            draft.emit(f.DeviceLost(device="game_server", reason="no word in time which seats are occupied"))
        case "close_bets":
            draft.emit(f.BettingClosed(by="policy:deadline"))
        case "insurance":
            draft.emit(f.InsuranceClosed(by="policy:deadline"))
        case "peek":
            assert state.round is not None
            draft.emit(f.DealerPeeked(blackjack=PROCEDURES["boundless"].peek(state.round)))
        case "decide" if state.betting is not None:
            betting.close_window(draft)
        case "follow":
            draft.emit(f.FollowClosed(line=state.step.line or ""))
        case "decide":
            what = f"no demand for {state.step.line} at {state.step.prefix_len} cards in time"
            draft.emit(f.DeviceLost(device="game_server", reason=what))
        case "confirm":
            draft.incident("M-24", expected="the dealer's confirmation", actual="none came in time")
        case "standby":
            draft.incident("M-24", expected="the shoe's stand-by", actual="none came in time")


def _game_server(draft: Draft, *, here: bool) -> None:
    """With a book nobody is played for because the server that would carry his decision is gone (M-35). Where the
    platform decides, the demand that does not come says the same."""
    state = draft.state
    lost = "game_server" in state.devices_lost
    if here and lost and state.book is not None:
        draft.emit(f.DeviceRestored(device="game_server"))
    elif not here and not lost and state.betting is not None and state.round_open:
        draft.emit(f.DeviceLost(device="game_server", reason="its connection was lost"))


def _close_in_time(draft: Draft) -> None:
    """Betting ends; a seated table at which nobody sits waits for another betting time."""
    try:
        close_by_book(draft, "policy:deadline")
    except Refusal:
        draft.state.step_due = draft.now + round(draft.setting.rules.betting_s * 1000)


def _watch(draft: Draft, now: int) -> None:
    """An incident or a lost device voids the round when nobody resolves it in time (ERR-03)."""
    state, limit = draft.state, draft.setting.rules.auto_void_after_s
    troubled = any(h.name in ("incident", "device") for h in state.holds.values())
    if not (troubled and state.round_open and limit > 0):
        state.void_due = None
    elif state.void_due is None:
        state.void_due = now + round(limit * 1000)


def disk(draft: Draft, reason: str) -> None:
    """The table stops while its record can still say so, and goes on when there is room."""
    lost = "disk" in draft.state.devices_lost
    if reason and not lost:
        draft.emit(f.DeviceLost(device="disk", reason=reason))
    elif not reason and lost:
        draft.emit(f.DeviceRestored(device="disk"))
