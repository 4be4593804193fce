"""A baccarat shoe that tells faces only when the hands are dealt, beside a camera (hardware 1.1, design 4)."""

from __future__ import annotations

from typing import Any

import pytest

from controller import facts as f
from controller.table.state import Traits
from drivers import events as e

ANGEL = Traits(positions=True, results=True, standby=True)
PLACES = ("player/0", "banker/0", "player/1", "banker/1")
FACES = dict(zip(PLACES, ("TS", "KD", "9H", "8C"), strict=True))  # 9 against 8: no third card


def watching(bench: Any) -> Any:
    b = bench("baccarat", traits=ANGEL, sources="both", burn="none")
    b.ok("camera_health", ok=True, role="camera")
    return b.open_round()


def lay(b: Any, place: str, seen: str | None) -> None:
    side, _, n = place.partition("/")
    b.shoe(e.CardDrawn("**", side, int(n) + 1))  # type: ignore[arg-type]
    if seen is not None:
        b.see((place, seen))


def told(place: str, face: str) -> e.CardRevealed:
    side, _, n = place.partition("/")
    return e.CardRevealed(face, side, int(n) + 1)  # type: ignore[arg-type]


def turned(bench: Any, **other: str) -> Any:
    """All four lie face up for the camera; the shoe has told its faces and its result."""
    b = watching(bench)
    for place in PLACES:
        lay(b, place, FACES[place])
    b.shoe(*(told(place, other.get(place.replace("/", ""), face)) for place, face in FACES.items()))
    b.shoe(e.RoundResult("player", False, False), e.StandBy())
    return b


def test_a_card_without_a_face_counts_when_the_camera_sees_one_there(bench: Any) -> None:
    b = watching(bench)
    for place, seen in zip(PLACES, ("TS", "**", "??", "8C"), strict=True):
        lay(b, place, seen)
    assert [(c.position, c.card) for c in b.state.round.cards] == [(place, "**") for place in PLACES]
    assert not b.state.incidents
    assert b.step == "draw player/2"


def test_no_face_of_the_camera_is_published_before_the_shoe_tells_it(bench: Any) -> None:
    b = watching(bench)
    for place in PLACES:
        lay(b, place, FACES[place])
    said = [str(r.fact.public_data()) for r in b.records if r.fact.PUBLIC and not isinstance(r.fact, f.ShoeEnded)]
    assert not any(face in text for face in FACES.values() for text in said)


def test_a_coup_that_both_agree_on(bench: Any) -> None:
    b = turned(bench)
    assert b.state.phase == "result"
    assert not b.state.incidents
    assert b.last(f.RoundResult).outcomes["winner"] == "player"


def test_no_result_before_the_camera_has_seen_each_face(bench: Any) -> None:
    b = watching(bench)
    for place in PLACES:
        lay(b, place, "**")
    b.shoe(*(told(place, face) for place, face in FACES.items()))
    b.shoe(e.RoundResult("player", False, False), e.StandBy())
    for place, face in FACES.items():
        assert b.step == f"sight {place}"
        b.see((place, face))
    assert b.state.phase == "result"


@pytest.mark.parametrize("place", PLACES)
def test_M_03_the_camera_saw_another_face_than_the_shoe_tells(bench: Any, place: str) -> None:
    b = turned(bench, **{place.replace("/", ""): "2D" if FACES[place][0] in "TK" else "9D"})
    assert b.state.phase != "result"
    assert any(i.cause == "M-03" for i in b.state.incidents.values())
    assert "round_result" not in b.types()


def test_M_03_a_face_that_the_camera_never_sees(bench: Any) -> None:
    b = watching(bench)
    for place in PLACES:
        lay(b, place, "**" if place == "banker/1" else FACES[place])
    b.shoe(*(told(place, face) for place, face in FACES.items()))
    b.shoe(e.RoundResult("player", False, False), e.StandBy())
    assert b.step == "sight banker/1"
    b.wait()
    assert b.incident == "M-03"
    b.resolve("resume")
    assert b.state.phase == "result"


def test_what_the_shoe_tells_before_the_camera_has_seen_the_last_card_waits_for_it(bench: Any) -> None:
    b = watching(bench)
    for place in PLACES[:3]:
        lay(b, place, FACES[place])
    lay(b, "banker/1", None)
    b.shoe(*(told(place, face) for place, face in FACES.items()))
    b.shoe(e.RoundResult("player", False, False), e.StandBy())
    assert b.step == "sight banker/1"
    assert "card_revealed" not in b.types()
    b.see(("banker/1", "8C"))
    assert b.state.phase == "result"
    assert not b.state.incidents


def test_an_open_shoe_announces_its_result_before_the_camera_has_seen_the_last_card(bench: Any) -> None:
    b = watching(bench)
    for place, face in FACES.items():
        side, _, n = place.partition("/")
        b.shoe(e.CardDrawn(face, side, int(n) + 1))  # type: ignore[arg-type]
        if place != "banker/1":
            b.see((place, face))
    b.shoe(e.RoundResult("player", False, False), e.StandBy())
    assert b.step == "sight banker/1"
    b.see(("banker/1", "8C"))
    assert b.state.phase == "result"
    assert not b.state.incidents


def test_M_03_another_face_lay_there_before_the_shoe_told_one(bench: Any) -> None:
    b = watching(bench)
    lay(b, "player/0", "5C")  # a card whose telegram was lost, and the next one upon it
    b.see(("player/0", FACES["player/0"]))
    for place in PLACES[1:]:
        lay(b, place, FACES[place])
    b.shoe(*(told(place, face) for place, face in FACES.items()))
    b.shoe(e.RoundResult("player", False, False), e.StandBy())
    assert b.incident == "M-03"
    assert "round_result" not in b.types()


def test_M_30_a_shoe_that_boots_after_the_camera_has_seen_a_card(bench: Any) -> None:
    b = watching(bench)
    b.see(("player/0", "5C"))
    b.shoe(e.Started())
    assert b.incident == "M-30"
