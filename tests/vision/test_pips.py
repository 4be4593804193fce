"""Pips: the rank by their places, and nothing on courts and backs."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.corners import Face
from vision.pips import find_pips, layout_match
from vision.segment import FACE
from vision.simulated.faces import face


def straight(card: str) -> Face:
    drawn, _ = face(card, "standard", (63.0, 88.0))
    return Face.of(np.asarray(cv2.resize(drawn, FACE, interpolation=cv2.INTER_AREA), np.uint8))


@pytest.mark.parametrize("rank", list("A23456789T"))
def test_the_places_of_pips_name_the_rank_either_way_up(rank: str) -> None:
    upright = straight(rank + "S")
    for view in (upright, upright.turned()):
        pips = find_pips(view.mask)
        assert pips is not None
        assert pips.rank == rank
        assert layout_match(view.shares)[0] == rank


@pytest.mark.parametrize("card", ["KH", "QC", "JD", "**"])
def test_courts_and_backs_have_no_pips(card: str) -> None:
    shown = straight(card)
    pips = find_pips(shown.mask)
    assert pips is None or layout_match(shown.shares)[0] != pips.rank


def test_a_pip_too_few_is_no_number() -> None:
    shown = straight("8D")
    pips = find_pips(shown.mask)
    assert pips is not None
    box = pips.upright[0]
    shown.mask[box.y : box.bottom, box.x : box.right] = 0
    assert find_pips(shown.mask) is None
