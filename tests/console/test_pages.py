"""Every page in both sizes: pictures, accessibility by axe-core, sixty tables on one page, how fast events show."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from controller.bus import keys
from controller.cli.demo_console import CONSOLE

pytestmark = [pytest.mark.usefixtures("calm"), pytest.mark.timeout(300), pytest.mark.system]

Visit = Callable[..., Page]
Shot = Callable[[Page, str], None]
Until = Callable[[Callable[[], Any], str], Any]
Hall = Any
REPLAYED = 55
EVENTS = 25


@pytest.fixture(scope="session")
def axe() -> str:
    return (files("axe_core_python") / "axe.min.js").read_text()


def serious(page: Page, axe: str) -> list[str]:
    """What axe-core calls serious or worse."""
    page.evaluate(axe)  # not a script element: the page's policy allows none but its own
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{page.url}: {v['id']} ({v['impact']}): {v['help']}: {[n['html'][:120] for n in v['nodes']][:3]}"
        for v in found["violations"]
        if v["impact"] in ("serious", "critical")
    ]


def settled(page: Page, path: str) -> None:
    page.goto(path)
    page.wait_for_load_state("load")


def test_pages_have_no_serious_fault_and_their_pictures_are_taken(
    hall: Hall, visit: Visit, axe: str, shot: Shot
) -> None:
    faults: list[str] = []
    people = {
        "anna": visit(hall, "anna", fresh=True),
        "dora": visit(hall, "dora"),
        "admin": visit(hall, "admin", "accounts"),
    }
    plan = [
        ("anna", "floor", "floor"), ("anna", "table/bb-1", "table"),
        ("dora", "table/bb-1/dealer", "dealer-boundless"),
        ("dora", "table/cl-1/dealer", "dealer-classic"), ("dora", "table/ba-1/dealer", "dealer-baccarat"),
        ("anna", "table/ba-1/rounds", "rounds-baccarat"), ("anna", "table/bb-1/shoe", "shoe"),
        ("anna", "table/bb-1/devices", "devices"), ("anna", "table/bb-1/calibration", "calibration-read"),
        ("anna", "table/bb-1/deck", "deck-read"),
        ("dora", "password", "password"), ("admin", "accounts", "accounts"), ("admin", "audit", "audit"),
    ]  # fmt: skip
    for who, path, name in plan:
        page = people[who]
        settled(page, path)
        if "dealer" in name:
            expect(page.locator("#dealer-felt .card").nth(2)).to_be_visible(timeout=30_000)
        if name == "devices":
            for said in ("Share of the time heard: ", "Time between cards, half of them within"):
                expect(page.locator(f'[aria-label^="{said}"]')).to_be_visible()
        faults += serious(page, axe)
        shot(page, name)
    page = people["anna"]
    settled(page, "table/bb-1")
    page.keyboard.press("?")
    expect(page.locator("#dialog")).to_be_visible()
    faults += serious(page, axe)
    shot(page, "keys")
    page.keyboard.press("Escape")
    page.locator('[data-dialog="pause"]').first.click()
    expect(page.locator("#dialog")).to_be_visible()
    faults += serious(page, axe)
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    faults += serious(page, axe)
    shot(page, "locked")
    page.context.clear_cookies()
    settled(page, "logon")
    faults += serious(page, axe)
    shot(page, "logon")
    assert faults == []


@pytest.fixture
def sixty(hall: Hall, tmp_path_factory: pytest.TempPathFactory, until: Until) -> Iterator[Any]:
    """A second console: the real tables and many that replay what the first real one has said, sixty in all."""
    folder: Path = tmp_path_factory.mktemp("sixty")
    with hall.studios["bb-1"].client() as client:
        recorded, more = [], True
        while more:
            page, more = client.since(recorded[-1]["seq"] if recorded else 0)
            recorded += page
    (folder / "frames.json").write_text(json.dumps(recorded))
    keys.make_server(folder / "keys")
    keys.make_person(folder / "keys", "observer", CONSOLE)
    script = Path(__file__).with_name("replay.py")
    process = subprocess.Popen([sys.executable, str(script), str(folder), str(REPLAYED)])
    try:
        until((folder / "ready").exists, "the replays")
        text = hall.floor.read_text().replace("[console]", "[console]\nlock_after_s = 60", 1)
        for number in range(1, REPLAYED + 1):
            name = f"re-{number:02d}"
            text += (
                f'[[tables]]\nid = "{name}"\nfeed = "ipc://{folder}/{name}.feed"\n'
                f'commands = "ipc://{folder}/{name}.commands"\n'
                f'server_key = "{folder}/keys/server.key"\nkey = "{folder}/keys/observer/{CONSOLE}.key_secret"\n'
            )
        floor = hall.floor.with_name("sixty.toml")
        floor.write_text(text)
        console = type(hall)(folder, list(hall.studios.values()), floor)
        yield console
        console.stop()
        assert "Traceback" not in console.log, console.log
    finally:
        process.terminate()
        process.wait(20)


CHANGED = """() => {
  window.changed = new Set();
  const note = (list) => list.forEach((one) => window.changed.add(one.target.closest(".tile-box")?.id));
  new MutationObserver(note).observe(document.getElementById("tiles"), { childList: true, subtree: true });
}"""


RANKED = """() => {
  const boxes = [...document.getElementById("tiles").children];
  const ranks = boxes.map((box) => Number(box.querySelector(".tile").dataset.severity));
  const held = ranks[boxes.findIndex((box) => box.id === "tile-ba-1")];
  return held > 0 && ranks.every((rank, n) => n === 0 || ranks[n - 1] >= rank);
}"""


def test_sixty_tables_are_one_page_with_the_troubled_ones_first(
    sixty: Any, visit: Visit, axe: str, shot: Shot, until: Until
) -> None:
    page = visit(sixty, "anna")
    expect(page.locator("#tiles > *")).to_have_count(60)
    expect(page.locator(".tile.stale")).to_have_count(0, timeout=30_000)
    expect(page.locator("#floor-summary")).to_contain_text("60 tables")
    page.evaluate(CHANGED)
    expect(page.locator('#tile-ba-1 [data-dialog="pause"]')).to_be_enabled()
    page.locator('#tile-ba-1 [data-dialog="pause"]').focus()
    page.keyboard.press("p")
    expect(page.locator("#dialog")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#tile-ba-1")).to_contain_text("PAUSED")
    until(lambda: page.evaluate(RANKED), "the held table before those that play")
    moving = until(lambda: (n := page.evaluate("window.changed.size")) > 30 and n, "thirty tables to move")
    print(f"sixty tables: {moving} tiles changed")
    faults = serious(page, axe)
    shot(page, "floor-sixty")
    page.locator("#tile-ba-1").get_by_role("button", name="Resume").click()
    page.locator("#dialog button.primary").click()
    expect(page.locator("#tile-ba-1")).not_to_contain_text("PAUSED")
    assert faults == []


class Bare(BaseHTTPRequestHandler):
    """The least that server-sent events need: one page, one stream, one line each."""

    protocol_version = "HTTP/1.1"
    waiting: list[threading.Event] = []  # noqa: RUF012 - set anew for the one server of the test

    def do_GET(self) -> None:
        if self.path == "/":
            body = b"<!doctype html><title>bare</title><p id=it>"
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for _ in range(EVENTS):
            time.sleep(0.05)
            self.wfile.write(b"data: %d\n\n" % (time.time_ns() // 1_000_000))
            self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Quiet."""


