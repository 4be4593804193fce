"""The rig tests themselves: sticky faults, the report, rig files, and two adapters back to back."""

from __future__ import annotations

import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(300)

HERE = Path(__file__).parent


def run_rig(rig: Path, report: Path, *options: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "pytest", str(HERE / "test_shoe.py"), "-q", "-p", "no:cacheprovider"]
    words += ["--rig", str(rig), "--rig-report", str(report), *options]
    return subprocess.run(words, capture_output=True, text=True, timeout=280, check=False, cwd=HERE.parents[1])


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)
        assert not any(name in ("src", "href") for name, _ in attrs), "the report needs nothing else"
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_rig_run_makes_a_report_with_plots(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    done = run_rig(HERE / "rigs" / "simulated-angel.toml", report)
    assert done.returncode == 0, done.stdout + done.stderr
    text = report.read_text()
    tags = Tags(text)
    assert tags.open == []
    assert tags.seen.count("svg") == 2
    assert "test_every_card_is_heard_once_and_right" in text
    assert "cards told" in text


def test_the_first_fault_of_a_rig_is_sticky(tmp_path: Path) -> None:
    rig = tmp_path / "absent.toml"
    rig.write_text(
        f'name = "absent"\n[shoe]\nprotocol = "line"\nport = "{tmp_path / "nothing"}"\n[plan]\npatience_s = 0.5\n'
    )
    report = tmp_path / "report.html"
    done = run_rig(rig, report)
    assert done.returncode == 1
    assert done.stdout.count("the rig failed: not within 0.5 s") >= 1
    assert done.stdout.count("the rig failed before: not within 0.5 s") >= 4
    text = report.read_text()
    assert "The rig failed: not within 0.5 s" in text
    assert "there is no" in text, "and the reason of the line"


def test_every_example_is_a_rig_file_and_a_wrong_key_is_named(rigs: Any, tmp_path: Path) -> None:
    examples = sorted((HERE / "rigs").glob("*.toml"))
    assert len(examples) >= 6
    for path in examples:
        assert rigs.load(path).name
    (tmp_path / "wrong.toml").write_text('name = "x"\n[shoe]\nprotocol = "line"\nport = "p"\n[plan]\nkards = 3\n')
    with pytest.raises(rigs.RigFault, match="kards"):
        rigs.load(tmp_path / "wrong.toml")


def test_the_report_tells_of_the_camera_where_there_was_one(rigs: Any, reports: Any) -> None:
    found = rigs.Findings(rigs.load(HERE / "rigs" / "simulated-line.toml"))
    assert "picture" not in reports.page(found, made_at="now", program="dealerd")
    found.frame_ms, found.miscalled = [40.0, 41.0, 80.0], ["KD at player/0"]
    text = reports.page(found, made_at="now", program="dealerd")
    assert "3 values: median 41 ms" in text
    assert "the camera named wrongly: KD at player/0" in text
    assert Tags(text).seen.count("svg") == 1


def test_a_rig_file_with_a_wrong_camera_is_refused(rigs: Any, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(
        'name = "x"\n[shoe]\nprotocol = "line"\nport = "p"\n[camera]\nsource = "ftp://x/y"\nlayout = "l.toml"\n'
    )
    with pytest.raises(rigs.RigFault, match=r"\[camera\]: source 'ftp://x/y'"):
        rigs.load(wrong)


def test_a_misread_card_is_named(rigs: Any) -> None:
    from drivers.events import CardDrawn

    events = [CardDrawn("8S"), CardDrawn("**"), CardDrawn("AH")]
    assert rigs.misread(events, ["8S", "9S", "AD"]) == ["3: AH for AD"]


def test_two_adapters_back_to_back(tmp_path: Path) -> None:
    """Two terminals that ``socat`` joins stand for the adapters and their cable."""
    socat = shutil.which("socat")
    if socat is None:
        pytest.skip("socat is not installed (Debian: apt-get install socat)")
    here, there = tmp_path / "here", tmp_path / "there"
    rig = tmp_path / "rig.toml"
    rig.write_text(
        f'name = "back to back"\n[shoe]\nprotocol = "line"\nport = "{here}"\nrepeat_window_s = 0.0\n'
        f'[plan]\ncan_unplug = false\n[simulate]\nport = "{there}"\n'
    )
    cable = subprocess.Popen([socat, f"PTY,link={here},raw,echo=0", f"PTY,link={there},raw,echo=0"])
    try:
        report = tmp_path / "report.html"
        done = run_rig(rig, report)
        assert "5 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
        assert "<th>cards told</th><td>25</td>" in report.read_text()
    finally:
        cable.terminate()
        cable.wait()
