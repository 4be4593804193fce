"""Baccarat through the real table, for a shoe that shows faces at once and one that reveals them at the end."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from controller import facts as f
from controller.rules.scores import BACCARAT_VALUE
from controller.table.inputs import Input
from controller.table.state import Traits
from controller.table.table import Outcome
from drivers import events as e

ANGEL = Traits(positions=True, results=True, standby=True)
SHARED = Path(os.environ.get("DEALERD_SHARED", Path(__file__).parents[3].parent / "shared"))
H = "**"
ORDER = (("player", 1), ("banker", 1), ("player", 2), ("banker", 2), ("player", 3), ("banker", 3))


def hands(p: str, b: str) -> list[tuple[str, int, str]]:
    """The cards of both hands in deal order, as (target, index, card)."""
    faces = {("player", n): c for n, c in enumerate(p.split(), 1)}
    faces |= {("banker", n): c for n, c in enumerate(b.split(), 1)}
    return [(*place, faces[place]) for place in ORDER if place in faces]


def drawn(cards: list[tuple[str, int, str]], *, hidden: bool) -> list[e.Event]:
    return [e.CardDrawn(H if hidden else c, t, i) for t, i, c in cards]


def reveals(cards: list[tuple[str, int, str]]) -> list[e.Event]:
    return [e.CardRevealed(c, t, i) for t, i, c in cards]


def outcome(cards: list[tuple[str, int, str]]) -> e.RoundResult:
    by = {side: [c for t, _, c in cards if t == side] for side in ("player", "banker")}
    p, b = (sum(BACCARAT_VALUE[c[0]] for c in by[s]) % 10 for s in ("player", "banker"))
    winner = "player" if p > b else "banker" if b > p else "tie"
    pairs = [by[s][0][0] == by[s][1][0] for s in ("player", "banker")]
    return e.RoundResult(winner, *pairs)  # type: ignore[arg-type]


def table(bench: Any, **rules: Any) -> Any:
    return bench("baccarat", traits=ANGEL, **({"burn": "none"} | rules)).open_round()


def play(b: Any, cards: list[tuple[str, int, str]], *, hidden: bool) -> None:
    b.shoe(*drawn(cards, hidden=hidden))
    if hidden:
        b.shoe(*reveals(cards))
    b.shoe(outcome(cards), e.StandBy())


def quick(bench: Any, **rules: Any) -> Any:
    class Quick(bench):  # type: ignore[misc]
        def put(self, what: Input) -> Outcome:
            self._inputs += 1
            found = self.table.decide(what, self.now, self._inputs.to_bytes(32, "big"))
            self.table.accept(found)
            self.records += found.records
            return found

    return table(Quick, **rules)


# --- BAC-07..10: every row of the tableau ------------------------------

NAMES = "0A23456789"


def two(value: int, suit: str) -> str:
    """Two cards worth ``value``, no pair."""
    return f"K{suit} {'Q' if value == 0 else 'A23456789'[value - 1]}{suit}"


def third_cards(p: int, b: int, p3: int) -> tuple[bool, bool]:
    """The tableau again, written from rules.md part 4 and not from the code: (PLAYER draws, BANKER draws)."""
    if p >= 8 or b >= 8:
        return False, False
    if p > 5:
        return False, b <= 5
    rows = {
        0: "DDDDDDDDDD", 1: "DDDDDDDDDD", 2: "DDDDDDDDDD", 3: "DDDDDDDDSD",
        4: "SSDDDDDDSS", 5: "SSSSDDDDSS", 6: "SSSSSSDDSS", 7: "SSSSSSSSSS",
    }  # fmt: skip
    return True, rows[b][p3] == "D"


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("b", range(10))
def test_BAC_10_every_row_of_the_tableau(bench: Any, b: int, hidden: bool) -> None:
    t = quick(bench, reserve=0)
    for p in range(10):
        for p3 in range(10):
            p_draws, b_draws = third_cards(p, b, p3)
            third = f" {'T' if p3 == 0 else 'A23456789'[p3 - 1]}H" if p_draws else ""
            cards = hands(two(p, "S") + third, two(b, "D") + (" 5C" if b_draws else ""))
            t.state.shoe.seen.clear()  # the inventory is another test's matter
            t.state.shoe.out = 0
            if t.state.phase == "result":
                t.ok("open_bets")
                t.ok("close_bets")
            places = []
            for event in drawn(cards, hidden=hidden):
                assert t.state.step.kind == "draw"
                place = f"{event.target}/{event.index - 1}"
                assert t.state.step.takes(place), (p, b, p3)
                places.append(place)
                t.shoe(event)
            if hidden:
                for event in reveals(cards):
                    assert t.state.step.kind == "reveal" or "reveal" in t.state.step.others
                    t.shoe(event)
            assert t.step == "shoe_result", (p, b, p3)
            t.shoe(outcome(cards))
            assert (t.step, t.state.holds) == ("standby", {})
            t.shoe(e.StandBy())
            assert t.state.phase == "result"
            assert t.last(f.RoundResult).outcomes["winner"] == outcome(cards).winner


@pytest.mark.parametrize("hidden", [False, True])
def test_a_coup_publishes_its_cards_in_order(bench: Any, hidden: bool) -> None:
    b = table(bench)
    cards = hands("TS 2S 3H", "KD 6D")  # PLAYER 2 draws a three, BANKER stands on 6
    play(b, cards, hidden=hidden)
    dealt = [(r.fact.position, r.fact.card) for r in b.records if isinstance(r.fact, f.CardDealt)]
    faces = [H] * 5 if hidden else ["TS", "KD", "2S", "6D", "3H"]
    assert dealt == list(zip(["player/0", "banker/0", "player/1", "banker/1", "player/2"], faces, strict=True))
    shown = [(r.fact.position, r.fact.card) for r in b.records if isinstance(r.fact, f.CardRevealed)]
    assert len(shown) == (5 if hidden else 0)
    assert b.state.shoe.out == 5
    assert sum(b.state.shoe.seen.values()) == 5
    assert b.last(f.RoundResult).hands["player"]["value"] == 5
    assert (b.state.phase, b.step) == ("result", "open_bets")


def test_a_line_shoe_needs_neither_result_nor_standby(bench: Any) -> None:
    b = bench("baccarat").open_round()
    b.cards("TS KD 9S 6D")
    assert (b.state.phase, b.step) == ("result", "open_bets")
    assert b.last(f.RoundResult).outcomes == {"winner": "player", "player_pair": False, "banker_pair": False}


def test_repeats_of_the_shoe_change_nothing(bench: Any) -> None:
    b = table(bench)
    b.shoe(e.CardDrawn("TS", "player", 1))
    facts = b.shoe(e.CardDrawn("TS", "player", 1))
    assert b.types(facts) == ["read_repeated"]
    assert (b.step, b.state.shoe.out) == ("draw banker/0", 1)


# --- the shoe's result ------------------------------


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize(
    "wrong",
    [
        e.RoundResult("banker", False, False),
        e.RoundResult("player", True, False),
        e.RoundResult("forced", False, False),
    ],
)
def test_M_03_a_result_that_disagrees_with_the_cards(bench: Any, hidden: bool, wrong: e.RoundResult) -> None:
    b = table(bench)
    cards = hands("TS 9S", "KD 6D")
    b.shoe(*drawn(cards, hidden=hidden), *(reveals(cards) if hidden else []), wrong)
    assert b.incident == "M-03"
    assert b.last(f.IncidentRaised).resolutions == ("void_round", "void_round_and_shoe")
    assert "round_result" not in b.types()
    b.resolve("void_round")
    b.ok("reopen", reason="checked")
    assert b.step == "open_bets"


def test_banker_wins_with_six_is_a_banker_win(bench: Any) -> None:
    b = table(bench)
    b.shoe(*drawn(hands("TS 7S", "KD 8D"), hidden=False))
    assert b.step == "shoe_result"
    b.shoe(e.RoundResult("banker_six", False, False))
    assert b.last(f.RoundResult).outcomes["winner"] == "banker"


@pytest.mark.parametrize("hidden", [False, True])
def test_M_18_a_result_before_the_hands_are_complete(bench: Any, hidden: bool) -> None:
    b = table(bench)
    cards = hands("TS 2S 3H", "KD 6D")
    b.shoe(*drawn(cards[:4], hidden=hidden))
    if hidden:
        b.shoe(*reveals(cards[:4]))
    assert b.step == "draw player/2"
    b.shoe(e.RoundResult("banker", False, False))
    assert b.incident == "M-18"
    assert b.last(f.IncidentRaised).resolutions == ("resume", "void_round", "void_round_and_shoe")
    b.resolve("resume")
    assert b.step == "draw player/2"  # the due card is dealt now
    b.shoe(*drawn(cards[4:], hidden=hidden))
    if hidden:
        assert b.step == "reveal player/2"
        b.shoe(*reveals(cards[4:]))
    assert b.step == "shoe_result"
    b.shoe(outcome(cards), e.StandBy())
    assert (b.state.phase, b.step) == ("result", "open_bets")


def test_M_18_faces_turned_before_four_cards(bench: Any) -> None:
    b = table(bench)
    cards = hands("TS 2S", "KD 6D")
    b.shoe(*drawn(cards[:2], hidden=True), reveals(cards)[0])
    assert b.incident == "M-18"


def test_a_reveal_of_another_card_than_dealt(bench: Any) -> None:
    b = table(bench)
    b.shoe(*drawn(hands("TS 9S", "KD 6D"), hidden=False), e.CardRevealed("8S", "player", 2))
    assert b.incident == "M-03"
    assert b.last(f.IncidentRaised).position == "player/1"


def test_a_reveal_where_no_card_lies(bench: Any) -> None:
    b = table(bench)
    b.shoe(*drawn(hands("TS 9S", "KD 6D"), hidden=True), e.CardRevealed("8S", "player", 3))
    assert b.incident == "M-30"


def test_M_26_a_ninth_copy_at_the_reveal(bench: Any) -> None:
    b = quick(bench)
    b.state.shoe.seen["TS"] = 8
    cards = hands("TS 9S", "KD 6D")
    b.shoe(*drawn(cards, hidden=True), reveals(cards)[0])
    assert b.last(f.IncidentRaised).resolutions == ("void_round_and_shoe",)


def test_M_24_the_standby_is_missing(bench: Any) -> None:
    b = table(bench)
    cards = hands("TS 9S", "KD 6D")
    b.shoe(*drawn(cards, hidden=False), outcome(cards))
    assert (b.state.phase, b.step, b.state.step_ms) == ("result", "standby", 10_000)
    assert b.refused("open_bets").code == "not_allowed_now"
    b.wait()
    assert b.incident == "M-24"
    b.resolve("resume")
    assert b.step == "open_bets"
    b.ok("open_bets")


def test_a_standby_that_comes_in_a_pause_counts(bench: Any) -> None:
    b = table(bench)
    cards = hands("TS 9S", "KD 6D")
    b.shoe(*drawn(cards, hidden=False), outcome(cards))
    b.ok("pause", reason="x")
    b.shoe(e.StandBy())
    b.ok("resume", reason="x")
    assert b.step == "open_bets"


def test_a_result_that_comes_in_a_pause_counts_once(bench: Any) -> None:
    b = table(bench)
    cards = hands("TS 9S", "KD 6D")
    b.shoe(*drawn(cards, hidden=True))
    b.ok("pause", reason="x")
    b.shoe(*reveals(cards), outcome(cards), e.StandBy())
    assert "card_revealed" not in b.types()
    assert len(b.state.deferred) == 6
    b.restart()
    b.ok("resume", reason="x", how="felt_agrees")
    assert b.types().count("card_revealed") == 4
    assert b.types().count("round_result") == 1
    assert (b.step, b.state.deferred, sum(b.state.shoe.seen.values())) == ("open_bets", (), 4)


# --- third cards that are not due ------------------------------


def test_M_17_a_third_card_to_PLAYER_not_due(bench: Any) -> None:
    b = table(bench)
    b.shoe(*drawn(hands("TS 6S", "KD 5D"), hidden=False))
    assert b.step == "draw banker/2"
    b.shoe(e.CardDrawn("4H", "player", 3))
    assert b.incident == "M-17"
    assert b.last(f.IncidentRaised).resolutions == ("burn_card", "void_round", "void_round_and_shoe")
    b.resolve("burn_card")
    b.shoe(e.CardDrawn("2H", "banker", 3))
    assert (b.step, b.state.shoe.out) == ("shoe_result", 6)


def test_M_19_a_third_card_to_BANKER_not_due(bench: Any) -> None:
    b = table(bench)
    cards = hands("TS 6S", "KD 7D")
    b.shoe(*drawn(cards, hidden=False))
    assert b.step == "shoe_result"
    b.shoe(e.CardDrawn("4H", "banker", 3))
    assert b.incident == "M-08"
    b.resolve("burn_card")
    b.shoe(outcome(cards), e.StandBy())
    assert (b.step, b.state.shoe.out) == ("open_bets", 5)


def test_M_19_BANKER_before_PLAYER(bench: Any) -> None:
    b = table(bench)
    b.shoe(*drawn(hands("TS 2S", "KD 5D"), hidden=False))
    assert b.step == "draw player/2"
    b.shoe(e.CardDrawn("4H", "banker", 3))
    assert b.incident == "M-19"


@pytest.mark.parametrize(
    ("p", "bank", "code"),
    [("TS 6S 4H", "KD 7D", "M-17"), ("TS 7S", "KD 7D 4H", "M-19"), ("TS 8S 4H", "KD 2D", "M-17")],
)
def test_M_17_M_19_found_when_the_faces_are_turned(bench: Any, p: str, bank: str, code: str) -> None:
    b = table(bench)
    cards = hands(p, bank)
    b.shoe(*drawn(cards, hidden=True), *reveals(cards))
    assert b.incident == code
    assert b.last(f.IncidentRaised).resolutions == ("void_round", "void_round_and_shoe")
    assert "round_result" not in b.types()
    b.resolve("void_round")
    assert b.state.phase == "voided"


def test_M_30_a_card_for_a_place_that_is_not_next(bench: Any) -> None:
    b = table(bench)
    b.shoe(e.CardDrawn("TS", "player", 1), e.CardDrawn("2S", "player", 2))
    assert b.incident == "M-30"
    assert b.last(f.IncidentRaised).resolutions == ("resume", "void_round", "void_round_and_shoe")
    assert [c.position for c in b.state.round.cards] == ["player/0"]


@pytest.mark.parametrize("hidden", [False, True])
def test_a_held_third_card_keeps_the_place_the_shoe_named(bench: Any, hidden: bool) -> None:
    b = table(bench)
    cards = hands("TS 7S", "KD 2D 4H")
    b.shoe(*drawn(cards[:4], hidden=hidden))
    b.ok("pause", reason="x")
    b.shoe(*drawn(cards[4:], hidden=hidden))
    b.ok("resume", reason="x")
    assert b.state.round.cards[-1].position == "banker/2"
    b.shoe(*(reveals(cards) if hidden else []), outcome(cards), e.StandBy())
    assert (b.step, b.state.shoe.out) == ("open_bets", 5)


def test_the_extra_card_may_not_take_a_held_place(bench: Any) -> None:
    b = table(bench)
    b.shoe(e.CardDrawn(H, "player", 1))
    b.ok("pause", reason="x")
    b.shoe(e.CardDrawn(H, "player", 2))
    assert b.incident == "M-30"


# --- over-draw: the sequences of the capture (hardware page 1.1) ------------------------------


def overdraw(b: Any, cards: list[tuple[str, int, str]], *, error_mode: bool) -> None:
    b.shoe(*drawn(cards, hidden=True))
    b.shoe(e.ErrorRaised(2, False))
    assert set(b.state.holds) == {"device"}
    if error_mode:
        b.shoe(e.ErrorRaised(7, True))
    b.shoe(e.OutOfGame(H, "burn", 0))
    assert b.incident == "M-08"


def test_over_draw_discarded(bench: Any) -> None:
    b = table(bench)
    cards = hands("TS 9S", "KD 6D")
    overdraw(b, cards, error_mode=True)
    assert b.state.shoe.out == 5
    b.shoe(e.OverdrawnDiscarded("7S", "player", 1), e.ErrorCleared(2, False))
    assert (b.state.shoe.out, b.state.shoe.seen) == (5, {"7S": 1})
    assert set(b.state.holds) == {"incident:1"}
    b.shoe(*reveals(cards), outcome(cards), e.StandBy())  # the shoe does not wait for the supervisor
    assert "card_revealed" not in b.types()
    b.resolve("burn_card")
    assert (b.state.phase, b.step) == ("result", "open_bets")
    assert b.last(f.RoundResult).outcomes["winner"] == "player"
    assert (b.state.shoe.out, sum(b.state.shoe.seen.values())) == (5, 5)


def test_over_draw_discarded_before_a_supervisor_may_look(bench: Any) -> None:
    b = table(bench)
    b.shoe(e.OverdrawnDiscarded("7S", "player", 1))  # no card was reported out of game before it
    assert (b.incident, b.state.shoe.out, b.state.shoe.seen) == ("M-08", 1, {"7S": 1})


@pytest.mark.parametrize("when", ["before_bets", "in_betting", "at_the_draw", "held"])
def test_over_draw_kept_is_the_first_card_of_the_next_hand(bench: Any, when: str) -> None:
    b = table(bench)
    cards = hands("TS 9S", "KD 6D")
    overdraw(b, cards, error_mode=False)
    b.shoe(e.ErrorCleared(2, False), *reveals(cards), outcome(cards))
    reused = e.CardReused(H, "player", 1)
    if when == "held":  # the capture has it straight after G, with no stand-by
        b.shoe(reused)
    b.resolve("use_as_next")
    assert b.types().count("round_result") == 1
    if when != "held":
        b.shoe(e.StandBy())
    else:
        b.wait()
        assert b.incident == "M-24"
        b.resolve("resume")
    if when == "before_bets":
        b.shoe(reused)
    b.ok("open_bets")
    if when == "in_betting":
        b.shoe(reused)
    b.ok("close_bets")
    if when == "at_the_draw":
        assert b.step == "draw player/0"
        b.shoe(reused)
    assert [(c.position, c.card) for c in b.state.round.cards] == [("player/0", H)]
    assert (b.step, b.state.shoe.out, b.state.pending) == ("draw banker/0", 5, ())
    following = hands("7S 2S", "3D 6D")
    b.shoe(*drawn(following[1:], hidden=True), *reveals(following), outcome(following), e.StandBy())
    assert (b.step, b.state.shoe.out) == ("open_bets", 8)
    assert sum(b.state.shoe.seen.values()) == 8


def test_a_reused_card_that_a_void_put_aside_is_never_dealt(bench: Any) -> None:
    b = table(bench)
    cards = hands("TS 9S", "KD 6D")
    overdraw(b, cards, error_mode=False)
    b.shoe(e.ErrorCleared(2, False), *reveals(cards), outcome(cards))
    b.resolve("use_as_next")
    b.shoe(e.StandBy())
    b.ok("open_bets")
    b.ok("void", reason="cable out")
    b.ok("reopen", reason="felt cleared")
    b.ok("open_bets")
    b.ok("close_bets")
    b.shoe(e.CardReused(H, "player", 1))  # the shoe remembers it
    assert (b.incident, b.state.round.cards) == ("M-30", [])


def test_a_reused_card_the_supervisor_burned_is_no_card_of_the_next_hand(bench: Any) -> None:
    b = table(bench)
    cards = hands("TS 9S", "KD 6D")
    overdraw(b, cards, error_mode=False)
    b.shoe(e.ErrorCleared(2, False), *reveals(cards), outcome(cards), e.CardReused(H, "player", 1))
    b.resolve("burn_card")
    assert (b.state.deferred, b.state.shoe.out, b.step) == ((), 5, "standby")


def test_a_power_cycle_with_two_cards_out(bench: Any) -> None:
    b = table(bench)
    cards = hands("TS 9S", "KD 6D")
    b.shoe(*drawn(cards[:2], hidden=True), e.Started())
    assert b.incident == "M-30"
    b.shoe(*drawn(cards, hidden=True))  # the shoe begins a new hand
    assert [c.position for c in b.state.round.cards] == ["player/0", "banker/0"]
    assert b.state.holds
    b.ok("void", reason="the shoe forgot two cards")
    assert b.state.shoe.out == 2 + 4  # all six are out of the shoe
    b.shoe(*reveals(cards), outcome(cards), e.StandBy())
    assert b.state.phase == "voided"
    b.ok("reopen", reason="felt cleared")
    assert b.step == "open_bets"
    b.ok("open_bets")
    b.ok("close_bets")
    play(b, cards, hidden=True)
    assert (b.state.phase, b.step) == ("result", "open_bets")


def test_a_round_without_standby_then_the_next_cards(bench: Any) -> None:
    b = table(bench)
    cards = hands("TS 9S", "KD 6D")
    b.shoe(*drawn(cards, hidden=False), outcome(cards))
    b.shoe(e.CardDrawn("4H", "player", 1))
    assert (b.incident, b.state.phase) == ("M-08", "result")
    b.resolve("burn_card")
    assert b.step == "standby"
    b.wait()
    b.resolve("resume")
    assert b.step == "open_bets"


def test_the_burn_of_a_new_shoe_as_captured(bench: Any) -> None:
    b = bench("baccarat", traits=ANGEL)
    b.ok("start_shift")
    b.ok("load_shoe")
    b.shoe(e.CardDrawn("2C", "first", 0), e.CardDrawn("JD", "burn_left", 1), e.CardDrawn("2C", "burn_left", 0))
    assert (b.step, b.state.shoe.out, b.state.shoe.burned) == ("open_bets", 3, 2)


def test_a_burn_card_out_of_order_is_an_incident(bench: Any) -> None:
    b = bench("baccarat", traits=ANGEL)
    b.ok("start_shift")
    b.ok("load_shoe")
    b.shoe(e.CardDrawn("2C", "first", 0), e.CardDrawn("JD", "burn_left", 0))
    assert b.incident == "M-30"


# --- vectors ------------------------------


@pytest.mark.parametrize("mode", ["line", "open", "hidden"])
def test_baccarat_vectors(bench: Any, mode: str) -> None:
    path = SHARED / "vectors" / "baccarat.jsonl"
    if not path.exists():
        pytest.skip(f"shared material is absent: no rule vectors at {path} (DEALERD_SHARED names another folder)")
    _, *rest = [json.loads(line) for line in path.read_text().splitlines()]
    traits = Traits() if mode == "line" else ANGEL
    for row in rest:
        t = bench("baccarat", traits=traits, burn="none").open_round()
        deals = [x for x in row["events"] if x["e"] == "deal"]
        if mode == "line":
            t.cards(" ".join(x["card"] for x in deals))
        else:
            places = [(x["slot"].split("/")[0], int(x["slot"].split("/")[1]) + 1, x["card"]) for x in deals]
            play(t, places, hidden=mode == "hidden")
        laid = [(c.position, c.card) for c in t.state.round.cards]
        assert laid == [(x["slot"], x["card"]) for x in deals], row["round"]
        assert t.state.phase == "result"
        check_result(t.last(f.RoundResult), row)


def check_result(result: Any, row: dict[str, Any]) -> None:
    for side in ("player", "banker"):
        assert result.hands[side]["cards"] == row[side]["cards"]
        assert result.hands[side]["value"] == row[side]["points"]
    assert result.outcomes["winner"] == row["outcome"].lower()
    assert any(hand["natural"] for hand in result.hands.values()) == row["natural"]
