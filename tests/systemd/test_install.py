"""`make install` into a throw-away root that holds an older installation with its configuration and record."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from controller.journal.store import Journal

ROOT = Path(__file__).parents[2]
FOLDERS = {"etc/dealerd": 0o750, "etc/dealerd/keys": 0o700, "var/lib/dealerd": 0o700}


def install(root: Path | str, **environment: str) -> subprocess.CompletedProcess[str]:
    words = ["sh", str(ROOT / "systemd" / "install.sh")]
    env = os.environ | {"DESTDIR": str(root)} | environment
    return subprocess.run(words, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A root with the venv of an older program, a table file and a journal."""
    for name, mode in FOLDERS.items():
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name).chmod(mode)
    (tmp_path / "opt/dealerd/venv").mkdir(parents=True)
    (tmp_path / "opt/dealerd/venv/older").touch()
    (tmp_path / "etc/dealerd/bb-1.toml").write_text("# mine\n")
    Journal.create_or_open(tmp_path / "var/lib/dealerd/bb-1.journal", table="bb-1", now_ms=0).close()
    return tmp_path


@pytest.mark.timeout(600)
def test_it_installs_over_an_older_one(old: Path) -> None:
    journal = old / "var/lib/dealerd/bb-1.journal"
    before = journal.read_bytes()
    done = install(old)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{journal}: its format is 1 already; nothing to do" in done.stdout
    assert journal.read_bytes() == before
    assert (old / "etc/dealerd/bb-1.toml").read_text() == "# mine\n"
    assert (old / "opt/dealerd/venv.old/older").exists()

    program = old / "opt/dealerd/venv/bin/dealerd"
    assert program.read_text().startswith("#!/opt/dealerd/venv/bin/python\n")
    named = [
        path
        for path in (old / "opt/dealerd/venv").rglob("*")
        if path.is_file()
        and not path.is_symlink()
        and path.stat().st_size < 1 << 20
        and str(old).encode() in path.read_bytes()
    ]
    assert named == []
    assert os.readlink(old / "usr/local/bin/dealerd") == "/opt/dealerd/venv/bin/dealerd"
    # The wheel holds what the program reads at run time, and no tests.
    site = next((old / "opt/dealerd/venv/lib").glob("python3*/site-packages"))
    assert (site / "controller/py.typed").exists()
    assert not (site / "tests").exists()
    python = old / "opt/dealerd/venv/bin/python"
    ran = subprocess.run(
        [python, "-m", "controller.cli", "rtp", "baccarat"], cwd="/", capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "98.942094" in ran.stdout
    for tool in ("pip", "setuptools"):
        assert not (site / tool).exists()

    for path in ("dealerd@.service", "dealerd-camera@.service", "dealerd-console.service", "dealerd.target"):
        assert (old / "usr/lib/systemd/system" / path).exists()
    assert (old / "usr/lib/udev/rules.d/70-dealerd.rules").exists()
    if os.geteuid() == 0:
        _owners(old)


def _owners(root: Path) -> None:
    users = {line.split(":")[0]: line.split(":") for line in (root / "etc/passwd").read_text().splitlines()}
    uid, gid = map(int, users["dealerd"][2:4])
    expected = {"etc/dealerd": (0, gid), "etc/dealerd/keys": (uid, gid), "var/lib/dealerd": (uid, gid)}
    for name, owner in expected.items():
        found = (root / name).stat()
        assert (found.st_uid, found.st_gid) == owner, name
        assert found.st_mode & 0o777 == FOLDERS[name], name
    assert not (root / "run/dealerd").exists()


def test_a_running_table_is_left_alone(old: Path) -> None:
    journal = old / "var/lib/dealerd/bb-1.journal"
    with Journal.create_or_open(journal, table="bb-1", now_ms=0):
        done = install(old)
    assert done.returncode == 1
    assert f"the table of {journal} runs: end its shift" in done.stderr
    assert (old / "opt/dealerd/venv/older").exists()


def test_wrong_input_is_refused_before_anything_changes(tmp_path: Path) -> None:
    done = install("relative/root")
    assert done.returncode == 1
    assert "DESTDIR relative/root: give an absolute path" in done.stderr
    done = install(tmp_path, PYTHON=shutil.which("false") or "false")
    assert done.returncode == 1
    assert "is older than 3.11 or has no venv" in done.stderr
    assert list(tmp_path.iterdir()) == []
