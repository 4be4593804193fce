"""A bounded run of the fuzz targets: hypothesis, and a coverage-guided mutator of a few lines.

``make fuzz`` runs the same targets with atheris for much longer; figures are in ``docs/hardware/fuzzing.md``.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import FrameType, ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.cli.shoe import PROTOCOLS as SIMULATED
from drivers.registry import PROTOCOLS

SECONDS = 0.7


def _load() -> ModuleType:
    path = Path(__file__).parent / "fuzz" / "targets.py"
    spec = importlib.util.spec_from_file_location("fuzz_targets", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_targets"] = module
    spec.loader.exec_module(module)
    return module


targets = _load()


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL")


def test_every_protocol_has_a_target() -> None:
    assert set(PROTOCOLS) <= set(targets.FUZZ)
    assert set(SIMULATED) <= set(targets.FUZZ)


@pytest.mark.parametrize("name", targets.FUZZ)
def test_any_bytes(name: str) -> None:
    @settings(max_examples=60)
    @given(st.binary(max_size=120))
    def check(data: bytes) -> None:
        targets.FUZZ[name](data)

    check()


@pytest.mark.parametrize("name", targets.TARGETS)
def test_the_good_messages_are_understood(name: str) -> None:
    """A target whose messages were not taken would promise nothing."""
    target = targets.TARGETS[name]
    # Polled readers first are asked, and set up: twice each message, with time between.
    data = bytes([4 | 1 << 3] * 4 + [op for n in range(len(target.good)) for op in (5 | 2 << 3, 4 | (n & 31) << 3)])
    stats = targets.run(target, data).stats
    assert stats.accepted > 0


@pytest.mark.parametrize("name", targets.FUZZ)
def test_inputs_that_reach_new_lines_are_followed(name: str) -> None:
    assert follow(targets.FUZZ[name], Random(name), SECONDS) > 20


def follow(target: Callable[[bytes], None], rng: Random, seconds: float) -> int:
    """Mutate inputs, keep those that reach new lines of the package; how many inputs were tried."""
    seen: set[tuple[str, int]] = set()
    corpus = [bytes((4 | n << 3,)) for n in range(20)] + [b""]
    end = time.monotonic() + seconds
    tried = 0
    while time.monotonic() < end or tried <= 20:
        data = _mutate(rng, corpus)
        reached = _lines(target, data)
        tried += 1
        if reached - seen:
            seen |= reached
            corpus.append(data)
    return tried


def _mutate(rng: Random, corpus: list[bytes]) -> bytes:
    data = bytearray(rng.choice(corpus))
    for _ in range(rng.randint(1, 4)):
        place = rng.randint(0, len(data))
        match rng.randrange(4):
            case 0:
                data[place:place] = rng.randbytes(rng.randint(1, 8))
            case 1:
                del data[place : place + rng.randint(1, 4)]
            case 2 if data:
                data[place % len(data)] ^= 1 << rng.randrange(8)
            case _:
                data[place:place] = rng.choice(corpus)
    return bytes(data[: targets.MAX_INPUT])


def _lines(target: Callable[[bytes], None], data: bytes) -> set[tuple[str, int]]:
    """The lines of the package that ``data`` reaches."""
    reached: set[tuple[str, int]] = set()

    def local(frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            reached.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    def trace(frame: FrameType, _event: str, _argument: object) -> Any:
        return local if "/drivers/" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        target(data)
    finally:
        sys.settrace(before)
    return reached
