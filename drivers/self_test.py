"""The record of a shoe's self-tests: one JSON file a device, written by ``dealerd calibrate shoe``.

The newest test counts: one that failed takes back what an older one had proven. Nothing is ever removed, so the file
is also the log of tests that regulators ask for. It holds counts, no cards.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import msgspec

from drivers.errors import SettingsError
from drivers.settings import BccReading, ShoeSettings

VERSION: Final = 1
_MODE: Final = 0o644


class Check(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question of a test and its answer, in words."""

    name: str
    ok: bool
    text: str


class LockProof(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How the shoe took commands. ``with_stx`` and ``without_stx``: its answer to a command checked so (``"ack"``,
    ``"nak 02"``, ``"silent"``). ``bcc``: the reading it takes; None if neither. ``held``: locked, it let no card out
    while a person tried. ``opened``: it acknowledged the unlocking afterwards."""

    with_stx: str
    without_stx: str
    bcc: BccReading | None = None
    held: bool = False
    opened: bool = False

    @property
    def proven(self) -> bool:
        """All that ``lock = "on"`` rests on."""
        return self.bcc is not None and self.held and self.opened


class SelfTest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One test. ``at`` is UTC; ``order`` the SHA-256 of the cards in their order, if all were known and enough;
    ``figures`` are counts, and milliseconds where the name says so."""

    at: str
    program: str
    by: str
    cards: str
    passed: bool
    checks: tuple[Check, ...]
    figures: dict[str, float]
    order: str = ""
    lock: LockProof | None = None


class SelfTests(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The file. ``port`` is absolute, or a URL."""

    version: int
    device: str
    protocol: str
    port: str
    tests: tuple[SelfTest, ...] = ()


def port_name(port: str) -> str:
    """``port`` as it stands in a record: links are left as they are, since they name the device."""
    return port if "://" in port else os.path.abspath(port)


def load_tests(path: Path) -> SelfTests:
    """The record in ``path``. Raises ``SettingsError`` naming file and key."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SettingsError(f"self_test: {path} cannot be read: {error.strerror or error}") from error
    try:
        found = msgspec.json.decode(data, type=SelfTests)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"self_test: {path} is no record of dealerd calibrate shoe: {error}") from error
    if found.version != VERSION:
        raise SettingsError(f"self_test: {path} has version {found.version}: this program reads version {VERSION}")
    return found


def write_tests(path: Path, tests: SelfTests) -> None:
    """Put ``tests`` into ``path``, whole or not at all. Raises ``OSError``."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _MODE)
    try:
        with open(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(tests), indent=2) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def check_settings(settings: ShoeSettings) -> SelfTest | None:
    """The newest test of the device that ``settings`` name, if they name its record.

    Raises ``SettingsError`` if that is of another device, failed, or does not prove the lock that is to be used.
    """
    if settings.self_test is None:
        if settings.lock == "on":
            raise SettingsError(
                'lock = "on" needs self_test: the record in which dealerd calibrate shoe has proven, on this very '
                'shoe, how it checks commands and that it obeys them; until then leave lock = "off"'
            )
        return None
    path = settings.self_test
    record = load_tests(Path(path))
    again = f"run dealerd calibrate shoe {path}"
    if record.protocol != settings.protocol:
        raise SettingsError(f"self_test: {path} is of a shoe with protocol {record.protocol!r}: {again} on this one")
    if record.port != port_name(settings.port):
        raise SettingsError(
            f"self_test: {path} is of {record.device!r} at {record.port}, not of the one at {settings.port}: {again} "
            "on this line"
        )
    if not record.tests:
        raise SettingsError(f"self_test: {path} holds no test: {again}")
    newest = record.tests[-1]
    if not newest.passed:
        failed = ", ".join(check.name for check in newest.checks if not check.ok)
        raise SettingsError(f"self_test: the test of {newest.at} in {path} failed ({failed}): {again}")
    if settings.lock == "on":
        _check_lock(settings, newest, f"{path}, test of {newest.at}", again)
    return newest


def _check_lock(settings: ShoeSettings, newest: SelfTest, where: str, again: str) -> None:
    proof = newest.lock
    if proof is None or not proof.proven:
        raise SettingsError(f'lock = "on" is not proven by {where}: {again} with its lock, or leave lock = "off"')
    if proof.bcc != settings.bcc:
        raise SettingsError(f'this shoe checks commands {proof.bcc} ({where}): set bcc = "{proof.bcc}"')
