"""The example files: each is good as it stands, and what it shows behind a # is what is in force without it."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from controller.bus import keys
from controller.cards import DECKS, FACES
from controller.cli import main
from controller.config import TableConfig, load
from controller.console import floor as floors
from controller.rules.options import GameOptions
from drivers.registry import PROTOCOLS
from drivers.settings import ShoeSettings
from drivers.tags import TagRegistry, write_registry
from vision.layout import load as load_layout
from vision.profiles import load_profile
from vision.settings import CameraSettings

EXAMPLES = Path(__file__).parents[1] / "examples"
FLOOR = EXAMPLES / "floor.toml"
FILES = sorted(set(EXAMPLES.glob("*.toml")) - {FLOOR})
GAMES = [file for file in FILES if not file.name.startswith("device-")]
DEVICES = [file for file in FILES if file.name.startswith("device-")]
_BEHIND = re.compile(r"^# ([a-z_]+ = )", re.MULTILINE)


@pytest.fixture
def at(tmp_path: Path) -> Path:
    """A folder with the registries that the RFID examples name."""
    for number, shoe in enumerate(("red", "blue")):
        cards = {f"E004{number:02X}{n:010X}": face for n, face in enumerate(FACES * DECKS)}
        write_registry(tmp_path / f"{shoe}.toml", TagRegistry(shoe, cards))
    return tmp_path


def put(file: Path, folder: Path, text: str | None = None) -> Path:
    copy = folder / file.name
    copy.write_text(file.read_text() if text is None else text)
    return copy


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_is_good(file: Path, at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(put(file, at)), "--check"]) == 0
    out, _ = capsys.readouterr()
    assert ": good; table " in out


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_keys_behind_a_mark_are_keys(file: Path, at: Path) -> None:
    """A technician takes the mark away and changes the value."""
    text = file.read_text()
    assert _BEHIND.search(text) or file.stem == "device-angel-nport"
    load(put(file, at, _BEHIND.sub(r"\1", text)))


@pytest.mark.parametrize("file", GAMES, ids=lambda file: file.stem)
def test_a_game_shows_every_key_and_its_default(file: Path, at: Path) -> None:
    text = file.read_text()
    whole = load(put(file, at, _BEHIND.sub(r"\1", text))).config
    plain = load(put(file, at)).config
    shown = {
        name: getattr(whole.game, name) for name in GameOptions.__struct_fields__ if re.search(rf"\b{name} =", text)
    }
    for name, value in shown.items():
        default = plain.game.reserve_cards if name == "reserve" else getattr(plain.game, name)
        assert value == default or (name == "cut_card_left" and default is None), name
    # What is not shown means nothing for this game, and is refused there.
    hidden = set(GameOptions.__struct_fields__) - set(shown) - {"game"}
    assert all(any(f"{name} means nothing" in text for text in _changed(name, whole)) for name in hidden), hidden
    assert (whole.validation, whole.wallet, whole.log) == (plain.validation, plain.wallet, plain.log)


def _changed(name: str, config: TableConfig) -> list[str]:
    """What is said of another value of a rule."""
    value = getattr(config.game, name)
    other: object = not value if isinstance(value, bool) else "x" if isinstance(value, str) else 3
    return msgspec.structs.replace(config.game, **{name: other}).problems()


def test_every_game_and_every_protocol_has_one(at: Path) -> None:
    assert {load(put(file, at)).config.game.game for file in GAMES} == {"boundless", "classic", "baccarat"}
    assert {load(put(file, at)).config.shoe.protocol for file in DEVICES} == set(PROTOCOLS)


def test_every_key_of_a_shoe_is_shown_somewhere() -> None:
    text = "".join(file.read_text() for file in DEVICES)
    missing = [name for name in ShoeSettings.__struct_fields__ if not re.search(rf"\b{name} =", text)]
    assert missing == ["as_reader"]  # an Angel Eye for blackjack: docs/hardware/angel.md


def test_every_key_of_a_camera_is_shown_with_its_default(at: Path) -> None:
    file = EXAMPLES / "device-camera.toml"
    text = file.read_text()
    assert all(re.search(rf"^(# )?{name} =", text, re.MULTILINE) for name in CameraSettings.__struct_fields__)
    shown, plain = (load(put(file, at, one)).config.camera for one in (_BEHIND.sub(r"\1", text), text))
    assert shown is not None
    # A size and a rate are examples: by default they are the camera's own.
    assert msgspec.structs.replace(shown, width=0, height=0, fps=0.0) == plain
    load_layout(shown.layout)
    assert [load_profile(name).name for name in shown.profiles] == ["live-casino"]


@pytest.mark.parametrize("shown", [False, True], ids=["as it stands", "with every key of the console shown"])
def test_the_floor_is_good_and_shows_every_key(tmp_path: Path, shown: bool) -> None:
    etc = str(tmp_path)
    for table in ("bb-1", "bac-3", "bb-2"):
        keys.make_server(tmp_path / "keys" / table)
        keys.make_person(tmp_path / "keys" / table, "observer", "console")
    for name, game in (("bb-1", "boundless"), ("bac-3", "baccarat")):
        text = (EXAMPLES / f"{game}.toml").read_text()
        (tmp_path / f"{name}.toml").write_text(text.replace("/etc/dealerd", etc))
    text = FLOOR.read_text().replace("/etc/dealerd", etc)
    if shown:
        text = re.sub(r"^# ((?:[a-z_]+ = |\[\[).*)", r"\1", text, flags=re.MULTILINE)
    (tmp_path / "floor.toml").write_text(text)
    floor = floors.load(tmp_path / "floor.toml")
    assert list(floor.places) == (["bb-1", "bac-3", "bb-2"] if shown else ["bb-1"])
    # The unit may write there and nowhere else.
    assert floor.data == Path("/var/lib/dealerd/console")
    set_here = {"data": floor.console.data, "key": floor.console.key}
    assert floor.console == floors.ConsoleSection(**set_here)
    for section in (floors.ConsoleSection, floors.TableEntry):
        assert all(re.search(rf"^(# )?{name} =", text, re.MULTILINE) for name in section.__struct_fields__)


def test_no_two_examples_share_an_address(at: Path) -> None:
    loaded = [load(put(file, at)) for file in FILES]
    addresses = [one.endpoint(which) for one in loaded for which in ("feed", "commands")]
    addresses += [one.config.metrics.listen for one in loaded if one.config.metrics.listen]
    assert len(set(addresses)) == len(addresses)
    assert len({one.config.table.id for one in loaded}) == len(loaded)
