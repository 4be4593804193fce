"""The book against the rule vectors: every figure about players, seats and bettors, from the given fields alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from controller.book.rows import BetRequest
from controller.rules.scores import blackjack_score, burn_count

Row = dict[str, Any]
READINGS: dict[str, Callable[[Any], Row]] = {
    "split_order": lambda value: {"split_order": value},
    "split_second": lambda value: {"split_second": value},
    "dealer": lambda value: {"dealer_draws": value},
    "das": lambda value: {"double_after_split": value},
    "surrender": lambda value: {"surrender_against": {"no_AT": "two_to_nine", "no_A": "two_to_ten"}[value]},
}


def lines_of(shared: Path, name: str) -> tuple[Row, list[Row]]:
    header, *rows = (json.loads(line) for line in (shared / "vectors" / f"{name}.jsonl").read_text().splitlines())
    return header, rows


def options_of(header: Row) -> Row:
    found: Row = {}
    for word, value in header["readings"].items():
        if word in READINGS:
            found |= READINGS[word](value)
    return found


class Source:
    """Cards of one shoe, the burn taken off."""

    def __init__(self, cards: Sequence[str], burn: str) -> None:
        self.cards, self.at = cards, 1 + burn_count(cards[0]) if burn == "additional" else 0
        self.rounds = 0

    def __iter__(self) -> Iterator[str]:
        while True:
            self.at += 1
            yield self.cards[self.at - 1]


def side(bet: Any) -> Row:
    category = None if bet.result == "lose" else bet.result
    return {"stake": bet.stake, "category": category, "odds": bet.odds, "return": bet.returned}


def insurance(paid: Any) -> Row:
    if paid.insurance is None:
        return {"bought": False, "stake": 0, "return": 0}
    return {"bought": True, "stake": paid.insurance.stake, "return": paid.insurance.returned}


def script(base: type[Any], row: Row, name_of: Callable[[str], Any]) -> Any:
    """People who ask what the vector's given fields say."""
    asking = row.get("players") or row.get("seats") or []

    class Script(base):  # type: ignore[misc]
        def __init__(self) -> None:
            self.left = {who["id"]: [(d["hand"], d["n"], d["request"]) for d in who["decisions"]] for who in asking}
            self.decisions: dict[str, list[Row]] = {who["id"]: [] for who in asking}
            self.now: dict[str, Row] = {}

        def insure(self) -> list[str]:
            return [who["id"] for who in asking if who["wants_insurance"] and "main" in who["bets"]]

        def window(self, felt: Any, line: str, cards: Sequence[str], legal: Sequence[str]) -> None:
            self.now = {}
            for player in self.decisions:
                hands = [h for h in felt.book.story(player).hands if h.line == line and not h.played]
                if hands:
                    assert hands[0].length == len(cards)
                    self.now[player] = {
                        "hand": name_of(line),
                        "n": len(cards),
                        "score": blackjack_score(cards).total,
                        "legal": list(legal),
                        "offered": list(felt.book.offered(player, legal)),
                        "auto_before": hands[0].auto,
                    }

        def decide(self, line: str, n: int, legal: Sequence[str]) -> list[tuple[str, str]]:  # noqa: ARG002
            found = []
            for player in self.now:
                hand, length, request = self.left[player][0]
                assert (hand, length) == (name_of(line), n), (player, line, n)
                if request not in (None, "none"):
                    found.append((player, request))
            return found

        def locked(self, felt: Any, line: str, n: int) -> None:
            for player, decision in self.now.items():
                del self.left[player][0]
                play = felt.book.plays(player)[-1]
                assert (play.line, play.n) == (line, n)
                assert play.auto == (decision.pop("auto_before") or play.request == "none")
                decision |= {"request": play.request, "auto": play.auto, "effect": play.effect}
                self.decisions[player].append(decision)

        def follow(self, line: str, kind: str) -> list[tuple[str, bool]]:
            """Who does not follow says so or does not answer, in turn."""
            seat = int(line.split("/")[1])
            found = []
            for number, who in enumerate(row["behind"]):
                for bet in who["bets"]:
                    wants = bet[f"follow_{kind}"]
                    if bet["seat"] == seat and (wants or number % 2):
                        found.append((who["id"], wants))
            return found

    return Script()


