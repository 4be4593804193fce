"""Shoe and camera together, and the camera alone (design page 4: confirm, disagree, wrong place, missing, extra)."""

from __future__ import annotations

from typing import Any

import pytest

from controller import facts as f
from drivers import events as e


def watching(bench: Any, game: str = "boundless", sources: str = "both", **rules: Any) -> Any:
    b = bench(game, sources=sources, **rules)
    b.ok("camera_health", ok=True, role="camera")
    return b.open_round()


def deal(b: Any, text: str) -> None:
    """Cards as ``position=card``: read by the shoe, then seen."""
    for pair in text.split():
        position, _, card = pair.partition("=")
        b.cards(card)
        b.see((position, "**" if position == "dealer/1" else card))


def dealt(b: Any) -> list[tuple[str, str]]:
    return [(c.position, c.card) for c in b.state.round.cards]


# --- confirmation ------------------------------------------------------------------------------------------------


def test_a_card_is_dealt_when_the_camera_sees_it(bench: Any) -> None:
    b = watching(bench)
    facts = b.cards("TC")
    assert "card_dealt" not in b.types(facts)
    assert not any(fact.PUBLIC and "TC" in str(fact.public_data()) for fact in facts)
    facts = b.see(("player/0", "TC"))
    found = next(fact for fact in facts if isinstance(fact, f.CardDealt))
    assert found.validated_by == ("shoe", "camera")
    assert b.state.shoe.out == 3
    assert b.step == "draw dealer/0"


def test_the_camera_may_be_first(bench: Any) -> None:
    b = watching(bench)
    b.see(("player/0", "TC"))
    assert dealt(b) == []
    b.cards("TC")
    assert dealt(b) == [("player/0", "TC")]


def test_a_whole_round_by_both(bench: Any) -> None:
    b = watching(bench)
    deal(b, "player/0=TC dealer/0=6H player/1=9S dealer/1=KD")
    assert b.step == "decide main@2"
    b.demand("main", 2, False)
    b.see(("dealer/1", "KD"))  # the hole card is turned
    b.demand("dealer", 2, True)
    deal(b, "dealer/2=8H")
    assert b.state.phase == "result"
    assert {tuple(r.fact.validated_by) for r in b.records if isinstance(r.fact, f.CardDealt)} == {("shoe", "camera")}


def test_two_claims_may_be_open_while_the_first_cards_are_dealt(bench: Any) -> None:
    b = watching(bench)
    b.cards("TC 6H")
    assert b.step == "sight player/0"
    b.see(("dealer/0", "6H"))
    assert dealt(b) == []  # the order is the shoe's
    b.see(("player/0", "TC"))
    assert dealt(b) == [("player/0", "TC"), ("dealer/0", "6H")]


def test_a_third_card_before_the_camera_has_seen_the_first_is_an_incident(bench: Any) -> None:
    b = watching(bench)
    b.cards("TC 6H 9S")
    assert b.incident == "M-08"


def test_no_window_opens_over_an_open_claim(bench: Any) -> None:
    b = watching(bench)
    deal(b, "player/0=TC dealer/0=6H player/1=9S")
    b.cards("KD")
    assert b.step == "sight dealer/1"
    b.see(("dealer/1", "**"))
    assert b.step == "decide main@2"


def test_baccarat_draws_no_third_card_over_an_open_claim(bench: Any) -> None:
    b = watching(bench, "baccarat")
    deal(b, "player/0=2C banker/0=2D player/1=2H")
    b.cards("2S")
    assert b.step == "sight banker/1"
    b.see(("banker/1", "2S"))
    assert b.step == "draw player/2"


