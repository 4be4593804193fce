"""Types of pictures and points."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: Height x width x 3, blue-green-red, or height x width, grey.
Image: TypeAlias = NDArray[np.uint8]
#: Numbers per pixel.
Plane: TypeAlias = NDArray[np.float32]
#: n x 2, in pixels, x then y.
Points: TypeAlias = NDArray[np.float32]


def as_image(array: Any) -> Image:
    """What OpenCV returns, as bytes."""
    return np.asarray(array, np.uint8)


def as_points(array: Any) -> Points:
    """What OpenCV returns for points, whatever its shape, as n x 2."""
    return np.asarray(array, np.float32).reshape(-1, 2)
