"""Commands: what each one does to the table, or why it is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from controller import commands as c
from controller import facts as f
from controller.book.classic import ClassicBook
from controller.refusal import Refusal
from controller.rules.side_bets import bets_of
from controller.table import approvals, betting, people, sightings
from controller.table.advance import end_shoe, open_seals
from controller.table.draft import Draft
from controller.table.entries import ENTER, manual
from controller.table.incidents import VOIDS
from controller.table.integrity import shortfall
from controller.table.rescan import start_rescan

#: Holds that a supervisor lifts by `resume`; the others go with their cause.
KEY_MAX = 100
LIFTED_BY_RESUME = ("pause", "restart")
_LIFTED_BY = {"incident": "resolve", "device": "the device to come back", "approval": "approve"}


def order(draft: Draft, command: c.Command, date: str) -> None:
    """Carry out ``command``. Raises ``Refusal``; the draft is then worthless."""
    state = draft.state
    seen = command.seen_seq
    if command.name in c.NEEDS_SEEN_SEQ and (seen is None or not state.supervised_seq <= seen <= state.seq):
        raise Refusal(
            "stale",
            f"what you saw (seq {seen}) is not the table's present state; look again and send the seq you see",
            expected=f"seen_seq of {state.supervised_seq} to {state.seq}",
        )
    if command.role == "game_server" and "game_server" in state.devices_lost:
        draft.emit(f.DeviceRestored(device="game_server"))
    if command.name == "load_shoe":
        _load_shoe(draft, command, date)
    else:
        _ORDERS[command.name](draft, command, command.args)
    if command.role == "dealer":  # what a supervisor does elsewhere keeps no dealer's session open
        draft.touched()


def _free(draft: Draft) -> None:
    """The table may move."""
    holds = draft.state.holds
    if holds:
        named = "; ".join(f"{h.name} ({h.reason})" for h in holds.values())
        lifted = sorted({_LIFTED_BY.get(h.name, "resume") for h in holds.values()})
        raise Refusal("held", f"the table is held: {named}", expected=", ".join(lifted))


def _expect(draft: Draft, kind: str) -> None:
    step = draft.next_step()
    if step.kind != kind:
        raise Refusal(
            "not_allowed_now", f"the procedure waits for {step.kind}, not {kind}", expected=step.position or step.kind
        )


def _posted(draft: Draft) -> None:
    """Everybody in the last round was paid or refunded; until then the table keeps that round."""
    book = draft.state.book
    if book is not None and book.phase == "due":
        raise Refusal("not_allowed_now", "the last round is still being settled", expected="bets_settled")


def _this_round(draft: Draft, round_: str) -> None:
    mine = draft.state.round
    if mine is None or mine.id != round_ or not draft.state.round_open:
        now = mine.id if mine is not None and draft.state.round_open else "none"
        raise Refusal("wrong_round", f"round {round_!r} is not in progress", expected=now)


def _start_shift(draft: Draft, command: c.Command, args: c.StartShift) -> None:
    _free(draft)
    if len(set(args.dealers)) != len(args.dealers) or not all(name and len(name) <= 64 for name in args.dealers):
        raise Refusal("bad_args", "start_shift: name each dealer once", expected="names as in the key folder")
    draft.emit(f.ShiftStarted(by=command.by, dealers=tuple(args.dealers)))


def _end_shift(draft: Draft, command: c.Command, args: Any) -> None:  # noqa: ARG001 - all orders are called alike
    _free(draft)
    _posted(draft)
    if draft.state.phase in ("burning", "result"):
        end_shoe(draft, "shift ended")
    elif draft.state.phase == "voided":
        open_seals(draft)
    if draft.state.dealer is not None:
        draft.emit(f.DealerLoggedOff(dealer=draft.state.dealer, by=command.by))
    draft.emit(f.ShiftEnded(by=command.by))


def _load_shoe(draft: Draft, command: c.Command, date: str) -> None:
    assert isinstance(command.args, c.LoadShoe)
    _free(draft)
    _posted(draft)
    old = draft.state.shoe
    if old is not None and draft.state.phase == "shoe_change":
        missing = shortfall(old, command.args.left, draft.setting.rules.reconcile)
        if missing is not None:
            draft.incident("M-28", expected="all cards of the shoe", actual=missing, ledger="known")
            return
    shoe = command.args.shoe
    if shoe is None:
        shoe = _new_shoe_id(draft.state.shoe_ids, date)
    elif not (shoe.isascii() and shoe.replace("-", "").isalnum() and len(shoe) <= 40):
        raise Refusal("bad_args", "a shoe id is up to 40 letters, digits and hyphens")
    draft.emit(f.ShoeLoaded(shoe=shoe, by=command.by))


def _new_shoe_id(known: frozenset[str], date: str) -> str:
    number = 1
    while f"{date}-{number:04d}" in known:
        number += 1
    return f"{date}-{number:04d}"


def _open_bets(draft: Draft, command: c.Command, args: Any) -> None:  # noqa: ARG001
    _free(draft)
    state, rules = draft.state, draft.setting.rules
    _expect(draft, "open_bets")
    _posted(draft)
    people.may_open(draft)
    shoe = state.shoe
    assert shoe is not None
    if shoe.left < rules.reserve_cards and rules.shuffle == "cut_card":
        end_shoe(draft, f"fewer than {rules.reserve_cards} cards left")
        return
    draft.emit(
        f.BettingOpened(
            round=f"{shoe.id}-{shoe.rounds + 1:03d}",
            until_ms=round(rules.betting_s * 1000),
            last_round=shoe.last_round == shoe.rounds + 1,
            reshuffled=rules.shuffle == "every_round",
            book=state.book is not None,
            side_bets_open=tuple(t.bet for t in bets_of(rules.game) if t.offered(shoe.rounds + 1)),
        )
    )


def _close_bets(draft: Draft, command: c.Command, args: c.CloseBets) -> None:  # noqa: ARG001
    _free(draft)
    _expect(draft, "close_bets")
    rules, seats, book = draft.setting.rules, tuple(args.seats), draft.state.betting
    if book is not None:
        if seats:
            raise Refusal("wrong_mode", "the table's book knows which seats are occupied: name none")
        close_by_book(draft, "game_server")
        return
    if rules.game != "classic" and seats:
        raise Refusal("bad_args", f"close_bets: {rules.game} has no seats")
    if rules.game == "classic" and not (
        seats and list(seats) == sorted(set(seats)) and seats[0] >= 1 and seats[-1] <= rules.seats
    ):
        raise Refusal(
            "bad_args",
            "close_bets: name the occupied seats once each, in order",
            expected=f"seats of 1 to {rules.seats}",
        )
    draft.emit(f.BettingClosed(by="game_server", seats=seats))


def close_by_book(draft: Draft, by: str) -> None:
    """No more bets; at a seated table somebody must sit."""
    book = draft.state.betting
    occupied = book.occupied if isinstance(book, ClassicBook) else ()
    if draft.setting.rules.game == "classic" and not occupied:
        raise Refusal("not_allowed_now", "nobody has bet on a seat yet", expected="place_bets")
    draft.emit(f.BettingClosed(by=by, seats=occupied))


def _close_decisions(draft: Draft, command: c.Command, args: c.CloseDecisions) -> None:  # noqa: ARG001
    _free(draft)
    _this_round(draft, args.round)
    if args.window == "insurance":
        _expect(draft, "insurance")
        draft.emit(f.InsuranceClosed(by="game_server"))
        return
    betting.book_of(draft)
    step = draft.next_step()
    if step.kind not in ("decide", "follow") or step.line != args.window:
        raise Refusal(
            "not_allowed_now",
            f"no window on {args.window[:40]!r} is open",
            expected=f"{step.kind} {step.line or ''}".strip(),
        )
    if step.kind == "follow":
        draft.emit(f.FollowClosed(line=args.window))
    else:
        betting.close_window(draft)


def _place_bets(draft: Draft, command: c.Command, args: c.PlaceBets) -> None:  # noqa: ARG001
    _bettable(draft, args.round)
    betting.place_bets(draft, args)


def _set_balances(draft: Draft, command: c.Command, args: c.SetBalances) -> None:  # noqa: ARG001
    betting.set_balances(draft, args.accounts)


def _insure(draft: Draft, command: c.Command, args: c.Insure) -> None:  # noqa: ARG001
    _bettable(draft, args.round)
    betting.insure(draft, args)


def _decide(draft: Draft, command: c.Command, args: c.Decide) -> None:  # noqa: ARG001
    _bettable(draft, args.round)
    betting.decide(draft, args)


def _follow(draft: Draft, command: c.Command, args: c.FollowBets) -> None:  # noqa: ARG001
    _bettable(draft, args.round)
    betting.follow(draft, args)


def _bettable(draft: Draft, round_: str) -> None:
    """Bets and decisions are taken for the round in progress, never while the table is held."""
    betting.book_of(draft)
    _free(draft)
    _this_round(draft, round_)


def _branch_demand(draft: Draft, command: c.Command, args: c.BranchDemand) -> None:  # noqa: ARG001
    state = draft.state
    if state.betting is not None:
        raise Refusal("wrong_mode", 'this table has decisions = "book": players decide by `decide`')
    same = state.demand_with(args.key) if state.round is not None and state.round.id == args.round else None
    if same is not None:  # I9: answered again, not drawn twice
        if (same.line, same.prefix_len, same.draw, same.split) != (args.line, args.prefix_len, args.draw, args.split):
            raise Refusal("key_reused", f"key {args.key!r} was used for another demand of this round")
        return
    if not 1 <= len(args.key) <= KEY_MAX:
        raise Refusal("bad_args", f"branch_demand: a key has 1 to {KEY_MAX} characters")
    _this_round(draft, args.round)
    _free(draft)
    step = draft.next_step()
    if step.kind != "decide" or (step.line, step.prefix_len) != (args.line, args.prefix_len):
        waits = f"decide {step.line} at {step.prefix_len}" if step.kind == "decide" else step.kind
        raise Refusal(
            "not_allowed_now", f"no window on {args.line} at {args.prefix_len} cards is open", expected=waits
        )
    if args.split and "split" not in step.options:
        raise Refusal("not_allowed_now", f"{args.line} cannot be split here", expected=", ".join(step.options))
    if args.split and args.draw and args.line.startswith("seat/"):
        raise Refusal("bad_args", "a split of a seat's hand takes no card by itself: draw must be false")
    draft.emit(
        f.DecisionClosed(line=args.line, prefix_len=args.prefix_len, draw=args.draw, split=args.split, key=args.key)
    )


def _pause(draft: Draft, command: c.Command, args: c.Pause) -> None:
    if "pause" not in draft.state.holds:
        draft.emit(f.Paused(hold="pause", reason=args.reason, by=command.by))


def _resume(draft: Draft, command: c.Command, args: c.Resume) -> None:
    state = draft.state
    lift = [name for name in LIFTED_BY_RESUME if name in state.holds]
    if not lift and "device" in state.holds:  # an error of the shoe whose end was never heard
        lift = ["device"]
    if not lift:
        waits = ", ".join(sorted(state.holds)) or "nothing is held"
        raise Refusal("not_allowed_now", "there is no pause or restart to lift", expected=waits)
    if "restart" in lift and state.on_felt:
        if args.how is None:
            raise Refusal(
                "bad_args",
                "after a restart say how the order of cards was proven",
                expected="how: felt_agrees, or rescan with cards",
            )
        if args.how == "rescan":
            lift.remove("restart")
            start_rescan(draft, command, "restart", args.cards, args.reason)
    elif "restart" in lift and args.how == "rescan" and args.cards and state.phase not in ("shoe_change", "voided"):
        lift.remove("restart")
        start_rescan(draft, command, "restart", args.cards, args.reason)
    for name in lift:
        draft.emit(f.Resumed(hold=name, reason=args.reason, by=command.by))


def _resolve(draft: Draft, command: c.Command, args: c.Resolve) -> None:
    incident = draft.state.incidents.get(args.incident)
    if incident is None:
        open_ = ", ".join(map(str, sorted(draft.state.incidents))) or "none is open"
        raise Refusal("no_incident", f"incident {args.incident} is not open", expected=open_)
    if args.resolution not in incident.resolutions:
        raise Refusal(
            "not_legal",
            f"{args.resolution!r} is not legal for incident {args.incident}",
            expected=", ".join(incident.resolutions),
        )
    earlier = [n for n, i in draft.state.incidents.items() if n < args.incident and i.cards]
    if args.resolution == "use_as_next" and earlier and incident.cause != "M-02":
        raise Refusal(
            "not_legal",
            f"a card of incident {min(earlier)} left the shoe before this one: resolve that first",
            expected=f"resolve incident {min(earlier)}",
        )
    if args.resolution == ENTER:
        raise Refusal("not_legal", "a card is entered by its own command", expected="enter_card, then approve")
    if args.resolution == "rescan" and incident.cause in ("M-30", "M-23"):
        start_rescan(draft, command, f"incident:{args.incident}", args.cards, args.reason)
        return
    if args.resolution == "reassign":
        reassign(draft, args.position)
    draft.emit(
        f.IncidentResolved(incident=args.incident, resolution=args.resolution, reason=args.reason, by=command.by)
    )
    if args.resolution in VOIDS:
        foul = incident.cause.startswith("M-26")
        void(draft, args.reason, command.by, shoe=foul or args.resolution == "void_round_and_shoe")


def reassign(draft: Draft, to: str | None) -> None:
    """The last card stays where it lies: the record follows the felt, the place left out is dealt next (M-11..13)."""
    state = draft.state
    round_ = state.round
    if round_ is None or state.phase != "dealing" or not round_.cards:
        raise Refusal("not_allowed_now", "only while the first cards are dealt can a card stay elsewhere")
    last = round_.cards[-1]
    places = [p for p in draft.procedure.deal_places(round_) if round_.at(p) is None]
    if to is None or not last.public or to not in places:
        raise Refusal(
            "bad_args",
            "reassign: name the free place where the last card lies",
            expected="position: " + ", ".join(places),
        )
    draft.emit(f.CardReassigned(position=last.position, to=to))


def _void(draft: Draft, command: c.Command, args: c.Void) -> None:
    state = draft.state
    if not state.round_open and not (args.shoe and state.shoe is not None):
        raise Refusal("not_allowed_now", "no round is in progress", expected=draft.next_step().kind)
    void(draft, args.reason, command.by, shoe=args.shoe)


def void(draft: Draft, reason: str, by: str, *, shoe: bool) -> None:
    """Void the round in progress, and the shoe if asked to (ERR-09) or if its composition is broken (M-26)."""
    foul = any(i.cause.startswith("M-26") for i in draft.state.incidents.values())
    reshuffle = draft.setting.rules.on_error == "cancel_and_reshuffle"
    if draft.state.round_open:
        draft.emit(f.RoundVoided(reason=reason, by=by, shoe=shoe or foul or reshuffle))
        manual(draft, on=False)
        betting.settle(draft)
    else:
        draft.emit(f.ShoeVoided(reason=reason, by=by))
    if "game_server" in draft.state.devices_lost:  # what it did not answer is no longer asked
        draft.emit(f.DeviceRestored(device="game_server"))


def _reopen(draft: Draft, command: c.Command, args: c.Reopen) -> None:
    _free(draft)
    draft.emit(f.TableReopened(reason=args.reason, by=command.by))


_ORDERS: dict[str, Callable[[Draft, c.Command, Any], None]] = {
    "start_shift": _start_shift,
    "end_shift": _end_shift,
    "open_bets": _open_bets,
    "close_bets": _close_bets,
    "close_decisions": _close_decisions,
    "place_bets": _place_bets,
    "set_balances": _set_balances,
    "insure": _insure,
    "decide": _decide,
    "follow": _follow,
    "branch_demand": _branch_demand,
    "pause": _pause,
    "resume": _resume,
    "resolve": _resolve,
    "void": _void,
    "reopen": _reopen,
    "log_on": people.log_on,
    "log_off": people.log_off,
    "confirm": people.confirm,
    "report": people.report,
    "acknowledge": people.acknowledge,
    "enter_card": approvals.enter_card,
    "correct": approvals.correct,
    "approve": approvals.approve,
    "device_command": people.device_command,
    "sighting": sightings.sighting,
    "camera_health": sightings.health,
}
