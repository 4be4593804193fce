"""A virtual game server: opens and closes betting, carries the bets of virtual players, or demands cards for players
who are not there, as the table decides by its book or by the platform."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from controller.config import load
from controller.rules.scores import blackjack_score
from controller.simulation.peer import Action, Frame, Peer, arguments
from controller.simulation.players import Players, Row


class GameServer(Peer):
    """Answers the steps that are the game server's; ``decisions = "platform"``. Its choices follow from the seed and
    the round alone."""

    role = "game_server"

    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__(args)
        self.rounds: int | None = args.rounds
        self.played = 0
        game = load(args.table).config.game
        self.game, self.seats = game.game, game.seats

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
                return 2.0, lambda: self._insure(frame)
            case "decide":
                return 2.0, lambda: self._demand(frame)
        return None

    def _do(self, name: str, **args: Any) -> bool:
        return self.order(name, args, None)

    def _insure(self, frame: Frame) -> bool:
        return self._do("close_decisions", round=frame["round"])

    def _close(self, frame: Frame) -> bool:
        if self.game != "classic":
            return self._do("close_bets")
        rng = self.rng(_shoe_number(frame), frame["round_in_shoe"], "seats")
        return self._do("close_bets", seats=sorted(rng.sample(range(1, self.seats + 1), rng.randint(1, self.seats))))

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


class BookServer(GameServer):
    """The same with ``decisions = "book"``: the table keeps the bets that this platform's players place."""

    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__(args)
        self.players = Players(self.game, self.seed, seats=self.seats)
        self._placed: tuple[str, list[Row]] = ("", [])

    def react(self, frame: Frame) -> tuple[float, Action] | None:
        """See ``Peer.react``."""
        if frame["type"] == "bets_settled":
            self._collect(frame)
        if frame["type"] == "step_opened" and frame["data"]["step"] == "follow":
            return 1.0, lambda: self._follow(frame)
        return super().react(frame)

    def _where(self, frame: Frame) -> tuple[str, int]:
        return _shoe_number(frame), frame["round_in_shoe"]

    def _close(self, frame: Frame) -> bool:
        round_ = frame["round"]
        if self._placed[0] != round_:  # after a pause the same bets again: the table knows them
            self._placed = (round_, self.players.bets(round_, *self._where(frame)))
        if self._placed[1] and self.ask("place_bets", {"round": round_, "bets": self._placed[1]}) is None:
            return False
        return self._do("close_bets")

    def _insure(self, frame: Frame) -> bool:
        rows = self.players.insured(*self._where(frame))
        self._send("insure", {"round": frame["round"], "players": rows})
        return self._do("close_decisions", round=frame["round"])

    def _demand(self, frame: Frame) -> bool:
        data, (shoe, number) = frame["data"], self._where(frame)
        line, length = data["line"], data["prefix_len"]
        total = blackjack_score(_line(self.client.state["round"], line)[:length]).total
        rows = self.players.decisions((shoe, number, line, length), data["options"], total)
        return self._answer("decide", "decisions", frame, rows)

    def _follow(self, frame: Frame) -> bool:
        return self._answer(
            "follow", "answers", frame, self.players.follows(*self._where(frame), frame["data"]["line"])
        )

    def _answer(self, name: str, rows_name: str, frame: Frame, rows: list[Row]) -> bool:
        """Send what players answer; who is missing declines, for the window is closed at once."""
        found = self._send(name, {"round": frame["round"], rows_name: rows})
        if found is None:
            return False
        if found.get("undecided"):
            self.ask("close_decisions", {"round": frame["round"], "window": frame["data"]["line"]})
        return True

    def _send(self, name: str, args: dict[str, Any]) -> dict[str, Any] | None:
        found = self.ask(name, args)
        self.players.paid((found or {}).get("instructions", ()))
        return found

    def _collect(self, frame: Frame) -> None:
        """Pay or refund the players as the table says, page by page."""
        after, more = None, True
        while more:
            args = {"round": frame["round"], "version": frame["data"]["version"], "after": after}
            page = self.ask("settlement", args)
            if page is None:
                return
            self.players.paid(page["instructions"])
            after, more = page["after"], page["more"]


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
    args = parser.parse_args()
    by_book = load(args.table).config.game.decisions == "book"
    return (BookServer if by_book else GameServer)(args).run()


if __name__ == "__main__":
    sys.exit(main())
