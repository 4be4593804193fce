"""Which card a tag is in: one registry file a shoe, TOML, written by ``dealerd calibrate tags``.

::

    version = 1
    shoe = "red-1"

    [tags]
    E004010012345678 = "AS"
    …

A tag's number is 16 hexadecimal digits, most significant first, so that it begins with ``E0`` (ISO 15693, hardware
page 2.7); readers that send it the other way round are turned in their drivers. A finished registry has 416 tags,
eight of each face, and may have tags of the cut card (``"CUT"``) besides. Who has the file and a reader can name
face-down cards: it is written for its owner only (mode 0600).
"""

from __future__ import annotations

import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from controller.cards import CUT, DECKS, FACES, is_card
from drivers.errors import SettingsError

VERSION: Final = 1
UID_BYTES: Final = 8
UID_FIRST: Final = 0xE0

_UID: Final = re.compile(r"E0[0-9A-F]{14}")
_SHOE: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_TAG_LINE: Final = re.compile(r"\s*[\"']?([0-9A-Za-z]+)[\"']?\s*=")
_KEYS: Final = ("version", "shoe", "tags")


class RegistryError(SettingsError):
    """A registry file cannot be used; the message names the file and, where there is one, the line."""


class Owner(NamedTuple):
    """Where a tag belongs."""

    shoe: str
    card: str


class TagRegistry(NamedTuple):
    """The tags of one shoe: number → face, or ``CUT``."""

    shoe: str
    cards: Mapping[str, str]


def is_uid(text: str) -> bool:
    """True for the number of an ISO 15693 tag as written here."""
    return _UID.fullmatch(text) is not None


def uid_text(uid: bytes) -> str:
    """``uid``, most significant byte first, as written everywhere here. Raises ``ValueError`` for another length."""
    if len(uid) != UID_BYTES:
        raise ValueError(f"a tag's number has {UID_BYTES} bytes, not {len(uid)}")
    return uid.hex().upper()


def count_faults(cards: Iterable[str]) -> list[str]:
    """What keeps ``cards`` from being one shoe, in words: ``"7 of TD, not 8"``. Empty if nothing does."""
    counts = Counter(cards)
    return [f"{counts[face]} of {face}, not {DECKS}" for face in FACES if counts[face] != DECKS]


def check_shoe_name(name: str) -> str:
    """``name`` if it can name a shoe. Raises ``ValueError``."""
    if not _SHOE.fullmatch(name):
        raise ValueError(f"shoe {name!r}: 1 to 32 of a-z, 0-9 and -, beginning with a letter or digit")
    return name


def load_registry(path: Path, *, finished: bool = True) -> TagRegistry:
    """The registry in ``path``; ``finished`` demands all 416 tags. Raises ``RegistryError``."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RegistryError(f"{path}: cannot be read: {error}") from error
    try:
        registry = parse_registry(text)
    except ValueError as error:
        raise RegistryError(f"{path}: {error}") from error
    faults = count_faults(registry.cards.values()) if finished else []
    if faults:
        more = f" and {len(faults) - 5} more" if len(faults) > 5 else ""
        raise RegistryError(f"{path}: not a whole shoe: {', '.join(faults[:5])}{more}: dealerd calibrate tags")
    return registry


def parse_registry(text: str) -> TagRegistry:
    """The registry that ``text`` writes, of any number of tags. Raises ``ValueError`` naming the line."""
    lines = _tag_lines(text)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"not TOML: {error}") from error
    _check_head(table)
    cards: dict[str, str] = {}
    for uid, card in table["tags"].items():
        where = f"line {lines.get(uid, 0)}"
        if not is_uid(uid):
            raise ValueError(f"{where}: tag {uid[:20]!r} is not 16 upper-case hexadecimal digits that begin with E0")
        if not (isinstance(card, str) and (is_card(card) or card == CUT)):
            raise ValueError(f"{where}: {str(card)[:20]!r} is not a card such as TD, nor {CUT}")
        cards[uid] = card
    return TagRegistry(table["shoe"], cards)


def registry_text(registry: TagRegistry) -> str:
    """``registry`` as ``parse_registry`` reads it, in the order of the faces."""
    rank = {card: n for n, card in enumerate((*FACES, CUT))}
    tags = sorted(registry.cards.items(), key=lambda item: (rank[item[1]], item[0]))
    head = f'# Tags of one shoe, written by dealerd calibrate tags.\nversion = {VERSION}\nshoe = "{registry.shoe}"\n'
    return head + "\n[tags]\n" + "".join(f'{uid} = "{card}"\n' for uid, card in tags)


def write_registry(path: Path, registry: TagRegistry) -> None:
    """Put ``registry`` into ``path`` (mode 0600), whole or not at all. Raises ``OSError``."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(registry_text(registry))
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


class Shoes:
    """All tags a table may meet: the registries of its shoes, none of whose tags is another's, too."""

    def __init__(self, registries: Iterable[TagRegistry] = ()) -> None:
        """Raises ``RegistryError`` if a tag or a name is in two of them."""
        self._owners: dict[str, Owner] = {}
        names: set[str] = set()
        for registry in registries:
            if registry.shoe in names:
                raise RegistryError(f"two registries are of shoe {registry.shoe!r}")
            names.add(registry.shoe)
            for uid, card in registry.cards.items():
                if uid in self._owners:
                    raise RegistryError(f"tag {uid} is in the shoes {self._owners[uid].shoe!r} and {registry.shoe!r}")
                self._owners[uid] = Owner(registry.shoe, card)

    def find(self, uid: str) -> Owner | None:
        """Where ``uid`` belongs; None if no registry has it."""
        return self._owners.get(uid)


def _tag_lines(text: str) -> dict[str, int]:
    """Line of each tag. Raises ``ValueError`` for a tag that stands there twice."""
    lines: dict[str, int] = {}
    in_tags = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().startswith("["):
            in_tags = line.partition("#")[0].strip() == "[tags]"
        match = _TAG_LINE.match(line)
        if not (in_tags and match):
            continue
        uid = match.group(1)
        if uid in lines:
            raise ValueError(f"line {number}: tag {uid} is in line {lines[uid]} already")
        lines[uid] = number
    return lines


def _check_head(table: dict[str, Any]) -> None:
    """Raises ``ValueError`` for anything but a registry of this version."""
    unknown = sorted(set(table) - set(_KEYS))
    if unknown:
        raise ValueError(f"unknown key {unknown[0]!r}: a registry has {', '.join(_KEYS)}")
    if table.get("version") != VERSION:
        raise ValueError(f"version is {table.get('version')!r}: this program reads version {VERSION}")
    for key, kind, what in (("shoe", str, "the name of a shoe"), ("tags", dict, "a table of its tags")):
        if not isinstance(table.get(key), kind):
            raise ValueError(f"{key} must be there and be {what}")  # noqa: TRY004  (it is the file's fault)
    check_shoe_name(table["shoe"])