@pytest.mark.parametrize("slid_first", [True, False], ids=["slid before the next card", "slid after it was read"])
def test_a_split_takes_what_the_camera_saw_along(bench: Any, slid_first: bool) -> None:
    b = bench("classic", sources="both", burn="none")
    b.ok("camera_health", ok=True, role="camera")
    for command in ("start_shift", "load_shoe", "open_bets"):
        b.ok(command)
    b.ok("close_bets", seats=[1])
    deal(b, "seat/1/hand/0/0=8C dealer/0=6C seat/1/hand/0/1=8H")
    b.demand("seat/1/hand/0", 2, False, split=True)
    slid = (("seat/1/hand/0/1", None), ("seat/1/hand/1/0", "8H"))
    if slid_first:
        b.see(*slid)
    b.cards("2D")
    b.see(*(() if slid_first else slid), ("seat/1/hand/0/1", "2D"))
    deal(b, "seat/1/hand/1/1=3S")
    assert dealt(b)[2:] == [("seat/1/hand/1/0", "8H"), ("seat/1/hand/0/1", "2D"), ("seat/1/hand/1/1", "3S")]
    assert b.step == "decide seat/1/hand/0@2"
    assert not b.state.incidents


# --- disagreement --------------------------------------------------------------------------------------------------


def test_M_03_another_face_is_an_incident_that_names_no_card(bench: Any) -> None:
    b = watching(bench)
    b.cards("TC")
    b.see(("player/0", "JC"))
    raised = b.last(f.IncidentRaised)
    assert raised.code == "M-03"
    assert not {"TC", "JC"} & set(str(raised.public_data()).replace("'", " ").split())
    assert raised.resolutions == ("rescan", "enter_card", "void_round", "void_round_and_shoe")


def test_M_03_the_card_passes_the_reader_again(bench: Any) -> None:
    b = watching(bench)
    b.cards("TC")
    b.see(("player/0", "JC"))
    b.resolve("rescan")
    assert (b.step, b.state.step.again) == ("draw player/0", True)
    b.see(("player/0", None))
    b.cards("JC")
    b.see(("player/0", "JC"))
    assert dealt(b) == [("player/0", "JC")]
    assert b.state.shoe.seen == {"AS": 1, "2H": 1, "TC": 0, "JC": 1}


def test_M_03_two_people_say_which_card_it_is(bench: Any) -> None:
    b = watching(bench)
    b.cards("TC")
    b.see(("player/0", "JC"))
    b.ok("enter_card", incident=1, card="JC", reason="looked")
    b.approve()
    assert dealt(b) == [("player/0", "JC")]
    assert b.last(f.CardDealt).validated_by == ("people",)
    assert b.state.shoe.seen["TC"] == 0


@pytest.mark.parametrize(("seen", "why"), [(None, "has not seen it"), ("??", "cannot read it"), ("**", "face down")])
def test_M_03_what_is_not_confirmed_in_time_is_an_incident(bench: Any, seen: str | None, why: str) -> None:
    b = watching(bench)
    b.cards("TC")
    if seen is not None:
        b.see(("player/0", seen))
    b.now += 2_999
    assert b.table.deadline()[1] > b.now
    b.wait()
    raised = b.last(f.IncidentRaised)
    assert (raised.code, raised.position) == ("M-03", "player/0")
    assert why in raised.actual
    b.resolve("resume")
    assert dealt(b) == [("player/0", "TC")]
    assert b.last(f.CardDealt).validated_by == ("shoe", "people")


def test_M_01_a_card_that_only_the_camera_sees_was_not_read(bench: Any) -> None:
    b = watching(bench)
    b.see(("player/0", "TC"))
    b.wait()
    assert b.incident == "M-01"
    b.resolve("rescan")
    b.cards("TC")
    assert dealt(b) == [("player/0", "TC")]
    assert b.state.shoe.out == 3


def test_M_11_a_card_at_another_place_than_it_was_drawn_for(bench: Any) -> None:
    b = watching(bench)
    b.cards("TC")
    b.see(("player/1", "TC"))
    raised = b.last(f.IncidentRaised)
    assert (raised.code, raised.position) == ("M-11", "player/0")
    b.see(("player/1", None), ("player/0", "TC"))  # it is moved to where it belongs
    b.resolve("resume")
    assert dealt(b) == [("player/0", "TC")]


def test_M_08_a_card_where_none_belongs(bench: Any) -> None:
    b = watching(bench)
    deal(b, "player/0=TC")
    b.see(("split/0/1", "9D"))
    b.wait()
    assert b.incident == "M-08"
    b.resolve("resume")


