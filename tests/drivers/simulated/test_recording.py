"""A recording played in portions: the same bytes in the same order, one card a draw."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.angel.codec import AngelDecoder, AngelEncoder
from drivers.decode import decode_capture
from drivers.events import CardDrawn, CardReused, CardRevealed, Event, RoundResult, StandBy, Started
from drivers.simulated.faults import Fault
from drivers.simulated.recording import Recording, ReplayDevice
from drivers.simulated.steps import Refused, Send, Unplug, wire_of

# Reads of a real shoe: copies alone, glued to the next telegram, and the junk of a power cycle.
CAPTURE = [
    bytes.fromhex(line)
    for line in """
05 30 53 03 36 30
05 31 44 81 80 03 37 37
05 31 44 81 80 03 37 37
05 31 44 81 80 03 37 37 05 32 44 91 80 03 36 34
05 32 44 91 80 03 36 34
05 32 44 91 80 03 36 34
ff
ff ff
c5 fc
05 30 53 03 36 30
05 31 44 81 80 03 37 37
05 31 44 81 80 03 37 37
05 31 44 81 80 03 37 37
05 32 45 82 03 46 36
05 33 47 90 03 45 37 05 34 52 81 80 03 36 34
05 34 52 81 80 03 36 34
05 34 52 81 80 03 36 34 05 35 50 03 36 36
""".strip().splitlines()
]
STREAM = b"".join(CAPTURE)


def play(recording: Recording) -> list[bytes]:
    """What each draw sends, to the end."""
    device = ReplayDevice(recording)
    portions = []
    while True:
        try:
            outcome = device.draw(None)
        except Refused:
            return portions
        portions.append(wire_of(outcome.steps))
        assert outcome.answer == {"ok": True, "left": recording.draws_left(sum(map(len, portions)))}


def test_each_draw_brings_one_card_and_what_follows_it() -> None:
    portions = play(Recording("angel", CAPTURE))
    assert b"".join(portions) == STREAM
    d1, d2 = bytes.fromhex("05 31 44 81 80 03 37 37"), bytes.fromhex("05 32 44 91 80 03 36 34")
    assert portions[0] == CAPTURE[0] + d1 * 3
    assert portions[1] == d2 * 3 + b"\xff\xff\xff\xc5\xfc" + CAPTURE[0]
    assert portions[2].startswith(d1 * 3)
    assert portions[3].startswith(bytes.fromhex("05 34 52 81 80 03 36 34") * 3)
    assert portions[3].endswith(bytes.fromhex("05 35 50 03 36 36"))
    assert len(portions) == 4


def test_a_glued_chunk_is_cut_at_the_card_and_the_others_are_as_recorded() -> None:
    device = ReplayDevice(Recording("angel", CAPTURE))
    first, second = (device.draw(None).steps for _ in range(2))
    assert [step.data for step in first if isinstance(step, Send)] == [*CAPTURE[:3], CAPTURE[3][:8]]
    assert [step.data for step in second if isinstance(step, Send)] == [CAPTURE[3][8:], *CAPTURE[4:10]]


@given(st.data())
def test_any_recording_comes_out_as_it_went_in(data: st.DataObject) -> None:
    encoder = AngelEncoder()
    events: list[Event] = [CardDrawn("**", "player", 1), CardRevealed("AS", "player", 1), StandBy(), Started()]
    events += [CardReused("**", "player", 1), RoundResult("tie", False, False)]
    told = data.draw(st.lists(st.sampled_from(events), max_size=20))
    stream = b"".join(encoder.encode(event) * data.draw(st.integers(1, 3)) for event in told)
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=20))
    edges = sorted({0, len(stream), *cuts})
    chunks = [stream[start:stop] for start, stop in pairwise(edges)]
    if not chunks:
        return
    portions = play(Recording("angel", chunks))
    assert b"".join(portions) == stream
    cards = sum(isinstance(event, (CardDrawn, CardReused)) for event in told)
    assert len(portions) == max(cards, 1)
    decoder = AngelDecoder(copy_window_s=None)
    for portion in portions:
        heard = decoder.feed(portion, 0.0)
        assert sum(isinstance(event, (CardDrawn, CardReused)) for event in heard) == min(cards, 1)


def test_lines() -> None:
    chunks = [b"D1", b"2\r\nA0", b"1\r", b"\n\r\nNR\r\n"]
    assert play(Recording("line", chunks)) == [b"D12\r\n", b"A01\r\n\r\n", b"NR\r\n"]
    events, _ = decode_capture("line", play(Recording("line", chunks)))
    assert len(events) == 3


def test_a_recording_without_a_card_is_one_draw() -> None:
    recording = Recording("angel", [bytes.fromhex("05 30 53 03 36 30")])
    assert len(play(recording)) == 1


def test_chunks_can_be_played_as_recorded_between_draws() -> None:
    device = ReplayDevice(Recording("angel", CAPTURE))
    outcome = device.play(2)
    assert [step.data for step in outcome.steps if isinstance(step, Send)] == CAPTURE[:2]
    assert outcome.answer == {"ok": True, "left": 3, "chunks": 2}
    # The first card is out already: this draw brings the second.
    rest = wire_of(device.draw(None).steps)
    assert wire_of(outcome.steps) + rest == b"".join(CAPTURE[:10])
    assert len(device.play(1000).steps) == len(CAPTURE) - 10
    for refused in (lambda: device.play(1), lambda: device.draw(None), lambda: ReplayDevice(RECORDING).play(0)):
        with pytest.raises(Refused):
            refused()
    assert not device.takes_fault


RECORDING = Recording("angel", CAPTURE)


def test_felt_and_refusals() -> None:
    device = ReplayDevice(RECORDING)
    device.draw(None)
    device.draw(None)
    assert device.felt_count() == 2
    assert device.status() == {"left": 2, "drawn": 2, "shoe": 1, "felt": 2}
    assert device.collect().answer == {"ok": True, "count": 2}
    for refused in (device.rescan, device.rescan_last, lambda: device.push_back([]), lambda: device.load(None)):
        with pytest.raises(Refused):
            refused()


def test_faults_of_a_replay() -> None:
    device = ReplayDevice(RECORDING)
    split = device.draw(Fault("split"))
    assert all(isinstance(step, Send) and len(step.data) == 1 for step in split.steps)
    unplug = device.draw(Fault("unplug", "1"))
    assert unplug.steps[0] == Unplug(1.0)
    assert wire_of(split.steps) + wire_of(unplug.steps) == b"".join(CAPTURE[:10])
    assert [entry.item for entry in unplug.entries] == ["recorded"]
