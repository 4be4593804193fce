"""The index network: a small CNN that names a rank or a suit in a patch of ink, or says that it is neither."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources
from typing import Final

import cv2
import numpy as np

from controller.cards import RANKS, SUITS
from vision.pixels import Plane
from vision.segment import Box, patch

#: Side of a patch in pixels.
SIZE: Final = 32
#: Surroundings that a patch shows around a glyph, as a share of the glyph's longer side.
MARGIN: Final = 0.2
MODEL: Final = "index.onnx"


def normalise(values: Plane) -> Plane:
    """Stretch ink so that the paper is 0 and the darkest ink is 1; of one patch, or of each of many (n x h x w)."""
    flat = values.reshape(1 if values.ndim == 2 else len(values), -1)
    places = round(0.08 * (flat.shape[1] - 1)), round(0.96 * (flat.shape[1] - 1))
    ordered = np.partition(flat, places, axis=1)
    low, high = ordered[:, places[0], None], ordered[:, places[1], None]
    stretched = np.clip((flat - low) / np.maximum(high - low, np.float32(0.12)), 0, 1)
    return np.asarray(stretched.reshape(values.shape), np.float32)


class Network:
    """Loads the shipped model; not safe for use by several threads at once."""

    def __init__(self) -> None:
        # From a file: for a model in memory OpenCV 5.0 does not heed the engine, and its other one is slower.
        with resources.as_file(resources.files("vision") / "models" / MODEL) as path:
            self._net = cv2.dnn.readNetFromONNX(str(path), cv2.dnn.ENGINE_CLASSIC)

    def patches(self, places: Iterable[tuple[Plane, Box]]) -> Plane:
        """Input for ``read``, n x 1 x SIZE x SIZE: a patch for each box of an ink picture."""
        return normalise(np.stack([patch(shares, box, MARGIN, (SIZE, SIZE)) for shares, box in places]))[:, None]

    def read(self, patches: Plane) -> tuple[Plane, Plane]:
        """Probabilities of ``RANKS`` + none and of ``SUITS`` + none, one row a patch."""
        self._net.setInput(patches)
        scores = np.asarray(self._net.forward(), np.float32)
        split = len(RANKS) + 1
        return _softmax(scores[:, :split]), _softmax(scores[:, split : split + len(SUITS) + 1])


def _softmax(scores: Plane) -> Plane:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), np.float32)
