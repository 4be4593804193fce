"""Is the picture fit to be read? Age, sharpness, exposure, and whether the camera stands where it was calibrated."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vision import reference
from vision.layout import Layout

#: Limits as shares of what the calibration saw.
MIN_SHARPNESS: Final = 0.5
MIN_LIGHT: Final = 0.4
MAX_LIGHT: Final = 1.9
#: Absolute limits of the felt's grey level, with or without a calibration.
DARKEST: Final = 12.0
BRIGHTEST: Final = 235.0
MAX_MOVED_MM: Final = 6.0
#: Fewer of the print's corners than this are no longer the same view.
MIN_FOUND: Final = 0.2
#: A fault must be seen this often in a row, so that a hand in passing is none.
PATIENCE: Final = 3


@dataclass(frozen=True, slots=True)
class Health:
    """What was measured last: ``sharpness`` and ``light`` as shares of the calibration's, ``moved_mm`` where it is
    farthest; ``reason`` is empty while all is well."""

    ok: bool
    reason: str
    sharpness: float
    light: float
    moved_mm: float


class HealthCheck:
    """Looks at a frame now and then; not for several threads."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        geometry = layout.geometry()
        polygons = [np.asarray(polygon, np.float64) for polygon in layout.positions.values()]
        self._places = geometry.to_px(np.concatenate(polygons))
        self._mm_per_px = 1.0 / _px_per_mm(self._places, np.concatenate(polygons))
        self._points = np.asarray(layout.reference.points, np.float64).reshape(-1, 2)
        self._faults: deque[str] = deque(maxlen=PATIENCE)

    def look(self, image: NDArray[np.uint8]) -> Health:
        """Measure a straightened frame (BGR, of the layout's size)."""
        was = self._layout.reference
        picture = reference.gray(image)
        brightness = reference.brightness(picture, self._layout)
        light = brightness / was.brightness if was.brightness > 0 else 1.0
        sharp = reference.sharpness(picture, self._points) if len(self._points) else 0.0
        sharpness = sharp / was.sharpness if was.sharpness > 0 else 1.0
        fault, moved = self._fault(picture, brightness, light, sharpness)
        self._faults.append(fault)
        # The oldest of equal faults in a row decides; another fault in between begins anew.
        steady = len(self._faults) == PATIENCE and all(self._faults)
        reason = fault if steady else ""
        return Health(not reason, reason, sharpness, light, moved)

    def _fault(self, picture: reference.Gray, brightness: float, light: float, sharp: float) -> tuple[str, float]:
        if brightness < DARKEST or light < MIN_LIGHT:
            return f"too dark: {light:.0%} of the light at calibration", 0.0
        if brightness > BRIGHTEST or light > MAX_LIGHT:
            return f"too bright: {light:.0%} of the light at calibration", 0.0
        if len(self._points) < reference.MIN_POINTS:
            return "", 0.0
        # A blurred picture has corners elsewhere: sharpness is judged first.
        if sharp < MIN_SHARPNESS:
            return f"out of focus: {sharp:.0%} of the sharpness at calibration", 0.0
        seen = reference.shift(self._points, picture)
        if seen is None or seen.found < MIN_FOUND:
            return "another view than at calibration: the felt's print is not where it was", 0.0
        moved = seen.moved_px(self._places) * self._mm_per_px
        if moved > MAX_MOVED_MM:
            return f"the camera has moved: {moved:.0f} mm on the felt; calibrate the table anew", moved
        return "", moved


def _px_per_mm(pixels: NDArray[np.float64], millimetres: NDArray[np.float64]) -> float:
    """The scale at which positions are seen, on average."""
    px = np.linalg.norm(pixels - pixels.mean(axis=0), axis=1).mean()
    mm = np.linalg.norm(millimetres - millimetres.mean(axis=0), axis=1).mean()
    return float(px / mm) if mm > 0 else 1.0
