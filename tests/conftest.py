"""For every test: no thread, socket or terminal may outlive it, and what is left out is said or forbidden."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

#: Set by the continuous integration: there a test that is left out is a failure.
REQUIRE_ALL = "DEALERD_REQUIRE_ALL"
#: The only things whose absence excuses a test even there.
EXCUSED = ("shared material is absent", "no real hardware", "no IPv6 on this machine", "no network namespaces")
#: Set to run property tests on fresh random inputs instead of the same ones each time.
EXPLORE = "DEALERD_EXPLORE"

_common: dict[str, Any] = {
    "deadline": None,
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
}
settings.register_profile("repeatable", derandomize=True, database=None, **_common)
settings.register_profile("explore", max_examples=1000, **_common)
settings.load_profile("explore" if os.environ.get(EXPLORE) else "repeatable")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared material beside the project; tests that need it skip where it is absent."""
    found = Path(os.environ.get("DEALERD_SHARED", Path(__file__).parents[2] / "shared"))
    if not (found / "design.md").exists():
        pytest.skip(f"shared material is absent ({found})")
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:  # noqa: ARG001
    report = yield
    if report.skipped and os.environ.get(REQUIRE_ALL) and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not any(text in reason for text in EXCUSED):
            report.outcome = "failed"
            report.longrepr = f"left out, but {REQUIRE_ALL} is set: {reason}"
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One worker runs all tests of the screens: they share a browser and the tables that play before it."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "tests/console" if nodeid.startswith("tests/console/") else nodeid

    return Together(config, log)


def pytest_collection_finish() -> None:
    """What was imported and collected stays: no search for garbage after a test goes through it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _nothing_leaks() -> Iterator[None]:
    threads = set(threading.enumerate())
    opened = _descriptors()
    yield
    deadline = time.monotonic() + 2
    while True:
        left = [t.name for t in threading.enumerate() if t not in threads and t.is_alive()]
        gc.collect()
        leaked = _descriptors() - opened
        if not left and not leaked:
            return
        if time.monotonic() > deadline:
            pytest.fail(f"the test left behind: threads {left}, descriptors {sorted(leaked)}")
        time.sleep(0.01)  # a thread that was told to end needs a moment


def _descriptors() -> set[str]:
    """Open sockets, terminals and pipes of this process."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        if target.startswith(("socket:", "/dev/pts/", "/dev/ptmx", "pipe:", "anon_inode:[event")):
            found.add(f"{name}={target}")
    return found
