"""A platform's wallet beside the real actor and journal: whatever crashes, no money is lost or moved twice.

The platform debits a bet before it sends it, sends a command again under its id until it is answered, and carries out
each instruction once, by its transaction id. The actor dies on either side of any commit and comes up on its journal.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from controller.book.hands import HandBook
from controller.book.setting import BookSetting
from controller.bus.errors import CommandRefused
from controller.bus.hub import Request
from controller.cards import shuffled_shoe
from controller.commands import Settlement as SettlementArgs
from controller.journal.reader import open_read_only
from controller.journal.store import TRANSACTIONS_KEPT_MS, Journal
from controller.journal.verify import verify
from controller.record import settlements
from controller.record.queries import answer
from controller.record.settlements import Pages
from controller.record.statistics import Statistics
from controller.rules.options import GameOptions
from controller.service.actor import Actor
from controller.table.draft import Setting
from controller.table.inputs import DeadlineInput, ShoeInput, Start
from controller.table.table import Table
from drivers import events as e

PLAYERS = [f"P{n}" for n in range(6)]
START = 10_000
DAY_MS = 24 * 3600 * 1000


class Killed(Exception):
    """The process died here."""


class Hub:
    """The actor's sockets: what it answers."""

    def __init__(self) -> None:
        self.answer: dict[str, Any] = {}
        self.woken = threading.Event()

    def publish(self, frame: bytes) -> None: ...

    def wake(self) -> None:
        self.woken.set()

    def reply(self, _request: Request, body: bytes) -> None:
        self.answer = json.loads(body)


class House:
    """A table's process, that can die at a commit; its journal stays."""

    def __init__(self, path: Path, game: str, kill: Callable[[], bool], **rules: Any) -> None:
        options = GameOptions(game=game, burn="none", peek_delay_s=0.0, **rules)  # type: ignore[arg-type]
        book = BookSetting(table="t-1", game=game, wallet="platform", seats=options.seats)  # type: ignore[arg-type]
        self.setting = Setting("t-1", options, book=book)
        self.path, self.kill = path, kill
        self.wall = 1_800_000_000_000
        self.deaths = 0
        self.journal: Journal | None = None
        self.born()

    def born(self) -> None:
        """Come up on the journal; it may die again on the way."""
        while True:
            self.journal = Journal.create_or_open(self.path, table="t-1", now_ms=0, on_commit=self._commit)
            self.table, self.hub = Table(self.setting), Hub()
            self.actor = Actor(self.table, self.journal, self.hub, wall=lambda: self.wall)  # type: ignore[arg-type]
            try:
                self.actor.recover()
                self.actor.begin(Start("test", "", "{}"))
                self.actor._take(ShoeInput(e.PortRestored("pty")))
                return
            except Killed:
                self.died()

    def died(self) -> None:
        assert self.journal is not None
        self.actor._desk.close()
        self.journal.close()
        self.deaths += 1

    def _commit(self, when: str) -> None:
        if self.kill():
            raise Killed(when)

    def alive(self, action: Callable[[], Any]) -> bool:
        """Do it; false if it died doing so, and is up again."""
        try:
            action()
        except Killed:
            self.come_back()
            return False
        return True

    def come_back(self) -> None:
        """Dead, up again, and its felt confirmed by a supervisor."""
        self.died()
        self.born()
        while "restart" in self.table.state.holds:
            args = {"reason": "as recorded", "how": "felt_agrees"}
            order = {"id": f"resume-{self.deaths:04d}", "command": "resume", "args": args}
            body = json.dumps(order | {"seen_seq": self.table.state.seq}).encode()
            try:
                self.actor._serve(Request(b"", "supervisor", "pat", body))
            except Killed:
                self.died()
                self.born()

    def send(self, id_: str, name: str, role: str = "game_server", **args: Any) -> Any:
        """A command under its id until it is answered."""
        while True:
            body = json.dumps(
                {"id": id_, "command": name, "args": args, "seen_seq": self.table.state.seq}
                if role == "supervisor"
                else {"id": id_, "command": name, "args": args}
            )
            self.hub.answer = {}
            if self.alive(lambda body=body: self.actor._serve(Request(b"", role, "pat", body.encode()))):
                return self.hub.answer or self._from_the_desk()

    def _from_the_desk(self) -> Any:
        """What another thread answers from the record."""
        while not (answers := self.actor._desk.answers()):
            assert self.hub.woken.wait(30)
            self.hub.woken.clear()
        return json.loads(answers[0][-1])


