"""The asyncio client, with asyncio's debug mode on: the same promises, many tasks and cancellation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from controller.bus import wire
from controller.bus.errors import (
    BusError,
    CommandRefused,
    CommandTimeout,
    FeedConflict,
    KeysError,
    ProtocolError,
)
from controller.client import AsyncTableClient

Server = Any


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def checked() -> None:
        await main()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, f"tasks left behind: {left}"

    asyncio.run(checked(), debug=True)


async def follow(client: AsyncTableClient, server: Server) -> list[wire.Frame]:
    frames = []
    while client.seq < len(server.frames) or client.snapshots == 0:
        server.heartbeat()
        while (frame := await client.next_event(0.05)) is not None:
            frames.append(frame)
    return frames


async def subscribed(client: AsyncTableClient, server: Server) -> None:
    await follow(client, server)
    while True:
        asked = len(server.requests)
        server.publish()
        await follow(client, server)
        if len(server.requests) == asked:
            return


def test_frames_come_without_gaps(server: Server, arguments: Any) -> None:
    server.page_size = 4

    async def main() -> None:
        async with AsyncTableClient(*arguments(server), fold=server.fold) as client:
            frames = await follow(client, server)
            for n in range(60):
                server.append() if n % 4 else server.publish()
            frames += await follow(client, server)
            assert [frame["seq"] for frame in frames] == list(range(1, 61))
            assert client.state == server.state == (await client.snapshot()).state
            assert client.snapshots == 1
            assert not client.stale
            assert client.age_s < 20
            server.publish()
            async for frame in client.events():
                assert frame["seq"] == 61
                break

    run(main)


def test_too_old_and_another_feed_mean_a_snapshot(serve: Any, arguments: Any) -> None:
    old = serve()

    async def main() -> None:
        async with AsyncTableClient(*arguments(old), fold=old.fold) as client:
            await subscribed(client, old)
            for _ in range(5):
                old.append()
            old.oldest = len(old.frames)
            await follow(client, old)
            assert (client.snapshots, client.state) == (2, old.state)
            new = serve(like=old)
            new.feed, new.frames = "feed-b", []
            new.append()
            while client.snapshots == 2:
                new.heartbeat()
                await client.next_event(0.05)
            assert (client.seq, client.state) == (1, new.state)

    run(main)


def test_many_tasks_send_commands_at_once(server: Server, arguments: Any) -> None:
    async def main() -> None:
        async with AsyncTableClient(*arguments(server, "game_server"), fold=server.fold) as client:
            reader = asyncio.create_task(client.next_event())
            replies = await asyncio.gather(*(client.command("hello", {"n": n}) for n in range(100)))
            assert [reply.data["args"]["n"] for reply in replies] == list(range(100))
            while not reader.done():
                server.publish()
                await asyncio.wait([reader], timeout=0.05)
            assert reader.result() is not None

    run(main)


def test_an_unanswered_command_is_sent_again_with_its_id(server: Server, arguments: Any) -> None:
    server.ignore = 1

    async def main() -> None:
        async with AsyncTableClient(*arguments(server)) as client:
            assert (await client.command("hello", seen_seq=3, id="once")).id == "once"

    run(main)
    first, again = (request.body for request in server.requests)
    assert first == again
    assert json.loads(first)["seen_seq"] == 3


def test_errors_are_those_of_the_blocking_client(server: Server, arguments: Any) -> None:
    async def main() -> None:
        async with AsyncTableClient(*arguments(server)) as client:
            with pytest.raises(CommandRefused) as refused:
                await client.command("refuse")
            assert refused.value.expected == ["resume"]
            server.raw_answers = [b"nonsense"]
            with pytest.raises(ProtocolError):
                await client.command("hello")
            server.raw_answers = [wire.encode_refusal(None, "malformed", "what?")]
            with pytest.raises(CommandRefused, match="malformed"):
                await client.command("hello")
            server.ignore = 100
            with pytest.raises(CommandTimeout):
                await client.command("hello", timeout_s=0.2)
            server.ignore = 0
            frames, more = await client.since(0)
            assert (frames, more) == ([], False)
            await subscribed(client, server)
            server.publish_raw(server.frames[-1])
            server.publish_raw(server.frames[-1].replace(b"tick", b"tock"))
            with pytest.raises(FeedConflict):
                await client.next_event(20)

    run(main)
    with pytest.raises(RuntimeError, match="no running event loop"):
        AsyncTableClient(*arguments(server))


def test_a_cancelled_reader_loses_nothing(server: Server, arguments: Any) -> None:
    async def main() -> None:
        async with AsyncTableClient(*arguments(server), fold=server.fold) as client:
            frames = []
            for n in range(200):
                server.append() if n % 5 == 0 else server.publish()
                reader = asyncio.create_task(client.next_event())
                # Cancelled at another point of its work each time.
                for _ in range(n % 7):
                    await asyncio.sleep(0)
                if not reader.done():
                    reader.cancel()
                    await asyncio.wait([reader])
                if not reader.cancelled() and (frame := reader.result()) is not None:
                    frames.append(frame)
            frames += await follow(client, server)
            assert client.state == server.state
            first = frames[0]["seq"]
            assert [frame["seq"] for frame in frames] == list(range(first, 201))

    run(main)


def test_a_cancelled_command_leaves_the_client_usable(server: Server, arguments: Any) -> None:
    async def main() -> None:
        async with AsyncTableClient(*arguments(server)) as client:
            server.ignore = 1
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(client.command("hello"), 0.1)
            server.ignore = 0
            await client.command("hello")

    run(main)


def test_one_task_reads_events(server: Server, arguments: Any) -> None:
    async def main() -> None:
        async with AsyncTableClient(*arguments(server)) as client:
            reader = asyncio.create_task(client.next_event())
            await asyncio.sleep(0)
            with pytest.raises(BusError, match="another task"):
                await client.next_event()
            reader.cancel()
            await asyncio.wait([reader])

    run(main)


def test_one_id_is_in_flight_once(server: Server, arguments: Any) -> None:
    async def main() -> None:
        async with AsyncTableClient(*arguments(server)) as client:
            first = asyncio.create_task(client.command("hello", id="x"))
            await asyncio.sleep(0)
            with pytest.raises(BusError, match="in flight"):
                await client.command("hello", id="x")
            await first

    run(main)


@pytest.mark.parametrize("up", [True, False])
def test_close_frees_everybody_who_waits(serve: Any, arguments: Any, up: bool) -> None:
    server = serve()
    server.ignore = 100
    if not up:
        server.close()

    async def main() -> None:
        client = AsyncTableClient(*arguments(server))

        async def read() -> list[wire.Frame]:
            return [frame async for frame in client.events()]

        reader = asyncio.create_task(read())
        command = asyncio.create_task(client.command("hello", timeout_s=60))
        await asyncio.sleep(0.05)
        await client.close()
        await client.close()
        _, left = await asyncio.wait([reader, command], timeout=10)
        assert not left
        assert reader.result() == []
        assert isinstance(command.exception(), BusError)
        with pytest.raises(BusError, match="closed"):
            await client.command("hello")

    run(main)


def test_what_can_never_work_fails_at_once(server: Server, arguments: Any) -> None:
    feed, _, server_key, secret = arguments(server)

    async def main() -> None:
        with pytest.raises(BusError, match="cannot connect to nonsense"):
            AsyncTableClient(feed, "nonsense", server_key, secret)
        with pytest.raises(KeysError):
            AsyncTableClient(feed, feed, server_key, server_key)

    run(main)
