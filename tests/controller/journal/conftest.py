"""What the journal's tests share: small batches to append, and a check that no file is left open."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from controller.journal.store import FactRow, Frame, Journal

FEED = "0123456789abcdef" * 2


class Maker:
    """Makes batches that follow a journal's end: every second fact has a frame."""

    feed = FEED

    def open(self, path: Path, table: str = "t1") -> Journal:
        return Journal.create_or_open(path, table=table, now_ms=1_764_000_000_000, feed=self.feed)

    def batch(self, journal: Journal, count: int = 2) -> tuple[list[FactRow], list[Frame]]:
        facts, frames = [], []
        seq = journal.last_seq
        for n in range(journal.last_n + 1, journal.last_n + 1 + count):
            body = f'{{"card":"K{n:07d}"}}'.encode()
            facts.append(
                FactRow(n, 1, 1_764_000_000_000 + n, f"type_{n % 3}", f"shoe-{n // 10}", f"round-{n // 4}", body)
            )
            if n % 2 == 0:
                seq += 1
                frames.append(Frame(seq, n, f'{{"seq":{seq},"pad":"F{n:07d}"}}'.encode()))
        return facts, frames

    def fill(self, journal: Journal, appends: int, count: int = 2) -> Sequence[FactRow]:
        kept: list[FactRow] = []
        for _ in range(appends):
            facts, frames = self.batch(journal, count)
            journal.append(facts, frames)
            kept += facts
        return kept


@pytest.fixture
def make() -> Maker:
    return Maker()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.journal"


@pytest.fixture(autouse=True)
def no_open_files(tmp_path: Path) -> Iterator[None]:
    yield
    names = []
    for fd in os.listdir("/proc/self/fd"):
        try:
            names.append(os.readlink(f"/proc/self/fd/{fd}"))
        except FileNotFoundError:
            continue
    assert [name for name in names if name.startswith(str(tmp_path))] == []
