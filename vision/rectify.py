"""A card seen at an angle, laid straight: the face, upright or turned by half."""

from __future__ import annotations

from typing import Final

import cv2
import numpy as np

from vision.pixels import Image, Points
from vision.segment import FACE

_CORNERS: Final = np.array([[0, 0], [FACE[0], 0], [FACE[0], FACE[1]], [0, FACE[1]]], np.float32)


def rectify(image: Image, quad: Points) -> Image:
    """The face under ``quad`` (portrait, pixels) as a picture of FACE."""
    sides = np.linalg.norm(np.roll(quad, -1, axis=0) - quad, axis=1)
    shrink = float(min(sides[0] + sides[2], sides[1] + sides[3])) / 2 / FACE[0]
    matrix = cv2.getPerspectiveTransform(np.asarray(quad, np.float32), _CORNERS)
    if shrink > 1.6:  # warpPerspective does not average: shrink what is far larger than a face first
        low = np.floor(quad.min(axis=0)).astype(int).clip(0)
        high = np.ceil(quad.max(axis=0)).astype(int) + 1
        image = image[low[1] : high[1], low[0] : high[0]]
        scale = 1.25 / shrink
        image = np.asarray(cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
        back = np.array([[1 / scale, 0, low[0]], [0, 1 / scale, low[1]], [0, 0, 1]])
        matrix = matrix @ back
    return np.asarray(cv2.warpPerspective(image, matrix, FACE, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def sharpness(face: Image) -> float:
    """Variance of the Laplacian, in squared grey levels; a blurred face has little."""
    return float(cv2.Laplacian(cv2.cvtColor(face, cv2.COLOR_BGR2GRAY), cv2.CV_32F).var())


def inside(quad: Points, image: Image, margin: float = 1.0) -> bool:
    """Is the whole card in the picture?"""
    height, width = image.shape[:2]
    low, high = quad.min(axis=0), quad.max(axis=0)
    return bool(low.min() >= margin and high[0] <= width - 1 - margin and high[1] <= height - 1 - margin)
