"""The benchmarks' error."""

from __future__ import annotations


class BenchError(Exception):
    """A measurement could not be made: a process did not come up, died, or answered something else."""
