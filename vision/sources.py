"""Cameras, videos and folders behind one interface: open, next picture, close, all in one thread."""

from __future__ import annotations

import contextlib
import os
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.mjpeg import MjpegStream, StreamError, shown
from vision.settings import CameraSettings

Image = NDArray[np.uint8]
#: V4L2 waits this long for a picture; OpenCV reads the variable once, at its first capture.
_SELECT_S: Final = "1"
_PICTURES: Final = (".jpg", ".jpeg", ".png", ".bmp")
FOLDER_FPS: Final = 10.0


class SourceError(Exception):
    """No picture: what, where, what to do."""


class SourceEnded(Exception):
    """A video or a folder has no more pictures."""


class Picture:
    """One picture as it came; a JPEG is decoded only if somebody wants to see it."""

    __slots__ = ("_image", "_jpeg")

    def __init__(self, *, image: Image | None = None, jpeg: bytes | None = None) -> None:
        self._image = image
        self._jpeg = jpeg

    def image(self) -> Image:
        """The picture, BGR. Raises ``SourceError`` for a JPEG that cannot be decoded."""
        if self._image is None:
            found: Any = cv2.imdecode(np.frombuffer(self._jpeg or b"", np.uint8), cv2.IMREAD_COLOR)
            if found is None:
                raise SourceError("a picture cannot be decoded")
            self._image = np.asarray(found, np.uint8)
        return self._image


class Source(ABC):
    """Where pictures come from. Used by one thread; opened again after an error."""

    def __init__(self, settings: CameraSettings) -> None:
        self.settings = settings

    @abstractmethod
    def open(self) -> None:
        """Connect. Raises ``SourceError``."""

    @abstractmethod
    def read(self) -> Picture:
        """Wait for the next picture. Raises ``SourceError`` and ``SourceEnded``."""

    @abstractmethod
    def close(self) -> None:
        """Let go. Idempotent."""


class HttpSource(Source):
    """A network camera's MJPEG stream, or its single pictures one after another."""

    def __init__(self, settings: CameraSettings) -> None:
        super().__init__(settings)
        self._stream: MjpegStream | None = None

    def open(self) -> None:
        """See ``Source.open``."""
        try:
            self._stream = MjpegStream(self.settings.source, self.settings.read_timeout_s)
        except StreamError as error:
            raise SourceError(str(error)) from error

    def read(self) -> Picture:
        """See ``Source.read``."""
        if self._stream is None:
            self.open()
        assert self._stream is not None
        try:
            jpeg = self._stream.picture()
        except StreamError as error:
            raise SourceError(str(error)) from error
        if self._stream.single:
            self.close()
        return Picture(jpeg=jpeg)

    def close(self) -> None:
        """See ``Source.close``."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


class CaptureSource(Source):
    """What OpenCV opens: V4L2 devices, RTSP streams, video files. A file is played at its own pace."""

    def __init__(self, settings: CameraSettings) -> None:
        super().__init__(settings)
        self._capture: Any = None
        self._next_at = 0.0
        self._pace_s = 0.0

    def open(self) -> None:
        """See ``Source.open``."""
        settings = self.settings
        os.environ.setdefault("OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT", _SELECT_S)
        if settings.kind == "device":
            if not Path(settings.source).exists():
                raise SourceError(f"{settings.source}: there is no such device; is the camera plugged in?")
            capture: Any = cv2.VideoCapture(settings.source, cv2.CAP_V4L2, self._wishes())
        else:
            if settings.kind == "video" and not Path(settings.source).is_file():
                raise SourceError(f"{settings.source}: there is no such video file")
            capture = cv2.VideoCapture(settings.source, cv2.CAP_FFMPEG, self._limits())
        if not capture.isOpened():
            capture.release()
            raise SourceError(f"{shown(settings.source)}: cannot be opened")
        self._capture = capture
        if settings.kind == "video":
            fps = settings.fps or float(capture.get(cv2.CAP_PROP_FPS)) or 25.0
            self._pace_s = 1 / fps
            self._next_at = time.monotonic()

    def _limits(self) -> list[int]:
        """FFmpeg's own time limits are 30 seconds; they can be set in the constructor only."""
        settings = self.settings
        if settings.kind != "rtsp":
            return []
        return [
            *(cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, round(settings.open_timeout_s * 1000)),
            *(cv2.CAP_PROP_READ_TIMEOUT_MSEC, round(settings.read_timeout_s * 1000)),
        ]

    def _wishes(self) -> list[int]:
        """One buffer, so that no stale picture waits; MJPG, because USB is too narrow for raw pictures of size."""
        settings = self.settings
        wishes = [int(cv2.CAP_PROP_BUFFERSIZE), 1]
        if settings.width and settings.height:
            wishes += [cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG")]
            wishes += [cv2.CAP_PROP_FRAME_WIDTH, settings.width, cv2.CAP_PROP_FRAME_HEIGHT, settings.height]
        if settings.fps:
            wishes += [cv2.CAP_PROP_FPS, round(settings.fps)]
        return wishes

    def read(self) -> Picture:
        """See ``Source.read``."""
        if self._pace_s:
            _wait_until(self._next_at)
            self._next_at += self._pace_s
        good, image = self._capture.read()
        if not good or image is None:
            if self.settings.kind == "video":
                raise SourceEnded
            raise SourceError(f"{shown(self.settings.source)}: no picture in {self.settings.read_timeout_s:g} s")
        return Picture(image=np.asarray(image, np.uint8))

    def close(self) -> None:
        """See ``Source.close``."""
        if self._capture is not None:
            self._capture.release()
            self._capture = None


class FolderSource(Source):
    """The pictures of a folder, by name."""

    def __init__(self, settings: CameraSettings) -> None:
        super().__init__(settings)
        self._names: list[Path] = []
        self._next_at = 0.0

    def open(self) -> None:
        """See ``Source.open``."""
        folder = Path(self.settings.source)
        try:
            self._names = sorted(path for path in folder.iterdir() if path.suffix.lower() in _PICTURES)
        except OSError as error:
            raise SourceError(f"{folder}: cannot be read: {error.strerror or error}") from error
        if not self._names:
            raise SourceError(f"{folder}: no pictures in it ({', '.join(_PICTURES)})")
        self._next_at = time.monotonic()

    def read(self) -> Picture:
        """See ``Source.read``."""
        if not self._names:
            raise SourceEnded
        _wait_until(self._next_at)
        self._next_at += 1 / (self.settings.fps or FOLDER_FPS)
        path = self._names.pop(0)
        image: Any = None
        with contextlib.suppress(cv2.error):
            image = cv2.imread(str(path))
        if image is None:
            raise SourceError(f"{path}: no picture that can be read")
        return Picture(image=np.asarray(image, np.uint8))

    def close(self) -> None:
        """See ``Source.close``."""
        self._names = []


def open_source(settings: CameraSettings) -> Source:
    """The source that ``settings`` describe, not yet opened."""
    if settings.kind == "http":
        return HttpSource(settings)
    if settings.kind == "folder" or Path(settings.source).is_dir():
        return FolderSource(settings)
    return CaptureSource(settings)


def _wait_until(moment: float) -> None:
    left = moment - time.monotonic()
    if left > 0:
        time.sleep(left)
