"""What the simulated people share: follow the feed, and answer each step once its human pace has passed."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from controller.bus.client import TableClient
from controller.bus.errors import CommandRefused, CommandTimeout
from controller.config import load
from controller.contact import Contact, secret_of
from controller.simulation.control import ControlError

#: A table takes this long at most to come up.
START_S = 30.0
#: After a refusal the frames that explain it are on their way.
RETRY_S = 0.05

Frame = dict[str, Any]
#: What to do; False if it was refused and the present state should be looked at again.
Action = Callable[[], object]


class Peer(ABC):
    """Follows one table. ``react`` names what to do about a frame; only the newest answer is carried out."""

    role = "observer"

    def __init__(self, args: argparse.Namespace) -> None:
        loaded = load(args.table)
        contact = Contact.of(loaded, secret_of(loaded.keys, self.role, args.person))
        self.speed: float = args.speed
        self.seed: str = args.seed
        self.client: TableClient = contact.client()
        self._stop = False

    @abstractmethod
    def react(self, frame: Frame) -> tuple[float, Action] | None:
        """(seconds a person would take, what is done then) for ``frame``, or None to let it pass."""

    def rng(self, *where: object) -> Random:
        """A generator that depends on the seed and on nothing but ``where``."""
        return Random("/".join(map(str, (self.seed, *where))))

    def command(self, name: str, **args: Any) -> bool:
        """Send a command as of the state seen; a refusal is the table's right, a silent table is tried again."""
        return self.order(name, args, self.client.seq)

    def order(self, name: str, args: dict[str, Any], seen_seq: int | None) -> bool:
        """``command`` with its arguments as a mapping."""
        return self.ask(name, args, seen_seq) is not None

    def ask(self, name: str, args: dict[str, Any], seen_seq: int | None = None) -> dict[str, Any] | None:
        """Send a command and return the answer's data; None if it was refused or not answered."""
        try:
            data = self.client.command(name, args, seen_seq=seen_seq).data
        except (CommandRefused, CommandTimeout) as error:
            print(f"{name}: {error}", file=sys.stderr, flush=True)
            return None
        if not isinstance(data, dict):
            return {}
        for row in data.get("refused", ()):
            print(f"{name}: {row['player']}: {row['code']}: {row['message']}", file=sys.stderr, flush=True)
        return data

    def run(self) -> int:
        """Follow and act until SIGTERM."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        with self.client:
            waiting = self._taken(self.react(self._present()))
            while not self._stop:
                now = time.monotonic()
                if waiting is not None and waiting[0] <= now:
                    action, waiting = waiting[1], None
                    if self._did(action) is False:
                        waiting = now + RETRY_S, self._look_again
                patience = 0.5 if waiting is None else min(0.5, waiting[0] - now)
                frame = self.client.next_event(max(0.0, patience))
                if frame is None:
                    continue
                if frame["type"] == "step_opened":
                    waiting = None
                waiting = self._taken(self.react(frame)) or waiting
        return 0

    def _did(self, action: Action) -> object:
        """Do it; a simulated device that is away or refuses is tried again, too."""
        try:
            return action()
        except ControlError as error:
            print(error, file=sys.stderr, flush=True)
            return False

    def _look_again(self) -> object:
        """Act on the present state: a refusal may have been the answer to an older one."""
        answer = self.react(self._present())
        return None if answer is None else answer[1]()

    def _present(self) -> Frame:
        """The step the table stands at, in the form of the frame that would announce it."""
        deadline = time.monotonic() + START_S
        while self.client.state is None:
            if time.monotonic() > deadline:
                raise SystemExit(f"{self.role}: the table does not answer")
            self.client.next_event(0.1)
        state = self.client.state
        round_, shoe = state["round"] or {}, state["shoe"] or {}
        return {
            "type": "step_opened",
            "data": state["step"] or {"step": "wait"},
            "round": round_.get("id"),
            "shoe": shoe.get("id"),
            "round_in_shoe": round_.get("number"),
        }

    def _taken(self, answer: tuple[float, Action] | None) -> tuple[float, Action] | None:
        """``answer`` with its pace made a time of the monotonic clock."""
        if answer is None:
            return None
        pace = answer[0] / self.speed if self.speed > 0 else 0.0
        return time.monotonic() + pace, answer[1]

    def _end(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the form of a handler
        self._stop = True


def arguments(description: str) -> argparse.ArgumentParser:
    """The options every simulated person takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("table", type=Path)
    parser.add_argument("--person", required=True)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--speed", type=float, default=1.0)
    return parser
