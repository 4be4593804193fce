"""A table whose shoe has a tag reader: what it remembers of tags over a restart."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.journal.show import rows
from controller.simulation.control import ShoeControl

pytestmark = pytest.mark.system


@pytest.fixture
def shoe(tmp_path: Path) -> Iterator[ShoeControl]:
    """A simulated FEIG reader at ``tmp_path/reader``, its registry beside it."""
    words = ["--protocol", "feig", "--link", str(tmp_path / "reader"), "--control", str(tmp_path / "ctl")]
    words += ["--write-tags", str(tmp_path / "tags.toml"), "--speed", "0", "--seed", "7"]
    process = subprocess.Popen(
        [sys.executable, "-c", "from controller.cli.shoe import main; main()", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    control = ShoeControl(tmp_path / "ctl")
    yield control
    control.close()
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(20) == 0


def test_a_tag_seen_before_a_restart_is_no_new_card_after_it(
    rig: Callable[..., Any], shoe: ShoeControl, tmp_path: Path
) -> None:
    tags = [str(tmp_path / "tags.toml")]
    reader = {"protocol": "feig", "port": str(tmp_path / "reader"), "repeat_window_s": 0.3, "tags": tags}
    table = rig(game={"burn": "none"}, shoe=reader)
    table.to_burn()
    table.step("open_bets")
    table.order("open_bets")
    table.order("close_bets")
    table.step("draw player/0")
    shoe.ask("draw")
    table.step("draw dealer/0")

    table.kill()
    table.run_again()
    table.order("resume", reason="looked at the felt", how="felt_agrees")
    table.step("draw dealer/0")
    shoe.ask("rescan_last")
    reported = table.folder / "t.journal"
    table.until(lambda: list(rows(reported, types=["device_reported"])), "the tag to be told")
    assert table.status()["holds"] == {}
    shoe.ask("draw")
    table.step("draw player/1")
    assert [place for place, _ in table.dealt()] == ["player/0", "dealer/0"]
    assert "E0040" not in table.log
    assert len(list(rows(reported, types=["tags_left"]))) == 2
