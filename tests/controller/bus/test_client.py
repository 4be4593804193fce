"""The blocking client against a table that loses frames, answers late, restarts and goes away."""

from __future__ import annotations

import json
import time
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import zmq

import controller.client
from controller.bus import keys, wire
from controller.bus.errors import (
    BusError,
    CommandRefused,
    CommandTimeout,
    FeedConflict,
    KeysError,
    ProtocolError,
)
from controller.bus.wire import Snapshot
from controller.client import TableClient

Server = Any


def follow(client: TableClient, server: Server) -> list[wire.Frame]:
    """Frames until the client has all the table has; heartbeats stand for the idle second."""
    frames = []
    while client.seq < len(server.frames) or client.snapshots == 0:
        server.heartbeat()
        while (frame := client.next_event(0.05)) is not None:
            frames.append(frame)
    return frames


def seqs(frames: list[wire.Frame]) -> list[int]:
    return [frame["seq"] for frame in frames]


def subscribed(client: TableClient, server: Server) -> None:
    """Wait until frames reach the client by themselves."""
    follow(client, server)
    while True:
        asked = len(server.requests)
        server.publish()
        follow(client, server)
        if len(server.requests) == asked:
            return


def commands(server: Server) -> list[str]:
    return [json.loads(request.body)["command"] for request in server.requests]


def test_a_slow_joiner_misses_nothing(server: Server, arguments: Any) -> None:
    for _ in range(5):
        server.append()
    with TableClient(*arguments(server), fold=server.fold) as client:
        # The subscription cannot have arrived: the hub has had no time to accept it.
        for _ in range(20):
            server.publish()
        follow(client, server)
        assert (client.seq, client.state) == (25, server.state)
        frames = []
        for _ in range(3):
            server.publish()
            frames += follow(client, server)
    assert seqs(frames) == [26, 27, 28]


def test_frames_lost_on_the_way_are_asked_for_in_pages(server: Server, arguments: Any) -> None:
    server.page_size = 7
    with TableClient(*arguments(server), fold=server.fold) as client:
        subscribed(client, server)
        start = client.seq
        for _ in range(30):
            server.append()
        server.publish()
        assert seqs(list(islice(client.events(), 31))) == list(range(start + 1, start + 32))
        assert client.state == server.state
        assert client.snapshots == 1
    assert commands(server).count("since") >= 5


def test_frames_lost_at_the_end_are_seen_by_the_heartbeat(server: Server, arguments: Any) -> None:
    with TableClient(*arguments(server), fold=server.fold) as client:
        subscribed(client, server)
        server.append()
        server.heartbeat()
        assert next(client.events())["seq"] == len(server.frames)


def test_a_late_joiner_equals_a_subscriber_from_the_start(server: Server, arguments: Any) -> None:
    with TableClient(*arguments(server), fold=server.fold) as first:
        frames = follow(first, server)
        for n in range(50):
            server.append() if n % 3 else server.publish()
        frames += follow(first, server)
        with TableClient(*arguments(server), fold=server.fold) as late:
            follow(late, server)
            for n in range(50):
                server.append() if n % 3 else server.publish()
            tail = follow(late, server)
            frames += follow(first, server)
            assert first.state == late.state == server.state == late.snapshot().state
    assert seqs(frames) == list(range(1, 101))
    assert frames[-len(tail) :] == tail


def test_too_old_skips_to_a_snapshot_and_says_so(server: Server, arguments: Any) -> None:
    seen: list[Snapshot] = []
    with TableClient(*arguments(server), fold=server.fold, on_snapshot=seen.append) as client:
        subscribed(client, server)
        for _ in range(10):
            server.append()
        server.oldest = len(server.frames) - 2
        follow(client, server)
        assert client.state == server.state
        assert client.snapshots == 2
    assert [snapshot.seq for snapshot in seen][1] == len(server.frames)


