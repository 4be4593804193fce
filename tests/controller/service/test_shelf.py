"""Versions of a table's calibration: written once, with an author, never over another, and only if they hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.commands import CalibrationGet, CalibrationPut
from controller.refusal import Refusal
from controller.service.shelf import Shelf
from vision.layout import load
from vision.profiles import encode_profile, load_profile

AT = 1_796_000_000_000


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(str(tmp_path / "table.calibration"), "studio-boundless", ("live-casino",))


def moved(shelf: Shelf, by: float = 1.0, version: int | None = None) -> dict[str, Any]:
    """The layout in use with one place moved by ``by`` mm, as it comes over the wire."""
    found: dict[str, Any] = json.loads(msgspec.json.encode(shelf.get(CalibrationGet(version=version))["document"]))
    found["positions"]["player/0"] = [[x + by, y] for x, y in found["positions"]["player/0"]]
    return found


def put(shelf: Shelf, document: Any, seen: int, by: str = "technician:tess", deck: str | None = None) -> Any:
    args = CalibrationPut(document=document, seen_version=seen, reason="the table was moved", deck=deck)
    return shelf.put(args, by, AT)


def refused(shelf: Shelf, document: Any, seen: int, deck: str | None = None) -> Refusal:
    with pytest.raises(Refusal) as found:
        put(shelf, document, seen, deck=deck)
    return found.value


def test_the_layout_in_use_is_the_first_version(shelf: Shelf) -> None:
    found = shelf.get(CalibrationGet())
    assert (found["name"], found["version"], found["newest"], found["active"]) == ("studio-boundless", 1, 1, 1)
    assert found["document"]["positions"].keys() == load("studio-boundless").positions.keys()
    assert found["decks"] == ["live-casino"]
    assert not Path(shelf.folder).exists()  # a question writes nothing


def test_a_new_version_is_a_file_with_an_author_and_the_old_one_stays(shelf: Shelf) -> None:
    made = put(shelf, moved(shelf), 1)
    assert (made["version"], made["file"]) == (2, f"{shelf.folder}/studio-boundless-v2.toml")
    assert load(made["file"]).positions["player/0"][0] == (83.0, 238.0)
    before = Path(made["file"]).read_bytes()
    again = put(shelf, moved(shelf, version=2), 2, by="technician:tilo")
    assert Path(made["file"]).read_bytes() == before
    found = shelf.get(CalibrationGet(version=3))
    assert found["file"] == again["file"]
    assert found["document"]["positions"]["player/0"][0] == (84.0, 238.0)
    assert [(one["version"], one["active"], one["saved_by"]) for one in found["versions"]] == [
        (1, True, None), (2, False, "technician:tess"), (3, False, "technician:tilo"),
    ]  # fmt: skip
    assert found["versions"][1]["saved_at"] == "2026-11-30T00:53:20.000Z"
    assert found["versions"][1]["reason"] == "the table was moved"
    assert found["versions"][1]["sha256"] == made["sha256"]
    assert shelf.get(CalibrationGet())["version"] == 1  # what the camera uses


def test_a_version_that_the_table_file_names_is_in_use(shelf: Shelf) -> None:
    made = put(shelf, moved(shelf), 1)
    used = Shelf(shelf.folder, made["file"], shelf.profiles)
    found = used.get(CalibrationGet())
    assert (found["version"], found["active"], found["newest"]) == (2, 2, 2)
    assert put(used, moved(used), 2)["version"] == 3


def test_who_saw_an_older_version_is_told_who_was_faster(shelf: Shelf) -> None:
    put(shelf, moved(shelf), 1)
    late = refused(shelf, moved(shelf, 7.0), 1)
    assert late.code == "stale"
    assert "version 2 of studio-boundless was saved by technician:tess" in late.message
    assert late.expected == "seen_version 2"
    assert refused(shelf, moved(shelf, 7.0), 3).code == "stale"


def test_the_same_again_is_the_same_version_and_no_new_one(shelf: Shelf) -> None:
    document = moved(shelf)
    made = put(shelf, document, 1)
    assert put(shelf, document, 1) == made  # the answer was lost and it was sent again
    assert "nothing was changed" in refused(shelf, document, 2).message
    assert len(list(Path(shelf.folder).glob("*.toml"))) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"positions": {}}, "position 'burn/0' is missing"),
        ({"size": [10, 10]}, "size (10, 10): pixels, at least 64"),
        ({"white": [0.0, 1.0, 1.0]}, "white (0.0, 1.0, 1.0): gains"),
        ({"matrix": [[0.0] * 3] * 3}, "document: "),
        ({"matrix": "none"}, "$.matrix"),
        ({"colour": "green"}, "unknown field `colour`"),
    ],
)
def test_a_layout_that_does_not_hold_is_refused_with_its_fault(shelf: Shelf, change: Any, said: str) -> None:
    fault = refused(shelf, moved(shelf) | change, 1)
    assert fault.code == "bad_args"
    assert said in fault.message
    assert not Path(shelf.folder).exists()


def test_positions_must_be_those_of_the_table_and_larger_than_a_dot(shelf: Shelf) -> None:
    document = moved(shelf)
    document["positions"]["nowhere/9"] = document["positions"].pop("player/1")
    fault = refused(shelf, document, 1).message
    assert "position 'player/1' is missing" in fault
    assert "position 'nowhere/9' is none of this table's" in fault
    document = moved(shelf)
    document["positions"]["player/0"] = [[10.0, 10.0], [11.0, 10.0], [11.0, 11.0]]
    assert "positions 'player/0': smaller than half a card" in refused(shelf, document, 1).message


def test_a_deck_is_kept_in_versions_of_its_own(shelf: Shelf) -> None:
    profile: dict[str, Any] = json.loads(encode_profile(load_profile("live-casino"))) | {"name": "house"}
    made = put(shelf, profile, 0, deck="house")
    assert (made["kind"], made["version"], Path(made["file"]).name) == ("deck", 1, "house-v1.json")
    assert load_profile(made["file"]).name == "house"
    found = shelf.get(CalibrationGet(deck="house"))
    assert (found["version"], found["active"], found["document"]["name"]) == (1, None, "house")
    assert shelf.get(CalibrationGet())["decks"] == ["live-casino", "house"]
    assert shelf.get(CalibrationGet(deck="live-casino"))["active"] == 1
    used = Shelf(shelf.folder, shelf.layout, (made["file"],))
    assert used.get(CalibrationGet(deck="house"))["active"] == 1


def test_a_profile_that_cannot_tell_its_glyphs_apart_is_refused(shelf: Shelf) -> None:
    profile: dict[str, Any] = json.loads(encode_profile(load_profile("live-casino"))) | {"name": "house"}
    sixes = [one for one in profile["ranks"] if one["name"] == "6"]
    others = [one for one in profile["ranks"] if one["name"] != "9"]
    alike = profile | {"ranks": others + [one | {"name": "9"} for one in sixes]}
    assert "cannot be told apart: 6 and 9" in refused(shelf, alike, 0, "house").message
    less = profile | {"ranks": [one for one in profile["ranks"] if one["name"] != "Q"]}
    assert "no glyph of Q" in refused(shelf, less, 0, "house").message
    assert "is built in" in refused(shelf, profile, 0, "standard").message
    assert "small letters" in refused(shelf, profile, 0, "../etc").message
    assert "of deck 'house'" in refused(shelf, profile, 0, "studio").message
    assert not Path(shelf.folder).exists()


def test_what_is_not_there_is_said(shelf: Shelf) -> None:
    for args, said in (
        (CalibrationGet(version=9), "has no version 9"),
        (CalibrationGet(deck="../../etc/passwd"), "no deck"),
    ):
        with pytest.raises(Refusal, match=said) as found:
            shelf.get(args)
        assert found.value.code == "not_found"


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    shelf = Shelf(str(tmp_path / "file" / "under"), "studio-boundless", ("live-casino",))
    fault = refused(shelf, moved(shelf), 1)
    assert fault.code == "no_space"
    assert "cannot be written" in fault.message


def test_a_torn_index_costs_the_author_and_nothing_else(shelf: Shelf) -> None:
    put(shelf, moved(shelf), 1)
    index = Path(shelf.folder) / "versions.jsonl"
    index.write_bytes(b"\xff\n[1]\n{}\n" + index.read_bytes()[:20])
    (one,) = shelf.get(CalibrationGet())["versions"][1:]
    assert (one["version"], one["saved_by"]) == (2, None)
