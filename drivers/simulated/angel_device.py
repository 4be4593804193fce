"""The simulated Angel Eye shoe: it knows the baccarat draw, numbers its telegrams and sends each three times.

In ``hidden`` mode cards of the hand are sent as hidden and revealed together when the hand is complete, in
``open`` mode each telegram has its face. The first card of a shoe and the burned ones carry their faces in both,
as in the capture.

It takes a host's commands: locked, it lets no card out; an over-drawn card may wait for the host's decision.

Not simulated: the time bytes need at 4800 baud, parity and framing errors, modem lines; preset telegrams; a dealer
who draws before the stand-by or forces a locked exit; wrong ``d`` targets; a new shoe that is burned otherwise than
by its first card. Inferred, not seen on a device: everything about commands, that an error is cancelled by the next
card, that a card pushed back is announced again for the same place, the pauses, that a power cycle does not
interrupt the burn and opens the lock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final, Literal

from controller.cards import CUT, HIDDEN, RANKS
from drivers.angel.codec import COPIES, AngelEncoder
from drivers.angel.commands import CLEAR_ERROR, DISCARD_OVERDRAWN, LOCK, UNLOCK, USE_OVERDRAWN, Command
from drivers.events import (
    CardDrawn,
    CardReused,
    CardRevealed,
    CutCard,
    ErrorCleared,
    ErrorRaised,
    Event,
    Lock,
    OutOfGame,
    OverdrawnDiscarded,
    RoundResult,
    StandBy,
    Started,
)
from drivers.simulated.angel_commands import CommandPort
from drivers.simulated.baccarat import Hand, Side
from drivers.simulated.device import NOISE, CardDevice, split
from drivers.simulated.faults import Fault
from drivers.simulated.shoe import Item, SimulatedShoe
from drivers.simulated.steps import Entry, ItemKind, Outcome, Refused, Send, Step, Unplug, wire_of

Mode = Literal["hidden", "open"]

COPY_S: Final = 0.05
# The dealer closes the hand; nothing public says how long that takes.
STANDBY_S: Final = 0.5
START_BURSTS: Final = 2

CANNOT_READ: Final = 1
OVERDRAW: Final = 2
PUSHED_BACK: Final = 4
PUSHED_BACK_MIDWAY: Final = 5
TIME_OUT: Final = 7


class AngelDevice(CardDevice):
    """A new shoe shows its first card, burns by its value (ace 1), and deals hands one after the other."""

    protocol: ClassVar[str] = "angel"

    _hand: Hand
    _burn_left: int | None  # None until the first card tells
    _error: int | None  # to be cancelled by the next card
    _unread: Item | None
    _kept: Item | None  # over-drawn, opens the next hand
    _overdraw: str | None
    _undecided: Item | None  # over-drawn, the host is to say what becomes of it
    _standby: bool
    _undo: Callable[[], None] | None  # takes the last card out of its place

    def __init__(self, shoe: SimulatedShoe, mode: Mode) -> None:
        super().__init__(shoe)
        self._mode = mode
        self._encoder = AngelEncoder()
        self._locked = False
        self.commands = CommandPort()
        self._follows: list[Step] = []
        self._new_shoe()

    @property
    def needs_rescan(self) -> bool:
        """See ``Device.needs_rescan``."""
        return self._unread is not None

    @property
    def takes_fault(self) -> bool:
        """See ``Device.takes_fault``."""
        waits = self.needs_rescan or self._kept is not None or self._undecided is not None
        return super().takes_fault and not waits and not self._locked

    def switch_on(self) -> list[Step]:
        """See ``Device.switch_on``: the start telegram, in two bursts."""
        return self._start_up()

    def load(self, seed: int | None) -> Outcome:
        """See ``Device.load``: the shoe starts up again."""
        outcome = super().load(seed)
        self._new_shoe()
        return outcome._replace(steps=self._start_up())

    def draw(self, fault: Fault | None) -> Outcome:
        """See ``Device.draw``."""
        if self._unread is not None:
            raise Refused("the shoe could not read the last card: rescan_last first")
        if self._undecided is not None:
            raise Refused("the shoe waits until the host says what becomes of the over-drawn card")
        if self._locked:
            raise Refused("the exit is locked: no card can leave")
        if self._kept is not None and self._hand.empty:
            return self._reuse(self._kept)
        item = self.shoe.take()
        self._undo = None
        name = fault.name if fault else None
        steps = self._cancel_error()
        if item.card == CUT:
            steps += self._telegram(CutCard())
            return self.answer(steps, [_entry(item, "cut", steps, name)])
        if name == "power_cycle":
            self._hand = Hand()
            steps += [Send(bytes((byte,))) for byte in NOISE] + self._start_up()
        elif name == "no_standby":
            self._standby = False
        elif name == "overdraw" and fault is not None:
            self._overdraw = fault.argument or "discard"
        if name == "no_read":
            self._unread = item
            self._error = CANNOT_READ
            steps += self._telegram(ErrorRaised(CANNOT_READ, error_mode=True))
            return self.answer(steps, [_entry(item, "card", steps, name)])
        steps += _with_fault(self._place(item, name), fault)
        return self._closed(self.answer(steps, [_entry(item, "card", steps, name)]))

    def hear(self, data: bytes) -> list[Step]:
        """See ``Device.hear``: an answer for each command."""
        heard = self.commands.hear(data)
        for _, command in heard:
            if command is not None:
                self._follows += self._obey(command)
        return [answer for answer, _ in heard]

    def follows(self) -> list[Step]:
        """See ``Device.follows``: the telegrams that commands bring about."""
        steps, self._follows = self._follows, []
        return steps

    def _obey(self, command: Command) -> list[Step]:
        if command in (LOCK, UNLOCK):
            locked = command == LOCK
            if locked == self._locked:
                return []
            self._locked = locked
            return self._telegram(Lock(locked))
        if command in (USE_OVERDRAWN, DISCARD_OVERDRAWN) and self._undecided is not None:
            item, self._undecided = self._undecided, None
            use = "keep" if command == USE_OVERDRAWN else "discard"
            steps = self._decided(item, use)
            return steps + self._hand_end()
        return self._cancel_error() if command == CLEAR_ERROR and self._undecided is None else []

    def rescan_last(self) -> Outcome:
        """See ``Device.rescan_last``: only a card that could not be read is read again."""
        item = self._unread
        if item is None:
            raise Refused("no card waits to be read again: this shoe reads a card only on its way out")
        self._unread = None
        steps = self._cancel_error() + self._place(item, None)
        return self._closed(Outcome({"ok": True, "count": 1}, steps, []))

    def push_back(self, words: list[str]) -> Outcome:
        """See ``Device.push_back``: error 4, or 5 ``midway``, in error mode; the place in the hand is free again."""
        if words not in ([], ["midway"]):
            raise Refused("push_back takes no argument, or midway")
        item = self.shoe.push_back()
        if self._undo is not None:
            self._undo()
        self._undo = self._unread = None
        steps = self._cancel_error()
        self._error = PUSHED_BACK_MIDWAY if words else PUSHED_BACK
        steps += self._telegram(ErrorRaised(self._error, error_mode=True))
        return Outcome({"ok": True, "left": self.shoe.left}, steps, [_entry(item, "pushed_back", steps, None)])

    def _new_shoe(self) -> None:
        self._hand = Hand()
        self._burn_left = None
        self._error = None
        self._unread = None
        self._kept = None
        self._overdraw = None
        self._undecided = None
        self._standby = True
        self._undo = None

    def _start_up(self) -> list[Step]:
        self._locked = False
        steps: list[Step] = []
        for _ in range(START_BURSTS):
            steps += self._telegram(Started())
        return steps

    def _telegram(self, event: Event, after_s: float = 0.0) -> list[Step]:
        """The next telegram, three times. In the capture the first copy follows the one before it at once."""
        frame = self._encoder.encode(event)
        return [Send(frame, COPY_S if copy else after_s) for copy in range(COPIES)]

    def _cancel_error(self) -> list[Step]:
        code, self._error = self._error, None
        return [] if code is None else self._telegram(ErrorCleared(code, error_mode=False))

    def _place(self, item: Item, name: str | None) -> list[Step]:
        """The telegram of a card that goes to its place."""
        card = item.card
        if self._burn_left is None:
            self._burn_left = min(RANKS.index(card[0]) + 1, 10)
            self._undo = self._restore_burn(None)
            event = CardDrawn(card, "first", 0)
        elif self._burn_left:
            self._undo = self._restore_burn(self._burn_left)
            self._burn_left -= 1
            event = CardDrawn(card, "burn_left", self._burn_left)
        else:
            side, index = self._hand.add(card)
            self._undo = self._restore_hand(side)
            event = CardDrawn(card if self._mode == "open" else HIDDEN, side, index)
        steps = self._telegram(event)
        return [] if name == "gap" else steps

    def _restore_burn(self, burn_left: int | None) -> Callable[[], None]:
        def undo() -> None:
            self._burn_left = burn_left

        return undo

    def _restore_hand(self, side: Side) -> Callable[[], None]:
        hand = self._hand
        return lambda: hand.remove(side)

    def _closed(self, outcome: Outcome) -> Outcome:
        """With what follows the last card of a hand: an over-drawn card, the reveals, the result, the stand-by.

        The answer then has ``hand_over``: the dealer reads that much off the shoe's display.
        """
        hand = self._hand
        if hand.next_place() is not None:
            return outcome
        answer, steps, entries = dict(outcome.answer), list(outcome.steps), list(outcome.entries)
        if self._overdraw is not None:
            steps += self._draw_too_many(self._overdraw, entries)
            if "left" in answer:
                answer["left"] = self.shoe.left
        if self._undecided is None:
            steps += self._hand_end()
            answer["hand_over"] = True
        return Outcome(answer, steps, entries)

    def _hand_end(self) -> list[Step]:
        """The reveals, the result, the stand-by; the next card opens a hand."""
        hand, steps = self._hand, list[Step]()
        if self._mode == "hidden":
            for side, index, card in hand.placed():
                steps += self._telegram(CardRevealed(card, side, index))
        steps += self._telegram(RoundResult(hand.winner(), *hand.pairs()))
        # Where the capture shows a card kept, the next hand began without a stand-by.
        if self._standby and self._kept is None:
            steps += self._telegram(StandBy(), STANDBY_S)
        self._hand = Hand()
        self._standby = True
        self._overdraw = None
        # The hand is closed: a card that goes back now does not open it again.
        self._undo = None
        return steps

    def _draw_too_many(self, use: str, entries: list[Entry]) -> list[Step]:
        """One card after the last, in the telegrams of the capture; without effect if no card is left."""
        steps: list[Step] = []
        if self.shoe.left == 0:
            return steps
        item = self.shoe.take(to_felt=False)
        if item.card == CUT:
            steps += self._telegram(CutCard())
            entries.append(_entry(item, "cut", steps, "overdraw"))
            item = self.shoe.take(to_felt=False)
        wire = self._telegram(ErrorRaised(OVERDRAW, error_mode=False))
        if use == "discard":
            wire += self._telegram(ErrorRaised(TIME_OUT, error_mode=True))
        wire += self._telegram(OutOfGame(HIDDEN, "burn", 0))
        if use == "ask":
            self._undecided = item
        else:
            wire += self._decided(item, use)
        entries.append(_entry(item, "card", wire, "overdraw"))
        return steps + wire

    def _decided(self, item: Item, use: str) -> list[Step]:
        """What becomes of the over-drawn card."""
        steps: list[Step] = []
        if use == "discard":
            steps += self._telegram(OverdrawnDiscarded(item.card, "player", 1))
        else:
            self._kept = item
        return steps + self._telegram(ErrorCleared(OVERDRAW, error_mode=False))

    def _reuse(self, item: Item) -> Outcome:
        """The card that was kept opens the next hand; nothing leaves the shoe."""
        self._kept = None
        self.shoe.put(item)
        side, index = self._hand.add(item.card)
        self._undo = None
        face = item.card if self._mode == "open" else HIDDEN
        steps = self._cancel_error() + self._telegram(CardReused(face, side, index))
        return self.answer(steps, [_entry(item, "reused", steps, None)])


def _entry(item: Item, kind: ItemKind, steps: list[Step], fault: str | None) -> Entry:
    return Entry(item.shoe, item.index, kind, item.card, wire_of(steps), fault)


def _with_fault(steps: list[Step], fault: Fault | None) -> list[Step]:
    """The three copies of a card's telegram as ``fault`` leaves them."""
    match fault:
        case Fault("bad_bcc"):
            return [_wrong_check(step) for step in steps]
        case Fault("one_bad_bcc"):
            return [_wrong_check(steps[0]), *steps[1:]]
        case Fault("split"):
            return split(steps)
        case Fault("noise"):
            return [Send(bytes((byte,))) for byte in NOISE] + steps
        case Fault("unplug"):
            return [Unplug(fault.seconds), *steps]
    return steps


def _wrong_check(step: Step) -> Step:
    """The copy with its last check character replaced by another hexadecimal digit."""
    assert isinstance(step, Send)
    wrong = b"%X" % (int(chr(step.data[-1]), 16) ^ 1)
    return step._replace(data=step.data[:-1] + wrong)
