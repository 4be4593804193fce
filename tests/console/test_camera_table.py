"""A table with shoe and camera: the reader's marks beside the shoe's claim, and pictures without them for a deck."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import cv2
import numpy as np
import pytest
from playwright.sync_api import Page, expect

from controller.console import drawing

pytestmark = [pytest.mark.timeout(300), pytest.mark.system]

Visit = Callable[..., Page]
Hall = Any
Until = Callable[[Callable[[], Any], str], Any]


def marked(page: Page, path: str) -> bool:
    """The picture at ``path`` has the green outlines and names of the reader."""
    answer = page.request.get(path)
    assert answer.status == 200, f"{path}: {answer.text()}"
    image = cv2.imdecode(np.frombuffer(answer.body(), np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    return int(((image[:, :, 1] > 180) & (image[:, :, 0] < 140) & (image[:, :, 2] < 140)).sum()) > 500


def test_M_03_the_cameras_picture_stands_beside_the_shoes_claim(
    seeing: Hall, visit: Visit, until: Until, shot: Any
) -> None:
    table = seeing.by_hand["both-1"]
    until(lambda: "camera" not in table.status()["devices_lost"], "the camera")
    table.play("draw")
    table.shoe("draw")
    left = [json.loads(line) for line in (table.studio.folder / "shoe.jsonl").read_text().splitlines()]
    claimed = [one["card"] for one in left if one.get("item") == "card"][-1]
    lies = "7H" if claimed != "7H" else "8H"
    table.felt(f"place {lies} player/0")
    anna = visit(seeing, "anna", "table/both-1")
    expect(anna.locator("#table-actions")).to_contain_text("M-03")
    until(lambda: marked(anna, "table/both-1/camera.jpg"), "the reader's marks")
    anna.locator('[data-dialog="resolve"]').click()
    dialog = anna.locator("#dialog")
    expect(dialog).to_contain_text("the card the shoe read for PLAYER 1")
    expect(dialog).not_to_contain_text(drawing.short(claimed))  # a claim is no card yet, so its face is on no screen
    anna.wait_for_function("() => document.querySelector('#dialog .beside img')?.naturalWidth > 0")
    shot(anna, "disagreement")
    anna.keyboard.press("Escape")
    tilo = visit(seeing, "tilo", "table/both-1/deck")
    tilo.fill('#work input[name="deck"]', "house")
    tilo.click('#work button:has-text("Begin")')
    tilo.select_option("#card", lies)
    tilo.click("#work >> text=Take a picture")
    expect(tilo.locator("#said")).to_have_text(f"{lies} taken")
    expect(tilo.locator(".taken li")).to_have_count(1)
    assert not marked(tilo, f"table/both-1/deck/taken/001-{lies}.jpg")
    tilo.goto("table/both-1/calibration")
    tilo.wait_for_function("() => document.querySelector('.stage img')?.naturalWidth > 0")
