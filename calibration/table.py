"""Table calibration: from known points of one picture to a layout, and the check that it still holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import cv2
import msgspec
import numpy as np
from numpy.typing import NDArray

from calibration.table_targets import CalibrationError, Pairs
from vision import reference
from vision.geometry import Points, project
from vision.health import MAX_MOVED_MM, MIN_FOUND
from vision.layout import Layout, Lens, Polygon, Reference, Row, View

Image = NDArray[np.uint8]
#: A calibration that misses its own points by more than this (mm) is refused.
MAX_ERROR_MM: Final = 4.0
#: A white card is between these grey levels; outside nothing can be said of its colour.
_WHITE_RANGE: Final = (60.0, 250.0)


@dataclass(frozen=True, slots=True)
class Solved:
    """A homography from mm to px with its error at each known point (mm)."""

    matrix: Points
    errors_mm: NDArray[np.float64]

    @property
    def rms_mm(self) -> float:
        """Root mean square of the errors."""
        return float(np.sqrt(np.mean(self.errors_mm**2)))

    @property
    def max_mm(self) -> float:
        """The largest error."""
        return float(self.errors_mm.max())


def solve(pairs: Pairs, lens: Lens | None = None) -> Solved:
    """The homography through ``pairs`` by least squares. Four points fit any way and prove nothing: give more.
    Raises ``CalibrationError`` if they lie on a line or do not fit together."""
    px = pairs.px if lens is None else straight(pairs.px, lens)
    found: Any = cv2.findHomography(pairs.mm, px, 0)
    matrix = found[0]
    if matrix is None or abs(np.linalg.det(matrix)) < 1e-9 or np.linalg.cond(matrix) > 1e9:
        raise CalibrationError("the points do not span a plane: no three of four may lie on one line")
    matrix = np.asarray(matrix / matrix[2, 2], np.float64)
    back = project(np.asarray(np.linalg.inv(matrix), np.float64), px)
    solved = Solved(matrix, np.linalg.norm(back - pairs.mm, axis=1))
    if not np.isfinite(solved.errors_mm).all() or solved.max_mm > MAX_ERROR_MM:
        worst = int(np.nanargmax(solved.errors_mm))
        raise CalibrationError(
            f"the points do not fit together: the one at {pairs.mm[worst].round(1).tolist()} mm is "
            f"{solved.errors_mm[worst]:.1f} mm off (limit {MAX_ERROR_MM:g}); was it measured or numbered wrongly?"
        )
    return solved


def straight(px: Points, lens: Lens) -> Points:
    """Points of the raw picture (n x 2, px) where they are once the lens' distortion is removed."""
    camera = np.asarray(lens.camera, np.float64)
    moved: Any = cv2.undistortPoints(
        px.reshape(-1, 1, 2), camera, np.asarray(lens.distortion, np.float64), None, camera
    )
    return np.asarray(moved, np.float64).reshape(-1, 2)


def white_gains(image: Image, polygon_px: Points) -> Row:
    """Gains of blue, green and red that make the white paper inside ``polygon_px`` (n x 2) grey.
    Raises ``CalibrationError`` if what is there is neither evenly lit nor bright."""
    mask = np.zeros(image.shape[:2], np.uint8)
    cv2.fillPoly(mask, [np.round(polygon_px).astype(np.int32)], 255)
    pixels = image[mask > 0].astype(np.float64)
    if len(pixels) < 50:
        raise CalibrationError("the white area is not in the picture")
    # Print on the paper is darker than the paper.
    bright = pixels[pixels.sum(axis=1) >= np.percentile(pixels.sum(axis=1), 60)]
    blue, green, red = np.median(bright, axis=0)
    if not (_WHITE_RANGE[0] <= min(blue, green, red) and max(blue, green, red) <= _WHITE_RANGE[1]):
        raise CalibrationError(
            f"the white area is blue {blue:.0f}, green {green:.0f}, red {red:.0f}: each must be "
            f"{_WHITE_RANGE[0]:.0f} to {_WHITE_RANGE[1]:.0f}; change the exposure, avoid glare"
        )
    return (round(green / blue, 4), 1.0, round(green / red, 4))


