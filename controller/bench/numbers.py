"""From samples to the figures of a report. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Final, TypedDict

#: Digits that a figure of a noisy machine can carry.
_DIGITS: Final = 1


class Spread(TypedDict):
    """Latencies of one form in microseconds."""

    median: float
    p95: float
    p99: float


class Ratio(TypedDict):
    """The median of the blocks' ratios, and the smallest and largest of them."""

    median: float
    min: float
    max: float


def percentile(samples: Sequence[float], share: float) -> float:
    """The smallest sample that at least ``share`` of all samples do not exceed (nearest rank)."""
    return sorted(samples)[max(0, math.ceil(share * len(samples)) - 1)]


def spread(samples_ns: Sequence[int]) -> Spread:
    """Median, p95 and p99 of ``samples_ns``."""
    us = [ns / 1000 for ns in samples_ns]
    return {
        "median": round(median(us), _DIGITS),
        "p95": round(percentile(us, 0.95), _DIGITS),
        "p99": round(percentile(us, 0.99), _DIGITS),
    }


def ratio(values: Sequence[float]) -> Ratio:
    """``values``: one ratio a block, each from figures measured within the same moments."""
    return {"median": round(median(values), 3), "min": round(min(values), 3), "max": round(max(values), 3)}
