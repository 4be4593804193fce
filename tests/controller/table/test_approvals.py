"""Cards entered by hand, results corrected: two people, before and after, versions (M-01, M-03, M-32, REG-14)."""

from __future__ import annotations

from typing import Any

import pytest

from controller import facts as f
from controller import frames, public
from controller.book.rows import BalanceRequest
from controller.cards import DECKS
from controller.table.inputs import BalancesInput
from drivers import events as e


def unread(bench: Any, **rules: Any) -> Any:
    """The second card of a round left the shoe unread."""
    b = bench(**rules).open_round()
    b.cards("TC")
    b.shoe(e.NoRead("NR"))
    return b


def played(bench: Any, cards: str = "TC 6H 9S KD 8H", **rules: Any) -> Any:
    """A boundless round on main cards with nothing drawn to them; the dealer draws the fifth card."""
    b = bench(**rules).open_round()
    b.cards(" ".join(cards.split()[:4]))
    if b.step == "peek":
        b.wait()
    b.demand("main", 2, False)
    b.demand("dealer", 2, True)
    b.cards(" ".join(cards.split()[4:]))
    assert b.state.phase == "result"
    return b


# --- a card entered by hand ------------------------------------------------------------------------------------


def test_M_01_a_card_entered_by_two_people_is_dealt_at_its_place(bench: Any) -> None:
    b = unread(bench)
    b.ok("enter_card", incident=1, card="6H", reason="does not scan")
    assert set(b.state.holds) == {"incident:1", "approval"}
    assert b.state.manual is False
    facts = b.approve()
    assert b.types(facts)[:3] == ["approval_given", "manual_mode_changed", "incident_resolved"]
    dealt = b.last(f.CardDealt)
    assert (dealt.position, dealt.card, dealt.validated_by) == ("dealer/0", "6H", ("people",))
    resolved = b.last(f.IncidentResolved)
    assert (resolved.by, resolved.approved_by) == ("supervisor:pat", "supervisor:kim")
    assert b.state.shoe.seen["6H"] == 1
    assert b.state.shoe.out == 4  # two burned, two dealt
    assert b.step == "draw player/1"


def test_REG_05_manual_mode_ends_with_the_round(bench: Any) -> None:
    b = unread(bench)
    b.ok("enter_card", incident=1, card="6H", reason="does not scan")
    b.approve()
    assert b.state.manual
    b.ok("void", reason="x")
    assert not b.state.manual


def test_a_hidden_card_that_is_entered_stays_hidden(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 6H 9S")
    b.shoe(e.NoRead("NR"))
    asked = b.ok("enter_card", incident=1, card="5D", reason="does not scan")
    public = [fact.public_data() for fact in [*asked, *b.approve()] if fact.PUBLIC]
    assert "5D" not in str(public)
    assert b.state.round.at("dealer/1") == "5D"


def test_REG_24_the_same_person_cannot_approve(bench: Any) -> None:
    b = unread(bench)
    b.ok("enter_card", incident=1, card="6H", reason="does not scan")
    refused = b.refused("approve", approval=1, accept=True, reason="me again", person="pat")
    assert refused.code == "same_person"
    b.ok("approve", approval=1, accept=False, reason="I was wrong", person="pat")  # whoever asked may withdraw
    assert set(b.state.holds) == {"incident:1"}


def test_an_approval_that_nobody_gives_is_refused_by_time(bench: Any) -> None:
    b = unread(bench, approval_s=30.0)
    b.ok("enter_card", incident=1, card="6H", reason="does not scan")
    b.now += 30_000
    facts = [r.fact for r in b.wait().records]
    assert isinstance(facts[0], f.ApprovalRefused)
    assert facts[0].by == "policy:approval_time"
    assert set(b.state.holds) == {"incident:1"}


def test_an_approval_survives_a_restart_and_gets_its_time_anew(bench: Any) -> None:
    b = unread(bench, approval_s=30.0)
    b.ok("enter_card", incident=1, card="6H", reason="does not scan")
    b.restart()
    assert b.table.deadline() == ("approval", b.now + 30_000)
    b.approve()
    assert b.state.pending[0].card == "6H"  # the restart still holds
    b.ok("resume", reason="x", how="felt_agrees")
    assert b.state.round.at("dealer/0") == "6H"


def test_a_request_goes_with_its_incident(bench: Any) -> None:
    b = unread(bench)
    b.ok("enter_card", incident=1, card="6H", reason="does not scan")
    b.ok("resolve", incident=1, resolution="rescan", reason="it scans now")
    assert b.state.approvals == {}
    assert "approval" not in b.state.holds


def test_a_second_request_waits_for_the_first(bench: Any) -> None:
    b = unread(bench)
    b.ok("enter_card", incident=1, card="6H", reason="does not scan")
    assert b.refused("enter_card", incident=1, card="7H", reason="or that").code == "not_allowed_now"


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"incident": 2, "card": "6H"}, "no_incident"),
        ({"incident": 1, "card": "6X"}, "bad_args"),
        ({"incident": 1, "card": "**"}, "bad_args"),
        ({"incident": 1, "card": ""}, "bad_args"),
    ],
)
def test_entries_that_are_refused(bench: Any, args: dict[str, Any], code: str) -> None:
    assert unread(bench).refused("enter_card", reason="x", **args).code == code


