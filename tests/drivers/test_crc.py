"""The readers' CRC and the cutter of frames that say their length."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from drivers.crc import crc16, crc_holds, with_crc
from drivers.framing import NO_FRAME, TELL_LATER, CheckedFrames


def test_check_value() -> None:
    assert crc16(b"123456789") == 0x6F91
    assert with_crc(b"123456789") == b"123456789\x91\x6f"


def test_a_frame_with_no_room_for_a_crc_does_not_hold() -> None:
    assert not any(crc_holds(b"\xff" * size) for size in range(3))
    assert crc_holds(bytes.fromhex("040000525A"))


@given(st.binary(min_size=1, max_size=64), st.integers(0, 10_000))
def test_any_flipped_bit_shows(body: bytes, place: int) -> None:
    frame = bytearray(with_crc(body))
    assert crc_holds(bytes(frame))
    frame[place // 8 % len(frame)] ^= 1 << place % 8
    assert not crc_holds(bytes(frame))


def size_of(head: bytes) -> int:
    if not head:
        return TELL_LATER
    return head[0] if 4 <= head[0] < 40 else NO_FRAME


def frame(text: bytes) -> bytes:
    return with_crc(bytes((len(text) + 3,)) + text)


def test_frames_in_noise_and_after_damage() -> None:
    cutter = CheckedFrames(size_of, crc_holds)
    bad = bytearray(frame(b"bad"))
    bad[2] ^= 4
    stream = b"\xff\x00" + frame(b"one") + bytes(bad) + frame(b"two")
    cuts = cutter.feed(stream)
    assert [cut.raw for cut in cuts if cut.holds] == [frame(b"one"), frame(b"two")]
    assert next(cut.raw for cut in cuts if not cut.holds) == bytes(bad)
    assert cutter.junk_bytes == 2 + len(bad)
    assert cutter.pending == b""


def test_a_length_that_promises_too_much_hides_nothing_for_long() -> None:
    cutter = CheckedFrames(size_of, crc_holds)
    assert cutter.feed(b"\x27" + frame(b"one")) == []
    assert [cut.raw for cut in cutter.stalled() if cut.holds] == [frame(b"one")]
    assert cutter.pending == b""
    cutter.feed(frame(b"two")[:3])
    cutter.drop()
    assert [cut.holds for cut in cutter.feed(frame(b"three"))] == [True]


PIECES = st.one_of(st.binary(max_size=8), st.binary(min_size=1, max_size=30).map(frame))


@given(st.lists(PIECES, max_size=12).map(b"".join), st.lists(st.integers(0, 500), max_size=20))
def test_every_byte_is_accounted_for_however_the_stream_is_cut(stream: bytes, cuts: list[int]) -> None:
    whole, pieces = CheckedFrames(size_of, crc_holds), CheckedFrames(size_of, crc_holds)
    expected = whole.feed(stream)
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    assert [cut for start, end in pairwise(places) for cut in pieces.feed(stream[start:end])] == expected
    assert (pieces.pending, pieces.junk_bytes) == (whole.pending, whole.junk_bytes)
    good = sum(len(cut.raw) for cut in expected if cut.holds)
    assert good + whole.junk_bytes + len(whole.pending) == len(stream)
    assert len(whole.pending) < 40
    whole.stalled()
    assert whole.pending == b""
