"""Tag registries: what is read, what is refused and where, how they are written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from controller.cards import CUT, DECKS, FACES
from drivers.errors import SettingsError
from drivers.registry import open_shoe
from drivers.settings import ShoeSettings
from drivers.tags import (
    RegistryError,
    Shoes,
    TagRegistry,
    check_shoe_name,
    count_faults,
    load_registry,
    parse_registry,
    registry_text,
    uid_text,
    write_registry,
)


def uid(number: int) -> str:
    return f"E00401{number:010X}"


WHOLE = TagRegistry("red-1", {uid(n): face for n, face in enumerate(FACES * DECKS)} | {uid(999): CUT})
HEAD = 'version = 1\nshoe = "red"\n[tags]\n'


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "red.toml"
    write_registry(path, WHOLE)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert load_registry(path) == WHOLE
    assert parse_registry(registry_text(WHOLE)) == WHOLE
    assert [file.name for file in tmp_path.iterdir()] == ["red.toml"]
    write_registry(path, TagRegistry("blue", {}))
    assert load_registry(path, finished=False) == TagRegistry("blue", {})


def test_a_registry_that_cannot_be_put_there_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError):
        write_registry(tmp_path / "taken", WHOLE)
    assert [file.name for file in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + f'{uid(1)} = "AS"\n{uid(2)} = "TD"\n{uid(1)} = "KH"\n', f"line 6: tag {uid(1)} is in line 4 already"),
        (HEAD + f'{uid(1)} = "1S"\n', "line 4: '1S' is not a card"),
        (HEAD + f"\n# red\n{uid(1)} = 7\n", "line 6: '7' is not a card"),
        (HEAD + 'E004 = "AS"\n', "line 4: tag 'E004' is not 16"),
        (HEAD + '0104010012345678 = "AS"\n', "line 4: tag '0104010012345678' is not 16"),
        (HEAD + f'{uid(10).lower()} = "AS"\n', "line 4: tag 'e00401"),
        (HEAD + "nonsense\n", "not TOML"),
        ('version = 2\nshoe = "red"\n[tags]\n', "version is 2: this program reads version 1"),
        ('shoe = "red"\n[tags]\n', "version is None"),
        ("version = 1\n[tags]\n", "shoe must be there"),
        ('version = 1\nshoe = "red"\ntags = 3\n', "tags must be there"),
        ('version = 1\nshoe = "Red one"\n[tags]\n', "shoe 'Red one'"),
        ('version = 1\nshoe = "red"\ncolour = 1\n[tags]\n', "unknown key 'colour'"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ValueError) as error:
        parse_registry(text)
    assert message in str(error.value)


def test_a_shoe_that_is_not_whole_is_refused_with_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "red.toml"
    cards = dict(WHOLE.cards)
    removed = next(tag for tag, card in cards.items() if card == "TD")
    cards[removed] = "AS"
    write_registry(path, TagRegistry("red", cards))
    with pytest.raises(RegistryError, match=r"red.toml: not a whole shoe: 9 of AS, not 8, 7 of TD, not 8"):
        load_registry(path)
    write_registry(path, TagRegistry("red", {}))
    with pytest.raises(RegistryError, match="and 47 more"):
        load_registry(path)
    with pytest.raises(RegistryError, match="cannot be read"):
        load_registry(tmp_path / "none.toml")
    (tmp_path / "wrong").write_text("version = 3")
    with pytest.raises(RegistryError, match="wrong: version is 3"):
        load_registry(tmp_path / "wrong")


def test_small_parts() -> None:
    assert uid_text(bytes.fromhex("E004010012345678")) == "E004010012345678"
    with pytest.raises(ValueError, match="8 bytes"):
        uid_text(b"\xe0")
    assert check_shoe_name("red-1") == "red-1"
    assert count_faults(WHOLE.cards.values()) == []
    assert Shoes([WHOLE]).find(uid(999)) == ("red-1", CUT)
    assert Shoes().find(uid(1)) is None


@pytest.mark.parametrize("protocol", ["feig", "rr3036"])
def test_a_reader_needs_registries(protocol: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="tags is missing"):
        open_shoe(ShoeSettings(protocol=protocol, port="/dev/none"))
    path = tmp_path / "red.toml"
    write_registry(path, WHOLE)
    driver = open_shoe(ShoeSettings(protocol=protocol, port="/dev/none", tags=(str(path),)))
    assert driver.capabilities.identity_at_draw
    assert "not yet run on a reader" in (driver.unverified() or "")
    driver.new_shoe()
    with pytest.raises(SettingsError, match="two registries are of shoe 'red-1'"):
        open_shoe(ShoeSettings(protocol=protocol, port="/dev/none", tags=(str(path), str(path))))
    with pytest.raises(SettingsError, match="two polls"):
        open_shoe(ShoeSettings(protocol=protocol, port="/dev/none", tags=(str(path),), repeat_window_s=0.05))
    with pytest.raises(SettingsError, match="cannot be read"):
        open_shoe(ShoeSettings(protocol=protocol, port="/dev/none", tags=(str(tmp_path / "other.toml"),)))
