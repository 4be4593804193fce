"""A film of a table, frame by frame, to cards at positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from vision.layout import Layout
from vision.recognise import Recogniser
from vision.tracking import Tracking
from vision.watch import Watcher


class FilmError(Exception):
    """The film cannot be used: file, what is wrong."""


@dataclass(frozen=True, slots=True)
class Event:
    """In ``frame`` (from 0) it was told what lies at ``position``: a face, ``**``, ``??``, or None if taken away."""

    frame: int
    position: str
    card: str | None


def events(path: Path, recogniser: Recogniser, layout: Layout, tracking: Tracking | None = None) -> Iterator[Event]:
    """What changes at the positions, in order of appearance. Raises ``FilmError``.

    Frames are decoded one after the other: to seek breaks the references of some codecs. The film's own rate is the
    clock, so the answer does not depend on the machine.
    """
    film = cv2.VideoCapture(str(path))
    if not film.isOpened():
        raise FilmError(f"{path}: is no film that can be decoded")
    try:
        rate = film.get(cv2.CAP_PROP_FPS)
        if not 1 <= rate <= 1000:
            raise FilmError(f"{path}: states {rate} frames a second")
        watcher = Watcher(recogniser, layout, tracking)
        frame = 0
        while True:
            read, picture = film.read()
            if not read:
                break
            try:
                straight = watcher.straighten(np.asarray(picture, np.uint8))
            except ValueError as error:
                raise FilmError(f"{path}: {error}") from error
            for sighting in watcher.frame(straight, frame / rate):
                yield Event(frame, sighting.position, sighting.card)
            frame += 1
        if frame == 0:
            raise FilmError(f"{path}: holds no frame that can be decoded")
    finally:
        film.release()