class Platform:
    """The wallet: a balance each, every transaction once."""

    def __init__(self) -> None:
        self.balances = dict.fromkeys(PLAYERS, START)
        self.done: dict[str, tuple[str, str, int]] = {}
        self.repeats = 0

    def debit_bet(self, player: str, stake: int, transaction: str) -> None:
        self.move(transaction, "debit", player, stake)

    def move(self, transaction: str, kind: str, player: str, amount: int, reference: str | None = None) -> None:
        """Once: the same id must say the same thing again."""
        assert amount >= 0
        if transaction in self.done:
            assert self.done[transaction] == (kind, player, amount)
            self.repeats += 1
            return
        self.done[transaction] = (kind, player, amount)
        self.balances[player] += -amount if kind == "debit" else amount
        if kind == "refund":
            assert self.done[reference or ""] == ("debit", player, amount)

    def carry_out(self, instructions: list[dict[str, Any]]) -> None:
        for one in instructions:
            self.move(one["transaction"], one["kind"], one["player"], one["amount"], one.get("reference"))


class Game:
    """Plays rounds at a house until the platform has settled them too. Choices follow from round and hand alone."""

    def __init__(self, house: House, seed: int) -> None:
        self.house, self.seed = house, seed
        self.platform = Platform()
        self.shoes, self.shoe = 0, [""]
        self.rounds: list[str] = []
        self.pulled: dict[str, list[dict[str, Any]]] = {}
        self.voided: list[str] = []

    @property
    def state(self) -> Any:
        return self.house.table.state

    def choice(self, *what: object) -> Random:
        return Random(f"{self.seed}/{what}")

    def play(self, rounds: int) -> None:
        """So many rounds from a closed table."""
        self.house.send("start-shift", "start_shift", "supervisor")
        while len(self.rounds) < rounds or self.state.round_open or self.state.book.unposted:
            self.turn()
        self.finish()

    def turn(self) -> None:
        """One thing that the table waits for."""
        state, house = self.state, self.house
        found = house.table.deadline()
        if found is not None and found[0] == "post":
            house.alive(lambda: house.actor._take(DeadlineInput("post")))
            return
        step, round_ = state.step, state.round.id if state.round else ""
        match step.kind:
            case "load_shoe":
                self.shoes += 1
                self.shoe = shuffled_shoe(Random(f"{self.seed}/{self.shoes}"))
                house.send(f"load-shoe-{self.shoes}", "load_shoe", "dealer")
            case "reopen":
                house.send(f"reopen-{round_}", "reopen", "supervisor", reason="go on")
            case "open_bets":
                self.finish()
                answer = house.send(f"open-bets-{len(self.rounds):03d}", "open_bets")
                self.rounds.append(answer["data"]["round"])
            case "close_bets":
                self.bet(round_)
                house.send(f"close-{round_}", "close_bets")
            case "draw" if self.choice(round_, state.shoe.out).random() < 0.02:
                house.send(f"void-{round_}", "void", "supervisor", reason="it slipped")
                self.voided.append(round_)
            case "draw":
                house.alive(lambda: house.actor._take(ShoeInput(e.CardDrawn(self.shoe[state.shoe.out]))))
            case "insurance":
                players = [{"player": p} for p in PLAYERS if self.choice(round_, p).random() < 0.5]
                self.reply(house.send(f"insure-{round_}", "insure", round=round_, players=players))
                house.send(f"insured-{round_}", "close_decisions", round=round_, window="insurance")
            case "decide":
                self.decide(round_, step)
            case "follow":
                self.follow(round_, step)
            case "peek":
                house.alive(lambda: house.actor._take(DeadlineInput("step")))
            case other:
                raise AssertionError(other)

    def bet(self, round_: str) -> None:
        """Debits first. Whoever is refused gets his debit back."""
        bets = self.wishes(round_)
        for bet in bets:
            self.platform.debit_bet(bet["player"], bet["stake"], bet["transaction"])
            bet["available"] = self.platform.balances[bet["player"]]
        answer = self.house.send(f"bets-{round_}", "place_bets", round=round_, bets=bets)
        assert answer["ok"], answer
        for refused in answer["data"]["refused"]:
            bet = bets[refused["index"]]
            self.platform.move(
                f"back-{bet['transaction']}", "refund", bet["player"], bet["stake"], bet["transaction"]
            )

    def wishes(self, round_: str) -> list[dict[str, Any]]:
        rng, game, found = self.choice(round_), self.house.setting.rules.game, []
        for number, player in enumerate(PLAYERS):
            if game == "baccarat":
                found += [(player, bet, None, False) for bet in rng.sample(["PLAYER", "BANKER", "TIE"], 2)]
            elif game == "boundless":
                found += [(player, bet, None, False) for bet in ("main", "pairs", "bust_bonus") if rng.random() < 0.7]
            else:
                found += [(player, bet, number % 3 + 1, number >= 3) for bet in ("main", "pair")]
        return [
            {"player": p, "bet": bet, "stake": rng.randrange(1, 99), "transaction": f"w-{round_}-{p}-{bet}"}
            | ({} if box is None else {"box": box, "behind": behind})
            for p, bet, box, behind in found
        ]

    def decide(self, round_: str, step: Any) -> None:
        book = self.state.book
        assert isinstance(book, HandBook)
        line, n = step.line, step.prefix_len
        rows = [
            {"player": p, "line": line, "n": n, "request": self.choice(round_, line, n, p).choice(step.options)}
            for p in PLAYERS
            if self.choice(round_, line, n, p, "awake").random() < 0.9
        ]
        parted = len(self.state.round.parted)
        self.reply(
            self.house.send(f"decide-{round_}-{line}-{n}-{parted}"[-64:], "decide", round=round_, decisions=rows)
        )
        now = self.state
        if (now.step.kind, now.step.line, now.step.prefix_len, len(now.round.parted)) == ("decide", line, n, parted):
            self.house.send(f"lock-{round_}-{line}-{n}-{parted}"[-64:], "close_decisions", round=round_, window=line)

    def follow(self, round_: str, step: Any) -> None:
        kind = self.state.book.follow.kind
        answers = [
            {"player": p, "line": step.line, "follow": self.choice(round_, step.line, p).random() < 0.7}
            for p in PLAYERS[3:]
        ]
        name = f"{round_}-{step.line}-{kind}-{len(self.state.round.parted)}"
        self.reply(self.house.send(f"follow-{name}"[-64:], "follow", round=round_, answers=answers))
        if self.state.step.kind == "follow":
            self.house.send(f"nomore-{name}"[-64:], "close_decisions", round=round_, window=step.line)

    def reply(self, answer: dict[str, Any]) -> None:
        """What the answer tells the wallet to do."""
        assert answer["ok"], answer
        self.platform.carry_out(answer["data"].get("instructions", []))

    def finish(self) -> None:
        """Pull what the last round comes to, page by page."""
        if not self.rounds:
            return
        after, found = None, self.pulled.setdefault(self.rounds[-1], [])
        found.clear()
        while True:
            args = {"round": self.rounds[-1]} | ({} if after is None else {"after": after})
            answer = self.house.send("settlement-query", "settlement", **args)
            self.reply(answer)
            found += answer["data"]["rows"] + answer["data"]["instructions"]
            if not answer["data"]["more"]:
                return
            after = answer["data"]["after"]


