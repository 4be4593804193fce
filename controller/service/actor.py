"""The single writer: inputs in, one decision at a time, durable before visible."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Final

from controller import commands, frames, public
from controller.bus import wire
from controller.bus.errors import KeysError
from controller.bus.hub import Hub, Request
from controller.commands import Command
from controller.config import RecordSection
from controller.facts import (
    BettingOpened,
    Fact,
    ShoeChangeStarted,
    ShoeLoaded,
    decode_fact,
    encode_fact,
)
from controller.journal.errors import JournalFull
from controller.journal.records import CommandRecord, FactRow, Frame
from controller.journal.store import Journal
from controller.refusal import CODES, Refusal
from controller.service import beginning, remembered
from controller.service.auditor import Auditor
from controller.service.clocks import fresh_entropy, monotonic_ms, wall_ms
from controller.service.desk import Desk
from controller.service.errands import Errands
from controller.service.inbox import Inbox
from controller.service.keeper import Keeper
from controller.service.monitor import Monitor
from controller.service.notify import Notifier
from controller.service.replies import PAGE, answer, is_past, tell_log
from controller.service.shelf import Shelf
from controller.service.watch import ClockWatch, RoomWatch, free_bytes
from controller.table import debits
from controller.table.inputs import (
    ClockInput,
    CommandInput,
    DeadlineInput,
    DiskInput,
    Input,
    ServerInput,
    ShoeInput,
    Start,
)
from controller.table.table import Outcome, Table
from drivers.shoe import Reading, ShoeDriver

log = logging.getLogger("dealerd.table")

#: An idle feed says so this often.
HEARTBEAT_MS: Final = 1000
#: Readings a held table takes in before it looks at commands, so that a babbling shoe cannot keep people out.
BATCH: Final = 32
#: What is left of the write-ahead log is folded into the journal this often, when the table is between rounds.
CHECKPOINT_MS: Final = 30_000

#: With a full disk it is tried again after so long.
FULL_MS: Final = 1000
#: Added and removed keys are noticed within this time.
KEYS_MS: Final = 1000


class Actor:
    """Owns table, journal and hub; runs in one thread. ``put`` is for reader threads."""

    def __init__(
        self,
        table: Table,
        journal: Journal,
        hub: Hub,
        *,
        shoe: ShoeDriver | None = None,
        auditor: Auditor | None = None,
        entropy: Callable[[], bytes] = fresh_entropy,
        wall: Callable[[], int] = wall_ms,
        monitor: Monitor | None = None,
        least_free: int = 0,
        room: Callable[[], int] | None = None,
        record: RecordSection | None = None,
        shelf: Shelf | None = None,
    ) -> None:
        self._table = table
        self._journal = journal
        self._hub = hub
        self._shoe = shoe
        self._keeper = Keeper(table, journal, auditor, record)
        self._entropy = entropy
        self._wall = wall
        self._desk = Desk(journal.path, hub.wake, shelf)
        self._monitor = monitor or Monitor(Notifier(None))
        self._inbox = Inbox()
        self._errands = Errands(shoe, hub.wake)
        self._room = RoomWatch(least_free, room or (lambda: free_bytes(journal.path)))
        self._clock = ClockWatch(wall(), monotonic_ms())
        #: Until then nothing is decided: the last commit found no room.
        self._full_until: int | None = None
        self._told_full = False
        #: Wall clock of the newest fact that ``recover`` found; None in an empty journal.
        self.last_fact_ms: int | None = None
        self._stopping = False
        self._public = public.initial()
        self._quiet_since = monotonic_ms()
        self._checkpoint_at = monotonic_ms() + CHECKPOINT_MS
        self._keys_at = monotonic_ms() + KEYS_MS

    # --- from other threads --------------------------------------------------------------------------------

    def put(self, readings: list[Reading]) -> None:
        """Hand over what a driver read. Never blocks."""
        self._inbox.put(readings)
        self._hub.wake()

    def stop(self) -> None:
        """End ``run`` soon. Also from signal handlers."""
        self._stopping = True
        self._hub.wake()

    # --- start ---------------------------------------------------------------------------------------------

    def recover(self) -> None:
        """Fold the journal, from its milestone on if it has one, and send what was durable but may not have been
        sent. Raises ``JournalFault``."""
        self._public, n, seq = beginning.take(self._journal, self._table)
        if n >= self._journal.head.first_n:
            self.last_fact_ms = next(self._journal.facts(n)).at_ms
        self._table.replay(self._facts(n + 1))
        shoe = self._table.state.shoe
        if self._shoe is not None and shoe is not None:
            self._shoe.new_shoe(shoe.tags)
        while page := self._journal.frames_since(seq, PAGE):
            for frame in page:
                public.apply(self._public, frames.decode_frame(frame.frame))
            seq = page[-1].seq
        for frame in list(self._journal.unsent()):
            self._hub.publish(frame.frame)
            self._journal.mark_sent(frame.seq)

    def _facts(self, from_n: int) -> Iterator[Fact]:
        for row in self._journal.facts(from_n):
            self.last_fact_ms = row.at_ms
            yield decode_fact(row.body)

    def begin(self, start: Start) -> None:
        """The first input of this process."""
        refusal = self._take(start).refusal
        if refusal is not None:
            raise refusal

    # --- the loop ------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Serve until ``stop``. A journal that cannot be written ends the process: nothing more becomes visible."""
        with contextlib.closing(self._desk):
            while not self._stopping:
                requests = self._hub.poll(self._patience())
                self._drain()
                for request in requests:
                    self._serve(request)
                    self._drain()
                for request, asked, reply in self._desk.answers():
                    put = asked.name == "calibration_put"
                    self._hub.reply(request, self._recorded(request, asked, reply) if put else reply)
                self._tick()
                self._monitor.turned(self._public, self._hub.counters)

    def _drain(self) -> None:
        taken = 0
        # What was read before a command is decided before it; a held table deals nothing, so there the rest can wait.
        while self._inbox and not self._full and not (taken >= BATCH and self._table.state.holds):
            reading = self._inbox.first()
            try:
                self._take(ShoeInput(reading.event), received_ns=reading.received_ns)
            except JournalFull as error:  # the card stays where it is, first in line
                self._no_room(error)
                return
            self._inbox.done()
            taken += 1
        while self._errands.answers and not self._full:
            try:
                self._take(self._errands.answers[0])
            except JournalFull as error:
                self._no_room(error)
                return
            self._errands.answers.popleft()

    @property
    def _full(self) -> bool:
        """The disk was full a moment ago."""
        if self._full_until is not None and monotonic_ms() >= self._full_until:
            self._full_until = None
        return self._full_until is not None

    def _no_room(self, error: JournalFull) -> None:
        """Nothing is decided for a moment; then it is tried again. No card may leave the shoe unrecorded."""
        if not self._told_full:
            log.critical("%s; no card and no command is taken until there is room", error)
        self._told_full = True
        self._full_until = monotonic_ms() + FULL_MS
        if self._shoe is not None:
            self._shoe.allow(False)

    def _patience(self) -> int:
        if self._inbox and not self._full:
            return 0
        now = monotonic_ms()
        until = self._quiet_since + HEARTBEAT_MS
        if self._full_until is not None:
            return max(0, min(until, self._full_until) - now)
        deadline = self._table.deadline()
        if deadline is not None:
            until = min(until, deadline[1])
        return max(0, until - now)

    def _tick(self) -> None:
        now = monotonic_ms()
        deadline = self._table.deadline()
        folded = self._journal.fold()  # then whoever waits comes first
        if deadline is not None and deadline[1] <= now and not folded and not self._full:
            self._try(DeadlineInput(deadline[0]))
        if now >= self._keys_at:
            self._keys_at = now + KEYS_MS
            self._look_at_keys()
            hold = self._keeper.hold(now)
            if hold is not None:
                self._try(CommandInput(hold, _date(self._wall())))
            self._look_at_machine(now)
        if now - self._quiet_since >= HEARTBEAT_MS:
            self._quiet_since = now
            journal = self._journal
            self._hub.publish(
                frames.heartbeat_bytes(
                    feed=journal.feed_id,
                    table=journal.table,
                    epoch=self._table.state.epoch,
                    last_seq=journal.last_seq,
                    at_ms=self._wall(),
                )
            )
            if not self._table.state.round_open:
                journal.forget(self._wall())
            if now >= self._checkpoint_at and not self._table.state.round_open:
                self._checkpoint_at = now + CHECKPOINT_MS
                journal.fold(1)
                self._keeper.succeed(self._public, self._wall())

    def _try(self, what: Input) -> None:
        try:
            self._take(what)
        except JournalFull as error:
            self._no_room(error)

    def _look_at_machine(self, now: int) -> None:
        """Room on the disk, the wall clock and the game server's connection, once a second."""
        moved = self._clock.look(self._wall(), now)
        if moved:
            log.warning("the wall clock was set by %+d ms; deadlines are not on it", moved)
            self._try(ClockInput(moved))
        state, here = self._table.state, self._hub.game_server_here()
        lost = "game_server" in state.devices_lost
        if state.book is not None and here is not None and here == lost and (here or state.round_open):
            self._try(ServerInput(here))
        told = self._room.look(lost="disk" in self._table.state.devices_lost)
        if told is not None and not self._full:
            self._try(DiskInput(told))

    def _look_at_keys(self) -> None:
        """People come and go while the table runs."""
        try:
            if self._hub.refresh_keys():
                log.info("the key folder changed: keys read again")
        except KeysError as error:
            log.warning("the key folder changed and cannot be used; the keys read before stay: %s", error)

    def _take(
        self,
        what: Input,
        command: Callable[[Outcome], CommandRecord] | None = None,
        *,
        received_ns: int | None = None,
    ) -> Outcome:
        """Decide, make durable, become, publish: in this order and no other. ``received_ns``: a reading's time."""
        outcome = self._table.decide(what, monotonic_ms(), self._entropy())
        if outcome.refusal is not None:
            return outcome
        at, epoch, journal = self._wall(), outcome.state.epoch, self._journal
        rows, sent = [], []
        for record in outcome.records:
            body = encode_fact(record.fact)
            rows.append(FactRow(record.n, epoch, at, record.fact.type, record.shoe, record.round, body))
            if record.seq is not None:
                frame = frames.frame_bytes(record, feed=journal.feed_id, table=journal.table, epoch=epoch, at_ms=at)
                sent.append(Frame(record.seq, record.n, frame))
        spent = debits.taken(r.fact for r in outcome.records)
        began = time.perf_counter()
        written = bool(rows) or command is not None
        if written:
            journal.append(rows, sent, command=command(outcome) if command else None, transactions=spent)
        committed_s = time.perf_counter() - began
        if self._told_full and written:
            self._told_full = False
            log.warning("there is room on the disk again")
        self._table.accept(outcome)
        for item in sent:
            self._hub.publish(item.frame)
            journal.mark_sent(item.seq)
        if rows:
            self._monitor.committed(committed_s)
            self._monitor.took(outcome.records, received_ns)
        for item in sent:
            public.apply(self._public, frames.decode_frame(item.frame))
        self._tell_shoe(outcome)
        self._errands.send(record.fact for record in outcome.records)
        self._keeper.took(outcome.records)
        for record in outcome.records:
            tell_log(record.fact)
        if sent:
            self._quiet_since = monotonic_ms()
            log.debug("%s", " ".join(r.fact.type for r in outcome.records))
        return outcome

    def _tell_shoe(self, outcome: Outcome) -> None:
        """A shoe with a lock learns whether a card is due; one that knows its cards, that others are loaded."""
        if self._shoe is None or not outcome.records:
            return
        if any(_shuffled(record.fact) for record in outcome.records):
            self._shoe.new_shoe()
        state = outcome.state
        self._shoe.allow(state.step.kind == "draw" and not state.holds)

    # --- commands ------------------------------------------------------------------------------------------

    def _serve(self, request: Request) -> None:
        command_id, name, code = wire.id_of(request.body), "", "ok"
        try:
            envelope = commands.parse_envelope(request.body)
            name = envelope.command
            command = commands.authorise(envelope, role=request.role, person=request.person)
            reply = None if name in commands.QUERIES else remembered.known(self._journal, envelope, command)
            if reply is None and (name in commands.DESK or is_past(command, self._table.state.betting)):
                self._desk.ask(request, command, self._journal.last_seq)
                self._monitor.answered(name, code)
                return
            if reply is not None:
                pass
            elif name in commands.QUERIES:
                reply = answer(command, self._journal, self._table.state, self._public)
            else:
                reply = self._carry_out(command, envelope)
        except JournalFull as error:
            self._no_room(error)
            code = "no_space"
            reply = wire.encode_refusal(command_id, code, CODES[code], "free some space, then send it again")
        except Refusal as refusal:
            code = refusal.code
            reply = wire.encode_refusal(command_id, code, refusal.message, refusal.expected)
        self._hub.reply(request, reply)
        self._monitor.answered(name, code)

    def _carry_out(self, command: Command, envelope: commands.Envelope) -> bytes:
        reply = b""

        def remember(outcome: Outcome) -> CommandRecord:
            nonlocal reply
            reply = remembered.reply_to(command, outcome)
            return CommandRecord(command.id, remembered.digest_of(envelope, command), reply, self._wall())

        kept = command.name not in commands.UNRECORDED
        what = CommandInput(command, _date(self._wall()), self._journal.spent(debits.named(command)))
        outcome = self._take(what, remember if kept else None)
        if outcome.refusal is not None:
            raise outcome.refusal
        if not kept:
            return wire.encode_reply(command.id, outcome.state.seq, {})
        log.info("%s by %s", command.name, command.by)
        return reply

    def _recorded(self, request: Request, command: Command, reply: bytes) -> bytes:
        """A version was saved beside the table: that goes on record before anybody hears of it."""
        what = remembered.saved(command, reply)
        try:
            envelope = commands.parse_envelope(request.body)
            before = remembered.known(self._journal, envelope, command)
            if what is None or before is not None:
                return before or reply
            record = CommandRecord(command.id, remembered.digest_of(envelope, command), reply, self._wall())
            self._take(what, lambda _: record)
        except JournalFull as error:
            self._no_room(error)
            return wire.encode_refusal(command.id, "no_space", CODES["no_space"], "free space, then send it again")
        except Refusal as refusal:
            return wire.encode_refusal(command.id, refusal.code, refusal.message, refusal.expected)
        log.info("%s by %s: %s", command.name, command.by, what.file)
        return reply


def _date(at_ms: int) -> str:
    """The day in UTC that names new shoes."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y%m%d")


def _shuffled(fact: Fact) -> bool:
    """From here on every card may leave the shoe again."""
    return isinstance(fact, ShoeChangeStarted | ShoeLoaded) or (isinstance(fact, BettingOpened) and fact.reshuffled)
