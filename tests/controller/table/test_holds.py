"""Holds: pause, devices, restart, deadlines. The table goes on at the exact step with the remaining time."""

from __future__ import annotations

from typing import Any

import pytest

from controller import facts as f
from controller.book.rows import BalanceRequest
from controller.table.inputs import BalancesInput, DeadlineInput, ServerInput
from drivers import events as e


def dealing(bench: Any, cards: str = "", **rules: Any) -> Any:
    b = bench(**rules).open_round()
    if cards:
        b.cards(cards)
    return b


def lay(b: Any) -> list[tuple[str, str]]:
    return [(c.position, c.card) for c in b.state.round.cards]


# --- pause ------------------------------


def test_a_card_in_motion_is_held_and_takes_its_place(bench: Any) -> None:
    b = dealing(bench, "TC")
    b.ok("pause", reason="a question")
    assert b.step == "wait"
    facts = b.cards("7H")
    assert b.types(facts) == ["card_held"]
    assert facts[0].public_data() == {"position": "dealer/0"}
    assert (lay(b), b.state.shoe.out) == ([("player/0", "TC")], 4)
    b.ok("resume", reason="answered")
    assert lay(b) == [("player/0", "TC"), ("dealer/0", "7H")]
    assert (b.step, b.state.shoe.out, b.state.pending) == ("draw player/1", 4, ())


def test_a_held_hole_card_stays_hidden(bench: Any) -> None:
    b = dealing(bench, "TC 7H 9S")
    b.ok("pause", reason="a question")
    b.cards("TD")
    b.ok("resume", reason="answered")
    dealt = b.last(f.CardDealt)
    assert (dealt.position, dealt.card, dealt.face) == ("dealer/1", "**", "TD")
    assert dealt.commitment


def test_a_second_held_card_is_an_incident_and_keeps_its_order(bench: Any) -> None:
    b = dealing(bench, "TC")
    b.ok("pause", reason="a question")
    b.cards("7H 9S")
    assert b.incident == "M-08"
    b.resolve("use_as_next")
    assert b.step == "wait"
    b.ok("resume", reason="answered")
    assert lay(b) == [("player/0", "TC"), ("dealer/0", "7H"), ("player/1", "9S")]
    assert b.state.shoe.out == 2 + 3


def test_a_second_held_card_may_be_burned(bench: Any) -> None:
    b = dealing(bench, "TC")
    b.ok("pause", reason="a question")
    b.cards("7H 9S")
    b.resolve("burn_card")
    b.ok("resume", reason="answered")
    assert (lay(b)[-1], b.step, b.state.shoe.out) == (("dealer/0", "7H"), "draw player/1", 5)


def test_an_unread_second_card_is_not_taken_for_the_first(bench: Any) -> None:
    b = dealing(bench, "TC")
    b.ok("pause", reason="a question")
    b.cards("7H")
    b.shoe(e.NoRead("NR"))
    assert b.incident == "M-08"


def test_a_read_without_a_draw_step_is_an_incident_in_a_pause_too(bench: Any) -> None:
    b = dealing(bench, "TC 7H 9S TD")
    b.ok("pause", reason="a question")
    b.cards("8S")
    assert b.incident == "M-08"


def test_M_26_a_held_ninth_copy_is_not_dealt(bench: Any) -> None:
    b = dealing(bench, dealer_draws="always")
    for n in range(2):
        if n:
            b.open_round()
        b.cards("QS QS QS QS")
        b.wait()
        b.demand("main", 2, False)
    b.open_round()
    b.ok("pause", reason="a question")
    b.cards("QS")
    out = b.state.shoe.out
    b.ok("resume", reason="answered")
    assert (b.incident, lay(b), b.state.pending, b.state.shoe.out) == ("M-26", [], (), out)


@pytest.mark.parametrize(
    ("cards", "step", "total"),
    [(None, "close_bets", 15_000), ("TC AH 9S 5D", "insurance", 8000), ("TC 7H 9S 5D", "decide main@2", 12_000)],
)
def test_a_pause_keeps_the_remaining_time(bench: Any, cards: str | None, step: str, total: int) -> None:
    b = bench()
    b.ok("start_shift")
    b.ok("load_shoe")
    b.cards("AS 2H")
    b.ok("open_bets")
    if cards:
        b.ok("close_bets")
        b.cards(cards)
    assert (b.step, b.state.step_ms) == (step, total)
    b.now += 3000
    b.ok("pause", reason="one")
    assert b.table.deadline() is None
    b.now += 100_000
    b.ok("pause", reason="again")  # a target state, not a toggle
    assert b.types().count("paused") == 1
    b.ok("resume", reason="on")
    assert (b.step, b.state.step_ms) == (step, total - 3000)
    assert b.table.deadline() == ("step", b.now + total - 3000)
    b.now += 1000
    b.ok("pause", reason="two")
    b.ok("resume", reason="on")
    assert b.state.step_ms == total - 4000


