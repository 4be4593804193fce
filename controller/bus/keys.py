"""The key folder: who may speak to a table, and in which role.

::

    KEYS/server.key            KEYS/server.key_secret         the table's own pair
    KEYS/<role>/<person>.key   KEYS/<role>/<person>.key_secret   one pair a person and role

The ``.key`` files are all the table needs of a person; the secret stays where the person keeps it. Folders are
0700 and secrets 0600. File format and key generation are pyzmq's (``zmq.auth.certs``). Every function raises
``KeysError``; keys are bytes in Z85 (40 characters), as the files and ``zmq.CURVE_*KEY`` write them.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import struct
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import zmq
import zmq.auth
from zmq.utils import z85

from controller.bus.errors import KeysError

ROLES: Final = ("observer", "game_server", "dealer", "supervisor", "camera", "technician")
SERVER: Final = "server"
PUBLIC_SUFFIX: Final = ".key"
SECRET_SUFFIX: Final = ".key_secret"

# Lower case only: "Anna" and "anna" would pass for two people wherever an action needs another person.
_PERSON: Final = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
_MAX_FILE: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a CURVE key belongs to."""

    role: str
    person: str


@dataclass(frozen=True, slots=True)
class KeyPair:
    """Both halves of a CURVE key, Z85. The secret is kept out of ``repr``."""

    public: bytes
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeyEntry:
    """One key file of the folder, for listings: ``role`` is ``server`` for the table's own pair."""

    role: str
    person: str
    public: bytes
    public_file: Path
    has_secret: bool


def make_server(keys_dir: Path) -> Path:
    """Make the folder if need be and the table's pair in it. Returns ``server.key``; never overwrites one."""
    _make_folder(keys_dir)
    return _make_pair(keys_dir, keys_dir, SERVER)


def make_person(keys_dir: Path, role: str, person: str) -> Path:
    """Make a pair for ``person`` in ``role``. Returns the ``.key`` file; ``.key_secret`` lies beside it.

    Never overwrites a key: to replace one, remove its files first.
    """
    check_role(role)
    check_person(person)
    _make_folder(keys_dir)
    _make_folder(keys_dir / role)
    return _make_pair(keys_dir, keys_dir / role, person)


def new_pair() -> KeyPair:
    """A fresh pair that is in no file yet."""
    return KeyPair(*zmq.curve_keypair())


def public_text(public: bytes) -> str:
    """What a ``.key`` file with this public key holds."""
    return f'metadata\ncurve\n    public-key = "{check_public(public, "the key").decode()}"\n'


def check_role(role: str) -> str:
    """Return ``role`` if it is one of ``ROLES``."""
    if role not in ROLES:
        raise KeysError(f"{role!r} is not a role; the roles are {', '.join(ROLES)}")
    return role


def check_person(person: str) -> str:
    """Return ``person`` if it is safe as a file name and unlike any other person's."""
    if not _PERSON.fullmatch(person):
        raise KeysError(
            f"{person!r} is not a person's name: 1 to 64 of a-z 0-9 . _ -, beginning and ending with a-z or 0-9"
        )
    return person


def check_public(public: bytes, what: str) -> bytes:
    """Return ``public`` if it is a key in Z85; ``what`` names it in the error."""
    try:
        valid = len(z85.decode(public)) == 32
    except (KeyError, ValueError, struct.error):
        valid = False
    if not valid:
        raise KeysError(f"{what} is not 40 characters of Z85")
    return public


def list_keys(keys_dir: Path) -> list[KeyEntry]:
    """Every key of the folder, the table's first, then by role and person."""
    entries = []
    server = keys_dir / (SERVER + PUBLIC_SUFFIX)
    if server.exists():
        secret = keys_dir / (SERVER + SECRET_SUFFIX)
        entries.append(KeyEntry(SERVER, SERVER, load_public(server), server, secret.exists()))
    for role, person, path in _people(keys_dir):
        secret = path.with_name(person + SECRET_SUFFIX)
        entries.append(KeyEntry(role, person, load_public(path), path, secret.exists()))
    return entries


def load_identities(keys_dir: Path) -> dict[bytes, Identity]:
    """Z85 public key → identity, for every person's key in the folder.

    Refuses a folder or ``.key`` file that others may write, a secret that others may read, a name or role that
    is not one, and one public key in two files.
    """
    _check_folder(keys_dir)
    owners: dict[bytes, Path] = {}
    identities: dict[bytes, Identity] = {}
    server = keys_dir / (SERVER + PUBLIC_SUFFIX)
    if server.exists():
        owners[load_public(server)] = server
    for role, person, path in _people(keys_dir):
        _check_folder(path.parent)
        public = load_public(path)
        secret = path.with_name(person + SECRET_SUFFIX)
        if secret.exists():
            _check_secret_mode(secret)
        if public in owners:
            raise KeysError(f"{owners[public]} and {path} hold the same key; each person and role needs its own")
        owners[public] = path
        identities[public] = Identity(role, person)
    return identities


def fingerprint(keys_dir: Path) -> tuple[tuple[str, int], ...]:
    """Public key files and when they changed: differs when a person was added, removed or given a new key."""
    found = []
    for path in sorted(keys_dir.glob(f"*/*{PUBLIC_SUFFIX}")):
        with contextlib.suppress(OSError):  # removed meanwhile
            found.append((str(path), path.stat().st_mtime_ns))
    return tuple(found)


