"""A network camera over real sockets: whole pictures, the newest one, and every way in which it can fail."""

from __future__ import annotations

import base64
import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

import cv2
import numpy as np
import pytest

from vision.grabber import Grabber, Loss
from vision.mjpeg import MjpegStream, StreamError, shown
from vision.picture_server import PictureServer, ServerError
from vision.settings import CameraSettings
from vision.sources import HttpSource, SourceError, open_source

PATIENCE_S = 10.0


def jpeg(level: int) -> bytes:
    return cv2.imencode(".jpg", np.full((48, 64, 3), level, np.uint8))[1].tobytes()


@pytest.fixture
def server() -> Iterator[PictureServer]:
    pictures = PictureServer("127.0.0.1", 0)
    yield pictures
    pictures.close()


@pytest.fixture
def raw() -> Iterator[Callable[..., str]]:
    """``raw(answer, …)`` starts a server that gives each connection in turn one answer, and keeps it open."""
    with contextlib.ExitStack() as stack:

        def start(*answers: bytes, hang_up: bool = True) -> str:
            listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            done = threading.Event()

            def serve() -> None:
                for answer in answers:
                    connection, _ = listening.accept()
                    with connection:
                        request = b""
                        while b"\r\n\r\n" not in request:
                            request += connection.recv(4096)
                        requests.append(request)
                        connection.sendall(answer)
                        if not hang_up:
                            done.wait(PATIENCE_S)

            thread = threading.Thread(target=serve)
            thread.start()
            stack.callback(thread.join)
            stack.callback(done.set)
            return f"http://127.0.0.1:{listening.getsockname()[1]}/stream"

        requests: list[bytes] = []
        start.requests = requests  # type: ignore[attr-defined]
        yield start


def head(kind: str, status: str = "200 OK", extra: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{extra}Connection: close\r\n\r\n".encode()


def test_pictures_arrive_whole_and_slow_viewers_skip(server: PictureServer) -> None:
    server.publish(jpeg(10))
    stream = MjpegStream(server.url, PATIENCE_S)
    assert stream.picture() == jpeg(10)
    server.publish(jpeg(20))
    assert stream.picture() == jpeg(20)
    stream.close()


def test_one_picture_a_request(server: PictureServer) -> None:
    server.publish(jpeg(30))
    source = HttpSource(CameraSettings(source=server.url.replace("mjpeg", "frame.jpg"), layout="x"))
    source.open()
    assert source.read().image().shape == (48, 64, 3)
    assert source.read().image().shape == (48, 64, 3)
    source.close()


def test_a_silent_camera_is_given_up(server: PictureServer) -> None:
    server.publish(jpeg(1))
    stream = MjpegStream(server.url, 0.2)
    stream.picture()
    with pytest.raises(StreamError, match=r"no answer in time|no whole picture"):
        stream.picture()
    stream.close()


def test_parts_without_a_length_end_at_the_boundary(raw: Callable[..., str]) -> None:
    parts = (
        b"".join(b"--cut\r\nContent-Type: image/jpeg\r\n\r\n" + jpeg(n) + b"\r\n" for n in (1, 2)) + b"--cut--\r\n"
    )
    stream = MjpegStream(raw(head('multipart/x-mixed-replace; boundary="--cut"') + parts), PATIENCE_S)
    assert [stream.picture(), stream.picture()] == [jpeg(1), jpeg(2)]
    with pytest.raises(StreamError, match="ended the stream"):
        stream.picture()
    stream.close()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (head("text/html") + b"<p>log in", "sends text/html, neither a stream of pictures nor a JPEG"),
        (head("text/plain", "404 Not Found") + b"no", "the camera answers 404 Not Found"),
        (b"garbage\r\n\r\n", "garbage"),
    ],
)
def test_what_is_no_camera_is_told(raw: Callable[..., str], answer: bytes, message: str) -> None:
    with pytest.raises(StreamError, match=message):
        MjpegStream(raw(answer), PATIENCE_S)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (b"--b\r\nContent-Length: x\r\n\r\n", "a picture's length is"),
        (b"--b\r\nContent-Length: 99999999999\r\n\r\n", "a picture of 99999999999 bytes"),
        (b"--b\r\nContent-Length: 4\r\n\r\nnope", "no whole JPEG"),
        (b"x" * 5000, "something else than pictures"),
    ],
)
def test_a_broken_stream_is_told(raw: Callable[..., str], part: bytes, message: str) -> None:
    stream = MjpegStream(raw(head("multipart/x-mixed-replace; boundary=b") + part), PATIENCE_S)
    with pytest.raises(StreamError, match=message):
        stream.picture()
    stream.close()


