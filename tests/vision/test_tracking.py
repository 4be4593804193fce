"""One answer for each card: settling, votes, hands, moves, turns, removal, order."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from vision.layout import Layout
from vision.tracking import Quad, Sighting, Tracker

FRAME_S = 0.04


@dataclass
class Reading:
    kind: str
    card: str | None = None
    reason: str = ""


def reading(text: str) -> Reading:
    if text == "**":
        return Reading("back")
    return Reading("unknown", None, "glare") if text == "??" else Reading("card", text)


@dataclass
class Felt:
    """Cards at points (mm), seen by a tracker frame by frame. ``covered`` hides a point as a hand would."""

    tracker: Tracker
    cards: dict[tuple[float, float], str] = field(default_factory=dict)
    covered: set[tuple[float, float]] = field(default_factory=set)
    now: float = 100.0
    reads: int = 0

    def frames(self, count: int, step_s: float = FRAME_S) -> list[tuple[str, str | None]]:
        told: list[Sighting] = []
        for _ in range(count):
            self.now += step_s
            shown = {at: card for at, card in self.cards.items() if at not in self.covered}
            told += self.tracker.observe(self.now, [quad(at) for at in shown], self._read, self._bare)
        return [(sighting.position, sighting.card) for sighting in told]

    def _read(self, seen: Quad) -> Reading:
        self.reads += 1
        middle = seen.mean(axis=0)
        return reading(min(self.cards.items(), key=lambda item: np.hypot(*(middle - item[0])))[1])

    def _bare(self, seen: Quad) -> bool:
        middle = seen.mean(axis=0)
        there = [*self.cards, *self.covered]
        return all(np.hypot(*(middle - at)) > 40 for at in there)


def quad(at: tuple[float, float]) -> Quad:
    x, y = at
    return np.array([[x - 31, y - 44], [x + 31, y - 44], [x + 31, y + 44], [x - 31, y + 44]], np.float64)


P0, P1, B0 = (95.0, 160.0), (195.0, 160.0), (395.0, 160.0)


@pytest.fixture
def felt(layout: Layout) -> Felt:
    return Felt(Tracker(layout))


def test_a_card_is_told_once_after_it_lay_still_for_three_votes(felt: Felt) -> None:
    felt.cards[P0] = "KH"
    assert felt.frames(4) == []
    assert felt.frames(200) == [("player/0", "KH")]


def test_a_settled_card_is_read_again_only_now_and_then(felt: Felt) -> None:
    felt.cards[P0] = "KH"
    felt.frames(10)
    felt.reads = 0
    felt.frames(100)  # four seconds
    assert 2 <= felt.reads <= 5


def test_a_card_in_motion_is_not_read(felt: Felt) -> None:
    for step in range(20):
        felt.cards = {(95.0 + 8 * step, 160.0): "KH"}
        assert felt.frames(1) == []
    assert felt.reads == 0


def test_two_names_are_no_name(felt: Felt) -> None:
    told = []
    for turn in range(60):
        felt.cards[P0] = ("8D", "6D")[turn % 2]
        told += felt.frames(1)
    assert told == [("player/0", "??")]


def test_what_cannot_be_read_is_told_with_its_reason_and_named_when_the_glare_has_gone(felt: Felt) -> None:
    felt.cards[P0] = "??"
    assert felt.frames(40) == [("player/0", "??")]
    assert felt.tracker.lying()[0].card == "??"
    felt.cards[P0] = "9C"
    assert felt.frames(40) == [("player/0", "9C")]


def test_the_reason_of_an_unknown_is_the_recognisers(felt: Felt) -> None:
    felt.cards[P0] = "??"
    told: list[Sighting] = []
    for _ in range(40):
        felt.now += FRAME_S
        told += felt.tracker.observe(felt.now, [quad(P0)], felt._read, felt._bare)
    assert [sighting.reason for sighting in told] == ["glare"]


def test_a_hand_over_a_card_takes_nothing_away(felt: Felt) -> None:
    felt.cards[P0] = "KH"
    felt.frames(10)
    felt.covered.add(P0)
    assert felt.frames(100) == []
    felt.covered.clear()
    assert felt.frames(20) == []


def test_a_card_swapped_under_a_hand_is_noticed(felt: Felt) -> None:
    felt.cards[P0] = "KH"
    felt.frames(10)
    felt.covered.add(P0)
    felt.frames(20)
    felt.covered.clear()
    felt.cards[P0] = "KD"
    assert felt.frames(20) == [("player/0", "KD")]


def test_a_card_swapped_between_two_frames_is_noticed_by_the_recheck(felt: Felt) -> None:
    felt.cards[P0] = "KH"
    felt.frames(10)
    felt.cards[P0] = "KD"
    assert felt.frames(60) == [("player/0", "KD")]


def test_a_passing_shadow_changes_nothing_and_a_lasting_one_is_told(felt: Felt) -> None:
    felt.cards[P0] = "KH"
    felt.frames(10)
    felt.cards[P0] = "??"
    assert felt.frames(75) == []  # three seconds
    felt.cards[P0] = "KH"
    assert felt.frames(75) == []
    felt.cards[P0] = "??"
    assert felt.frames(250) == [("player/0", "??")]


def test_a_camera_of_two_frames_a_second_is_enough(felt: Felt) -> None:
    felt.cards[P0] = "KH"
    assert felt.frames(8, step_s=0.5) == [("player/0", "KH")]


def test_a_face_down_card_is_a_back_and_its_face_is_told_when_it_is_turned(felt: Felt) -> None:
    felt.cards[P0] = "**"
    assert felt.frames(10) == [("player/0", "**")]
    felt.covered.add(P0)
    felt.frames(10)
    felt.covered.clear()
    felt.cards[P0] = "QS"
    assert felt.frames(10) == [("player/0", "QS")]


def test_a_card_taken_away_leaves_bare_felt(felt: Felt) -> None:
    felt.cards[P0] = "KH"
    felt.frames(10)
    felt.cards.clear()
    assert felt.frames(3) == []
    assert felt.frames(10) == [("player/0", None)]
    assert felt.tracker.tracks == []


def test_a_place_that_looks_bare_for_a_moment_is_not_empty(felt: Felt) -> None:
    felt.cards[P0] = "KH"
    felt.frames(10)
    felt.cards.clear()
    assert felt.frames(2, step_s=0.5) == []  # long enough, but two frames only
    felt.covered.add(P0)
    felt.frames(2)
    felt.covered.clear()
    assert felt.frames(5) == []
    felt.cards[P0] = "KH"
    assert felt.frames(20) == []


def test_a_card_that_slides_to_another_position_leaves_its_first(felt: Felt) -> None:
    felt.cards[P0] = "KH"
    felt.frames(10)
    for step in range(11):
        felt.cards = {(95.0 + 10 * step, 160.0): "KH"}
        felt.frames(1)
    assert felt.frames(10) == [("player/0", None), ("player/1", "KH")]


def test_a_nudged_card_is_not_told_again(felt: Felt) -> None:
    felt.cards[P0] = "KH"
    felt.frames(10)
    felt.cards = {(P0[0] + 8, P0[1] + 5): "KH"}
    assert felt.frames(50) == []


def test_cards_are_told_in_the_order_in_which_they_came(felt: Felt) -> None:
    felt.cards[B0] = "??"
    felt.frames(5)
    felt.cards[P0] = "2C"
    assert felt.frames(8) == []  # the first is still being read
    felt.cards[B0] = "7H"
    assert felt.frames(20) == [("banker/0", "7H"), ("player/0", "2C")]


def test_an_unreadable_card_holds_the_others_up_only_briefly(felt: Felt) -> None:
    felt.cards[B0] = "??"
    felt.frames(5)
    felt.cards[P0] = "2C"
    assert felt.frames(40) == [("player/0", "2C"), ("banker/0", "??")]


def test_collecting_takes_every_card_away(felt: Felt) -> None:
    felt.cards = {P0: "2C", P1: "3C", B0: "4C"}
    felt.frames(10)
    felt.cards.clear()
    assert sorted(felt.frames(20)) == [("banker/0", None), ("player/0", None), ("player/1", None)]


def test_a_card_outside_every_position_is_followed_and_not_told(felt: Felt) -> None:
    felt.cards[(550.0, 300.0)] = "KH"
    assert felt.frames(20) == []
    assert len(felt.tracker.tracks) == 1


def test_a_second_card_at_a_position_is_told_and_when_it_goes_the_first_is_told_again(felt: Felt) -> None:
    felt.cards[(75.0, 160.0)] = "2C"
    felt.frames(10)
    felt.cards[(120.0, 215.0)] = "3D"
    assert felt.frames(10) == [("player/0", "3D")]
    del felt.cards[(120.0, 215.0)]
    assert felt.frames(20) == [("player/0", "2C")]


def test_after_a_gap_everything_is_looked_at_anew(felt: Felt) -> None:
    felt.cards[P0] = "KH"
    felt.frames(10)
    felt.now += 30
    felt.cards[P0] = "KD"
    assert felt.frames(6) == [("player/0", "KD")]
