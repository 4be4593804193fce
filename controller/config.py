"""The table file: one TOML file a table, unknown keys refused (design page 8)."""

from __future__ import annotations

import hashlib
import ipaddress
import re
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from controller.book import BOOKS
from controller.book.setting import BookSetting, Limits
from controller.config_words import explain
from controller.rules.options import BOOK_ONLY, GameOptions
from drivers.errors import SettingsError
from drivers.settings import ShoeSettings
from vision.settings import CameraSettings

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
#: Longest time in seconds a table may be told to wait.
_TIME_MAX_S = 86_400.0
_ENDPOINT = re.compile(r"tcp://.+:(\d+|\*)|ipc://.+")
_PORT_MAX: Final = 65_535
#: Longest path of a socket, in bytes (unix(7), ``sun_path``).
_SOCKET_PATH_MAX: Final = 107


#: Answers to commands and wallet transactions are known for four months, so their files must be there.
MONTHS_MIN: Final = 5


class ConfigError(Exception):
    """The table file cannot be used: file, place, what is wrong, what is allowed."""


class TableSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[table]``: identity and outside contacts. Paths are relative to the file."""

    #: Name of the table in every frame: 1 to 32 of ``a-z``, ``0-9`` and ``-``. It never changes.
    id: str
    #: File of the record, on a local disk.
    journal: str
    #: Folder of the keys: who may speak to the table, and in which role (``dealerd keys``).
    keys: str = "keys"
    #: Where the feed is published: ``tcp://HOST:PORT`` (``*`` for any) or ``ipc://PATH``.
    feed: str = "tcp://127.0.0.1:5701"
    #: Where commands are answered; as ``feed``, at another address.
    commands: str = "tcp://127.0.0.1:5702"
    #: The table stops while fewer MiB are free on the record's disk, and goes on by itself; 0 never.
    min_free_mb: int = 200


class ValidationSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[validation]``: which sources must agree before a card counts."""

    #: ``shoe``: each card as the shoe names it; ``both``: a card the shoe read is dealt when the camera sees it at
    #: its place; ``camera``: the camera alone.
    sources: Literal["shoe", "camera", "both"] = "shoe"
    #: How long shoe and camera may differ before it is an incident, in milliseconds.
    confirm_within_ms: int = 3000


class WalletSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[wallet]``: who holds the players' money."""

    #: ``platform``: bets come debited, with transaction and balance; ``embedded``: the table holds the accounts.
    kind: Literal["platform", "embedded"] = "platform"


class RecordSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[record]``: how long what was recorded stays."""

    #: ``monthly``: when a month is over and the table at rest, its file is sealed and the next one begun.
    seal: Literal["monthly", "never"] = "monthly"
    #: Sealed files that ended more months ago than this are deleted when the next one is sealed; 0 keeps all.
    keep_months: int = 0
    #: Hours between two checks of the whole record, the program and this file while the table runs.
    audit_every_h: float = 24.0

    def problems(self) -> list[str]:
        """What is wrong, one line each."""
        found = []
        if self.keep_months != 0 and not MONTHS_MIN <= self.keep_months <= 1200:
            found.append(f"keep_months must be 0, which keeps all, or {MONTHS_MIN} to 1200, not {self.keep_months}")
        if not 0 < self.audit_every_h <= 24:
            found.append(f"audit_every_h must be more than 0 and at most 24 hours, not {self.audit_every_h:g}")
        return found


class MetricsSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[metrics]``: metrics for a monitoring system and a health check, over HTTP to this machine only."""

    #: ``ADDRESS:PORT`` with a loopback address, such as ``127.0.0.1:9701``; None serves nothing. Port 0 takes any.
    listen: str | None = None

    def address(self) -> tuple[str, int] | None:
        """Host and port. Raises ``ValueError`` for anything but a loopback address with a port."""
        if self.listen is None:
            return None
        host, _, port = self.listen.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not port.isdecimal() or int(port) > 65535 or not ipaddress.ip_address(host).is_loopback:
            raise ValueError(self.listen)
        return host, int(port)


class LogSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[log]``: how the program's log on standard error looks."""

    #: ``json`` writes one object a line, for systems that collect logs.
    format: Literal["text", "json"] = "text"


class TableConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A whole table file."""

    table: TableSection
    game: GameOptions
    shoe: ShoeSettings
    validation: ValidationSection = ValidationSection()
    wallet: WalletSection = WalletSection()
    metrics: MetricsSection = MetricsSection()
    record: RecordSection = RecordSection()
    log: LogSection = LogSection()
    camera: CameraSettings | None = None
    #: Smallest and largest stake by bet; without an entry a bet has no limits.
    limits: dict[str, Limits] = {}

    def book(self) -> BookSetting | None:
        """What the table's own bet book needs; None where the platform keeps the bets."""
        game = self.game
        if game.decisions != "book":
            return None
        return BookSetting(
            table=self.table.id,
            game=game.game,
            wallet=self.wallet.kind,
            limits=self.limits,
            seats=game.seats,
            obo=game.obo,
            idle_rounds_to_vacate=game.idle_rounds_to_vacate,
        )


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """A table file with what follows from it. ``effective`` is canonical JSON, ``digest`` its SHA-256 in hex."""

    config: TableConfig
    path: Path
    effective: str
    digest: str

    @property
    def journal(self) -> Path:
        """The journal file."""
        return self._beside(self.config.table.journal)

    @property
    def keys(self) -> Path:
        """The key folder."""
        return self._beside(self.config.table.keys)

    @property
    def shoe(self) -> ShoeSettings:
        """The shoe's settings, with paths made absolute."""
        return _beside_shoe(self.config.shoe, self.path)

    @property
    def camera(self) -> CameraSettings | None:
        """The camera's settings, paths made absolute; None for a table without a camera."""
        camera = self.config.camera
        return None if camera is None else camera.beside(self.path.parent)

    def endpoint(self, which: Literal["feed", "commands"]) -> str:
        """A ZeroMQ endpoint; an ``ipc://`` path is made absolute."""
        text: str = getattr(self.config.table, which)
        if text.startswith("ipc://"):
            return f"ipc://{self._beside(text.removeprefix('ipc://'))}"
        return text

    def _beside(self, name: str) -> Path:
        return _beside(self.path, name)


def _beside(path: Path, name: str) -> Path:
    return (path.parent / name).absolute()


def _beside_shoe(shoe: ShoeSettings, path: Path) -> ShoeSettings:
    """``shoe`` with its paths, which are relative to the file ``path``, made absolute."""

    def beside(name: str | None) -> str | None:
        return None if name is None else str(_beside(path, name))

    return msgspec.structs.replace(
        shoe,
        port=shoe.port if "://" in shoe.port else str(_beside(path, shoe.port)),
        tags=tuple(str(_beside(path, name)) for name in shoe.tags),
        record=beside(shoe.record),
        self_test=beside(shoe.self_test),
    )


def load(path: Path) -> Loaded:
    """Read and check a table file. Raises ``ConfigError``."""
    config = _decode(path)
    # The effective configuration goes on record; a camera's password does not.
    public = msgspec.structs.replace(config, camera=config.camera.public()) if config.camera is not None else config
    effective = msgspec.json.encode(msgspec.to_builtins(public), order="sorted").decode()
    digest = hashlib.sha256(effective.encode()).hexdigest()
    loaded = Loaded(config=config, path=path, effective=effective, digest=digest)
    found = [*problems(config, loaded.shoe), *_long_sockets(loaded)]
    if found:
        raise ConfigError("\n".join(f"{path}: {line}" for line in found))
    return loaded


def _decode(path: Path) -> TableConfig:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    try:
        config = msgspec.toml.decode(raw.decode(), type=TableConfig)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {explain(str(error), TableConfig)}") from error
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}: not TOML: line {line} is not UTF-8; save the file as UTF-8") from error
    except msgspec.DecodeError as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error
    _refuse_nul(path, msgspec.to_builtins(config), "")
    return config