def test_the_time_kept_outlives_a_restart_in_the_pause(bench: Any) -> None:
    b = dealing(bench, "TC 7H 9S 5D")
    b.now += 3000
    b.ok("pause", reason="one")
    b.restart()
    b.ok("resume", reason="on", how="felt_agrees")
    assert (b.step, b.state.step_ms) == ("decide main@2", 9000)


def test_a_held_table_refuses_play(bench: Any) -> None:
    b = dealing(bench, "TC 7H 9S 5D")
    b.ok("pause", reason="a question")
    for name, args in (
        ("open_bets", {}), ("close_bets", {}), ("end_shift", {}),
        ("branch_demand", {"round": b.state.round.id, "line": "main", "prefix_len": 2, "draw": False, "key": "k"}),
        ("close_decisions", {"round": b.state.round.id}),
    ):  # fmt: skip
        assert b.refused(name, **args).code == "held", name


# --- devices ------------------------------


def test_M_31_a_lost_shoe_holds_and_is_logged_once_each_way(bench: Any) -> None:
    b = dealing(bench, "TC")
    facts = b.shoe(e.PortLost("unplugged"), e.PortLost("unplugged"))
    assert b.types(facts) == ["device_lost", "step_opened"]
    facts = b.shoe(e.PortRestored("pty"), e.PortRestored("pty"))
    assert b.types(facts) == ["device_restored", "incident_raised"]
    assert b.incident == "M-30"


@pytest.mark.parametrize("phase", ["closed", "shoe_change", "betting", "result"])
def test_a_shoe_lost_between_rounds_leaves_nothing_to_doubt(bench: Any, phase: str) -> None:
    b = bench()
    if phase != "closed":
        b.ok("start_shift")
    if phase in ("betting", "result"):
        b.ok("load_shoe")
        b.cards("AS 2H")
        b.ok("open_bets")
    if phase == "result":
        b.ok("close_bets")
        b.cards("TC 7H 9S TD")
        b.demand("main", 2, False)
    assert b.state.phase == phase
    step = b.step
    b.shoe(e.PortLost("unplugged"))
    assert b.step == "wait"
    b.shoe(e.PortRestored("pty"))
    assert (b.step, b.state.holds) == (step, {})


@pytest.mark.parametrize("event", [e.Gap("3", "6"), e.Started()])
def test_M_30_missing_telegrams_in_a_hand(bench: Any, event: e.Event) -> None:
    b = dealing(bench, "TC")
    b.shoe(event, event)
    assert (b.incident, len(b.state.incidents)) == ("M-30", 1)
    assert b.last(f.IncidentRaised).resolutions == ("resume", "rescan", "void_round", "void_round_and_shoe")
    b.resolve("resume")
    assert b.step == "draw dealer/0"
    b.cards("7H")
    assert lay(b)[-1] == ("dealer/0", "7H")


def test_M_30_rescan_of_all_cards_in_order(bench: Any) -> None:
    b = dealing(bench, "2C 7H 9S TD")
    b.demand("main", 2, True)
    b.cards("8S")
    b.now += 2000
    b.shoe(e.Gap("3", "6"))
    b.resolve("rescan", cards=5)
    assert (b.step, b.state.step.left) == ("rescan", 5)
    facts = b.cards("2C 7H 9S TD 8S")
    assert b.types(facts).count("card_rescanned") == 5
    assert b.state.holds == {}
    assert (b.step, b.state.step_ms, b.state.shoe.out) == ("decide main@3", 10_000, 2 + 5)
    assert not any(card in str(x.public_data()) for x in facts for card in ("TD", "8S") if x.PUBLIC)


