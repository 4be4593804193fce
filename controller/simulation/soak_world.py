"""One session of a soak: a table with everybody around it in virtual time, driven by one seed.

Each turn somebody does one thing: the dealer draws, the server answers a window, the supervisor lifts a hold, the
process dies. After every input the checks look at all that came of it.

Not simulated: what the modules of its parts leave out; the wire of the bus, and the console.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any, Final

from controller.book.rows import BalanceRequest
from controller.book.setting import BookSetting
from controller.commands import Envelope
from controller.journal.store import JournalError
from controller.refusal import Refusal
from controller.rules.options import GameOptions
from controller.simulation.soak_camera import Camera
from controller.simulation.soak_cards import Card
from controller.simulation.soak_checks import Checks
from controller.simulation.soak_dealer import Dealer
from controller.simulation.soak_faults import PROTOCOLS, Injector
from controller.simulation.soak_journal import TABLE, Died, Shell
from controller.simulation.soak_odds import Broken
from controller.simulation.soak_players import Players
from controller.simulation.soak_server import Server
from controller.simulation.soak_shoe import Line
from controller.simulation.soak_supervisor import Supervisor
from controller.table.draft import Setting
from controller.table.inputs import BalancesInput, DeadlineInput, Input, ShoeInput
from controller.table.state import Traits
from controller.table.table import Outcome, Table
from drivers import events as e

#: A round that takes more turns than this does not come to its end.
STUCK: Final = 400
_FINAL: Final = ("round_result", "round_voided")


class World:
    """One table from its first shift to the last of ``rounds`` rounds."""

    def __init__(
        self,
        game: str,
        seed: str,
        folder: Path | None,
        faults: tuple[str, ...],
        muted: frozenset[str],
        *,
        watched: bool = False,
    ) -> None:
        self.game, self.seed = game, seed
        self.rng = Random(seed)
        self.now = 1_000
        self.lag = 0  # a slow disk held the table up
        self.up = True
        self.rounds = self.results = self.steps = self.inputs = 0
        protocols = PROTOCOLS if game == "baccarat" else PROTOCOLS[:3]
        #: RFID takes more time to simulate than the others: fewer sessions have it.
        self.protocol = self.rng.choices(protocols, (4, 3, 1, 3)[: len(protocols)])[0] if faults else "line"
        self.injector = Injector(seed, faults, muted, self.protocol, watched)
        self.booked = not faults or self.rng.random() < 0.85
        self.embedded = self.rng.random() < 0.5
        self.options = self._options(plain=not faults)
        self.line = Line(self.protocol, seed, self, angel_open=self.rng.random() < 0.5)
        deep = bool(faults)
        self.checks = Checks(
            self.options, self.line, booked=self.booked, embedded=self.embedded, deep=deep, watched=watched
        )
        self.checked = deep
        self.line.counted = self.checks.counted
        angel = self.protocol == "angel"
        traits = Traits(positions=angel, results=angel, standby=angel)
        self.shell = Shell(
            folder,
            Setting(TABLE, self.options, traits, self._book(), sources="both" if watched else "shoe"),
            self.checks.feed.frame,
        )
        self.players = Players(game, self.options.seats, self.rng, embedded=self.embedded)
        self.server = Server(self, self.players)
        self.camera = Camera(self, seed) if watched else None
        self.dealer = Dealer(self)
        self.supervisor = Supervisor(self)
        self._card: Card | None = None
        self._event: e.Event | None = None
        self._ids = 0
        self._since_round = 0
        self._start()

    def _options(self, *, plain: bool) -> GameOptions:
        rng = self.rng
        rules: dict[str, Any] = {"decisions": "book" if self.booked else "platform"}
        if not plain:
            rules["last_round_policy"] = rng.choice(("next", "current"))
            rules["auto_void_after_s"] = rng.choice((0.0, 60.0, 300.0))
            if self.game != "baccarat":
                rules["double_after_split"] = rng.random() < 0.6
                rules["dealer_draws"] = rng.choice(("needed", "always"))
                rules["split_second"] = rng.choice(("both", "as_played"))
                rules["surrender_against"] = rng.choice(("two_to_nine", "two_to_ten"))
            if self.game == "boundless":
                rules["split_order"] = rng.choice(("main_first", "split_first"))
            if self.game == "classic":
                rules |= {"seats": rng.randrange(1, 8), "obo": rng.random() < 0.5, "idle_rounds_to_vacate": 2}
            if self.protocol != "angel":
                rules["burn"] = rng.choice(("by_first_card", "by_first_card", "one", "none"))
            rules["reconcile"] = rng.choice(("off", "count", "count"))
            rules["reserve"] = rng.choice((None, None, 0))
            rules["dealer_log_on"] = rng.choice(("optional", "required"))
            rules["confirm_result"] = rng.random() < 0.3
            rules["on_error"] = rng.choice((None, "pause_and_resolve", "cancel_and_reshuffle", "void_affected"))
            rules["on_restart"] = rng.choice((None, "resume", "void_round_and_shoe"))
            rules["position_error_policy"] = rng.choice(("leave_and_compensate", "reassign", "void"))
        return GameOptions(game=self.game, **rules)  # type: ignore[arg-type]

    def _book(self) -> BookSetting | None:
        if not self.booked:
            return None
        rules = self.options
        return BookSetting(
            table=TABLE,
            game=rules.game,
            wallet="embedded" if self.embedded else "platform",
            seats=rules.seats,
            obo=rules.obo,
            idle_rounds_to_vacate=rules.idle_rounds_to_vacate,
        )

    @property
    def table(self) -> Table:
        """The table of the process that is up."""
        return self.shell.table

    @property
    def round_id(self) -> str:
        """The round in progress, ``none`` before the first."""
        round_ = self.table.state.round
        return round_.id if round_ is not None else "none"

    # --- the one way in --------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._after(self.shell.begin(self.now))
        self.line.restarted()
        self.order("start_shift", "supervisor")

    def put(self, what: Input) -> Outcome | None:
        """One input; None if the process died of it, or is not up."""
        if not self.up:
            return None
        try:
            self._commit_fault()
            outcome = self.shell.take(what, self.now)
        except (Died, JournalError):
            self._died()
            return None
        self._after(outcome)
        return outcome

    def _commit_fault(self) -> None:
        kind = self.injector.one_of("commit") if self.injector.any else None
        if kind == "slow_disk":  # the line has a thread of its own: what is on its way keeps its times
            self.lag += self.rng.choice((500, 3_000, 20_000))
        elif kind is not None:
            self.shell.death = kind  # type: ignore[assignment]

    def _after(self, outcome: Outcome) -> None:
        self.inputs += 1
        self.shell.death = None
        if outcome.refusal is not None:
            return
        if self.checked:
            self.checks.step(outcome.records, outcome.state, self._card, self._event)
        for record in outcome.records:
            if self.camera is not None:
                self.camera.follow(record.fact, self._card)
            kind = record.fact.type
            if kind in _FINAL:
                self._ended(kind)
            elif kind in ("incident_raised", "device_lost", "paused", "read_repeated", "device_reported"):
                self.injector.trace()

    def _ended(self, kind: str) -> None:
        self.rounds += 1
        self.results += kind == "round_result"
        self._since_round = 0
        blamed = frozenset(self.checks.blamed)
        missed = kind == "round_result" and bool(blamed)
        self.injector.ended("missed" if missed else "corrected" if kind == "round_result" else "voided", blamed)
        self.checks.blamed.clear()
        self.checks.wrong.clear()

    def _died(self) -> None:
        self.up = False
        self.injector.trace()
        self.shell.die()
        if self.shell.durable is not None:
            self._after(self.shell.durable)
            self.shell.durable = None

    def shoe_event(self, event: e.Event) -> None:
        """See ``soak_shoe.Table``."""
        if not self.up:
            return
        before = self._card, self._event
        self._card, self._event = self.line.attribute(event), event
        self.put(ShoeInput(event))
        self._card, self._event = before

    def advance(self, ms: int) -> None:
        """Let ``ms`` milliseconds pass, with every deadline in them."""
        end = self.now + ms
        if self.camera is not None:
            self.camera.report(end)
        for _ in range(1_000):
            found = self.table.deadline() if self.up else None
            if found is None or found[1] > end:
                self.now = max(self.now, end)
                return
            self.now = max(self.now, found[1])
            self.put(DeadlineInput(found[0]))
        raise Broken("a deadline comes again and again")

    def order(
        self,
        name: str,
        role: str,
        *,
        twice: bool = False,
        seen_seq: int | None = None,
        person: str = "ann",
        **args: Any,
    ) -> Any:
        """A command: the outcome, or None if it is refused or the process dies."""
        if not self.up:
            return None
        self._ids += 1
        seen_seq = self.table.state.seq if seen_seq is None else seen_seq
        envelope = Envelope(id=f"soak-{self._ids:08d}", command=name, args=args, seen_seq=seen_seq)
        try:
            self._commit_fault()
            outcome = self.shell.order(envelope, role, self.now, person)
            if twice:
                n = self.table.state.n
                again = self.shell.order(envelope, role, self.now, person)
                refused = isinstance(outcome, Outcome) and outcome.refusal is not None
                if not refused and not (isinstance(again, bytes) and self.table.state.n == n):
                    raise Broken(f"{name} was carried out twice")
        except Refusal:
            self.shell.death = None
            return None
        except (Died, JournalError):
            self._died()
            return None
        assert isinstance(outcome, Outcome)
        self._after(outcome)
        return None if outcome.refusal is not None else outcome

    def balances(self, rows: list[tuple[str, int]]) -> bool:
        """Accounts of the embedded wallet are set."""
        return self.put(BalancesInput(tuple(BalanceRequest(p, amount) for p, amount in rows))) is not None

    # --- turns -----------------------------------------------------------------------------------------------------

    def turn(self) -> None:
        """Somebody does something. Raises ``Broken`` if afterwards something does not hold."""
        self.steps += 1
        self._since_round += 1
        self.now, self.lag = self.now + self.lag, 0
        if self._since_round > STUCK:
            raise Broken(f"the table does not come to another round: {self.table.state.step}")
        if not self.up:
            self._restart()
            return
        if self.injector.any and self._befallen():
            return
        state = self.table.state
        n = state.n
        if state.holds and state.step.kind != "rescan":
            self._held()
        else:
            self._step_on(state.step.kind)
        if self.camera is not None:
            self.camera.look()
        if self.up and self.table.state.n == n:
            self._idle()

    def _idle(self) -> None:
        """Nothing happened: time passes, and a supervisor who sees no end of it voids."""
        self.dealer.wait()
        if self.up and self._since_round % 20 == 19:
            self.supervisor.give_up("nothing goes on")

    def _held(self) -> None:
        if self.injector.any and "device:shoe" not in self.table.state.holds:
            self.dealer.wrongly("draws_while_held")
        if self.up:
            self.supervisor.lift()

    def _step_on(self, kind: str) -> None:
        match kind:
            case "draw":
                self.dealer.draw()
            case "rescan":
                self.dealer.rescan()
            case "sight" if self.camera is not None and self.camera.attend():
                pass
            case "load_shoe":
                self.dealer.load()
            case "open_bets":
                self.server.open_bets()
            case "close_bets":
                self.server.close_bets()
            case "insurance":
                self.server.insurance()
            case "decide":
                self.server.decide()
            case "follow":
                self.server.follow()
            case "reopen":
                self.supervisor.reopen()
            case "confirm":
                self.dealer.confirm()
            case "start_shift":
                self.order("start_shift", "supervisor")
            case _:
                self.dealer.wait()

    def _befallen(self) -> bool:
        """A fault that needs no occasion; True if it took this turn."""
        kind = self.injector.one_of("turn")
        match kind:
            case None:
                return False
            case "kill":
                self.shell.die(expected=self.table.state)
                self.up = False
                self.injector.trace()
            case "clock_step":
                self.shell.wall += self.rng.randint(-3_600_000, 3_600_000)
                return False
            case "stale_order":
                seen = self.table.state.supervised_seq - 1
                if seen >= 0 and self.order("void", "supervisor", seen_seq=seen, reason="an old screen") is not None:
                    raise Broken("a command from an old screen was carried out")
                return False
            case "pause":
                self.order("pause", "supervisor", reason="a look at the table")
            case "void":
                shoe = self.protocol == "angel"  # its hand goes on in the shoe: only another one is sure to agree
                self.order("void", "supervisor", reason="a card fell on the floor", shoe=shoe)
            case "void_shoe":
                self.order("void", "supervisor", reason="the shoe was not shuffled", shoe=True)
            case "camera_lost" if self.camera is not None:
                self.camera.fail()
            case "unplug_idle":
                self.line.unplug(self.rng.choice((0.5, 3.0, 400.0)))
        return True

    def _restart(self) -> None:
        """The process is down for a while, then another one comes up."""
        if self.injector.befalls("draws_when_down"):
            self.line.draw()
            for card in self.line.felt[-1:]:
                card.noise = True
        self.now += self.rng.choice((300, 2_000, 30_000, 600_000))
        if not self.line.connected and self.now >= self.line.back_at:
            self.line.connected = True
        try:
            self._commit_fault()
            outcome = self.shell.start(self.now)
        except (Died, JournalError):
            self._died()
            return
        self.up = True
        self._after(outcome)
        shoe = outcome.state.shoe
        self.line.restarted(shoe.tags if shoe is not None else frozenset())
