"""Every finding of `dealerd doctor` on a machine where just that is wrong, and a table where all is well."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sqlite3
import tty
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.bus import keys
from controller.cli import main
from controller.config import Loaded, load
from controller.doctor import camera, contacts, device, machine, record
from controller.doctor.examine import examine
from controller.doctor.findings import Finding, text
from controller.doctor.place import Place, kernel_clock
from controller.facts import TableStarted, encode_fact
from controller.journal.records import FactRow
from controller.journal.store import Journal

PEOPLE = {"supervisor": ("anna", "ben"), "dealer": ("dana",), "game_server": ("platform",)}


@pytest.fixture
def port(tmp_path: Path) -> Iterator[Path]:
    """A pseudo-terminal behind a link."""
    master, slave = os.openpty()
    tty.setraw(slave)
    link = tmp_path / "shoe"
    link.symlink_to(os.ttyname(slave))
    yield link
    os.close(master)
    os.close(slave)


@pytest.fixture
def table(tmp_path: Path, port: Path) -> Loaded:
    """A table that is fit for its shift."""
    keys.make_server(tmp_path / "keys")
    for role, names in PEOPLE.items():
        for name in names:
            keys.make_person(tmp_path / "keys", role, name)
    file = tmp_path / "table.toml"
    file.write_text(
        '[table]\nid = "t-1"\njournal = "t.journal"\nfeed = "ipc://f.sock"\ncommands = "ipc://c.sock"\n'
        f'[game]\ngame = "boundless"\n[shoe]\nprotocol = "line"\nport = "{port}"\n'
        '[metrics]\nlisten = "127.0.0.1:0"\n'
    )
    return load(file)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A small machine: proc and sys as folders."""
    proc, sys_ = tmp_path / "proc", tmp_path / "sys"
    (proc / "self").mkdir(parents=True)
    (proc / "self/mounts").write_text(f"/dev/sda1 / ext4 rw 0 0\n/dev/sdb1 {tmp_path} xfs rw 0 0\n")
    (proc / "meminfo").write_text("MemTotal: 4000000 kB\nMemAvailable:    3000000 kB\n")
    (proc / "1").mkdir()
    (proc / "1/comm").write_text("systemd\n")
    sys_.mkdir()
    return Place(proc, sys_)


def found(findings: list[Finding], check: str) -> Finding:
    (one,) = [finding for finding in findings if finding.check == check]
    return one


def wrong(findings: list[Finding]) -> dict[str, str]:
    return {one.check: one.level for one in findings if one.level not in ("ok", "note")}


def rewrite(table: Loaded, old: str, new: str) -> Loaded:
    table.path.write_text(table.path.read_text().replace(old, new))
    return load(table.path)


# --- all is well --------------------------------------------------------------------------------------------------


def test_a_good_table_has_nothing_wrong(table: Loaded, place: Place) -> None:
    findings = [one for one in examine(table, place) if one.check not in ("clock", "disk space", "commit time")]
    assert wrong(findings) == {}
    checks = {one.check for one in findings}
    assert checks >= {
        "journal",
        "file system",
        "SQLite",
        "keys",
        "feed address",
        "commands address",
        "shoe",
        "memory",
    }


def test_looking_changes_nothing(table: Loaded, place: Place) -> None:
    before = sorted(str(path) for path in table.path.parent.rglob("*"))
    examine(table, place)
    assert sorted(str(path) for path in table.path.parent.rglob("*")) == before


def test_every_finding_that_is_not_good_says_why_and_what_to_do(table: Loaded, place: Place) -> None:
    (place.proc / "1/comm").write_text("ModemManager\n")
    (place.proc / "meminfo").write_text("MemAvailable: 1000 kB\n")
    bad = rewrite(rewrite(table, '"t.journal"', '"nowhere/t.journal"'), '/shoe"', '/no-shoe"')
    for one in [*examine(bad, place), *contacts.people(rewrite(table, "[table]", '[table]\nkeys = "no-keys"'))]:
        assert one.found
        assert (one.level == "ok") == (not one.why) == (not one.do), one


# --- record -------------------------------------------------------------------------------------------------------


def start(table: Loaded, digest: str) -> None:
    with Journal.create_or_open(table.journal, table="t-1", now_ms=0) as journal:
        fact = TableStarted(epoch=1, program="test", config_digest=digest, config="{}")
        journal.append([FactRow(1, 1, 0, "table_started", None, None, encode_fact(fact))], [])


