"""The host's side of the dialogue in virtual time, against the simulated shoe and against silence."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from drivers.angel.codec import AngelDecoder
from drivers.angel.commands import CLEAR_ERROR, DISCARD_OVERDRAWN, LOCK, UNLOCK, USE_OVERDRAWN, encode_command
from drivers.angel.dialogue import ANSWER_S, BUSY_RETRY_S, MAX_WAITING, QUIET_S, Dialogue, Result
from drivers.angel.frames import encode
from drivers.events import CardDrawn, ErrorCleared, ErrorRaised, Event, Lock, Started
from drivers.lock import RETRY_S, wanted_lock
from drivers.settings import BccReading
from drivers.simulated.angel_device import AngelDevice
from drivers.simulated.faults import Fault
from drivers.simulated.shoe import SimulatedShoe
from drivers.simulated.steps import Step, wire_of

ACK = b"\x06"


class Bench:
    """Decoder and simulated shoe on a line without time; ``now`` is moved by the test."""

    def __init__(self, host: BccReading = "with_stx", shoe: BccReading = "with_stx") -> None:
        self.dialogue = Dialogue(host)
        self.decoder = AngelDecoder(1.0, self.dialogue)
        self.device = AngelDevice(SimulatedShoe(1), "hidden")
        self.device.commands.reading = shoe
        self.events: list[Event] = []
        self.sent = b""
        self.now = 100.0
        self.decoder.reopened()
        self.say(self.device.switch_on())

    def say(self, steps: list[Step]) -> None:
        self.events += self.decoder.feed(wire_of(steps), self.now)

    def turn(self, seconds: float = 0.0) -> bytes:
        """Let the host send what is due and the shoe answer it, until nothing is; the bytes of the host."""
        self.now += seconds
        self.decoder.idle(self.now)
        sent = b""
        while data := self.decoder.outgoing(self.now):
            sent += data
            self.say(self.device.hear(data))
            self.say(self.device.follows())
        self.sent += sent
        return sent

    def deal_until_error(self, fault: str) -> None:
        while True:
            outcome = self.device.draw(Fault("overdraw", fault))
            self.say(outcome.steps)
            if any(isinstance(event, ErrorRaised) for event in self.events):
                return


def done(future: Future[Result]) -> Result:
    assert future.done()
    return future.result(0)


@pytest.mark.parametrize("reading", ["with_stx", "without_stx"])
def test_lock_and_unlock(reading: BccReading) -> None:
    bench = Bench(reading, reading)
    future = bench.dialogue.ask(LOCK)
    assert bench.turn() == encode_command(LOCK, reading)
    assert done(future).ok
    assert bench.events[-1] == Lock(True)
    assert bench.dialogue.lock.locked is True
    assert done(bench.dialogue.ask(LOCK)) == Result(True, "the exit is locked")
    assert bench.turn() == b""
    future = bench.dialogue.ask(UNLOCK)
    bench.turn()
    assert done(future).ok
    assert bench.dialogue.lock.locked is False


def test_a_shoe_that_reads_the_check_the_other_way_says_so() -> None:
    bench = Bench("with_stx", "without_stx")
    future = bench.dialogue.ask(LOCK)
    bench.turn()
    result = done(future)
    assert (result.ok, result.code) == (False, 0x02)
    assert "reads the check the other way: bcc is with_stx" in result.text
    assert bench.dialogue.lock.locked is None


def test_no_answer_in_three_seconds_and_a_late_one_is_nobodys() -> None:
    dialogue = Dialogue("with_stx")
    first, second = dialogue.ask(LOCK), dialogue.ask(UNLOCK)
    assert dialogue.outgoing(0.0) == encode_command(LOCK, "with_stx")
    assert dialogue.outgoing(ANSWER_S - 0.01) == b""
    assert not first.done()
    assert dialogue.outgoing(ANSWER_S) == b""
    assert done(first) == Result(False, "no answer in 3 s to: lock the exit")
    dialogue.answered(ACK, ANSWER_S + 0.1)
    assert (dialogue.unexpected, second.done()) == (1, False)
    assert dialogue.outgoing(ANSWER_S + QUIET_S) == encode_command(UNLOCK, "with_stx")
    dialogue.answered(ACK, ANSWER_S + QUIET_S + 0.1)
    assert done(second).ok


def test_one_command_at_a_time_in_order() -> None:
    dialogue = Dialogue("with_stx")
    futures = [dialogue.ask(LOCK), dialogue.ask(UNLOCK), dialogue.ask(LOCK)]
    for number, command in enumerate((LOCK, UNLOCK, LOCK)):
        assert dialogue.outgoing(0.0) == encode_command(command, "with_stx")
        assert dialogue.outgoing(0.0) == b""
        dialogue.answered(ACK, 0.0)
        assert [future.done() for future in futures] == [n <= number for n in range(3)]


def test_a_busy_shoe_is_asked_again_but_not_for_ever() -> None:
    bench = Bench()
    bench.device.commands.busy = 2
    future = bench.dialogue.ask(LOCK)
    bench.turn()
    bench.turn(BUSY_RETRY_S)
    assert not future.done()
    bench.turn(BUSY_RETRY_S)
    assert done(future).ok
    bench.device.commands.busy = 3
    future = bench.dialogue.ask(UNLOCK)
    for _ in range(3):
        bench.turn(BUSY_RETRY_S)
    assert done(future) == Result(False, "the shoe refused to unlock the exit: the shoe is busy (NAK 21)", 0x21)


def test_answers_interleaved_with_events() -> None:
    dialogue = Dialogue("with_stx")
    decoder = AngelDecoder(1.0, dialogue)
    future = dialogue.ask(LOCK)
    decoder.outgoing(0.0)
    card, lock = CardDrawn("8S", "player", 1), Lock(True)
    stream = encode(card, "1") * 2 + ACK + encode(card, "1") + encode(lock, "2") * 3
    events = []
    for n in range(len(stream)):
        events += decoder.feed(stream[n : n + 1], 0.01 * n)
    assert events == [card, lock]
    assert done(future).ok
    assert (decoder.stats.junk_bytes, decoder.reply_bytes) == (0, 1)


def test_a_positive_answer_without_the_lock_telegram_is_enough() -> None:
    dialogue = Dialogue("with_stx")
    dialogue.ask(LOCK)
    dialogue.outgoing(0.0)
    dialogue.answered(ACK, 0.0)
    assert dialogue.lock.locked is True


def test_an_interruption_ends_every_command_and_what_was_known() -> None:
    dialogue = Dialogue("with_stx")
    dialogue.heard(Lock(True))
    sent, waiting = dialogue.ask(UNLOCK), dialogue.ask(LOCK)
    dialogue.outgoing(0.0)
    dialogue.interrupted()
    assert "whether the command was done is not known" in done(sent).text
    assert done(waiting).text == "not sent: the line to the shoe was interrupted"
    assert dialogue.lock.locked is None
    assert dialogue.outgoing(1.0) == b""


def test_commands_without_end_are_refused_and_cancelled_ones_not_sent() -> None:
    dialogue = Dialogue("with_stx")
    futures = [dialogue.ask(LOCK) for _ in range(MAX_WAITING)]
    assert "16 commands wait already" in done(dialogue.ask(LOCK)).text
    assert all(future.cancel() for future in futures)
    assert dialogue.outgoing(0.0) == b""


@pytest.mark.parametrize(("command", "kept"), [(USE_OVERDRAWN, True), (DISCARD_OVERDRAWN, False)])
def test_an_over_drawn_card_is_used_or_discarded_by_command(command: object, kept: bool) -> None:
    bench = Bench()
    bench.deal_until_error("ask")
    assert bench.dialogue.error == 2
    future = bench.dialogue.ask(command)  # type: ignore[arg-type]
    bench.turn()
    assert done(future).ok
    assert bench.dialogue.error is None
    names = [type(event).__name__ for event in bench.events]
    tail = names[names.index("ErrorRaised") :]
    assert tail[:2] == ["ErrorRaised", "OutOfGame"]
    assert ("OverdrawnDiscarded" in tail) is not kept
    assert "RoundResult" in tail
    bench.say(bench.device.draw(None).steps)
    assert type(bench.events[-1]).__name__ == ("CardReused" if kept else "CardDrawn")
    # The error is gone: asked again, nothing needs to be sent.
    assert done(bench.dialogue.ask(command)) == Result(True, "the shoe reports no error")  # type: ignore[arg-type]


def test_only_an_over_draw_has_a_card_to_decide_on() -> None:
    dialogue = Dialogue("with_stx")
    dialogue.heard(ErrorRaised(4, True))
    assert "the error is 4, not an over-draw" in done(dialogue.ask(USE_OVERDRAWN)).text
    future = dialogue.ask(CLEAR_ERROR)
    assert dialogue.outgoing(0.0) == encode_command(CLEAR_ERROR, "with_stx")
    assert not future.done()
    dialogue.heard(ErrorCleared(4, False))
    assert dialogue.error is None


def test_the_time_out_of_an_over_draw_does_not_hide_it() -> None:
    dialogue = Dialogue("with_stx")
    dialogue.heard(ErrorRaised(2, False))
    dialogue.heard(ErrorRaised(7, True))
    assert dialogue.error == 2


# --- the lock follows the procedure ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "draw", "locked"), [("off", True, None), ("off", False, None), ("on", True, False)]
)
def test_the_lock_is_left_alone_unless_it_is_on(setting: str, draw: bool, locked: bool | None) -> None:
    assert wanted_lock(setting, draw) is locked  # type: ignore[arg-type]
    assert wanted_lock("on", False) is True


def test_the_exit_is_kept_as_the_procedure_wants_it() -> None:
    bench = Bench()
    bench.dialogue.lock.want(True)
    assert bench.turn() == encode_command(LOCK, "with_stx")
    assert bench.turn() == b""
    bench.dialogue.lock.want(False)
    bench.dialogue.lock.want(True)
    assert bench.turn() == b""  # changed its mind in time
    bench.dialogue.lock.want(False)
    assert bench.turn() == encode_command(UNLOCK, "with_stx")
    bench.dialogue.lock.want(None)
    bench.dialogue.heard(Lock(True))
    assert bench.turn() == b""


def test_a_shoe_that_started_anew_is_told_again() -> None:
    bench = Bench()
    bench.dialogue.lock.want(True)
    bench.turn()
    bench.dialogue.heard(Started())
    assert bench.turn() == encode_command(LOCK, "with_stx")


def test_a_shoe_unlocked_by_hand_is_locked_again() -> None:
    bench = Bench()
    bench.dialogue.lock.want(True)
    bench.turn()
    bench.dialogue.heard(Lock(False))
    assert bench.turn() == encode_command(LOCK, "with_stx")


def test_a_lock_that_does_not_obey_is_logged_once_and_once_when_it_does(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    bench = Bench()
    bench.device.commands.deaf = True
    bench.dialogue.lock.want(True)
    for _ in range(10):
        bench.turn(RETRY_S)
    assert bench.dialogue.lock_fault == "no answer in 3 s to: lock the exit"
    bench.device.commands.deaf = False
    for _ in range(3):
        bench.turn(RETRY_S)
    assert bench.dialogue.lock.locked is True
    assert bench.dialogue.lock_fault is None
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


def test_a_silent_shoe_is_asked_again_in_time_and_one_that_refuses_is_not() -> None:
    bench = Bench("with_stx", "without_stx")
    bench.device.commands.deaf = True
    bench.dialogue.lock.want(True)
    assert bench.turn()
    assert bench.turn(ANSWER_S) == b""
    bench.device.commands.deaf = False
    assert bench.turn(RETRY_S)  # refused: the check is read the other way
    assert bench.turn(RETRY_S * 10) == b""
    bench.decoder.reopened()
    assert bench.turn() != b""
