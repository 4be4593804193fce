"""Captures without a port: a real shoe's, and made ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from drivers.angel.codec import AngelEncoder
from drivers.decode import decode_capture, hex_chunks
from drivers.events import (
    CardDrawn,
    CardRevealed,
    ErrorCleared,
    ErrorRaised,
    Gap,
    OutOfGame,
    OverdrawnDiscarded,
    Repeated,
    RoundResult,
    StandBy,
    Started,
    UnknownCode,
)

VALUES = {rank: min(number, 10) % 10 for number, rank in enumerate("A23456789TJQK", 1)}


@pytest.fixture(scope="module")
def capture(shared: Path) -> list[bytes]:
    return list(hex_chunks((shared / "data" / "angel_eye" / "capture.hex").read_text().splitlines()))


def test_every_byte_of_the_capture_is_accounted_for(capture: list[bytes]) -> None:
    stream = b"".join(capture)
    events, summary = decode_capture("angel", capture)
    assert set(summary) == {"frames", "accepted", "duplicates", "bad_checksum", "junk_bytes", "gaps"}
    assert (summary["bad_checksum"], summary["gaps"], summary["junk_bytes"]) == (0, 0, 6)
    assert summary["frames"] == summary["accepted"] + summary["duplicates"] == stream.count(b"\x05")
    assert summary["frames"] % 3 == 0, "each telegram came three times"
    assert summary["accepted"] == len(events)
    assert not [event for event in events if isinstance(event, UnknownCode | Gap)]
    assert decode_capture("angel", [stream]) == (events, summary)
    assert decode_capture("angel", [stream[i : i + 1] for i in range(len(stream))]) == (events, summary)


def test_every_result_of_the_capture_agrees_with_its_cards(capture: list[bytes]) -> None:
    hand: dict[str, list[str]] = {"player": [], "banker": []}
    results = 0
    for event in decode_capture("angel", capture)[0]:
        if isinstance(event, CardRevealed):
            assert event.index == len(hand[event.target]) + 1, "cards of a side are revealed in their order"
            hand[event.target].append(event.card)
        elif isinstance(event, RoundResult):
            results += 1
            player, banker = (sum(VALUES[card[0]] for card in hand[side]) % 10 for side in ("player", "banker"))
            winner = "tie" if player == banker else "player" if player > banker else "banker"
            pairs = [hand[side][0][0] == hand[side][1][0] for side in ("player", "banker")]
            assert [event.winner, event.player_pair, event.banker_pair] == [winner, *pairs]
        if isinstance(event, RoundResult | Started):
            hand = {"player": [], "banker": []}
    assert results > 0


def test_an_over_draw_of_the_capture(capture: list[bytes]) -> None:
    events, _ = decode_capture("angel", capture)
    begin = next(i for i, event in enumerate(events) if isinstance(event, ErrorRaised))
    kinds = [type(event) for event in events[begin:] if not isinstance(event, ErrorRaised)][:3]
    assert kinds == [OutOfGame, OverdrawnDiscarded, ErrorCleared]


def test_a_made_stream_in_one_piece_and_cut() -> None:
    encoder = AngelEncoder()
    told = [Started(), CardDrawn("8S", "player", 1), CardDrawn("AH", "banker", 1), StandBy()]
    stream = b"".join(encoder.triple(event) for event in told)
    assert decode_capture("angel", [stream])[0] == told
    assert decode_capture("angel", [stream[i : i + 7] for i in range(0, len(stream), 7)])[0] == told


def test_line_captures_take_repeats_within_a_read_only() -> None:
    events, summary = decode_capture("line", [b"D12\r\nD12\r\n", b"H0", b"1\r\n", b"H01\r\n", b"C0"])
    assert events == [CardDrawn("QD"), Repeated("QD"), CardDrawn("AH"), CardDrawn("AH"), UnknownCode("C0")]
    assert (summary["frames"], summary["duplicates"]) == (5, 1)
    assert decode_capture("line", [b"hA\r"], code_set="suit_rank")[0] == [CardDrawn("AH")]


def test_hex_chunks() -> None:
    assert list(hex_chunks(["05 31", "", "ff\n"])) == [b"\x05\x31", b"\xff"]
    with pytest.raises(ValueError, match="line 2"):
        list(hex_chunks(["05", "zz"]))
