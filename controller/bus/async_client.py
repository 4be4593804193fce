"""The asyncio client of one table; the same as ``TableClient`` with ``await``.

::

    async with AsyncTableClient(feed, commands, Path("server.key"), Path("anna.key_secret")) as table:
        async for frame in table.events():
            ...

A client belongs to the event loop that runs when it is made. Commands may be sent from many tasks at once; one
task at a time reads events. Cancelling either loses nothing: no receive of ZeroMQ is ever pending, only polls.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from types import TracebackType
from typing import Any

import zmq
import zmq.asyncio

from controller.bus import keys, transport, wire
from controller.bus.client import READ_BATCH, RESEND_S, TIMEOUT_S, no_answer
from controller.bus.errors import BusError, CommandRefused, ProtocolError
from controller.bus.feed_cursor import Ask
from controller.bus.follower import STALE_AFTER, Fold, Follower, OnSnapshot, encode_ask
from controller.bus.wire import Frame, Reply, Snapshot


class AsyncTableClient:
    """Arguments, errors and attributes are those of ``TableClient``; ``key`` may be a pair that lies in no file."""

    def __init__(
        self,
        feed_address: str,
        command_address: str,
        server_key: bytes | Path,
        key: Path | keys.KeyPair,
        *,
        fold: Fold | None = None,
        on_snapshot: OnSnapshot | None = None,
        table: str | None = None,
        stale_after: int = STALE_AFTER,
    ) -> None:
        server = transport.read_server_key(server_key)
        mine = keys.load_secret(key) if isinstance(key, Path) else key
        self._loop = asyncio.get_running_loop()
        self._address = command_address
        self._follower = Follower(time.monotonic(), fold, on_snapshot, stale_after)
        self._waiting: dict[str, asyncio.Future[Reply | CommandRefused]] = {}
        self._asking: tuple[Ask, asyncio.Task[Reply | CommandRefused]] | None = None
        self._feed_ready: asyncio.Future[Any] | None = None
        self._reading = self._closing = False
        self._context = zmq.asyncio.Context()
        try:
            self._feed = self._context.socket(zmq.SUB)
            self._commands = self._context.socket(zmq.DEALER)
            for socket in (self._feed, self._commands):
                transport.client_options(socket, server, mine)
            transport.subscriber_options(self._feed, wire.topic_of(table) if table else "table/")
            transport.requester_options(self._commands)
            transport.connect(self._feed, feed_address)
            transport.connect(self._commands, command_address)
        except BaseException:
            self._context.destroy(linger=0)
            raise
        self._answers_task = self._loop.create_task(self._read_answers(), name="table answers")

    @property
    def state(self) -> Any:
        """See ``TableClient.state``."""
        return self._follower.state

    @property
    def seq(self) -> int:
        """See ``TableClient.seq``."""
        return self._follower.seq

    @property
    def snapshots(self) -> int:
        """See ``TableClient.snapshots``."""
        return self._follower.snapshots

    @property
    def age_s(self) -> float:
        """See ``TableClient.age_s``."""
        return self._follower.age_s(time.monotonic())

    @property
    def stale(self) -> bool:
        """See ``TableClient.stale``."""
        return self._follower.is_stale(time.monotonic())

    async def command(
        self,
        name: str,
        args: dict[str, Any] | None = None,
        *,
        seen_seq: int | None = None,
        id: str | None = None,  # noqa: A002  (the word of the wire)
        timeout_s: float = TIMEOUT_S,
    ) -> Reply:
        """See ``TableClient.command``."""
        command_id, body = wire.encode_command(name, args or {}, seen_seq=seen_seq, command_id=id)
        outcome = await self._call(command_id, body, time.monotonic() + timeout_s)
        if outcome is None:
            raise no_answer(self._address, name, timeout_s, command_id)
        if isinstance(outcome, CommandRefused):
            raise outcome
        return outcome

    async def snapshot(self, *, timeout_s: float = TIMEOUT_S) -> Snapshot:
        """See ``TableClient.snapshot``."""
        return wire.decode_snapshot(await self.command("snapshot", timeout_s=timeout_s))

    async def since(self, seq: int, *, timeout_s: float = TIMEOUT_S) -> tuple[list[Frame], bool]:
        """See ``TableClient.since``."""
        messages, more = wire.decode_page(await self.command("since", {"seq": seq}, timeout_s=timeout_s))
        return [message.frame for message in messages], more

    async def events(self) -> AsyncIterator[Frame]:
        """See ``TableClient.events``."""
        while self._is_open():
            try:
                frame = await self.next_event()
            except BusError:
                if not self._is_open():
                    return
                raise
            if frame is not None:
                yield frame

    async def next_event(self, timeout_s: float | None = None) -> Frame | None:
        """See ``TableClient.next_event``. Raises ``BusError`` if another task is waiting in it."""
        self._check_open()
        if self._reading:
            raise BusError("another task reads this client's events")
        self._reading = True
        try:
            return await self._next(None if timeout_s is None else time.monotonic() + timeout_s)
        finally:
            self._reading = False

    async def close(self) -> None:
        """Close the sockets without waiting for the table. Idempotent."""
        if self._closing:
            return
        self._closing = True
        tasks: list[asyncio.Future[Any]] = [self._answers_task]
        if self._asking is not None:
            tasks.append(self._asking[1])
        if self._feed_ready is not None:
            tasks.append(self._feed_ready)
        for task in tasks:
            task.cancel()
        try:
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(BusError("the client was closed"))
            self._context.destroy(linger=0)

    async def __aenter__(self) -> AsyncTableClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _is_open(self) -> bool:
        return not self._closing

    def _check_open(self) -> None:
        if not self._is_open():
            raise BusError("the client is closed")

    async def _next(self, deadline: float | None) -> Frame | None:
        while (frame := self._follower.pop()) is None:
            waits = self._waits()
            timeout = None if deadline is None else max(0.0, deadline - time.monotonic())
            await asyncio.wait(waits, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            self._check_open()
            await self._read_feed()
            self._take_answer()
            if deadline is not None and time.monotonic() >= deadline:
                return self._follower.pop()
        return frame

    def _waits(self) -> set[asyncio.Future[Any]]:
        """What may bring the next frame. Kept from call to call, so that a cancelled caller loses nothing."""
        if self._feed_ready is None:
            self._feed_ready = asyncio.ensure_future(self._feed.poll())
        waits: set[asyncio.Future[Any]] = {self._feed_ready}
        ask = self._follower.cursor.want
        if self._asking is None and ask is not None:
            self._asking = ask, self._loop.create_task(self._question(ask), name=f"table {ask.command}")
        if self._asking is not None:
            waits.add(self._asking[1])
        return waits

    async def _question(self, ask: Ask) -> Reply | CommandRefused:
        outcome = await self._call(*encode_ask(ask), None)
        assert outcome is not None  # without a deadline there is an answer or an exception
        return outcome

    async def _read_feed(self) -> None:
        if self._feed_ready is None or not self._feed_ready.done():
            return
        self._feed_ready = None
        now = time.monotonic()
        for _ in range(READ_BATCH):
            try:
                frames = await self._feed.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            self._follower.received(frames[-1], now)

    def _take_answer(self) -> None:
        if self._asking is None or not self._asking[1].done():
            return
        ask, task = self._asking
        self._asking = None
        self._follower.answered(ask, task.result())

    async def _call(self, command_id: str, body: bytes, deadline: float | None) -> Reply | CommandRefused | None:
        """Send until answered; None at the deadline."""
        self._check_open()
        if command_id in self._waiting:
            raise BusError(f"a command with id {command_id} is in flight")
        waiting = self._waiting[command_id] = self._loop.create_future()
        try:
            while not waiting.done():
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    return None
                await self._attempt(body, waiting, RESEND_S if left is None else min(RESEND_S, left))
            outcome: Reply | CommandRefused = waiting.result()
            return outcome
        finally:
            del self._waiting[command_id]

    async def _attempt(self, body: bytes, waiting: asyncio.Future[Any], timeout_s: float) -> None:
        """Send and wait for the answer, or with nobody connected wait for room to send."""
        waits = [waiting]
        try:
            await self._commands.send(body, zmq.NOBLOCK)
        except zmq.Again:
            poller = zmq.asyncio.Poller()
            poller.register(self._commands, zmq.POLLOUT)
            waits.append(asyncio.ensure_future(poller.poll()))
        try:
            await asyncio.wait(waits, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for room in waits[1:]:
                room.cancel()

    async def _read_answers(self) -> None:
        while True:
            await self._commands.poll()
            try:
                frames = await self._commands.recv_multipart(zmq.NOBLOCK)
                command_id, outcome = wire.decode_answer(frames[-1])
            except zmq.Again:
                continue
            except ProtocolError as error:
                # Whom it answers cannot be told, so everybody hears of it.
                for waiting in self._waiting.values():
                    if not waiting.done():
                        waiting.set_exception(error)
                continue
            if command_id is None and len(self._waiting) == 1:
                (command_id,) = self._waiting
            future = None if command_id is None else self._waiting.get(command_id)
            if future is not None and not future.done():
                future.set_result(outcome)
