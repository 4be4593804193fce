"""A virtual game server: opens and closes betting, and demands cards for players who are not there."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from controller.config import load
from controller.rules.scores import blackjack_score
from controller.simulation.peer import Action, Frame, Peer, arguments


class GameServer(Peer):
    """Answers the steps that are the game server's. Its choices follow from the seed and the round alone."""

    role = "game_server"

    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__(args)
        self.rounds: int | None = args.rounds
        self.played = 0
        self.game = load(args.table).config.game.game

    def react(self, frame: Frame) -> tuple[float, Action] | None:
        """See ``Peer.react``."""
        self.played += frame["type"] == "round_result"
        if frame["type"] != "step_opened":
            return None
        data = frame["data"]
        match data["step"]:
            case "open_bets" if self.rounds is None or self.played < self.rounds:
                return 2.0, lambda: self._do("open_bets")
            case "close_bets":
                return 4.0, lambda: self._close(frame)
            case "insurance":
                return 2.0, lambda: self._do("close_decisions", round=frame["round"])
            case "decide":
                return 2.0, lambda: self._demand(frame)
        return None

    def _do(self, name: str, **args: Any) -> bool:
        return self.order(name, args, None)

    def _close(self, frame: Frame) -> bool:
        if self.game != "classic":
            return self._do("close_bets")
        rng = self.rng(_shoe_number(frame), frame["round_in_shoe"], "seats")
        return self._do("close_bets", seats=sorted(rng.sample(range(1, 8), rng.randint(1, 7))))

    def _demand(self, frame: Frame) -> bool:
        data, round_ = frame["data"], self.client.state["round"]
        line, length = data["line"], data["prefix_len"]
        rng = self.rng(_shoe_number(frame), frame["round_in_shoe"], line, length)
        split = "split" in data["options"] and rng.random() < 0.5
        if line == "dealer":
            draw = rng.random() < 0.9
        else:
            total = blackjack_score(_line(round_, line)[:length]).total
            draw = rng.random() < (0.95 if total <= 11 else 0.6 if total <= 16 else 0.05)
        draw = draw and not (split and line.startswith("seat/"))
        key = f"{frame['round']}/{line}/{length}/{'parted' if line in round_['parted'] else 'whole'}"
        return self._do(
            "branch_demand", round=frame["round"], line=line, prefix_len=length, draw=draw, split=split, key=key
        )


def _shoe_number(frame: Frame) -> str:
    """The part of a shoe's id that does not depend on the day."""
    return str(frame["shoe"].rsplit("-", 1)[-1])


def _line(round_: dict[str, Any], line: str) -> list[str]:
    cards = {card["position"]: card["card"] for card in round_["cards"]}
    if line == "main":
        return [card for position, card in cards.items() if position.startswith("player/")]
    if line.startswith("seat/"):
        return [card for position, card in cards.items() if position.rsplit("/", 1)[0] == line]
    first = cards[f"player/{line[-1]}"]
    return [first, *(card for position, card in cards.items() if position.startswith(line + "/"))]


def main() -> int:
    """Run until SIGTERM."""
    parser = arguments("a virtual game server")
    parser.add_argument("--rounds", type=int, help="open no further betting after this many results")
    return GameServer(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
