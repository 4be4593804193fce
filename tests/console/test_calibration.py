"""Calibration in the browser: positions over the camera's picture, markers, versions that replace nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from vision.layout import load

pytestmark = [pytest.mark.usefixtures("calm"), pytest.mark.timeout(300), pytest.mark.system]

Visit = Callable[..., Page]
Hall = Any


def test_a_moved_corner_becomes_a_new_version_and_the_old_one_stays(hall: Hall, visit: Visit, shot: Any) -> None:
    page = visit(hall, "tilo", "table/bb-1/calibration")
    page.wait_for_function("document.querySelector('.stage img').naturalWidth > 0")
    page.select_option("#position", "player/0")
    corner = page.locator("#handles circle").nth(2)
    corner.focus()
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#changed")).to_have_text("changed: player/0")
    shot(page, "calibration")
    page.click("#save")
    expect(page.locator("#changed")).to_contain_text("saved as")
    file = hall.studios["bb-1"].folder / "studio-boundless-v2.toml"
    old, new = load("studio-boundless"), load(file)
    assert new.name == "studio-boundless-v2"
    assert {name for name in old.positions if old.positions[name] != new.positions[name]} == {"player/0"}
    moved = new.geometry().to_px(new.positions["player/0"])[2] - old.geometry().to_px(old.positions["player/0"])[2]
    assert moved == pytest.approx([29.0, 0.0], abs=0.5)
    page.select_option("#position", "player/1")
    page.locator("#handles circle").first.focus()
    page.keyboard.press("ArrowUp")
    page.click("#save")
    expect(page.locator("#changed")).to_contain_text("studio-boundless-v3.toml")
    assert load(file) == new


def test_positions_that_cannot_be_are_refused_and_supervisors_only_look(hall: Hall, visit: Visit) -> None:
    page = visit(hall, "tilo", "table/bb-1/calibration")
    send = """async (polygons) => (await fetch("/table/bb-1/calibration", {
      method: "POST", body: JSON.stringify({ polygons }), headers: { "content-type": "application/json",
        accept: "application/json", "x-csrf-token": document.querySelector('meta[name="csrf"]').content },
    })).status"""
    dot = [[10, 10], [11, 10], [11, 11]]
    for polygons in ({}, {"nowhere/9": dot}, {"player/0": dot}, {"player/0": dot[:2]}):
        assert page.evaluate(send, polygons) == 409
    assert page.evaluate(send, {"player/0": "x"}) == 400
    page.click("#find")
    expect(page.locator("#found")).to_have_text("markers seen: none")
    looker = visit(hall, "anna", "table/bb-1/calibration")
    expect(looker.locator("#save")).to_have_count(0)
    assert looker.evaluate(send, {"player/0": dot}) == 403
    dealer = visit(hall, "dora")
    dealer.goto("table/bb-1/calibration")
    expect(dealer.locator("h1")).to_have_text("403")


def test_a_table_without_a_camera_says_so(hall: Hall, visit: Visit) -> None:
    page = visit(hall, "tilo")
    for path in ("table/cl-1/calibration", "table/cl-1/camera.jpg"):
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == 404
