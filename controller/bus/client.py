"""The blocking client of one table: its feed without gaps, and its commands.

::

    with TableClient(feed, commands, Path("server.key"), Path("anna.key_secret"), fold=fold) as table:
        table.command("pause", {"reason": "spilled drink"})
        for frame in table.events():
            print(frame["type"], table.state)

A client belongs to the thread that made it. It outlives restarts of the table and needs no reconnection.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import zmq

from controller.bus import keys, transport, wire
from controller.bus.errors import BusError, CommandRefused, CommandTimeout
from controller.bus.feed_cursor import Ask
from controller.bus.follower import STALE_AFTER, Fold, Follower, OnSnapshot, encode_ask
from controller.bus.wire import Frame, Reply, Snapshot

TIMEOUT_S: Final = 5.0
RESEND_S: Final = 1.0
"""Seconds after which an unanswered command is sent again, with the same id."""
READ_BATCH: Final = 1_000


#: Commands that change nothing: they may simply be asked again.
_QUESTIONS = frozenset({"snapshot", "since", "status", "settlement"})


def no_answer(address: str, name: str, timeout_s: float, command_id: str) -> CommandTimeout:
    """The error of a command that got no answer. The table does not say why: a refused key sees nothing at all."""
    text = f"no answer to {name} from {address} in {timeout_s:g} s: the table is down, or does not accept this key"
    if name not in _QUESTIONS:
        text += f"; the command may still take effect, repeat it with id {command_id}"
    return CommandTimeout(text, command_id)


class _Call:
    """A command in flight."""

    __slots__ = ("body", "id", "resend_at", "sent")

    def __init__(self, command_id: str, body: bytes) -> None:
        self.id = command_id
        self.body = body
        self.sent = False
        self.resend_at = 0.0


class TableClient:
    """Follows a table's feed and sends it commands.

    ``server_key`` is the table's public key (Z85) or the file with it, ``key_file`` the person's ``.key_secret``;
    ``table`` picks one table where the feed carries several; ``fold`` and ``on_snapshot`` see ``Follower``.
    Raises ``KeysError`` for key files and ``BusError`` for an address that can never work; a table that is away
    is no error, the client waits for it.
    """

    def __init__(
        self,
        feed_address: str,
        command_address: str,
        server_key: bytes | Path,
        key_file: Path,
        *,
        fold: Fold | None = None,
        on_snapshot: OnSnapshot | None = None,
        table: str | None = None,
        stale_after: int = STALE_AFTER,
    ) -> None:
        server = transport.read_server_key(server_key)
        mine = keys.load_secret(key_file)
        self._address = command_address
        self._follower = Follower(time.monotonic(), fold, on_snapshot, stale_after)
        self._answers: dict[str, Reply | CommandRefused | None] = {}
        self._asking: tuple[Ask, _Call] | None = None
        self._context = zmq.Context()
        try:
            self._feed = self._context.socket(zmq.SUB)
            self._commands = self._context.socket(zmq.DEALER)
            for socket in (self._feed, self._commands):
                transport.client_options(socket, server, mine)
            transport.subscriber_options(self._feed, wire.topic_of(table) if table else "table/")
            transport.requester_options(self._commands)
            # The subscription goes out before any snapshot is asked for.
            transport.connect(self._feed, feed_address)
            transport.connect(self._commands, command_address)
        except BaseException:
            self.close()
            raise

    @property
    def state(self) -> Any:
        """The table's public state after the last frame returned (without ``fold``: at the last snapshot)."""
        return self._follower.state

    @property
    def seq(self) -> int:
        """``seq`` that ``state`` belongs to; give it as ``seen_seq``."""
        return self._follower.seq

    @property
    def snapshots(self) -> int:
        """Snapshots taken. More than one: frames were skipped that the table no longer has."""
        return self._follower.snapshots

    @property
    def age_s(self) -> float:
        """Seconds since the feed was last heard; grows also while nobody reads it."""
        return self._follower.age_s(time.monotonic())

    @property
    def stale(self) -> bool:
        """True when the feed has missed heartbeats: what ``state`` says may no longer be so."""
        return self._follower.is_stale(time.monotonic())

    def command(
        self,
        name: str,
        args: dict[str, Any] | None = None,
        *,
        seen_seq: int | None = None,
        id: str | None = None,  # noqa: A002  (the word of the wire)
        timeout_s: float = TIMEOUT_S,
    ) -> Reply:
        """Send a command and return the table's answer.

        Unanswered, it is sent again under the same id, so that it takes effect once. Raises ``CommandRefused``,
        or ``CommandTimeout`` after ``timeout_s`` seconds: then repeat it with ``id=error.command_id``.
        """
        self._check_open()
        call = _Call(*wire.encode_command(name, args or {}, seen_seq=seen_seq, command_id=id))
        deadline = time.monotonic() + timeout_s
        self._answers[call.id] = None
        try:
            while (outcome := self._answers[call.id]) is None:
                if time.monotonic() >= deadline:
                    raise no_answer(self._address, name, timeout_s, call.id)
                self._tend(call)
                self._wait(call, deadline, with_feed=False)
        finally:
            del self._answers[call.id]
        if isinstance(outcome, CommandRefused):
            raise outcome
        return outcome

    def snapshot(self, *, timeout_s: float = TIMEOUT_S) -> Snapshot:
        """The table's public state now. Leaves ``state`` and ``events`` alone. Raises as ``command``."""
        return wire.decode_snapshot(self.command("snapshot", timeout_s=timeout_s))

    def since(self, seq: int, *, timeout_s: float = TIMEOUT_S) -> tuple[list[Frame], bool]:
        """(frames after ``seq``, whether there are more); at most 1,000. Raises as ``command``."""
        messages, more = wire.decode_page(self.command("since", {"seq": seq}, timeout_s=timeout_s))
        return [message.frame for message in messages], more

    def events(self) -> Iterator[Frame]:
        """Every frame from the first snapshot on, once and in order, for ever; ends when the client is closed.

        Raises as ``next_event``.
        """
        while not self._context.closed:
            frame = self.next_event()
            if frame is not None:
                yield frame

    def next_event(self, timeout_s: float | None = None) -> Frame | None:
        """The next frame; None after ``timeout_s`` seconds without one (None: wait for ever).

        Raises ``FeedConflict`` for two versions of one history, ``ProtocolError`` for what is not the protocol,
        ``CommandRefused`` if the table refuses a snapshot. A table that is away is waited for, see ``stale``.
        """
        self._check_open()
        deadline = math.inf if timeout_s is None else time.monotonic() + timeout_s
        while (frame := self._follower.pop()) is None:
            call = self._tend_question()
            self._wait(call, deadline, with_feed=True)
            self._take_answer()
            if time.monotonic() >= deadline:
                return self._follower.pop()
        return frame

    def close(self) -> None:
        """Close the sockets without waiting. Idempotent."""
        self._context.destroy(linger=0)

    def __enter__(self) -> TableClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._context.closed:
            raise BusError("the client is closed")

    def _tend_question(self) -> _Call | None:
        """Keep one question in flight as long as the cursor wants something."""
        if self._asking is None:
            ask = self._follower.cursor.want
            if ask is None:
                return None
            call = _Call(*encode_ask(ask))
            self._asking = ask, call
            self._answers[call.id] = None
        self._tend(self._asking[1])
        return self._asking[1]

    def _take_answer(self) -> None:
        if self._asking is None:
            return
        ask, call = self._asking
        outcome = self._answers[call.id]
        if outcome is not None:
            self._asking = None
            del self._answers[call.id]
            self._follower.answered(ask, outcome)

    def _tend(self, call: _Call) -> None:
        """Send a call if it is due; with nobody connected it stays due."""
        now = time.monotonic()
        if now < call.resend_at:
            return
        try:
            self._commands.send(call.body, zmq.NOBLOCK)
        except zmq.Again:
            call.sent = False
        else:
            call.sent = True
            call.resend_at = now + RESEND_S

    def _wait(self, call: _Call | None, deadline: float, *, with_feed: bool) -> None:
        """Wait for an answer, a frame, room to send, the next resending or ``deadline``; read what came."""
        poller = zmq.Poller()
        poller.register(self._commands, zmq.POLLIN if call is None or call.sent else zmq.POLLIN | zmq.POLLOUT)
        if with_feed:
            poller.register(self._feed, zmq.POLLIN)
        until = min(deadline, call.resend_at) if call is not None and call.sent else deadline
        wait = None if until == math.inf else max(0, math.ceil((until - time.monotonic()) * 1000))
        ready = dict(poller.poll(wait))
        if self._feed in ready:
            self._read_feed()
        if ready.get(self._commands, 0) & zmq.POLLIN:
            self._read_answers()

    def _read_feed(self) -> None:
        now = time.monotonic()
        for _ in range(READ_BATCH):
            try:
                frames = self._feed.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            self._follower.received(frames[-1], now)

    def _read_answers(self) -> None:
        while True:
            try:
                frames = self._commands.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            command_id, outcome = wire.decode_answer(frames[-1])
            if command_id is None and len(self._answers) == 1:
                # The table could not read our id; only one command can be meant.
                (command_id,) = self._answers
            if command_id in self._answers:
                self._answers[command_id] = outcome