def hand_rows(paid: Any, cards: Row, name_of: Callable[[str], Any]) -> list[Row]:
    found = []
    for hand in paid.hands:
        faces = cards[hand.line][: hand.length]
        found.append(
            {
                "hand": name_of(hand.line),
                "cards": faces,
                "score": blackjack_score(faces).total,
                "stake": hand.stake,
                "doubled": hand.doubled,
                "result": hand.result,
                "return": hand.returned,
            }
        )
    return found


def totals(felt: Any, paid: Any, player: str) -> Row:
    return {"total_stake": paid.stake, "total_return": paid.returned, "balance_after": felt.balance(player)}


def same(wanted: Row, got: Row, where: str) -> None:
    """Compare every field the vectors have and no other; ``style`` is a comment."""
    wanted = {key: value for key, value in wanted.items() if key != "style"}
    assert got == wanted, where


BOUNDLESS = ["boundless", "boundless_variants", "boundless_cut_first", "boundless_cut_first_current"]


@pytest.mark.parametrize("name", BOUNDLESS)
def test_boundless(shared: Path, felt: type[Any], people: type[Any], name: str) -> None:
    header, rows = lines_of(shared, name)
    table = felt("boundless", **options_of(header))
    source = Source([], "none")
    for row in rows:
        if row["type"] == "shoe":
            source = Source(row["cards"], header["readings"]["burn"])
            continue
        source.rounds += 1
        assert (source.at, source.rounds) == (row["start_pos"], row["round_in_shoe"])
        table.fund(**{who["id"]: who["balance"] for who in row["players"]})
        table.open(source.rounds)
        asked = [BetRequest(who["id"], bet, n) for who in row["players"] for bet, n in who["bets"].items()]
        checked = table.bet(*asked)
        assert {r.code for r in checked.refused} <= {"round_limit"}
        acting = script(people, row, str)
        settlement = table.play(iter(source), acting)
        assert source.at == row["end_pos"]
        offered_insurance = any(event["e"] == "insurance_offer" for event in row["events"])
        for who in row["players"]:
            player = who["id"]
            paid = table.book.paid(player)
            refused = {asked[r.index].bet: asked[r.index].stake for r in checked.refused if r.player == player}
            got = {
                **{key: who[key] for key in ("id", "balance", "bets", "wants_insurance")},
                "accepted": {bet.bet: bet.stake for bet in checked.rows if bet.player == player},
                "rejected": refused,
                "decisions": acting.decisions[player],
                "hands": hand_rows(paid, table.cards(), str),
                "side": {bet.bet: side(bet) for bet in paid.bets},
                **totals(table, paid, player),
            }
            if "main" in got["accepted"] and offered_insurance:
                got["insurance"] = insurance(paid)
            same(who, got, f"{name} round {row['round']} {player}")
        assert settlement.stake == sum(who["total_stake"] for who in row["players"])
        assert settlement.returned == sum(who["total_return"] for who in row["players"])


def hand_number(line: str) -> int:
    return int(line[-1])


