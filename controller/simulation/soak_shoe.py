"""The physical side of a soak: the cards, where each of them lies, the device at the mouth and its line.

The simulated devices and the real codecs speak bytes to each other in virtual time. What is true of a card is kept
here and told to nobody: the checks compare the journal with it.

Not simulated: what the simulated devices leave out, the time bytes need, polls of an RFID reader between two cards,
threads, a device server's buffers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import lru_cache
from random import Random
from typing import Final, Protocol

from controller.cards import FACES, HIDDEN
from controller.simulation.soak_cards import Card, PhysicalShoe
from drivers import events as e
from drivers.angel.codec import AngelDecoder
from drivers.decoder import Decoder
from drivers.errors import DriverError
from drivers.feig.codec import FeigDecoder
from drivers.line.codec import LineDecoder
from drivers.mouth import Mouth
from drivers.polled import PolledTags
from drivers.simulated import wire_faults
from drivers.simulated.angel_device import AngelDevice
from drivers.simulated.device import CardDevice
from drivers.simulated.faults import Fault
from drivers.simulated.line_device import LineDevice
from drivers.simulated.shoe import Item
from drivers.simulated.ssi_device import SsiDevice
from drivers.simulated.steps import Await, Outcome, Refused, Send, Step, Unplug
from drivers.simulated.tag_deck import TagDeck, made_registry
from drivers.simulated.tag_device import FeigDevice
from drivers.ssi.codec import SsiDecoder
from drivers.tags import Shoes, TagRegistry

#: What the device calls a kind of fault, where it is another name.
_DEVICE_NAMES: Final = {
    "line": {"half": "half_line"},
    "ssi": {"half": "half_packet", "copy_lost": "corrupt"},
    "angel": {"lost": "bad_bcc", "copy_lost": "one_bad_bcc"},
    "feig": {"stuck_tag": "stuck"},
}
#: Events that say nothing is wrong.
_QUIET: Final = (
    e.CardDrawn, e.CardRevealed, e.CardReused, e.CutCard, e.StandBy, e.RoundResult, e.Repeated, e.Lock,
    e.PortRestored, e.TagRepeated,
)  # fmt: skip
_MAX_STEPS: Final = 20_000


class Table(Protocol):
    """What the line needs of the world around it."""

    now: int
    up: bool

    def advance(self, ms: int) -> None:
        """Let virtual time pass."""

    def shoe_event(self, event: e.Event) -> None:
        """The driver reports an event."""


@lru_cache(maxsize=1)
def _registry() -> TagRegistry:
    return made_registry(1)


class Line:
    """The shoe, its device and the line to the table."""

    def __init__(self, protocol: str, seed: str, world: Table, *, angel_open: bool = True) -> None:
        self.protocol, self.world = protocol, world
        number = Random(seed).getrandbits(60)
        self.rng = Random(f"{seed}/wire")
        self.shoe = PhysicalShoe(number)
        self.device = self._make_device(number, "open" if angel_open else "hidden")
        self.decoder = self._make_decoder()
        self.connected = True
        self.back_at = 0
        self.felt: list[Card] = []  # on the table, in the order they left; kept ones lie elsewhere
        self.kept: list[Card] = []  # a supervisor said: the next card
        self.out = 0
        self.passing: list[Card] = []
        self.hand_over = False
        self.overdrawn: Card | None = None
        self.overdraw_use = ""
        self._ghost: Card | None = None  # pushed back: it comes again
        self.counted: Callable[[Card], bool] = lambda _: False  # it is in the record of this round
        self._poll_s = 0.0

    def _make_device(self, number: int, mode: str) -> CardDevice:
        match self.protocol:
            case "line":
                return LineDevice(self.shoe, "scan_table", self.rng)
            case "ssi":
                return SsiDevice(self.shoe, "scan_table", self.rng)
            case "feig":
                return FeigDevice(self.shoe, TagDeck(_registry(), number), self.rng)
        return AngelDevice(self.shoe, mode)  # type: ignore[arg-type]

    def _make_decoder(self) -> Decoder:
        match self.protocol:
            case "line":
                return LineDecoder()
            case "ssi":
                return SsiDecoder()
            case "feig":
                return FeigDecoder(Mouth(Shoes([_registry()])))
        return AngelDecoder()

    @property
    def polled(self) -> bool:
        """The reader speaks only when asked."""
        return self.protocol == "feig"

    @property
    def rereads(self) -> bool:
        """Cards of the felt can pass the reader again."""
        return self.protocol != "angel"

    # --- the process beside the line -------------------------------------------------------------------------------

    def restarted(self, tags_left: frozenset[str] = frozenset()) -> None:
        """Another process opens the line; ``tags_left``: of the shoe in play, by its record."""
        self.decoder = self._make_decoder()
        if isinstance(self.decoder, PolledTags):
            self.decoder.new_shoe(tags_left)
        if self.connected:
            self._open()
        else:
            self.world.shoe_event(e.PortLost("cannot open the port"))

    def _open(self) -> None:
        self.decoder.reopened()
        if self.polled:
            self._advance(0.1)
        self.world.shoe_event(e.PortRestored("soak"))

    def unplug(self, seconds: float) -> None:
        """The line is gone for a while."""
        if not self.connected:
            return
        self.connected = False
        self.back_at = self.world.now + round(seconds * 1000)
        for card in self.passing:
            card.noise = True
        if self.world.up:
            for decoded in self.decoder.flush(self._now()):
                self.world.shoe_event(decoded.event)
            self.world.shoe_event(e.PortLost("the line is pulled out"))

    def tick(self) -> None:
        """The line comes back when its time is over; what stopped in its middle is told."""
        if not self.connected and self.world.now >= self.back_at:
            self.connected = True
            if self.world.up:
                self._open()
        elif self.connected and self.world.up and not self.polled:
            for decoded in self.decoder.idle(self._now()):
                self.world.shoe_event(decoded.event)

    # --- bytes -----------------------------------------------------------------------------------------------------

    def _now(self) -> float:
        return self._poll_s if self.polled else self.world.now / 1000

    def _carry(self, steps: list[Step]) -> None:
        queue = deque(steps)
        for _ in range(_MAX_STEPS):
            if not queue:
                return
            step = queue.popleft()
            if step.after_s:
                self._advance(step.after_s)
            more: list[Step] = []
            if isinstance(step, Send):
                more = self._heard(step.data)
            elif isinstance(step, Unplug):
                self.unplug(step.seconds)
            elif isinstance(step, Await):
                self._await(step)
                more = step.then()
            queue.extendleft(reversed(more))
        raise AssertionError(f"the {self.protocol} device does not come to rest")

    def _await(self, step: Await) -> None:
        left = step.limit_s
        while left > 0 and not step.done():
            part = min(left, 0.05 if self.polled and self.connected and self.world.up else left)
            self._advance(part)
            left -= part

    def _advance(self, seconds: float) -> None:
        self.world.advance(round(seconds * 1000))
        if not self.polled:
            return
        end = self._poll_s + seconds
        while self._poll_s < end and self.connected and self.world.up:
            self._poll()
            self._poll_s = min(end, self._poll_s + max(self.decoder.poll_s, 0.001))
        self._poll_s = max(self._poll_s, end)

    def _poll(self) -> None:
        try:
            asked = self.decoder.outgoing(self._poll_s)
        except DriverError:
            self.unplug(0.5)
            return
        if asked:
            for step in self.device.hear(asked):
                if isinstance(step, Send):
                    self._heard(step.data)

    def _heard(self, data: bytes) -> list[Step]:
        """Bytes arrive; what the device says to what the host answers."""
        if not self.connected or not self.world.up:
            return []
        now = self._now()
        for decoded in self.decoder.decode(data, now):
            self.world.shoe_event(decoded.event)
        if self.polled or not self.world.up:
            return []
        answer = self.decoder.outgoing(now)
        return self.device.hear(answer) + self.device.follows() if answer else []

    # --- hands -----------------------------------------------------------------------------------------------------

    def draw(self, kind: str | None = None) -> bool:
        """The next card leaves. False if the device lets none out."""
        try:
            outcome = self._faulty(kind)
        except Refused:
            return False
        kinds = (kind,) if kind else ()
        self.passing = []
        for entry in outcome.entries:
            if entry.item == "card":
                self._left(self._card(Item(entry.shoe, entry.index, entry.card), kinds), entry.fault == "overdraw")
            elif entry.item == "reused" and self.kept:
                card = self.kept[0]
                card.told = None
                self.passing.append(card)
        self.hand_over = bool(outcome.answer.get("hand_over"))
        self._carry(outcome.steps)
        self._rest()
        return True

    def _card(self, item: Item, kinds: tuple[str, ...]) -> Card:
        ghost, self._ghost = self._ghost, None
        if ghost is None or ghost.item != item:
            return Card(item, kinds)
        ghost.told = None
        ghost.dealt = ghost.dealt and self.counted(ghost)
        ghost.kinds = (*ghost.kinds, *kinds)
        return ghost

    def _left(self, card: Card, over: bool) -> None:
        self.out += 1
        self.passing.append(card)
        if over and self.passing[:-1]:
            self.overdrawn = card
        else:
            self.felt.append(card)

    def _faulty(self, kind: str | None) -> Outcome:
        if kind is None or not self.device.takes_fault:
            return self.device.draw(None)
        name = _DEVICE_NAMES[self.protocol].get(kind, kind)
        argument = ""
        if name in ("unplug", "half_line", "half_packet"):
            argument = str(self.rng.choice((0.5, 2.0, 2.0, 400.0)))
        if name == "overdraw":
            argument = self.overdraw_use = self.rng.choice(("discard", "keep"))
        on_wire = name in wire_faults.WIRE_FAULTS and self.protocol in wire_faults.TALKERS
        if name in self.device.faults and not (on_wire and name != "unplug" and self.rng.random() < 0.5):
            return self.device.draw(Fault(name, argument))
        if not on_wire:
            return self.device.draw(None)
        outcome = self.device.draw(None)
        return outcome._replace(steps=wire_faults.damage(outcome.steps, Fault(name, argument), self.rng))

    def _rest(self) -> None:
        """Between two cards nothing passes."""
        self._advance(0.5)
        self.tick()
        self.passing = []

    def show_last(self) -> bool:
        """The last card passes the reader again. False if it cannot."""
        return bool(self.felt) and self._show(self.device.rescan_last, self.felt[-1:])

    def show_felt(self, done: int) -> bool:
        """The cards of the felt pass the reader again, in order, from number ``done`` on."""
        self.shoe.skip = done
        try:
            return self._show(self.device.rescan, self.felt[done:])
        finally:
            self.shoe.skip = 0

    def _show(self, operation: object, cards: list[Card]) -> bool:
        try:
            outcome: Outcome = operation()  # type: ignore[operator]
        except Refused:
            return False
        for card in cards:
            card.told = None
        self.passing = cards
        for entry in outcome.entries:  # an over-draw that was due comes behind the card read again
            if entry.fault == "overdraw":
                self.passing = list(cards)
                self._left(self._card(Item(entry.shoe, entry.index, entry.card), ("overdraw",)), True)
        self._carry(outcome.steps)
        self._rest()
        return True

    def push_back(self) -> bool:
        """The last card goes back into the shoe."""
        if not self.felt or self.shoe.last != self.felt[-1].item:
            return False
        card = self.felt[-1]
        self.passing = [card]
        try:
            outcome = self.device.push_back([])
        except Refused:
            return False
        self._ghost = self.felt.pop()
        self.out -= 1
        self._carry(outcome.steps)
        self._rest()
        return True

    def put_aside(self, card: Card, *, keep: bool = False) -> None:
        """A card leaves the felt, for good or to be the next one."""
        if card in self.felt:
            self.felt.remove(card)
        self.shoe.put_aside(card.item)
        if keep:
            self.kept.append(card)
        elif card in self.kept:
            self.kept.remove(card)

    def place_kept(self, card: Card, behind: tuple[Card, ...] = ()) -> None:
        """A kept card comes to lie on the felt, before the cards that have no place (``behind`` have one)."""
        self.kept.remove(card)
        placed = {id(other) for other in behind}
        free = (n for n, other in enumerate(self.felt) if not other.dealt and id(other) not in placed)
        loose = next(free, len(self.felt))
        self.felt.insert(loose, card)
        if self.protocol != "angel":
            self.shoe.put(card.item)

    def collect(self) -> None:
        """The felt is cleared; kept cards stay beside it."""
        self.device.collect()
        self.felt.clear()

    def load(self) -> None:
        """Another shoe."""
        self.passing = []
        self.felt.clear()
        self.kept.clear()
        self.out = 0
        self.overdrawn = self._ghost = None
        if isinstance(self.decoder, PolledTags):
            self.decoder.new_shoe()
        self._carry(self.device.load(None).steps)

    def spoil(self, *, ninth: bool, cut_card: bool, cut_first: bool, missing: bool) -> None:
        """The shoe just loaded is not as it should be."""
        rng = self.rng
        face = rng.choice(FACES) if ninth else None
        cut_at = rng.randint(5, 30) if cut_first else None
        gone = rng.randrange(50, 400) if missing else None
        self.shoe.make(ninth=face, cut_card=cut_card, cut_at=cut_at, missing=gone)

    # --- who was read ----------------------------------------------------------------------------------------------

    def attribute(self, event: e.Event) -> Card | None:
        """The physical card that an event is about, if it is about one."""
        if not isinstance(event, _QUIET):
            for card in self.passing:
                card.noise = True
        if isinstance(event, e.OutOfGame | e.OverdrawnDiscarded):
            return self.overdrawn
        face = getattr(event, "card", None)
        if not self.passing:
            return None
        if isinstance(event, e.CardDrawn | e.CardReused | e.Repeated | e.TagRepeated):
            fresh = [card for card in self.passing if card.told is None]
            card = next((c for c in fresh if face in (c.face, HIDDEN)), fresh[0] if fresh else self.passing[-1])
            if not isinstance(event, e.Repeated):
                card.told = face
            return card
        return next((card for card in self.passing if card.told is None), self.passing[-1])