def test_a_journal_is_described(table: Loaded) -> None:
    assert found(record.journal(table, None), "journal").level == "note"
    start(table, table.digest)
    findings = record.journal(table, None)
    assert found(findings, "journal").found.startswith(f"{table.journal}: 1 facts, format 1, ")
    assert found(findings, "configuration").found == f"digest {table.digest[:12]}…, as at the last start"


def test_a_changed_configuration_is_told(table: Loaded) -> None:
    start(table, "0" * 64)
    one = found(record.journal(table, None), "configuration")
    assert one.level == "note"
    assert f"{table.digest[:12]}…, the last start had 000000000000…" in one.found


def test_a_journal_others_may_read_fails(table: Loaded) -> None:
    start(table, table.digest)
    table.journal.chmod(0o644)
    one = found(record.journal(table, None), "journal")
    assert one.level == "failure"
    assert "chmod 600" in one.found
    assert one.do.startswith(f"chmod 600 {table.journal}")


def test_what_is_no_journal_fails(table: Loaded) -> None:
    table.journal.write_text("x" * 5000)
    table.journal.chmod(0o600)
    one = found(record.journal(table, None), "journal")
    assert one.level == "failure"
    assert "restore a backup: dealerd journal restore" in one.do


def test_a_journal_of_another_format_fails(table: Loaded) -> None:
    start(table, table.digest)
    with contextlib.closing(sqlite3.connect(table.journal)) as raw, raw:
        raw.execute("UPDATE meta SET value = 99 WHERE key = 'schema'")
    one = found(record.journal(table, None), "journal")
    assert one.level == "failure"
    assert "its format is 99" in one.found
    assert f"dealerd journal upgrade {table.journal}" in one.do


def test_a_journal_of_another_table_fails(table: Loaded) -> None:
    start(table, table.digest)
    other = rewrite(table, 'id = "t-1"', 'id = "t-2"')
    one = found(record.journal(other, None), "journal")
    assert (one.level, one.found) == ("failure", f"{table.journal} belongs to table t-1, not t-2")


@pytest.mark.parametrize("end", ["", "-lock"])
def test_a_file_of_another_user_fails(table: Loaded, monkeypatch: pytest.MonkeyPatch, end: str) -> None:
    start(table, table.digest)
    locked, allowed = f"{table.journal}{end}", os.access  # whoever runs the tests may be allowed everything
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != locked and allowed(path, mode))
    one = found(record.journal(table, None), "journal")
    assert (one.level, one.found) == ("failure", f"{locked} cannot be read and written by this user")
    assert f"ls -ld {locked}" in one.do