def test_M_06_a_card_open_on_the_felt_before_bets_close(bench: Any) -> None:
    b = bench(sources="both", betting_s=60.0)
    b.ok("camera_health", ok=True, role="camera")
    b.ok("start_shift")
    b.ok("load_shoe")
    b.cards("AS 2H")
    b.ok("open_bets")
    b.see(("player/0", "TC"))
    b.wait()
    assert b.incident == "M-06"


def test_M_15_the_hole_card_is_open_too_early(bench: Any) -> None:
    forms = []
    for hole, seen in (("KD", "KD"), ("KD", "9C"), ("7S", "7S")):
        b = watching(bench)
        deal(b, "player/0=TC dealer/0=6H player/1=9S")
        b.cards(hole)
        b.see(("dealer/1", "**"))
        facts = b.see(("dealer/1", seen))
        assert b.incident == "M-15"
        forms.append([fact.public_data() for fact in facts if fact.PUBLIC])
    assert forms[0] == forms[1] == forms[2]


@pytest.mark.parametrize("resolution", ["resume", "void_round"])
def test_M_15_everybody_saw_it_or_the_round_is_void(bench: Any, resolution: str) -> None:
    b = watching(bench)
    deal(b, "player/0=TC dealer/0=6H player/1=9S dealer/1=KD")
    b.see(("dealer/1", "KD"))
    assert b.incident == "M-15"
    b.resolve(resolution)
    if resolution == "void_round":
        assert b.state.phase == "voided"
        return
    assert b.step == "decide main@2"
    b.demand("main", 2, False)
    b.demand("dealer", 2, True)
    deal(b, "dealer/2=8H")
    assert b.state.phase == "result"


def turned(bench: Any) -> Any:
    """Main stands; the hole card, a king by the shoe, has been announced: the dealer has 16 and draws, or 17."""
    b = watching(bench)
    deal(b, "player/0=TC dealer/0=7H player/1=9S dealer/1=KD")
    b.demand("main", 2, False)
    return b


def test_no_result_before_the_camera_has_seen_the_turned_hole_card(bench: Any) -> None:
    b = turned(bench)
    assert b.step == "sight dealer/1"
    assert b.last(f.CardRevealed).card == "KD"
    b.shoe(e.CardDrawn("2C"))
    assert b.incident == "M-08"  # none is due while the camera looks
    b.resolve("burn_card")
    b.see(("dealer/1", "??"))
    assert b.step == "sight dealer/1"
    b.see(("dealer/1", "KD"))
    assert b.state.phase == "result"


@pytest.mark.parametrize(("how", "face"), [("resume", "KD"), ("enter_card", "9D")])
def test_M_03_the_turned_hole_card_is_another_than_the_shoe_read(bench: Any, how: str, face: str) -> None:
    b = turned(bench)
    b.see(("dealer/1", "9D"))
    assert b.incident == "M-03"
    assert "round_result" not in b.types()
    if how == "enter_card":
        b.ok("enter_card", incident=max(b.state.incidents), card=face, reason="seen")
        b.approve()
    else:
        b.resolve(how)
    assert b.state.round.at("dealer/1") == face
    if face == "9D":  # 16: the dealer draws on
        b.demand("dealer", 2, True)
        deal(b, "dealer/2=5C")
    assert b.state.phase == "result"


@pytest.mark.parametrize("seen", [None, "**", "??"])
def test_M_03_the_hole_card_is_turned_late(bench: Any, seen: str | None) -> None:
    b = turned(bench)
    if seen is not None:
        b.see(("dealer/1", seen))
    b.restart()
    b.shoe(e.PortRestored("pty"))
    b.ok("camera_health", ok=True, role="camera")
    b.ok("resume", reason="x", how="felt_agrees")
    assert b.step == "sight dealer/1"
    b.wait()
    assert b.incident == "M-03"
    b.resolve("resume")
    assert b.state.phase == "result"


