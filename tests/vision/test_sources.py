"""Videos, folders, and what is asked of OpenCV for devices and RTSP, which no test machine has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from vision.grabber import Grabber
from vision.settings import CameraSettings
from vision.sources import SourceEnded, SourceError, open_source

PATIENCE_S = 10.0


def picture(level: int) -> Any:
    return np.full((48, 64, 3), level, np.uint8)


def test_a_folder_is_shown_in_the_order_of_its_names_and_ends(tmp_path: Path) -> None:
    for name, level in (("b.png", 20), ("a.png", 10), ("notes.txt", 0)):
        (tmp_path / name).write_bytes(cv2.imencode(".png", picture(level))[1].tobytes())
    source = open_source(CameraSettings(source=f"{tmp_path}/", layout="x", fps=200))
    source.open()
    assert [int(source.read().image()[0, 0, 0]) for _ in range(2)] == [10, 20]
    with pytest.raises(SourceEnded):
        source.read()
    source.close()


def test_an_empty_folder_and_a_file_that_is_no_picture_are_told(tmp_path: Path) -> None:
    source = open_source(CameraSettings(source=f"{tmp_path}/", layout="x"))
    with pytest.raises(SourceError, match="no pictures in it"):
        source.open()
    (tmp_path / "a.png").write_text("no picture")
    source.open()
    with pytest.raises(SourceError, match=r"a\.png: no picture that can be read"):
        source.read()


def test_a_video_is_played_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "film.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 100, (64, 48))
    for level in (50, 120, 200):
        writer.write(picture(level))
    writer.release()
    grabber = Grabber(open_source(CameraSettings(source=str(path), layout="x", fps=100)))
    grabber.start()
    number, seen = 0, 0
    while (frame := grabber.next_frame(number, PATIENCE_S)) is not None:
        number, seen = frame.number, seen + 1
    assert grabber.ended
    assert 1 <= seen <= 3
    grabber.close()


class Capture:
    """Stands in for ``cv2.VideoCapture``: says what it was asked for."""

    asked: list[tuple[Any, ...]]

    def __init__(self, *words: Any) -> None:
        Capture.asked.append(words)

    def isOpened(self) -> bool:
        return True

    def read(self) -> tuple[bool, Any]:
        return False, None

    def release(self) -> None:
        """Nothing to let go."""


def test_rtsp_limits_are_given_to_the_constructor(monkeypatch: pytest.MonkeyPatch) -> None:
    Capture.asked = []
    monkeypatch.setattr(cv2, "VideoCapture", Capture)
    source = open_source(CameraSettings(source="rtsp://ann:secret@camera/1", layout="x", read_timeout_s=0.7))
    source.open()
    with pytest.raises(SourceError, match=r"rtsp://camera/1: no picture in 0\.7 s"):
        source.read()
    url, backend, limits = Capture.asked[0]
    assert (url, backend) == ("rtsp://ann:secret@camera/1", cv2.CAP_FFMPEG)
    assert dict(zip(limits[::2], limits[1::2], strict=True)) == {
        cv2.CAP_PROP_OPEN_TIMEOUT_MSEC: 1500,
        cv2.CAP_PROP_READ_TIMEOUT_MSEC: 700,
    }


def test_a_device_is_asked_for_one_buffer_and_the_wished_format(monkeypatch: pytest.MonkeyPatch) -> None:
    Capture.asked = []
    monkeypatch.setattr(cv2, "VideoCapture", Capture)
    monkeypatch.delenv("OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT", raising=False)
    settings = CameraSettings(source="/dev/null", layout="x", width=1920, height=1080, fps=30)
    open_source(settings).open()
    device, backend, wishes = Capture.asked[0]
    assert (device, backend) == ("/dev/null", cv2.CAP_V4L2)
    wanted = dict(zip(wishes[::2], wishes[1::2], strict=True))
    assert wanted[cv2.CAP_PROP_BUFFERSIZE] == 1
    assert (wanted[cv2.CAP_PROP_FRAME_WIDTH], wanted[cv2.CAP_PROP_FRAME_HEIGHT]) == (1920, 1080)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"source": ""}, "source is empty"),
        ({"source": "ftp://camera/1"}, "http, https and rtsp"),
        ({"source": "x.mp4", "http": "5710"}, "HOST:PORT"),
        ({"source": "x.mp4", "http": "localhost:99999"}, "HOST:PORT"),
        ({"source": "x.mp4", "read_timeout_s": 60}, "0.05 to 10 seconds"),
        ({"source": "x.mp4", "fps": -1}, "must not be negative"),
        ({"source": "x.mp4", "profiles": ()}, "at least one deck"),
    ],
)
def test_wrong_settings_are_told(settings: dict[str, Any], message: str) -> None:
    assert any(message in line for line in CameraSettings(layout="x", **settings).problems())


def test_paths_are_relative_to_the_table_file_and_passwords_stay_out_of_the_record(tmp_path: Path) -> None:
    settings = CameraSettings(source="clips/", layout="table.layout.toml", profiles=("live-casino", "mine.json"))
    there = settings.beside(tmp_path)
    assert there.source == f"{tmp_path}/clips/"
    assert there.layout == str(tmp_path / "table.layout.toml")
    assert there.profiles == ("live-casino", str(tmp_path / "mine.json"))
    camera = CameraSettings(source="rtsp://ann:secret@camera/1", layout="studio-baccarat")
    assert camera.beside(tmp_path) == camera
    assert "secret" not in camera.public().source
