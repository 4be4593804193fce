"""The fold: how one fact changes the state. ``decide`` and replay use it alike, so they cannot differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from controller import facts as f
from controller.book.hands import HandBook
from controller.cards import HIDDEN, SHOE_SIZE
from controller.refusal import Refusal
from controller.rules.blackjack import HOLE, line_cards
from controller.rules.roads import COUPS_MAX
from controller.rules.round import Demand, Round, RoundCard
from controller.rules.steps import Step
from controller.table.fold_book import BOOK
from controller.table.fold_holds import HOLDS, break_off_rescan, note_order, unqueue
from controller.table.lines import cards_by_line
from controller.table.machine import TRIGGERS, PhaseMachine
from controller.table.order import SHOES, UNSEEN
from controller.table.state import Hold, Pending, Sealed, Shoe, TableState

#: Facts that make an older screen unfit to command from (design page 6, ``seen_seq``).
SUPERVISION = frozenset(
    {
        "round_result",
        "result_corrected",
        "approval_requested",
        "approval_given",
        "approval_refused",
        "paused",
        "resumed",
        "incident_raised",
        "incident_resolved",
        "round_voided",
        "shoe_voided",
        "table_reopened",
    }
)


class Fold:
    """Applies facts to a state in place. Raises ``Refusal`` where a guard does not let the phase move."""

    def __init__(self) -> None:
        self._machine = PhaseMachine()

    def apply(self, state: TableState, fact: f.Fact, now: int) -> f.Record:
        """Apply ``fact`` at monotonic ms ``now``; returns it with number, seq and context."""
        kind = fact.type
        if kind in TRIGGERS:
            state.phase = self._machine.fire(kind, state, fact)
        elif isinstance(fact, f.CardRevealed) and fact.position == HOLE:
            state.phase = self._machine.fire("hole_revealed", state, fact)
        elif isinstance(fact, f.CardDealt) and fact.position == HOLE and fact.card != HIDDEN:
            state.phase = self._machine.fire("dealer_second_dealt", state, fact)
        _APPLY.get(type(fact), _nothing)(state, fact, now)
        state.n += 1
        seq = None
        if fact.PUBLIC:
            state.seq += 1
            seq = state.seq
            if kind in SUPERVISION:
                state.supervised_seq = seq
        round_ = state.round
        return f.Record(
            fact=fact,
            n=state.n,
            seq=seq,
            shoe=state.shoe.id if state.shoe else None,
            round=round_.id if round_ else None,
            round_in_shoe=round_.number if round_ else None,
            version=round_.version if round_ else 1,
        )


def _nothing(state: TableState, fact: Any, now: int) -> None: ...


def _table_started(state: TableState, fact: f.TableStarted, now: int) -> None:  # noqa: ARG001
    state.epoch = fact.epoch
    state.step_due = state.void_due = None
    if state.rescan is not None:
        break_off_rescan(state)


def _device_lost(state: TableState, fact: f.DeviceLost, now: int) -> None:  # noqa: ARG001
    state.devices_lost |= {fact.device}
    state.holds[f"device:{fact.device}"] = Hold("device", f"{fact.device}: {fact.reason}", "policy:device")
    if fact.device == "shoe" and state.rescan is not None:
        break_off_rescan(state)


def _device_restored(state: TableState, fact: f.DeviceRestored, now: int) -> None:  # noqa: ARG001
    state.devices_lost -= {fact.device}
    state.holds.pop(f"device:{fact.device}", None)


def _device_reported(state: TableState, fact: f.DeviceReported, now: int) -> None:  # noqa: ARG001
    event = fact.event
    if fact.use == "defer":
        state.deferred = (*state.deferred, event)
        return
    if event in state.deferred:
        at = state.deferred.index(event)
        state.deferred = (*state.deferred[:at], *state.deferred[at + 1 :])
    if fact.use == "act" and event["event"] == "round_result" and state.round is not None:
        state.round.shoe_result = event
        state.standby = False
    elif fact.use == "act" and event["event"] == "standby":
        state.standby = True
    elif event["event"] == "overdrawn_discarded" and state.shoe is not None and state.overdrawn:
        state.shoe.identify(event["card"])


def _read_out_of_game(state: TableState, fact: f.ReadOutOfGame, now: int) -> None:  # noqa: ARG001
    if state.shoe is not None and state.phase not in ("closed", "shoe_change"):
        state.shoe.count(fact.card)
    elif state.shoe is not None and state.phase == "shoe_change" and len(state.shoe.rest) < SHOE_SIZE:
        state.shoe.rest = (*state.shoe.rest, fact.card)


def _tags_left(state: TableState, fact: f.TagsLeft, now: int) -> None:  # noqa: ARG001
    if state.shoe is not None:
        state.shoe.tags |= set(fact.tags)


def _shift_ended(state: TableState, fact: f.ShiftEnded, now: int) -> None:  # noqa: ARG001
    state.shoe = state.round = None
    state.pending = ()


def _shoe_loaded(state: TableState, fact: f.ShoeLoaded, now: int) -> None:  # noqa: ARG001
    state.shoe = Shoe(id=fact.shoe)
    state.shoe_ids |= {fact.shoe}
    state.round = None
    state.pending = state.deferred = ()
    state.standby = True


def _shoe_change(state: TableState, fact: f.ShoeChangeStarted, now: int) -> None:  # noqa: ARG001
    state.pending = state.deferred = ()


def _count(state: TableState, card: str, position: str, *, pending: bool) -> None:
    """A card left the shoe now, or it did before and waited for its place."""
    assert state.shoe is not None
    state.reread = False
    if not pending:
        state.shoe.count(card)
    elif unqueue(state, card, position).card == HIDDEN != card:
        state.shoe.identify(card)


def _burn_indicator(state: TableState, fact: f.BurnIndicatorDrawn, now: int) -> None:  # noqa: ARG001
    assert state.shoe is not None
    _count(state, fact.card, "burn/0", pending=fact.from_hold)
    state.shoe.burn_cards.append(fact.card)
    state.shoe.order = (fact.card,)
    state.shoe.indicator_shown = True
    state.shoe.burn_of = fact.count


def _card_burned(state: TableState, fact: f.CardBurned, now: int) -> None:  # noqa: ARG001
    shoe = state.shoe
    assert shoe is not None
    _count(state, fact.card, f"burn/{fact.done}", pending=fact.from_hold)
    shoe.burn_cards.append(fact.card)
    shoe.order = (*shoe.order, UNSEEN)
    shoe.burn_of, shoe.burned = fact.of, fact.done
    if fact.commitment:
        position = f"burn/{len(shoe.burn_cards) - 1 if shoe.indicator_shown else len(shoe.burn_cards)}"
        shoe.sealed.append(Sealed(shoe.id, position, fact.card, fact.key, fact.commitment))


def _cut_card(state: TableState, fact: f.CutCardDrawn, now: int) -> None:  # noqa: ARG001
    assert state.shoe is not None
    state.shoe.cut_out = True
    state.shoe.last_round = fact.last_round


def _shoe_ended(state: TableState, fact: f.ShoeEnded, now: int) -> None:  # noqa: ARG001
    assert state.shoe is not None
    state.shoe.sealed.clear()


def _betting_opened(state: TableState, fact: f.BettingOpened, now: int) -> None:  # noqa: ARG001
    assert state.shoe is not None
    state.shoe.rounds += 1
    if fact.reshuffled:
        state.shoe.out = 0
        state.shoe.seen.clear()
        state.shoe.tags = frozenset()
        state.shoe.order, state.shoe.order_new = (), 0
        if len(state.shoe.winners) >= COUPS_MAX:
            state.shoe.winners.clear()
    state.round = Round(id=fact.round, number=state.shoe.rounds)
    state.sighted.clear()  # what lies there now belongs to no card of this round
    state.sight_due.clear()
    state.foreseen.clear()
    if state.book is not None and fact.book:
        state.round.booked = True
        state.book.open_round(fact.round, state.shoe.rounds)


def _betting_closed(state: TableState, fact: f.BettingClosed, now: int) -> None:  # noqa: ARG001
    assert state.round is not None
    state.round.seats = fact.seats
    if state.betting is not None:
        state.betting.close_bets()


def _step_opened(state: TableState, fact: f.StepOpened, now: int) -> None:
    if fact.step == "wait" and fact.kept_ms is not None:
        state.kept = (state.step, fact.kept_ms)
    elif fact.step not in ("wait", "rescan"):
        state.kept = None
    state.step = Step(
        fact.step,  # type: ignore[arg-type]
        position=fact.position,
        hidden=fact.hidden,
        others=fact.others,
        line=fact.line,
        prefix_len=fact.prefix_len,
        options=fact.options,
        left=fact.left,
        again=fact.again,
    )
    state.step_ms = fact.until_ms
    state.step_due = None if fact.until_ms is None else now + fact.until_ms


def _card_dealt(state: TableState, fact: f.CardDealt, now: int) -> None:  # noqa: ARG001
    assert state.round is not None
    _count(state, fact.face, fact.position, pending=fact.from_hold)
    if fact.face != HIDDEN:
        state.foreseen.pop(fact.position, None)
    state.round.place(RoundCard(fact.position, fact.face, fact.card != HIDDEN, fact.commitment, fact.key or None))


def _card_revealed(state: TableState, fact: f.CardRevealed, now: int) -> None:  # noqa: ARG001
    assert state.round is not None
    assert state.shoe is not None
    if state.deferred and state.deferred[0]["event"] == "card_revealed":
        state.deferred = state.deferred[1:]
    if state.round.at(fact.position) == HIDDEN:
        state.shoe.identify(fact.card)
    state.round.reveal(fact.position, fact.card)
    if {state.sighted.get(fact.position), state.foreseen.get(fact.position, fact.card)} != {fact.card}:
        state.round.turned += (fact.position,)


def _card_held(state: TableState, fact: f.CardHeld, now: int) -> None:  # noqa: ARG001
    state.pending = (*state.pending, Pending(fact.card, "held", fact.position))
    if state.shoe is not None:
        state.shoe.count(fact.card)


def _insurance_offered(state: TableState, fact: f.InsuranceOffered, now: int) -> None:  # noqa: ARG001
    assert state.round is not None
    state.round.insurance = "open"
    if isinstance(state.betting, HandBook):
        state.betting.open_insurance()


def _insurance_closed(state: TableState, fact: f.InsuranceClosed, now: int) -> None:  # noqa: ARG001
    assert state.round is not None
    state.round.insurance = "closed"
    state.round.decided_at = len(state.round.cards)
    if isinstance(state.betting, HandBook):
        state.betting.close_insurance()


def _dealer_peeked(state: TableState, fact: f.DealerPeeked, now: int) -> None:  # noqa: ARG001
    assert state.round is not None
    state.round.peeked = fact.blackjack


def _decision_opened(state: TableState, fact: f.DecisionOpened, now: int) -> None:  # noqa: ARG001
    assert state.round is not None
    state.round.window = (fact.line, fact.prefix_len)
    if isinstance(state.betting, HandBook) and fact.line != "dealer":
        state.betting.open_window(fact.line, line_cards(state.round, fact.line), fact.options)


def _decision_closed(state: TableState, fact: f.DecisionClosed, now: int) -> None:  # noqa: ARG001
    assert state.round is not None
    state.round.window = None
    if isinstance(state.betting, HandBook) and fact.line != "dealer":
        state.betting.lock(fact.line, line_cards(state.round, fact.line))
    demand = Demand(fact.key, fact.line, fact.prefix_len, fact.draw, fact.split)
    state.round.demands[fact.line, fact.prefix_len] = demand
    state.round.answered[fact.key] = demand
    if fact.line != "dealer":
        state.round.decided_at = len(state.round.cards)


def _hand_split(state: TableState, fact: f.HandSplit, now: int) -> None:  # noqa: ARG001
    assert state.round is not None
    first, second = (f"{line}/{n}" for line, n in zip(fact.lines, (1, 0), strict=True))
    state.round.part(fact.lines)
    moved = state.sighted.pop(first, None) if first.startswith("seat/") else None
    if moved is not None:  # the card moves with its hand: the camera need not have seen it on its way
        state.sighted[second] = moved


def _order_kept(state: TableState, fact: f.ShoeOrderKept, now: int) -> None:  # noqa: ARG001
    state.orders = (*state.orders[-(SHOES - 1) :], frozenset(fact.runs))


def _round_result(state: TableState, fact: f.RoundResult, now: int) -> None:  # noqa: ARG001
    assert state.round is not None
    state.round.outcome = {"hands": fact.hands, "outcomes": fact.outcomes}
    note_order(state)
    if state.betting is not None:
        state.betting.settle(cards_by_line(state.round))
    if fact.roads is not None and state.shoe is not None:
        state.shoe.winners.append(fact.outcomes["winner"])


_APPLY: dict[type[f.Fact], Callable[[TableState, Any, int], None]] = {
    f.TableStarted: _table_started,
    f.DeviceLost: _device_lost,
    f.DeviceRestored: _device_restored,
    f.DeviceReported: _device_reported,
    f.ReadOutOfGame: _read_out_of_game,
    f.TagsLeft: _tags_left,
    f.ShiftEnded: _shift_ended,
    f.ShoeLoaded: _shoe_loaded,
    f.ShoeChangeStarted: _shoe_change,
    f.BurnIndicatorDrawn: _burn_indicator,
    f.CardBurned: _card_burned,
    f.CutCardDrawn: _cut_card,
    f.ShoeEnded: _shoe_ended,
    f.BettingOpened: _betting_opened,
    f.BettingClosed: _betting_closed,
    f.StepOpened: _step_opened,
    **BOOK,
    **HOLDS,
    f.CardDealt: _card_dealt,
    f.CardRevealed: _card_revealed,
    f.CardHeld: _card_held,
    f.InsuranceOffered: _insurance_offered,
    f.InsuranceClosed: _insurance_closed,
    f.DealerPeeked: _dealer_peeked,
    f.DecisionOpened: _decision_opened,
    f.DecisionClosed: _decision_closed,
    f.RoundResult: _round_result,
    f.ShoeOrderKept: _order_kept,
    f.HandSplit: _hand_split,
}


def replay_error(fact: f.Fact, n: int, refusal: Refusal) -> str:
    """Why a journal cannot be folded, for the person who must decide what to do."""
    return f"fact {n} ({fact.type}) is not possible after those before it: {refusal.message}"
