"""A camera on its rig: its pictures come, it names what is laid, it comes back when it was pulled."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

pytestmark = pytest.mark.system

PICTURES = 12
#: Faces that are easily taken for one another: red and black of a rank, a six and a nine.
FACES = ("6H", "9S", "KD", "KC")


@pytest.fixture(autouse=True)
def _patience(request: pytest.FixtureRequest, rig: Any) -> None:
    """A human takes longer than a test may."""
    if rig.simulate is None:
        request.node.add_marker(pytest.mark.timeout(rig.plan.patience_s * 3 + 60))


def test_pictures_come_and_can_be_trusted(camera: Any, findings: Any) -> None:
    camera.look(lambda: len(camera.arrived) >= PICTURES, f"{PICTURES} pictures")
    findings.watch(camera)
    health = camera.eye.health(camera.arrived[-1])
    assert health["ok"], health["reason"]
    assert camera.losses == []
    assert camera.named() == {}, "the table is not empty"


def test_it_names_the_cards_that_are_laid_and_nothing_else(camera: Any, findings: Any) -> None:
    places = sorted(camera.layout.positions)[: len(FACES)]
    laid = dict(zip(places, itertools.cycle(FACES), strict=False))
    seen: set[tuple[str, str]] = set()

    def all_named() -> bool:
        seen.update(camera.named().items())
        return len(camera.named()) >= len(laid) and "??" not in camera.named().values()

    camera.hands.lay(laid)
    camera.look(all_named, f"a name for each of {', '.join(f'{card} at {place}' for place, card in laid.items())}")
    wrong = [f"{card} at {place}" for place, card in sorted(seen) if card not in ("??", "**", laid.get(place))]
    findings.miscalled += wrong
    assert wrong == []
    assert camera.named() == laid
    camera.hands.collect()
    camera.look(lambda: camera.named() == {}, "an empty table")
    findings.watch(camera)


def test_a_pulled_camera_is_told_once_and_comes_back(camera: Any, findings: Any) -> None:
    if not camera.rig.plan.can_unplug:
        pytest.skip("no real hardware that may be unplugged (can_unplug = false)")
    camera.hands.unplug()
    camera.look(lambda: len(camera.losses) == 1, "the cable to be pulled")
    camera.look(lambda: len(camera.losses) == 2, "the cable to be put back")
    before = len(camera.arrived)
    camera.look(lambda: len(camera.arrived) >= before + 3, "pictures after the cable was back")
    assert [bool(loss.reason) for loss in camera.losses] == [True, False]
    findings.camera_back_s.append(camera.losses[1].time - camera.losses[0].time)
