"""Shoe and camera at one running table: a simulated camera's pictures, the camera service, the table service.

The hands are the test's: a card is read by the shoe, and laid before the camera, or another one is.
"""

from __future__ import annotations

import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from controller.simulation.control import SocketControl
from controller.simulation.demo import Play, check_journal, good
from controller.simulation.studio import Scene, Studio
from vision.sources import Picture

pytestmark = [pytest.mark.system, pytest.mark.timeout(240)]
PATIENCE_S = 60.0


class Eyes:
    """The simulated camera above the felt and the camera service of one table."""

    def __init__(self, rig: Any, url: str, felt: SocketControl, processes: list[subprocess.Popen[bytes]]) -> None:
        self.rig = rig
        self.url = url
        self.felt = felt
        self._processes = processes

    def both(self, card: str, position: str, *, down: bool = False) -> None:
        """The shoe reads a card and the dealer lays it down."""
        self.rig.line.cards(card)
        self.lay(card, position, down=down)

    def lay(self, card: str, position: str, *, down: bool = False) -> None:
        self.felt.ask(f"place {card} {position}{' down' if down else ''}")

    def picture(self) -> np.ndarray:
        with urllib.request.urlopen(self.url + "frame.jpg", timeout=PATIENCE_S) as answer:
            return Picture(jpeg=answer.read()).image()

    def close(self) -> None:
        self.felt.close()
        for process in reversed(self._processes):
            process.terminate()
            process.wait(PATIENCE_S)


@pytest.fixture
def eyes(rig: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Eyes]:
    folder: Path = tmp_path_factory.mktemp("eyes")
    control = folder / "felt.ctl"
    pictures, served = _free_ports(2)
    camera = {"source": f"http://127.0.0.1:{pictures}/mjpeg", "layout": "studio-baccarat"}
    camera |= {"http": f"127.0.0.1:{served}", "max_age_s": 5.0}  # type: ignore[dict-item]
    table = rig(
        game={"game": "baccarat", "decisions": "book", "burn": "none"},
        validation={"sources": "both", "confirm_within_ms": 20_000},
        camera=camera,
    )
    words = [sys.executable, "-m", "controller.cli", "camera"]
    with (folder / "log").open("ab") as log:
        felt = subprocess.Popen(
            [*words, "--simulate", "baccarat", "--http", str(pictures), "--control", str(control), "--speed", "0",
             "--seed", "1", "--fps", "8"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
        hands = SocketControl(control, name="simulated camera", wait_s=PATIENCE_S)
        service = subprocess.Popen([*words, str(table.file)], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    started = Eyes(table, f"http://127.0.0.1:{served}/", hands, [felt, service])
    try:
        yield started
    finally:
        started.close()


def test_cards_count_when_both_agree_and_stop_the_table_when_they_do_not(eyes: Eyes) -> None:
    table = eyes.rig
    table.until(lambda: "camera" not in table.status()["devices_lost"], "the camera")
    table.order("start_shift")
    table.order("load_shoe")
    table.step("open_bets")
    table.order("open_bets")
    table.order("close_bets")
    table.step("draw player/0")

    eyes.both("KH", "player/0")
    table.step("draw banker/0")
    assert table.last("card_dealt") == {"position": "player/0", "card": "KH", "validated_by": ["shoe", "camera"]}

    # The shoe says seven of diamonds, on the felt lies the seven of hearts: the physical card is right.
    table.line.cards("7D")
    eyes.lay("7H", "banker/0")
    incident = table.incident("M-03")
    assert incident["position"] == "banker/0"
    assert [card for _, card in table.dealt()] == ["KH"]

    picture = eyes.picture()
    assert picture.shape == (720, 1280, 3)
    green = (picture[:, :, 1] > 180) & (picture[:, :, 0] < 140) & (picture[:, :, 2] < 140)
    assert green.sum() > 500  # outlines and names of the cards that were told


def test_a_camera_that_goes_dark_stops_the_table_and_comes_back(eyes: Eyes) -> None:
    table = eyes.rig
    table.until(lambda: "camera" not in table.status()["devices_lost"], "the camera")
    eyes.felt.ask("fault cover")
    table.until(lambda: "camera" in table.status()["devices_lost"], "the alarm")
    assert table.last("device_lost")["reason"].startswith("too dark")
    eyes.felt.ask("clear")
    table.until(lambda: "camera" not in table.status()["devices_lost"], "the camera")
    eyes.felt.ask("fault stall 600")
    table.until(lambda: "camera" in table.status()["devices_lost"], "the alarm")
    eyes.felt.ask("clear")
    table.until(lambda: "camera" not in table.status()["devices_lost"], "the camera")


def test_the_demo_plays_with_shoe_and_camera(tmp_path_factory: pytest.TempPathFactory) -> None:
    scene = Scene(game="boundless", seed="3", speed=0.0, rounds=1, camera=True, rules={"burn": "none"})
    studio = Studio(tmp_path_factory.mktemp("studio"), scene)
    dealt: list[Any] = []
    with studio, studio.client() as client:
        summary = Play(studio).watch(
            client, lambda frame, _: dealt.append(frame["data"]) if frame["type"] == "card_dealt" else None
        )
    check_journal(studio, summary)
    assert good(summary), summary
    assert ["shoe", "camera"] in [data["validated_by"] for data in dealt]
    assert {data["card"] for data in dealt if data["position"] == "dealer/1"} == {"**"}


def _free_ports(count: int) -> list[int]:
    import contextlib
    import socket

    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [int(taken.getsockname()[1]) for taken in sockets]
