"""A virtual floor supervisor: opens the table, resolves every hold with a legal resolution, reopens after a void."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from controller.simulation.control import ShoeControl
from controller.simulation.peer import Action, Frame, Peer, arguments

#: What the supervisor would rather do, best first. Only what the table offers is chosen.
PREFERRED = ("rescan", "burn_card", "resume", "use_as_next", "void_round", "void_round_and_shoe")
#: Shoe and camera differ (M-03): who has looked vouches for the card, or the round is void.
_DISAGREED = ("resume", "void_round", "void_round_and_shoe")
#: Whoever was about to draw when the table stopped has done so before the felt is counted, at any speed.
HANDS_OFF_S = 0.3
_LOOK_AGAIN = {"step_opened", "paused", "resumed", "incident_raised", "incident_resolved", "device_restored"}


class Supervisor(Peer):
    """Looks at the whole public state, and at the felt."""

    role = "supervisor"

    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__(args)
        self.shoe = ShoeControl(args.control)
        self._tried: set[str] = set()
        self.patience: float = args.patience

    def react(self, frame: Frame) -> tuple[float, Action] | None:
        """See ``Peer.react``."""
        if frame["type"] not in _LOOK_AGAIN:
            return None
        state = self.client.state
        step = (state["step"] or {}).get("step")
        if state["devices_lost"]:
            return None
        if state["incidents"]:
            return self.patience, self._resolve
        if step == "rescan":
            return None
        if "restart" in state["holds"]:
            return self.patience, self._prove_order
        if step == "start_shift":
            return 1.0, lambda: self._do("start_shift")
        if step == "reopen":
            return self.patience, lambda: self._do("reopen", reason="felt cleared, cards put aside")
        return None

    def _do(self, name: str, **args: object) -> bool:
        return self.order(name, dict(args), self.client.seq)

    def _prove_order(self) -> bool:
        time.sleep(HANDS_OFF_S)
        cards = self.shoe.ask("felt")["count"]
        return self._do("resume", reason="every card on the felt read again", how="rescan", cards=cards)

    def _resolve(self) -> bool:
        state = self.client.state
        number = max(state["incidents"], key=int)
        incident = state["incidents"][number]
        legal = incident["resolutions"]
        preferred = (*_DISAGREED, *PREFERRED) if incident["code"] == "M-03" else PREFERRED
        choice = next(r for r in preferred if r in legal)
        round_id = (state["round"] or {}).get("id", "burn")
        args: dict[str, object] = {}
        if choice == "rescan" and incident["code"] == "M-30":
            # Once is enough: if the felt does not agree with the record, it will not on a second reading.
            if round_id in self._tried or len(state["holds"]) > 1:
                choice = next(r for r in ("void_round", "void_round_and_shoe") if r in legal)
            else:
                self._tried.add(round_id)
                args["cards"] = self.shoe.ask("felt")["count"]
        return self._do("resolve", incident=int(number), resolution=choice, reason="checked on the felt", **args)


def main() -> int:
    """Run until SIGTERM."""
    parser = arguments("a virtual supervisor")
    parser.add_argument("--control", type=Path, required=True, help="control socket of the simulated shoe")
    parser.add_argument(
        "--patience", type=float, default=4.0, help="seconds, at human pace, before trouble is seen to (default 4)"
    )
    return Supervisor(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