def never() -> bool:
    return False


def sometimes(rng: Random, rate: float) -> Callable[[], bool]:
    return lambda: rng.random() < rate


@pytest.fixture
def houses() -> Iterator[list[House]]:
    """Closed at the end."""
    found: list[House] = []
    yield found
    for house in found:
        house.died()


@pytest.mark.parametrize("game", ["boundless", "classic", "baccarat"])
def test_no_money_is_lost_or_moved_twice_whatever_crashes(tmp_path: Path, houses: list[House], game: str) -> None:
    """The same rounds with and without deaths leave the same balances by the same transactions."""
    rules = {"seats": 3, "double_after_split": True} if game == "classic" else {}
    calm = House(tmp_path / "calm.journal", game, never, **rules)
    houses.append(calm)
    first = Game(calm, seed=5)
    first.play(12)
    deadly = House(tmp_path / "deadly.journal", game, sometimes(Random(game), 0.08), **rules)
    houses.append(deadly)
    second = Game(deadly, seed=5)
    second.play(12)
    assert deadly.deaths > 10
    assert (second.rounds, second.voided) == (first.rounds, first.voided)
    assert second.platform.done == first.platform.done
    assert second.platform.balances == first.platform.balances
    assert list(from_the_record(deadly.path, second.rounds)) == list(second.pulled.items())
    for house, played in ((calm, first), (deadly, second)):
        audit = house.table.state.book.check()  # type: ignore[union-attr]
        assert audit.at_risk == audit.unpaid == 0
        assert sum(played.platform.balances.values()) == START * len(PLAYERS) - audit.house
        assert verify(house.path).ok


