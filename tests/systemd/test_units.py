"""The units, rules and folders are sound, by systemd's own tools, and shut the services in."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from controller.cli import COMMANDS

SYSTEMD = Path(__file__).parents[2] / "systemd"
UNITS = sorted(path.name for path in SYSTEMD.glob("*.service"))
PROGRAM = "/opt/dealerd/venv/bin/dealerd"
#: systemd's own scale is 0 to 10, and 0 to 100 for --threshold.
MOST_EXPOSED = 20


def need(tool: str) -> str:
    found = shutil.which(tool)
    if found is None:
        pytest.skip(f"{tool} is missing (Debian package systemd or udev)")
    return found


def named(unit: str) -> str:
    """A template with an instance."""
    return unit.replace("@.", "@bb-1.")


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The units beside each other, with the program of this checkout for the installed one."""
    folder = tmp_path_factory.mktemp("units")
    program = Path(sys.executable).with_name("dealerd")
    for path in (*SYSTEMD.glob("*.service"), *SYSTEMD.glob("*.target")):
        (folder / path.name).write_text(path.read_text().replace(PROGRAM, str(program)))
    return folder


def test_verify_finds_nothing(units: Path) -> None:
    words = [need("systemd-analyze"), "verify", *(f"./{named(path.name)}" for path in sorted(units.iterdir()))]
    done = subprocess.run(words, cwd=units, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert str(units) not in done.stderr, done.stderr


def test_verify_would_find_a_fault(units: Path, tmp_path: Path) -> None:
    text = (units / "dealerd@.service").read_text()
    (tmp_path / "broken@.service").write_text(text.replace("WatchdogSec=20", "WatchdogSec=soon"))
    words = [need("systemd-analyze"), "verify", "./broken@x.service"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "broken@.service" in done.stderr
    assert "soon" in done.stderr


@pytest.mark.parametrize("unit", UNITS)
def test_services_are_shut_in(units: Path, unit: str) -> None:
    words = [need("systemd-analyze"), "security", "--offline=yes", f"--threshold={MOST_EXPOSED}", f"./{unit}"]
    done = subprocess.run(words, cwd=units, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-200:]
    found = re.search(r"exposure level for \S+: (\d+\.\d)", done.stdout)
    assert found is not None
    assert float(found[1]) <= MOST_EXPOSED / 10


def test_every_unit_starts_a_command_that_exists() -> None:
    commands = {}
    for unit in UNITS:
        line = re.search(r"^ExecStart=-?(\S+) ?(.*)$", (SYSTEMD / unit).read_text(), re.MULTILINE)
        assert line is not None, unit
        if line[1] == PROGRAM:
            commands[unit] = line[2].split()[0]
    assert commands.pop("dealerd@.service") == "run"
    assert "run" in COMMANDS
    assert commands == {"dealerd-camera@.service": "camera", "dealerd-console.service": "console"}
    assert set(commands.values()) <= set(COMMANDS)


def test_wrong_input_is_not_tried_again() -> None:
    for unit in ("dealerd@.service", "dealerd-camera@.service", "dealerd-console.service"):
        assert "RestartPreventExitStatus=2\n" in (SYSTEMD / unit).read_text()


def test_hidden_cards_go_into_no_core_file_and_no_swap() -> None:
    for unit in ("dealerd@.service", "dealerd-camera@.service", "dealerd-console.service"):
        text = (SYSTEMD / unit).read_text()
        assert "LimitCORE=0\n" in text
        assert "MemorySwapMax=0\n" in text


def test_the_user_is_made_with_the_groups_of_the_devices(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\n")
    (tmp_path / "etc/group").write_text("root:x:0:\ndialout:x:20:\nvideo:x:44:\n")
    words = [need("systemd-sysusers"), f"--root={tmp_path}", str(SYSTEMD / "sysusers.conf")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    users = {line.split(":")[0]: line.split(":") for line in (tmp_path / "etc/passwd").read_text().splitlines()}
    assert users["dealerd"][5:] == ["/var/lib/dealerd", "/usr/sbin/nologin"]
    groups = {line.split(":")[0]: line.split(":")[3] for line in (tmp_path / "etc/group").read_text().splitlines()}
    assert groups["dialout"] == groups["video"] == "dealerd"


def test_udev_understands_the_rules(tmp_path: Path) -> None:
    udevadm, unshare = need("udevadm"), need("unshare")
    if subprocess.run([unshare, "-rm", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network namespaces on this machine (kernel.unprivileged_userns_clone, or run as root)")
    shutil.copy(SYSTEMD / "70-dealerd.rules", tmp_path / "70-dealerd.rules")
    (tmp_path / "71-broken.rules").write_text('NOSUCHKEY=="x", SYMLINK+="y"\n')
    script = (
        'mount -t tmpfs none /run && mkdir -p /run/udev/rules.d && cp "$1"/*.rules /run/udev/rules.d/ && '
        '"$2" test --action=add /sys/class/tty/tty0 2>&1 || true'
    )
    words = [unshare, "-rm", "sh", "-c", script, "sh", str(tmp_path), udevadm]
    said = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    lines = [line for line in said.splitlines() if ".rules:" in line]
    assert any("71-broken.rules:1" in line and "NOSUCHKEY" in line for line in lines), said[-2000:]
    ours = [line for line in lines if "70-dealerd.rules" in line and "Unknown group 'dealerd'" not in line]
    assert ours == []


def test_every_driver_module_that_units_need_is_loaded_at_boot() -> None:
    words = [line for line in (SYSTEMD / "modules-load.conf").read_text().splitlines() if not line.startswith("#")]
    assert set(words) >= {"ftdi_sio", "cp210x", "cdc_acm", "uvcvideo"}


def test_the_units_of_this_machine_are_described() -> None:
    text = (SYSTEMD / "README.md").read_text()
    for path in SYSTEMD.iterdir():
        assert path.name == "README.md" or f"`{path.name}`" in text, path.name
