"""The desk and its process: answers in order, a process that dies is replaced, nothing outlives the desk."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.bus.hub import Request
from controller.commands import Command, History
from controller.commands import Statistics as Ask
from controller.refusal import Refusal
from controller.service import answers
from controller.service.desk import WAITING, Desk

WAIT_S = 30


class Counter:
    """The other end of a desk."""

    def __init__(self, path: Path) -> None:
        self._ready = threading.Semaphore(0)
        self.desk = Desk(str(path), self._ready.release)
        self._asked = 0

    def put(self, args: Any, name: str = "history") -> None:
        self._asked += 1
        command = Command(id=f"ask-{self._asked:04d}", name=name, args=args, seen_seq=None, role="s", person="p")
        self.desk.ask(Request(b"", "s", "p", b""), command, 7)

    def take(self) -> Any:
        assert self._ready.acquire(timeout=WAIT_S)
        ((_, _, body),) = self.desk.answers()
        return json.loads(body)


@pytest.fixture
def counter(play: Any, tmp_path: Path) -> Iterator[Callable[[], Counter]]:
    made: list[Counter] = []

    def one() -> Counter:
        p = play("baccarat")
        p.close()
        p.cards("9C 2H KS 5D")
        p.journal(tmp_path / "t.journal").close()
        made.append(Counter(tmp_path / "t.journal"))
        return made[-1]

    yield one
    for each in made:
        each.desk.close()


def test_questions_are_answered_in_order(counter: Callable[[], Counter]) -> None:
    one = counter()
    one.put(History())
    first = one.take()
    assert (first["id"], first["ok"], first["seq"]) == ("ask-0001", True, 7)
    (line,) = first["data"]["rounds"]
    one.put(History(round=line["round"]))
    assert one.take()["data"]["status"] == "complete"
    one.put(Ask(by="game"), "statistics")
    assert one.take()["data"]["groups"][0]["rounds"] == 1
    one.put(History(round="none"))
    assert one.take()["error"]["code"] == "not_found"


def test_a_process_that_died_is_told_and_replaced(counter: Callable[[], Counter]) -> None:
    one = counter()
    one.put(History())
    assert one.take()["ok"]
    assert one.desk._process is not None
    one.desk._process.kill()
    one.desk._process.wait()
    one.put(History())
    assert one.take()["error"]["code"] == "internal"
    one.put(History())
    assert one.take()["ok"]


def test_a_desk_that_is_closed_at_work_leaves_nothing(counter: Callable[[], Counter]) -> None:
    one = counter()
    for _ in range(5):
        one.put(History())
    one.desk.close()
    one.desk.close()
    assert one.desk._process is None


def fill(one: Counter) -> None:
    """One question may be at work already."""
    for _ in range(2):
        one.put(History())


def test_too_many_questions_are_refused(counter: Callable[[], Counter], monkeypatch: pytest.MonkeyPatch) -> None:
    one = counter()
    go = threading.Event()
    monkeypatch.setattr(one.desk, "_answer", lambda *_: b"{}" if go.wait(WAIT_S) else b"")
    try:
        for _ in range(WAITING):
            one.put(History())
        with pytest.raises(Refusal) as refused:
            fill(one)
        assert refused.value.code == "busy"
    finally:
        go.set()


def test_statistics_that_are_not_collated_yet_say_how_far_they_are(
    play: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = play("baccarat")
    p.journal(tmp_path / "t.journal").close()
    monkeypatch.setattr(answers, "SLICE", 3)
    monkeypatch.setattr(answers, "PATIENCE_S", -1.0)
    table = answers.Answers(str(tmp_path / "t.journal"))
    question = json.dumps(["id-00000001", "statistics", {"by": "shift"}, 1, "supervisor:pat"]).encode()
    refused = json.loads(table.body(question))["error"]
    assert refused["code"] == "busy"
    assert "collated" in refused["message"]
    while table.collate():
        pass
    assert json.loads(table.body(question))["data"]["groups"][0]["started_by"] == "supervisor:pat"