def test_a_restart_is_followed(serve: Any, arguments: Any) -> None:
    old = serve()
    with TableClient(*arguments(old), fold=old.fold) as client:
        follow(client, old)
        new = serve(like=old)
        for _ in range(10):
            new.publish()
        frames = follow(client, new)
        assert seqs(frames) == list(range(1, 11))
        assert {frame["epoch"] for frame in frames} == {2}
        assert client.snapshots == 1
        assert client.command("hello").data["role"] == "observer"


def test_a_restored_backup_is_another_feed(serve: Any, arguments: Any) -> None:
    old = serve()
    with TableClient(*arguments(old), fold=old.fold) as client:
        subscribed(client, old)
        for _ in range(5):
            old.publish()
        follow(client, old)
        new = serve(like=old)
        new.feed, new.frames = "feed-b", []
        new.append()
        while client.snapshots == 1:
            new.heartbeat()
            client.next_event(0.05)
        assert (client.seq, client.state) == (1, new.state)


def test_the_same_number_with_other_content_is_a_conflict(server: Server, arguments: Any) -> None:
    with TableClient(*arguments(server)) as client:
        subscribed(client, server)
        server.publish_raw(server.frames[-1])
        server.publish_raw(server.frames[-1].replace(b"tick", b"tock"))
        with pytest.raises(FeedConflict):
            client.next_event(20)


def test_another_schema_is_refused(server: Server, arguments: Any) -> None:
    with TableClient(*arguments(server)) as client:
        subscribed(client, server)
        server.publish_raw(server.frames[-1].replace(b'"schema": 1', b'"schema": 2'))
        with pytest.raises(ProtocolError, match="schema 2"):
            client.next_event(20)


def test_an_unanswered_command_is_sent_again_with_its_id(server: Server, arguments: Any) -> None:
    server.ignore = 1
    with TableClient(*arguments(server)) as client:
        reply = client.command("hello", {"n": 1}, seen_seq=7, id="once")
    assert (reply.id, reply.seq, reply.data["args"]) == ("once", 0, {"n": 1})
    first, again = (request.body for request in server.requests)
    assert first == again
    assert json.loads(first) == {"id": "once", "command": "hello", "args": {"n": 1}, "seen_seq": 7}


def test_a_command_without_an_answer_times_out(server: Server, arguments: Any) -> None:
    server.ignore = 100
    with TableClient(*arguments(server)) as client:
        with pytest.raises(CommandTimeout, match="repeat it with id") as raised:
            client.command("hello", timeout_s=0.2)
        server.ignore = 0
        assert client.command("hello", id=raised.value.command_id).id == raised.value.command_id
    assert isinstance(raised.value, TimeoutError)


def test_nothing_is_kept_for_a_table_that_is_away(serve: Any, arguments: Any) -> None:
    old = serve()
    with TableClient(*arguments(old)) as client:
        client.command("hello")
        old.close()
        with pytest.raises(CommandTimeout):
            client.command("void", timeout_s=0.3)
        new = serve(like=old)
        client.command("hello")
    assert commands(new) == ["hello"]


def test_a_refusal_carries_what_was_expected(server: Server, arguments: Any) -> None:
    with TableClient(*arguments(server)) as client, pytest.raises(CommandRefused) as refused:
        client.command("refuse")
    error = refused.value
    assert (error.code, error.message, error.expected) == ("not_allowed_now", "the table is paused", ["resume"])


def test_answers_that_match_no_command_are_dropped(server: Server, arguments: Any) -> None:
    server.raw_answers = [wire.encode_reply("stranger", 1, None)]
    with TableClient(*arguments(server)) as client:
        assert client.command("hello", id="mine").id == "mine"


def test_a_refusal_without_an_id_is_the_one_commands(server: Server, arguments: Any) -> None:
    server.raw_answers = [wire.encode_refusal(None, "malformed", "what?")]
    with TableClient(*arguments(server)) as client, pytest.raises(CommandRefused, match="malformed"):
        client.command("hello")


def test_an_answer_that_is_none_is_named(server: Server, arguments: Any) -> None:
    server.raw_answers = [b"nonsense"]
    with TableClient(*arguments(server)) as client, pytest.raises(ProtocolError):
        client.command("hello")