def test_M_23_cards_taken_away_before_the_result(bench: Any) -> None:
    b = watching(bench)
    deal(b, "player/0=TC dealer/0=6H")
    b.see(("player/0", None))
    assert b.incident == "M-23"
    assert b.last(f.IncidentRaised).resolutions[:2] == ("rescan", "resume")


def test_cards_collected_after_the_result_are_no_matter(bench: Any) -> None:
    b = watching(bench, "baccarat", burn="none")
    deal(b, "player/0=KC banker/0=8D player/1=9H banker/1=KS")
    assert b.state.phase == "result"
    b.see(("player/0", None), ("banker/0", None), ("player/1", None), ("banker/1", None))
    assert b.state.incidents == {}
    b.ok("open_bets")
    assert b.state.sighted == {}


def test_a_card_left_from_the_last_round_confirms_nothing(bench: Any) -> None:
    b = watching(bench, "baccarat", burn="none")
    deal(b, "player/0=KC banker/0=8D player/1=9H banker/1=KS")
    b.ok("open_bets")
    b.ok("close_bets")
    b.cards("KC")
    assert dealt(b) == []
    b.wait()
    assert b.incident == "M-03"


# --- holds, restart, health ------------------------------------------------------------------------------------


def test_a_card_held_during_a_pause_is_claimed_afterwards(bench: Any) -> None:
    b = watching(bench)
    b.ok("pause", reason="x")
    b.cards("TC")
    b.ok("resume", reason="x")
    assert dealt(b) == []
    b.see(("player/0", "TC"))
    assert dealt(b) == [("player/0", "TC")]
    assert b.state.shoe.out == 3


def test_a_claim_survives_a_restart(bench: Any) -> None:
    b = watching(bench)
    b.cards("TC")
    b.restart()
    assert "device:camera" in b.state.holds
    b.ok("camera_health", ok=True, role="camera")
    b.ok("resume", reason="x", how="rescan", cards=1)
    b.cards("TC")
    b.see(("player/0", "TC"))
    assert dealt(b) == [("player/0", "TC")]
    assert b.state.shoe.out == 3


def test_a_camera_that_fails_or_falls_silent_holds_the_table(bench: Any) -> None:
    b = watching(bench)
    b.ok("camera_health", ok=False, reason="moved", role="camera")
    assert b.state.holds["device:camera"].reason == "camera: moved"
    b.ok("camera_health", ok=True, role="camera")
    assert b.state.holds == {}
    b.now += 4_999
    b.wait()
    assert "silent" in b.state.holds["device:camera"].reason


def test_a_table_with_a_shoe_alone_hears_no_camera(bench: Any) -> None:
    b = bench().open_round()
    assert b.refused("sighting", seen=[], role="camera").code == "wrong_mode"
    assert b.refused("camera_health", ok=True, role="camera").code == "wrong_mode"


@pytest.mark.parametrize(
    "row",
    [{"position": ""}, {"position": "x" * 41}, {"position": "player/0", "card": "1X"},
     {"position": "player/0", "card": "TC", "age_ms": -1}, {"position": "a\nb"}],
)  # fmt: skip
def test_sightings_that_are_refused(bench: Any, row: dict[str, Any]) -> None:
    assert watching(bench).refused("sighting", seen=[row], role="camera").code == "bad_args"


# --- the camera alone --------------------------------------------------------------------------------------------


def test_the_camera_alone_deals_what_it_sees_where_it_is_due(bench: Any) -> None:
    b = watching(bench, "baccarat", "camera", burn="none")
    b.see(("player/0", "KC"), ("banker/0", "8D"))
    b.see(("player/1", "9H"))
    b.see(("banker/1", "KS"))
    assert b.state.phase == "result"
    assert b.last(f.CardDealt).validated_by == ("camera",)
    assert b.state.shoe.out == 4


def test_the_camera_alone_cannot_read_a_card(bench: Any) -> None:
    b = watching(bench, "baccarat", "camera", burn="none")
    b.see(("player/0", "??"))
    b.wait()
    assert b.incident == "M-01"
    b.ok("enter_card", incident=1, card="KC", reason="glare")
    b.approve()
    assert dealt(b) == [("player/0", "KC")]


