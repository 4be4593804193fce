"""The camera of a soak: what it sees of each place on the felt, when, and what it takes it for.

It sees the cards where the dealer laid them, and says so by the same commands as the camera service. What it gets
wrong follows a plain model of confusion: a suit of the same colour, or a rank that looks alike.

Not simulated: pictures, tracking, a camera's own clock; places that are not of the layout.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final

from controller import facts as f
from controller.cards import HIDDEN
from controller.simulation.soak_cards import Card, blame

if TYPE_CHECKING:
    from controller.simulation.soak_world import World

#: The camera service reports at least so often (ms); a card lies still before it is believed.
REPORT_MS: Final = 2_000
SETTLED_MS: Final = 400
_HOLE: Final = "dealer/1"
_SUITS: Final = {"S": "C", "C": "S", "H": "D", "D": "H"}
_ALIKE: Final = {"6": "9", "9": "6", "8": "9", "2": "7", "7": "2", "K": "Q", "Q": "K", "J": "Q", "3": "8", "T": "4"}


@dataclass
class View:
    """How one card appears. ``label``: instead of its face; None: not at all. ``until``: ms, None: till somebody
    sees to it."""

    label: str | None
    until: int | None


class Camera:
    """The camera at the table of one session."""

    def __init__(self, world: World, seed: str) -> None:
        self.world = world
        self.rng = Random(f"{seed}/camera")
        self.lies: dict[str, Card] = {}  # where the dealer laid each card
        self.views: dict[str, View] = {}
        self.open_early = False
        self.back_at: int | None = None  # lost until then
        self._reported = 0

    # --- the felt --------------------------------------------------------------------------------------------------

    def lay(self, card: Card, position: str | None) -> None:
        """The dealer lays a card."""
        if position is None or position.startswith("burn"):
            return
        world = self.world
        if world.injector.befalls("lays_wrong"):
            position = f"{position.rsplit('/', 1)[0]}/{self.rng.choice((4, 5, 6))}"
        self._put(card, position)
        if card.told not in (None, HIDDEN, card.face) and world.injector.befalls("seen_alike"):
            self.views[position] = View(card.told, None)
            card.seen = card.told
            blame(card, "seen_alike")
            return
        kind = world.injector.one_of("sight")
        now, rng = world.now, self.rng
        match kind:
            case "seen_wrong":
                self.views[position] = View(confused(card.face, rng), None)
                card.seen = self.views[position].label
            case "unreadable":
                self.views[position] = View("??", now + rng.choice((500, 1_500, 8_000)))
            case "not_seen":
                self.views[position] = View(None, None)
            case "seen_late":
                self.views[position] = View(None, now + rng.choice((1_000, 2_500, 4_000)))
            case "covered":
                self.look()
                if world.up:
                    self.views[position] = View(None, now + rng.choice((800, 6_000)))

    def _put(self, card: Card, position: str) -> None:
        for place in [place for place, other in self.lies.items() if other is card]:
            del self.lies[place]
        self.lies[position] = card
        self._clear(position)

    def _clear(self, place: str) -> None:
        """What lies there is seen as it is."""
        self.views.pop(place, None)
        if place in self.lies:
            self.lies[place].seen = None

    def follow(self, fact: f.Fact, card: Card | None) -> None:
        """The dealer does on the felt what the screen shows."""
        match fact:
            case f.CardClaimed(position=position, from_hold=from_hold):
                if from_hold:  # the dealer lays a card that waited or was kept
                    card = self.world.checks.claims.get(position)
                if card is not None and self.lies.get(position) is not card and card not in self.lies.values():
                    self._put(card, position)
            case f.HandSplit(lines=(first, second)) if first.startswith("seat/"):
                self._move(f"{first}/1", f"{second}/0")
            case f.CardReassigned(position=position, to=to):
                self._move(position, to)
            case f.BettingOpened():
                self.open_early = False

    def _move(self, position: str, to: str) -> None:
        card = self.lies.pop(position, None)
        self.views.pop(position, None)
        if card is not None:
            self.lies[to] = card

    def tidy(self, position: str | None) -> None:
        """Somebody sees to it that the camera sees what lies there; a card beside its place is put right."""
        for place in list(self.views):
            self._clear(place)
        card = next((c for c in self.lies.values() if c is not None and not c.dealt), None)
        if position is not None and card is not None and position not in self.lies:
            self._put(card, position)

    # --- what it says ----------------------------------------------------------------------------------------------

    def _labels(self) -> dict[str, str]:
        world = self.world
        felt = {id(card) for card in world.line.felt}
        self.lies = {place: card for place, card in self.lies.items() if id(card) in felt}
        found = {}
        for place, card in self.lies.items():
            view = self.views.get(place)
            if view is not None and view.until is not None and view.until <= world.now:
                del self.views[place]
                view = None
            down = place == _HOLE and world.game == "boundless" and not self._turned() and not self.open_early
            label = HIDDEN if down else card.face
            if view is not None:
                if view.label is None:
                    continue
                label = label if down else view.label
            found[place] = label
        return found

    def _turned(self) -> bool:
        round_ = self.world.table.state.round
        return round_ is not None and any(c.position == _HOLE and c.public for c in round_.cards)

    def look(self) -> bool:
        """Say what came, went or changed since the table was told. False if that is nothing."""
        world = self.world
        if not world.up or self.back_at is not None:
            return False
        told, now = world.table.state.sighted, self._labels()
        seen = [{"position": place, "card": now.get(place)} for place in told if now.get(place) != told[place]]
        seen += [{"position": place, "card": label} for place, label in now.items() if place not in told]
        for place, card in self.lies.items():
            card.shown = card.shown or now.get(place) == card.face
        if seen:
            world.order("sighting", "camera", seen=seen)
        return bool(seen)

    def attend(self) -> bool:
        """Wait for a change of what is seen. False if none is to come before the table's own deadline."""
        world = self.world
        if self.look():
            return True
        soon = [view.until for view in self.views.values() if view.until is not None]
        due = world.table.deadline()
        if soon and (due is None or min(soon) < due[1]):
            world.advance(max(1, min(soon) - world.now))
            self.look()
            return True
        return False

    def report(self, ms: int) -> None:
        """Time passes until ``ms``: the service reports that all is well, or is silent."""
        world = self.world
        while world.up and self._reported + REPORT_MS <= ms:
            self._reported = max(self._reported + REPORT_MS, world.now)
            if self.back_at is None:
                world.now = max(world.now, self._reported)
                world.order("camera_health", "camera", ok=True)

    def fail(self) -> None:
        """The picture is no longer to be believed, for a while."""
        world = self.world
        self.back_at = world.now + self.rng.choice((1_000, 10_000, 200_000))
        world.order("camera_health", "camera", ok=False, reason="the picture is frozen")

    def come_back(self) -> None:
        """The camera is waited for."""
        world = self.world
        if self.back_at is not None:
            world.advance(max(1, self.back_at - world.now))
            self.back_at = None
        if world.up:
            world.order("camera_health", "camera", ok=True)
            self.look()


def confused(face: str, rng: Random) -> str:
    """What a card may be taken for."""
    rank, suit = face[0], face[1]
    if rng.random() < 0.5 or rank not in _ALIKE:
        return rank + _SUITS[suit]
    return _ALIKE[rank] + suit