def test_M_30_another_card_in_the_rescan(bench: Any) -> None:
    b = dealing(bench, "TC 7H 9S")
    b.shoe(e.Gap("3", "6"))
    b.resolve("rescan")
    out = b.state.shoe.out
    b.cards("TC 9S")
    assert [i.code for i in b.state.incidents.values()] == ["M-30", "M-30"]
    assert (b.state.shoe.out, b.state.shoe.seen["9S"]) == (out, 1)  # it lay on the felt: counted already
    assert b.step == "wait"
    b.resolve("resume")
    b.resolve("rescan")
    b.cards("TC 7H 9S")
    assert (b.step, b.state.holds) == ("draw dealer/1", {})


def test_M_30_an_extra_card_found_on_the_felt_takes_its_place(bench: Any) -> None:
    b = dealing(bench, "TC 7H")
    b.shoe(e.PortLost("unplugged"), e.PortRestored("pty"))
    b.resolve("rescan", cards=3)
    b.cards("TC 7H 9S")
    assert lay(b) == [("player/0", "TC"), ("dealer/0", "7H"), ("player/1", "9S")]
    assert (b.step, b.state.shoe.out) == ("draw dealer/1", 2 + 3)


def test_M_30_a_rescan_begun_again_counts_no_card_twice(bench: Any) -> None:
    b = dealing(bench, "TC 7H")
    b.shoe(e.PortLost("unplugged"), e.PortRestored("pty"))
    b.resolve("rescan", cards=4)
    b.cards("TC 7H 9S")
    b.shoe(e.NoRead("NR"))  # the fourth is not read
    b.resolve("resume")
    b.resolve("rescan", cards=4)
    b.cards("TC 7H 9S 5D")
    assert [c for _, c in lay(b)] == ["TC", "7H", "9S", "5D"]
    assert (b.state.shoe.out, b.state.shoe.seen["9S"], b.step) == (2 + 4, 1, "decide main@2")


def test_M_30_a_held_card_lies_on_the_felt_too(bench: Any) -> None:
    b = dealing(bench, "TC")
    b.ok("pause", reason="a question")
    b.cards("7H")
    b.shoe(e.Gap("3", "6"))
    b.resolve("rescan", cards=2)
    b.ok("resume", reason="go on")
    b.cards("TC 7H")
    assert lay(b) == [("player/0", "TC"), ("dealer/0", "7H")]
    assert (b.state.shoe.out, b.step) == (4, "draw player/1")


def test_M_30_a_rescan_goes_on_through_a_pause(bench: Any) -> None:
    b = dealing(bench, "TC 7H")
    b.shoe(e.Gap("3", "6"))
    b.resolve("rescan")
    b.cards("TC")
    b.ok("pause", reason="a question")
    b.cards("7H")
    b.ok("resume", reason="answered")
    assert (b.step, b.state.shoe.out, b.state.pending) == ("draw player/1", 4, ())


def test_a_rescan_of_fewer_cards_than_recorded_is_refused(bench: Any) -> None:
    b = dealing(bench, "TC 7H")
    b.shoe(e.Gap("3", "6"))
    for cards in (0, 1, 40, -1):
        assert b.refused("resolve", incident=1, resolution="rescan", reason="x", cards=cards).code == "bad_args"


def test_M_30_in_the_burn(bench: Any) -> None:
    b = bench()
    b.ok("start_shift")
    b.ok("load_shoe")
    b.shoe(e.Gap("3", "6"))
    b.resolve("resume")  # the felt is empty: no card has left
    b.cards("3H 4S")
    b.shoe(e.Gap("3", "6"))
    assert b.last(f.IncidentRaised).resolutions == ("resume", "rescan", "void_round_and_shoe")
    b.resolve("rescan", cards=3)
    b.cards("3H 4S 5S")
    assert (b.state.shoe.burned, b.state.shoe.out, b.step) == (2, 3, "draw burn/3")


# --- the shoe's own errors ------------------------------


def test_an_error_of_the_shoe_holds_until_it_is_cancelled(bench: Any) -> None:
    b = dealing(bench, "TC")
    b.shoe(e.ErrorRaised(7, True), e.ErrorRaised(7, True))
    assert set(b.state.holds) == {"device"}
    assert b.types().count("paused") == 1
    b.shoe(e.ErrorCleared(7, False))
    assert (b.step, b.state.holds) == ("draw dealer/0", {})


def test_an_error_whose_end_is_never_heard_does_not_lock_the_table(bench: Any) -> None:
    b = dealing(bench, "TC")
    b.shoe(e.ErrorRaised(7, True))
    b.ok("resume", reason="the shoe shows no error")
    assert b.step == "draw dealer/0"
    b.shoe(e.ErrorRaised(7, True), e.Started())
    assert [h.name for h in b.state.holds.values()] == ["incident"]