def test_what_a_shoe_reads_beside_the_camera_alone_is_only_recorded(bench: Any) -> None:
    b = watching(bench, "baccarat", "camera", burn="none")
    b.shoe(e.CardDrawn("KC"))
    assert dealt(b) == []
    assert b.state.incidents == {}


def test_a_ninth_copy_by_the_camera_is_an_incident(bench: Any) -> None:
    b = watching(bench, "baccarat", "camera", burn="none")
    places = ("player/0", "banker/0", "player/1", "banker/1")
    for _ in range(2):
        b.see(*((place, "4H") for place in places))
        b.see(*((place, None) for place in places))
        b.ok("open_bets")
        b.ok("close_bets")
    b.see(("player/0", "4H"))
    assert b.incident == "M-26"


# --- cards that people vouched for ---------------------------------------------------------------------------------


def test_a_card_vouched_for_lies_on_the_felt_while_it_waits(bench: Any) -> None:
    b = watching(bench)
    b.cards("TC")
    b.wait()
    b.ok("pause", reason="a question")
    b.resolve("resume")
    assert dealt(b) == []
    assert b.state.on_felt == ("TC",)  # a rescan reads it as recorded, not as a further card


def test_cards_vouched_for_keep_their_places_before_one_that_was_kept(bench: Any) -> None:
    b = watching(bench, "baccarat")
    deal(b, "player/0=JH banker/0=5H")
    b.ok("pause", reason="a question")
    b.cards("9S TD TC")
    for number in (1, 2):
        b.ok("resolve", incident=number, resolution="use_as_next", reason="seen")
    b.ok("resume", reason="answered")
    b.wait()
    for number in sorted(b.state.incidents):
        b.ok("resolve", incident=number, resolution="resume", reason="seen")
    assert dealt(b)[2:4] == [("player/1", "9S"), ("banker/1", "TD")]


def test_a_vouched_card_takes_its_place_before_one_confirmed_after_it(bench: Any) -> None:
    b = watching(bench)
    b.cards("7S 6H")
    b.see(("dealer/0", "6H"))
    b.wait()
    assert b.incident == "M-03"
    b.resolve("resume")
    assert dealt(b) == [("player/0", "7S"), ("dealer/0", "6H")]


def test_after_a_void_what_the_camera_still_sees_is_no_matter(bench: Any) -> None:
    b = watching(bench)
    b.see(("player/0", "TC"))
    b.ok("void", reason="x")
    assert b.table.deadline() is None or b.table.deadline()[0] != "sight"
    b.see(("split/0/1", "9D"))
    b.now += 10_000
    b.ok("camera_health", ok=True, role="camera")
    assert b.state.incidents == {}
    b.ok("reopen", reason="x")


def test_a_camera_gone_mad_fills_no_memory(bench: Any) -> None:
    b = watching(bench)
    b.ok("pause", reason="x")
    for batch in range(2):
        b.see(*((f"nowhere/{batch}/{n}", "TC") for n in range(64)))
    refused = b.refused("sighting", seen=[{"position": "one/more", "card": "TC"}], role="camera")
    assert "129 places" in refused.message
    b.ok("sighting", seen=[{"position": "nowhere/0/0", "card": None}], role="camera")


# --- a card that the shoe did not read, and the next one upon it ---------------------------------------------------


def test_M_03_the_camera_saw_another_face_there_before_the_shoe_read_one(bench: Any) -> None:
    b = watching(bench)
    b.see(("player/0", "4C"))  # it left the shoe unread
    b.see(("player/0", "6H"))  # the next one lies on it
    b.cards("6H")
    assert b.incident == "M-03"
    assert dealt(b) == []


@pytest.mark.parametrize("between", [None, "??", "**"])
def test_a_face_that_the_camera_loses_and_finds_again_is_the_same(bench: Any, between: str | None) -> None:
    b = watching(bench)
    b.see(("player/0", "6H"))
    b.see(("player/0", between))
    b.see(("player/0", "6H"))
    b.cards("6H")
    assert dealt(b) == [("player/0", "6H")]
    assert not b.state.incidents


