"""A virtual dealer: does with the simulated shoe what the feed's step says, and reads nothing else.

At a table with a camera it also lays the cards on the simulated felt, and turns the hole card once it is announced.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from controller.simulation.control import ControlError, ShoeControl
from controller.simulation.hands import Hands
from controller.simulation.peer import Action, Frame, Peer, arguments


class Dealer(Peer):
    """Hands at the table. Draws once for each draw step it is shown."""

    role = "dealer"

    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__(args)
        self.shoe = ShoeControl(args.control)
        self.hands = Hands(args.camera, args.shoe_log) if args.camera is not None else None
        self.hand_over = False
        self._to_turn: list[str] = []
        self._to_part: list[tuple[str, str]] = []

    def react(self, frame: Frame) -> tuple[float, Action] | None:
        """See ``Peer.react``."""
        if frame["type"] == "card_revealed":
            self._to_turn.append(frame["data"]["position"])
        if frame["type"] == "hand_split" and frame["data"]["lines"][0].startswith("seat/"):
            self._to_part.append(tuple(frame["data"]["lines"]))
        if frame["type"] != "step_opened":
            return None
        data = frame["data"]
        match data["step"]:
            case "draw" if "reveal" in data.get("others", ()) and self.hand_over:
                return None  # the shoe's lamp says that the hands are complete
            case "draw" if data.get("again"):
                return 1.0, lambda: self._hand("rescan_last")
            case "draw":
                return 1.2, lambda: self._draw(data["position"], bool(data.get("hidden")))
            case "sight" if self._to_turn:
                return 0.6, self._turn
            case "rescan" if data["left"] == self._felt():
                return 3.0, lambda: self._hand("rescan")
            case "open_bets":
                return 0.5, self._collect
            case "load_shoe":
                return 3.0, self._load
        return None

    def _felt(self) -> int:
        return int(self.shoe.ask("felt")["count"])

    def _load(self) -> bool:
        if self.shoe.ask("status")["drawn"]:
            self.shoe.ask("load")
        self._collect()
        return self.command("load_shoe")

    def _draw(self, position: str, face_down: bool) -> None:
        self._turn()
        self._hand("draw")
        self._say(lambda hands: hands.lay(position, face_down=face_down))

    def _collect(self) -> None:
        self._turn()
        self._hand("collect")
        self._say(Hands.collect)

    def _turn(self) -> None:
        """Turn and part what was announced since the last look."""
        while self._to_turn:
            self._say(partial(Hands.turn, position=self._to_turn.pop(0)))
        while self._to_part:
            first, second = self._to_part.pop(0)
            self._say(partial(Hands.move, position=f"{first}/1", to=f"{second}/0"))

    def _say(self, what: Callable[[Hands], None]) -> None:
        """Do something with the cards before the camera, if there is one."""
        if self.hands is None:
            return
        try:
            what(self.hands)
        except ControlError as error:
            print(error, file=sys.stderr, flush=True)

    def _hand(self, request: str) -> None:
        try:
            answer = self.shoe.ask(request)
            if request == "draw":
                self.hand_over = bool(answer.get("hand_over"))
        except ControlError as error:
            print(error, file=sys.stderr, flush=True)


def main() -> int:
    """Run until SIGTERM."""
    parser = arguments("a virtual dealer")
    parser.add_argument("--control", type=Path, required=True, help="control socket of the simulated shoe")
    parser.add_argument("--camera", type=Path, help="control socket of the simulated camera")
    parser.add_argument("--shoe-log", type=Path, help="with --camera: what left the shoe")
    return Dealer(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
