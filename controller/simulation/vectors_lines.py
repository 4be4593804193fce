"""Whole lines of rule vectors: what is given, and what the facts and the book made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from controller.book.pay import LOSES
from controller.book.rows import BetPaid, HandPaid, Paid
from controller.rules.scores import blackjack_score, is_blackjack
from controller.simulation.vectors_input import (
    Behind,
    BehindBet,
    BoundlessRound,
    ClassicRound,
    Coup,
    Player,
    Seat,
    Shoe,
)
from controller.simulation.vectors_scribe import RoundLog, seat_of

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A settled round. ``refused`` are requests that the table refused, by player, line and cards."""

    log: RoundLog
    balance: Callable[[str], int]
    refused: Mapping[tuple[str, str, int], str]


def shoe_line(row: Shoe, events: list[Json]) -> Json:
    """A shoe with its burn."""
    burn = None
    if events:
        shown = [event["card"] for event in events if event["e"] == "burn_indicator"]
        down = len(events) - len(shown)
        burn = {
            "indicator": shown[0] if shown else None,
            "value": down if shown else None,
            "burned_face_down": down,
            "events": events,
        }
    return {"type": "shoe", "shoe": row.shoe, "cards": row.cards, "cut": row.cut, "burn": burn}


def boundless_line(row: BoundlessRound, outcome: Outcome, rejected: Mapping[str, dict[str, int]]) -> Json:
    """A round of the shared hand; ``rejected`` are the refused bets by player."""
    log = outcome.log
    first, dealer = log.cards("main")[:2], log.cards("dealer")
    return {
        **_round(row, log),
        "common": {line: _scored(hand["cards"]) for line, hand in log.hands.items() if line != "dealer"},
        "dealer": {**_dealer(log), "drew": len(dealer) > 2},
        "initial": {
            "player": first,
            "player_score": blackjack_score(first).total,
            "player_bj": is_blackjack(first),
            "dealer_up": dealer[0],
        },
        "players": [_player(player, outcome, rejected.get(player.id, {})) for player in row.players],
    }


def classic_line(row: ClassicRound, outcome: Outcome) -> Json:
    """A round at the seats."""
    return {
        **_round(row, outcome.log),
        "dealer": _dealer(outcome.log),
        "seats": [_seat(seat, outcome) for seat in row.seats],
        "behind": [_behind(bettor, outcome) for bettor in row.behind],
    }


def coup_line(row: Coup, log: RoundLog, paid: Paid | None) -> Json:
    """A coup of baccarat and what its bets are paid."""
    sides = {side: log.hands[side] for side in ("player", "banker")}
    bets = paid.bets if paid is not None else ()
    return {
        "type": "round",
        "round": row.round,
        "cards": row.cards,
        "cut": row.cut,
        "burn": None,
        "bets": row.bets,
        "events": log.events,
        **{side: {"cards": hand["cards"], "points": hand["value"]} for side, hand in sides.items()},
        "natural": any(hand["natural"] for hand in sides.values()),
        "outcome": log.outcomes["winner"].upper(),
        "results": {bet.bet: {"stake": bet.stake, "return": bet.returned} for bet in bets},
        "total_stake": paid.stake if paid is not None else 0,
        "total_return": paid.returned if paid is not None else 0,
    }


def _round(row: BoundlessRound | ClassicRound, log: RoundLog) -> Json:
    return {
        "type": "round",
        "round": row.round,
        "shoe": row.shoe,
        "round_in_shoe": log.number,
        "last_round": log.last,
        "start_pos": log.start,
        "end_pos": log.end,
        "events": log.events,
    }


def _dealer(log: RoundLog) -> Json:
    hand = log.hands["dealer"]
    return {"cards": hand["cards"], "score": hand["score"], "bj": hand["blackjack"], "bust": hand["bust"]}


def _scored(cards: list[str]) -> Json:
    return {"cards": cards, "score": blackjack_score(cards).total}


