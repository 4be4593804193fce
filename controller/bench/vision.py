"""What one 1080p frame of a drawn table with seven cards costs the camera service, from decoded picture to sightings.

Kinds: ``unchanged``, the picture of a moment ago; ``settled``, the same cards located anew; ``all new``, seven cards
located and read. The baseline is a bare threshold-and-contours pass over the same picture. All take turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from statistics import median
from typing import Any, Final

import cv2
import numpy as np

from controller.bench.numbers import ratio
from vision.layout import Layout
from vision.profiles import load_profile
from vision.recognise import Recogniser
from vision.simulated.felt import Felt
from vision.simulated.render import Conditions, Renderer
from vision.simulated.scene import scene
from vision.watch import Image, Watcher

SIZE: Final = (1920, 1080)
CARDS: Final = {
    "dealer/0": "KS", "dealer/1": "7D", "dealer/2": "TC", "player/0": "3H", "player/1": "QD", "player/2": "9S",
    "player/3": "AC",
}  # fmt: skip
ROUNDS: Final = 25
_WARM_UP: Final = 3
#: Longer than a watcher goes without locating, and shorter (s).
_LATER_S: Final = 0.6
_SOON_S: Final = 0.01
#: Frames at 25 a second after which seven cards have settled and are told.
_SETTLED: Final = 50

Progress = Callable[[int, int], None]


def measure(progress: Progress) -> dict[str, Any]:
    """Medians in milliseconds, of wall and processor time, and how many times the bare pass."""
    image, layout = _picture()
    recogniser = Recogniser([load_profile("live-casino")], layout.geometry())
    watcher, now = Watcher(recogniser, layout), 0.0
    told: dict[str, str | None] = {}
    for _ in range(_SETTLED):
        now += 0.04
        told |= {seen.position: seen.card for seen in watcher.frame(watcher.straighten(image), now)}

    def watch(after_s: float) -> None:
        nonlocal now
        now += after_s
        watcher.frame(watcher.straighten(image), now)

    kinds: dict[str, Callable[[], object]] = {
        "bare": lambda: _bare(image),
        "unchanged": lambda: watch(_SOON_S),
        "settled": lambda: watch(_LATER_S),
        "all new": lambda: recogniser.read(image),
    }
    wall: dict[str, list[float]] = {name: [] for name in kinds}
    cpu: dict[str, list[float]] = {name: [] for name in kinds}
    for turn in range(-_WARM_UP, ROUNDS):
        for name, work in kinds.items():
            began, spent = time.perf_counter(), time.process_time()
            work()
            if turn >= 0:
                wall[name].append((time.perf_counter() - began) * 1000)
                cpu[name].append((time.process_time() - spent) * 1000)
        progress(turn + _WARM_UP, ROUNDS + _WARM_UP)
    return {
        "unit": "ms",
        "size": list(SIZE),
        "cards": len(CARDS),
        "named": sum(told.get(position) == card for position, card in CARDS.items()),
        "wrong": sum(card != CARDS.get(position) for position, card in told.items() if card not in (None, "??")),
        "kinds": {
            name: {"median": round(median(wall[name]), 2), "cpu": round(median(cpu[name]), 2)} for name in kinds
        },
        "ratios": {
            f"{name}/bare": ratio([mine / base for mine, base in zip(wall[name], wall["bare"], strict=True)])
            for name in kinds
            if name != "bare"
        },
    }


def _picture() -> tuple[Image, Layout]:
    table = scene("boundless")
    felt = Felt(table, Random(1), speed=0)
    for position, card in CARDS.items():
        felt.place(card, position, 0.0)
    drawn = Renderer(table, SIZE, 1).frame(felt.cards, [], Conditions(), felt.version)
    return np.asarray(drawn, np.uint8), table.layout(SIZE)


def _bare(image: Image) -> object:
    grey = cv2.GaussianBlur(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), (5, 5), 0)
    _, mask = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    return cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)


def ratios(report: dict[str, Any]) -> dict[str, float]:
    """What is compared with the stored baseline; smaller is better."""
    return {name: row["median"] for name, row in report["ratios"].items()}


def text(report: dict[str, Any]) -> str:
    """``report`` for a person."""
    width, height = report["size"]
    lines = [f"vision: one {width}x{height} frame with {report['cards']} cards, {report['named']} named right:"]
    for name, row in report["kinds"].items():
        times = report["ratios"].get(f"{name}/bare")
        beside = "" if times is None else f", {times['median']:.1f} times the bare pass"
        lines.append(f"  {name:<10}{row['median']:8.1f} ms (processor {row['cpu']:.1f}){beside}")
    return "\n".join(lines)
