"""The cursor against a feed that loses, repeats, delays and starts anew."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.bus import wire
from controller.bus.errors import CommandRefused, FeedConflict, ProtocolError
from controller.bus.feed_cursor import Ask, FeedCursor
from controller.bus.follower import Follower
from controller.bus.wire import FeedMessage, Reply, Snapshot

PAGE = 3


def message(seq: int, feed: str = "a", epoch: int = 1, note: str = "") -> FeedMessage:
    raw = {"schema": 1, "feed": feed, "epoch": epoch, "seq": seq, "type": "tick", "data": {"note": note}}
    return wire.decode_message(json.dumps(raw).encode())


def heartbeat(last_seq: int, feed: str = "a", epoch: int = 1) -> FeedMessage:
    raw = {"schema": 1, "feed": feed, "epoch": epoch, "type": "heartbeat", "data": {"last_seq": last_seq}}
    return wire.decode_message(json.dumps(raw).encode())


def seqs(items: list[Any]) -> list[int]:
    return [item.seq for item in items]


def at(seq: int, **limits: int) -> FeedCursor:
    cursor = FeedCursor(**limits)
    cursor.snapshot(Snapshot("a", 1, seq, None))
    return cursor


def test_a_new_cursor_wants_a_snapshot_and_keeps_what_arrives_meanwhile() -> None:
    cursor = FeedCursor()
    assert cursor.want == Ask("snapshot")
    for seq in (4, 5, 6, 7):
        assert cursor.message(message(seq)) == []
    assert seqs(cursor.snapshot(Snapshot("a", 1, 5, None))) == [5, 6, 7]
    assert cursor.want is None


def test_a_gap_is_asked_for_and_filled() -> None:
    cursor = at(10)
    assert seqs(cursor.message(message(11))) == [11]
    assert cursor.message(message(14)) == []
    ask = cursor.want
    assert ask == Ask("since", 11)
    assert seqs(cursor.page(ask, [message(12)], more=True)) == [12]
    ask = cursor.want
    assert ask == Ask("since", 12)
    assert seqs(cursor.page(ask, [message(13), message(14)], more=False)) == [13, 14]
    assert cursor.want is None


def test_a_heartbeat_shows_what_was_lost_at_the_end() -> None:
    cursor = at(10)
    cursor.message(heartbeat(10))
    assert cursor.want is None
    cursor.message(heartbeat(12))
    assert cursor.want == Ask("since", 10)


def test_a_late_frame_closes_the_gap_by_itself() -> None:
    cursor = at(10)
    cursor.message(message(12))
    ask = cursor.want
    assert ask is not None
    assert seqs(cursor.message(message(11))) == [11, 12]
    assert cursor.want is None
    assert cursor.page(ask, [message(11), message(12)], more=False) == []
    assert cursor.want is None


def test_duplicates_are_dropped() -> None:
    cursor = at(10)
    cursor.message(message(11))
    assert cursor.message(message(11)) == []
    assert cursor.message(message(9)) == []


@pytest.mark.parametrize("pending", [True, False])
def test_a_duplicate_with_other_bytes_is_a_conflict(pending: bool) -> None:
    cursor = at(10)
    seq = 12 if pending else 11
    cursor.message(message(seq))
    with pytest.raises(FeedConflict, match=f"frame {seq} came twice"):
        cursor.message(message(seq, note="other"))


def test_only_the_latest_frames_are_remembered() -> None:
    cursor = at(0, digests=5)
    for seq in range(1, 8):
        cursor.message(message(seq))
    assert cursor.message(message(2, note="other")) == []
    with pytest.raises(FeedConflict):
        cursor.message(message(3, note="other"))


def test_a_page_that_disagrees_with_the_feed_is_a_conflict() -> None:
    cursor = at(10)
    cursor.message(message(12))
    with pytest.raises(FeedConflict):
        cursor.page(Ask("since", 10), [message(11), message(12, note="other")], more=False)


def test_too_old_means_a_snapshot() -> None:
    cursor = at(10)
    cursor.message(message(20))
    cursor.too_old()
    assert cursor.want == Ask("snapshot")
    assert seqs(cursor.snapshot(Snapshot("a", 1, 19, None))) == [19, 20]


def test_another_feed_means_a_snapshot_and_the_old_one_is_past() -> None:
    cursor = at(10)
    assert cursor.message(message(3, feed="b")) == []
    assert cursor.want == Ask("snapshot")
    assert seqs(cursor.snapshot(Snapshot("b", 9, 2, None))) == [2, 3]
    assert cursor.message(message(11, feed="a")) == []
    assert cursor.want is None
    assert (cursor.feed, cursor.last, cursor.epoch) == ("b", 3, 1)


def test_another_feed_in_a_page_or_heartbeat_means_a_snapshot() -> None:
    cursor = at(10)
    cursor.message(heartbeat(2, feed="b"))
    assert cursor.want == Ask("snapshot")
    cursor = at(10)
    cursor.message(heartbeat(12))
    assert cursor.page(Ask("since", 10), [message(11, feed="b")], more=False) == []
    assert cursor.want == Ask("snapshot")


def test_a_table_that_went_back_is_a_conflict() -> None:
    cursor = at(10)
    cursor.too_old()
    with pytest.raises(FeedConflict, match="went back to seq 9"):
        cursor.snapshot(Snapshot("a", 2, 9, None))


def test_a_table_without_the_frames_it_published_is_asked_for_a_snapshot() -> None:
    cursor = at(10)
    cursor.message(message(13))
    assert cursor.page(Ask("since", 10), [], more=False) == []
    assert cursor.want == Ask("snapshot")
    with pytest.raises(FeedConflict, match="went back to seq 12; it has published 13"):
        cursor.snapshot(Snapshot("a", 1, 12, None))


def test_a_page_with_a_hole_or_a_heartbeat_is_refused() -> None:
    cursor = at(10)
    cursor.message(message(13))
    with pytest.raises(ProtocolError, match="frame 12 where 11 belongs"):
        cursor.page(Ask("since", 10), [message(12)], more=False)
    with pytest.raises(ProtocolError):
        cursor.page(Ask("since", 10), [heartbeat(11)], more=False)


def test_what_is_kept_is_bounded_and_asked_for_again() -> None:
    cursor = at(0, max_pending=3)
    for seq in range(2, 10):
        assert cursor.message(message(seq)) == []
    assert seqs(cursor.message(message(1))) == [1, 2, 3, 4]
    assert cursor.want == Ask("since", 4)


@dataclass
class World:
    """A table, a feed that loses, and one subscriber; times do not matter to any of them."""

    feed: str = "a"
    epoch: int = 1
    history: list[FeedMessage] = field(default_factory=list)
    oldest: int = 1
    queue: list[FeedMessage] = field(default_factory=list)
    asked: Ask | None = None
    answer: Reply | CommandRefused | None = None
    delivered: list[tuple[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.follower = Follower(0.0, lambda state, frame: [*state, frame["seq"]], None)

    def do(self, op: str) -> None:
        getattr(self, op)()
        while (frame := self.follower.pop()) is not None:
            self.delivered.append((frame["feed"], frame["seq"]))
            assert frame["seq"] == self.follower.seq

    def publish(self) -> None:
        self.lose()
        self.queue.append(self.history[-1])

    def lose(self) -> None:
        self.history.append(message(len(self.history) + 1, self.feed, self.epoch))

    def beat(self) -> None:
        self.queue.append(heartbeat(len(self.history), self.feed, self.epoch))

    def repeat(self) -> None:
        self.queue += self.history[-2:]

    def swap(self) -> None:
        if len(self.queue) > 1 and self.queue[-1].feed == self.queue[-2].feed:
            self.queue[-2:] = self.queue[:-3:-1]

    def receive(self) -> None:
        if self.queue:
            self.follower.received(self.queue.pop(0).raw, 0.0)

    def ask(self) -> None:
        """The table answers at once; the answer may arrive much later."""
        if self.asked is None and (ask := self.follower.cursor.want) is not None:
            self.asked, self.answer = ask, self.reply(ask)

    def arrive(self) -> None:
        if self.asked is not None and self.answer is not None:
            asked, self.asked = self.asked, None
            self.follower.answered(asked, self.answer)

    def prune(self) -> None:
        self.oldest = max(self.oldest, len(self.history) - 2)

    def restart(self) -> None:
        self.epoch += 1

    def restore(self) -> None:
        """A backup under a new feed id, shorter than what was published; the connection and its queue are gone."""
        self.feed = chr(ord(self.feed) + 1)
        self.queue.clear()
        self.history = [message(m.last_seq, self.feed, self.epoch) for m in self.history[:-2]]
        self.oldest = 1

    def reply(self, ask: Ask) -> Reply | CommandRefused:
        last = len(self.history)
        if ask.command == "snapshot":
            data = {"feed": self.feed, "epoch": self.epoch, "seq": last, "state": list(range(1, last + 1))}
            return self.decode(wire.encode_reply("x", last, data))
        if ask.after + 1 < self.oldest or ask.after > last:
            return self.decode(wire.encode_refusal("x", "too_old", ""))
        page = [m.raw for m in self.history[ask.after : ask.after + PAGE]]
        return self.decode(wire.encode_page("x", last, page, ask.after + len(page) < last))

    @staticmethod
    def decode(raw: bytes) -> Reply | CommandRefused:
        return wire.decode_answer(raw)[1]


OPS = ["publish", "lose", "beat", "repeat", "swap", "receive", "ask", "arrive", "prune", "restart", "restore"]
# Most steps are the ordinary ones; a restore now and then.
STEPS = st.lists(st.sampled_from([*OPS[:-1], *OPS[:-1], "publish", "receive", "receive", *OPS]), max_size=80)


def settle(world: World) -> None:
    """The table falls idle: heartbeats go on, questions are answered."""
    for _ in range(len(world.history) + len(world.queue) + 3):
        for step in ("beat", "receive", "receive", "ask", "arrive"):
            world.do(step)


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_whatever_happens_the_state_is_the_tables_in_the_end(steps: list[str]) -> None:
    world = World()
    for step in steps:
        world.do(step)
    settle(world)
    assert world.follower.cursor.want is None
    assert world.follower.state == list(range(1, len(world.history) + 1))
    assert world.follower.seq == len(world.history)
    assert len(world.delivered) == len(set(world.delivered))
    assert world.delivered == sorted(world.delivered)


@settings(max_examples=300, deadline=None)
@given(STEPS.map(lambda steps: [step for step in steps if step not in ("prune", "restore")]))
def test_without_pruning_nothing_is_skipped(steps: list[str]) -> None:
    world = World()
    for step in ("ask", "arrive", *steps):
        world.do(step)
    settle(world)
    assert world.delivered == [("a", seq) for seq in range(1, len(world.history) + 1)]
    assert world.follower.snapshots == 1


def test_liveness_is_by_the_clock_given() -> None:
    follower = Follower(100.0, None, None, stale_after=3)
    assert not follower.is_stale(103.0)
    assert follower.is_stale(103.1)
    follower.received(heartbeat(0).raw, 110.0)
    assert follower.age_s(111.0) == 1.0
    assert not follower.is_stale(112.0)


def test_other_refusals_are_the_users() -> None:
    follower = Follower(0.0, None, None)
    with pytest.raises(CommandRefused, match="unknown_key"):
        follower.answered(Ask("snapshot"), CommandRefused("unknown_key", "gone"))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"\xff",
        b"{}",
        b'{"schema":2,"feed":"a","epoch":1,"seq":1,"type":"tick"}',
        b'{"schema":1,"feed":7,"epoch":1,"seq":1,"type":"tick"}',
        b'{"schema":1,"feed":"a","epoch":1,"seq":0,"type":"tick"}',
        b'{"schema":1,"feed":"a","epoch":1,"type":"tick"}',
        b'{"schema":1,"feed":"a","epoch":1,"type":"heartbeat"}',
        b'{"schema":1,"feed":"a","epoch":1,"type":"heartbeat","data":{"last_seq":"1"}}',
    ],
)
def test_what_is_no_frame_is_named(raw: bytes) -> None:
    with pytest.raises(ProtocolError):
        wire.decode_message(raw)


@pytest.mark.parametrize("raw", [b"", b"[]", b'{"id":"x"}', b'{"ok":true}', b'{"id":"x","ok":false}'])
def test_what_is_no_answer_is_named(raw: bytes) -> None:
    with pytest.raises(ProtocolError):
        wire.decode_answer(raw)


def test_frames_keep_their_bytes_in_a_page() -> None:
    odd = b'{"schema" : 1,"feed":"a","epoch":1, "seq":1,"type":"tick","data":{"n":1.50}}'
    reply = wire.decode_answer(wire.encode_page("x", 1, [odd], more=False))[1]
    assert isinstance(reply, Reply)
    frames, more = wire.decode_page(reply)
    assert ([frame.raw for frame in frames], more) == ([odd], False)


def test_a_command_that_is_too_long_is_refused_before_it_is_sent() -> None:
    with pytest.raises(ProtocolError, match="1048576"):
        wire.encode_command("place_bets", {"bets": "x" * wire.MAX_BODY})
