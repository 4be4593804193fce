"""Real tables, the real console and a real browser, once for all tests of the screens."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from controller.bus.client import TableClient
from controller.bus.errors import CommandRefused
from controller.cli.demo_console import PASSWORD, furnish
from controller.simulation.control import SocketControl
from controller.simulation.studio import Scene, Studio

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--force-prefers-reduced-motion",
)  # fmt: skip
PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)
#: Real people see to trouble here, never the virtual supervisor.
NEVER = 1e6
SIZES = {"desktop": (1440, 900), "tablet": (1024, 768)}


class Hall:
    """A console as a process, with its tables."""

    def __init__(self, folder: Path, studios: list[Studio], floor: Path) -> None:
        self.studios = {studio.scene.table: studio for studio in studios}
        self.folder = folder
        self.floor = floor
        ready = folder / "ready"
        with (folder / "console.log").open("ab") as log:
            command = [sys.executable, "-m", "controller.cli", "console", str(floor), "--ready-file", str(ready)]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + 20
        while not (ready.exists() and ready.read_text().endswith("/")):
            if self._process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"the console did not come up: {self.log}")
            time.sleep(0.02)
        self.url = ready.read_text()
        #: Cookies of people who are logged on, so that they need not do so for each page.
        self.logged_on: dict[str, Any] = {}
        self.camera: Camera | None = None
        self.by_hand: dict[str, ByHand] = {}

    @property
    def log(self) -> str:
        return (self.folder / "console.log").read_text(errors="replace")

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def stop(self) -> int:
        self.signal(signal.SIGTERM)
        return self._process.wait(10)


class Camera:
    """A simulated table camera as a process, slow because nothing here reads its pictures but people."""

    def __init__(self, folder: Path) -> None:
        self.control = folder / "camera.control"
        command = ["camera", "--simulate", "boundless", "--fps", "4", "--speed", "0", "--seed", "1"]
        command += ["--control", str(self.control)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "controller.cli", *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().partition("url=")[2].partition("/mjpeg")[0]

    @property
    def section(self) -> str:
        """For a table file: the console finds the pictures here, as it would those of a camera service."""
        http = self.url.removeprefix("http://")
        return f'[camera]\nsource = "{self.url}/mjpeg"\nlayout = "studio-boundless"\nhttp = "{http}"'

    def stop(self) -> None:
        self._process.terminate()
        self._process.communicate(timeout=20)


class ByHand:
    """A baccarat table that nobody plays but the test: it stands where the test left it."""

    def __init__(self, folder: Path, table: str, *, camera: bool = False, **rules: Any) -> None:
        rules |= {"burn": "none", "auto_void_after_s": 0.0}
        scene = Scene(game="baccarat", table=table, speed=0.0, rules=rules, camera=camera, camera_args=("--fps", "4"))
        self.studio = Studio(folder / table, scene)

    def start(self) -> None:
        self.studio.start_shoe()
        if self.studio.scene.camera:
            self.studio.start_felt()
        self.studio.start_table()
        if self.studio.scene.camera:
            self.studio.start_camera()

    def play(self, until: str, cards: int = 6) -> dict[str, Any]:
        """On to the step ``until``, or until so many more ``cards`` left the shoe; the table's status then."""
        clients = {role: self.studio.client(role) for role in ("supervisor", "game_server", "dealer")}
        sender = {"start_shift": "supervisor", "load_shoe": "dealer", "open_bets": "game_server"}
        try:
            deadline = time.monotonic() + PATIENCE_MS / 1000
            while True:
                state: dict[str, Any] = clients["supervisor"].command("status").data
                step = state["step"]
                if step["step"] == until or not cards or state["holds"]:
                    return state
                if time.monotonic() > deadline:
                    pytest.fail(f"{self.studio.scene.table} does not come to {until}: {state}")
                if step["step"] == "draw":
                    self.shoe("draw")
                    cards -= 1
                    while clients["supervisor"].command("status").data["step"] == step:
                        if time.monotonic() > deadline:
                            pytest.fail(f"the card for {step['position']} does not arrive")
                        time.sleep(0.02)
                elif step["step"] == "close_bets":
                    clients["game_server"].command("close_bets")
                elif step["step"] in sender:
                    self.shoe("collect")
                    clients[sender[step["step"]]].command(step["step"])
                else:
                    time.sleep(0.05)
        finally:
            for client in clients.values():
                client.close()

    def shoe(self, line: str) -> Any:
        """One request to the simulated shoe."""
        control = SocketControl(self.studio.control, wait_s=PATIENCE_MS / 1000)
        try:
            return control.ask(line)
        finally:
            control.close()

    def felt(self, line: str) -> Any:
        """One request to the simulated camera."""
        control = SocketControl(self.studio.camera_control, name="simulated camera", wait_s=PATIENCE_MS / 1000)
        try:
            return control.ask(line)
        finally:
            control.close()

    def status(self) -> dict[str, Any]:
        with self.studio.client() as client:
            data: dict[str, Any] = client.command("status").data
        return data