def test_commands_between_events_lose_no_frame(server: Server, arguments: Any) -> None:
    with TableClient(*arguments(server), fold=server.fold) as client:
        subscribed(client, server)
        start = client.seq
        for _ in range(20):
            server.append()
        server.publish()
        # The question for the lost frames is in flight while a command waits for its own answer.
        got = [client.next_event(0)]
        client.command("hello")
        frames = [frame for frame in got if frame is not None]
        frames += islice(client.events(), 21 - len(frames))
        assert seqs(frames) == list(range(start + 1, start + 22))
        assert client.state == server.state


def test_since_and_snapshot_answer_and_change_nothing(server: Server, arguments: Any) -> None:
    server.page_size = 3
    for _ in range(5):
        server.append()
    with TableClient(*arguments(server)) as client:
        assert client.snapshot() == Snapshot("feed-a", 1, 5, server.state)
        frames, more = client.since(1)
        assert (seqs(frames), more) == ([2, 3, 4], True)
        assert client.since(4) == ([json.loads(server.frames[4])], False)
        assert (client.seq, client.state, client.snapshots) == (0, None, 0)


def test_silence_is_seen(serve: Any, arguments: Any) -> None:
    server = serve()
    with TableClient(*arguments(server), stale_after=0) as client:
        assert client.stale
    with TableClient(*arguments(server)) as client:
        subscribed(client, server)
        assert not client.stale
        before = client.age_s
        server.close()
        assert client.next_event(0.05) is None
        assert client.age_s >= before + 0.05


def test_next_event_keeps_its_time(server: Server, arguments: Any) -> None:
    with TableClient(*arguments(server)) as client:
        follow(client, server)
        began = time.monotonic()
        assert client.next_event(0.1) is None
        assert 0.1 <= time.monotonic() - began < 5


def test_a_table_that_is_down_does_not_stop_a_subscriber(serve: Any, arguments: Any) -> None:
    old = serve()
    old.close()
    with TableClient(*arguments(old), fold=old.fold) as client:
        assert client.next_event(0.1) is None
        new = serve(like=old)
        follow(client, new)
        new.publish()
        assert seqs(follow(client, new)) == [1]


def test_a_removed_key_ends_events(server: Server, arguments: Any) -> None:
    with TableClient(*arguments(server)) as client:
        subscribed(client, server)
        (server.keys_dir / "observer" / "obs-1.key").unlink()
        server.call(lambda hub: hub.reload_keys())
        server.append()
        server.heartbeat()
        with pytest.raises(CommandRefused, match="unknown_key"):
            client.next_event(20)


def test_only_the_table_asked_for_is_heard(server: Server, arguments: Any) -> None:
    with TableClient(*arguments(server), table="t-11") as other, TableClient(*arguments(server), table="t-1") as own:
        subscribed(own, server)
        other.next_event(0)
        server.publish()
        follow(own, server)
        assert other.age_s > own.age_s


def test_a_closed_client_says_so(server: Server, arguments: Any) -> None:
    client = TableClient(*arguments(server))
    client.close()
    client.close()
    assert list(client.events()) == []
    for use in (client.command, client.snapshot, client.next_event):
        with pytest.raises(BusError, match="closed"):
            use(*(["x"] if use == client.command else []))


def test_what_can_never_work_fails_at_once(server: Server, arguments: Any, tmp_path: Path) -> None:
    feed, commands_, server_key, secret = arguments(server)
    with pytest.raises(BusError, match="cannot connect to nonsense"):
        TableClient(feed, "nonsense", server_key, secret)
    with pytest.raises(KeysError):
        TableClient(feed, commands_, tmp_path / "no.key", secret)
    with pytest.raises(KeysError):
        TableClient(feed, commands_, server_key, server_key)
    with pytest.raises(KeysError, match="40 characters"):
        TableClient(feed, commands_, b"short", secret)
    with TableClient(feed, commands_, keys.load_public(server_key), secret) as client:
        client.command("hello")


def test_the_client_needs_no_zmq_of_its_user() -> None:
    assert not any(getattr(controller.client, name, None) is zmq for name in dir(controller.client))
    assert all(hasattr(controller.client, name) for name in controller.client.__all__)
