"""The screens as people use them: real tables, the real console, a real browser."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from controller.bus.client import TableClient
from controller.console import drawing, words

pytestmark = [pytest.mark.usefixtures("calm"), pytest.mark.timeout(300), pytest.mark.system]

Visit = Callable[..., Page]
#: See ``Hall`` and ``until`` in conftest.py.
Hall = Any
Until = Callable[[Callable[[], Any], str], Any]
#: Steps that stand this long are seen by a person, so they must be seen on the screen.
SEEN_MS = 120

WATCH = """
window.seen = [];
const look = () => {
  const prompt = document.querySelector("#dealer-prompt .prompt");
  const felt = [...document.querySelectorAll("#dealer-felt .felt .card:not(.slot)")];
  const cards = felt.map((card) => card.getAttribute("aria-label"));
  window.seen.push({ seq: Number(document.body.dataset.seq), words: prompt.dataset.words, cards, at: Date.now() });
};
document.body.addEventListener("shown", look);
"""


NOTE_STALE = """() => {
  window.staleAt = 0;
  window.stopAt = performance.now();
  const look = () => { if (document.body.classList.contains("stale")) window.staleAt ||= performance.now(); };
  new MutationObserver(look).observe(document.body, { attributes: true });
}"""


def round_frames(client: TableClient) -> list[tuple[dict[str, Any], Any]]:
    """(frame, state after it) of the next whole round."""
    found: list[tuple[dict[str, Any], Any]] = []
    for frame in client.events():
        if frame["type"] == "betting_opened":
            found = []
        found.append((frame, client.state))
        if frame["type"] == "round_result" and found[0][0]["type"] == "betting_opened":
            return found
    raise AssertionError("the feed ended")


def test_a_whole_round_is_watched_as_the_feed_tells_it(hall: Hall, visit: Visit) -> None:
    page = visit(hall, "dora", "table/bb-1/dealer")
    page.evaluate(WATCH)
    with hall.studios["bb-1"].client() as client:
        frames = round_frames(client)
    last = frames[-1][0]["seq"]
    page.wait_for_function("last => window.seen.some((one) => one.seq >= last)", arg=last)
    seen = page.evaluate("window.seen")
    stood = [
        (frame["seq"], words.prompt(state).words)
        for (frame, state), (after, _) in pairwise(frames)
        if frame["type"] == "step_opened" and _ms(after) - _ms(frame) > SEEN_MS
    ]
    assert len(stood) > 5
    shown = [one["words"] for one in seen]
    at = 0
    for _, text in stood:  # every step that stood was on the screen, in order
        assert text in shown[at:], f"{text} was not shown after {shown[:at]}"
        at = shown.index(text, at)
    dealt = {drawing.card_name(card["card"]) for card in frames[-1][1]["round"]["cards"]}
    end = next(one for one in seen if one["seq"] >= last)
    assert set(end["cards"]) == dealt


def test_the_hole_card_is_on_no_screen_before_it_is_turned(hall: Hall, visit: Visit) -> None:
    page = visit(hall, "anna", "table/bb-1")
    bodies: list[str] = []
    page.evaluate(
        """() => { window.told = []; new EventSource(document.body.dataset.live).onmessage = (one) =>
        window.told.push([Object.values(JSON.parse(one.data).seq)[0], one.data]); }"""
    )
    with hall.studios["bb-1"].client() as client:
        frames = round_frames(client)
    seqs = {frame["type"]: frame["seq"] for frame, _ in frames if frame["data"].get("position") == "dealer/1"}
    if "card_revealed" not in seqs:
        pytest.fail(f"the dealer turned no card: {seqs}")
    hole = next(f["data"]["card"] for f, _ in frames if f["type"] == "card_revealed")
    others = {c["card"] for c in frames[-1][1]["round"]["cards"] if c["position"] != "dealer/1"}
    bodies = [text for seq, text in page.evaluate("window.told") if seqs["card_dealt"] <= seq < seqs["card_revealed"]]
    assert bodies
    if hole not in others:
        felt = [json.loads(text)["parts"].get("table-felt", "") for text in bodies]
        assert not any(drawing.card_name(hole) in text for text in felt)


def test_pause_and_resume_by_keyboard_carry_name_reason_and_the_seq_that_was_seen(
    hall: Hall, visit: Visit, until: Until
) -> None:
    page = visit(hall, "anna")
    tile = page.locator("#tile-cl-1")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
        if tile.evaluate("tile => tile.contains(document.activeElement)"):
            break
    sent: list[Any] = []
    page.on("request", lambda request: "order" in request.url and sent.append(request.post_data_json))
    expect(tile.locator('[data-dialog="pause"]')).to_be_enabled()
    page.keyboard.press("p")
    expect(page.locator("#dialog")).to_be_visible()
    page.keyboard.type("a player calls")
    page.keyboard.press("Enter")
    expect(page.locator("#dialog")).to_be_hidden()
    expect(tile).to_contain_text("PAUSED")
    with hall.studios["cl-1"].client() as client:
        hold = client.command("status").data["holds"]["pause"]
        assert (hold["reason"], hold["by"]) == ("a player calls", "supervisor:anna")
        assert sent[0]["seen_seq"] <= client.command("status").seq
        expect(tile.locator('[data-dialog="resume"]')).to_be_enabled()
        page.keyboard.press("r")
        expect(page.locator("#dialog")).to_contain_text("a player calls")
        page.keyboard.press("Enter")
        expect(page.locator("#dialog")).to_be_hidden()
        until(lambda: "pause" not in client.command("status").data["holds"], "the table to go on")


def test_an_order_on_an_old_picture_is_refused(hall: Hall, visit: Visit) -> None:
    """Two supervisors decide about the same pause; the second one saw a state that is gone."""
    anna, bruno = visit(hall, "anna", "table/ba-1"), visit(hall, "bruno", "table/ba-1")
    order(anna, "pause", "look at it")
    bruno.locator('[data-dialog="resume"]').click()
    expect(bruno.locator("#dialog")).to_be_visible()
    order(anna, "resume", "all is well")
    order(anna, "pause", "now something else")
    bruno.locator("#dialog button.primary").click()
    expect(bruno.locator("#dialog [data-said]")).to_contain_text("look again")
    bruno.keyboard.press("Escape")
    order(bruno, "resume", "seen")


def test_a_page_that_hears_nothing_says_so_and_recovers(hall: Hall, visit: Visit) -> None:
    page = visit(hall, "anna", "table/bb-1")
    pause = page.locator('#table-actions [data-dialog="pause"]')
    expect(pause).to_be_enabled()
    page.evaluate(NOTE_STALE)
    hall.signal(signal.SIGSTOP)
    try:
        expect(page.locator("#stale")).to_contain_text("since")
        expect(page.locator("#stale")).to_contain_text("the console does not answer")
        assert page.locator("[data-act]:not(:disabled), [data-mistake]:not(:disabled)").count() == 0
        after = page.evaluate("window.staleAt - window.stopAt")
        print(f"console silent: said after {after / 1000:.2f} s")
    finally:
        hall.signal(signal.SIGCONT)
    expect(page.locator("#stale")).to_be_hidden()
    expect(page.locator("[data-mistake]").first).to_be_enabled()


def test_a_table_that_dies_is_stale_until_it_is_back_with_a_fresh_snapshot(hall: Hall, visit: Visit) -> None:
    page, studio = visit(hall, "anna"), hall.studios["ba-1"]
    tile = page.locator("#tile-ba-1")
    page.evaluate("window.killedAt = performance.now()")
    studio.kill_table()
    expect(tile).to_contain_text("stale since")
    print(f"table killed: said after {page.evaluate('performance.now() - window.killedAt') / 1000:.2f} s")
    expect(tile.locator("[data-act]:not(:disabled)")).to_have_count(0)
    assert page.evaluate("document.querySelector('#tiles > *').id") == "tile-ba-1"  # what is wrong comes first
    assert page.locator("#stale").is_hidden()  # the page itself hears the console
    studio.start_table()
    expect(tile).not_to_contain_text("stale since")
    expect(tile).to_contain_text("HANDS OFF")  # held by `restart` until somebody proves the order
    tile.locator('[data-dialog="resume"]').click()
    expect(page.locator("#dialog")).to_be_visible()
    if page.locator('#dialog input[value="felt_agrees"]').count():
        page.locator('#dialog input[value="felt_agrees"]').check()
    page.locator("#dialog button.primary").click()
    expect(page.locator("#dialog")).to_be_hidden()
    expect(tile).not_to_contain_text("HANDS OFF")


def order(page: Page, what: str, reason: str) -> None:
    """Give one order from the table's page."""
    page.locator(f'#table-actions [data-dialog="{what}"]').click()
    page.locator('#dialog input[name="reason"]').fill(reason)
    page.locator("#dialog button.primary").click()
    expect(page.locator("#dialog")).to_be_hidden()


def _ms(frame: dict[str, Any]) -> float:
    from datetime import datetime

    return datetime.fromisoformat(frame["time"].replace("Z", "+00:00")).timestamp() * 1000
