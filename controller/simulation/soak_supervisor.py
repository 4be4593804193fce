"""The simulated supervisor: looks at the felt and at the record, and picks the right one of the legal resolutions.

Not simulated: a supervisor who is wrong about the cards that lie there, and how long it takes to find one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from controller.cards import HIDDEN
from controller.simulation.soak_odds import Broken

if TYPE_CHECKING:
    from controller.simulation.soak_world import World

LOOK_MS: Final = 4_000
#: How often an unread card is entered by hand and not read again.
ENTERED: Final = 0.3
_MOVED: Final = ("M-05", "M-08", "M-09", "M-14", "M-17", "M-19", "M-22")
_REPORTED: Final = ("M-11", "M-12", "M-13", "M-15", "M-25", "M-29")
_GO_ON: Final = ("M-18", "M-21", "M-24", "M-28")


class Supervisor:
    """The person on the floor of one session."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._tried: set[tuple[str, str]] = set()
        self._rereads = 0

    def lift(self) -> None:
        """End one hold by what is legal and true."""
        world = self.world
        state = world.table.state
        world.advance(LOOK_MS)
        if not world.up or not (state := world.table.state).holds:
            return
        if "device:shoe" in state.holds:
            self._wait_for_shoe()
        elif "device:camera" in state.holds and world.camera is not None:
            world.camera.come_back()
        elif state.incidents:
            if "restart" not in state.holds and world.injector.befalls("resumes_early"):
                world.order("pause", "supervisor", reason="a look at the table")
                world.order("resume", "supervisor", reason="in a hurry")
            if world.up and (open_ := world.table.state.incidents):
                self._resolve(min(open_))
        elif "device:game_server" in state.holds:
            world.server.back()
        elif "device" in state.holds and "pause" not in state.holds and "restart" not in state.holds:
            world.order("resume", "supervisor", reason="the shoe works again")
        else:
            self._resume()

    def _wait_for_shoe(self) -> None:
        world = self.world
        world.advance(max(1_000, world.line.back_at - world.now + 1))
        world.line.tick()

    # --- incidents -------------------------------------------------------------------------------------------------

    def _resolve(self, number: int) -> None:
        world = self.world
        incident = world.table.state.incidents[number]
        if world.camera is not None:
            world.camera.tidy(incident.position)
            world.camera.look()
            if not world.up or number not in world.table.state.incidents:
                return
        face = self._entered(incident)
        if face is not None and self._enter(number, face):
            return
        choice, cards = self._choose(number, incident)
        args: dict[str, Any] = {"incident": number, "resolution": choice, "reason": "checked on the felt"}
        if cards is not None:
            args["cards"] = cards
        if world.order("resolve", "supervisor", **args) is not None or not world.up:
            return
        later = [n for n in sorted(world.table.state.incidents) if n != number]
        self.give_up("no resolution is possible") if not later else self._resolve_last(later[-1])

    def _entered(self, incident: Any) -> str | None:
        """The face that people enter by hand. None if it is not plain which card that is, or nobody wants to."""
        world = self.world
        if "enter_card" not in incident.resolutions or world.line.protocol == "angel":
            return None
        if not incident.unread:  # a card that is another one than was read
            place = incident.position or ""
            card = world.checks.places.get(place) or world.checks.claims.get(place)
            if card is None or incident.cause != "M-03" or (card.dealt and place not in world.checks.places):
                return None
            if not card.dealt and self._unheard():
                return None
            return card.face
        loose = [card for card in world.line.felt if not card.dealt]
        if len(loose) != 1 or loose[0] is not world.line.felt[-1] or world.rng.random() > ENTERED:
            return None
        return None if len(world.table.state.incidents) > 1 else loose[0].face

    def _enter(self, number: int, face: str) -> bool:
        """Two people read a card by eye. False if the table does not take it."""
        world = self.world
        args: dict[str, Any] = {"incident": number, "card": face, "reason": "read by eye"}
        asked = world.order("enter_card", "supervisor", **args)
        if asked is None:
            return not world.up
        accept = world.rng.random() < 0.8
        args = {"approval": asked.reply["approval"], "accept": accept, "reason": "seen"}
        if world.rng.random() < 0.1:
            world.advance(130_000)  # too late
        elif world.order("approve", "supervisor", **args) is not None and accept:
            raise Broken("one person approved what the same person asked for")
        world.order("approve", "supervisor", person="bob", **args)
        return True

    def _resolve_last(self, number: int) -> None:
        incident = self.world.table.state.incidents[number]
        choice = incident.resolutions[-1]
        self.world.order("resolve", "supervisor", incident=number, resolution=choice, reason="nothing else is left")

    def _choose(self, number: int, incident: Any) -> tuple[str, int | None]:
        world, legal, cause = self.world, incident.resolutions, incident.cause[:4]
        if incident.unread:
            return self._unread(legal), None
        if cause == "M-34" and "resume" in legal:
            world.dealer.log_on()
            return "resume", None
        if cause == "M-02" and "use_as_next" in legal and self._is_the_loose_one(incident):
            return "use_as_next", None
        if cause in _MOVED and "burn_card" in legal:
            return self._surplus(number, legal), None
        if cause == "M-20":
            return "resume" if "resume" in legal and self._agrees() else self._void(legal), None
        if cause in _GO_ON and "resume" in legal:
            return "resume", None
        if world.camera is not None and cause in ("M-03", "M-11", "M-15", "M-06", "M-08"):
            return self._by_eye(incident), None
        if cause in ("M-30", "M-23"):
            return self._order_in_doubt(legal)
        if cause in _REPORTED and "resume" in legal:
            return "resume", None
        if "void_round" in legal and world.line.protocol != "angel":
            return "void_round", None
        return legal[-1], None

    def _by_eye(self, incident: Any) -> str:
        """Shoe and camera disagree, and people look at the card: it stands if the record says what it is."""
        world, legal, place = self.world, incident.resolutions, incident.position or ""
        claim = next((p.card for p in world.table.state.claims if p.position == place), None)
        card = world.checks.claims.get(place)
        right = card is not None and claim == card.face and not card.dealt
        if claim is None:  # it was dealt
            right = world.checks.wrong_cards(world.table.state).get(place, "") == ""
        if "resume" in legal and right and not self._unheard():
            return "resume"
        last = world.line.felt[-1:] == [card] and world.line.rereads and not self._unheard()
        return "rescan" if "rescan" in legal and last and self._rereads % 5 != 4 else self._void(legal)

    def _is_the_loose_one(self, incident: Any) -> bool:
        """One card lies there that the record does not know, and it is the card of the incident."""
        loose = [card.face for card in self.world.line.felt if not card.dealt]
        return len(loose) == 1 and list(incident.cards) in (loose, [HIDDEN])

    def _unheard(self) -> bool:
        """A card lies there that the table has not heard of."""
        known = self.world.checks.waiting
        return any(not card.dealt and not any(card is one for one in known) for card in self.world.line.felt)

    def _loose(self) -> int:
        """Cards on the felt that the record does not know."""
        return sum(not card.dealt for card in self.world.line.felt)

    def _void(self, legal: tuple[str, ...]) -> str:
        last = "void_round_and_shoe"
        simple = "void_round" in legal and self.world.line.protocol != "angel"
        return "void_round" if simple else last if last in legal else legal[-1]

    def _unread(self, legal: tuple[str, ...]) -> str:
        """The unread card itself, once more; only if it is the one that lies there."""
        line = self.world.line
        self._rereads += 1
        again = "rescan" in legal and self._loose() == 1 and bool(line.felt) and not line.felt[-1].dealt
        if line.protocol == "angel":
            again = again and line.device.needs_rescan
        if again and self._rereads % 5:
            return "rescan"
        return self._void(legal)

    def _surplus(self, number: int, legal: tuple[str, ...]) -> str:
        world, line = self.world, self.world.line
        mine = world.checks.cards_of.get(number, [])
        if line.protocol == "angel":  # the shoe was told what becomes of it; the record must say the same
            over = bool(mine) and mine[0] is line.overdrawn and line.overdraw_use == "keep"
            return "use_as_next" if over and "use_as_next" in legal else "burn_card"
        if "use_as_next" in legal and len(mine) == 1 and mine[0].told == mine[0].face and world.rng.random() < 0.5:
            return "use_as_next"
        return "burn_card"

    def _agrees(self) -> bool:
        """The felt is what the record says, card by card."""
        recorded = self.world.table.state.on_felt
        felt = [card.face for card in self.world.line.felt]
        same = len(recorded) == len(felt)
        return same and all(mine in (HIDDEN, face) for mine, face in zip(recorded, felt, strict=True))

    def _order_in_doubt(self, legal: tuple[str, ...]) -> tuple[str, int | None]:
        world = self.world
        here = (world.round_id, "rescan")
        others = len(world.table.state.holds) > 1
        if "rescan" in legal and world.line.rereads and here not in self._tried and not others:
            self._tried.add(here)
            return "rescan", len(world.line.felt)
        if "resume" in legal and self._agrees():
            return "resume", None
        return self._void(legal), None

    # --- the other holds -------------------------------------------------------------------------------------------

    def _resume(self) -> None:
        world = self.world
        state, reason = world.table.state, "the felt was compared"
        if "restart" not in state.holds:
            world.order("resume", "supervisor", reason=reason)
            return
        if state.phase in ("closed", "shoe_change", "voided"):
            for card in [card for card in world.line.felt if not card.dealt]:
                world.line.put_aside(card)
        if not state.on_felt:  # the cards of a finished round go first, or they would be read as new ones
            for card in [card for card in world.line.felt if card.dealt]:
                world.line.put_aside(card)
        if not state.on_felt and not self._loose():
            if world.order("resume", "supervisor", reason=reason, how="felt_agrees") is None and world.up:
                self.give_up("the table cannot go on")
            return
        here = (world.round_id, f"restart {state.epoch}")
        if world.line.rereads and here not in self._tried and set(state.holds) == {"restart"}:
            self._tried.add(here)
            cards = len(world.line.felt)
            args: dict[str, Any] = {"how": "rescan", "cards": cards, "reason": "every card is read again"}
            if world.order("resume", "supervisor", **args) is None and world.up:
                self.give_up(f"{cards} cards lie there, {len(state.on_felt)} are recorded")
        elif self._agrees() and world.line.protocol != "angel":
            world.order("resume", "supervisor", reason=reason, how="felt_agrees")
        else:
            self.give_up("the order of the cards cannot be proven")

    def review(self) -> None:
        """The video shows another card than the record: a new version of the result, or void (M-16, M-32)."""
        world = self.world
        wrong = world.checks.wrong_cards(world.table.state)
        round_ = world.table.state.round
        if not wrong or round_ is None or round_.outcome is None or not world.injector.befalls("reviewed"):
            return
        asked = None
        for void in (False, True):
            cards = [] if None in wrong.values() else list(wrong.items())
            args: dict[str, Any] = {"round": round_.id, "cards": cards, "void": void, "reason": "seen on the video"}
            asked = world.order("correct", "supervisor", **args)
            if asked is not None or not world.up:
                break
        if asked is not None:
            args = {"approval": asked.reply["approval"], "accept": True, "reason": "seen"}
            world.order("approve", "supervisor", person="bob", **args)
        world.injector.trace()

    def give_up(self, reason: str) -> None:
        """Void the round, or the shoe if no round is open."""
        world = self.world
        if not world.up:
            return
        state = world.table.state
        shoe = world.line.protocol == "angel" or not state.round_open
        world.order("void", "supervisor", reason=reason, shoe=shoe)

    def no_card(self) -> None:
        """The shoe lets no card out."""
        line = self.world.line
        if line.device.needs_rescan and line.felt:
            line.show_last()
        elif line.shoe.left == 0 or line.protocol != "angel":
            self.world.order("void", "supervisor", reason="the shoe is empty", shoe=True)
        else:
            self.give_up("the shoe is locked")

    def reopen(self) -> None:
        """After a void the felt is cleared and the table opened again."""
        world = self.world
        self._rereads = 0
        world.dealer.wrongly("draws_when_void")
        if not world.up:
            return
        world.dealer.clear()
        world.advance(LOOK_MS)
        if world.up:
            world.order("reopen", "supervisor", reason="cleared")