def test_M_15_the_hole_card_was_open_before_the_shoe_read_it(bench: Any) -> None:
    b = watching(bench)
    deal(b, "player/0=TC dealer/0=6H player/1=9S")
    b.see(("dealer/1", "KD"))
    b.see(("dealer/1", "**"))
    b.cards("KD")
    assert b.incident == "M-15"


def test_cards_that_still_lie_there_while_bets_are_open_are_no_sign(bench: Any) -> None:
    b = watching(bench, "baccarat", burn="none")
    deal(b, "player/0=KC banker/0=8D player/1=9H banker/1=KS")
    b.ok("open_bets")
    b.see(("player/0", "9C"))
    b.see(("player/0", None))
    b.ok("close_bets")
    deal(b, "player/0=2C")
    assert dealt(b) == [("player/0", "2C")]
    assert not b.state.incidents


def test_no_claim_is_confirmed_while_another_card_lies_where_none_is_due(bench: Any) -> None:
    b = watching(bench)
    b.see(("split/0/3", "9C"))  # the card that the shoe did not read, laid at a wrong place
    b.cards("TC")
    b.see(("player/0", "TC"))
    assert dealt(b) == []
    b.wait()
    assert b.incident == "M-08"
    b.resolve("resume")
    assert dealt(b) == [("player/0", "TC")]


@pytest.mark.parametrize("how", ["resume", "enter_card"])
def test_a_card_settled_for_its_own_place_never_takes_that_of_one_that_is_read_again(bench: Any, how: str) -> None:
    """Two claims, both unseen: the first is read again, people answer for the second."""
    b = watching(bench)
    b.cards("TC 6H")
    b.wait()
    first, second = sorted(b.state.incidents)
    b.ok("resolve", incident=first, resolution="rescan", reason="seen")
    if how == "resume":
        b.ok("resolve", incident=second, resolution="resume", reason="seen")
    else:
        b.ok("enter_card", incident=second, card="9S", reason="seen")
        b.approve()
    assert dealt(b) == []
    assert b.step == "draw player/0"
    b.cards("TC")
    b.see(("player/0", "TC"))
    assert dealt(b) == [("player/0", "TC"), ("dealer/0", "6H" if how == "resume" else "9S")]
    assert b.step == "draw player/1"
    assert b.state.shoe.out == 4


def test_a_claim_read_again_is_dealt_before_the_claim_behind_it(bench: Any) -> None:
    b = watching(bench)
    b.cards("TC 6H")
    b.see(("player/0", "4C"), ("dealer/0", "6H"))
    b.resolve("rescan")
    assert dealt(b) == []
    b.cards("TC")
    b.see(("player/0", "TC"))
    assert dealt(b) == [("player/0", "TC"), ("dealer/0", "6H")]


def test_a_card_held_while_one_is_to_be_read_again_waits_for_its_own_place(bench: Any) -> None:
    b = watching(bench)
    b.cards("TC")
    b.see(("player/0", "JC"))
    b.cards("6H")
    b.resolve("rescan")
    assert b.step == "draw player/0"
    b.cards("TC")
    b.see(("player/0", "TC"), ("dealer/0", "6H"))
    assert dealt(b) == [("player/0", "TC"), ("dealer/0", "6H")]


def test_nothing_is_dealt_while_a_card_lies_open_that_no_one_has_explained(bench: Any) -> None:
    """The card the shoe did not read may lie beside its place, and the next one at it."""
    b = watching(bench)
    b.see(("player/4", "AH"))
    b.cards("KD")
    b.see(("player/0", "KD"))
    assert dealt(b) == []
    b.wait()
    assert b.incident == "M-08"
    assert dealt(b) == []


def test_a_card_on_its_way_to_its_place_holds_nothing_up(bench: Any) -> None:
    b = watching(bench)
    b.see(("player/4", "KD"))
    b.cards("KD")
    b.see(("player/4", None), ("player/0", "KD"))
    assert dealt(b) == [("player/0", "KD")]
