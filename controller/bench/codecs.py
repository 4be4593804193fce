"""Decoding speed: bytes a second of each protocol's decoder, beside a loop that trusts every byte.

The stream is that of shoes dealt to their end, in reads of ``READ_BYTES``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random
from statistics import median
from typing import Any, Final, NamedTuple

from controller.bench.errors import BenchError
from controller.bench.numbers import ratio
from controller.cards import FACES, shuffled_shoe
from drivers.angel.codec import AngelDecoder, AngelEncoder
from drivers.angel.frames import ENQ, ETX
from drivers.decoder import Decoder
from drivers.events import CardDrawn, Event, RoundResult, StandBy, Started, TargetName
from drivers.line.codec import LineDecoder, card_code, encode
from drivers.registry import shoe_class

READ_BYTES: Final = 4096
_SHOES: Final = 8
_ROUNDS: Final = 15
#: Start, stop and eight data bits a byte.
_BITS_A_BYTE: Final = 10
_COUP: Final[tuple[tuple[TargetName, int], ...]] = (("player", 1), ("banker", 1), ("player", 2), ("banker", 2))

#: The loops are fast: so often a round, that their time can be measured.
_LOOPS: Final = 10
_CARDS: Final = {card_code(face, "scan_table").encode(): face for face in FACES}

Progress = Callable[[int, int], None]


class Stream(NamedTuple):
    """What a shoe sends and how many events are in it."""

    data: bytes
    events: int


class Subject(NamedTuple):
    """One protocol: its stream, its decoder, and the loop it is compared with, which returns the messages cut."""

    stream: Stream
    decoder: Callable[[], Decoder]
    cut: Callable[[list[bytes]], int]


def line_stream(rng: Random) -> Stream:
    """Every card of some shoes, one line a card."""
    cards = [card for _ in range(_SHOES) for card in shuffled_shoe(rng)]
    return Stream(b"".join(encode(CardDrawn(card)) for card in cards), len(cards))


def angel_stream(rng: Random) -> Stream:
    """Coups of four cards with their result, every telegram three times as the shoe sends it."""
    encoder = AngelEncoder()
    events: list[Event] = [Started()]
    for _ in range(_SHOES):
        cards = shuffled_shoe(rng)
        for start in range(0, len(cards) - len(_COUP) + 1, len(_COUP)):
            for card, place in zip(cards[start : start + len(_COUP)], _COUP, strict=True):
                events.append(CardDrawn(card, *place))
            events += [RoundResult("player", False, False), StandBy()]
    return Stream(b"".join(encoder.triple(event) for event in events), len(events))


def cut_lines(reads: list[bytes]) -> int:
    """Split at line ends, a rest carried over, and look up each code."""
    cards: list[str] = []
    rest = b""
    for data in reads:
        *lines, rest = (rest + data).split(b"\r\n")
        cards += [_CARDS[line] for line in lines]
    return len(cards)


def cut_telegrams(reads: list[bytes]) -> int:
    """Find each start and end, a rest carried over; nothing is checked."""
    found, buffer = 0, b""
    for data in reads:
        buffer += data
        place = 0
        while (start := buffer.find(ENQ, place)) >= 0 and (end := buffer.find(ETX, start)) >= 0:
            if end + 3 > len(buffer):
                break
            telegram, place = buffer[start : end + 3], end + 3
            found += bool(telegram)
        buffer = buffer[place:]
    return found


def measure(progress: Progress) -> dict[str, Any]:
    """Both protocols, decoder and cutting loop in turns. Raises ``BenchError`` if an event is missing."""
    rng = Random(1)
    subjects = {
        # Without a window: equal cards that follow each other in one read would be repeats.
        "line": Subject(line_stream(rng), lambda: LineDecoder(repeat_window_s=0), cut_lines),
        "angel": Subject(angel_stream(rng), AngelDecoder, cut_telegrams),
    }
    reports = {}
    for n, (name, subject) in enumerate(subjects.items()):
        reports[name] = _measure(name, subject)
        progress(n + 1, len(subjects))
    return reports


def _measure(name: str, subject: Subject) -> dict[str, Any]:
    data = subject.stream.data
    reads = [data[i : i + READ_BYTES] for i in range(0, len(data), READ_BYTES)]
    decoding, cutting = [], []
    for number in range(-1, _ROUNDS):  # the first one only warms up
        decoder = subject.decoder()
        began = time.perf_counter_ns()
        events = sum(len(decoder.decode(read, 0.0)) for read in reads)
        between = time.perf_counter_ns()
        for _ in range(_LOOPS):
            subject.cut(reads)
        ended = time.perf_counter_ns()
        if events != subject.stream.events:
            raise BenchError(f"{name}: {events} events decoded of {subject.stream.events}")
        if number >= 0:
            decoding.append(len(data) / (between - began) * 1e9)
            cutting.append(_LOOPS * len(data) / (ended - between) * 1e9)
    wire = shoe_class(name).default_line.baudrate / _BITS_A_BYTE
    return {
        "unit": "bytes/s",
        "bytes": len(data),
        "events": subject.stream.events,
        "decoder": round(median(decoding)),
        "baseline": round(median(cutting)),
        "ratio": ratio([mine / bare for mine, bare in zip(decoding, cutting, strict=True)]),
        "wire": round(wire),
        "times_wire": round(median(decoding) / wire),
    }


def text(report: dict[str, Any]) -> str:
    """``report`` for a person."""
    lines = [
        "codecs: bytes a second, decoder beside a loop that trusts every byte",
        f"{'':<8}{'decoder':>14}{'baseline':>14}{'ratio':>8}  (rounds)        times its line's speed",
    ]
    for name, row in report.items():
        spread = f"({row['ratio']['min']:.3f} to {row['ratio']['max']:.3f})"
        lines.append(
            f"{name:<8}{row['decoder']:>14,}{row['baseline']:>14,}{row['ratio']['median']:>8.3f}  {spread:<16}"
            f"{row['times_wire']:>8,}"
        )
    return "\n".join(lines)