def test_a_ninth_copy_is_not_entered(bench: Any) -> None:
    b = bench("baccarat", burn="none").open_round()
    for _ in range(DECKS // 4):  # four of the same face a coup, nobody draws to 8 and 8
        b.cards("4H 4H 4H 4H")
        b.ok("open_bets")
        b.ok("close_bets")
    b.shoe(e.NoRead("NR"))
    refused = b.refused("enter_card", incident=1, card="4H", reason="does not scan")
    assert "8 of 4H have left this shoe" in refused.message
    b.ok("enter_card", incident=1, card="4D", reason="does not scan")


def test_no_card_is_entered_where_none_was_unread(bench: Any) -> None:
    b = bench().open_round()
    b.ok("report", code="M-25", role="dealer")
    assert b.refused("enter_card", incident=1, card="6H", reason="x").code == "not_legal"
    assert b.refused("resolve", incident=1, resolution="enter_card", reason="x").code == "not_legal"


def test_M_02_the_entered_card_comes_before_the_one_drawn_after_it(bench: Any) -> None:
    b = unread(bench)
    b.cards("9S")
    assert b.incident == "M-02"
    b.ok("enter_card", incident=1, card="6H", reason="does not scan")
    b.approve()
    b.ok("resolve", incident=2, resolution="use_as_next", reason="it came after")
    assert [c.card for c in b.state.round.cards] == ["TC", "6H", "9S"]


def test_M_03_a_misread_card_is_corrected_where_it_lies(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 6H")
    b.ok("report", code="M-03", role="dealer", note="it is a five")
    assert "enter_card" in b.last(f.IncidentRaised).resolutions
    b.ok("enter_card", incident=1, card="5H", reason="seen")
    b.approve()
    corrected = b.last(f.CardCorrected)
    assert (corrected.position, corrected.before, corrected.card) == ("dealer/0", "6H", "5H")
    assert b.state.round.at("dealer/0") == "5H"
    assert b.state.shoe.seen == {"AS": 1, "2H": 1, "TC": 1, "6H": 0, "5H": 1}
    assert b.step == "draw player/1"


def test_M_03_after_a_decision_only_a_void_is_left(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 6H 9S 5D")
    b.ok("report", code="M-03", role="dealer")
    assert b.last(f.IncidentRaised).resolutions == ("resume", "void_round", "void_round_and_shoe")


# --- a result corrected ----------------------------------------------------------------------------------------


def test_M_32_a_correction_is_a_new_version(bench: Any) -> None:
    b = played(bench)  # dealer 6, K, 8: bust
    assert b.last(f.RoundResult).outcomes[0]["result"] == "win"
    b.ok("correct", round=b.state.round.id, cards=[["dealer/2", "5H"]], reason="video shows a five")
    assert b.refused("open_bets").code == "held"
    b.approve()
    corrected = b.last(f.ResultCorrected)
    assert corrected.supersedes == 1
    assert corrected.outcomes[0]["result"] == "lose"  # 19 against 21
    assert (corrected.by, corrected.approved_by) == ("supervisor:pat", "supervisor:kim")
    assert b.last(f.CardCorrected).before == "8H"
    assert b.state.round.version == 2
    assert b.records[-1].version == 2
    b.ok("correct", round=b.state.round.id, cards=[["dealer/2", "8H"]], reason="no, it was an eight")
    b.approve()
    assert b.last(f.ResultCorrected).supersedes == 2
    b.ok("open_bets")


def test_M_32_the_hole_card_may_be_corrected_for_nobody_saw_it_when_deciding(bench: Any) -> None:
    b = played(bench)
    b.ok("correct", round=b.state.round.id, cards=[["dealer/1", "TD"]], reason="video")
    b.approve()
    assert b.state.round.at("dealer/1") == "TD"


@pytest.mark.parametrize(
    ("cards", "why"),
    [
        ([["player/1", "8S"]], "decided with the wrong card"),
        ([["dealer/0", "5H"]], "decided with the wrong card"),
        ([["dealer/2", "AH"]], None),
        ([["dealer/1", "9D"]], None),
        ([["dealer/0", "8H"]], "another way"),  # 8 + K stands: the third card would not have been drawn
        ([["dealer/0", "AH"]], "another way"),  # insurance would have been offered
        ([["player/0", "AC"], ["player/1", "KS"]], "another way"),  # a Blackjack takes no decision
    ],
)
def test_M_32_what_players_decided_on_cannot_be_corrected(bench: Any, cards: list[Any], why: str | None) -> None:
    b = played(bench)
    args = {"round": b.state.round.id, "cards": cards, "reason": "video"}
    if why is None:
        b.ok("correct", **args)
    else:
        refused = b.refused("correct", **args)
        assert refused.code == "not_correctable"
        assert why in refused.message


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"round": "nothing"}, "wrong_round"),
        ({"cards": []}, "bad_args"),
        ({"cards": [["dealer/9", "5H"]]}, "bad_args"),
        ({"cards": [["dealer/2", "8H"]]}, "bad_args"),
        ({"cards": [["dealer/2", "9H"], ["dealer/2", "5H"]]}, "bad_args"),
        ({"cards": [["dealer/2", "1H"]]}, "bad_args"),
    ],
)
def test_corrections_that_are_refused(bench: Any, change: dict[str, Any], code: str) -> None:
    b = played(bench)
    args = {"round": b.state.round.id, "cards": [["dealer/2", "5H"]], "reason": "video"}
    assert b.refused("correct", **args | change).code == code


