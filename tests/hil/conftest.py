"""``pytest tests/hil --rig RIG.toml``: the same tests on a real device, or on simulated ones without ``--rig``.

The first failure of the rig itself is sticky: what comes after it fails at once, with that first reason.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent
SIMULATED = sorted((HERE / "rigs").glob("simulated-*.toml"))


def _load(name: str) -> ModuleType:
    """A module of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(f"hil_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


rigs = _load("rig")
eyes = _load("eye")
reports = _load("report")

_FINDINGS = pytest.StashKey[dict[str, Any]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rig", "hardware in the loop")
    group.addoption("--rig", metavar="FILE", type=Path, help="the rig's TOML file; simulated devices if left out")
    group.addoption("--rig-report", metavar="FILE", type=Path, help="the report (default: build/RIG.html with --rig)")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """One device has one driver: with a rig the tests run one after the other, in this process."""
    if config.getoption("--rig", None) is not None:
        config.option.numprocesses = 0
        config.option.dist = "no"
        config.option.tx = []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "rig" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--rig", None)
        files = [chosen] if chosen is not None else SIMULATED
        if chosen is None and "camera" in metafunc.fixturenames:
            files = [path for path in SIMULATED if rigs.load(path).camera is not None]
        metafunc.parametrize("rig", files, ids=[path.stem for path in files], indirect=True)


def _findings(config: pytest.Config) -> dict[str, Any]:
    return config.stash.setdefault(_FINDINGS, {})


@pytest.fixture(name="rigs")
def _rigs() -> ModuleType:
    """The module ``rig.py``."""
    return rigs


@pytest.fixture(name="reports")
def _reports() -> ModuleType:
    """The module ``report.py``."""
    return reports


@pytest.fixture
def rig(request: pytest.FixtureRequest) -> Any:
    """The rig of this test."""
    return rigs.load(request.param)


@pytest.fixture
def findings(request: pytest.FixtureRequest, rig: Any) -> Any:
    """What was measured on this rig so far. Fails at once if the rig failed before."""
    found = _findings(request.config).setdefault(rig.name, rigs.Findings(rig))
    if found.fault is not None:
        pytest.fail(f"the rig failed before: {found.fault}", pytrace=False)
    return found


@pytest.fixture
def say(request: pytest.FixtureRequest, rig: Any) -> Any:
    """Tells the person at the rig what to do."""
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def said(text: str) -> None:
        with capture.global_and_fixture_disabled():
            print(f"\n>>> {rig.name}: {text}", file=sys.stderr, flush=True)

    return said


@pytest.fixture
def bench(rig: Any, findings: Any, tmp_path: Path, say: Any) -> Iterator[Any]:
    """The rig, set up and heard."""
    try:
        with rigs.bench(rig, tmp_path, say) as made:
            yield made
    except rigs.RigFault as fault:
        findings.fault = str(fault)
        pytest.fail(f"the rig failed: {fault}", pytrace=False)


@pytest.fixture
def camera(rig: Any, findings: Any, tmp_path: Path, say: Any) -> Iterator[Any]:
    """The rig's camera, connected and looked through."""
    if rig.camera is None:
        pytest.skip("no real hardware: this rig has no [camera]")
    try:
        with eyes.camera_bench(rig, tmp_path, say) as made:
            yield made
    except eyes.CameraFault as fault:
        findings.fault = str(fault)
        pytest.fail(f"the rig failed: {fault}", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Keep each outcome for the report, and a fault of the rig for all that comes after it."""
    report = yield
    found = getattr(item, "funcargs", {}).get("findings")
    if found is None:
        return report
    if (
        call.excinfo is not None
        and isinstance(call.excinfo.value, rigs.RigFault | eyes.CameraFault)
        and found.fault is None
    ):
        found.fault = str(call.excinfo.value)
    if report.when == "call" or report.outcome != "passed":
        reason = "" if call.excinfo is None else str(call.excinfo.value).split("\n")[0][:300]
        found.results.append((item.name, report.outcome, reason))
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the reports."""
    config = session.config
    wanted = config.getoption("--rig-report", None)
    if wanted is None and config.getoption("--rig", None) is None:
        return
    for name, found in _findings(config).items():
        path = wanted or config.rootpath / "build" / f"{name.replace(' ', '-').replace('/', '-')}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        made_at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        path.write_text(reports.page(found, made_at=made_at, program=f"dealerd {version('dealerd')}"))
        print(f"\nreport: {path}", file=sys.stderr)