@pytest.mark.parametrize("name", ["classic", "classic_variants"])
def test_classic(shared: Path, felt: type[Any], people: type[Any], name: str) -> None:
    header, rows = lines_of(shared, name)
    table = felt("classic", **options_of(header))
    source = Source([], "none")
    for row in rows:
        if row["type"] == "shoe":
            source = Source(row["cards"], header["readings"]["burn"])
            continue
        source.rounds += 1
        assert (source.at, source.rounds) == (row["start_pos"], row["round_in_shoe"])
        table.fund(**{who["id"]: who["balance"] for who in [*row["seats"], *row["behind"]]})
        table.open(source.rounds)
        asked = [BetRequest(w["id"], bet, n, w["seat"]) for w in row["seats"] for bet, n in w["bets"].items()]
        for who in row["behind"]:
            for bet in who["bets"]:
                named = [word for word in ("main", "pair") if word in bet]
                asked += [BetRequest(who["id"], word, bet[word], bet["seat"], True) for word in named]
        assert not table.bet(*asked).refused
        acting = script(people, row, hand_number)
        settlement = table.play(iter(source), acting)
        assert source.at == row["end_pos"]
        insured = any(event["e"] == "insurance_offer" for event in row["events"])
        where = f"{name} round {row['round']}"
        for who in row["seats"]:
            check_seat(table, who, acting, insured, where)
        for who in row["behind"]:
            check_behind(table, who, where)
        everybody = [*row["seats"], *row["behind"]]
        assert settlement.stake == sum(who["total_stake"] for who in everybody)
        assert settlement.returned == sum(who["total_return"] for who in everybody)


def check_seat(table: Any, who: Row, acting: Any, insured: bool, where: str) -> None:
    player = who["id"]
    paid = table.book.paid(player)
    got = {
        **{key: who[key] for key in ("seat", "id", "balance", "bets", "wants_insurance")},
        "decisions": acting.decisions[player],
        "hands": hand_rows(paid, table.cards(), hand_number),
        "side": {bet.bet: side(bet) for bet in paid.bets},
        "forced_to_leave": paid.forced_to_leave,
        **totals(table, paid, player),
    }
    if insured:
        got["insurance"] = insurance(paid)
    same(who, got, f"{where} {player}")


def check_behind(table: Any, who: Row, where: str) -> None:
    player = who["id"]
    paid = table.book.paid(player)
    follows = table.book.entries.get(player).follows
    bets = []
    for bet in who["bets"]:
        seat = f"seat/{bet['seat']}/"
        hands = [hand for hand in paid.hands if hand.line.startswith(seat)]
        holder = table.book.seats[bet["seat"]]
        plays = table.book.plays(holder)
        doubled = {p.line for p in plays if p.effect == "double"}
        answers: Row = {"split": None, "double": None}
        if any(p.effect == "split" for p in plays):
            answers["split"] = {"requested": bet["follow_split"], "followed": len(hands) == 2}
        if doubled & {hand.line for hand in hands}:
            answers["double"] = {"requested": bet["follow_double"], "followed": any(h.doubled for h in hands)}
        assert all(f.extra for f in follows if f.line.startswith(seat) and bet[f"follow_{f.kind}"])
        found = {
            **{key: bet[key] for key in ("seat", "main", "pair", "follow_split", "follow_double") if key in bet},
            **answers,
            "hands": [
                {"hand": hand_number(h.line), "stake": h.stake, "result": h.result, "return": h.returned}
                for h in hands
            ],
        }
        if "pair" in bet:
            found["pair_result"] = next(side(b) for b in paid.bets if b.box == bet["seat"])
        bets.append(found)
    got = {"id": player, "balance": who["balance"], "bets": bets, **totals(table, paid, player)}
    same(who, got, f"{where} {player}")


def test_baccarat(shared: Path, felt: type[Any]) -> None:
    _, rows = lines_of(shared, "baccarat")
    table = felt("baccarat")
    for row in rows:
        if row["type"] == "shoe":
            continue
        table.fund(P=10**9)
        table.open()
        table.bet(*[BetRequest("P", bet, stake) for bet, stake in row["bets"].items()])
        settlement = table.play(iter(row["cards"]))
        paid = table.book.paid("P")
        got = {bet.bet: {"stake": bet.stake, "return": bet.returned} for bet in paid.bets}
        assert (got, paid.stake, paid.returned) == (row["results"], row["total_stake"], row["total_return"])
        assert (settlement.stake, settlement.returned) == (row["total_stake"], row["total_return"])
        assert table.balance("P") == 10**9 - paid.stake + paid.returned