def test_resuming_a_pause_leaves_the_error_of_the_shoe(bench: Any) -> None:
    b = dealing(bench, "TC")
    b.ok("pause", reason="a question")
    b.shoe(e.ErrorRaised(7, True))
    b.ok("resume", reason="answered")
    assert set(b.state.holds) == {"device"}


# --- restart ------------------------------


def to_phase(b: Any, phase: str) -> None:
    if phase == "closed":
        return
    b.ok("start_shift")
    if phase == "shoe_change":
        return
    b.ok("load_shoe")
    b.cards("2H 3S")
    if phase == "burning":
        return
    b.cards("4S")
    b.ok("open_bets")
    if phase == "betting":
        return
    b.ok("close_bets")
    if phase == "dealing":
        b.cards("TC AH")
    elif phase == "insurance":
        b.cards("TC AH 9S 5D")
    elif phase == "deciding":
        b.cards("TC 6H 9S 5D")
    else:
        b.cards("TC 6H 9S 5D")
        b.demand("main", 2, False)
        b.demand("dealer", 2, phase == "dealer_drawing")
    if phase == "voided":
        b.ok("open_bets")
        b.ok("void", reason="x")


PHASES = [
    "closed", "shoe_change", "burning", "betting", "dealing", "insurance", "deciding", "dealer_drawing", "result",
    "voided",
]  # fmt: skip


@pytest.mark.parametrize("phase", PHASES)
def test_a_restart_comes_back_at_the_same_step(bench: Any, phase: str) -> None:
    b = bench()
    to_phase(b, phase)
    assert b.state.phase == phase
    step, cards, epoch = b.state.step, b.state.on_felt, b.state.epoch
    b.restart()
    assert (b.state.phase, b.state.epoch, b.state.on_felt) == (phase, epoch + 1, cards)
    if phase == "closed":
        assert b.state.holds == {}
    else:
        assert set(b.state.holds) == {"restart"}
        assert b.step == "wait"
        assert b.refused("open_bets").code == "held"
        if cards:
            assert b.refused("resume", reason="x").code == "bad_args"
        b.ok("resume", reason="nothing moved", how="felt_agrees")
    assert b.state.step == step
    if step.kind in ("close_bets", "insurance", "decide"):
        assert b.table.deadline() is not None


def test_a_restart_in_a_restart(bench: Any) -> None:
    b = dealing(bench, "TC")
    b.restart()
    b.restart()
    assert [h.name for h in b.state.holds.values()] == ["restart"]
    assert b.types().count("paused") == 1
    b.ok("resume", reason="x", how="felt_agrees")
    assert b.step == "draw dealer/0"


@pytest.mark.parametrize("cards", ["TC 7H 9S", "TC 7H 9S 5D"])
def test_a_restart_rescan_finds_the_cards_that_were_lost(bench: Any, cards: str) -> None:
    b = dealing(bench, "TC 7H")
    b.restart()
    n = len(cards.split())
    b.ok("resume", reason="all read again", how="rescan", cards=n)
    assert (b.step, b.state.step.left) == ("rescan", n)
    b.cards(cards)
    assert [c for _, c in lay(b)] == cards.split()
    assert b.state.shoe.out == 2 + n
    assert b.step == ("draw dealer/1" if n == 3 else "decide main@2")


def test_a_lost_card_that_was_not_due_is_an_incident(bench: Any) -> None:
    b = dealing(bench, "2C 7H 9S 5D")
    b.restart()
    b.ok("resume", reason="all read again", how="rescan", cards=5)
    b.cards("2C 7H 9S 5D 8S")
    assert (b.incident, len(lay(b)), b.state.shoe.out) == ("M-08", 4, 2 + 5)
    b.resolve("use_as_next")
    b.demand("main", 2, True)
    assert (lay(b)[-1], b.state.shoe.out) == (("player/2", "8S"), 2 + 5)


def test_a_restart_keeps_commitments(bench: Any) -> None:
    b = dealing(bench, "TC 7H 9S TD")
    dealt = b.last(f.CardDealt)
    b.restart()
    b.ok("resume", reason="x", how="felt_agrees")
    b.demand("main", 2, False)
    assert b.last(f.CardRevealed).key == dealt.key
    assert b.state.phase == "result"