def test_a_round_without_a_result_or_followed_by_another_is_not_corrected(bench: Any) -> None:
    b = played(bench)
    first = b.state.round.id
    b.ok("open_bets")
    assert b.refused("correct", round=first, cards=[["dealer/2", "5H"]], reason="x").code == "wrong_round"
    now = b.state.round.id
    assert b.refused("correct", round=now, cards=[["dealer/2", "5H"]], reason="x").code == "wrong_round"


def coup(bench: Any, cards: str = "KC 8D 9H KS", **rules: Any) -> Any:
    """A baccarat round of two players in the table's own book, paid."""
    b = bench("baccarat", decisions="book", burn="none", **rules)
    b.put(BalancesInput((BalanceRequest("ann", 5000), BalanceRequest("bob", 5000))))
    b.ok("start_shift")
    b.ok("load_shoe")
    b.ok("open_bets")
    bets = [{"player": "ann", "bet": "BANKER", "stake": 1000}, {"player": "bob", "bet": "PLAYER", "stake": 1000}]
    assert b.order("place_bets", round=b.state.round.id, bets=bets).reply["refused"] == []
    b.ok("close_bets")
    b.cards(cards)
    assert b.state.phase == "result"
    return b


def balances(b: Any) -> dict[str, int]:
    b.state.book.check()
    return dict(b.state.book.money.balances.items())