def load_server(keys_dir: Path) -> KeyPair:
    """The table's own pair."""
    _check_folder(keys_dir)
    pair = load_secret(keys_dir / (SERVER + SECRET_SUFFIX))
    public_file = keys_dir / (SERVER + PUBLIC_SUFFIX)
    if public_file.exists() and load_public(public_file) != pair.public:
        raise KeysError(f"{public_file} is not the public half of {SERVER}{SECRET_SUFFIX} beside it")
    return pair


def load_server_public(keys_dir: Path) -> bytes:
    """The table's public key, as clients need it."""
    return load_public(keys_dir / (SERVER + PUBLIC_SUFFIX))


def load_public(path: Path) -> bytes:
    """The public key in a ``.key`` file; refuses one that others may write or that holds a secret."""
    if _mode(path) & (stat.S_IWGRP | stat.S_IWOTH):
        raise KeysError(f"{path} may be written by others; run: chmod go-w {path}")
    public, secret = _read(path)
    if secret is not None:
        raise KeysError(f"{path} holds a secret key; only {SECRET_SUFFIX} files may")
    return public


def load_secret(path: Path) -> KeyPair:
    """The pair in a ``.key_secret`` file; refuses one that others may read or whose halves do not match."""
    _check_secret_mode(path)
    public, secret = _read(path)
    if secret is None:
        raise KeysError(f"{path} holds no secret key; give the {SECRET_SUFFIX} file")
    try:
        derived = zmq.curve_public(secret)
    except (ValueError, zmq.ZMQError) as error:
        raise KeysError(f"{path} holds a secret key that is not 40 characters of Z85") from error
    if derived != public:
        raise KeysError(f"{path}: its public key does not belong to its secret key")
    return KeyPair(public, secret)


def _people(keys_dir: Path) -> Iterator[tuple[str, str, Path]]:
    """(role, person, file) of each person's key, sorted. A key in a place that means nothing is an error."""
    try:
        children = sorted(keys_dir.iterdir())
    except OSError as error:
        raise KeysError(f"{keys_dir}: {error.strerror}; make it with: dealerd keys") from error
    for child in children:
        if child.name.startswith("."):
            continue
        if child.is_dir():
            files = sorted(f for f in child.iterdir() if f.suffix == PUBLIC_SUFFIX and not f.name.startswith("."))
            if files and child.name not in ROLES:
                raise KeysError(f"{child} is not a role's folder; the roles are {', '.join(ROLES)}")
            for file in files:
                try:
                    person = check_person(file.name.removesuffix(PUBLIC_SUFFIX))
                except KeysError as error:
                    raise KeysError(f"{file}: {error}") from None
                yield child.name, person, file
        elif child.suffix == PUBLIC_SUFFIX and child.name != SERVER + PUBLIC_SUFFIX:
            raise KeysError(f"{child} belongs in the folder of a role: {', '.join(ROLES)}")


def _read(path: Path) -> tuple[bytes, bytes | None]:
    try:
        if not path.is_file():
            raise KeysError(f"{path} is not a file")
        if path.stat().st_size > _MAX_FILE:
            raise KeysError(f"{path} is too long to be a key file")
        public, secret = zmq.auth.load_certificate(path)
    except PermissionError as error:
        raise KeysError(f"{path} cannot be read by this user; whose it is: ls -l {path}") from error
    except (OSError, ValueError, IndexError) as error:
        raise KeysError(f"{path} is not a key file: {error}") from error
    check_public(public, f"{path}: its public key")
    return public, secret


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError as error:
        raise KeysError(f"{path}: {error.strerror}; keys are made with: dealerd keys") from error


def _check_folder(path: Path) -> None:
    """Whoever can write here can make themselves a supervisor."""
    if _mode(path) & (stat.S_IWGRP | stat.S_IWOTH):
        raise KeysError(f"{path} may be written by others; run: chmod 700 {path}")


def _check_secret_mode(path: Path) -> None:
    if _mode(path) & (stat.S_IRWXG | stat.S_IRWXO):
        raise KeysError(f"{path} may be read or written by others; run: chmod 600 {path}, or make a new key")


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise KeysError(f"{path}: {error.strerror}") from error
    _check_folder(path)


def _make_pair(keys_dir: Path, folder: Path, name: str) -> Path:
    """pyzmq writes with the process's umask, so the files are born in a private folder and then linked."""
    try:
        private = Path(tempfile.mkdtemp(prefix=".new-", dir=keys_dir))
    except OSError as error:
        raise KeysError(f"{keys_dir}: {error.strerror}") from error
    try:
        public, secret = (Path(made) for made in zmq.auth.create_certificates(private, name))
        secret.chmod(0o600)
        public.chmod(0o644)
        # link() refuses to overwrite; the secret first, so that no public key exists without its owner.
        os.link(secret, folder / secret.name)
        try:
            os.link(public, folder / public.name)
        except OSError:
            (folder / secret.name).unlink()
            raise
    except FileExistsError as error:
        raise KeysError(f"{error.filename2} exists; remove it first to make a new key") from error
    except OSError as error:
        raise KeysError(f"cannot make {folder / name}{PUBLIC_SUFFIX}: {error.strerror}") from error
    finally:
        shutil.rmtree(private, ignore_errors=True)
    return folder / public.name
