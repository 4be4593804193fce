"""A calibrated table as data: geometry, lens, white balance, the positions, and what the camera saw that day.

A layout file is TOML (JSON, if its name says so), in millimetres of the felt and pixels of the picture; it holds
numbers only. ``dealerd calibrate table`` writes it. Built-in layouts lie in ``calibration/layouts``.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import cv2
import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from vision.geometry import Geometry, Points, quad_area

Point = tuple[float, float]
Row = tuple[float, float, float]
Polygon = list[Point]
#: Gains nearer to 1 than this leave the picture alone.
WHITE_TOLERANCE: Final = 0.03


class LayoutError(Exception):
    """The layout file cannot be used: file, place, what is wrong."""


class Lens(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A lens as OpenCV describes it: the 3 x 3 camera matrix (px) and the distortion k1 k2 p1 p2 k3."""

    camera: tuple[Row, Row, Row]
    distortion: tuple[float, float, float, float, float]


class Reference(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The empty table at calibration: corners of the felt's print (px), by which a moved camera is noticed,
    ``sharpness`` as ``vision.health`` measures it, ``brightness`` of the felt 0 to 255, largest and typical
    (root mean square) error of the calibration in mm."""

    points: list[Point] = []
    sharpness: float = 0.0
    brightness: float = 0.0
    error_max_mm: float = 0.0
    error_rms_mm: float = 0.0


class Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A layout file. ``matrix`` takes mm of the felt to px of the picture with the lens' distortion removed;
    ``white`` are the gains of blue, green and red that make a white card grey; ``positions`` are polygons in mm."""

    name: str
    size: tuple[int, int]
    card_mm: tuple[float, float]
    matrix: tuple[Row, Row, Row]
    positions: dict[str, Polygon]
    white: Row = (1.0, 1.0, 1.0)
    lens: Lens | None = None
    reference: Reference = Reference()

    def geometry(self) -> Geometry:
        """The table's plane. Raises ``ValueError`` for a matrix that is no view."""
        return Geometry(np.asarray(self.matrix, np.float64), self.card_mm, self.size)

    def position_at(self, point_mm: ArrayLike) -> str | None:
        """The position in whose polygon a point (mm) lies; of several the one whose middle is nearest."""
        return Places(self).at(point_mm)

    def middle_mm(self, position: str) -> Points:
        """The middle of a position's polygon (mm)."""
        return np.asarray(np.mean(self.positions[position], axis=0), np.float64)

    def felt_px(self) -> NDArray[np.int32]:
        """The hull of all positions in the picture (n x 2, px), where cards may lie."""
        points = np.concatenate([np.asarray(polygon, np.float64) for polygon in self.positions.values()])
        hull = cv2.convexHull(self.geometry().to_px(points).astype(np.float32))
        return np.asarray(np.round(hull), np.int32).reshape(-1, 2)

    def problems(self) -> list[str]:
        """What is wrong with a well-formed layout, one line each."""
        found = []
        try:
            geometry = self.geometry()
        except ValueError as error:
            return [str(error)]
        if min(self.size) < 64:
            found.append(f"size {self.size}: pixels, at least 64")
        if not self.positions:
            found.append("positions: at least one is needed")
        if not all(0.1 <= gain <= 10 for gain in self.white):
            found.append(f"white {self.white}: gains of blue, green, red, 0.1 to 10")
        for name, polygon in self.positions.items():
            if len(polygon) < 3 or not np.isfinite(polygon).all():
                found.append(f"positions {name!r}: three or more points [x, y] in mm")
                continue
            if quad_area(polygon) < 0.5 * self.card_mm[0] * self.card_mm[1]:
                found.append(f"positions {name!r}: smaller than half a card")
            middle = geometry.to_px([np.mean(polygon, axis=0)])[0]
            if not (0 <= middle[0] < self.size[0] and 0 <= middle[1] < self.size[1]):
                found.append(f"positions {name!r}: its middle is not in the picture")
        return found


class Places:
    """The positions of a layout, ready to be asked often."""

    def __init__(self, layout: Layout) -> None:
        self._places = [(name, np.asarray(polygon, np.float32)) for name, polygon in layout.positions.items()]
        self._low = np.array([shape.min(axis=0) for _, shape in self._places])
        self._high = np.array([shape.max(axis=0) for _, shape in self._places])

    def at(self, point_mm: ArrayLike) -> str | None:
        """The position in whose polygon a point (mm) lies; of several the one whose middle is nearest."""
        point = np.asarray(point_mm, np.float64).reshape(2)
        best: tuple[float, str] | None = None
        near = ((self._low <= point) & (point <= self._high)).all(axis=1)
        for place in np.flatnonzero(near).tolist():
            name, shape = self._places[place]
            if cv2.pointPolygonTest(shape, (float(point[0]), float(point[1])), False) >= 0:
                away = float(np.hypot(*(shape.mean(axis=0) - point)))
                if best is None or away < best[0]:
                    best = (away, name)
        return best[1] if best is not None else None


class View:
    """Makes the picture of a camera what the layout speaks of: size, lens, white."""

    def __init__(self, layout: Layout) -> None:
        self._size = layout.size
        self._maps: tuple[Any, Any] | None = None
        if layout.lens is not None:
            camera, distortion = np.asarray(layout.lens.camera), np.asarray(layout.lens.distortion)
            maps = cv2.initUndistortRectifyMap(camera, distortion, None, camera, layout.size, cv2.CV_16SC2)
            self._maps = (maps[0], maps[1])
        self._table: NDArray[np.uint8] | None = None
        if max(abs(gain - 1) for gain in layout.white) > WHITE_TOLERANCE:
            steps = np.arange(256)[:, None] * np.asarray(layout.white)
            self._table = np.clip(np.round(steps), 0, 255).astype(np.uint8).reshape(256, 1, 3)

    def apply(self, image: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """``image`` (BGR, any size of the same view) straightened. Raises ``ValueError`` for another shape."""
        height, width = image.shape[:2]
        if abs(width / height - self._size[0] / self._size[1]) > 0.01:
            raise ValueError(
                f"the picture is {width} x {height}, the layout is for {self._size[0]} x {self._size[1]}: "
                "the camera sends another format than at calibration"
            )
        result: Any = image
        if (width, height) != self._size:
            result = cv2.resize(result, self._size, interpolation=cv2.INTER_AREA)
        if self._maps is not None:
            result = cv2.remap(result, *self._maps, cv2.INTER_LINEAR)
        if self._table is not None:
            result = cv2.LUT(result, self._table)
        return np.asarray(result, np.uint8)


def built_in() -> list[str]:
    """Names of the layouts that come with the program."""
    folder = files("calibration").joinpath("layouts")
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def load(name: str | Path) -> Layout:
    """Read a layout file, or the built-in layout of that name. Raises ``LayoutError``."""
    path = Path(name)
    if path.suffix not in (".toml", ".json"):
        if str(name) not in built_in():
            raise LayoutError(
                f"{name}: no layout file (.toml or .json) and no built-in layout: {', '.join(built_in())}"
            )
        path = Path(str(files("calibration").joinpath("layouts", f"{name}.toml")))
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise LayoutError(f"{path}: cannot be read: {error.strerror or error}") from error
    decode = msgspec.json.decode if path.suffix == ".json" else msgspec.toml.decode
    try:
        layout: Layout = decode(raw, type=Layout)
    except msgspec.ValidationError as error:
        raise LayoutError(f"{path}: {error}") from error
    except (UnicodeDecodeError, msgspec.DecodeError) as error:
        raise LayoutError(f"{path}: neither TOML nor JSON: {error}") from error
    found = layout.problems()
    if found:
        raise LayoutError("\n".join(f"{path}: {line}" for line in found))
    return layout


def save(layout: Layout, path: Path) -> None:
    """Write ``layout`` to ``path``, TOML or JSON by its suffix. Raises ``OSError``."""
    data = msgspec.to_builtins(layout)
    text = json.dumps(data, indent=1) if path.suffix == ".json" else _toml(data)
    path.write_text(text + "\n", "utf-8")


def _toml(data: dict[str, Any], section: str = "") -> str:
    """Tables after plain values, as TOML wants it; numbers to six significant places of use."""
    plain = {key: value for key, value in data.items() if not isinstance(value, dict) and value is not None}
    lines = [f"[{section}]"] if section else []
    for key, value in plain.items():
        name = key if key.replace("_", "").isalnum() else json.dumps(key)
        lines.append(f"{name} = {_value(value)}")
    for key, value in data.items():
        if isinstance(value, dict):
            lines += ["", _toml(value, f"{section}.{key}" if section else key)]
    return "\n".join(lines)


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, float):
        text = f"{value:.9g}"
        return text if any(mark in text for mark in ".en") else text + ".0"
    return json.dumps(value, ensure_ascii=False)