BARE = """async (events) => {
  const late = [];
  await new Promise((done) => { new EventSource("/stream").onmessage = (event) => {
    document.getElementById("it").textContent = event.data;
    late.push(Date.now() - Number(event.data));
    if (late.length === events) done();
  }; });
  return late;
}"""
SHOWN = """() => { window.shown = {}; document.body.addEventListener("shown", () => {
  window.shown[document.body.dataset.seq] ??= Date.now(); }); }"""


def test_how_long_an_event_takes_to_the_screen(hall: Hall, visit: Visit, browser: Browser) -> None:
    """From the time in the table's frame to the changed page, beside a bare page of the same kind in the same run."""
    page = visit(hall, "dora", "table/cl-1/dealer")
    page.evaluate(SHOWN)
    said: dict[int, int] = {}
    with hall.studios["cl-1"].client() as client:
        for frame in client.events():
            at = frame["time"].replace("Z", "+00:00")
            said[frame["seq"]] = round(_epoch_ms(at))
            if len(said) > 2 * EVENTS:
                break
    shown = {int(seq): at for seq, at in page.evaluate("window.shown").items()}
    late = [at - said[seq] for seq, at in shown.items() if seq in said]
    with ThreadingHTTPServer(("127.0.0.1", 0), Bare) as server:
        server.daemon_threads = False
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        context = browser.new_context()
        bare_page = context.new_page()
        bare_page.goto(f"http://127.0.0.1:{server.server_address[1]}/")
        bare = bare_page.evaluate(BARE, EVENTS)
        context.close()
        server.shutdown()
        thread.join()
    assert len(late) >= 10
    print(
        f"event to screen, {len(late)} events: median {statistics.median(late):.0f} ms, worst {max(late)} ms; "
        f"bare page, {len(bare)} events: median {statistics.median(bare):.0f} ms, worst {max(bare)} ms"
    )
    assert min(late) >= 0


def _epoch_ms(at: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(at).timestamp() * 1000