def test_M_32_a_corrected_coup_pays_the_difference_and_rebuilds_the_roads(bench: Any) -> None:
    b = coup(bench)
    assert balances(b) == {"ann": 4000, "bob": 6000}
    assert b.last(f.RoundResult).outcomes["winner"] == "player"
    b.ok("correct", round=b.state.round.id, cards=[["banker/0", "9D"]], reason="video shows a nine")
    facts = b.approve()
    assert b.types(facts) == [
        "approval_given",
        "card_corrected",
        "result_corrected",
        "bets_settled",
        "settlement_posted",
        "step_opened",
    ]
    assert balances(b) == {"ann": 5000, "bob": 5000}  # a tie returns both
    assert [row.amount for row in b.last(f.SettlementPosted).rows] == [1000, -1000]
    assert b.last(f.BetsSettled).version == 2
    assert [bead["result"] for bead in b.last(f.ResultCorrected).roads["bead_plate"]] == ["tie"]
    assert b.state.shoe.winners == ["tie"]
    assert (b.state.shoe.seen["8D"], b.state.shoe.seen["9D"]) == (0, 1)


def test_M_32_a_correction_may_declare_the_round_void(bench: Any) -> None:
    b = coup(bench)
    b.ok("correct", round=b.state.round.id, void=True, reason="BANKER drew from another shoe")
    b.approve()
    assert b.last(f.ResultCorrected).voided
    assert balances(b) == {"ann": 5000, "bob": 5000}
    assert b.last(f.BetsSettled).returned == 2000
    assert b.state.shoe.winners == []
    args = {"round": b.state.round.id, "cards": [["banker/0", "9D"]], "reason": "again"}
    assert b.refused("correct", **args).code == "not_allowed_now"
    b.ok("open_bets")


def test_the_public_state_follows_a_correction(bench: Any) -> None:
    b = coup(bench)
    b.ok("correct", round=b.state.round.id, cards=[["banker/0", "9D"]], reason="video shows a nine")
    state = public.initial()
    for record in b.records:
        if record.seq is not None:
            body = frames.frame_bytes(record, feed="f", table="t-1", epoch=1, at_ms=record.n)
            public.apply(state, frames.decode_frame(body))
    assert [a["action"] for a in state["approvals"]] == ["correct"]
    seen = b.state.seq
    b.approve()
    for record in b.records:
        if record.seq is not None and record.seq > seen:
            body = frames.frame_bytes(record, feed="f", table="t-1", epoch=1, at_ms=record.n)
            public.apply(state, frames.decode_frame(body))
    assert (state["approvals"], state["holds"]) == ([], {})
    assert state["round"]["version"] == 2
    assert state["round"]["result"]["outcomes"]["winner"] == "tie"
    assert [(h["version"], h["outcomes"]["winner"]) for h in state["history"]] == [(2, "tie")]


# --- the dealer's hand before the result -----------------------------------------------------------------------


def drawing(bench: Any, hole: str = "2D") -> Any:
    """Dealer shows 6, the hole card is open, a third card is due."""
    b = bench().open_round()
    b.cards(f"TC 6H 9S {hole}")
    b.demand("main", 2, False)
    b.demand("dealer", 2, True)
    assert b.step == "draw dealer/2"
    return b


