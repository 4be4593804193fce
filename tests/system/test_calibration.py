"""The calibration over the commands' socket of a real table: versions, their record, a restart between."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.bus import keys
from controller.bus.errors import CommandRefused
from controller.contact import secret_of
from controller.facts import CalibrationSaved, decode_fact
from controller.journal.reader import open_read_only
from vision.layout import load

pytestmark = pytest.mark.system
#: The first question starts a process that loads the camera's library.
WAIT_S = 30
ID = "put-calibration-1"
CAMERA = {"source": "http://127.0.0.1:1/mjpeg", "layout": "studio-boundless"}


def facts(table: Any) -> list[CalibrationSaved]:
    with open_read_only(str(table.folder / "t.journal")) as journal:
        found = [decode_fact(row.body) for row in journal.facts(types={"calibration_saved"})]
    return [fact for fact in found if isinstance(fact, CalibrationSaved)]


def test_a_technician_saves_a_version_and_the_table_records_who(rig: Callable[..., Any]) -> None:
    table = rig(camera=CAMERA)
    keys.make_person(table.folder / "keys", "technician", "tess")
    table.run_again()
    people = {role: table.client(role) for role in ("supervisor", "dealer")}
    contact = table.contact("supervisor")
    tess = secret_of(table.folder / "keys", "technician", "tess")
    with dataclasses.replace(contact, key_file=tess).client() as people["technician"]:
        _save_and_save_again(people)
    (fact,) = facts(table)
    assert (fact.by, fact.reason, fact.version) == ("technician:tess", "the camera was moved", 2)
    assert Path(fact.file).parent == table.folder / "t.calibration"
    table.run_again()
    told = table.client("supervisor").command("calibration_get", {"version": 2}, timeout_s=WAIT_S).data
    assert told["document"]["positions"]["player/0"][0] == [83, 238]
    assert (told["versions"][1]["saved_by"], told["versions"][1]["sha256"]) == (fact.by, fact.sha256)
    done = subprocess.run(
        [sys.executable, "-m", "controller.cli", "ctl", "--as", "technician/tess", str(table.file),
         "calibration_put", "--seen-version", "2", "--reason", "by hand", "--document", f"@{_changed(table, told)}"],
        capture_output=True, check=True, timeout=60,
    )  # fmt: skip
    assert json.loads(done.stdout)["data"]["version"] == 3
    assert table.stop() == 0


def _save_and_save_again(people: dict[str, Any]) -> None:
    """One version, asked for twice under one id; everything else is refused."""
    found = people["supervisor"].command("calibration_get", timeout_s=WAIT_S).data
    document = found["document"]
    document["positions"]["player/0"] = [[x + 1, y] for x, y in document["positions"]["player/0"]]
    args = {"document": document, "seen_version": 1, "reason": "the camera was moved"}
    for role in ("supervisor", "dealer"):
        with pytest.raises(CommandRefused, match="may not send"):
            people[role].command("calibration_put", args, timeout_s=WAIT_S)
    made = people["technician"].command("calibration_put", args, id=ID, timeout_s=WAIT_S)
    assert made.data["version"] == 2
    assert load(made.data["file"]).positions["player/0"][0] == (83.0, 238.0)
    again = people["technician"].command("calibration_put", args, id=ID, timeout_s=WAIT_S)
    assert (again.seq, again.data) == (made.seq, made.data)
    with pytest.raises(CommandRefused, match="other content"):
        people["technician"].command("calibration_put", args | {"seen_version": 2}, id=ID, timeout_s=WAIT_S)
    with pytest.raises(CommandRefused, match="look again"):
        people["technician"].command(
            "calibration_put", args | {"document": document | {"white": [1.1, 1, 1]}}, timeout_s=WAIT_S
        )


def _changed(table: Any, told: Any) -> Path:
    told["document"]["positions"]["player/1"] = [[x, y + 2] for x, y in told["document"]["positions"]["player/1"]]
    path: Path = table.folder / "changed.json"
    path.write_text(json.dumps(told["document"]))
    return path


def test_a_table_without_a_camera_has_no_calibration(rig: Callable[..., Any]) -> None:
    table = rig()
    with pytest.raises(CommandRefused, match=r"no \[camera\]") as refused:
        table.client("supervisor").command("calibration_get", timeout_s=WAIT_S)
    assert refused.value.code == "not_found"
