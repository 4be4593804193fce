"""The record of self-tests, and which settings it permits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from drivers.errors import SettingsError
from drivers.registry import open_shoe
from drivers.self_test import (
    VERSION,
    Check,
    LockProof,
    SelfTest,
    SelfTests,
    check_settings,
    load_tests,
    port_name,
    write_tests,
)
from drivers.settings import ShoeSettings

PORT = "/dev/serial/by-id/usb-one"
PROOF = LockProof(with_stx="nak 02", without_stx="ack", bcc="without_stx", held=True, opened=True)


def a_test(*, passed: bool = True, lock: LockProof | None = PROOF, at: str = "2026-01-01T00:00:00Z") -> SelfTest:
    checks = (Check("count", passed, "416 of 416"),)
    return SelfTest(
        at=at,
        program="dealerd",
        by="anna",
        cards="red",
        passed=passed,
        checks=checks,
        figures={"cards": 416},
        lock=lock,
    )


def record(folder: Path, *tests: SelfTest, **changes: Any) -> str:
    path = folder / "record.json"
    made = SelfTests(version=VERSION, device="0123", protocol="angel", port=PORT, tests=tests)
    write_tests(path, msgspec.structs.replace(made, **changes))
    return str(path)


def settings(path: str | None, **changes: Any) -> ShoeSettings:
    return ShoeSettings(**{"protocol": "angel", "port": PORT, "self_test": path, **changes})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = Path(record(tmp_path, a_test()))
    assert load_tests(path).tests == (a_test(),)
    assert [each.name for each in tmp_path.iterdir()] == ["record.json"]


def test_the_lock_is_off_without_a_proof() -> None:
    assert settings(None).lock == "off"
    assert check_settings(settings(None)) is None
    with pytest.raises(SettingsError, match=r'lock = "on" needs self_test.*calibrate shoe'):
        open_shoe(settings(None, lock="on"))


def test_a_proof_permits_the_lock_with_its_reading_alone(tmp_path: Path) -> None:
    path = record(tmp_path, a_test())
    assert open_shoe(settings(path, lock="on", bcc="without_stx")).state.value == "starting"
    with pytest.raises(SettingsError, match='set bcc = "without_stx"'):
        open_shoe(settings(path, lock="on"))
    assert check_settings(settings(path)) == a_test(), "unlocked, the reading does not matter"


@pytest.mark.parametrize(
    "lock",
    [
        None,
        LockProof(with_stx="silent", without_stx="silent"),
        LockProof(with_stx="ack", without_stx="ack", bcc="with_stx", held=False, opened=True),
        LockProof(with_stx="ack", without_stx="ack", bcc="with_stx", held=True, opened=False),
    ],
    ids=["not tried", "silent", "a card came out", "not unlocked"],
)
def test_half_a_proof_is_none(tmp_path: Path, lock: LockProof | None) -> None:
    path = record(tmp_path, a_test(lock=lock))
    with pytest.raises(SettingsError, match="not proven"):
        open_shoe(settings(path, lock="on"))
    assert check_settings(settings(path)) is not None


def test_the_newest_test_counts(tmp_path: Path) -> None:
    path = record(tmp_path, a_test(), a_test(passed=False, at="2026-02-02T00:00:00Z"))
    with pytest.raises(SettingsError, match=r"test of 2026-02-02T00:00:00Z .* failed \(count\)"):
        check_settings(settings(path))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"protocol": "line"}, "protocol 'line'"),
        ({"port": "/dev/serial/by-id/usb-two"}, "'0123' at /dev/serial/by-id/usb-two, not of the one at"),
        ({"tests": ()}, "holds no test"),
        ({"version": 2}, "version 2"),
    ],
    ids=["protocol", "port", "empty", "version"],
)
def test_a_record_of_something_else_is_refused(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    path = record(tmp_path, a_test(), **changes)
    with pytest.raises(SettingsError, match=says):
        check_settings(settings(path))


@pytest.mark.parametrize("text", ["", "{}", "[]", "not JSON", "\xff", '{"version": 1, "device": 3}', "nothing"])
def test_no_record_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "record.json"
    if text != "nothing":
        path.write_text(text, "latin-1")
    with pytest.raises(SettingsError, match=r"self_test: .*record\.json"):
        check_settings(settings(str(path)))


def test_an_unknown_key_is_refused(tmp_path: Path) -> None:
    path = Path(record(tmp_path, a_test()))
    path.write_text(json.dumps({**json.loads(path.read_text()), "lock": "on"}))
    with pytest.raises(SettingsError, match="lock"):
        load_tests(path)


def test_a_port_is_named_absolutely(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert port_name("shoe") == str(tmp_path / "shoe")
    assert port_name("socket://h:1") == "socket://h:1"