def test_M_03_the_revealed_hole_card_is_corrected_before_the_dealer_draws(bench: Any) -> None:
    b = drawing(bench)
    b.ok("report", code="M-03", role="dealer", position="dealer/1")
    b.ok("enter_card", incident=1, card="KD", reason="seen")
    b.approve()
    assert b.state.round.at("dealer/1") == "KD"
    b.cards("8H")
    assert b.last(f.RoundResult).hands["dealer"]["score"] == 24


@pytest.mark.parametrize("position", ["player/0", "dealer/0"])
def test_M_03_cards_that_players_decided_on_are_not_corrected(bench: Any, position: str) -> None:
    b = drawing(bench)
    b.ok("report", code="M-03", role="dealer", position=position)
    assert "enter_card" not in b.last(f.IncidentRaised).resolutions


def misread(bench: Any, then: bool) -> Any:
    """Seat 1 stands on 20; seat 2's third card is read as 8C (bust), and is 3D: the dealer's turn came too early."""
    b = bench("classic", burn="none", dealer_draws="needed")
    b.ok("start_shift")
    b.ok("load_shoe")
    b.ok("open_bets")
    b.ok("close_bets", seats=[1, 2])
    b.cards("KH TS 6H KD 7S")
    b.demand("seat/1/hand/0", 2, False)
    b.demand("seat/2/hand/0", 2, True)
    b.cards("8C")
    b.demand("dealer", 1, then)
    return b


def test_M_03_whether_the_dealer_draws_is_asked_anew_when_a_hand_was_another(bench: Any) -> None:
    b = misread(bench, True)
    assert b.step == "draw dealer/1"
    b.ok("report", code="M-03", role="dealer", position="seat/2/hand/0/2")
    b.ok("enter_card", incident=1, card="3D", reason="seen")
    b.approve()
    assert b.step == "decide seat/2/hand/0@3"
    b.demand("seat/2/hand/0", 3, False)
    assert b.step == "decide dealer@1"
    b.demand("dealer", 1, True)  # the same key again: what it said is forgotten
    b.cards("KC")
    assert b.step == "decide dealer@2"


def test_M_03_a_card_that_players_answered_is_not_corrected_before_the_next_one(bench: Any) -> None:
    b = bench("classic", burn="none")
    b.ok("start_shift")
    b.ok("load_shoe")
    b.ok("open_bets")
    b.ok("close_bets", seats=[1])
    b.cards("KH 6H 2D")
    b.demand("seat/1/hand/0", 2, True)
    assert b.step == "draw seat/1/hand/0/2"
    b.ok("report", code="M-03", role="dealer", position="seat/1/hand/0/1")
    assert "enter_card" not in b.last(f.IncidentRaised).resolutions


@pytest.mark.parametrize("position", ["dealer/1", "player/7", ""])
def test_a_report_names_an_open_card(bench: Any, position: str) -> None:
    b = bench().open_round()
    b.cards("TC 6H 9S 5D")
    assert b.refused("report", code="M-03", role="dealer", position=position).code == "bad_args"


def test_M_16_a_wrong_answer_of_the_peek_leaves_only_the_void(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC TH 9S 6D")
    b.wait()  # the peek
    b.demand("main", 2, False)
    b.demand("dealer", 2, True)
    assert b.step == "draw dealer/2"
    b.ok("report", code="M-03", role="dealer", position="dealer/1")
    refused = b.refused("enter_card", incident=1, card="AD", reason="it is an ace")
    assert refused.code == "not_correctable"
    assert "M-16" in refused.message
    b.resolve("void_round")
    assert b.state.phase == "voided"


def test_M_16_a_wrong_answer_found_after_the_result_declares_the_round_void(bench: Any) -> None:
    b = played(bench, "TC TH 9S 6D 8H")
    assert b.state.round.peeked is False
    args = {"round": b.state.round.id, "cards": [["dealer/1", "AD"]], "reason": "video"}
    assert b.refused("correct", **args).code == "not_correctable"
    b.ok("correct", **args, void=True)
    b.approve()
    assert b.last(f.ResultCorrected).voided
    assert b.state.round.at("dealer/1") == "AD"
