"""The floor file: which tables the screens show, where the console listens, where its accounts are."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path

import msgspec

from controller.bus import keys
from controller.bus.errors import KeysError
from controller.config import ConfigError
from controller.config import load as load_table
from controller.config_words import explain
from controller.contact import Contact

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_LISTEN = re.compile(r"(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):(\d{1,5})")


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of the file's sections: unknown keys are refused."""


class ConsoleSection(_Strict, frozen=True, kw_only=True):
    """``[console]``. Paths are relative to the file."""

    listen: str = "127.0.0.1:8700"
    #: Accounts and the audit trail; mode 0700.
    data: str = "console"
    #: The console's own key: an observer's.
    key: str = "keys/observer/console.key_secret"
    tls_cert: str = ""
    tls_key: str = ""
    #: A proxy in front of the console speaks TLS; the console itself then listens without.
    behind_tls: bool = False
    #: Names under which browsers reach it, besides the address it listens on.
    hosts: list[str] = []
    lock_after_s: float = 300.0
    session_s: float = 43_200.0


class TableEntry(_Strict, frozen=True, kw_only=True):
    """One of ``[[tables]]``: ``file``, a table file here, or ``id``, ``feed``, ``commands`` and ``server_key``."""

    file: str = ""
    id: str = ""
    feed: str = ""
    commands: str = ""
    server_key: str = ""
    key: str = ""
    #: Address of the camera service's pictures, ``http://HOST:PORT``; else the table file's own.
    camera: str = ""


class DemoLogon(_Strict, frozen=True, kw_only=True):
    """A demo account that the log-on page names."""

    name: str
    role: str
    password: str


class DemoSection(_Strict, frozen=True, kw_only=True):
    """``[demo]``, for simulated tables only: buttons that make mistakes, and accounts anybody may use."""

    #: Control sockets of simulated shoes by table.
    controls: dict[str, str] = {}
    logons: list[DemoLogon] = []


class FloorFile(_Strict, frozen=True, kw_only=True):
    """A whole floor file."""

    tables: list[TableEntry]
    console: ConsoleSection = ConsoleSection()
    demo: DemoSection | None = None


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """One table as the console reaches it. ``game`` is empty if only the feed will tell."""

    id: str
    contact: Contact
    camera: str = ""
    game: str = ""
    control: Path | None = None


class Floor(msgspec.Struct, frozen=True, kw_only=True):
    """A floor file with what follows from it."""

    path: Path
    console: ConsoleSection
    places: dict[str, Place]
    logons: tuple[DemoLogon, ...]

    @property
    def data(self) -> Path:
        """Folder of accounts and audit trail."""
        return self.path.parent.absolute() / self.console.data

    @property
    def address(self) -> tuple[str, int]:
        """(host, port) to listen on; port 0 takes any."""
        return _split(self.console.listen)

    @property
    def secure(self) -> bool:
        """Browsers reach the console over TLS only, so cookies may insist on it."""
        return bool(self.console.tls_cert) or self.console.behind_tls

    def beside(self, name: str) -> Path:
        """A path of the file, made absolute."""
        return (self.path.parent / name).absolute()


def load(path: Path) -> Floor:
    """Read and check a floor file and the table files it names. Raises ``ConfigError``."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    try:
        file = msgspec.toml.decode(raw, type=FloorFile)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {explain(str(error), FloorFile)}") from error
    except (UnicodeDecodeError, msgspec.DecodeError) as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error
    found = _problems(file.console)
    if not file.tables:
        found.append('no tables: add [[tables]] with file = "TABLE.toml"')
    if found:
        raise ConfigError("\n".join(f"{path}: {line}" for line in found))
    floor = Floor(path=path, console=file.console, places={}, logons=tuple(file.demo.logons if file.demo else ()))
    for entry in file.tables:
        place = _place(floor, entry, file.demo)
        if place.id in floor.places:
            raise ConfigError(f"{path}: [[tables]]: table {place.id} is there twice")
        floor.places[place.id] = place
    for name in file.demo.controls if file.demo else ():
        if name not in floor.places:
            raise ConfigError(f"{path}: [demo] controls: no table {name}; there is {', '.join(floor.places)}")
    return floor


def _place(floor: Floor, entry: TableEntry, demo: DemoSection | None) -> Place:
    where = f"{floor.path}: [[tables]] {entry.file or entry.id}"
    key = floor.beside(entry.key or floor.console.key)
    game, camera = "", entry.camera
    if entry.file:
        if entry.id or entry.feed or entry.commands or entry.server_key:
            raise ConfigError(f"{where}: the table file says id, feed, commands and keys: leave them out here")
        loaded = load_table(floor.beside(entry.file))
        contact, game = Contact.of(loaded, key), loaded.config.game.game
        if loaded.camera is not None:
            served = loaded.camera.address()
            camera = camera or (f"http://{served[0]}:{served[1]}" if served else "")
    else:
        missing = [n for n in ("id", "feed", "commands", "server_key") if not getattr(entry, n)]
        if missing:
            raise ConfigError(
                f"{where}: give file, or id, feed, commands and server_key; missing: {', '.join(missing)}"
            )
        contact = Contact(entry.id, entry.feed, entry.commands, floor.beside(entry.server_key), key)
    table = contact.table or ""
    if not _ID.fullmatch(table):
        raise ConfigError(f"{where}: id {table!r}: 1 to 32 of a-z, 0-9 and -")
    for file in (contact.server_key, contact.key_file):
        if not file.exists():
            make = f"dealerd keys person {contact.server_key.parent} observer console"
            raise ConfigError(f"{where}: {file} is missing; keys are made with: {make}")
    _check_key(where, contact)
    if entry.camera and not re.fullmatch(r"https?://[^/\s]+/?", entry.camera):
        raise ConfigError(f"{where}: camera {entry.camera!r}: http://HOST:PORT")
    control = demo.controls.get(table) if demo is not None else None
    return Place(
        id=table, contact=contact, camera=camera.rstrip("/"), game=game,
        control=floor.beside(control) if control else None,
    )  # fmt: skip


def _check_key(where: str, contact: Contact) -> None:
    """What cannot be read at all is said at the start, not by a screen that stays dark."""
    try:
        keys.load_public(contact.server_key)
        keys.load_secret(contact.key_file)
    except KeysError as error:
        raise ConfigError(f"{where}: {error}") from error


def _problems(console: ConsoleSection) -> list[str]:
    found = []
    match = _LISTEN.fullmatch(console.listen)
    if not match or int(match[2]) > 65_535:
        return [f"[console] listen {console.listen!r}: HOST:PORT"]
    if bool(console.tls_cert) != bool(console.tls_key):
        found.append("[console] tls_cert and tls_key belong together: give both or neither")
    if not (_is_local(_split(console.listen)[0]) or console.tls_cert or console.behind_tls):
        found.append(
            f"[console] listen {console.listen!r}: passwords would cross the network in the clear; give tls_cert and "
            "tls_key, or listen on 127.0.0.1, or set behind_tls = true if a proxy in front speaks TLS"
        )
    found += [
        f"[console] {name} must be {low:g} to {high:g} seconds, not {value:g}"
        for name, value, low, high in (
            ("lock_after_s", console.lock_after_s, 1, 3600),
            ("session_s", console.session_s, 60, 86_400),
        )
        if not low <= value <= high
    ]
    return found


def _split(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    return host.strip("[]"), int(port)


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