def measured(layout: Layout, image: Image, solved: Solved | None = None, aids: Sequence[Points] = ()) -> Layout:
    """``layout`` with what ``image``, of the empty table, shows of the felt's print, sharpness and light. The print
    is looked for outside ``aids``, areas (px) of what lies there for the calibration only."""
    picture = reference.gray(View(layout).apply(image))
    points = reference.corners(picture, avoid=aids)
    return msgspec.structs.replace(
        layout,
        reference=Reference(
            points=[(round(float(x), 1), round(float(y), 1)) for x, y in points],
            sharpness=round(reference.sharpness(picture, points), 4),
            brightness=round(reference.brightness(picture, layout), 1),
            error_max_mm=round(solved.max_mm, 2) if solved is not None else layout.reference.error_max_mm,
            error_rms_mm=round(solved.rms_mm, 2) if solved is not None else layout.reference.error_rms_mm,
        ),
    )


def rows(matrix: Points) -> tuple[Row, Row, Row]:
    """A 3 x 3 matrix as a layout stores it."""
    first, second, third = ((float(row[0]), float(row[1]), float(row[2])) for row in matrix)
    return first, second, third


def positions_from_px(polygons: dict[str, Polygon], matrix: Points) -> dict[str, Polygon]:
    """Polygons drawn over the picture (px) as polygons of the felt (mm)."""
    back = np.asarray(np.linalg.inv(matrix), np.float64)
    return {
        name: [(round(float(x), 1), round(float(y), 1)) for x, y in project(back, np.asarray(polygon))]
        for name, polygon in polygons.items()
    }


@dataclass(frozen=True, slots=True)
class Check:
    """Whether a calibration still holds: ``fault`` is empty if so. ``moved_mm`` at the position where it is most."""

    fault: str
    moved_mm: float
    found: float


def check(layout: Layout, image: Image, pairs: Pairs | None = None) -> Check:
    """Compare a picture with the calibration: by ``pairs`` if markers lie on the felt, else by the felt's print.
    Raises ``CalibrationError`` for a layout that keeps no print and ``ValueError`` for another picture size."""
    places = np.concatenate([np.asarray(polygon, np.float64) for polygon in layout.positions.values()])
    if pairs is not None:
        solved = solve(pairs, layout.lens)
        there = project(np.asarray(np.linalg.inv(solved.matrix)), layout.geometry().to_px(places))
        moved = float(np.linalg.norm(there - places, axis=1).max())
        return Check(_moved(moved), moved, 1.0)
    points = np.asarray(layout.reference.points, np.float64).reshape(-1, 2)
    if len(points) < reference.MIN_POINTS:
        raise CalibrationError(
            f"this layout keeps {len(points)} points of the felt's print, {reference.MIN_POINTS} are needed: "
            "check with markers, or calibrate on a felt with print"
        )
    seen = reference.shift(points, reference.gray(View(layout).apply(image)))
    if seen is None or seen.found < MIN_FOUND:
        share = 0.0 if seen is None else seen.found
        return Check("another view than at calibration: the felt's print is not where it was", float("nan"), share)
    geometry = layout.geometry()
    px = geometry.to_px(places)
    there = geometry.to_mm(px @ seen.matrix[:, :2].T + seen.matrix[:, 2])
    moved = float(np.linalg.norm(there - places, axis=1).max())
    return Check(_moved(moved), moved, seen.found)


def _moved(moved_mm: float) -> str:
    if moved_mm <= MAX_MOVED_MM:
        return ""
    return f"the camera has moved: {moved_mm:.1f} mm on the felt (limit {MAX_MOVED_MM:g}); calibrate the table anew"
