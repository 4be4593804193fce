"""A line scanner that waits for commands or acknowledgements."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.events import CardDrawn, UnknownCode
from drivers.line.codec import LineDecoder
from drivers.line.triggers import TRIGGERS
from drivers.registry import open_shoe
from drivers.settings import LineSettings, ShoeSettings, Trigger

WIRE: dict[Trigger, tuple[str, str]] = {
    "honeywell": ("16 54 0D", "16 55 0D"),
    "keyence": ("4C 4F 4E 0D", "4C 4F 46 46 0D"),
    "gm65": ("7E 00 08 01 00 02 01 AB CD", ""),
}


@pytest.mark.parametrize("name", WIRE)
def test_bytes_of_the_hardware_page(name: Trigger) -> None:
    on, off = WIRE[name]
    assert (TRIGGERS[name].on, TRIGGERS[name].off) == (bytes.fromhex(on), bytes.fromhex(off))


@pytest.mark.parametrize("name", WIRE)
def test_a_scanner_is_told_to_read_when_the_line_opens_and_after_each_line(name: Trigger) -> None:
    on = TRIGGERS[name].on
    decoder = LineDecoder(triggering=TRIGGERS[name])
    assert decoder.outgoing(0.0) == b""
    decoder.reopened()
    assert (decoder.outgoing(0.0), decoder.outgoing(0.0)) == (on, b"")
    assert decoder.feed(TRIGGERS[name].answer + b"D12\r", 1.0) == [CardDrawn("QD")]
    assert decoder.outgoing(1.0) == on
    assert decoder.feed(TRIGGERS[name].answer, 1.1) == []
    assert decoder.feed(b"\n", 1.1) == []
    assert decoder.outgoing(1.1) == b"", "an empty line is half a line end"
    decoder.feed(b"XX\r", 2.0)
    assert decoder.outgoing(2.0) == on, "what it read does not matter"


def test_acknowledgements() -> None:
    decoder = LineDecoder(acknowledge=True)
    decoder.reopened()
    assert decoder.outgoing(0.0) == b""
    decoder.feed(b"D12\r\nD12\r\nH0", 0.0)
    assert decoder.outgoing(0.0) == b"\x06\x06"
    both = LineDecoder(acknowledge=True, triggering=TRIGGERS["keyence"])
    both.feed(b"D12\r\n", 0.0)
    assert both.outgoing(0.0) == b"\x06LON\r"


def test_nothing_is_sent_to_a_scanner_that_is_only_listened_to() -> None:
    decoder = LineDecoder()
    decoder.reopened()
    decoder.feed(b"D12\r\n", 0.0)
    assert decoder.outgoing(0.0) == b""


def test_half_an_answer_is_no_card() -> None:
    answer = TRIGGERS["gm65"].answer
    decoder = LineDecoder(triggering=TRIGGERS["gm65"])
    assert decoder.feed(answer[:5] + b"\r", 0.0) == [UnknownCode(r"\x02\x00\x00\x01\x00")]
    assert decoder.feed(answer + answer + b"H01\r", 0.1) == [CardDrawn("AH")]


@given(
    st.lists(st.sampled_from([b"D12\r", b"H0", b"1\r\n", TRIGGERS["gm65"].answer, b"\x02"]), max_size=20), st.data()
)
def test_any_cut_into_reads_gives_the_same(parts: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(parts)
    cuts = data.draw(st.lists(st.integers(0, max(len(stream), 1)), max_size=10))
    whole, pieces = (LineDecoder(triggering=TRIGGERS["gm65"], acknowledge=True) for _ in range(2))
    expected = whole.decode(stream, 1.0)
    places = sorted({0, len(stream), *cuts})
    assert [said for a, b in pairwise(places) for said in pieces.decode(stream[a:b], 1.0)] == expected
    assert pieces.outgoing(1.0) == whole.outgoing(1.0)


def test_a_keyence_reader_at_its_factory_settings() -> None:
    settings = ShoeSettings(protocol="line", port="x", bytesize=7, parity="E", trigger="keyence")
    driver = open_shoe(settings)
    assert settings.line(driver.default_line) == LineSettings(9600, 7, "E", 1)
    assert "trigger keyence" in (driver.unverified() or "")
