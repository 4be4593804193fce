"""A deck is enrolled from labelled pictures, or refused with what is wrong: labels, look-alikes, what is missing."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.deck import EnrolmentError, Labelled, Report, check_separable, enrol
from calibration.deck_sheet import contact_sheet
from controller.cards import RANKS, SUITS
from controller.cli import main
from vision.glyphs import Glyphs
from vision.pixels import Image
from vision.profiles import DeckProfile, ProfileError, decode_profile, encode_profile, load_profile
from vision.recognise import Recogniser
from vision.simulated.faces import face

CARD_MM = (63.0, 88.0)
#: One card for each rank, every suit several times.
SHOWN = [rank + SUITS[n % 4] for n, rank in enumerate(RANKS)]


def photograph(card: str, width: int = 190, angle: float = 4.0) -> Image:
    """``card`` on green felt, a little turned."""
    drawn, mask = face(card, "standard", CARD_MM)
    height = round(width * 88 / 63)
    picture = cv2.resize(drawn, (width, height), interpolation=cv2.INTER_AREA)
    alpha = cv2.resize(mask, (width, height), interpolation=cv2.INTER_AREA)
    canvas = np.full((height + 80, width + 80, 3), (60, 100, 40), np.uint8)
    place = canvas[40 : 40 + height, 40 : 40 + width]
    place[alpha > 127] = picture[alpha > 127]
    matrix = cv2.getRotationMatrix2D((canvas.shape[1] / 2, canvas.shape[0] / 2), angle, 1.0)
    size = (canvas.shape[1], canvas.shape[0])
    return np.asarray(cv2.warpAffine(canvas, matrix, size, borderValue=(60, 100, 40)), np.uint8)


@pytest.fixture(scope="module")
def pictures() -> list[Labelled]:
    return [Labelled(f"{card}.png", photograph(card), card) for card in SHOWN]


@pytest.fixture(scope="module")
def enrolled(pictures: list[Labelled]) -> DeckProfile:
    profile, report = enrol(pictures, "house")
    assert report.borrowed == ""
    return profile


def test_an_enrolled_deck_has_every_glyph_and_its_place(enrolled: DeckProfile) -> None:
    assert set(enrolled.own) == set(RANKS + SUITS)
    assert enrolled.rank_zone is not None
    assert enrolled.rank_zone.y < 0.2


def test_an_enrolled_deck_reads_cards_that_no_picture_showed(enrolled: DeckProfile) -> None:
    unseen = ["QH", "6S", "9C", "TS"]
    assert not set(unseen) & set(SHOWN)
    reader = Recogniser([enrolled])
    assert [[one.card for one in reader.read(photograph(card, angle=175))] for card in unseen] == [
        [c] for c in unseen
    ]


def test_a_profile_is_the_same_after_its_file(enrolled: DeckProfile) -> None:
    again = decode_profile(encode_profile(enrolled), "test")
    assert encode_profile(again) == encode_profile(enrolled)
    assert (again.own, again.rank_zone) == (enrolled.own, enrolled.rank_zone)


def test_a_wrong_label_is_refused_and_named(pictures: list[Labelled]) -> None:
    wrong = [*pictures, Labelled("liar.png", photograph("4S"), "6S")]
    with pytest.raises(EnrolmentError, match=r"liar\.png: labelled rank 6, but it looks like 4"):
        enrol(wrong, "house")


def test_missing_glyphs_are_refused_or_taken_from_a_base(pictures: list[Labelled]) -> None:
    some = [one for one in pictures if one.card[0] not in "7Q"]
    with pytest.raises(EnrolmentError, match="no picture shows 7 Q"):
        enrol(some, "house")
    profile, report = enrol(some, "house", base=load_profile("standard"))
    assert report.borrowed == "7Q"
    assert not set("7Q") & set(profile.own)


def test_glyphs_that_look_alike_are_refused(enrolled: DeckProfile) -> None:
    glyphs = enrolled.glyphs
    ranks = glyphs.ranks.copy()
    three, eight = glyphs.rank_names.index("3"), glyphs.rank_names.index("8")
    ranks[[n for n, name in enumerate(glyphs.rank_names) if name == "8"]] = ranks[three]
    ranks[eight] = ranks[three]
    alike = Glyphs(ranks, glyphs.rank_names, glyphs.suits, glyphs.suit_names)
    with pytest.raises(EnrolmentError, match=r"cannot be told apart: (3 and 8|8 and 3)"):
        check_separable(alike, Report())


def test_pictures_that_nobody_could_read_give_the_base_or_nothing() -> None:
    tiny = [Labelled("tiny.png", photograph("KS", width=24), "KS")]
    with pytest.raises(EnrolmentError, match="no picture shows"):
        enrol(tiny, "house")
    profile, report = enrol(tiny, "house", base=load_profile("standard"))
    assert profile.own == ""
    assert [file for file, _ in report.unused + report.dropped]


def test_a_back_is_kept(pictures: list[Labelled]) -> None:
    profile, _ = enrol([*pictures, Labelled("back.png", photograph("**"), "**")], "house")
    assert len(profile.backs) == 1


def test_the_contact_sheet_shows_every_name(pictures: list[Labelled]) -> None:
    profile, report = enrol(pictures, "house")
    sheet = contact_sheet(profile, report)
    assert sheet.shape[0] > 17 * 60
    assert (sheet < 100).any()


def test_the_command_writes_profile_and_sheet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for card in SHOWN:
        cv2.imwrite(str(tmp_path / f"{card}.png"), photograph(card))
    (tmp_path / "labels.csv").write_text("".join(f"{card}.png,{card}\n" for card in SHOWN))
    words = ["calibrate", "deck", "--name", "house", "--labels", str(tmp_path / "labels.csv")]
    words += ["--out", str(tmp_path / "house.json"), "--sheet", str(tmp_path / "house.png")]
    assert main(words) == 0
    assert "look at" in capsys.readouterr().out
    assert (tmp_path / "house.png").stat().st_size > 1000
    assert main(["recognise", "--profile", str(tmp_path / "house.json"), str(tmp_path / "KS.png")]) == 0
    assert [card["card"] for card in json.loads(capsys.readouterr().out)["cards"]] == ["KS"]


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ("a.png;KS\n", "labels.csv, line 1: neither"),
        ("a.png,1S\n", "line 1: '1S' is not a card"),
        ('{"file": "a.png", "card": "KS", "quad": [[1, 2]]}\n', "a quad has 4 corners"),
        ("a.png,KS\n", "a.png: cannot be read"),
        ("\n", "holds no label"),
    ],
)
def test_wrong_labels_are_told_with_their_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], labels: str, told: str
) -> None:
    (tmp_path / "labels.csv").write_text(labels)
    words = ["calibrate", "deck", "--name", "house", "--labels", str(tmp_path / "labels.csv")]
    assert main([*words, "--out", str(tmp_path / "a.json"), "--sheet", str(tmp_path / "a.png")]) == 2
    assert told in capsys.readouterr().err


def test_a_broken_profile_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(ProfileError, match=r"x\.json"):
        load_profile(tmp_path / "x.json")
    with pytest.raises(ProfileError, match="built in are standard"):
        load_profile("nosuch")
