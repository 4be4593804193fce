"""Durable before visible: kill -9, device errors at every call, and power loss."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from controller.journal.store import FactRow, Frame, Journal, JournalBusy, JournalError, JournalFull
from controller.journal.verify import verify

WRITER = """
import itertools, sys
from controller.journal.store import FactRow, Frame, Journal
with Journal.create_or_open(sys.argv[1], table="t1", now_ms=0) as journal:
    while True:
        n, seq = journal.last_n, journal.last_seq
        journal.append(
            [FactRow(n + 1, 1, 0, "a", None, None, b"{}"), FactRow(n + 2, 1, 0, "b", None, None, b"x" * 300)],
            [Frame(seq + 1, n + 2, b"frame %d" % (seq + 1))],
        )
        print(journal.last_n, flush=True)
        journal.mark_sent(journal.last_seq)
        if journal.last_n % 10 == 0:
            journal.fold(1)
        if journal.last_n % 64 == 0:
            journal.checkpoint()
"""


@pytest.fixture
def writer(path: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    children: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        child = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        children.append(child)
        return child

    yield start
    for child in children:
        child.kill()
        child.wait()
        assert child.stdout is not None
        child.stdout.close()


def test_everything_said_to_be_stored_survives_kill_9(writer, path):
    for lines in (1, 7, 40, 100, 23):
        child = writer()
        said = [int(line) for line in itertools.islice(child.stdout, lines)]
        child.send_signal(signal.SIGKILL)
        said += [int(line) for line in child.stdout if line.endswith("\n")]
        child.wait()
        report = verify(path)
        assert report.ok, report.fault
        with Journal.create_or_open(path, table="t1", now_ms=0) as journal:
            assert journal.last_n >= said[-1]
            assert said[-1] <= report.last_n == journal.last_n == 2 * journal.last_seq
            # At most the append that was not yet said was not marked, and its predecessor not yet stored as sent.
            assert journal.last_seq - journal.sent_seq <= 2
            first = journal.sent_seq + 1
            expected = [Frame(seq, 2 * seq, b"frame %d" % seq) for seq in range(first, journal.last_seq + 1)]
            assert list(journal.unsent()) == expected


def test_second_process_is_told_who_holds_it_until_kill_9(writer, path):
    child = writer()
    child.stdout.readline()
    with pytest.raises(JournalBusy, match=f"{path}: already open for writing by process {child.pid}; stop"):
        Journal.create_or_open(path, table="t1", now_ms=0)
    assert child.poll() is None
    child.kill()
    child.wait()
    with Journal.create_or_open(path, table="t1", now_ms=0) as journal:
        assert journal.last_n >= 2


class Device(apsw.VFS):
    """The default file system while a test runs: counts calls, fails one of them, knows what was synced."""

    def __init__(self) -> None:
        super().__init__("device", "unix", makedefault=True)
        self.calls = 0
        self.syncs: list[str] = []
        self.fail_at = 0
        self.sticky = False
        self.error: type[apsw.Error] = apsw.IOError
        self.synced: dict[str, bytes] = {}

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return DeviceFile(self, name, flags)

    def step(self) -> None:
        self.calls += 1
        if self.fail_at and (self.calls == self.fail_at or (self.sticky and self.calls > self.fail_at)):
            raise self.error("injected")


class DeviceFile(apsw.VFSFile):
    def __init__(self, device: Device, name: Any, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self.device = device
        self.path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)

    def xWrite(self, data: Any, offset: int) -> None:
        self.device.step()
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        self.device.step()
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        self.device.step()
        super().xSync(flags)
        self.device.syncs.append(self.path)
        self.device.synced[self.path] = Path(self.path).read_bytes()


@pytest.fixture
def device() -> Iterator[Device]:
    vfs = Device()
    yield vfs
    vfs.unregister()


def test_one_append_is_one_sync(device, make, path):
    with make.open(path) as journal:
        make.fill(journal, 3)
        device.syncs.clear()
        make.fill(journal, 10)
        assert device.syncs == [f"{path}-wal"] * 10


def test_what_append_returned_from_survives_power_loss(device, make, path, tmp_path):
    lost = tmp_path / "after"
    lost.mkdir()
    with make.open(path) as journal:
        for appends in range(1, 20):
            make.fill(journal, 1)
            if appends % 3 == 0:
                assert journal.fold(1)
            if appends % 7 == 0:
                journal.checkpoint()
            report = verify(after_power_loss(device, path, lost), expect_last=end_of(journal))
            assert (report.fault, report.last_n) == (None, 2 * appends)


def after_power_loss(device: Device, path: Path, folder: Path) -> Path:
    """The journal as far as it was synced, in ``folder``."""
    for name in folder.iterdir():
        name.unlink()
    for name, data in device.synced.items():
        # The first sync of the log also syncs the directory, and with it earlier removals.
        if os.path.exists(name):
            (folder / Path(name).name).write_bytes(data)
    copy = folder / path.name
    copy.chmod(0o600)
    return copy


def end_of(journal: Journal) -> tuple[int, str]:
    return journal.last_n, journal.last_hash.hex()


@pytest.mark.parametrize("error", [apsw.IOError, apsw.FullError])
def test_fold_stopped_at_any_call_loses_nothing(device, make, tmp_path, error):
    """A device that fails from some call of a fold on: what was stored is there for this process, after kill -9, and
    after a power loss; a full disk is no error yet."""
    device.error, device.sticky = error, True
    lost = tmp_path / "after"
    lost.mkdir()
    for k in itertools.count(1):
        path = tmp_path / f"j{k}"
        with make.open(path) as journal:
            make.fill(journal, 3)
            assert journal.fold(1)
            make.fill(journal, 5, 40)
            kept, end = list(journal.facts()), end_of(journal)
            device.calls, device.fail_at = 0, k
            failure = attempt(lambda: journal.fold(1))
            stopped, device.fail_at = device.calls >= k, 0
            assert (failure is not None) == (stopped and error is apsw.IOError)
            assert list(journal.facts()) == kept
            killed = tmp_path / "killed"
            killed.mkdir(exist_ok=True)
            for suffix in ("", "-wal"):
                shutil.copy(f"{path}{suffix}", killed / f"{path.name}{suffix}")
            for copy in (killed / path.name, after_power_loss(device, path, lost)):
                assert verify(copy, expect_last=end).fault is None
            if failure is None:
                make.fill(journal, 1)
                assert verify(path, expect_last=end_of(journal)).fault is None
            else:
                assert "restart the table" in str(attempt(lambda: make.fill(journal, 1)))
        if not stopped:
            break
    assert k > 3


@pytest.mark.parametrize("error", [apsw.IOError, apsw.FullError])
@pytest.mark.parametrize("sticky", [False, True])
def test_device_error_at_any_call_leaves_nothing_half_done(device, make, tmp_path, error, sticky):
    device.error, device.sticky = error, sticky
    for k in itertools.count(1):
        path = tmp_path / f"j{k}"
        with make.open(path) as journal:
            make.fill(journal, 3)
            journal.mark_sent(2)
            before = (journal.last_n, journal.last_seq, journal.last_hash, list(journal.facts()))
            facts, frames = make.batch(journal, 20)
            device.calls, device.fail_at = 0, k
            failure = attempt(lambda: journal.append(facts, frames))  # noqa: B023 -- called at once
            device.fail_at = 0
            if failure is None:
                break
            assert isinstance(failure, JournalFull) == (error is apsw.FullError)
            assert (journal.last_n, journal.last_seq, journal.last_hash, list(journal.facts())) == before
            again = attempt(lambda: journal.append(facts, frames))  # noqa: B023
            if error is apsw.FullError:
                assert again is None
            else:
                assert "restart the table" in str(again)
        report = verify(path)
        assert report.ok, report.fault
        # A commit whose sync failed may turn up after all; never a part of it.
        assert report.last_n in (6, 26)
        with make.open(path) as journal:
            make.fill(journal, 1)
        assert verify(path).ok
    assert k > 3


def test_creation_stopped_anywhere_can_be_done_again(device, make, tmp_path):
    device.sticky = True
    for k in itertools.count(1):
        path = tmp_path / f"j{k}"
        device.calls, device.fail_at = 0, k
        failure = attempt(lambda: make.open(path).close())  # noqa: B023
        done, device.fail_at = device.calls < k, 0
        assert done or failure or path.exists()
        with make.open(path) as journal:
            make.fill(journal, 1)
        assert verify(path).ok
        if done:
            break
    assert k > 5


def attempt(action: Callable[[], None]) -> JournalError | None:
    try:
        action()
    except JournalError as error:
        return error
    return None


LIMITED = """
import resource, sys
from controller.journal.store import FactRow, Journal, JournalError
journal = Journal.create_or_open(sys.argv[1], table="t1", now_ms=0)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
while True:
    last = (journal.last_n, journal.last_hash)
    try:
        journal.append([FactRow(journal.last_n + 1, 1, 0, "a", None, None, b"x" * 3000)], [])
    except JournalError as error:
        assert (journal.last_n, journal.last_hash) == last
        break
journal.close()
print(last[0], last[1].hex())
"""


def test_real_write_failure_loses_nothing(path):
    done = subprocess.run([sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, check=True)
    n, last_hash = done.stdout.split()
    report = verify(path, expect_last=(int(n), last_hash))
    assert (report.fault, report.last_n) == (None, int(n))
    assert report.last_n > 10
    with Journal.create_or_open(path, table="t1", now_ms=0) as journal:
        journal.append([FactRow(journal.last_n + 1, 1, 0, "a", None, None, b"{}")], [])


def test_lock_and_files_go_back_when_opening_fails(make, path, tmp_path):
    path.write_bytes(b"this is no database " * 100)
    path.chmod(0o600)
    for _ in range(3):
        with pytest.raises(JournalError):
            make.open(path)
    path.unlink()
    make.open(path).close()
    assert sorted(os.listdir(tmp_path)) == ["table.journal", "table.journal-lock"]
