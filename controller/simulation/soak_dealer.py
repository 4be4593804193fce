"""The simulated dealer: does what the step says, and each misdeal that hands can do (procedures 2.5).

The dealer sees the step and the felt. Not simulated: where on the felt a card is laid, cards turned over, speech.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from controller.cards import HIDDEN
from controller.simulation.soak_cards import blame
from controller.simulation.soak_odds import Broken

if TYPE_CHECKING:
    from controller.simulation.soak_world import World

#: From one card to the next, and the time a cleared table takes.
CARD_MS: Final = 1_200
CLEAR_MS: Final = 2_000
RETRIES: Final = 3
DEALERS: Final = ("dan", "dora")
#: What dealers report although nothing is wrong with the cards' order.
REPORTED: Final = ("M-11", "M-12", "M-13", "M-15", "M-20", "M-25", "M-29")


class Dealer:
    """Hands at the table of one session."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.line = world.line
        self.person = DEALERS[0]

    # --- the step asks for a card ----------------------------------------------------------------------------------

    def draw(self) -> None:
        """A card is due. What the table makes of it shows whether it was read."""
        world, line = self.world, self.line
        if world.injector.any and self._slips():
            return
        step, n, felt = world.table.state.step, world.table.state.n, len(line.felt)
        if "reveal" in step.others and line.hand_over:
            self.wait()
            return
        if step.again and line.rereads:
            world.advance(CARD_MS)
            line.show_last()
            return
        world.advance(CARD_MS)
        kind = world.injector.one_of("draw") if world.injector.any else None
        if not line.draw(kind):
            world.supervisor.no_card()
            return
        if world.camera is not None and world.up and len(line.felt) > felt:
            world.camera.lay(line.felt[felt], step.position)
            if step.position == "dealer/1" and world.game == "boundless" and world.injector.befalls("opens_hole"):
                world.camera.open_early = True
            world.camera.look()
        state = world.table.state
        here = (step.kind, step.position) == (state.step.kind, state.step.position)
        same = state.n == n if world.camera is None else here
        unheard = world.up and not state.holds and same and len(line.felt) > felt
        if unheard:
            self._misscan()

    def _misscan(self) -> None:
        """The screen still asks for the card that lies there."""
        world, line = self.world, self.line
        if world.injector.befalls("draws_on"):
            for card in line.passing or line.felt[-1:]:
                blame(card, "draws_on")
            return
        if world.camera is not None and world.rng.random() < 0.5:  # the camera will say that a card lies there
            self.wait()
            return
        for _ in range(RETRIES):
            n = world.table.state.n
            world.advance(CARD_MS)
            if not line.rereads or not line.show_last() or not world.up:
                break
            if world.table.state.n != n or world.table.state.holds:
                return
        if world.up and not world.table.state.holds:
            world.supervisor.give_up("a card lies there that the table does not know")

    def _slips(self) -> bool:
        """Something else than a draw happens."""
        world, line = self.world, self.line
        befalls = world.injector.befalls
        state = world.table.state
        if state.phase == "burning" and befalls("forgets_burn"):
            if world.order("open_bets", "game_server") is not None:
                raise Broken("betting opens before the burn is complete")
            world.injector.trace()
            return False
        if state.phase == "dealer_drawing" and self._other_hole() and befalls("finds_hole"):
            self.report("M-03", position="dealer/1")
            return True
        if line.felt and befalls("pushes_back") and line.felt[-1].dealt:
            blame(line.felt[-1], "pushes_back")
            line.push_back()
            return True
        if line.rereads and line.felt and befalls("shows_again"):
            blame(line.felt[-1], "shows_again")
            world.advance(CARD_MS)
            line.show_last()
            return True
        if befalls("clears_early") and line.felt and world.table.state.round_open:
            line.collect()
            self.report("M-23")
            return True
        if befalls("reports"):
            self.report(world.rng.choice(REPORTED))
            return True
        if befalls("waits"):
            self.wait()
            return True
        return False

    def _other_hole(self) -> bool:
        """The hole card lies open and is not the one that was read."""
        round_, card = self.world.table.state.round, self.world.checks.places.get("dealer/1")
        recorded = round_.at("dealer/1") if round_ is not None else None
        return card is not None and recorded not in (None, HIDDEN, card.face)

    def wait(self) -> None:
        """Nothing, until the next deadline has passed."""
        world = self.world
        found = world.table.deadline()
        world.advance(5_000 if found is None else max(1, found[1] - world.now + 1))
        world.line.tick()

    def wrongly(self, kind: str) -> None:
        """A card is drawn at a moment when none is due."""
        if self.world.injector.befalls(kind):
            if self.world.table.state.reread:  # taken for the unread card that is to pass the reader again
                for card in self.line.felt:
                    if not card.dealt:
                        blame(card, kind)
                        card.noise = False
            self.world.advance(CARD_MS)
            self.line.draw()

    def report(self, code: str, **more: Any) -> None:
        """Say what no device sees; the supervisor is called if the table does not take it."""
        world = self.world
        note = "as seen on the felt"
        if world.order("report", "dealer", person=self.person, code=code, note=note, **more) is None:
            world.supervisor.give_up(f"the dealer reports {code}")

    def confirm(self) -> None:
        """Felt and screen agree."""
        world = self.world
        if world.injector.any and world.injector.befalls("forgets_confirm"):
            self.wait()
            return
        world.advance(CARD_MS)
        world.order("confirm", "dealer", person=self.person)

    def log_on(self) -> None:
        """Whoever deals says so; sometimes another one comes."""
        if self.world.rng.random() < 0.3:
            self.person = self.world.rng.choice(DEALERS)
        self.world.order("log_on", "dealer", person=self.person)

    # --- between rounds --------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """The felt is cleared for the next round."""
        self.world.advance(CLEAR_MS)
        self.line.collect()

    def load(self) -> None:
        """A new shoe, not always as it should be."""
        world = self.world
        befalls = world.injector.befalls
        world.advance(CLEAR_MS)
        count = self._count()
        self.line.load()
        spoilt = {
            "ninth": befalls("ninth_copy"), "cut_card": not befalls("no_cut_card"), "cut_first": befalls("cut_first"),
            "missing": befalls("card_missing"),
        }  # fmt: skip
        if spoilt != {"ninth": False, "cut_card": True, "cut_first": False, "missing": False}:
            self.line.spoil(**spoilt)
        if world.injector.any and not befalls("no_log_on"):
            self.log_on()
        world.order("load_shoe", "dealer", person=self.person, **count)

    def _count(self) -> dict[str, Any]:
        """The cards left in the old shoe, where the table asks for them."""
        world = self.world
        if world.options.reconcile != "count" or world.table.state.shoe is None:
            return {}
        left = self.line.shoe.left
        if world.injector.befalls("miscounts"):
            left = max(0, left + world.rng.choice((-2, -1, 1, 2)))
        return {"left": left}

    def rescan(self) -> None:
        """All cards of the felt pass the reader again."""
        world = self.world
        world.advance(CARD_MS)
        rescan = world.table.state.rescan
        if rescan is None or not self.line.show_felt(rescan.done):
            world.supervisor.give_up("the cards cannot be read again")
        elif world.up and world.table.state.rescan is not None:
            world.supervisor.give_up("the felt was read again and it did not help")
