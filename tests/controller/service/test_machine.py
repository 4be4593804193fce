"""Disk full, slow disk, clock step, full inbox: each has its outcome, and none loses a card."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from controller import facts as f
from controller.book.setting import BookSetting
from controller.bus.hub import Request
from controller.facts import decode_fact
from controller.journal.errors import JournalFull
from controller.journal.store import Journal
from controller.rules.options import GameOptions
from controller.service import actor as actors
from controller.service.actor import Actor
from controller.service.inbox import Inbox
from controller.service.watch import ClockWatch, RoomWatch
from controller.table.draft import Setting
from controller.table.inputs import Start
from controller.table.table import Table
from drivers import events as e
from drivers.shoe import Reading

Decisions = Literal["book", "platform"]


class Hub:
    """Nobody listens; the last answer is kept."""

    counters: Any = None

    def __init__(self) -> None:
        self.answer: dict[str, Any] = {}
        self.here: bool | None = None
        self.heard: list[str] = []

    def game_server_here(self) -> bool | None:
        return self.here

    def publish(self, frame: bytes) -> None:
        self.heard.append(json.loads(frame)["type"])

    def wake(self) -> None: ...

    def refresh_keys(self) -> bool:
        return False

    def reply(self, request: Request, body: bytes) -> None:  # noqa: ARG002
        self.answer = json.loads(body)


class Rig:
    """An actor whose clocks and disk the test holds."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, decisions: Decisions = "platform") -> None:
        self.now, self.wall, self.free, self.full = 1_000_000, 1_800_000_000_000, 2**40, False
        self.slow_ms = 0
        self.unheard: list[str] = []  # what was published when the last slow commit began
        monkeypatch.setattr(actors, "monotonic_ms", lambda: self.now)
        self.journal = Journal.create_or_open(folder / "t.journal", table="t-1", now_ms=0, on_commit=self._commit)
        book = BookSetting(table="t-1", game="baccarat", wallet="embedded") if decisions == "book" else None
        self.table = Table(Setting("t-1", GameOptions(game="baccarat", burn="none", decisions=decisions), book=book))
        self.hub = Hub()
        self.actor = Actor(
            self.table,
            self.journal,
            self.hub,  # type: ignore[arg-type]
            wall=lambda: self.wall,
            least_free=2**20,
            room=lambda: self.free,
        )
        self.actor.recover()
        self.actor.begin(Start("test", "", "{}"))
        self.put(e.PortRestored("pty"))
        for name in ("start_shift", "load_shoe", "open_bets", "close_bets"):
            assert self.order(name)["ok"]

    def _commit(self, when: str) -> None:
        if self.full and when == "before_commit":
            raise JournalFull("the disk is full; free some space on its disk")
        if self.slow_ms and when == "before_commit":
            self.unheard = list(self.hub.heard)
            self.now += self.slow_ms

    def put(self, *events: e.Event) -> None:
        self.actor.put([Reading(received_ns=0, raw=b"", event=event) for event in events])
        self.actor._drain()

    def order(self, name: str, **args: Any) -> dict[str, Any]:
        role = "game_server" if name in ("open_bets", "close_bets") else "supervisor"
        self.ids = getattr(self, "ids", 0) + 1
        order = {"id": f"order-{self.ids:05d}", "command": name, "args": args, "seen_seq": self.table.state.seq}
        self.actor._serve(Request(b"", role, "pat", json.dumps(order).encode()))
        return self.hub.answer

    def second(self, wall_ms: int = 1000) -> None:
        """A second passes; the wall clock says ``wall_ms``."""
        self.now += 1000
        self.wall += wall_ms
        self.actor._tick()
        self.actor._drain()

    @property
    def dealt(self) -> list[str]:
        round_ = self.table.state.round
        return [card.card for card in round_.cards] if round_ is not None else []

    def facts(self) -> list[f.Fact]:
        return [decode_fact(row.body) for row in self.journal.facts()]


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    made = Rig(tmp_path, monkeypatch)
    yield made
    made.actor._desk.close()
    made.journal.close()


def test_a_card_read_while_the_disk_is_full_waits_and_is_dealt_once_there_is_room(rig: Rig) -> None:
    rig.full = True
    rig.put(e.CardDrawn("KC"), e.CardDrawn("8D"))
    assert rig.dealt == []
    answer = rig.order("pause", reason="x")
    assert (answer["ok"], answer["error"]["code"]) == (False, "no_space")
    rig.second()
    assert rig.dealt == []
    rig.full = False
    rig.second()
    rig.second()
    assert rig.dealt == ["KC", "8D"]
    assert rig.order("pause", reason="x")["ok"]