def test_a_restart_keeps_a_held_card(bench: Any) -> None:
    b = dealing(bench, "TC")
    b.ok("pause", reason="x")
    b.cards("7H")
    b.restart()
    b.ok("resume", reason="x", how="rescan", cards=2)
    b.cards("TC 7H")
    assert (lay(b), b.state.shoe.out) == ([("player/0", "TC"), ("dealer/0", "7H")], 4)


def test_a_restart_keeps_an_open_incident(bench: Any) -> None:
    b = dealing(bench, "TC 7H 9S 5D")
    b.cards("8S")
    b.restart()
    b.ok("resume", reason="x", how="felt_agrees")
    assert b.step == "wait"
    b.resolve("burn_card")
    assert b.step == "decide main@2"


def test_the_shoe_is_reported_lost_once_over_a_restart(bench: Any) -> None:
    b = dealing(bench, "TC")
    b.shoe(e.PortLost("unplugged"))
    b.restart()
    lost = b.types().count("device_lost")
    assert b.types().count("device_restored") == lost


# --- deadlines ------------------------------


def test_betting_closes_by_its_deadline(bench: Any) -> None:
    b = bench()
    b.ok("start_shift")
    b.ok("load_shoe")
    b.cards("AS 2H")
    b.ok("open_bets")
    assert b.last(f.BettingOpened).until_ms == 15_000
    b.wait()
    assert b.last(f.BettingClosed).by == "policy:deadline"
    assert b.step == "draw player/0"
    assert b.table.deadline() is None


def test_insurance_closes_by_its_deadline_and_the_peek_follows(bench: Any) -> None:
    b = dealing(bench, "TC AH 9S 5D", peek_delay_s=1.5)
    b.wait()
    assert b.last(f.InsuranceClosed).by == "policy:deadline"
    assert (b.step, b.state.step_ms) == ("peek", 1500)
    assert b.refused("close_decisions", round=b.state.round.id).code == "not_allowed_now"
    b.wait()
    assert b.step == "decide main@2"


@pytest.mark.parametrize("up", ["AH", "TH", "KH"])
def test_BJS_24_the_peek_takes_the_same_time_for_yes_and_no(bench: Any, up: str) -> None:
    times = []
    for hole in ("5D", "TD" if up[0] == "A" else "AD"):
        b = dealing(bench, f"TC {up} 9S", peek_delay_s=1.5)
        b.cards(hole)
        if up[0] == "A":
            b.now += 1000
            b.ok("close_decisions", round=b.state.round.id)
        at = b.now
        b.wait()
        assert b.last(f.DealerPeeked).blackjack is (hole != "5D")
        times.append(b.now - at)
    assert times == [1500, 1500]


@pytest.mark.parametrize("up", ["2H", "9H"])
def test_BJS_21_no_peek_without_ace_or_ten(bench: Any, up: str) -> None:
    b = dealing(bench, f"TC {up} 9S TD")
    assert b.step == "decide main@2"
    assert "dealer_peeked" not in b.types()


def test_M_35_without_a_demand_the_table_holds_until_the_game_server_speaks(bench: Any) -> None:
    b = dealing(bench, "TC 6H 9S 5D")
    b.wait()
    assert (b.step, set(b.state.holds)) == ("wait", {"device:game_server"})
    assert b.table.deadline() == ("void", b.now + 300_000)
    facts = b.demand("main", 2, False)
    assert b.types(facts)[:2] == ["device_restored", "decision_closed"]
    assert (b.state.holds, b.table.deadline()[0]) == ({}, "step")


def test_M_35_a_silent_game_server_voids_the_round_and_the_table_can_reopen(bench: Any) -> None:
    b = dealing(bench, "TC 6H 9S 5D")
    b.wait()
    b.wait()
    voided = b.last(f.RoundVoided)
    assert (voided.by, voided.shoe) == ("policy:auto_void", False)
    assert b.state.phase == "voided"
    assert b.table.deadline() is None
    b.ok("reopen", reason="the game server is back")
    b.ok("open_bets")


def deciding(bench: Any, **rules: Any) -> Any:
    """Two players of the table's own book decide on 10 and 9 against a six."""
    b = bench(burn="none", decisions="book", **rules)
    b.put(BalancesInput((BalanceRequest("ann", 1000), BalanceRequest("bob", 1000))))
    b.ok("start_shift")
    b.ok("load_shoe")
    b.ok("open_bets")
    bets = [{"player": player, "bet": "main", "stake": 10} for player in ("ann", "bob")]
    assert b.order("place_bets", round=b.state.round.id, bets=bets).reply["refused"] == []
    b.ok("close_bets")
    b.cards("TC 6H 9S 5D")
    assert b.step == "decide main@2"
    return b