def _player(player: Player, outcome: Outcome, rejected: Mapping[str, int]) -> Json:
    paid, accepted = outcome.log.paid.get(player.id), outcome.log.accepted.get(player.id, {})
    return {
        "id": player.id,
        "balance": player.balance,
        "bets": player.bets,
        "accepted": accepted,
        "rejected": rejected,
        "wants_insurance": player.wants_insurance,
        **_played(player.id, outcome, paid, lambda line: line),
        **(_insurance(paid) if outcome.log.insurance_offered and "main" in accepted else {}),
        **_totals(player.id, outcome, paid),
    }


def _seat(seat: Seat, outcome: Outcome) -> Json:
    paid = outcome.log.paid.get(seat.id)
    return {
        "seat": seat.seat,
        "id": seat.id,
        "balance": seat.balance,
        "bets": seat.bets,
        "wants_insurance": seat.wants_insurance,
        **_played(seat.id, outcome, paid, lambda line: seat_of(line)[1]),
        **(_insurance(paid) if outcome.log.insurance_offered else {}),
        **_totals(seat.id, outcome, paid),
        "forced_to_leave": paid is not None and paid.forced_to_leave,
    }


def _played(player: str, outcome: Outcome, paid: Paid | None, name: Callable[[str], str | int]) -> Json:
    """Decisions, hands and side bets; ``name`` is what the game's lines call a hand."""
    decisions = []
    for told in outcome.log.decisions.get(player, []):
        row = {key: value for key, value in told.items() if key != "line"}
        if row["request"] == "none":  # a refused request was none to the table
            row["request"] = outcome.refused.get((player, told["line"], told["n"]), "none")
        decisions.append({"hand": name(told["line"]), **row})
    hands = [
        {
            "hand": name(hand.line),
            **_scored(outcome.log.cards(hand.line)[: hand.length]),
            "stake": hand.stake,
            "doubled": hand.doubled,
            "result": hand.result,
            "return": hand.returned,
        }
        for hand in (paid.hands if paid is not None else ())
    ]
    side = {bet.bet: _side(bet) for bet in (paid.bets if paid is not None else ())}
    return {"decisions": decisions, "hands": hands, "side": side}


def _side(bet: BetPaid) -> Json:
    category = None if bet.result == LOSES else bet.result
    return {"stake": bet.stake, "category": category, "odds": bet.odds, "return": bet.returned}


def _insurance(paid: Paid | None) -> Json:
    bought = paid.insurance if paid is not None else None
    stake, returned = (bought.stake, bought.returned) if bought is not None else (0, 0)
    return {"insurance": {"bought": bought is not None, "stake": stake, "return": returned}}


def _totals(player: str, outcome: Outcome, paid: Paid | None) -> Json:
    stake, returned = (paid.stake, paid.returned) if paid is not None else (0, 0)
    return {"total_stake": stake, "total_return": returned, "balance_after": outcome.balance(player)}


def _behind(bettor: Behind, outcome: Outcome) -> Json:
    paid = outcome.log.paid.get(bettor.id)
    return {
        "id": bettor.id,
        "balance": bettor.balance,
        "bets": [_behind_bet(bettor.id, bet, outcome, paid) for bet in bettor.bets],
        **_totals(bettor.id, outcome, paid),
    }


def _behind_bet(player: str, bet: BehindBet, outcome: Outcome, paid: Paid | None) -> Json:
    hands = [hand for hand in (paid.hands if paid is not None else ()) if seat_of(hand.line)[0] == bet.seat]
    sides = [side for side in (paid.bets if paid is not None else ()) if side.box == bet.seat]
    return {
        **msgspec.to_builtins(bet),
        **_answers(player, bet, outcome.log, hands),
        "hands": [
            {"hand": seat_of(hand.line)[1], "stake": hand.stake, "result": hand.result, "return": hand.returned}
            for hand in hands
        ],
        **({"pair_result": _side(sides[0])} if sides else {}),
    }


def _answers(player: str, bet: BehindBet, log: RoundLog, hands: list[HandPaid]) -> Json:
    """What the bettor was asked to follow and did, the last time if his seat doubled both its hands."""
    answers: Json = {"split": None, "double": None}
    on = {hand.line for hand in hands}
    wants = {"split": bet.follow_split, "double": bet.follow_double}
    for line, kind in log.follow_windows:
        if line in on:
            answers[kind] = {"requested": wants[kind], "followed": (player, line, kind) in log.followed}
    return answers
