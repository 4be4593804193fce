"""Settings of a shoe, and the table of protocols."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest

from drivers.decode import decode_capture
from drivers.errors import DriverError, SettingsError
from drivers.registry import PROTOCOLS, open_shoe, shoe_class
from drivers.settings import LineSettings, ShoeSettings
from drivers.simulated.tag_deck import made_registry
from drivers.tag_shoe import TagShoe
from drivers.tags import write_registry


def test_every_protocol_loads_and_decodes_captures(tmp_path: Path) -> None:
    registry = tmp_path / "tags.toml"
    write_registry(registry, made_registry(1))
    for name in PROTOCOLS:
        shoe = shoe_class(name)
        assert shoe.protocol == name
        tags = (str(registry),) if issubclass(shoe, TagShoe) else ()
        assert open_shoe(ShoeSettings(protocol=name, port="/dev/none", tags=tags)).state.value == "starting"
        assert decode_capture(name, [])[0] == []


def test_an_unknown_protocol_names_the_known_ones() -> None:
    with pytest.raises(SettingsError, match="angel, feig, line"):
        open_shoe(ShoeSettings(protocol="angle", port="/dev/none"))
    with pytest.raises(DriverError, match="angel, feig, line"):
        decode_capture("angle", [])


def test_what_is_not_set_is_the_protocols_default() -> None:
    default = LineSettings(baudrate=4800)
    assert ShoeSettings(protocol="angel", port="x").line(default) == default
    changed = ShoeSettings(protocol="angel", port="x", baudrate=9600, bytesize=7, parity="E", stopbits=2)
    assert changed.line(default) == LineSettings(9600, 7, "E", 2)


@pytest.mark.parametrize(
    "wrong",
    [{"port": ""}, {"baudrate": 0}, *({"repeat_window_s": value} for value in (-1.0, math.nan, math.inf))],
)
def test_numbers_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        ShoeSettings(**{"protocol": "line", "port": "x", **wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("protocol", "setting", "message"),
    [
        ("line", {"tags": ("x",)}, "tags has no effect with protocol 'line'"),
        ("angel", {"poll_s": 0.05}, "poll_s has no effect"),
        ("ssi", {"address": 0}, "address has no effect"),
        ("rr3036", {"frames": "standard"}, "frames has no effect"),
        ("feig", {"trigger": "keyence"}, "trigger has no effect"),
        ("ssi", {"acknowledge": True}, "acknowledge has no effect"),
        ("line", {"trigger": "ssi"}, "trigger 'ssi' is not for protocol 'line'"),
        ("ssi", {"trigger": "gm65"}, "trigger 'gm65' is not for protocol 'ssi'"),
        ("feig", {"address": 256}, "address is 256"),
        ("feig", {"poll_s": 0.01}, "poll_s is 0.01"),
        ("feig", {"poll_s": math.nan}, "poll_s is nan"),
    ],
)
def test_settings_that_mean_nothing_to_a_protocol_are_refused(
    protocol: str, setting: dict[str, object], message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        ShoeSettings(protocol=protocol, port="x", **setting)  # type: ignore[arg-type]


def test_from_a_configuration() -> None:
    settings = msgspec.convert(
        {"protocol": "line", "port": "x", "code_set": "suit_rank", "cut_codes": ["X"], "parity": "E"}, ShoeSettings
    )
    assert settings.cut_codes == ("X",)
    for wrong in ({"bauds": 1}, {"parity": "even"}, {"code_set": "other"}, {"repeat_window_s": -1.0}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"protocol": "line", "port": "x", **wrong}, ShoeSettings)
    with pytest.raises(SettingsError, match="cut code"):
        open_shoe(ShoeSettings(protocol="line", port="x", cut_codes=("D12",)))


def test_capabilities() -> None:
    line, angel = shoe_class("line").capabilities, shoe_class("angel").capabilities
    assert (line.identity_at_draw, line.positions, line.sequence_numbers) == (True, False, False)
    assert (angel.identity_at_draw, angel.positions, angel.sequence_numbers) == (None, True, True)
    for name in ("ssi", "feig", "rr3036"):
        assert shoe_class(name).capabilities == line
    assert shoe_class("feig").default_line == LineSettings(38400, 8, "E", 1)
    assert shoe_class("rr3036").default_line == LineSettings(19200)


def test_a_window_too_short_for_three_copies_is_refused() -> None:
    open_shoe(ShoeSettings(protocol="angel", port="x", repeat_window_s=0.3))
    with pytest.raises(SettingsError, match="three copies"):
        open_shoe(ShoeSettings(protocol="angel", port="x", repeat_window_s=0.1))
