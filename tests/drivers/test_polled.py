"""Readers that are asked: when, what for, and what their answers and their silence mean."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.decode import decode_capture
from drivers.errors import DeviceSilent
from drivers.events import CardDrawn, Event, Gap, NoRead, TagRepeated, TagsTogether, TagUnknown
from drivers.feig import frames as feig
from drivers.feig.codec import FeigDecoder
from drivers.mouth import Mouth
from drivers.polled import ANSWER_S, BLIND_S, POLL_S, SILENT_S, PolledTags
from drivers.rr3036 import frames as rr
from drivers.rr3036.codec import Rr3036Decoder
from drivers.tags import Shoes, TagRegistry

FIRST, SECOND = "E004010012345678", "E0040100A1B2C3D4"
SHOES = Shoes([TagRegistry("red", {FIRST: "AS", SECOND: "TD"})])
STEP_S = 0.01


def feig_answer(*uids: str, status: int | None = None) -> bytes:
    if status is None:
        status = feig.OK if uids else feig.NO_TAG
    data = feig.encode_tags([feig.Tag(uid) for uid in uids]) if uids else b""
    return feig.encode_answer(feig.Answer(feig.INVENTORY, status, data))


def rr_answer(*uids: str, status: int | None = None) -> bytes:
    if status is None:
        status = rr.OK if uids else rr.NO_TAG
    return rr.encode_answer(rr.Answer(status, rr.encode_tags([rr.Tag(uid) for uid in uids])))


class Bench:
    """A decoder and a clock; ``reader`` answers each request, None is silence."""

    def __init__(self, decoder: PolledTags) -> None:
        self.decoder = decoder
        self.now = 50.0
        self.asked: list[tuple[float, bytes]] = []
        self.events: list[Event] = []
        decoder.reopened()

    def run(self, seconds: float, reader: Callable[[bytes], bytes | None]) -> list[Event]:
        """As the driver does it: ask, read, decode; the events of this time."""
        before = len(self.events)
        end = self.now + seconds
        while self.now < end:
            request = self.decoder.outgoing(self.now)
            answer = None
            if request:
                self.asked.append((self.now, request))
                answer = reader(request)
            self.now += STEP_S
            said = self.decoder.decode(answer, self.now) if answer else self.decoder.idle(self.now)
            self.events += [event for event, _ in said]
        return self.events[before:]


@pytest.fixture
def bench() -> Bench:
    return Bench(FeigDecoder(Mouth(SHOES)))


def test_a_feig_reader_is_asked_for_inventories_at_the_interval(bench: Bench) -> None:
    bench.run(1.0, lambda _: feig_answer())
    inventory = feig.encode_request(feig.Request(feig.INVENTORY, feig.NEW_INVENTORY))
    assert {request for _, request in bench.asked} == {inventory}
    gaps = [after - before for (before, _), (after, _) in pairwise(bench.asked)]
    assert all(POLL_S - 1e-9 <= gap <= POLL_S + 1.5 * STEP_S for gap in gaps)
    assert bench.decoder.alive
    assert bench.decoder.poll_s <= POLL_S


def test_form_and_address_are_settings() -> None:
    bench = Bench(FeigDecoder(Mouth(SHOES), form="standard", address=0x07))
    bench.run(0.1, lambda _: None)
    assert feig.parse_request(bench.asked[0][1]) == feig.Request(feig.INVENTORY, feig.NEW_INVENTORY, 0x07)
    assert feig.form_of(bench.asked[0][1]) == "standard"
    other = Bench(Rr3036Decoder(Mouth(SHOES), address=0x07))
    other.run(0.1, lambda _: rr_answer(status=rr.OK))
    assert all(rr.parse_request(request).address == 0x07 for _, request in other.asked)  # type: ignore[union-attr]


def test_tags_become_cards(bench: Bench) -> None:
    assert bench.run(0.5, lambda _: feig_answer(FIRST)) == [CardDrawn("AS", tag=FIRST)]
    assert bench.run(0.5, lambda _: feig_answer()) == []
    assert bench.run(0.5, lambda _: feig_answer(SECOND, "E004010000000001")) == [
        TagsTogether("tags together", ("**", "TD"), (), (SECOND,))
    ]


def test_an_answer_that_does_not_come_is_waited_for_and_asked_again(bench: Bench) -> None:
    bench.run(0.1, lambda _: feig_answer())
    count = len(bench.asked)
    bench.run(ANSWER_S + POLL_S, lambda _: None)
    assert len(bench.asked) <= count + 2
    assert bench.run(0.2, lambda _: feig_answer(FIRST)) == [CardDrawn("AS", tag=FIRST)]


def test_damaged_answers_are_asked_for_again_and_name_no_tag(bench: Bench) -> None:
    def damaged(_: bytes) -> bytes:
        answer = bytearray(feig_answer(FIRST))
        answer[8] ^= 0x10
        return bytes(answer)

    assert bench.run(0.3, damaged) == []
    assert bench.decoder.stats.bad_checksum >= 3
    assert bench.run(0.2, lambda _: feig_answer(FIRST)) == [CardDrawn("AS", tag=FIRST)]


def test_a_time_without_inventories_is_a_gap(bench: Bench) -> None:
    bench.run(0.2, lambda _: feig_answer())
    bench.run(BLIND_S + 0.1, lambda _: None)
    [gap] = bench.run(0.3, lambda _: feig_answer())
    assert isinstance(gap, Gap)
    assert bench.decoder.stats.gaps == 1


def test_a_silent_reader_is_lost(bench: Bench) -> None:
    assert not bench.decoder.alive
    with pytest.raises(DeviceSilent, match="does not answer"):
        bench.run(SILENT_S + 1, lambda _: None)
    bench.decoder.reopened()
    bench.run(0.5, lambda _: feig_answer())
    assert bench.decoder.alive
    with pytest.raises(DeviceSilent, match="no inventory"):
        bench.run(SILENT_S + 1, lambda _: None)


def test_a_reader_that_only_tells_errors_is_lost_and_the_error_is_told(bench: Bench) -> None:
    with pytest.raises(DeviceSilent, match="status 84"):
        bench.run(SILENT_S + 1, lambda _: feig_answer(status=0x84))


def test_more_tags_than_an_answer_holds_are_no_card(bench: Bench) -> None:
    assert bench.run(0.3, lambda _: feig_answer(FIRST, status=feig.MORE_DATA)) == []
    assert bench.run(0.5, lambda _: feig_answer()) == [NoRead("more tags than an answer holds")]


def test_a_transponder_of_another_kind_is_no_card(bench: Bench) -> None:
    data = feig.encode_tags([feig.Tag(FIRST, kind=0x04)])
    answer = feig.encode_answer(feig.Answer(feig.INVENTORY, feig.OK, data))
    assert bench.run(0.3, lambda _: answer) == []
    assert bench.run(0.5, lambda _: feig_answer()) == [NoRead("not understood: a transponder of type 04")]


def test_answers_to_other_commands_say_nothing(bench: Bench) -> None:
    answer = feig.encode_answer(feig.Answer(feig.SOFTWARE_VERSION, feig.OK, b"\x01\x02"))
    assert bench.run(0.5, lambda _: answer) == []
    assert not bench.decoder.alive


def test_an_rr3036_is_started_and_turned_to_15693_first() -> None:
    bench = Bench(Rr3036Decoder(Mouth(SHOES)))
    assert bench.run(0.3, lambda _: rr_answer(status=rr.OK) if len(bench.asked) < 3 else rr_answer(FIRST)) == [
        CardDrawn("AS", tag=FIRST)
    ]
    wanted = [rr.INIT, rr.TO_ISO_15693, rr.INVENTORY]
    assert [rr.parse_request(request) for _, request in bench.asked[:3]] == wanted


@pytest.mark.parametrize(
    ("status", "remedy"),
    [(rr.FIELD_OFF, [rr.OPEN_FIELD, rr.TO_ISO_15693]), (rr.WRONG_MODE, [rr.TO_ISO_15693])],
)
def test_an_rr3036_in_another_state_is_set_up_again(status: int, remedy: list[rr.Request]) -> None:
    bench = Bench(Rr3036Decoder(Mouth(SHOES)))
    cured: list[rr.Request] = []

    def reader(raw: bytes) -> bytes:
        request = rr.parse_request(raw)
        assert request is not None
        if request == rr.INVENTORY:
            return rr_answer(FIRST) if cured[-len(remedy) :] == remedy else rr_answer(status=status)
        if len(bench.asked) > 2:
            cured.append(request)
        return rr_answer(status=rr.OK)

    assert bench.run(1.0, reader) == [CardDrawn("AS", tag=FIRST)]
    assert cured == remedy


@pytest.mark.parametrize("status", sorted(rr.INCOMPLETE))
def test_an_incomplete_inventory_is_no_card(status: int) -> None:
    bench = Bench(Rr3036Decoder(Mouth(SHOES)))
    bench.run(0.5, lambda _: rr_answer(status=status) if len(bench.asked) > 2 else rr_answer(status=rr.OK))
    assert bench.run(0.5, lambda _: rr_answer()) == [NoRead(f"inventory incomplete ({status:02X})")]


def test_other_cards_in_the_shoe(bench: Bench) -> None:
    assert bench.run(0.2, lambda _: feig_answer(FIRST)) == [CardDrawn("AS", tag=FIRST)]
    bench.run(0.5, lambda _: feig_answer())
    bench.decoder.new_shoe()
    assert bench.run(0.2, lambda _: feig_answer(FIRST)) == [CardDrawn("AS", tag=FIRST)]


def test_what_left_before_a_restart_counts_from_the_first_answer_on(bench: Bench) -> None:
    bench.decoder.new_shoe(frozenset({FIRST}))
    assert bench.run(0.2, lambda _: feig_answer(FIRST)) == [TagRepeated("tag that left before", FIRST, "AS")]
    bench.run(0.5, lambda _: feig_answer())
    assert bench.run(0.2, lambda _: feig_answer(SECOND)) == [CardDrawn("TD", tag=SECOND)]


def test_a_line_that_is_lost_tells_of_a_card_that_was_not_read(bench: Bench) -> None:
    bench.run(0.3, lambda _: feig_answer(status=feig.MORE_DATA))
    assert [event for event, _ in bench.decoder.flush(bench.now)] == [NoRead("more tags than an answer holds")]


def test_noise_before_an_answer_delays_it_by_one_question(bench: Bench) -> None:
    answers = iter([b"\xff\xff\xc5\xfc" + feig_answer(FIRST)])
    events = bench.run(1.0, lambda _: next(answers, feig_answer()))
    assert events == [CardDrawn("AS", tag=FIRST)]


def test_captures() -> None:
    chunks = [feig_answer(), feig_answer(FIRST)[:7], feig_answer(FIRST)[7:], feig_answer(FIRST), feig_answer()]
    events, summary = decode_capture("feig", chunks, tags=SHOES)
    assert events == [CardDrawn("AS", tag=FIRST)]
    assert summary == {
        "frames": 4, "accepted": 4, "duplicates": 0, "bad_checksum": 0, "junk_bytes": 0, "gaps": 0
    }  # fmt: skip
    stream = rr_answer(FIRST) + rr_answer() + rr_answer(SECOND)
    assert decode_capture("rr3036", [stream], tags=SHOES)[0] == [
        CardDrawn("AS", tag=FIRST),
        CardDrawn("TD", tag=SECOND),
    ]
    assert decode_capture("rr3036", [stream])[0] == [
        TagUnknown("tag in no registry", FIRST),
        TagUnknown("tag in no registry", SECOND),
    ]


PIECES = st.one_of(
    st.binary(max_size=10),
    st.sampled_from(
        [answer(*uids) for answer in (feig_answer, rr_answer) for uids in ((), (FIRST,), (SECOND,), (FIRST, SECOND))]
    ),
    st.builds(
        lambda frame, place: frame[: place % len(frame)] + b"\x00" + frame[place % len(frame) + 1 :],
        st.sampled_from([feig_answer(FIRST), rr_answer(FIRST)]),
        st.integers(0, 100),
    ),
)
STREAMS = st.lists(PIECES, max_size=20).map(b"".join)
MAKERS = st.sampled_from([FeigDecoder, Rr3036Decoder])


@given(MAKERS, STREAMS, st.lists(st.integers(0, 500), max_size=20))
def test_any_cut_into_reads_gives_the_same(
    make: Callable[[Mouth], PolledTags], stream: bytes, cuts: list[int]
) -> None:
    whole, pieces = make(Mouth(SHOES)), make(Mouth(SHOES))
    expected = [*whole.decode(stream, 5.0), *whole.flush(5.0)]
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    got = [said for start, end in pairwise(places) for said in pieces.decode(stream[start:end], 5.0)]
    assert [*got, *pieces.flush(5.0)] == expected
    assert pieces.stats == whole.stats


@given(MAKERS, st.lists(st.tuples(st.binary(max_size=60), st.floats(0, 3)), max_size=12))
def test_random_bytes_never_raise_and_never_are_a_card(
    make: Callable[[Mouth], PolledTags], reads: list[tuple[bytes, float]]
) -> None:
    decoder, now = make(Mouth(SHOES)), 0.0
    for data, step in reads:
        now += step
        for event, _ in [*decoder.decode(data, now), *decoder.idle(now)]:
            assert not isinstance(event, CardDrawn)
    decoder.flush(now)
    decoder.reopened()
    assert decoder.stats.frames == decoder.stats.accepted + decoder.stats.bad_checksum
    assert math.isfinite(decoder.poll_s)
