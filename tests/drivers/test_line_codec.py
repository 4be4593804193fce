"""Line devices: codes, terminators, prefixes, no-reads, repeats, broken lines."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.cards import CUT, FACES, HIDDEN
from drivers.errors import SettingsError
from drivers.events import CardDrawn, CutCard, Event, NoRead, Repeated, StandBy, UnknownCode
from drivers.line.codec import MAX_LINE_BYTES, PARTIAL_TIMEOUT_S, LineDecoder, card_code, encode
from drivers.settings import CodeSet

TERMINATORS = [b"\r", b"\n", b"\r\n", b"\n\r", b"\x03", b"\x03\r\n"]
CODE_SETS: list[CodeSet] = ["scan_table", "suit_rank"]
relaxed = settings(deadline=None)  # a busy machine is no failure


def read(data: bytes, **options: object) -> list[Event]:
    return LineDecoder(**options).feed(data, 0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "card"),
    [("44 31 32 0D 0A", "QD"), ("41 30 31 0D 0A", "AS"), ("48 31 33 0D 0A", "KH"), ("5D 43 30 44 31 32 0D", "QD")],
)
def test_vectors_of_the_hardware_page(line: str, card: str) -> None:
    assert read(bytes.fromhex(line)) == [CardDrawn(card)]


@pytest.mark.parametrize(
    ("code", "card"), [("hA", "AH"), ("C10", "TC"), ("sK", "KS"), ("dT", "TD"), ("D2", "2D"), ("H9", "9H")]
)
def test_suit_rank_codes(code: str, card: str) -> None:
    assert read(code.encode() + b"\r\n", code_set="suit_rank") == [CardDrawn(card)]


@pytest.mark.parametrize("terminator", TERMINATORS)
@pytest.mark.parametrize("code_set", CODE_SETS)
def test_every_card_with_every_terminator(code_set: CodeSet, terminator: bytes) -> None:
    stream = b"".join(encode(CardDrawn(card), code_set, terminator=terminator) for card in FACES)
    assert read(stream, code_set=code_set) == [CardDrawn(card) for card in FACES]


@pytest.mark.parametrize("terminator", TERMINATORS)
def test_stx_and_prefix_are_stripped(terminator: bytes) -> None:
    assert read(b"\x02D12" + terminator + b"\x02]C0H01" + terminator) == [CardDrawn("QD"), CardDrawn("AH")]


@pytest.mark.parametrize("text", ["NR", "ERROR", "OVER", "ERR07", "NOREAD", "ER", "E001", "E0F2"])
def test_no_read_strings_are_no_cards(text: str) -> None:
    for code_set in CODE_SETS:
        assert read(text.encode() + b"\r", code_set=code_set) == [NoRead(text)]
    assert LineDecoder().feed(encode(NoRead(text)), 0.0) == [NoRead(text)]


@pytest.mark.parametrize(
    "line",
    [
        "D00",
        "D14",
        "X01",
        "d12",
        "D1",
        "D123",
        " D12",
        "D12 ",
        "0D12",
        "S01",
        "]C0",
        "]Z0D12",
        "nr",
        "ERR",
        "A1",
        "\0D12",
    ],
)
def test_everything_else_is_unknown(line: str) -> None:
    [event] = read(line.encode() + b"\r\n")
    assert isinstance(event, UnknownCode)


@pytest.mark.parametrize("line", ["S11", "S1", "C0", "Sk", "10C", "AS", "E5", "S", "10"])
def test_everything_else_is_unknown_in_suit_rank(line: str) -> None:
    assert read(line.encode() + b"\r\n", code_set="suit_rank") == [UnknownCode(line)]


def test_raw_of_unknown_is_escaped() -> None:
    assert read(b"\xff\xff\xc5\xfcA01\r\n") == [UnknownCode(r"\xff\xff\xc5\xfcA01")]
    assert read(b"\x00\x00D12\r") == [UnknownCode(r"\x00\x00D12")]
    assert read(b"\x02\x03") == [UnknownCode(r"\x02")]


def test_empty_lines_are_the_other_half_of_a_terminator() -> None:
    assert read(b"\r\n\n\r\x03\r") == []


def test_cut_codes_are_configurable() -> None:
    assert read(b"CUT\r\n") == [CutCard()]
    assert read(b"]C0CUT\r\n") == [CutCard()]
    assert read(b"CUT\r\nX99\r\nYY\r\n", cut_codes=("X99", "YY")) == [UnknownCode("CUT"), CutCard(), CutCard()]
    assert read(encode(CutCard(), cut_code="X99"), cut_codes=("X99",)) == [CutCard()]


@pytest.mark.parametrize("code", ["D12", "NR", "", "CÜT", "C\nT", "X" * 65])
def test_a_cut_code_that_means_something_else_is_refused(code: str) -> None:
    with pytest.raises(SettingsError, match="cut code"):
        LineDecoder(cut_codes=(code,))


def test_repeat_window() -> None:
    decoder = LineDecoder()
    assert decoder.feed(b"D12\r\n", 0.0) == [CardDrawn("QD")]
    assert decoder.feed(b"D12\r\n", 0.02) == [Repeated("QD")]
    assert decoder.feed(b"D12\r\n", 0.30) == [Repeated("QD")], "each repeat starts the window anew"
    assert decoder.feed(b"D12\r\n", 0.70) == [CardDrawn("QD")]
    assert decoder.feed(b"H01\r\n", 0.71) == [CardDrawn("AH")]
    assert decoder.feed(b"D12\r\n", 0.72) == [CardDrawn("QD")], "another card between: not the same one"
    assert (decoder.stats.frames, decoder.stats.accepted, decoder.stats.duplicates) == (6, 4, 2)


def test_repeats_that_are_no_cards() -> None:
    assert read(b"CUT\rCUT\r") == [CutCard(), Repeated(CUT)]
    assert read(b"NR\rNR\r") == [NoRead("NR"), Repeated(HIDDEN)]
    assert read(b"XX\rXX\r") == [UnknownCode("XX"), Repeated(HIDDEN)]
    assert read(b"D12\rD12\r", repeat_window_s=0.0) == [CardDrawn("QD"), CardDrawn("QD")]


def test_a_line_may_come_in_pieces() -> None:
    decoder = LineDecoder()
    assert decoder.feed(b"D", 0.0) == []
    assert decoder.feed(b"1", PARTIAL_TIMEOUT_S * 0.9) == []
    assert decoder.pending == b"D1"
    assert decoder.feed(b"2\r", PARTIAL_TIMEOUT_S * 1.8) == [CardDrawn("QD")]


def test_a_stale_piece_does_not_glue_to_the_next_line() -> None:
    decoder = LineDecoder()
    assert decoder.feed(b"D1", 0.0) == []
    assert decoder.idle(PARTIAL_TIMEOUT_S) == []
    [(event, raw)] = decoder.idle(PARTIAL_TIMEOUT_S + 0.1)
    assert (event, raw) == (UnknownCode("D1"), b"D1")
    assert decoder.idle(9.0) == []
    assert decoder.feed(b"H01\r", 9.0) == [CardDrawn("AH")]
    assert decoder.feed(b"D", 10.0) == []
    assert decoder.feed(b"D12\r", 20.0) == [UnknownCode("D"), CardDrawn("QD")]


def test_a_lost_line_ends_its_last_piece() -> None:
    decoder = LineDecoder()
    decoder.feed(b"D12\rD1", 0.0)
    assert [event for event, _ in decoder.flush(0.1)] == [UnknownCode("D1")]
    decoder.reopened()
    assert decoder.feed(b"D12\r", 0.2) == [CardDrawn("QD")], "no repeat over an interruption"
    decoder.feed(b"D1", 0.3)
    decoder.reopened()
    assert decoder.feed(b"H01\r", 0.4) == [CardDrawn("AH")]


def test_stx_starts_a_line() -> None:
    assert read(b"D1\x02D12\x03") == [UnknownCode("D1"), CardDrawn("QD")]


def test_a_line_without_end_is_cut_and_reported_once() -> None:
    decoder = LineDecoder()
    assert decoder.feed(b"x" * MAX_LINE_BYTES, 0.0) == []
    assert decoder.feed(b"x" * 1000, 0.0) == [UnknownCode("x" * MAX_LINE_BYTES)]
    assert decoder.feed(b"D12\r", 0.0) == [], "still the same line"
    assert decoder.feed(b"D12\r", 0.0) == [CardDrawn("QD")]
    assert decoder.stats.junk_bytes == 1003
    decoder.feed(b"y" * 100, 0.0)
    assert decoder.feed(b"H01\r", PARTIAL_TIMEOUT_S + 1.0) == [CardDrawn("AH")], "silence ends it, too"


def test_what_a_line_device_cannot_say() -> None:
    for event in (StandBy(), NoRead("D12"), CardDrawn(HIDDEN)):
        with pytest.raises(ValueError, match="line"):
            encode(event)
    assert card_code("TC", "suit_rank") == "C10"


PIECES = st.sampled_from(
    [b"D12", b"A01", b"S10", b"hK", b"\r", b"\n", b"\x02", b"\x03", b"CUT", b"NR", b"]C0", b"x" * 70, b"\xff\0", b"1"]
)
STREAMS = st.one_of(st.lists(PIECES, max_size=30).map(b"".join), st.binary(max_size=200))


@relaxed
@given(STREAMS, st.lists(st.integers(0, 2000), max_size=20), st.sampled_from(CODE_SETS))
def test_any_cut_into_reads_gives_the_same(stream: bytes, cuts: list[int], code_set: CodeSet) -> None:
    whole, pieces = LineDecoder(code_set), LineDecoder(code_set)
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    expected = [*whole.decode(stream, 5.0), *whole.flush(5.0)]
    got = [decoded for start, end in pairwise(places) for decoded in pieces.decode(stream[start:end], 5.0)]
    assert [*got, *pieces.flush(5.0)] == expected
    assert pieces.stats == whole.stats


@relaxed
@given(st.binary(max_size=400), st.sampled_from(CODE_SETS))
def test_any_bytes_give_bounded_events_and_cards_by_exact_codes_only(stream: bytes, code_set: CodeSet) -> None:
    decoder = LineDecoder(code_set)
    form = re.compile(
        rb"\x02?(\][A-Za-z].)?"
        + (rb"[AHCD](0[1-9]|1[0-3])" if code_set == "scan_table" else rb"[SHCDshcd](10|[A2-9TJQK])")
    )
    for event, raw in [*decoder.decode(stream, 0.0), *decoder.flush(0.0)]:
        if isinstance(event, CardDrawn):
            assert form.fullmatch(raw)
            assert card_code(event.card, code_set)[:1].encode().upper() in raw.upper()
        if isinstance(event, UnknownCode | NoRead):
            assert event.raw.isascii()
            assert event.raw.isprintable()
            assert len(event.raw) <= 4 * MAX_LINE_BYTES
    assert decoder.stats.frames == decoder.stats.accepted + decoder.stats.duplicates


@relaxed
@given(st.sampled_from(FACES), st.sampled_from(CODE_SETS), st.sampled_from(TERMINATORS))
def test_what_is_encoded_is_decoded(card: str, code_set: CodeSet, terminator: bytes) -> None:
    assert LineDecoder(code_set).feed(encode(CardDrawn(card), code_set, terminator=terminator), 1.0) == [
        CardDrawn(card)
    ]
