"""The camera service at its seams: which pictures it believes, what it tells the table and when it tells it anew."""

from __future__ import annotations

import queue
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from controller.bus.errors import CommandRefused, CommandTimeout
from controller.cli import main
from controller.commands import CameraHealth
from controller.commands import Sighting as SightingArgs
from controller.service.camera import FROZEN_FRAMES, Eye
from controller.service.camera_link import BATCH, TableLink, as_seen
from vision.grabber import Frame
from vision.layout import Layout, Reference
from vision.settings import CameraSettings
from vision.sources import Picture
from vision.tracking import Sighting

PATIENCE_S = 10.0


class FakeTable:
    """Stands in for a ``TableClient``: keeps what was sent, answers as told."""

    def __init__(self) -> None:
        self.sent: queue.SimpleQueue[tuple[str, dict[str, Any]]] = queue.SimpleQueue()
        self.answer: Callable[[str], None] = lambda name: None  # noqa: ARG005
        self.closed = False

    def command(self, name: str, args: dict[str, Any], **_: Any) -> None:
        self.answer(name)
        self.sent.put((name, args))

    def close(self) -> None:
        self.closed = True

    def next(self) -> tuple[str, dict[str, Any]]:
        return self.sent.get(timeout=PATIENCE_S)


HEALTH = {"ok": True, "reason": "", "fps": 25.0, "frame_age_ms": 40, "sharpness": 1.0}
LYING = [Sighting("player/0", "KH", 1.0, 1), Sighting("dealer/1", "**", 2.0, 2)]


def test_what_lies_is_told_whole_when_the_table_first_answers_and_each_time_it_comes_back() -> None:
    table = FakeTable()
    link = TableLink(lambda: table, lambda: LYING)  # type: ignore[arg-type, return-value]
    link.start()
    link.seen([Sighting("player/0", "KH", 1.0, 1)])  # nobody to hear it yet: comes with the whole
    link.health(HEALTH)
    assert table.next() == ("camera_health", HEALTH)
    name, args = table.next()
    assert (name, [seen["position"] for seen in args["seen"]]) == ("sighting", ["player/0", "dealer/1"])
    link.seen([Sighting("player/1", None, 3.0, 3)])
    assert table.next()[1]["seen"][0]["card"] is None

    def away(name: str) -> None:
        raise CommandTimeout(f"no answer to {name}", "id")

    table.answer = away
    link.health(HEALTH)
    link.seen([Sighting("banker/0", "2C", 4.0, 4)])
    link.close()
    assert table.closed
    assert table.sent.empty()
    assert not link.answers.is_set()


def test_a_table_that_was_away_hears_everything_when_it_is_back() -> None:
    table = FakeTable()
    away = [True]

    def answer(name: str) -> None:
        if away.pop() if away else False:
            raise CommandTimeout(f"no answer to {name}", "id")

    table.answer = answer
    link = TableLink(lambda: table, lambda: LYING)  # type: ignore[arg-type, return-value]
    link.start()
    link.health(HEALTH)  # lost
    link.health(HEALTH)
    assert table.next()[0] == "camera_health"
    assert len(table.next()[1]["seen"]) == 2
    link.close()


def test_a_refusal_is_logged_once_and_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    table = FakeTable()

    def refuse(name: str) -> None:
        if name == "sighting":
            raise CommandRefused("wrong_mode", "the camera has no say", None, None)

    table.answer = refuse
    link = TableLink(lambda: table, lambda: LYING)  # type: ignore[arg-type, return-value]
    link.start()
    link.health(HEALTH)
    for _ in range(3):
        link.seen([LYING[0]])
    link.health(HEALTH)
    assert [table.next()[0], table.next()[0]] == ["camera_health", "camera_health"]
    link.close()
    assert caplog.text.count("wrong_mode") == 1


def test_many_sightings_go_in_batches_that_the_table_takes() -> None:
    table = FakeTable()
    many = [Sighting(f"player/{n}", "KH", float(n), n) for n in range(BATCH + 3)]
    link = TableLink(lambda: table, lambda: many)  # type: ignore[arg-type, return-value]
    link.start()
    link.health(HEALTH)
    assert table.next()[0] == "camera_health"
    assert [len(table.next()[1]["seen"]) for _ in range(2)] == [BATCH, 3]
    link.close()


def test_what_is_sent_is_what_the_table_takes() -> None:
    seen = [
        as_seen(Sighting("player/0", "??", 10.0, 1, "glare"), 10.25),
        as_seen(Sighting("player/1", None, -1e6, 2), 10.0),
    ]
    assert seen[0] == {"position": "player/0", "card": "??", "age_ms": 250, "reason": "glare"}
    args = msgspec.convert({"seen": seen}, SightingArgs)
    assert args.seen[1].age_ms == 60_000
    msgspec.convert(HEALTH, CameraHealth)