def test_half_a_jpeg_is_no_picture(raw: Callable[..., str]) -> None:
    half = jpeg(9)[:-40]
    part = b"--b\r\nContent-Length: %d\r\n\r\n" % len(half) + half
    stream = MjpegStream(raw(head("multipart/x-mixed-replace; boundary=b") + part), PATIENCE_S)
    with pytest.raises(StreamError, match="no whole JPEG"):
        stream.picture()
    stream.close()


def test_the_account_is_sent_and_never_shown(raw: Callable[..., str]) -> None:
    denied = head("text/plain", "401 Unauthorized", 'WWW-Authenticate: Basic realm="camera"\r\n')
    url = raw(denied, head("image/jpeg") + jpeg(3)).replace("//", "//ann:pass%21@")
    stream = MjpegStream(url, PATIENCE_S)
    assert stream.picture() == jpeg(3)
    stream.close()
    assert base64.b64encode(b"ann:pass!") in raw.requests[1]  # type: ignore[attr-defined]
    assert "pass" not in shown(url)


def test_the_address_of_another_server_is_refused(server: PictureServer) -> None:
    with pytest.raises(ServerError, match="no pictures at"):
        PictureServer("127.0.0.1", server.port)


def test_the_grabber_keeps_the_newest_frame_with_its_time(server: PictureServer) -> None:
    grabber = Grabber(open_source(CameraSettings(source=server.url, layout="x", read_timeout_s=PATIENCE_S)))
    grabber.start()
    server.publish(jpeg(40))
    first = grabber.next_frame(0, PATIENCE_S)
    assert first is not None
    server.publish(jpeg(200))
    second = grabber.next_frame(first.number, PATIENCE_S)
    assert second is not None
    assert second.time >= first.time
    assert second.picture.image().mean() == pytest.approx(200, abs=3)
    assert grabber.next_frame(second.number, 0.01) is None
    server.close()
    grabber.close()


def test_a_camera_that_stalls_is_lost_once_and_found_again() -> None:
    changes: list[Loss] = []
    pictures = PictureServer("127.0.0.1", 0)
    grabber = Grabber(
        open_source(CameraSettings(source=pictures.url, layout="x", read_timeout_s=0.2)), changes.append
    )
    pictures.publish(jpeg(1))
    grabber.start()
    frame = grabber.next_frame(0, PATIENCE_S)
    assert frame is not None
    # Nothing is published: the connection stays, the pictures do not come.
    wait = threading.Event()
    while not changes:
        assert not wait.wait(0.01)
    assert "no answer in time" in changes[0].reason or "no whole picture" in changes[0].reason
    # The connection is made anew, and gives the newest picture at once.
    later = grabber.next_frame(frame.number, PATIENCE_S)
    assert later is not None
    grabber.close()
    pictures.close()
    assert [bool(change.reason) for change in changes[:2]] == [True, False]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("/dev/no-such-camera", "no such device"),
        ("/nowhere/film.mp4", "no such video file"),
        ("/nowhere/", "cannot be read"),
        ("http://127.0.0.1:1/mjpeg", "refused"),
    ],
)
def test_a_source_that_is_not_there_is_told(source: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        open_source(CameraSettings(source=source, layout="x")).open()
