"""The index network: a small CNN that names a rank or a suit in a patch of ink, or says that it is neither."""

from __future__ import annotations

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
    """Stretch ink so that the paper is 0 and the darkest ink is 1."""
    places = round(0.08 * (values.size - 1)), round(0.96 * (values.size - 1))
    ordered = np.partition(values, places, axis=None)
    low, high = ordered[places[0]], ordered[places[1]]
    return np.asarray(np.clip((values - low) / max(float(high - low), 0.12), 0, 1), np.float32)


class Network:
    """Loads the shipped model; not safe for use by several threads at once."""

    def __init__(self) -> None:
        data = (resources.files("vision") / "models" / MODEL).read_bytes()
        self._net = cv2.dnn.readNetFromONNX(np.frombuffer(data, np.uint8), cv2.dnn.ENGINE_CLASSIC)

    def patches(self, shares: Plane, boxes: list[Box]) -> Plane:
        """Input for ``read``: n x 1 x SIZE x SIZE."""
        cut = [normalise(np.asarray(patch(shares, box, MARGIN, (SIZE, SIZE)), np.float32)) for box in boxes]
        return np.stack(cut)[:, None]

    def read(self, patches: Plane) -> tuple[Plane, Plane]:
        """Probabilities of ``RANKS`` + none and of ``SUITS`` + none, one row a patch."""
        self._net.setInput(patches)
        scores = np.asarray(self._net.forward(), np.float32)
        split = len(RANKS) + 1
        return _softmax(scores[:, :split]), _softmax(scores[:, split : split + len(SUITS) + 1])


def _softmax(scores: Plane) -> Plane:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True), np.float32)
