"""The floor file: what is good, and what is said about what is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from controller.bus import keys
from controller.config import ConfigError
from controller.console.floor import load

TABLE = """
[table]
id = "bb-1"
journal = "bb-1.journal"
[game]
game = "boundless"
[shoe]
protocol = "line"
port = "/dev/null"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    keys.make_server(tmp_path / "keys")
    keys.make_person(tmp_path / "keys", "observer", "console")
    (tmp_path / "bb-1.toml").write_text(TABLE)
    return tmp_path


def write(folder: Path, text: str) -> Path:
    (folder / "floor.toml").write_text(text)
    return folder / "floor.toml"


def test_the_smallest_file(folder: Path) -> None:
    floor = load(write(folder, '[[tables]]\nfile = "bb-1.toml"\n'))
    assert floor.places["bb-1"].game == "boundless"
    assert floor.address == ("127.0.0.1", 8700)
    assert not floor.secure


def test_a_table_on_another_machine(folder: Path) -> None:
    text = '[[tables]]\nid = "x-9"\nfeed = "tcp://10.0.0.1:1"\ncommands = "tcp://10.0.0.1:2"\n'
    text += 'server_key = "keys/server.key"\n'
    assert load(write(folder, text)).places["x-9"].contact.feed == "tcp://10.0.0.1:1"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tables = []", "no tables"),
        ('[[tables]]\nfile = "bb-1.toml"\n[[tables]]\nfile = "bb-1.toml"\n', "twice"),
        ('[[tables]]\nfile = "gone.toml"\n', "gone.toml"),
        ('[[tables]]\nid = "a"\n', "missing: feed, commands, server_key"),
        ('[[tables]]\nfile = "bb-1.toml"\nid = "bb-1"\n', "leave them out"),
        ('[[tables]]\nfile = "bb-1.toml"\nkey = "keys/observer/none.key_secret"\n', "dealerd keys person"),
        ('[[tables]]\nfile = "bb-1.toml"\ncamera = "ftp://x"\n', "http://HOST:PORT"),
        ('[[tables]]\nfile = "bb-1.toml"\ncolour = "x"\n', "[tables[0]]: unknown key `colour`; known: "),
        ('[console]\nlisten = "0.0.0.0:8700"\n[[tables]]\nfile = "bb-1.toml"\n', "in the clear"),
        ('[console]\nlisten = "nowhere"\n[[tables]]\nfile = "bb-1.toml"\n', "HOST:PORT"),
        ('[console]\nlock_after_s = 0\n[[tables]]\nfile = "bb-1.toml"\n', "lock_after_s"),
        ('[console]\ntls_cert = "a"\n[[tables]]\nfile = "bb-1.toml"\n', "belong together"),
        ('[[tables]]\nfile = "bb-1.toml"\n[demo.controls]\nzz = "x"\n', "no table zz"),
        ("not toml", "not TOML"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(write(folder, text))
    assert said in str(caught.value)
    assert ".toml" in str(caught.value)


def test_wrong_files_end_with_status_2_and_good_ones_are_said_to_be(folder: Path) -> None:
    def run(text: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "controller.cli", "console", str(write(folder, text)), "--check"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    wrong = run("tables = []")
    assert wrong.returncode == 2
    assert "floor.toml" in wrong.stderr
    good = run('[[tables]]\nfile = "bb-1.toml"\n')
    assert (good.returncode, good.stderr) == (0, "")
    assert "bb-1" in good.stdout
