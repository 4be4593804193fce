"""Real tables, the real console and a real browser, once for all tests of the screens."""

from __future__ import annotations

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
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from controller.cli.demo_console import PASSWORD, furnish
from controller.simulation.studio import Scene, Studio

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--force-prefers-reduced-motion",
)  # fmt: skip
PATIENCE_MS = 30_000
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
        command = ["camera", "--simulate", "boundless", "--fps", "1", "--control", str(folder / "camera.control")]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "controller.cli", *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().partition("url=")[2].partition("/mjpeg")[0]

    def stop(self) -> None:
        self._process.terminate()
        self._process.communicate(timeout=20)


def studio_of(folder: Path, table: str, game: str, speed: float) -> Studio:
    angel = game == "baccarat"
    scene = Scene(
        game=game, table=table, protocol="angel" if angel else "line", seed="7", speed=speed, patience=NEVER,
        shoe_args=("--mode", "open") if angel else (),
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
    """Three real tables that play, and their console. Without a browser they are not started."""
    folder = tmp_path_factory.mktemp("hall")
    studios = [
        studio_of(folder, "bb-1", "boundless", 4.0),
        studio_of(folder, "cl-1", "classic", 6.0),
        studio_of(folder, "ba-1", "baccarat", 6.0),
    ]
    for studio in studios:
        studio.prepare()
    camera = Camera(folder)
    floor = furnish(folder, studios, cameras={"bb-1": f'camera = "{camera.url}"\nlayout = "studio-boundless"'})
    try:
        for studio in studios:
            studio.start()
        console = Hall(folder, studios, floor)
        yield console
        assert console.stop() in (0, -signal.SIGTERM), console.log
        assert "Traceback" not in console.log, console.log
    finally:
        for studio in studios:
            studio.stop()
        camera.stop()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """``visit(hall, "anna")`` is a page of a person who has just logged on; each has a browser profile of its own."""
    open_: list[BrowserContext] = []
    faults: list[str] = []

    def go(hall: Hall, name: str, path: str = "floor", *, size: str = "desktop") -> Page:
        width, height = SIZES[size]
        context = browser.new_context(viewport={"width": width, "height": height}, base_url=hall.url)
        open_.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(f"{page.url}: {error}"))
        page.on(
            "console", lambda said: said.type == "error" and "CSP" in said.text.upper() and faults.append(said.text)
        )
        log_on(page, name)
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
