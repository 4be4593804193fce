"""What every decoder must do, whatever its protocol: ``DecoderContract``, subclassed once a protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drivers.angel.codec import AngelDecoder, AngelEncoder
from drivers.angel.dialogue import Dialogue
from drivers.decoder import IDLE_S, Decoded, Decoder
from drivers.events import CardDrawn, CardRevealed, CutCard, Event, NoRead, StandBy, Started, UnknownCode
from drivers.line.codec import LineDecoder, encode
from drivers.ssi.codec import SsiDecoder
from drivers.ssi.frames import decoded
from drivers.ssi.frames import encode as packet

CARD_EVENTS = (CardDrawn, CardRevealed)

# One property, run by a class a protocol: that is what a contract is.
contract = settings(
    suppress_health_check=[
        HealthCheck.differing_executors, HealthCheck.too_slow, HealthCheck.function_scoped_fixture,
    ]
)  # fmt: skip


class DecoderContract:
    """A subclass gives a decoder, the messages of a good stream with their events, and whether they are checked."""

    make: ClassVar[Callable[[], Decoder]]
    messages: ClassVar[list[tuple[bytes, Event]]]
    checked: ClassVar[bool]
    #: Bytes of babble that an event stands for, at least.
    bound: ClassVar[int]

    def decoder(self) -> Decoder:
        decoder = type(self).make()
        decoder.reopened()
        return decoder

    def stream(self) -> bytes:
        return b"".join(raw for raw, _ in self.messages)

    def cut(self, stream: bytes, cuts: list[int], *, apart_s: float = 0.0) -> tuple[list[Decoded], Decoder]:
        decoder, out, now = self.decoder(), list[Decoded](), 0.0
        for cut in [*cuts, len(stream)]:
            out += decoder.decode(stream[:cut], now)
            stream = stream[cut:]
            now += apart_s
        return out + decoder.flush(now), decoder

    def test_a_good_stream_gives_its_events(self) -> None:
        told, decoder = self.cut(self.stream(), [])
        assert [decoded.event for decoded in told] == [event for _, event in self.messages]
        assert decoder.stats.junk_bytes == decoder.stats.bad_checksum == decoder.stats.gaps == 0

    def test_every_event_has_the_bytes_that_told_it(self) -> None:
        stream = self.stream()
        assert all(decoded.raw and decoded.raw in stream for decoded in self.cut(stream, [])[0])

    @contract
    @given(cuts=st.lists(st.integers(0, 40), max_size=30))
    def test_how_the_stream_was_cut_makes_no_difference(self, cuts: list[int]) -> None:
        whole, one = self.cut(self.stream(), [])
        parts, many = self.cut(self.stream(), cuts, apart_s=0.01)
        assert (parts, many.stats) == (whole, one.stats)

    @contract
    @given(junk=st.binary(max_size=300), cuts=st.lists(st.integers(0, 60), max_size=20))
    def test_any_bytes_are_survived_and_counted(self, junk: bytes, cuts: list[int]) -> None:
        _, decoder = self.cut(junk, cuts, apart_s=0.3)
        stats = decoder.stats
        assert stats.frames == stats.accepted + stats.duplicates + stats.bad_checksum
        assert min(stats.frames, stats.junk_bytes, stats.gaps) >= 0

    @contract
    @given(junk=st.binary(max_size=100))
    def test_it_comes_back_after_any_bytes(self, junk: bytes) -> None:
        """After an interruption nothing of before counts against what comes then."""
        decoder = self.decoder()
        decoder.decode(junk, 0.0)
        decoder.flush(0.0)
        decoder.reopened()
        told = decoder.decode(self.stream(), 1000.0)
        cards = [event for _, event in self.messages if isinstance(event, CARD_EVENTS)]
        assert [d.event for d in told if isinstance(d.event, CARD_EVENTS)][-len(cards) :] == cards

    @contract
    @given(place=st.integers(0, 10_000), value=st.integers(1, 255))
    def test_a_damaged_byte_makes_no_card_where_there_is_a_check(self, place: int, value: int) -> None:
        if not self.checked:
            return
        stream = bytearray(self.stream())
        stream[place % len(stream)] ^= value
        good = [event for _, event in self.messages]
        told = [decoded.event for decoded in self.cut(bytes(stream), [])[0]]
        assert all(event in good for event in told if isinstance(event, CARD_EVENTS))

    def test_half_a_message_is_not_joined_to_what_comes_after_an_interruption(self) -> None:
        for raw, _ in self.messages:
            for cut in range(1, len(raw)):
                decoder = self.decoder()
                decoder.decode(raw[:cut], 0.0)
                before = decoder.flush(0.0)
                decoder.reopened()
                told = [*before, *decoder.decode(raw[cut:], 1.0), *decoder.flush(1.0)]
                assert not [d for d in told if isinstance(d.event, CARD_EVENTS)] or not self.checked

    def test_silence_says_nothing_by_itself(self) -> None:
        decoder = self.decoder()
        assert [decoder.idle(n * IDLE_S) for n in range(100)] == [[]] * 100
        assert decoder.flush(1000.0) == decoder.flush(1000.0) == []

    def test_what_is_to_be_sent_is_sent_once(self) -> None:
        decoder = self.decoder()
        decoder.outgoing(0.0)
        assert decoder.outgoing(0.0) == b""

    @pytest.mark.parametrize("byte", [0x00, 0x02, 0x05, 0x06, 0x0A, 0x15, 0x30, 0xFF])
    def test_a_babbling_line_takes_no_memory(self, byte: int) -> None:
        decoder = self.decoder()
        told = 0
        for n in range(50):
            told += len(decoder.decode(bytes((byte,)) * 400, n * 0.1))
            decoder.outgoing(n * 0.1)
        assert told <= 20_000 // self.bound + 50
        assert _size(decoder) < 20_000


def _size(thing: object, depth: int = 3) -> int:
    """Items and bytes that hang on ``thing``."""
    if isinstance(thing, bytes | bytearray | str):
        return len(thing)
    if isinstance(thing, list | tuple | set | frozenset):
        return len(thing) + sum(_size(item, depth - 1) for item in thing if depth)
    if isinstance(thing, dict):
        return sum(_size(item, depth - 1) for item in thing.values() if depth)
    return _size(vars(thing), depth - 1) if depth and hasattr(thing, "__dict__") else 1


_SSI: list[tuple[bytes, Event]] = [
    (b"D12", CardDrawn("QD")), (b"CUT", CutCard()), (b"NR", NoRead("NR")), (b"A08", CardDrawn("8S")),
]  # fmt: skip
_encoder = AngelEncoder()
_ANGEL: list[Event] = [
    Started(), CardDrawn("8S", "player", 1), CardDrawn("**", "banker", 1), CutCard(), CardRevealed("AH", "banker", 1),
    StandBy(),
]  # fmt: skip


class TestAngelDecoder(DecoderContract):
    make = AngelDecoder
    messages = [(_encoder.encode(event), event) for event in _ANGEL]  # noqa: RUF012
    checked = True
    bound = 8


class TestAngelDecoderWithCommands(TestAngelDecoder):
    @staticmethod
    def make() -> Decoder:
        return AngelDecoder(dialogue=Dialogue("with_stx"))


class TestLineDecoder(DecoderContract):
    make = LineDecoder
    messages = [(encode(event), event) for event in (CardDrawn("QD"), CutCard(), NoRead("NR"), CardDrawn("8S"))]  # noqa: RUF012
    checked = False
    bound = 1  # a lone STX is a line that was cut off

    def test_a_line_that_stops_is_told_as_unknown(self) -> None:
        decoder = self.decoder()
        decoder.decode(b"D1", 0.0)
        assert [decoded.event for decoded in decoder.idle(2.0)] == [UnknownCode("D1")]


class TestSsiDecoder(DecoderContract):
    make = SsiDecoder
    messages = [(packet(decoded(code)), event) for code, event in _SSI]  # noqa: RUF012
    checked = True
    bound = 6

    def test_a_damaged_packet_that_never_comes_again_is_told(self) -> None:
        decoder = self.decoder()
        decoder.decode(self.messages[0][0][:-1] + b"\x00", 0.0)
        assert [type(said.event) for said in decoder.idle(10.0)] == [NoRead]
