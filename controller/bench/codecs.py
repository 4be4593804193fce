"""Decoding speed: bytes a second of each protocol's decoder, beside a loop that trusts every byte.

The streams are in ``controller.bench.streams``, in reads of ``READ_BYTES``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from random import Random
from statistics import median
from typing import Any, Final, NamedTuple

from controller.bench.errors import BenchError
from controller.bench.numbers import ratio
from controller.bench.streams import (
    Stream,
    angel_stream,
    cut_feig,
    cut_lines,
    cut_packets,
    cut_rr3036,
    cut_telegrams,
    feig_stream,
    line_stream,
    rr3036_stream,
    ssi_stream,
)
from drivers.angel.codec import AngelDecoder
from drivers.decoder import Decoder
from drivers.feig.codec import FeigDecoder
from drivers.line.codec import LineDecoder
from drivers.mouth import Mouth
from drivers.registry import shoe_class
from drivers.rr3036.codec import Rr3036Decoder
from drivers.ssi.codec import SsiDecoder
from drivers.tags import Shoes, TagRegistry

READ_BYTES: Final = 4096
_ROUNDS: Final = 15
#: The loops are fast: so often a round, that their time can be measured.
_LOOPS: Final = 10

Progress = Callable[[int, int], None]


class Subject(NamedTuple):
    """One protocol: its stream, its decoder, and the loop it is compared with, which returns the messages cut.

    With ``answers`` the decoder is asked after each read for what it has to send.
    """

    stream: Stream
    decoder: Callable[[], Decoder]
    cut: Callable[[list[bytes]], int]
    answers: bool = False


def subjects(rng: Random) -> dict[str, Subject]:
    """All protocols."""
    feig, rr3036 = feig_stream(rng), rr3036_stream(rng)
    return {
        # Without a window: equal cards that follow each other in one read would be repeats.
        "line": Subject(line_stream(rng), lambda: LineDecoder(repeat_window_s=0), cut_lines),
        "angel": Subject(angel_stream(rng), AngelDecoder, cut_telegrams),
        "ssi": Subject(ssi_stream(rng), lambda: SsiDecoder(repeat_window_s=0), cut_packets, answers=True),
        # Without times, a tag has gone when one answer does not name it.
        "feig": Subject(feig, lambda: FeigDecoder(_mouth(feig.tags)), cut_feig),
        "rr3036": Subject(rr3036, lambda: Rr3036Decoder(_mouth(rr3036.tags)), cut_rr3036),
    }


def _mouth(tags: Mapping[str, str]) -> Mouth:
    return Mouth(Shoes([TagRegistry("bench", tags)]), leave_s=None)


def measure(progress: Progress) -> dict[str, Any]:
    """All protocols, decoder and cutting loop in turns. Raises ``BenchError`` if an event is missing."""
    chosen = subjects(Random(1))
    reports = {}
    for n, (name, subject) in enumerate(chosen.items()):
        reports[name] = _measure(name, subject)
        progress(n + 1, len(chosen))
    return reports


def _measure(name: str, subject: Subject) -> dict[str, Any]:
    data = subject.stream.data
    reads = [data[i : i + READ_BYTES] for i in range(0, len(data), READ_BYTES)]
    decoding, cutting = [], []
    for number in range(-1, _ROUNDS):  # the first one only warms up
        decoder = subject.decoder()
        began = time.perf_counter_ns()
        events = _decode(decoder, reads, answers=subject.answers)
        between = time.perf_counter_ns()
        for _ in range(_LOOPS):
            messages = subject.cut(reads)
        ended = time.perf_counter_ns()
        if events != subject.stream.events:
            raise BenchError(f"{name}: {events} events decoded of {subject.stream.events}")
        if messages != subject.stream.messages:
            raise BenchError(f"{name}: {messages} messages cut of {subject.stream.messages}")
        if number >= 0:
            decoding.append(len(data) / (between - began) * 1e9)
            cutting.append(_LOOPS * len(data) / (ended - between) * 1e9)
    line = shoe_class(name).default_line
    # Start, data, parity and stop bits.
    wire = line.baudrate / (1 + line.bytesize + (line.parity != "N") + line.stopbits)
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


def _decode(decoder: Decoder, reads: list[bytes], *, answers: bool) -> int:
    events = 0
    for read in reads:
        events += len(decoder.decode(read, 0.0))
        if answers:
            decoder.outgoing(0.0)
    return events


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
