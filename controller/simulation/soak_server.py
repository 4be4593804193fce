"""The simulated game server: opens and closes betting, brings what its players do, and is lost at times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from controller.simulation.soak_players import PLAYERS, Players, Row

if TYPE_CHECKING:
    from controller.simulation.soak_world import World

ANSWER_MS: Final = 2_000


class Server:
    """The platform of one session."""

    def __init__(self, world: World, players: Players) -> None:
        self.world, self.players = world, players
        self.booked = world.booked
        self._funded = False
        self._window: tuple[str, str] | None = None  # the last one that was answered

    def order(self, name: str, **args: Any) -> Any:
        """A command of this server: its reply, None if it is refused."""
        world = self.world
        wrong = world.injector.any
        if wrong and world.injector.befalls("wrong_order"):
            world.order(name, "game_server", **(args | {"round": "nowhere", "window": "split/9"}))
        twice = wrong and world.injector.befalls("repeated_order")
        return world.order(name, "game_server", twice=twice, **args)

    def silent(self) -> bool:
        """The server says nothing while this window is open."""
        world = self.world
        if not world.injector.befalls("server_lost"):
            return False
        world.dealer.wait()
        return True

    def back(self) -> None:
        """The server is heard again: any command of it will do."""
        self.order("open_bets")
        state = self.world.table.state
        if self.world.up and "device:game_server" in state.holds:
            self.world.supervisor.give_up("the game server does not come back")

    # --- windows ---------------------------------------------------------------------------------------------------

    def open_bets(self) -> None:
        """The last round is over: the next one."""
        world = self.world
        if world.injector.any:
            world.supervisor.review()
            if not world.up or world.table.state.holds:
                return
            world.dealer.wrongly("draws_after_result")
            if not world.up or world.table.state.holds:
                return
            if world.table.state.phase == "burning":
                world.dealer.wrongly("burns_too_many")
                if not world.up or world.table.state.holds:
                    return
        world.dealer.clear()
        self.fund()
        if world.up and self.order("open_bets") is None and world.up:
            world.dealer.log_on()

    def fund(self) -> None:
        """Accounts of the embedded wallet are set between rounds."""
        world, players = self.world, self.players
        if not self.booked or not players.embedded:
            return
        if not self._funded:
            self._funded = world.balances(list(players.balances.items()))
        elif world.rng.random() < 0.1:
            world.balances(players.funds())

    def close_bets(self) -> None:
        """Bets come, then no more."""
        world = self.world
        if self.silent():
            return
        world.advance(ANSWER_MS)
        if world.injector.any:
            world.dealer.wrongly("draws_early")
        if not world.up:
            return
        if not self.booked:
            seats = {"seats": sorted(self.players.seated.values())} if world.game == "classic" else {}
            self.order("close_bets", **seats)
            return
        bets = self.players.bets(wrong=world.injector.any and world.rng.random() < 0.05)
        if bets:
            self.order("place_bets", round=world.round_id, bets=bets)
        if world.injector.any and world.injector.befalls("late_order"):
            world.dealer.wait()
            self.order("place_bets", round=world.round_id, bets=bets)
        elif world.up:
            self.order("close_bets")

    def insurance(self) -> None:
        """Who wants insurance buys it."""
        world = self.world
        if self.silent():
            return
        world.advance(ANSWER_MS)
        if self.booked and world.up:
            self.order("insure", round=world.round_id, players=self.players.insured())
        self._close("insurance")

    def decide(self) -> None:
        """Everybody decides, or the platform demands."""
        world = self.world
        step = world.table.state.step
        if self.silent():
            return
        world.advance(ANSWER_MS)
        if world.injector.any:
            world.dealer.wrongly("draws_in_window")
        if not world.up or world.table.state.step != step:
            return
        line, n = step.line or "", step.prefix_len or 0
        cards = _line(world.table.state.round, line)[:n]
        if not self.booked:
            self._demand(line, n, step.options, cards)
            return
        rows = self.players.decisions(line, n, step.options, cards)
        if world.injector.any and world.injector.befalls("late_order"):
            world.dealer.wait()
        self.order("decide", round=world.round_id, decisions=rows)
        if world.up and world.table.state.step == step and world.rng.random() < 0.7:
            self._close(line)
        elif world.up and world.table.state.step == step:
            world.dealer.wait()

    def follow(self) -> None:
        """Bettors behind answer."""
        world = self.world
        step = world.table.state.step
        if self.silent():
            return
        world.advance(ANSWER_MS)
        line = step.line or ""
        self.order("follow", round=world.round_id, answers=self.players.follows(line))
        if world.up and world.table.state.step == step:
            self._close(line)

    def _demand(self, line: str, n: int, options: tuple[str, ...], cards: list[str]) -> None:
        world = self.world
        draw, split = self.players.demand(line, options, cards)
        parted = world.table.state.round is not None and line in world.table.state.round.parted
        key = f"{line}/{n}/{'parted' if parted else 'whole'}"
        self.order("branch_demand", round=world.round_id, line=line, prefix_len=n, draw=draw, split=split, key=key)

    def _close(self, window: str) -> None:
        if self.world.up:
            self.order("close_decisions", round=self.world.round_id, window=window)

    def out_of_turn(self) -> None:
        """Bets and decisions when none are taken."""
        rows: list[Row] = [{"player": PLAYERS[0], "bet": "main", "stake": 100}]
        self.order("place_bets", round=self.world.round_id, bets=rows)


def _line(round_: Any, line: str) -> list[str]:
    """The faces of a line, as the screens show them."""
    if line == "dealer":
        return [c.card for c in round_.cards if c.position.startswith("dealer/")]
    if line == "main":
        return [c.card for c in round_.cards if c.position.startswith("player/")]
    mine = [c.card for c in round_.cards if c.position.rsplit("/", 1)[0] == line]
    if line.startswith("seat/"):
        return mine
    return [c.card for c in round_.cards if c.position == f"player/{line[-1]}"] + mine
