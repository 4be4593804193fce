"""Known points of the felt in a picture: ArUco markers, a ChArUco board, points given by hand.

Each function returns pairs of points, millimetres on the felt and pixels, or says what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.geometry import Points

Image = NDArray[np.uint8]
#: Names of the marker dictionaries that OpenCV knows.
DICTIONARIES: Final = tuple(sorted(name for name in dir(cv2.aruco) if name.startswith(("DICT_4X4", "DICT_5X5"))))
MIN_MARKERS: Final = 2
#: A lens is solved from this many views of a board at least.
MIN_VIEWS: Final = 5


class CalibrationError(Exception):
    """The picture does not show what is needed; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """The same points twice: on the felt (n x 2, mm) and in the picture (n x 2, px). ``aids`` are the areas (px) of
    what will be taken off the felt again."""

    mm: Points
    px: Points
    aids: list[Points] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Board:
    """A ChArUco board: squares across and down, edges of a square and of a marker (mm), and where its first corner
    lies on the felt (x, y in mm) with its turn (degrees, clockwise)."""

    columns: int
    rows: int
    square_mm: float
    marker_mm: float
    at: tuple[float, float] = (0.0, 0.0)
    turn: float = 0.0
    dictionary: str = "DICT_4X4_50"

    def detector(self) -> tuple[Any, Any]:
        """OpenCV's board and its detector. Raises ``CalibrationError`` for a board that cannot be."""
        try:
            board = cv2.aruco.CharucoBoard(
                (self.columns, self.rows), self.square_mm, self.marker_mm, _dictionary(self.dictionary)
            )
        except cv2.error as error:
            raise CalibrationError(
                f"a board of {self.columns} x {self.rows} squares of {self.square_mm:g} mm with markers of "
                f"{self.marker_mm:g} mm cannot be: at least 2 x 2, markers smaller than squares"
            ) from error
        return board, cv2.aruco.CharucoDetector(board)

    def on_felt(self, corners: Points) -> Points:
        """Corners of the board (n x 2, mm from its own first corner) as points of the felt."""
        turn = np.radians(self.turn)
        rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        return np.asarray(corners @ rotation.T + self.at, np.float64)


def from_markers(
    image: Image, middles: dict[int, tuple[float, float]], side_mm: float, dictionary: str = "DICT_4X4_50"
) -> Pairs:
    """All corners of the ArUco markers whose middles (mm) are known; they lie square to the felt's axes, upright.
    Raises ``CalibrationError`` if fewer than two of them are seen."""
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    found, numbers, _ = cv2.aruco.ArucoDetector(_dictionary(dictionary), parameters).detectMarkers(image)
    seen = [] if numbers is None else [int(number) for number in np.asarray(numbers).reshape(-1)]
    half = side_mm / 2
    square = np.array([[-half, -half], [half, -half], [half, half], [-half, half]])
    known = [(number, corners) for number, corners in zip(seen, found, strict=True) if number in middles]
    doubled = {number for number, _ in known if seen.count(number) > 1}
    if doubled:
        raise CalibrationError(f"marker {min(doubled)} is seen twice: take the other away")
    if len(known) < MIN_MARKERS:
        raise CalibrationError(
            f"of the markers {_list(middles)} the picture shows {_list(n for n, _ in known)} (all it shows: "
            f"{_list(seen)}): at least {MIN_MARKERS} are needed, four are good"
        )
    mm = np.concatenate([square + middles[number] for number, _ in known])
    quads = [np.asarray(corners, np.float64).reshape(4, 2) for corners in found]
    px = np.concatenate([np.asarray(corners, np.float64).reshape(4, 2) for _, corners in known])
    return Pairs(mm, px, [_grown(quad, 1.8) for quad in quads])


def from_board(image: Image, board: Board) -> Pairs:
    """The inner corners of a ChArUco board that lies on the felt. Raises ``CalibrationError`` if too few are seen."""
    corners, numbers, pattern = _board_corners(image, board)
    if len(numbers) < 6:
        raise CalibrationError(
            f"the board shows {len(numbers)} corners: at least 6 are needed; more light, less glare?"
        )
    hull = np.asarray(cv2.convexHull(corners.astype(np.float32)), np.float64).reshape(-1, 2)
    return Pairs(board.on_felt(pattern[numbers][:, :2]), corners, [_grown(hull, 1.8)])


def lens_from_boards(images: Sequence[Image], board: Board) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """(camera matrix, distortion of five, reprojection error in px) from views of a ChArUco board, held at different
    tilts and places. Raises ``CalibrationError``."""
    objects, views = [], []
    for image in images:
        corners, numbers, pattern = _board_corners(image, board)
        if len(numbers) >= 8:
            objects.append(pattern[numbers].astype(np.float32))
            views.append(corners.astype(np.float32))
    if len(views) < MIN_VIEWS:
        raise CalibrationError(
            f"{len(views)} of {len(images)} pictures show the board well enough for the lens: at least {MIN_VIEWS}, "
            "tilted differently and reaching the picture's corners"
        )
    size = (images[0].shape[1], images[0].shape[0])
    error, camera, distortion, _, _ = cv2.calibrateCamera(objects, views, size, None, None)
    return np.asarray(camera, np.float64), np.asarray(distortion, np.float64).reshape(-1)[:5], float(error)


def from_points(pairs: Sequence[tuple[tuple[float, float], tuple[float, float]]]) -> Pairs:
    """Points given as ((x, y) in px, (x, y) in mm). Raises ``CalibrationError`` for fewer than four."""
    if len(pairs) < 4:
        raise CalibrationError(f"{len(pairs)} points: at least four are needed, no three of them on one line")
    return Pairs(np.array([mm for _, mm in pairs], np.float64), np.array([px for px, _ in pairs], np.float64))


def _board_corners(image: Image, board: Board) -> tuple[Points, NDArray[np.int64], NDArray[np.float64]]:
    """(corners seen in px, their numbers, all corners of the board in its own mm)."""
    pattern, detector = board.detector()
    corners, numbers, _, _ = detector.detectBoard(image)
    all_corners = np.asarray(pattern.getChessboardCorners(), np.float64).reshape(-1, 3)
    if numbers is None:
        return np.zeros((0, 2)), np.zeros(0, np.int64), all_corners
    return (
        np.asarray(corners, np.float64).reshape(-1, 2),
        np.asarray(numbers, np.int64).reshape(-1),
        all_corners,
    )


def _grown(area: Points, share: float) -> Points:
    """``area`` with the white paper around it."""
    middle = area.mean(axis=0)
    return np.asarray(middle + (area - middle) * share, np.float64)


def _dictionary(name: str) -> Any:
    if name not in DICTIONARIES:
        raise CalibrationError(f"{name!r}: no dictionary of markers; there is {', '.join(DICTIONARIES)}")
    return cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, name))


def _list(numbers: Any) -> str:
    return ", ".join(str(number) for number in sorted(numbers)) or "none"
