"""Driver of the Angel Eye II / II-EX shoe (hardware page 1.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import ClassVar, Final

from drivers.angel.codec import COPY_WINDOW_S, AngelDecoder
from drivers.angel.commands import (
    CLEAR_ERROR,
    CONFIRM_GAME,
    DISCARD_OVERDRAWN,
    LOCK,
    UNLOCK,
    USE_OVERDRAWN,
    Command,
)
from drivers.angel.dialogue import Dialogue, Result
from drivers.decoder import Decoder
from drivers.errors import SettingsError
from drivers.lock import wanted_lock
from drivers.reconnect import LinkState
from drivers.settings import Capabilities, LineSettings, ShoeSettings
from drivers.shoe import ShoeDriver

# "triple about 50-150 ms": a shorter window would take the copies of one telegram for several.
MIN_COPY_WINDOW_S: Final = 0.2

_ACTIONS: Final[Mapping[str, Command]] = {
    "lock": LOCK,
    "unlock": UNLOCK,
    "clear_error": CLEAR_ERROR,
    "use_overdrawn": USE_OVERDRAWN,
    "discard_overdrawn": DISCARD_OVERDRAWN,
}


class AngelShoe(ShoeDriver):
    """A baccarat shoe that knows the game: places, results, errors, cut card.

    Made from three public implementations and one public capture, not run on a shoe [I]. In hidden mode cards
    are drawn as ``**`` and revealed after the hand; in open mode their faces come with the draw.

    Commands name a state to be in, so they may be repeated; each returns at once, and its future holds how it
    ended. They were not seen on hardware, and their check is disputed in the sources (setting ``bcc``). By itself
    the driver sends nothing unless ``lock = "on"``: then it keeps the exit locked while ``allow`` forbids a draw,
    and has the last word over ``lock`` and ``unlock``.
    """

    protocol: ClassVar[str] = "angel"
    capabilities: ClassVar[Capabilities] = Capabilities(
        identity_at_draw=None, positions=True, results=True, standby=True, sequence_numbers=True,
        actions=tuple(_ACTIONS),
    )  # fmt: skip
    # "RS-232C, 4800 baud, 8N1, no flow control"; "one test unit at 9600"
    default_line: ClassVar[LineSettings] = LineSettings(baudrate=4800)
    decoder_class: ClassVar[type[AngelDecoder]] = AngelDecoder

    def __init__(self, settings: ShoeSettings) -> None:
        """See ``ShoeDriver``."""
        self._dialogue = Dialogue(settings.bcc)
        super().__init__(settings)

    def make_decoder(self) -> Decoder:
        """See ``ShoeDriver.make_decoder``. Raises ``SettingsError`` for a window below ``MIN_COPY_WINDOW_S``."""
        window = self.settings.window(COPY_WINDOW_S)
        if window < MIN_COPY_WINDOW_S:
            raise SettingsError(
                f"repeat_window_s is {window}: angel needs {MIN_COPY_WINDOW_S} or more, for the three copies"
            )
        return self.decoder_class(window, self._dialogue)

    def unverified(self) -> str | None:
        """See the class."""
        lock = ""
        if self.settings.lock == "on":
            lock = f"; its lock is used, with a check read {self.settings.bcc}, which no public source saw on a shoe"
        return (
            f"made from public sources and a capture, not yet run on a shoe{lock}; run the shoe self-test before use"
        )

    @property
    def locked(self) -> bool | None:
        """Whether the exit is locked, as the shoe last said; None if it said nothing since it came up."""
        return self._dialogue.lock.locked

    @property
    def lock_fault(self) -> str | None:
        """Why the exit does not follow the procedure although ``lock = "on"``; None if it does."""
        return self._dialogue.lock_fault

    def stop(self) -> None:
        """See ``ShoeDriver.stop``; commands that wait are answered as not sent."""
        super().stop()
        self._dialogue.interrupted()

    def allow(self, draw: bool) -> None:
        """See ``ShoeDriver.allow``: with ``lock = "on"`` the exit is open only while a draw is allowed."""
        if self._dialogue.lock.want(wanted_lock(self.settings.lock, draw)):
            self.wake()

    def do(self, action: str, then: Callable[[bool, str], None]) -> None:
        """See ``ShoeDriver.do``."""
        if action not in _ACTIONS:
            return super().do(action, then)
        asked = self._ask(_ACTIONS[action])
        asked.add_done_callback(lambda done: then(done.result().ok, done.result().text))
        return None

    def lock(self) -> Future[Result]:
        """The exit is locked."""
        return self._ask(LOCK)

    def unlock(self) -> Future[Result]:
        """The exit is unlocked."""
        return self._ask(UNLOCK)

    def clear_error(self, *, use: bool | None = None) -> Future[Result]:
        """The shoe reports no error. After an over-draw ``use`` decides: True takes the card as the first of the
        next hand, False discards it; None only cancels."""
        return self._ask({None: CLEAR_ERROR, True: USE_OVERDRAWN, False: DISCARD_OVERDRAWN}[use])

    def confirm_game(self) -> Future[Result]:
        """Ask for the "game process confirmation"; what the shoe answers is not public."""
        return self._ask(CONFIRM_GAME)

    def _ask(self, command: Command) -> Future[Result]:
        if self.state is not LinkState.OPEN:
            future: Future[Result] = Future()
            future.set_result(Result(False, f"not sent: {self.settings.port} is {self.state.value}"))
            return future
        future = self._dialogue.ask(command)
        self.wake()
        return future