def test_M_35_nobody_is_played_for_because_his_game_server_is_gone(bench: Any) -> None:
    b = deciding(bench, decision_s=12.0)
    b.now += 5_000
    assert b.put(ServerInput(here=True)).records == ()
    b.put(ServerInput(here=False))
    assert (b.step, set(b.state.holds)) == ("wait", {"device:game_server"})
    assert b.put(ServerInput(here=False)).records == ()
    assert b.table.deadline() == ("void", b.now + 300_000)
    b.now += 60_000
    b.put(ServerInput(here=True))
    assert (b.step, b.state.step_ms, b.state.holds) == ("decide main@2", 7_000, {})
    rows = [{"player": player, "line": "main", "n": 2, "request": "stand"} for player in ("ann", "bob")]
    assert b.order("decide", round=b.state.round.id, decisions=rows).reply["undecided"] == 0
    b.restart()
    assert set(b.state.holds) == {"restart"}


def test_M_35_a_game_server_that_stays_away_costs_the_round_and_not_the_bets(bench: Any) -> None:
    b = deciding(bench)
    b.put(ServerInput(here=False))
    b.restart()  # who is connected is not known to a new process
    assert set(b.state.holds) == {"restart", "device:game_server"}
    b.ok("resume", reason="as recorded", how="felt_agrees")
    b.wait()
    assert b.last(f.RoundVoided).by == "policy:auto_void"
    assert {player: b.state.book.money.available(player) for player in ("ann", "bob")} == {"ann": 1000, "bob": 1000}
    b.ok("reopen", reason="the game server is back")
    assert b.put(ServerInput(here=False)).records == ()  # between rounds nothing waits for it
    b.ok("open_bets")
    b.put(ServerInput(here=False))
    assert b.step == "wait"  # bets are not closed without it


def test_where_the_platform_decides_its_demand_tells_whether_it_is_there(bench: Any) -> None:
    b = dealing(bench, "TC 6H 9S 5D")
    assert b.put(ServerInput(here=False)).records == ()
    b.wait()
    assert b.put(ServerInput(here=True)).records == ()
    assert set(b.state.holds) == {"device:game_server"}


def test_ERR_03_an_incident_nobody_resolves_voids_the_round(bench: Any) -> None:
    b = dealing(bench, "TC 6H 9S 5D", auto_void_after_s=60.0)
    b.cards("8S")
    assert b.table.deadline() == ("void", b.now + 60_000)
    b.now += 59_000
    b.resolve("burn_card")
    assert b.table.deadline()[0] == "step"
    b.cards("8H")
    assert b.table.deadline() == ("void", b.now + 60_000)
    b.wait()
    assert b.state.phase == "voided"


def test_auto_void_can_be_off(bench: Any) -> None:
    b = dealing(bench, "TC 6H 9S 5D", auto_void_after_s=0.0)
    b.cards("8S")
    assert b.table.deadline() is None


def test_a_pause_is_never_voided_by_time(bench: Any) -> None:
    b = dealing(bench, "TC 6H 9S 5D")
    b.ok("pause", reason="x")
    assert b.table.deadline() is None


def test_a_deadline_that_is_not_due_does_nothing(bench: Any) -> None:
    b = dealing(bench, "TC 6H 9S 5D")
    for name in ("void",):
        outcome = b.put(DeadlineInput(name))
        assert outcome.records == ()
    b.ok("pause", reason="x")
    assert b.put(DeadlineInput("step")).records == ()
    assert b.state.phase == "deciding"


def test_M_30_a_card_that_passes_the_reader_while_the_rescan_is_paused_proves_nothing(bench: Any) -> None:
    b = dealing(bench)
    b.cards("TC 6H")
    b.shoe(e.PortLost("unplugged"), e.PortRestored("pty"))
    b.resolve("rescan", cards=3)
    b.cards("TC 6H")
    b.ok("pause", reason="a look at the felt")
    b.cards("9S")  # the lost card, or another one
    assert b.incident == "M-30"
    assert len(b.state.round.cards) == 2
    b.ok("resume", reason="seen")
    b.resolve("resume")
    b.resolve("rescan", cards=3)
    b.cards("TC 6H 9S")
    assert not b.state.holds
    assert [c.card for c in b.state.round.cards] == ["TC", "6H", "9S"]
