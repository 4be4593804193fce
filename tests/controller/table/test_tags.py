"""Readings of an RFID reader that name no card (M-04, M-26)."""

from __future__ import annotations

from typing import Any

from controller import facts as f
from drivers import events as e

TAG = "E004010012345678"


def test_M_04_two_cards_together_are_never_put_in_order(bench: Any) -> None:
    b = bench().open_round()
    b.shoe(e.TagsTogether("two tags", ("TC", "9H")))
    assert b.incident == "M-04"
    assert not [r for r in b.records if isinstance(r.fact, f.CardDealt)]
    assert b.state.shoe.seen["TC"] == b.state.shoe.seen["9H"] == 1
    b.resolve("void_round")


def test_M_26_foreign_and_unknown_tags_void_the_shoe(bench: Any) -> None:
    for event in (e.TagForeign("foreign", TAG, "KH", "shoe-b"), e.TagUnknown("unknown", TAG)):
        b = bench().open_round()
        b.shoe(event)
        assert b.incident == "M-26"
        assert b.last(f.IncidentRaised).resolutions == ("void_round_and_shoe",)
        shown = str([r.fact.masked_data() for r in b.records]) + str(b.last(f.IncidentRaised).public_data())
        assert TAG not in shown
        assert "KH" not in shown


def test_a_card_of_the_felt_shown_again_changes_nothing(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 6C")
    b.shoe(e.TagRepeated("again", TAG, "TC"))
    assert b.state.incidents == {}
    assert b.step == "draw player/1"
    b.shoe(e.TagRepeated("again", TAG, "KS"))
    assert b.incident == "M-26"


def test_a_rescan_hears_repeated_tags(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC 6C")
    b.shoe(e.PortLost("unplugged"), e.PortRestored("pty"))
    b.resolve("rescan", cards=2)
    b.shoe(e.TagRepeated("again", TAG, "TC"), e.TagRepeated("again", TAG, "6C"))
    assert b.step == "draw player/1"


def test_between_shoes_tags_are_only_recorded(bench: Any) -> None:
    b = bench()
    b.ok("start_shift")
    b.shoe(e.TagRepeated("again", TAG, "TC"), e.TagUnknown("unknown", TAG))
    assert b.state.holds == {}


def test_tags_that_left_are_kept_until_the_cards_are_shuffled(bench: Any) -> None:
    b = bench().open_round()
    other = TAG[:-1] + "9"
    b.shoe(e.CardDrawn("TC", tag=TAG))
    assert b.last(f.TagsLeft).tags == (TAG,)
    b.shoe(e.TagsTogether("two tags", ("6C", "9H"), (), (TAG, other)))
    assert b.last(f.TagsLeft).tags == (other,)
    assert b.state.shoe.tags == {TAG, other}
    b.restart()
    assert b.state.shoe.tags == {TAG, other}
    shown = str([r.fact.masked_data() for r in b.records]) + str([r.fact.public_data() for r in b.records if r.seq])
    assert TAG not in shown
    assert other not in shown


def test_a_card_without_a_tag_leaves_none(bench: Any) -> None:
    b = bench().open_round()
    b.cards("TC")
    assert b.last(f.CardDealt).face == "TC"
    assert not [r for r in b.records if isinstance(r.fact, f.TagsLeft)]
