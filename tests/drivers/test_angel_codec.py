"""Angel Eye: every telegram of hardware page 1.1 both ways, and the stream around them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.cards import FACES, HIDDEN
from drivers.angel.codec import COPY_WINDOW_S, AngelDecoder, AngelEncoder, FrameReader
from drivers.angel.frames import SEQS, TARGETS, WINNERS, check, encode, next_seq, parse, seal
from drivers.events import (
    CardDrawn,
    CardReused,
    CardRevealed,
    CutCard,
    ErrorCleared,
    ErrorRaised,
    Event,
    Gap,
    Lock,
    NoRead,
    OutOfGame,
    OverdrawnDiscarded,
    Preset,
    RoundResult,
    StandBy,
    Started,
    UnknownCode,
)

relaxed = settings(deadline=None)  # a busy machine is no failure

VECTORS = [
    ("05 30 53 03 36 30", Started()),
    ("05 31 44 81 80 03 37 37", CardDrawn("**", "player", 1)),
    ("05 32 44 91 80 03 36 34", CardDrawn("**", "banker", 1)),
    ("05 33 44 82 80 03 37 36", CardDrawn("**", "player", 2)),
    ("05 34 44 92 80 03 36 31", CardDrawn("**", "banker", 2)),
    ("05 36 49 81 B2 03 34 46", CardRevealed("2S", "player", 1)),
    ("05 37 49 91 A7 03 34 42", CardRevealed("7C", "banker", 1)),
    ("05 38 49 82 B9 03 34 39", CardRevealed("9S", "player", 2)),
    ("05 39 49 92 C7 03 32 36", CardRevealed("7H", "banker", 2)),
    ("05 31 49 83 9C 03 36 34", CardRevealed("QD", "player", 3)),
    ("05 32 47 C2 03 42 34", RoundResult("banker", False, True)),
    ("05 33 50 03 36 30", StandBy()),
    ("05 34 47 90 03 45 30", RoundResult("player", False, False)),
    ("05 39 45 82 03 46 44", ErrorRaised(2, False)),
    ("05 31 45 C7 03 42 30", ErrorRaised(7, True)),
    ("05 32 64 A0 80 03 37 35", OutOfGame("**", "burn", 0)),
    ("05 33 69 81 B7 03 36 46", OverdrawnDiscarded("7S", "player", 1)),
    ("05 34 65 82 03 44 30", ErrorCleared(2, False)),
    ("05 38 52 81 80 03 36 38", CardReused("**", "player", 1)),
    ("05 31 44 81 B8 03 34 46", CardDrawn("8S", "player", 1)),
    ("05 32 44 91 C1 03 32 35", CardDrawn("AH", "banker", 1)),
    ("05 33 44 82 9D 03 36 42", CardDrawn("KD", "player", 2)),
    ("05 34 44 92 AA 03 34 42", CardDrawn("TC", "banker", 2)),
    ("05 35 47 90 03 45 31", RoundResult("player", False, False)),
    ("05 36 50 03 36 35", StandBy()),
    ("05 35 44 83 C4 03 33 35", CardDrawn("4H", "player", 3)),
    ("05 36 44 93 B2 03 35 30", CardDrawn("2S", "banker", 3)),
    ("05 31 44 C0 B8 03 30 45", CardDrawn("8S", "first", 0)),
    ("05 32 44 D2 80 03 32 37", CardDrawn("**", "burn_left", 2)),
    ("05 37 43 03 37 37", CutCard()),
    ("05 37 47 A0 03 44 33", RoundResult("tie", False, False)),
    ("05 35 47 F0 03 38 31", RoundResult("forced", False, False)),
    ("05 34 45 C1 03 42 33", ErrorRaised(1, True)),
    ("05 35 65 81 03 44 32", ErrorCleared(1, False)),
    ("05 34 45 C4 03 42 36", ErrorRaised(4, True)),
    ("05 34 45 C6 03 42 34", ErrorRaised(6, True)),
    ("05 35 4C 81 03 46 42", Lock(True)),
    ("05 36 4C 80 03 46 39", Lock(False)),
    ("05 39 4D 30 31 30 30 32 30 03 37 34", Preset("01", "0020")),
]

START, P1, B1, P2, B2 = (bytes.fromhex(text) for text, _ in VECTORS[:5])


@pytest.mark.parametrize(("text", "event"), VECTORS)
def test_vectors_both_ways(text: str, event: Event) -> None:
    frame = bytes.fromhex(text)
    assert check(frame)
    assert parse(frame) == event
    assert encode(event, chr(frame[1])) == frame
    decoder = AngelDecoder()
    assert decoder.decode(frame * 3, 0.0) == [(event, frame)]
    assert (decoder.stats.frames, decoder.stats.accepted, decoder.stats.duplicates) == (3, 1, 2)


@pytest.mark.parametrize("text", ["05 31 44 81 B8 03 34 45", "05 31 44 81 B8 03 34 66"])
def test_a_wrong_or_lower_case_check_is_counted_and_not_acted_on(text: str) -> None:
    decoder = AngelDecoder()
    assert decoder.feed(bytes.fromhex(text) * 3, 0.0) == []
    assert decoder.stats.bad_checksum == 3


@pytest.mark.parametrize(
    ("letter", "data"),
    [
        ("D", "81 8E"), ("D", "81 81"), ("D", "81 90"), ("D", "81 9E"), ("D", "81 D1"), ("D", "81 38"),
        ("D", "80 B8"), ("D", "84 B8"), ("D", "90 B8"), ("D", "B1 B8"), ("D", "E1 B8"), ("D", "01 B8"),
        ("D", "C1 B8"), ("D", "81"), ("D", "81 B8 B8"), ("D", ""), ("I", "81 80"), ("G", "80"), ("G", "94"),
        ("G", "B0"), ("G", "10"), ("G", ""), ("E", "80"), ("E", "42"), ("E", "82 82"), ("L", "82"), ("L", "01"),
        ("M", "30 31 30 30 32"), ("M", "30 31 30 30 32 B0"), ("M", "30 31 30 30 32 07"), ("S", "81"),
        ("P", "81"), ("C", "80"), ("X", ""), ("Q", "81 B8"), ("r", "81 B8"),
    ],
)  # fmt: skip
def test_content_the_page_does_not_define_is_unknown_and_no_card(letter: str, data: str) -> None:
    frame = seal("1", letter, bytes.fromhex(data))
    decoder = AngelDecoder()
    assert decoder.feed(frame * 3, 0.0) == [UnknownCode(frame.hex(" ").upper())]
    assert decoder.feed(encode(StandBy(), "2"), 0.1) == [StandBy()], "it has its place in the sequence"


@pytest.mark.parametrize(("seq", "letter"), [("0", "P"), ("1", "S"), (":", "P"), ("A", "P"), (" ", "P")])
def test_a_sequence_character_out_of_place_is_unknown(seq: str, letter: str) -> None:
    decoder = AngelDecoder()
    decoder.feed(encode(CutCard(), "3"), 0.0)
    frame = seal(seq, letter)
    got = decoder.feed(frame, 0.1)
    assert got[-1] == UnknownCode(frame.hex(" ").upper())
    assert not any(isinstance(event, Started) for event in got)


def test_sequence_runs_1_to_9_and_starts_at_0() -> None:
    seq = "0"
    seen = []
    for _ in range(11):
        seq = next_seq(seq)
        seen.append(seq)
    assert "".join(seen) == "12345678912"


def test_a_step_in_the_sequence_is_a_gap_before_the_event() -> None:
    decoder = AngelDecoder()
    assert decoder.feed(P2, 0.0) == [CardDrawn(HIDDEN, "player", 2)], "the first telegram proves nothing"
    assert decoder.feed(encode(StandBy(), "6"), 1.0) == [Gap("3", "6"), StandBy()]
    assert decoder.feed(encode(StandBy(), "7"), 2.0) == [StandBy()]
    assert decoder.feed(START, 3.0) == [Started()]
    assert decoder.feed(P1, 4.0) == [CardDrawn(HIDDEN, "player", 1)]
    assert decoder.feed(START, 5.0) == [Started()]
    assert decoder.feed(B1, 6.0) == [Gap("0", "2"), CardDrawn(HIDDEN, "banker", 1)]
    assert decoder.stats.gaps == 2


def test_nine_wraps_to_one() -> None:
    decoder = AngelDecoder()
    encoder = AngelEncoder()
    for number in range(30):
        event = Lock(number % 2 == 0)
        assert decoder.feed(encoder.triple(event), number) == [event]
    assert encoder.seq == "3"


def test_a_different_telegram_with_the_same_number_is_a_gap() -> None:
    decoder = AngelDecoder()
    decoder.feed(P1, 0.0)
    assert decoder.feed(encode(CardDrawn("8S", "player", 1), "1"), 0.05) == [
        Gap("1", "1"),
        CardDrawn("8S", "player", 1),
    ]


def test_the_same_telegram_later_is_new_and_for_all_but_the_start_a_gap() -> None:
    decoder = AngelDecoder()
    decoder.feed(START * 3, 0.0)
    assert decoder.feed(START * 3, COPY_WINDOW_S + 0.1) == [Started()]
    decoder.feed(P1 * 3, 5.0)
    assert decoder.feed(P1, 5.0 + COPY_WINDOW_S) == []
    assert decoder.feed(P1, 5.1 + COPY_WINDOW_S) == [Gap("1", "1"), CardDrawn(HIDDEN, "player", 1)]


def test_without_times_equal_telegrams_in_a_row_are_one() -> None:
    decoder = AngelDecoder(copy_window_s=None)
    assert decoder.feed(START * 6, 0.0) == [Started()]
    assert decoder.feed(START, 99.0) == []


def test_a_damaged_copy_does_not_hide_that_the_others_are_copies() -> None:
    bad = P1[:-1] + b"8"
    for copies in (bad + P1 + P1, P1 + bad + P1, P1 + P1 + bad):
        decoder = AngelDecoder()
        assert decoder.feed(copies, 0.0) == [CardDrawn(HIDDEN, "player", 1)]
        assert (decoder.stats.bad_checksum, decoder.stats.duplicates) == (1, 1)


def test_three_damaged_copies_show_as_a_gap() -> None:
    decoder = AngelDecoder()
    decoder.feed(P1 * 3 + (B1[:-1] + b"0") * 3, 0.0)
    assert decoder.feed(P2 * 3, 0.2) == [Gap("1", "3"), CardDrawn(HIDDEN, "player", 2)]


def test_noise_at_power_on_and_a_cut_frame_are_junk() -> None:
    """Case F16: boot noise, start burst, a zero byte, half a frame, start burst."""
    decoder = AngelDecoder()
    noise = bytes.fromhex("FF FF FF FF C5 FC")
    assert decoder.feed(noise + START * 3 + b"\0" + P1[:5] + START, 0.0) == [Started()]
    assert decoder.stats.junk_bytes == 6 + 1 + 5
    assert decoder.feed(P1[:4] + P1, 0.1) == [CardDrawn(HIDDEN, "player", 1)]


def test_answers_to_commands_may_stand_between_events() -> None:
    decoder = AngelDecoder()
    answers = b"\x06" + b"\x15\x21" + bytes.fromhex("02 30 30 03 33 31")
    expected = [CardDrawn(HIDDEN, "player", 1), CardDrawn(HIDDEN, "banker", 1)]
    assert decoder.feed(answers + P1 + answers + P1 + b"\x06" + B1, 0.0) == expected
    assert (decoder.reply_bytes, decoder.stats.junk_bytes) == (19, 0)


def test_a_lone_negative_answer_does_not_eat_a_telegram() -> None:
    decoder = AngelDecoder()
    assert decoder.feed(b"\x15" + P1 + b"\x02" + B1, 0.0) == [
        CardDrawn(HIDDEN, "player", 1),
        CardDrawn(HIDDEN, "banker", 1),
    ]
    assert decoder.stats.junk_bytes == 2


def test_a_line_that_babbles_is_bounded() -> None:
    reader = FrameReader()
    assert reader.feed(b"\x05" + b"\xaa" * 10_000) == []
    assert reader.pending == 0
    assert reader.junk_bytes == 10_001
    assert reader.feed(P1) == [P1]


def test_half_a_frame_does_not_outlive_an_interruption_but_the_sequence_does() -> None:
    decoder = AngelDecoder()
    decoder.feed(P1 + B1[:6], 0.0)
    assert decoder.flush(0.1) == []
    decoder.reopened()
    assert decoder.feed(B1[6:], 0.2) == []
    assert decoder.feed(P2, 0.3) == [Gap("1", "3"), CardDrawn(HIDDEN, "player", 2)]
    assert decoder.stats.junk_bytes == len(B1)


@pytest.mark.parametrize(
    "event",
    [
        CardDrawn("8S"),
        CardDrawn("1X", "player", 1),
        CardDrawn("8S", "player", 16),
        ErrorRaised(0, True),
        ErrorRaised(64, False),
        Preset("1", "0020"),
        NoRead("NR"),
        Gap("1", "3"),
    ],
)
def test_what_the_shoe_cannot_say(event: Event) -> None:
    encoder = AngelEncoder()
    with pytest.raises(ValueError):
        encoder.encode(event)
    assert encoder.seq == "0"
    with pytest.raises(ValueError, match="sequence"):
        encode(StandBy(), "0")


PLACES = st.one_of(
    st.tuples(st.sampled_from(["player", "banker"]), st.integers(1, 3)),
    st.just(("first", 0)),
    st.tuples(st.sampled_from(["burn", "burn_left"]), st.integers(0, 15)),
)
ANY_PLACE = st.tuples(st.sampled_from(list(TARGETS.values())), st.integers(0, 15))
CARDS = st.sampled_from([*FACES, HIDDEN])
ASCII = st.characters(min_codepoint=0x20, max_codepoint=0x7E)
EVENTS = st.one_of(
    st.sampled_from([Started(), StandBy(), CutCard(), Lock(True), Lock(False)]),
    st.builds(lambda card, place: CardDrawn(card, *place), CARDS, PLACES),
    st.builds(lambda card, place: CardReused(card, *place), CARDS, PLACES),
    st.builds(lambda card, place: CardRevealed(card, *place), st.sampled_from(FACES), PLACES),
    st.builds(lambda card, place: OverdrawnDiscarded(card, *place), CARDS, PLACES),
    st.builds(lambda card, place: OutOfGame(card, *place), CARDS, ANY_PLACE),
    st.builds(RoundResult, st.sampled_from(list(WINNERS.values())), st.booleans(), st.booleans()),
    st.builds(ErrorRaised, st.integers(1, 63), st.booleans()),
    st.builds(ErrorCleared, st.integers(1, 63), st.booleans()),
    st.builds(Preset, st.text(ASCII, min_size=2, max_size=2), st.text(ASCII, min_size=4, max_size=4)),
)


@relaxed
@given(st.lists(EVENTS, max_size=40))
def test_what_is_encoded_is_decoded(events: list[Event]) -> None:
    encoder, decoder = AngelEncoder(), AngelDecoder()
    got = [event for number, sent in enumerate(events) for event in decoder.feed(encoder.triple(sent), number * 2.0)]
    assert got == events


GOOD = st.builds(encode, EVENTS, st.sampled_from(SEQS))
PIECES = st.one_of(
    GOOD,
    GOOD.map(lambda frame: frame * 3),
    GOOD.map(lambda frame: frame[: len(frame) // 2]),
    GOOD.map(lambda frame: frame[:-1] + b"?"),
    st.binary(max_size=4),
    st.sampled_from([b"\x06", b"\x15\x21", b"\x0200\x0331", b"\x05", b"\x03", b"\xff" * 40]),
)


@relaxed
@given(st.lists(PIECES, max_size=20).map(b"".join), st.lists(st.integers(0, 500), max_size=30))
def test_any_cut_into_reads_gives_the_same(stream: bytes, cuts: list[int]) -> None:
    whole, pieces = AngelDecoder(), AngelDecoder()
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    got = [decoded for start, end in pairwise(places) for decoded in pieces.decode(stream[start:end], 1.0)]
    assert got == whole.decode(stream, 1.0)
    whole.flush(1.0)
    pieces.flush(1.0)
    assert pieces.stats == whole.stats


@relaxed
@given(st.one_of(st.binary(max_size=300), st.lists(PIECES, max_size=20).map(b"".join)))
def test_any_bytes_are_accounted_for_and_events_have_a_right_check(stream: bytes) -> None:
    reader = FrameReader()
    frames = reader.feed(stream)
    reader.drop()
    assert sum(map(len, frames)) + reader.junk_bytes + reader.reply_bytes == len(stream)
    decoder = AngelDecoder()
    assert all(check(raw) for _, raw in decoder.decode(stream, 0.0))
    stats = decoder.stats
    assert stats.frames == stats.accepted + stats.duplicates + stats.bad_checksum == len(frames)


@relaxed
@given(GOOD, st.data())
def test_one_damaged_byte_never_gives_a_card(frame: bytes, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(frame) - 1))
    damaged = bytearray(frame)
    damaged[place] ^= data.draw(st.integers(1, 255))
    cards = (CardDrawn, CardRevealed, CardReused, OutOfGame, OverdrawnDiscarded)
    assert not [event for event in AngelDecoder().feed(bytes(damaged), 0.0) if isinstance(event, cards)]
