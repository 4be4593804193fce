"""SSI packets: the vectors of the hardware page, acknowledgements, resent, damaged and continued packets."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.cards import FACES
from drivers.decode import decode_capture
from drivers.errors import DeviceSilent, SettingsError
from drivers.events import CardDrawn, CutCard, Event, NoRead, Repeated, UnknownCode
from drivers.line.codes import card_code
from drivers.ssi.codec import ANSWER_S, GIVE_UP_S, RESEND_S, STALL_S, TRIES, SsiDecoder
from drivers.ssi.frames import (
    ACK,
    CONTINUATION,
    DECODE_DATA,
    FLUSH_QUEUE,
    NAK,
    NOT_READ,
    REPLY_REVISION,
    REQUEST_REVISION,
    SCAN_DISABLE,
    SCAN_ENABLE,
    SCANNER,
    START_SESSION,
    STOP_SESSION,
    Packet,
    again,
    command,
    decoded,
    encode,
    frames,
    parse,
)

TAKEN = bytes.fromhex("04 D0 04 00 FF 28")
RESEND = bytes.fromhex("05 D1 04 00 01 FF 25")
QUEEN = decoded(b"D12")
ACE = decoded(b"H01")

VECTORS = [
    ("05 00 04 00 00 FF F7", command(0x00, b"\x00")),
    ("04 D0 04 00 FF 28", command(ACK)),
    ("05 D1 04 00 01 FF 25", command(NAK, b"\x01")),
    ("04 D0 00 00 FF 2C", Packet(ACK)),
    ("04 E4 04 00 FF 14", command(START_SESSION)),
    ("04 E5 04 00 FF 13", command(STOP_SESSION)),
    ("04 E9 04 00 FF 0F", command(SCAN_ENABLE)),
    ("04 EA 04 00 FF 0E", command(SCAN_DISABLE)),
    ("04 D2 04 00 FF 26", command(FLUSH_QUEUE)),
    ("04 A3 04 00 FF 55", command(REQUEST_REVISION)),
    ("07 F3 00 00 01 4E 52 FE 65", decoded(b"NR", NOT_READ)),
    ("08 F3 00 00 03 44 31 32 FE 5B", QUEEN),
    ("08 F3 00 01 03 44 31 32 FE 5A", again(QUEEN)),
]


def read(decoder: SsiDecoder, *packets: Packet, now: float = 0.0) -> list[Event]:
    return decoder.feed(b"".join(map(encode, packets)), now)


def damaged(packet: Packet) -> bytes:
    frame = encode(packet)
    return frame[:-1] + bytes((frame[-1] ^ 1,))


@pytest.mark.parametrize(("text", "packet"), VECTORS)
def test_vectors_of_the_hardware_page(text: str, packet: Packet) -> None:
    frame = bytes.fromhex(text)
    assert encode(packet) == frame
    assert parse(frame) == packet
    assert [cut.raw for cut in frames().feed(frame) if cut.holds] == [frame]
    for place in range(8 * len(frame)):
        flipped = bytearray(frame)
        flipped[place // 8] ^= 1 << place % 8
        assert parse(bytes(flipped)) is None


def test_what_each_vector_says() -> None:
    said = {text: SsiDecoder().feed(bytes.fromhex(text), 0.0) for text, _ in VECTORS}
    assert said["07 F3 00 00 01 4E 52 FE 65"] == [NoRead("NR")]
    assert said["08 F3 00 00 03 44 31 32 FE 5B"] == [CardDrawn("QD")]
    assert said["08 F3 00 01 03 44 31 32 FE 5A"] == [CardDrawn("QD")], "its first copy never came"
    assert sum(map(len, said.values())) == 3, "commands and answers are no cards"


def test_a_packet_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="252 bytes"):
        encode(Packet(DECODE_DATA, bytes(252)))


def test_each_decoded_packet_is_acknowledged_and_nothing_else() -> None:
    decoder = SsiDecoder()
    assert decoder.outgoing(0.0) == b""
    read(decoder, QUEEN, ACE)
    assert decoder.outgoing(0.0) == TAKEN + TAKEN
    assert decoder.outgoing(0.0) == b""
    read(decoder, again(ACE), decoded(b"??"), now=0.1)
    assert decoder.outgoing(0.1) == TAKEN + TAKEN
    read(decoder, Packet(ACK), Packet(REPLY_REVISION, b"x"), command(START_SESSION))
    assert decoder.outgoing(0.2) == b""


def test_codes_are_those_of_a_line() -> None:
    decoder = SsiDecoder(cut_codes=("X9",))
    packets = [decoded(text) for text in (b"A01", b"]C0D12", b"H13\r\n", b"X9", b"ERROR", b"A99", b"")]
    assert read(decoder, *packets) == [
        CardDrawn("AS"), CardDrawn("QD"), CardDrawn("KH"), CutCard(), NoRead("ERROR"), UnknownCode("A99"),
        UnknownCode(""),
    ]  # fmt: skip
    assert read(SsiDecoder("suit_rank"), decoded(b"hA")) == [CardDrawn("AH")]
    assert read(SsiDecoder(), Packet(DECODE_DATA)) == [UnknownCode("")]
    with pytest.raises(SettingsError, match="cut code"):
        SsiDecoder(cut_codes=("D12",))


def test_a_resent_packet_is_no_second_card() -> None:
    decoder = SsiDecoder()
    assert read(decoder, QUEEN) == [CardDrawn("QD")]
    assert read(decoder, again(QUEEN), now=2.0) == []
    assert read(decoder, again(QUEEN), now=4.0) == [], "the second time, too"
    assert decoder.outgoing(4.0) == TAKEN * 3
    assert (decoder.stats.frames, decoder.stats.accepted, decoder.stats.duplicates) == (3, 1, 2)


def test_a_resent_packet_after_another_card_is_a_card() -> None:
    decoder = SsiDecoder()
    assert read(decoder, QUEEN, again(ACE)) == [CardDrawn("QD"), CardDrawn("AH")]
    assert read(decoder, again(ACE), now=RESEND_S + 0.1) == [CardDrawn("AH")], "too late to be the same"


def test_a_damaged_packet_is_refused_and_comes_again() -> None:
    decoder = SsiDecoder()
    assert decoder.feed(damaged(QUEEN), 0.0) == []
    assert decoder.outgoing(0.0) == RESEND
    assert read(decoder, again(QUEEN), now=0.1) == [CardDrawn("QD")]
    assert decoder.outgoing(0.1) == TAKEN
    assert [event for event, _ in decoder.idle(60.0)] == []


def test_a_damaged_packet_that_never_comes_again_is_a_card_nobody_knows() -> None:
    decoder = SsiDecoder()
    decoder.feed(damaged(QUEEN), 0.0)
    assert decoder.idle(GIVE_UP_S) == []
    assert [event for event, _ in decoder.idle(GIVE_UP_S + 0.1)] == [NoRead("damaged packet")]
    assert decoder.idle(60.0) == []
    decoder.feed(damaged(QUEEN), 61.0)
    assert read(decoder, ACE, now=61.5) == [NoRead("damaged packet"), CardDrawn("AH")]
    decoder.feed(damaged(QUEEN), 70.0)
    assert [event for event, _ in decoder.flush(70.1)] == [NoRead("damaged packet")]


def test_a_resent_packet_that_may_be_the_card_before_or_its_double_is_neither() -> None:
    decoder = SsiDecoder()
    assert read(decoder, QUEEN) == [CardDrawn("QD")]
    decoder.feed(damaged(QUEEN), 1.0)
    assert read(decoder, again(QUEEN), now=1.1) == [NoRead("resent after damage")]


def test_the_same_code_at_once_is_a_repeat_and_later_a_card() -> None:
    decoder = SsiDecoder()
    assert read(decoder, QUEEN) + read(decoder, QUEEN, now=0.1) == [CardDrawn("QD"), Repeated("QD")]
    assert read(decoder, QUEEN, now=0.5) == [CardDrawn("QD")]
    assert read(SsiDecoder(repeat_window_s=0.0), QUEEN, QUEEN) == [CardDrawn("QD"), CardDrawn("QD")]


def test_continued_packets_are_one_code() -> None:
    decoder = SsiDecoder()
    first = decoded(b"D1")._replace(status=CONTINUATION)
    assert read(decoder, first) == []
    assert decoder.outgoing(0.0) == TAKEN
    assert read(decoder, decoded(b"2")) == [CardDrawn("QD")]
    assert read(decoder, first, now=10.0) == []
    assert [event for event, _ in decoder.idle(10.0 + GIVE_UP_S + 0.1)] == [UnknownCode("D1")]
    long = decoded(b"x" * 40)._replace(status=CONTINUATION)
    assert read(decoder, long, long._replace(data=long.data + b"y"), now=20.0) == [UnknownCode("x" * 80 + "y")]


def test_resent_over_an_interruption() -> None:
    decoder = SsiDecoder()
    read(decoder, QUEEN)
    decoder.flush(0.1)
    decoder.reopened()
    assert read(decoder, again(QUEEN), now=1.0) == []
    decoder.feed(encode(ACE)[:5], 2.0)
    decoder.flush(2.1)
    decoder.reopened()
    assert read(decoder, again(ACE), now=3.0) == [CardDrawn("AH")]


def test_half_a_packet_does_not_hide_the_next_for_long() -> None:
    decoder = SsiDecoder()
    decoder.feed(encode(QUEEN)[:5], 0.0)
    assert read(decoder, ACE, now=STALL_S + 0.1) == [CardDrawn("AH")]


def test_a_triggered_scanner_is_enabled_and_started_again_after_each_code() -> None:
    decoder = SsiDecoder(triggered=True)
    decoder.reopened()
    assert not decoder.alive
    assert decoder.outgoing(0.0) == encode(command(SCAN_ENABLE))
    assert decoder.outgoing(0.1) == b"", "one command at a time"
    read(decoder, Packet(ACK), now=0.1)
    assert decoder.alive
    assert decoder.outgoing(0.1) == encode(command(START_SESSION))
    read(decoder, Packet(NAK, b"\x01"), now=0.2)
    assert decoder.outgoing(0.2) == encode(command(START_SESSION))
    read(decoder, Packet(ACK), now=0.3)
    assert decoder.outgoing(0.3) == b""
    read(decoder, QUEEN, now=5.0)
    assert decoder.outgoing(5.0) == TAKEN + encode(command(START_SESSION))


def test_a_triggered_scanner_that_does_not_answer_is_lost() -> None:
    decoder = SsiDecoder(triggered=True)
    decoder.reopened()
    for n in range(TRIES):
        assert decoder.outgoing(n * ANSWER_S) == encode(command(SCAN_ENABLE))
    with pytest.raises(DeviceSilent, match="speaks SSI"):
        decoder.outgoing(TRIES * ANSWER_S)
    assert SsiDecoder().alive, "one that is only listened to may be silent"


def test_captures() -> None:
    events, summary = decode_capture("ssi", [encode(QUEEN)[:4], encode(QUEEN)[4:], encode(again(QUEEN)), encode(ACE)])
    assert events == [CardDrawn("QD"), CardDrawn("AH")]
    assert (summary["frames"], summary["accepted"], summary["duplicates"], summary["junk_bytes"]) == (3, 2, 1, 0)


PIECES = st.one_of(
    st.binary(max_size=10),
    st.sampled_from([encode(QUEEN), encode(again(QUEEN)), encode(ACE), damaged(ACE), encode(Packet(ACK)), TAKEN]),
    st.sampled_from([encode(decoded(b"D1")._replace(status=CONTINUATION)), encode(decoded(b"NR", NOT_READ))]),
)
STREAMS = st.lists(PIECES, max_size=20).map(b"".join)


@given(STREAMS, st.lists(st.integers(0, 500), max_size=20))
def test_any_cut_into_reads_gives_the_same(stream: bytes, cuts: list[int]) -> None:
    whole, pieces = SsiDecoder(), SsiDecoder()
    expected = [*whole.decode(stream, 5.0), *whole.flush(5.0)]
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    got = [said for start, end in pairwise(places) for said in pieces.decode(stream[start:end], 5.0)]
    assert [*got, *pieces.flush(5.0)] == expected
    assert pieces.stats == whole.stats


@given(st.lists(st.tuples(st.binary(max_size=60), st.floats(0, 4)), max_size=12))
def test_random_bytes_never_raise_and_cards_come_of_whole_packets_only(reads: list[tuple[bytes, float]]) -> None:
    decoder, now = SsiDecoder(triggered=True), 0.0
    for data, step in reads:
        now += step
        for event, raw in [*decoder.decode(data, now), *decoder.idle(now)]:
            if isinstance(event, CardDrawn):
                packet = parse(raw)
                assert packet is not None
                assert packet.source == SCANNER
        decoder.outgoing(now)
    decoder.flush(now)
    stats = decoder.stats
    assert stats.frames == stats.accepted + stats.duplicates + stats.bad_checksum


@given(st.sampled_from(FACES))
def test_what_is_encoded_is_decoded(card: str) -> None:
    assert read(SsiDecoder(), decoded(card_code(card, "scan_table").encode())) == [CardDrawn(card)]