def from_the_record(path: Path, rounds: list[str]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """What the platform pulled, pulled again later, a few players at a time."""
    for round_ in rounds:
        found, pages, after, more = [], Pages(), None, True
        with open_read_only(path) as journal, pytest.MonkeyPatch.context() as patch:
            patch.setattr(settlements, "PAGE", 4)
            while more:
                data = answer(journal, SettlementArgs(round=round_, after=after), Statistics(), pages)
                found.append(json.loads(json.dumps(data)))
                after, more = data["after"], data["more"]
        assert [len(data["rows"]) for data in found] == [4, 2]
        yield (
            round_,
            [row for data in found for row in data["rows"]]
            + [order for data in found for order in data["instructions"]],
        )


def place(house: House, id_: str, *bets: dict[str, Any]) -> Any:
    rows = [{"bet": "TIE", "stake": 5, "available": 0} | bet for bet in bets]
    return house.send(id_, "place_bets", round=house.table.state.round.id, bets=rows)["data"]  # type: ignore[union-attr]


def codes(answer: Any) -> list[tuple[int, str]]:
    return [(row["index"], row["code"]) for row in answer["refused"]]


def test_a_debit_is_good_for_one_bet_in_any_round(tmp_path: Path, houses: list[House]) -> None:
    """Its transaction is known in later rounds, after a restart, and four months long; never in memory alone."""
    house = House(tmp_path / "t.journal", "baccarat", never)
    houses.append(house)
    game = Game(house, seed=1)
    house.send("start-shift", "start_shift", "supervisor")
    house.send("load-shoe-1", "load_shoe", "dealer")
    house.send("open-bets-1", "open_bets")
    game.rounds.append(house.table.state.round.id)
    sent = {"player": "A", "transaction": "w-1"}
    assert place(house, "bets-0001", sent)["accepted"] == 1

    again = place(house, "bets-0002", sent, {"player": "A", "bet": "PLAYER", "transaction": "w-2"})
    assert (again["accepted"], again["refused"]) == (2, [])  # it missed the answer: the same bet stands, once
    assert house.table.state.book.staked == 10
    other = place(house, "bets-0003", sent | {"stake": 6}, sent | {"player": "B"}, sent | {"bet": "BANKER"})
    assert codes(other) == [(0, "transaction_known"), (1, "transaction_known"), (2, "transaction_known")]

    house.send("void-round-1", "void", "supervisor", reason="to the next")
    house.send("reopen-rd-1", "reopen", "supervisor", reason="go on")
    for restart in (False, True):
        if restart:
            house.come_back()
        else:
            house.send("open-bets-2", "open_bets")
        late = place(house, f"bets-01{restart:02d}", sent, {"player": f"B{restart}", "transaction": f"w-3{restart}"})
        assert codes(late) == [(0, "transaction_known")]
        assert late["accepted"] == 1

    assert house.journal is not None
    asked = ["w-1", "w-2", "w-3True", "w-4"]
    assert house.journal.spent(asked) == {"w-1", "w-2", "w-3True"}
    house.journal.forget(house.wall + TRANSACTIONS_KEPT_MS)
    assert house.journal.spent(asked) == {"w-1", "w-2", "w-3True"}
    house.journal.forget(house.wall + TRANSACTIONS_KEPT_MS + DAY_MS)
    assert house.journal.spent(asked) == set()


def test_a_debit_is_known_with_its_bet_or_not_at_all(tmp_path: Path, houses: list[House]) -> None:
    """Dead before the commit: neither bet nor transaction; after it: both."""
    plan = SimpleNamespace(left=-1)

    def kill() -> bool:
        plan.left -= 1
        return plan.left == 0

    house = House(tmp_path / "t.journal", "baccarat", kill)
    houses.append(house)
    house.send("start-shift", "start_shift", "supervisor")
    house.send("load-shoe-1", "load_shoe", "dealer")
    house.send("open-bets-1", "open_bets")
    for number, (left, stands) in enumerate([(1, False), (2, True)]):
        body = {"id": f"bets-000{number}", "command": "place_bets",
                "args": {"round": house.table.state.round.id, "bets": [
                    {"player": f"P{number}", "bet": "TIE", "stake": 5, "transaction": f"w-{number}", "available": 0}
                ]}}  # fmt: skip
        plan.left = left
        request = Request(b"", "game_server", "pat", json.dumps(body).encode())
        assert not house.alive(lambda request=request: house.actor._serve(request))
        assert house.journal is not None
        assert (f"P{number}" in house.table.state.book.entries) is stands  # type: ignore[union-attr]
        assert house.journal.spent([f"w-{number}"]) == ({f"w-{number}"} if stands else set())


def coup(table: Any, name: str, **stakes: int) -> str:
    """Play one coup of a platform's table that PLAYER wins, 9 to 4."""
    table.order("open_bets")
    round_: str = table.status()["round"]
    bets = [
        {"player": player, "bet": "BANKER", "stake": stake, "transaction": f"{name}-{player}", "available": 0}
        for player, stake in stakes.items()
    ]
    assert table.order("place_bets", role="game_server", round=round_, bets=bets).data["refused"] == []
    table.order("close_bets")
    for position, card in zip(
        ("player/0", "banker/0", "player/1", "banker/1"), ("9S", "2H", "TD", "2C"), strict=True
    ):
        table.step(f"draw {position}")
        table.line.cards(card)
    table.until(lambda: table.feed("bets_settled"), "the settlement")
    table.step("open_bets")
    return round_


def test_settlements_of_earlier_rounds_over_the_socket(rig: Callable[..., Any]) -> None:
    """A platform that was away pulls them after further rounds, another shoe and a kill -9; wrong questions are told
    what is wrong with them."""
    game = {"game": "baccarat", "burn": "none", "decisions": "book"}
    table = rig(game=game, wallet={"kind": "platform"})
    table.to_burn()
    first = coup(table, "one", A=10, B=20)

    def pull(round_: str, **args: Any) -> Any:
        return table.order("settlement", role="game_server", round=round_, **args).data

    live = pull(first)
    assert [row["player"] for row in live["rows"]] == ["A", "B"]
    second = coup(table, "two", B=30)
    assert pull(first) == live
    table.order("end_shift")
    table.kill()
    table.run()
    assert pull(first) == live
    assert [row["stake"] for row in pull(second)["rows"]] == [30]
    assert pull(first, after="A")["rows"] == live["rows"][1:]
    assert pull(first, after="B")["rows"] == []
    for args, code in (
        ({"round_": "20200101-0001-001"}, "not_found"),
        ({"round_": first, "version": 2}, "bad_args"),
        ({"round_": first, "version": 0}, "bad_args"),
        ({"round_": first, "after": "C"}, "bad_args"),
    ):
        name = args.pop("round_")
        with pytest.raises(CommandRefused) as caught:
            pull(str(name), **args)
        assert caught.value.code == code, args


def test_a_small_house_keeps_its_own_accounts(rig: Callable[..., Any]) -> None:
    """The embedded wallet over the socket: accounts, a bet within them, what it brought, a player's record; and what
    is wrong with the rest is said row by row."""
    game = {"game": "baccarat", "burn": "none", "decisions": "book"}
    table = rig(game=game, wallet={"kind": "embedded"})
    table.to_burn()

    def gs(name: str, **args: Any) -> Any:
        return table.order(name, role="game_server", **args).data

    accounts = [("A", 100), ("B", -1), ("C", 1.5), ("D D", 5), ("E", 10**15 + 1)]
    set_ = gs("set_balances", accounts=[{"player": player, "balance": amount} for player, amount in accounts])
    assert set_["accepted"] == 1
    assert [(r["index"], r["code"]) for r in set_["refused"]] == [
        (1, "bad_balance"), (2, "bad_balance"), (3, "bad_player"), (4, "bad_balance"),
    ]  # fmt: skip
    table.order("open_bets")
    round_ = table.status()["round"]
    wishes = [("A", 60), ("A", 50), ("F", 1)]
    bets = [
        {"player": p, "bet": bet, "stake": n} for (p, n), bet in zip(wishes, ("PLAYER", "TIE", "TIE"), strict=True)
    ]
    placed = gs("place_bets", round=round_, bets=bets)
    assert [(r["index"], r["code"]) for r in placed["refused"]] == [
        (1, "insufficient_balance"),
        (2, "unknown_player"),
    ]
    late = gs("set_balances", accounts=[{"player": "A", "balance": 1}])
    assert [r["code"] for r in late["refused"]] == ["round_open"]
    table.order("close_bets")
    for position, card in zip(
        ("player/0", "banker/0", "player/1", "banker/1"), ("9S", "2H", "TD", "2C"), strict=True
    ):
        table.step(f"draw {position}")
        table.line.cards(card)
    table.until(lambda: table.feed("bets_settled"), "the settlement")
    table.step("open_bets")
    rows = gs("bets", round=round_, player="A")["rows"]
    assert [(r["what"], r["stake"], r["returned"], r["amount"]) for r in rows] == [
        ("bet", 60, None, -60), ("settlement", 60, 120, 120),
    ]  # fmt: skip
    assert gs("bets", round=round_, player="Z")["rows"] == []
    assert table.refused("bets", role="game_server", round="20200101-0001-001", player="A").code == "not_found"
    too_many = [{"player": f"p{n}", "balance": 1} for n in range(2_001)]
    assert table.refused("set_balances", role="game_server", accounts=too_many).code == "batch_too_large"
    again = gs("set_balances", accounts=[{"player": "A", "balance": 7}])
    assert (again["accepted"], again["refused"]) == (1, [])
