"""A virtual dealer: does with the simulated shoe what the feed's step says, and reads nothing else."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from controller.simulation.control import ControlError, ShoeControl
from controller.simulation.peer import Action, Frame, Peer, arguments


class Dealer(Peer):
    """Hands at the table. Draws once for each draw step it is shown."""

    role = "dealer"

    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__(args)
        self.shoe = ShoeControl(args.control)
        self.hand_over = False

    def react(self, frame: Frame) -> tuple[float, Action] | None:
        """See ``Peer.react``."""
        if frame["type"] != "step_opened":
            return None
        data = frame["data"]
        match data["step"]:
            case "draw" if "reveal" in data.get("others", ()) and self.hand_over:
                return None  # the shoe's lamp says that the hands are complete
            case "draw" if data.get("again"):
                return 1.0, lambda: self._hand("rescan_last")
            case "draw":
                return 1.2, lambda: self._hand("draw")
            case "rescan" if data["left"] == self._felt():
                return 3.0, lambda: self._hand("rescan")
            case "open_bets":
                return 0.5, lambda: self._hand("collect")
            case "load_shoe":
                return 3.0, self._load
        return None

    def _felt(self) -> int:
        return int(self.shoe.ask("felt")["count"])

    def _load(self) -> bool:
        if self.shoe.ask("status")["drawn"]:
            self.shoe.ask("load")
        self._hand("collect")
        return self.command("load_shoe")

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
    return Dealer(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