def _refuse_nul(path: Path, value: Any, place: str) -> None:
    """No name of a file or a device may hold a NUL, which TOML can write."""
    if isinstance(value, str) and "\0" in value:
        raise ConfigError(f"{path}: {place}: text may not hold the character NUL")
    if isinstance(value, dict | list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            _refuse_nul(path, one, f"{place} {key}" if place else f"[{key}]")


def shoe_settings(path: Path) -> ShoeSettings:
    """The ``[shoe]`` section of a table file, with paths made absolute, whatever else is wrong with the file.

    For what is done to the shoe before it may be used. Raises ``ConfigError``.
    """
    return _beside_shoe(_decode(path).shoe, path)


def problems(config: TableConfig, shoe: ShoeSettings) -> list[str]:
    """What is wrong with a well-formed file, one line each. ``shoe``: its paths seen from the file."""
    from drivers.registry import open_shoe  # loads the driver's module only when a file is checked

    found = [f"[game] {text}" for text in config.game.problems()]
    found += _contradictions(config)
    found += [f"[record] {text}" for text in config.record.problems()]
    times = {name: getattr(config.game, name) for name in config.game.__struct_fields__ if name.endswith("_s")}
    found += [
        f"[game] {name} must be at most {_TIME_MAX_S:.0f} seconds, not {value:g}"
        for name, value in times.items()
        if not value <= _TIME_MAX_S  # nan, too
    ]
    if not _ID.fullmatch(config.table.id):
        found.append(f"[table] id {config.table.id!r}: 1 to 32 of a-z, 0-9 and -, beginning with a letter or digit")
    if config.table.min_free_mb < 0:
        found.append(f"[table] min_free_mb must be at least 0, not {config.table.min_free_mb}")
    found += [
        f"[table] {name} {text!r}: tcp://HOST:PORT or ipc://PATH"
        for name, text in (("feed", config.table.feed), ("commands", config.table.commands))
        if not _ENDPOINT.fullmatch(text)
    ]
    found += [
        f"[table] {name} {text!r}: the port must be 1 to {_PORT_MAX}, or * for any"
        for name, text in (("feed", config.table.feed), ("commands", config.table.commands))
        # ZeroMQ would take a larger one modulo 65536.
        if (match := _ENDPOINT.fullmatch(text)) and match[1] not in (None, "*") and int(match[1]) > _PORT_MAX
    ]
    try:
        config.metrics.address()
    except ValueError:
        found.append(
            f"[metrics] listen {config.metrics.listen!r}: a loopback address and port, such as 127.0.0.1:9701"
        )
    book = config.book()
    if book is not None:
        for text in book.problems(BOOKS[config.game.game].BETS):
            line = f"[{'limits' if text.startswith('limits') else 'game'}] {text}"
            found += [] if line in found else [line]
    if config.camera is not None:
        found += [f"[camera] {text}" for text in config.camera.problems()]
    if config.table.feed == config.table.commands and not config.table.feed.endswith(":*"):
        found.append(f"[table] feed and commands are both {config.table.feed!r}: each needs its own endpoint")
    try:
        capabilities = open_shoe(shoe).capabilities
    except SettingsError as error:
        return [*found, f"[shoe] {error}"]
    found += _sources_problems(config, names_cards=capabilities.identity_at_draw is True)
    if config.game.game != "baccarat" and capabilities.identity_at_draw is not True:
        found.append(
            f"[shoe] protocol {config.shoe.protocol!r} does not name every card as it is drawn, as blackjack needs: "
            "use another protocol, or game = 'baccarat' (an Angel Eye in open mode may serve with as_reader = true)"
        )
    return found


def _contradictions(config: TableConfig) -> list[str]:
    """Settings that another one makes void: whoever wrote them expects of the table what it would not do."""
    game, plain = config.game, GameOptions(game=config.game.game)
    found = []
    if game.decisions == "platform":
        found += [
            f'[game] {name} means nothing with decisions = "platform": remove it'
            for name in BOOK_ONLY
            if getattr(game, name) != getattr(plain, name)
        ]
        if config.limits:
            found.append(
                '[limits] with decisions = "platform" the platform keeps bets and limits: remove the section'
            )
        if config.wallet.kind == "embedded":
            found.append(
                '[wallet] kind = "embedded" holds accounts for the table\'s own bets: set decisions = "book"'
            )
    if game.shuffle == "every_round":
        found += [
            f'[game] shuffle = "every_round" has no last round and never runs short: remove {name}'
            for name in ("last_round_policy", "reserve")
            if getattr(game, name) != getattr(plain, name)
        ]
    return found


def _long_sockets(loaded: Loaded) -> list[str]:
    """``ipc://`` paths the kernel has no room for."""
    names: tuple[Literal["feed", "commands"], ...] = ("feed", "commands")
    return [
        f"[table] {name}: the path {path} is longer than {_SOCKET_PATH_MAX} bytes: choose a shorter one, in /run"
        for name in names
        if (path := loaded.endpoint(name).partition("ipc://")[2]) and len(path.encode()) > _SOCKET_PATH_MAX
    ]


def _sources_problems(config: TableConfig, *, names_cards: bool) -> list[str]:
    sources, game = config.validation.sources, config.game
    found = []
    if not 100 <= config.validation.confirm_within_ms <= 60_000:
        found.append(
            f"[validation] confirm_within_ms must be 100 to 60000, not {config.validation.confirm_within_ms}"
        )
    if sources == "camera" and game.game == "boundless":
        found.append(
            '[validation] sources = "camera" cannot serve boundless: its hole card is face down to the camera'
        )
    if sources == "camera" and game.burn != "none":
        found.append('[validation] sources = "camera" does not see burned cards: set burn = "none"')
    if sources == "both" and not names_cards:
        found.append('[validation] sources = "both" needs a shoe that names each card as it is drawn')
    return found
