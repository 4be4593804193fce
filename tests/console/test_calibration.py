"""Calibration in the browser: positions over the camera's picture, markers, versions that replace nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from controller.cards import RANKS, SUITS
from controller.simulation.control import SocketControl
from vision.layout import load
from vision.profiles import load_profile

pytestmark = [pytest.mark.usefixtures("calm"), pytest.mark.timeout(300), pytest.mark.system]

Visit = Callable[..., Page]
Hall = Any


def test_a_moved_corner_becomes_a_new_version_and_the_old_one_stays(hall: Hall, visit: Visit, shot: Any) -> None:
    page = visit(hall, "tilo", "table/bb-1/calibration")
    page.wait_for_function("() => document.querySelector('.stage img').naturalWidth > 0")
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
    file = hall.studios["bb-1"].folder / "table.calibration" / "studio-boundless-v2.toml"
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
    newest = load(file.with_name("studio-boundless-v3.toml")).positions
    assert newest["player/0"] == new.positions["player/0"]  # what was moved before stays moved
    page.goto("table/bb-1/calibration")
    expect(page.locator("h1")).to_contain_text("version 3")
    expect(page.locator("table.versions tbody tr").first).to_contain_text("tilo")
    page.click("text=show version 1")
    expect(page.locator("h1")).to_contain_text("version 1, in use")


def test_positions_that_cannot_be_are_refused_and_supervisors_only_look(hall: Hall, visit: Visit) -> None:
    page = visit(hall, "tilo", "table/bb-1/calibration")
    send = """async (polygons) => (await fetch("/table/bb-1/calibration", {
      method: "POST", body: JSON.stringify({ polygons, version: 1, newest: 1, reason: "test" }),
      headers: { "content-type": "application/json",
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


def test_a_deck_is_taught_from_the_live_picture_and_saved_once_somebody_looked(
    hall: Hall, visit: Visit, shot: Any
) -> None:
    felt = SocketControl(hall.camera.control, name="simulated camera", wait_s=30)
    page = visit(hall, "tilo", "table/bb-1/deck")
    page.fill('#work input[name="deck"]', "house")
    page.select_option('#work select[name="layout"]', "beside")
    page.uncheck('#work input[name="pips"]')
    page.click('#work button:has-text("Begin")')
    felt.ask("place TD player/0")
    felt.ask("place 6S player/2")
    page.click("#work >> text=Take a picture")
    expect(page.locator("#said")).to_contain_text("the camera sees 2 cards")
    felt.ask("remove player/0")
    take(page, "9S", 1)  # it is the six
    felt.ask("collect")
    for n, rank in enumerate("A2345789TJQK"):
        felt.ask(f"place {rank}{'SHDC'[n % 4]} player/{n % 4}")
        take(page, f"{rank}{'SHDC'[n % 4]}", n + 2)
        felt.ask("collect")
    expect(page.locator("#work")).to_contain_text("not seen yet: 6")
    page.click("#work >> text=Make the profile")
    expect(page.locator("#work .said.fault")).to_contain_text("labelled rank 9, but it looks like 6")
    assert page.locator('form[data-deck="save"]').count() == 0  # nothing to be confirmed
    page.locator(".taken button").last.click()
    expect(page.locator(".taken li")).to_have_count(12)
    felt.ask("place 6S player/2")
    take(page, "6S", 13)
    felt.ask("collect")
    felt.close()
    page.click("#work >> text=Make the profile")
    page.wait_for_function("() => document.querySelector('#work .sheet')?.naturalWidth > 0")
    shot(page, "deck")
    page.click('form[data-deck="save"] button')
    assert page.locator('form[data-deck="save"] :invalid').count()  # somebody has to look first
    page.check('form[data-deck="save"] input[name="looked"]')
    page.click('form[data-deck="save"] button')
    expect(page.locator("#said")).to_contain_text("saved as version 1 of house")
    profile = load_profile(hall.studios["bb-1"].folder / "table.calibration" / "house-v1.json")
    assert (profile.name, profile.layout, set(profile.own)) == ("house", "beside", set(RANKS + SUITS))
    looker = visit(hall, "anna", "table/bb-1/deck")
    expect(looker.locator("h2", has_text="house")).to_contain_text("not in use")
    expect(looker.locator("form[data-deck]")).to_have_count(0)
    looker.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    looker.wait_for_function("() => [...document.querySelectorAll('img.sheet')].every((one) => one.naturalWidth > 0)")


def take(page: Page, card: str, count: int) -> None:
    page.select_option("#card", card)
    page.click("#work >> text=Take a picture")
    expect(page.locator(".taken li")).to_have_count(count)


def test_a_table_without_a_camera_says_so(hall: Hall, visit: Visit) -> None:
    page = visit(hall, "tilo")
    for path in ("table/cl-1/calibration", "table/cl-1/deck", "table/cl-1/camera.jpg"):
        answer = page.goto(path)
        assert answer is not None
        assert answer.status == 404
