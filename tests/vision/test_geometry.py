"""Millimetres to pixels and back."""

from __future__ import annotations

import numpy as np
import pytest

from vision.geometry import Geometry, overlap, quad_area

TILTED = np.array([[0.9, 0.2, 100.0], [-0.1, 0.8, 60.0], [0.0001, 0.0004, 1.0]])
SQUARE = np.array([[0, 0], [10, 0], [10, 10], [0, 10]])


def test_points_come_back_from_the_picture() -> None:
    geometry = Geometry(TILTED, (63, 88), (1280, 720))
    felt = np.array([[0, 0], [700, 10], [300, 450.5]])
    assert np.allclose(geometry.to_mm(geometry.to_px(felt)), felt)


def test_a_smaller_picture_of_the_same_view_shows_the_same_table() -> None:
    geometry = Geometry(TILTED, (63, 88), (1280, 720))
    half = geometry.scaled((640, 360))
    assert np.allclose(half.to_px([[120, 80]]) * 2, geometry.to_px([[120, 80]]))
    assert half.size == (640, 360)


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.eye(2), np.full((3, 3), np.nan)])
def test_a_matrix_that_is_no_view_is_refused(matrix: np.ndarray) -> None:
    with pytest.raises(ValueError, match="invertible"):
        Geometry(matrix, (63, 88), (640, 480))


def test_the_long_edge_comes_second() -> None:
    with pytest.raises(ValueError, match="card_mm"):
        Geometry(np.eye(3), (88, 63), (640, 480))


def test_overlap_is_of_the_union() -> None:
    assert overlap(SQUARE, SQUARE) == pytest.approx(1)
    assert overlap(SQUARE, np.add(SQUARE, (5, 0))) == pytest.approx(1 / 3)
    assert overlap(SQUARE, np.add(SQUARE, (50, 0))) == 0
    assert quad_area(SQUARE) == 100