# --- the eye -------------------------------------------------------------------------------------------------------


class Reading:
    kind, card, reason = "card", "KH", ""


class Sees:
    """A recogniser that finds one king of hearts in every picture."""

    def locate(self, image: Any, within: Any = None) -> list[Any]:  # noqa: ARG002
        return [np.array([[60, 110], [123, 110], [123, 198], [60, 198]], np.float64)]

    def read_quad(self, image: Any, quad: Any) -> Reading:  # noqa: ARG002
        return Reading()


@pytest.fixture
def eye() -> Eye:
    layout = Layout(
        name="plain",
        size=(640, 360),
        card_mm=(63.0, 88.0),
        matrix=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
        positions={"player/0": [(50, 100), (140, 100), (140, 220), (50, 220)]},
        reference=Reference(brightness=100.0),
    )
    return Eye(CameraSettings(source="http://camera/1", layout="x"), layout, Sees(), 100.0)


def frame(number: int, time: float, level: int = 100, size: tuple[int, int] = (640, 360)) -> Frame:
    rng = np.random.default_rng(number)
    image = rng.integers(level - 3, level + 3, (size[1], size[0], 3)).astype(np.uint8)
    return Frame(number, time, Picture(image=image))


def test_a_card_is_seen_and_the_camera_is_well(eye: Eye) -> None:
    assert eye.health(100.0)["ok"] is False  # no picture yet
    told = [s for n in range(10) for s in eye.see(frame(n, 100 + n / 25), 100 + n / 25)]
    assert [(s.position, s.card) for s in told] == [("player/0", "KH")]
    assert [(s.position, s.card) for s in eye.table] == [("player/0", "KH")]
    health = eye.health(100.37)
    assert health["ok"] is True
    assert health["fps"] == pytest.approx(25, abs=0.1)
    assert health["frame_age_ms"] == 10


def test_an_old_frame_is_not_read(eye: Eye) -> None:
    assert eye.see(frame(1, 100.0), 105.0) == []
    assert "5.0 s late" in eye.health(105.0)["reason"]


def test_silence_is_told_with_the_reason_of_the_grabber(eye: Eye) -> None:
    eye.see(frame(1, 100.0), 100.0)
    assert eye.health(100.5)["ok"]
    assert eye.health(101.5, newest=101.2)["ok"]  # it waits to be looked at
    health = eye.health(101.5, "http://camera/1: no answer in time")
    assert (health["ok"], health["reason"]) == (False, "http://camera/1: no answer in time")


def test_the_same_picture_again_and_again_is_a_hanging_camera(eye: Eye) -> None:
    for n in range(FROZEN_FRAMES + 5):
        moment = 100 + n * 0.2
        eye.see(Frame(n, moment, frame(7, 0).picture), moment)
    health = eye.health(100 + (FROZEN_FRAMES + 4) * 0.2)
    assert not health["ok"]
    assert "the camera hangs" in health["reason"]
    eye.see(frame(99, 104.0), 104.0)
    assert eye.health(104.0)["ok"]


def test_a_picture_of_another_shape_is_refused(eye: Eye) -> None:
    assert eye.see(frame(1, 100.0, size=(640, 480)), 100.0) == []
    assert "the picture is 640 x 480, the layout is for 640 x 360" in eye.health(100.0)["reason"]


def test_in_the_dark_nothing_is_told(eye: Eye) -> None:
    told = [s for n in range(20) for s in eye.see(frame(n, 100 + n, level=10), 100 + n)]
    health = eye.health(119.0)
    assert health["reason"].startswith("too dark")
    assert [s for s in told if s.since > 106] == []


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("", "no [camera]: source and layout are needed"),
        ('[camera]\nsource = "http://127.0.0.1:1/"\nlayout = "nowhere"\n', "no built-in layout"),
        (
            '[camera]\nsource = "http://127.0.0.1:1/"\nlayout = "studio-baccarat"\nfps = -1.0\n',
            "must not be negative",
        ),
        (
            '[camera]\nsauce = "http://127.0.0.1:1/"\n',
            "; known: source, layout, profiles",
        ),
        ('[camera]\nsource = "x.mp4"\nlayout = "studio-baccarat"\nprofiles = ["nowhere"]\n', "nowhere"),
        ('[camera]\nsource = "x.mp4"\nlayout = "studio-baccarat"\n', "key"),
    ],
)
def test_a_wrong_table_file_is_told(
    section: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "t.toml"
    head = '[table]\nid = "t-1"\njournal = "t.journal"\n[game]\ngame = "baccarat"\n'
    table.write_text(head + '[shoe]\nprotocol = "line"\nport = "x"\n' + section)
    assert main(["camera", str(table)]) == 2
    assert message in capsys.readouterr().err