def test_an_old_sqlite_fails_once(table: Loaded, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    start(table, table.digest)
    monkeypatch.setattr("controller.journal.database.MIN_SQLITE", (99, 0, 0))
    findings = [*record.journal(table, None), *record.disk(table, place)]
    assert [one.check for one in findings if one.level == "failure"] == ["SQLite"]
    assert "99.0.0 is needed" in found(findings, "SQLite").found


def test_a_folder_in_place_of_a_journal_fails(table: Loaded) -> None:
    one = found(record.journal(rewrite(table, '"t.journal"', '"keys"'), None), "journal")
    assert (one.level, one.do) == ("failure", "name a file in [table] journal")


def test_a_folder_that_is_missing_fails(table: Loaded) -> None:
    bad = rewrite(table, '"t.journal"', '"nowhere/t.journal"')
    one = found(record.journal(bad, None), "journal")
    assert (one.level, one.found) == ("failure", f"there is no folder {table.path.parent}/nowhere")
    assert record.disk(bad, Place()) == []


def test_a_running_table_is_noticed(table: Loaded) -> None:
    assert record.running(table) is None
    with Journal.create_or_open(table.journal, table="t-1", now_ms=0):
        assert record.running(table) == os.getpid()
    assert record.running(table) is None


@pytest.mark.parametrize(("kind", "level"), [("nfs4", "failure"), ("tmpfs", "failure"), ("ext4", "ok")])
def test_the_kind_of_file_system_counts(table: Loaded, place: Place, kind: str, level: str) -> None:
    mounts = place.proc / "self/mounts"
    mounts.write_text(mounts.read_text().replace("xfs", kind))
    one = found(record.disk(table, place), "file system")
    assert one.level == level
    assert kind in one.found


@pytest.mark.parametrize(
    ("mib", "level"),
    [(record.FREE_FAILURE_MIB - 1, "failure"), (record.FREE_WARNING_MIB - 1, "warning"), (50_000, "ok")],
)
def test_free_space_counts(
    table: Loaded, place: Place, monkeypatch: pytest.MonkeyPatch, mib: int, level: str
) -> None:
    real = os.statvfs(table.path.parent)
    numbers = list(real[:10])
    numbers[0] = numbers[1] = 4096
    numbers[4] = mib * record.MIB // 4096
    monkeypatch.setattr(record.os, "statvfs", lambda _path: os.statvfs_result(numbers))
    assert found(record.disk(table, place), "disk space").level == level


@pytest.mark.parametrize(("ms", "level"), [(1.0, "ok"), (30.0, "warning"), (300.0, "failure")])
def test_the_time_of_a_commit_counts(
    table: Loaded, place: Place, monkeypatch: pytest.MonkeyPatch, ms: float, level: str
) -> None:
    monkeypatch.setattr(record, "_commit", lambda _trial, _n: ms)
    one = found(record.disk(table, place), "commit time")
    assert (one.level, one.found) == (
        level,
        f"{ms:.1f} ms in the middle, {ms:.1f} ms at worst, of 25 durable commits",
    )


# --- contacts -----------------------------------------------------------------------------------------------------


def test_missing_people_are_named(table: Loaded) -> None:
    assert wrong(contacts.people(table)) == {}
    for role, expected in (
        ("supervisor", {"supervisors": "failure"}),
        ("dealer", {"supervisors": "failure", "dealer key": "warning"}),
        ("game_server", {"supervisors": "failure", "dealer key": "warning", "game server key": "failure"}),
    ):
        for file in (table.keys / role).iterdir():
            file.unlink()
        assert wrong(contacts.people(table)) == expected
    assert found(contacts.people(table), "supervisors").do == f"dealerd keys person {table.keys} supervisor NAME"


def test_one_supervisor_cannot_approve_alone(table: Loaded) -> None:
    for file in (table.keys / "supervisor").glob("ben*"):
        file.unlink()
    assert wrong(contacts.people(table)) == {"supervisors": "warning"}


def test_a_secret_others_may_read_fails(table: Loaded) -> None:
    (table.keys / "server.key_secret").chmod(0o644)
    one = found(contacts.people(table), "keys")
    assert one.level == "failure"
    assert "chmod 600" in one.found


def test_addresses_are_free_before_the_start_and_answered_after_it(table: Loaded) -> None:
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as ipc:
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        ipc.bind(str(table.path.parent / "f.sock"))
        ipc.listen()
        number = tcp.getsockname()[1]
        taken = rewrite(table, "127.0.0.1:0", f"127.0.0.1:{number}")
        expected = {"feed address": "failure", "metrics address": "failure"}
        assert wrong(contacts.endpoints(taken, None)) == expected
        assert "another program listens" in found(contacts.endpoints(taken, None), "feed address").found
        assert wrong(contacts.endpoints(taken, 1)) == {"commands address": "failure"}
    assert wrong(contacts.endpoints(taken, None)) == {}


@pytest.mark.parametrize(
    ("feed", "words"),
    [
        ("tcp://192.0.2.1:5701", "Cannot assign requested address"),
        ("ipc://nowhere/f.sock", "there is no folder"),
    ],
)
def test_an_address_that_is_not_this_machines_fails(table: Loaded, feed: str, words: str) -> None:
    one = found(contacts.endpoints(rewrite(table, "ipc://f.sock", feed), None), "feed address")
    assert one.level == "failure"
    assert words in one.found


@pytest.mark.parametrize("feed", ["tcp://lo:5799", "tcp://*:5799", "tcp://127.0.0.1:5799"])
def test_names_and_numbers_of_this_machine_are_good(
    table: Loaded, monkeypatch: pytest.MonkeyPatch, feed: str
) -> None:
    monkeypatch.setattr(contacts, "listens", lambda _: False)  # whatever runs on this machine
    assert wrong(contacts.endpoints(rewrite(table, "ipc://f.sock", feed), None)) == {}


# --- device -------------------------------------------------------------------------------------------------------


def test_a_port_is_opened_with_its_settings(table: Loaded, place: Place) -> None:
    assert found(device.shoe(table, place, None), "shoe").found.endswith("opens at 9600 8N1")


def test_a_missing_port_fails(table: Loaded, place: Place) -> None:
    one = found(device.shoe(rewrite(table, "/shoe", "/nothing"), place, None), "shoe")
    assert one.level == "failure"
    assert "plug the device in" in one.found


def test_a_port_in_use_fails_unless_the_table_has_it(table: Loaded, place: Place, port: Path) -> None:
    import fcntl

    descriptor = os.open(port, os.O_RDWR | os.O_NOCTTY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        one = found(device.shoe(table, place, None), "shoe")
        assert one.level == "failure"
        assert "fuser" in one.found
        assert found(device.shoe(table, place, 1), "shoe").level == "ok"
    finally:
        os.close(descriptor)


def test_a_device_server_that_is_away_fails(table: Loaded, place: Place) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: refused at once
        number = taken.getsockname()[1]
        away = rewrite(table, f'port = "{table.path.parent}/shoe"', f'port = "socket://127.0.0.1:{number}"')
        one = found(device.shoe(away, place, None), "shoe")
    assert one.level == "failure"
    assert "no connection to" in one.found


def test_a_name_by_order_is_warned_of(table: Loaded, place: Place) -> None:
    findings = device.shoe(rewrite(table, f"{table.path.parent}/shoe", "/dev/ttyUSB77"), place, None)
    assert wrong(findings) == {"shoe": "failure", "port name": "warning"}


@pytest.fixture
def adapter(place: Place) -> Path:
    """An FTDI adapter in socket 4 of a hub, as the kernel shows it."""
    usb = place.sys / "devices/pci0000:00/usb1/1-1/1-1.4"
    node = usb / "1-1.4:1.0/ttyUSB0"
    (node / "tty/ttyUSB0").mkdir(parents=True)
    for name, value in (("idVendor", "0403"), ("idProduct", "6001"), ("manufacturer", "FTDI"), ("product", "FT232R")):
        (usb / name).write_text(value + "\n")
    (usb / "power").mkdir()
    (usb / "power/control").write_text("auto\n")
    (node / "latency_timer").write_text("16\n")
    (node / "tty/ttyUSB0/device").symlink_to(node)
    (place.sys / "class/tty").mkdir(parents=True)
    (place.sys / "class/tty/ttyUSB0").symlink_to(node / "tty/ttyUSB0")
    return node


def test_the_way_through_usb_is_told(place: Place, adapter: Path) -> None:
    findings = device.usb("ttyUSB0", place)
    assert found(findings, "USB").found == "FTDI FT232R (0403:6001) in socket 1-1.4, behind the hub in 1-1"
    assert found(findings, "USB latency").found == "the adapter holds bytes back for up to 16 ms"
    assert found(findings, "USB power").level == "note"
    (adapter / "latency_timer").write_text("1\n")
    (adapter.parents[1] / "power/control").write_text("on\n")
    assert [one.check for one in device.usb("ttyUSB0", place)] == ["USB"]
    assert device.usb("ttyS0", place) == []


# --- camera -------------------------------------------------------------------------------------------------------


def with_camera(table: Loaded, source: str, layout: str = "studio-baccarat") -> Loaded:
    text = f'[camera]\nsource = "{source}"\nlayout = "{layout}"\nhttp = "127.0.0.1:0"\n'
    table.path.write_text(table.path.read_text() + text)
    return load(table.path)


def test_a_table_without_a_camera_says_nothing_of_one(table: Loaded) -> None:
    assert camera.camera(table) == []


def test_a_table_that_needs_a_camera_and_has_none_fails(table: Loaded) -> None:
    both = rewrite(table, "[metrics]", '[validation]\nsources = "both"\n[metrics]')
    assert wrong(camera.camera(both)) == {"camera": "failure"}


def test_a_camera_that_is_away_fails_and_so_does_its_key(table: Loaded) -> None:
    findings = camera.camera(with_camera(table, "/dev/video99"))
    assert wrong(findings) == {"camera key": "failure", "camera": "failure"}
    assert "dealerd keys person" in found(findings, "camera key").do
    keys.make_person(table.keys, "camera", "camera")
    assert wrong(camera.camera(load(table.path))) == {"camera": "failure"}


def test_a_calibration_that_is_missing_fails(table: Loaded) -> None:
    keys.make_person(table.keys, "camera", "camera")
    findings = camera.camera(with_camera(table, "/dev/video99", "no.layout.toml"))
    assert wrong(findings) == {"calibration": "failure"}


def test_a_picture_is_held_against_the_calibration(table: Loaded) -> None:
    import cv2
    import numpy as np

    keys.make_person(table.keys, "camera", "camera")
    folder = table.path.parent / "pictures"
    folder.mkdir()
    cv2.imwrite(str(folder / "1.png"), np.zeros((720, 1280, 3), np.uint8))
    one = found(camera.camera(with_camera(table, f"{folder}/")), "camera")
    assert one.level == "warning"
    assert "too dark" in one.found


# --- machine ------------------------------------------------------------------------------------------------------


def test_the_kernel_tells_of_its_clock() -> None:
    kept, error_s = kernel_clock()
    assert isinstance(kept, bool)
    assert 0 <= error_s < 3600


@pytest.mark.parametrize(
    ("answer", "level", "words"),
    [((True, 0.004), "ok", "4 ms"), ((True, 3.0), "warning", "3.0 s"), ((False, 16.0), "warning", "nothing keeps")],
)
def test_the_clock_counts(answer: tuple[bool, float], level: str, words: str) -> None:
    one = machine.clock(lambda: answer)
    assert one.level == level
    assert words in one.found


def test_a_kernel_that_does_not_tell_is_a_note() -> None:
    def refuse() -> tuple[bool, float]:
        raise PermissionError(1, "Operation not permitted")

    assert machine.clock(refuse).level == "note"


def test_little_memory_is_warned_of(place: Place) -> None:
    assert machine.memory(place).found == "2929 MiB are free"
    (place.proc / "meminfo").write_text("MemAvailable: 100000 kB\n")
    assert machine.memory(place).level == "warning"
    (place.proc / "meminfo").unlink()
    assert machine.memory(place).level == "note"


def test_programs_that_take_ports_are_named(place: Place) -> None:
    assert machine.intruders(place).level == "ok"
    for number, name in ((7, "brltty"), (8, "ModemManager")):
        (place.proc / str(number)).mkdir()
        (place.proc / str(number) / "comm").write_text(name + "\n")
    one = machine.intruders(place)
    assert one.level == "warning"
    assert one.found == "ModemManager and brltty running"
    assert "apt-get purge modemmanager brltty" in one.do


# --- the command --------------------------------------------------------------------------------------------------

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def doctor(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*words: object) -> tuple[int, str, str]:
        status = main(["doctor", *map(str, words)])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def test_a_good_table_exits_0(table: Loaded, doctor: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "FREE_FAILURE_MIB", 0)
    monkeypatch.setattr(record, "DEAD_MS", float("inf"))
    monkeypatch.setattr(record, "_kind", lambda _folder, _place: record.ok("file system", "any"))
    status, out, _ = doctor(table.path)
    assert status == 0
    assert out.splitlines()[-1].startswith("0 failures, ")
    status, out, _ = doctor(table.path, "--json")
    report: Any = json.loads(out)
    assert (report["table"], report["ok"], report["digest"]) == ("t-1", True, table.digest)
    assert {one["level"] for one in report["findings"]} <= {"ok", "note", "warning"}


def test_a_failure_exits_1_and_wrong_input_2(table: Loaded, doctor: Run) -> None:
    (table.keys / "server.key_secret").unlink()
    status, out, _ = doctor(table.path)
    assert status == 1
    assert "failure  keys" in out
    assert "why: every connection is encrypted" in out
    status, _, err = doctor(table.path.with_name("nothing.toml"))
    assert status == 2
    assert "cannot be read" in err


def test_the_text_says_everything() -> None:
    one = Finding(check="x", level="warning", found="a", why="b", do="c")
    lines = text([one]).splitlines()
    assert [line.split() for line in lines[:3]] == [["warning", "x", "a"], ["why:", "b"], ["do:", "c"]]
    assert lines[3] == "0 failures, 1 warning, 0 notes, 0 ok"