def test_the_table_stops_before_the_disk_is_full_and_goes_on_by_itself(rig: Rig) -> None:
    rig.free = 2**20 - 1
    rig.second()
    assert "free some space" in rig.table.state.holds["device:disk"].reason
    rig.put(e.CardDrawn("KC"))
    assert rig.dealt == []  # held, not lost
    rig.free = 2**20
    rig.second()
    assert "device:disk" in rig.table.state.holds  # not yet enough: no flapping
    rig.free = 2**21
    rig.second()
    assert rig.table.state.holds == {}
    assert rig.dealt == ["KC"]


def test_behind_a_slow_disk_everything_waits_in_order_and_nothing_is_heard_before_its_commit(rig: Rig) -> None:
    rig.slow_ms = 20_000
    rig.put(e.CardDrawn("KC"), e.CardDrawn("8D"))
    assert rig.dealt == ["KC", "8D"]
    assert rig.unheard.count("card_dealt") == 1  # the second one only after its own commit
    assert rig.hub.heard.count("card_dealt") == 2
    assert rig.order("pause", reason="x")["ok"]
    assert "paused" not in rig.unheard


def test_deadlines_run_on_behind_a_slow_disk(rig: Rig) -> None:
    assert rig.order("void", reason="x")["ok"]
    assert rig.order("reopen", reason="x")["ok"]
    assert rig.order("open_bets")["ok"]
    rig.slow_ms = 60_000  # longer than betting
    assert rig.order("pause", reason="x")["ok"]
    assert rig.table.state.phase == "betting"
    rig.slow_ms = 0
    assert rig.order("resume", reason="x")["ok"]
    left = rig.table.deadline()
    assert left is not None
    assert left[0] == "step"
    assert left[1] <= rig.now + 15_000
    rig.now = left[1]
    rig.actor._tick()
    assert rig.table.state.phase == "dealing"


@pytest.mark.parametrize("by", [-3_600_000, 86_400_000, 1_500])
def test_a_step_of_the_clock_is_recorded_and_moves_no_deadline(rig: Rig, by: int) -> None:
    before = rig.table.deadline()
    rig.second(1000 + by)
    rig.second()
    assert [fact.by_ms for fact in rig.facts() if isinstance(fact, f.ClockStepped)] == [by]
    assert rig.table.deadline() == before
    rig.put(e.CardDrawn("KC"))
    assert rig.dealt == ["KC"]


def test_a_slewed_clock_is_no_step() -> None:
    watch = ClockWatch(5_000, 1_000)
    assert [watch.look(5_000 + n * 1001, 1_000 + n * 1000) for n in range(1, 400)] == [0] * 399


def test_room_is_told_once_each_way() -> None:
    free = [99, 99, 110, 130, 130]
    watch = RoomWatch(100, lambda: free.pop(0))
    assert "needed" in (watch.look(lost=False) or "")
    assert [watch.look(lost=True), watch.look(lost=True), watch.look(lost=True)] == [None, None, ""]
    assert watch.look(lost=False) is None


def test_a_flood_of_readings_is_dropped_and_told_as_a_gap() -> None:
    inbox = Inbox(limit=3)
    cards = [
        Reading(received_ns=n, raw=b"", event=e.CardDrawn(card))
        for n, card in enumerate(("KC", "8D", "9H", "KS", "2H"))
    ]
    inbox.put(cards)
    found = []
    while inbox:
        found.append(inbox.first().event)
        inbox.done()
    assert found[:3] == [e.CardDrawn("KC"), e.CardDrawn("8D"), e.CardDrawn("9H")]
    assert found[3:] == [e.Gap("inbox", "full")]
    inbox.put(cards[:1])
    assert inbox.first().event == e.CardDrawn("KC")


def test_after_a_flood_the_order_is_not_proven(rig: Rig) -> None:
    rig.put(e.CardDrawn("KC"))
    rig.put(e.Gap("inbox", "full"))
    assert [i.code for i in rig.table.state.incidents.values()] == ["M-30"]


def test_M_35_a_lost_game_server_holds_the_round_until_it_is_connected_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(tmp_path, monkeypatch, "book")
    try:
        for here, held in ((None, False), (True, False), (False, True), (False, True), (True, False), (True, False)):
            rig.hub.here = here
            rig.second()
            assert ("device:game_server" in rig.table.state.holds) is held
        told = [fact.type for fact in rig.facts() if getattr(fact, "device", None) == "game_server"]
        assert told == ["device_lost", "device_restored"]
    finally:
        rig.actor._desk.close()
        rig.journal.close()
