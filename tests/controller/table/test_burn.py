"""The burn: SHOE-07..11, M-22, unread burn cards, commitments of burned cards."""

from __future__ import annotations

from typing import Any

import pytest

from controller import facts as f
from controller.table.commitments import verify
from drivers import events as e


def loaded(bench: Any, **rules: Any) -> Any:
    b = bench(**rules)
    b.ok("start_shift")
    b.ok("load_shoe")
    return b


@pytest.mark.parametrize(
    ("first", "count"), [("AS", 1), ("2H", 2), ("9D", 9), ("TC", 10), ("JC", 10), ("QD", 10), ("KS", 10)]
)
def test_SHOE_08_the_first_card_says_how_many_are_burned(bench: Any, first: str, count: int) -> None:
    b = loaded(bench)
    assert b.step == "draw burn/0"
    b.cards(first)
    shown = b.last(f.BurnIndicatorDrawn)
    assert (shown.card, shown.count) == (first, count)
    cards = ["3S", "3H", "3D", "3C", "4S", "4H", "4D", "4C", "5S", "5H"][:count]
    for done, card in enumerate(cards, 1):
        assert (b.step, b.state.step.left, b.state.step.hidden) == (f"draw burn/{done}", count - done + 1, True)
        refusal = b.refused("open_bets")  # SHOE-10
        assert refusal.code == "not_allowed_now"
        b.cards(card)
        burned = b.last(f.CardBurned)
        assert (burned.done, burned.of) == (done, count)
        assert set(burned.public_data()) == {"done", "of", "commitment"}  # SHOE-11
    assert b.step == "open_bets"
    assert b.state.shoe.out == 1 + count
    b.ok("open_bets")


def test_SHOE_12_one_card_is_burned_face_down(bench: Any) -> None:
    b = loaded(bench, burn="one")
    assert (b.step, b.state.step.hidden) == ("draw burn/1", True)
    assert b.refused("open_bets").code == "not_allowed_now"
    b.cards("QS")
    assert b.state.shoe.out == 1
    assert not any(isinstance(r.fact, f.BurnIndicatorDrawn) for r in b.records)
    b.ok("open_bets")


@pytest.mark.parametrize("game", ["boundless", "baccarat"])
def test_SHOE_12_no_burn(bench: Any, game: str) -> None:
    b = bench(game, burn="none").open_round()
    assert b.step == "draw player/0"
    assert b.state.shoe.out == 0


def test_SHOE_10_no_bets_before_the_first_card(bench: Any) -> None:
    b = loaded(bench)
    refusal = b.refused("open_bets")
    assert (refusal.code, refusal.expected) == ("not_allowed_now", "burn/0")


def test_M_22_one_card_too_many_in_the_burn_is_burned(bench: Any) -> None:
    b = loaded(bench)
    b.cards("AS 3S 4S")
    assert b.incident == "M-22"
    incident = b.last(f.IncidentRaised)
    assert incident.resolutions == ("burn_card", "void_round_and_shoe")
    assert "4S" not in str(incident.public_data())
    assert b.refused("open_bets").code == "held"
    b.resolve("burn_card")
    assert (b.step, b.state.shoe.out, b.state.shoe.burned) == ("open_bets", 3, 1)
    b.ok("open_bets")


def test_M_22_void_the_shoe_over_a_wrong_burn(bench: Any) -> None:
    b = loaded(bench)
    b.cards("AS 3S 4S")
    b.resolve("void_round_and_shoe")
    assert (b.state.phase, b.step) == ("voided", "reopen")
    b.ok("reopen", reason="new shoe")
    assert (b.state.phase, b.step) == ("shoe_change", "load_shoe")
    b.ok("load_shoe")
    assert (b.step, b.state.shoe.out) == ("draw burn/0", 0)


def test_M_01_the_indicator_is_unread_and_read_again(bench: Any) -> None:
    b = loaded(bench)
    b.shoe(e.NoRead("NR"))
    assert b.incident == "M-01"
    assert b.last(f.IncidentRaised).resolutions == ("rescan", "enter_card", "void_round_and_shoe")
    b.resolve("rescan")
    assert (b.step, b.state.step.again) == ("draw burn/0", True)
    b.cards("2H")
    assert b.state.shoe.burn_of == 2
    assert b.state.shoe.out == 1
    assert not b.state.step.again


def test_a_burned_card_unread_is_a_hidden_card(bench: Any) -> None:
    b = loaded(bench)
    b.cards("2H")
    b.shoe(e.NoRead("NR"))
    assert b.incident == "hidden"
    b.resolve("rescan")
    b.cards("3S 4D")
    assert (b.step, b.state.shoe.out) == ("open_bets", 3)


def test_a_shoe_that_gives_no_face_cannot_show_the_indicator(bench: Any) -> None:
    b = bench("baccarat")
    b.ok("start_shift")
    b.ok("load_shoe")
    b.cards("**")
    assert b.incident == "M-01"
    b.resolve("rescan")
    b.cards("AS")
    assert b.state.shoe.out == 1


def test_SHOE_11_burned_cards_open_when_the_shoe_has_ended(bench: Any) -> None:
    b = loaded(bench)
    b.cards("2H 3S 4D")
    burned = [r.fact for r in b.records if isinstance(r.fact, f.CardBurned)]
    assert [c.card for c in burned] == ["3S", "4D"]
    b.ok("end_shift")
    ended = b.last(f.ShoeEnded)
    assert [(k["position"], k["card"]) for k in ended.burn_keys] == [("burn/1", "3S"), ("burn/2", "4D")]
    for fact, key in zip(burned, ended.burn_keys, strict=True):
        assert verify(
            fact.commitment, key["key"], table="t-1", round_=key["round"], position=key["position"], card=fact.card
        )


def test_SHOE_11_the_single_burned_card_opens_too(bench: Any) -> None:
    b = loaded(bench, burn="one")
    b.cards("QS")
    burned = b.last(f.CardBurned)
    b.ok("end_shift")
    (key,) = b.last(f.ShoeEnded).burn_keys
    assert verify(burned.commitment, key["key"], table="t-1", round_=key["round"], position="burn/1", card="QS")
    assert key["position"] == "burn/1"


@pytest.mark.parametrize("event", [e.Gap("1", "4"), e.PortRestored("pty")])
def test_a_first_card_that_may_have_passed_unheard_is_doubted(bench: Any, event: e.Event) -> None:
    b = loaded(bench)
    if isinstance(event, e.PortRestored):
        b.shoe(e.PortLost("pulled out"))
    b.shoe(event)
    assert b.incident == "M-30"
    b.resolve("rescan", cards=1)
    b.cards("AS")
    assert b.step == "draw burn/1"
