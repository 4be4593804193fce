"""The roads a table publishes: void coups in none, corrected ones rebuilt, begun anew with what clears them."""

from __future__ import annotations

from itertools import cycle, islice
from typing import Any

import pytest

from controller import facts as f
from controller.rules.roads import COUPS_MAX, roads
from controller.table.inputs import Input
from controller.table.table import Outcome

#: Coups of four cards in dealing order: PLAYER, BANKER and a tie, all with a natural.
COUPS = {"player": "9S KD TS QD", "banker": "KS 9D TC QH", "tie": "9C 9H TH JD"}


def coup(b: Any, winner: str) -> Any:
    """Play one; the data of its result."""
    if b.state.phase != "dealing":
        b.open_round()
    b.cards(COUPS[winner])
    return b.last(f.RoundResult)


def beads(result: Any) -> list[str]:
    return [bead["result"] for bead in result.roads["bead_plate"]]


def test_a_void_coup_is_in_no_road(bench: Any) -> None:
    b = bench("baccarat", burn="none")
    coup(b, "banker")
    b.open_round().cards("9S KD")
    b.ok("void", reason="a card fell")
    b.ok("reopen", reason="cleared")
    for winner in ("player", "player"):
        result = coup(b, winner)
    assert result.roads == dict(roads(["banker", "player", "player"]))
    assert [cell["colour"] for cell in result.roads["big_eye_boy"]] == ["blue"]  # procedures page 5.3: BPP


def test_M_32_a_corrected_coup_rebuilds_every_road_and_those_after_it(bench: Any) -> None:
    b = bench("baccarat", burn="none")
    for winner in ("banker", "banker", "player", "player"):
        result = coup(b, winner)
    b.ok("correct", round=b.state.round.id, cards=[["player/0", "8S"], ["banker/0", "9D"]], reason="video")
    b.approve()
    corrected = b.last(f.ResultCorrected)
    assert corrected.roads == dict(roads(["banker", "banker", "player", "banker"]))
    assert corrected.roads["big_road"] != result.roads["big_road"]
    b.restart()
    b.ok("resume", reason="x", how="felt_agrees")
    assert coup(b, "tie").roads == dict(roads(["banker", "banker", "player", "banker", "tie"]))


@pytest.mark.parametrize("how", ["shoe", "shift"])
def test_another_shoe_begins_its_roads_anew(bench: Any, how: str) -> None:
    b = bench("baccarat", burn="none")
    assert beads(coup(b, "banker")) == ["banker"]
    if how == "shoe":
        b.ok("void", reason="torn card", shoe=True)
        b.ok("reopen", reason="x")
    else:
        b.ok("end_shift")
    assert beads(coup(b, "tie")) == ["tie"]


def test_BAC_02_a_shuffling_machine_lets_neither_roads_nor_order_grow_for_ever(bench: Any) -> None:
    class Quick(bench):  # type: ignore[misc]
        def put(self, what: Input) -> Outcome:
            self._inputs += 1
            found = self.table.decide(what, self.now, self._inputs.to_bytes(32, "big"))
            self.table.accept(found)
            self.records = [*self.records[-20:], *found.records]
            return found

    b = Quick("baccarat", burn="none", shuffle="every_round")
    winners = list(islice(cycle(COUPS), COUPS_MAX))
    for winner in winners:
        full = coup(b, winner)
    assert COUPS_MAX == 104
    assert full.roads == dict(roads(winners))  # as long as the longest shoe, and no longer
    assert beads(coup(b, "banker")) == ["banker"]
    assert beads(coup(b, "tie")) == ["banker", "tie"]
    assert len(b.state.shoe.order) == 4
