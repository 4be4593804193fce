"""Cards drawn on a table in perspective are named, backs and lettering are not, doubt is told with its reason."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import cv2
import numpy as np
import pytest

from vision.pixels import Image
from vision.profiles import BACK_SIZE, built_in, load_profile
from vision.recognise import Found, Recogniser, decide
from vision.simulated.faces import face
from vision.simulated.felt import Felt
from vision.simulated.render import Conditions, Renderer
from vision.simulated.scene import scene

SIZE = (1280, 720)


def picture(cards: dict[str, str], name: str = "baccarat", *, down: tuple[str, ...] = ()) -> Image:
    table = scene(name)
    felt = Felt(table, Random(7), speed=0)
    for position, card in cards.items():
        felt.place(card, position, 0.0, face_up=position not in down)
    frame = Renderer(table, SIZE, 3).frame(felt.cards, [], Conditions(), felt.version)
    return np.asarray(frame, np.uint8)


@pytest.fixture(scope="module")
def table_reader() -> Recogniser:
    layout = scene("baccarat").layout(SIZE)
    return Recogniser([load_profile("live-casino")], layout.geometry())


def names(found: list[Found]) -> list[str]:
    return sorted(one.card for one in found if one.card is not None)


def test_every_card_of_a_drawn_coup_is_named(table_reader: Recogniser) -> None:
    cards = {
        "player/0": "QH",
        "player/1": "6S",
        "player/2": "9D",
        "banker/0": "TC",
        "banker/1": "AD",
        "banker/2": "3S",
    }
    found = table_reader.read(picture(cards))
    assert names(found) == sorted(cards.values())


def test_a_quad_lies_where_the_card_lies(table_reader: Recogniser) -> None:
    geometry = scene("baccarat").layout(SIZE).geometry()
    (one,) = [one for one in table_reader.read(picture({"banker/0": "5H"})) if one.kind == "card"]
    middle = np.mean(scene("baccarat").positions["banker/0"], axis=0)
    assert np.hypot(*(geometry.to_mm(one.quad).mean(axis=0) - middle)) < 6


def test_a_card_face_down_is_a_back_and_has_no_name(table_reader: Recogniser) -> None:
    found = table_reader.read(picture({"player/0": "QH"}, down=("player/0",)))
    assert [one.kind for one in found] == ["back"]
    assert names(found) == []


def with_back(back: Image) -> Recogniser:
    small = np.asarray(cv2.resize(back, BACK_SIZE, interpolation=cv2.INTER_AREA), np.uint8)
    profile = replace(load_profile("live-casino"), backs=small[None])
    return Recogniser([profile], scene("baccarat").layout(SIZE).geometry())


def test_a_deck_that_knows_its_back_takes_no_other_and_never_a_face_for_it() -> None:
    table = picture({"player/0": "QH", "banker/0": "8S"}, down=("player/0",))
    own, _ = face("**", "live", (63.0, 88.0))
    mine = with_back(own).read(table)
    assert sorted((one.kind, one.card) for one in mine) == [("back", None), ("card", "8S")]
    another = with_back(np.ascontiguousarray(own[:, :, ::-1])).read(table)
    assert sorted((one.kind, one.card, one.reason) for one in another if one.kind != "card") == [
        ("unknown", None, "face down, but the back is not that of this deck")
    ]
    assert names(another) == ["8S"]


def test_felt_lettering_is_no_card(table_reader: Recogniser) -> None:
    assert table_reader.read(picture({})) == []


def test_without_profile_and_geometry_a_photograph_names_no_wrong_card() -> None:
    cards = {"player/0": "KS", "banker/0": "7D"}
    found = Recogniser(built_in()).read(picture(cards))
    assert set(names(found)) <= set(cards.values())
    assert names(found) != []


def test_blur_is_refused_with_its_reason(table_reader: Recogniser) -> None:
    blurred = np.asarray(cv2.GaussianBlur(picture({"player/0": "8C"}), (0, 0), 6), np.uint8)
    found = table_reader.read(blurred)
    assert names(found) == []
    assert all(one.reason for one in found if one.kind == "unknown")


def test_no_corner_no_name() -> None:
    assert decide([[], []], alone=0.95) == (None, 0.0, "no index found")


def test_a_recogniser_without_decks_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one deck profile"):
        Recogniser([])
