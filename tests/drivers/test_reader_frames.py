"""Frames of the RFID readers, both directions: the vectors of the hardware page, and damaged ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.feig import frames as feig
from drivers.rr3036 import frames as rr
from drivers.settings import FrameForm
from drivers.tags import is_uid

FIRST, SECOND = "E004010012345678", "E0040100A1B2C3D4"
UIDS = st.binary(min_size=7, max_size=7).map(lambda serial: "E0" + serial.hex().upper())

FEIG_ANSWERS: list[tuple[str, FrameForm, int, list[str]]] = [
    ("02 00 13 00 B0 00 01 03 00 E0 04 01 00 12 34 56 78 03 71", "advanced", feig.OK, [FIRST]),
    (
        "02 00 1D 00 B0 00 02 03 00 E0 04 01 00 12 34 56 78 03 00 E0 04 01 00 A1 B2 C3 D4 EC 42",
        "advanced",
        feig.OK,
        [FIRST, SECOND],
    ),
    ("02 00 08 00 B0 01 19 CE", "advanced", feig.NO_TAG, []),
    ("11 00 B0 00 01 03 00 E0 04 01 00 12 34 56 78 D8 35", "standard", feig.OK, [FIRST]),
    ("06 00 B0 01 5C 63", "standard", feig.NO_TAG, []),
]


@pytest.mark.parametrize(
    ("text", "form"), [("02 00 09 FF B0 01 00 18 43", "advanced"), ("07 FF B0 01 00 1C 56", "standard")]
)
def test_feig_inventory(text: str, form: FrameForm) -> None:
    frame = bytes.fromhex(text)
    request = feig.Request(feig.INVENTORY, feig.NEW_INVENTORY)
    assert feig.encode_request(request, form) == frame
    assert feig.parse_request(frame) == request
    assert feig.form_of(frame) == form
    assert feig.parse_answer(frame) is None, "the host's own words are no answer"


@pytest.mark.parametrize(("text", "form", "status", "uids"), FEIG_ANSWERS)
def test_feig_answers(text: str, form: FrameForm, status: int, uids: list[str]) -> None:
    frame = bytes.fromhex(text)
    answer = feig.parse_answer(frame)
    assert answer is not None
    assert (answer.control, answer.status, answer.address) == (feig.INVENTORY, status, 0)
    assert [tag.uid for tag in feig.parse_tags(answer.data)] == uids
    assert feig.encode_answer(answer, form) == frame
    if uids:
        assert feig.encode_tags([feig.Tag(uid) for uid in uids]) == answer.data
    cutter = feig.frames()
    cuts = cutter.feed(b"\xff\xff\xc5\xfc" + frame + frame)
    assert [cut.raw for cut in cuts if cut.holds] == [frame, frame]


@pytest.mark.parametrize("text", [text for text, *_ in FEIG_ANSWERS])
def test_feig_with_any_bit_flipped_says_nothing(text: str) -> None:
    frame = bytes.fromhex(text)
    for place in range(8 * len(frame)):
        flipped = bytearray(frame)
        flipped[place // 8] ^= 1 << place % 8
        assert feig.parse_answer(bytes(flipped)) is None
        assert feig.parse_request(bytes(flipped)) is None


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("", None),
        ("00", None),
        ("01", "1 tags in 0 bytes"),
        ("02 03 00 E0 04 01 00 12 34 56 78", "2 tags in 10 bytes"),
        ("01 04 00 E0 04 01 00 12 34 56 78", "type 04"),
    ],
)
def test_feig_data_of_another_shape_names_no_tag(data: str, why: str | None) -> None:
    if why is None:
        assert feig.parse_tags(bytes.fromhex(data)) == []
    else:
        with pytest.raises(ValueError, match=why):
            feig.parse_tags(bytes.fromhex(data))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="standard"):
        feig.encode_answer(feig.Answer(feig.INVENTORY, feig.OK, bytes(300)), "standard")
    with pytest.raises(ValueError, match="fit"):
        rr.encode_answer(rr.Answer(rr.OK, bytes(300)))


@pytest.mark.parametrize(
    ("text", "request_"),
    [("05 00 00 00 76 6D", rr.INIT), ("05 00 00 06 40 08", rr.TO_ISO_15693), ("05 00 01 06 98 11", rr.INVENTORY)],
)
def test_rr3036_requests(text: str, request_: rr.Request) -> None:
    assert rr.encode_request(request_) == bytes.fromhex(text)
    assert rr.parse_request(bytes.fromhex(text)) == request_


@pytest.mark.parametrize(
    ("text", "status", "uids"),
    [
        ("04 00 00 52 5A", rr.OK, []),
        ("0D 00 00 00 78 56 34 12 00 01 04 E0 2F 35", rr.OK, [FIRST]),
        ("04 00 0E 2C B3", rr.NO_TAG, []),
    ],
)
def test_rr3036_answers(text: str, status: int, uids: list[str]) -> None:
    frame = bytes.fromhex(text)
    answer = rr.parse_answer(frame)
    assert answer is not None
    assert answer.status == status
    assert [tag.uid for tag in rr.parse_tags(answer.data)] == uids, "least significant byte first on the wire"
    assert rr.encode_answer(answer) == frame
    assert rr.encode_tags([rr.Tag(uid) for uid in uids]) == answer.data
    for place in range(8 * len(frame)):
        flipped = bytearray(frame)
        flipped[place // 8] ^= 1 << place % 8
        assert rr.parse_answer(bytes(flipped)) is None


def test_rr3036_data_of_another_shape_names_no_tag() -> None:
    with pytest.raises(ValueError, match="10 bytes"):
        rr.parse_tags(bytes(10))


@given(st.lists(UIDS, max_size=8))
def test_both_readers_tell_the_same_number_for_a_tag(uids: list[str]) -> None:
    assert [tag.uid for tag in feig.parse_tags(feig.encode_tags([feig.Tag(uid) for uid in uids]))] == uids
    assert [tag.uid for tag in rr.parse_tags(rr.encode_tags([rr.Tag(uid) for uid in uids]))] == uids
    assert all(map(is_uid, uids))


@given(st.binary(max_size=40))
def test_no_bytes_raise(data: bytes) -> None:
    for parse in (feig.parse_answer, feig.parse_request, rr.parse_answer, rr.parse_request):
        parse(data)
    for cutter in (feig.frames(), rr.frames()):
        cutter.feed(data)
        cutter.stalled()