def studio_of(folder: Path, table: str, game: str, speed: float, more: str = "") -> Studio:
    angel = game == "baccarat"
    scene = Scene(
        game=game, table=table, protocol="angel" if angel else "line", seed="7", speed=speed, patience=NEVER,
        shoe_args=("--mode", "open") if angel else (), more=more,
    )  # fmt: skip
    return Studio(folder / table, scene)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not Path(CHROMIUM).exists() and shutil.which("chromium") is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def hall(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:  # noqa: ARG001
    """Three real tables that play, two that stand, and their console. Without a browser they are not started."""
    folder = tmp_path_factory.mktemp("hall")
    camera = Camera(folder)
    studios = [
        studio_of(folder, "bb-1", "boundless", 4.0, camera.section),
        studio_of(folder, "cl-1", "classic", 4.0),
        studio_of(folder, "ba-1", "baccarat", 4.0),
    ]
    by_hand = [
        ByHand(folder, "hand-1", confirm_result=True, confirm_s=600.0),
        ByHand(folder, "hand-2", confirm_result=True, confirm_s=0.5),
    ]
    everything = [*studios, *(one.studio for one in by_hand)]
    for studio in everything:
        studio.prepare()
    floor = furnish(folder, everything)
    try:
        for studio in studios:
            studio.start()
        for one in by_hand:
            one.start()
        console = Hall(folder, studios, floor)
        console.camera = camera
        console.by_hand = {one.studio.scene.table: one for one in by_hand}
        yield console
        assert console.stop() in (0, -signal.SIGTERM), console.log
        assert "Traceback" not in console.log, console.log
    finally:
        for studio in everything:
            studio.stop()
        camera.stop()


@pytest.fixture(scope="module")
def seeing(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:  # noqa: ARG001
    """A table by hand at which shoe and camera must agree, with its camera service, and a console of its own."""
    folder = tmp_path_factory.mktemp("seeing")
    table = ByHand(folder, "both-1", camera=True)
    table.studio.prepare()
    floor = furnish(folder, [table.studio])
    try:
        table.start()
        console = Hall(folder, [table.studio], floor)
        console.by_hand["both-1"] = table
        yield console
        assert console.stop() in (0, -signal.SIGTERM), console.log
        assert "Traceback" not in console.log, console.log
    finally:
        table.studio.stop()


@pytest.fixture
def calm(hall: Hall) -> None:
    """Every table plays: what an earlier test left behind, or a busy machine brought about, is seen to."""
    for name, studio in hall.studios.items():
        deadline = time.monotonic() + PATIENCE_MS / 1000
        with studio.client("supervisor") as table:
            while not _see_to(table):
                if time.monotonic() > deadline:
                    pytest.fail(f"table {name} does not play: {table.command('status').data}")
                time.sleep(0.1)


def _see_to(table: TableClient) -> bool:
    """Do one thing about a table that stands still; True if it plays."""
    answer = table.command("status")
    state = answer.data

    def order(name: str, **args: Any) -> bool:
        with contextlib.suppress(CommandRefused):
            table.command(name, args, seen_seq=answer.seq)
        return False

    for number, incident in state["incidents"].items():
        how = next((r for r in ("resume", "rescan", "burn_card") if r in incident["resolutions"]), None)
        how = how or incident["resolutions"][-1]
        return order("resolve", incident=int(number), resolution=how, reason="test")
    if state["phase"] == "voided":
        return order("reopen", reason="test")
    if "pause" in state["holds"] or "restart" in state["holds"]:
        return order("resume", reason="test", how="felt_agrees")
    return not state["holds"]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """``visit(hall, "anna")`` is a page of a person who is logged on; each has a browser profile of its own.
    ``fresh``: with a session of its own, for tests that lock it or log off."""
    open_: list[BrowserContext] = []
    faults: list[str] = []

    def go(hall: Hall, name: str, path: str = "floor", *, fresh: bool = False) -> Page:
        width, height = SIZES["desktop"]
        known = None if fresh else hall.logged_on.get(name)
        context = browser.new_context(
            viewport={"width": width, "height": height}, base_url=hall.url, storage_state=known
        )
        open_.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(f"{page.url}: {error}"))
        page.on(
            "console", lambda said: said.type == "error" and "CSP" in said.text.upper() and faults.append(said.text)
        )
        if known is None:
            log_on(page, name)
            if not fresh:
                hall.logged_on[name] = context.storage_state()
        page.goto(path)
        return page

    yield go
    for context in open_:
        context.close()
    assert faults == []


def log_on(page: Page, name: str, password: str = PASSWORD) -> None:
    page.goto("logon")
    page.fill('form.stack input[name="name"]', name)
    page.fill('form.stack input[name="password"]', password)
    page.press('form.stack input[name="password"]', "Enter")
    page.wait_for_url(lambda url: "logon" not in url)


@pytest.fixture(scope="session")
def shot() -> Callable[[Page, str], None]:
    """``shot(page, "name")`` writes a picture of the page in every size to ``build/screens``."""
    folder = Path(os.environ.get("DEALERD_SHOTS", Path(__file__).parents[2] / "build" / "screens"))
    folder.mkdir(parents=True, exist_ok=True)

    def take(page: Page, name: str) -> None:
        before = page.viewport_size
        for size, (width, height) in SIZES.items():
            page.set_viewport_size({"width": width, "height": height})
            (folder / f"{name}-{size}.png").write_bytes(page.screenshot())
        if before is not None:
            page.set_viewport_size(before)

    return take


@pytest.fixture(scope="session")
def until() -> Callable[[Callable[[], Any], str], Any]:
    """``until(done, "what is waited for")``."""
    return _until


def _until(done: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while not (found := done()):
        if time.monotonic() > deadline:
            pytest.fail(f"waited in vain for {what}")
        time.sleep(0.02)
    return found


class Screen:
    """What hands do at a page: keys, buttons, the fields of a dialog."""

    def press(self, page: Page, key: str, dialog: str) -> None:
        """Open a dialog by its key, once the page offers it and nothing else is asked."""
        expect(page.locator("#dialog")).to_be_hidden()
        expect(page.locator(f'main [data-dialog="{dialog}"]').first).to_be_enabled()
        page.keyboard.press(key)
        expect(page.locator("#dialog")).to_be_visible()

    def choose(self, page: Page, dialog: str, **fields: str) -> None:
        """Open a dialog from the table's page, fill it, send it."""
        page.locator(f'[data-dialog="{dialog}"]').first.click()
        self.fill(page, **fields)

    def fill(self, page: Page, **fields: str) -> None:
        """Answer the open dialog and send it."""
        for name, value in fields.items():
            field = page.locator(f'#dialog [name="{name}"]').first
            if field.get_attribute("type") == "radio":
                page.locator(f'#dialog [name="{name}"][value="{value}"]').check()
            elif field.evaluate("field => field.tagName") == "SELECT":
                field.select_option(value)
            else:
                field.fill(value)
        page.locator("#dialog button.primary").click()
        expect(page.locator("#dialog")).to_be_hidden()


@pytest.fixture(scope="session")
def screen() -> Screen:
    """Hands for any page."""
    return Screen()
