"""The table dies at every point where something has just become durable or visible, or is just about to.

One actor with a real journal is driven through a whole round in virtual time. ``points`` are the places before and
after each commit, before and after each frame goes out, before each answer, and between two instructions to the
wallet. The same evening is then played once for each of them with a crash there: the files are let go as by kill -9,
the journal is opened anew, and the people at the table do what the procedure asks. Cards lie on the felt, wallets
hold money and subscribers remember what they received; all three must come to exactly what they are in the evening
without a crash.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from controller.book.rows import BalanceRequest
from controller.bus.hub import Counters, Request
from controller.config import load
from controller.facts import decode_fact
from controller.journal.store import Journal
from controller.journal.verify import verify
from controller.service import actor as actors
from controller.service.setting import setting_of
from controller.table.inputs import BalancesInput, ShoeInput, Start
from controller.table.table import Table
from drivers import events as e

TABLE = """\
[table]
id = "t-1"
journal = "t.journal"
[game]
game = "{game}"
peek_delay_s = 0.0
burn = "none"
[wallet]
kind = "{wallet}"
[shoe]
protocol = "line"
port = "none"
"""
PLAYERS = ("p1", "p2")
PURSE = 10_000
EPOCH_MS = 1_796_000_000_000

#: Game, wallet, cards in physical order, decisions by line and player in the order they are asked for.
SCENES: dict[str, dict[str, Any]] = {
    "boundless": {
        "game": "boundless", "wallet": "embedded", "cards": "8C AH 8S 5D 3H 9D TD TH 5S",
        "choices": {"p1": ["split", "double", "stand"], "p2": ["stand"]}, "insured": ["p2"],
    },
    "classic": {
        "game": "classic", "wallet": "platform", "cards": "8C 9C 6H 8S 2D 3H TD 5C KH 7S",
        "choices": {"p1": ["split", "stand", "stand"], "p2": ["hit"]},
    },
    "baccarat": {"game": "baccarat", "wallet": "platform", "cards": "2C 3D KH 2S 6D 9C", "choices": {}},
    "boundless, void": {
        "game": "boundless", "wallet": "platform", "cards": "8C 6H 8S 5D", "choices": {}, "void_at": 4,
    },
    "baccarat, paused": {
        "game": "baccarat", "wallet": "embedded", "cards": "2C 3D KH 2S 6D 9C", "choices": {}, "pause_at": 2,
    },
}  # fmt: skip


class Crash(BaseException):
    """The process is gone. No handler of the program may catch it."""


class Subscriber:
    """What everybody outside has received, as a hub to the actor."""

    def __init__(self, point: Callable[[str], None]) -> None:
        self._point = point
        self.frames: dict[int, bytes] = {}
        self.reply_body = b""
        self.counters = Counters()

    def wake(self) -> None: ...

    def publish(self, frame: bytes) -> None:
        self._point("before a frame goes out")
        seq = json.loads(frame)["seq"]
        assert self.frames.get(seq, frame) == frame, f"frame {seq} was published with two contents"
        assert seq <= len(self.frames) + 1, f"frame {seq} after {len(self.frames)}"
        self.frames[seq] = frame
        self._point("after a frame went out")

    def reply(self, request: Request, body: bytes) -> None:  # noqa: ARG002
        self._point("before an answer goes out")
        self.reply_body = body


class World:
    """Felt, shoe, people, wallets; and the process that may die."""

    def __init__(self, folder: Path, scene: dict[str, Any], crash_at: int | None) -> None:
        self.scene = scene
        self.points: list[str] = []
        self._crash_at = crash_at
        self.hub = Subscriber(self.point)
        (folder / "table.toml").write_text(TABLE.format(**scene))
        self.loaded = load(folder / "table.toml")
        self.shoe = scene["cards"].split()
        self.felt: list[str] = []
        self.choices = {player: list(asked) for player, asked in scene["choices"].items()}
        self.wallet = dict.fromkeys(PLAYERS, PURSE)
        self.moved: set[str] = set()
        self.once: set[str] = set()
        self.now = 1000
        self._ids = itertools.count()
        self.crashes = 0
        self.wanted: tuple[str, bytes] | None = None  # sent, and not yet answered
        self._boot()

    def point(self, name: str) -> None:
        """A place at which the process may die."""
        self.points.append(name)
        if len(self.points) == self._crash_at:
            self._crash_at = None
            raise Crash(name)

    def _boot(self) -> None:
        self.journal = Journal.create_or_open(
            self.loaded.journal, table="t-1", now_ms=EPOCH_MS, feed="0" * 32, on_commit=lambda when: self.point(when)
        )
        self.actor = actors.Actor(
            Table(setting_of(self.loaded)),
            self.journal,
            self.hub,  # type: ignore[arg-type]
            entropy=lambda: len(self.hub.frames).to_bytes(32, "big"),
            wall=lambda: EPOCH_MS + self.now,
        )
        self.actor.recover()
        self.actor.begin(Start("test", self.loaded.digest, self.loaded.effective))
        self.actor._take(ShoeInput(e.PortRestored("pty")))

    def _die(self) -> None:
        """As kill -9 leaves the files: nothing is stored that was not committed."""
        self.crashes += 1
        self.journal._database.close()
        self.journal._lock.close()

    # --- the evening -----------------------------------------------------------------------------------------------

    @property
    def state(self) -> Any:
        return self.actor._table.state

    def play(self) -> Self:
        """To the end of the round, over one crash if there is one."""
        for _ in range(400):
            try:
                if self._done():
                    return self
                self._act()
            except Crash:
                self._die()
                self._boot()
        pytest.fail(f"the evening does not end: {self.state.step}, {self.state.holds}, {self.wanted}")

    def _done(self) -> bool:
        played = self.state.round is not None and self.state.phase in ("result", "voided")
        posted = self.state.betting is None or not self.state.betting.unposted
        return played and posted and not self.state.holds and self._settled()

    def _act(self) -> None:
        deadline = self.actor._table.deadline()
        if "restart" in self.state.holds:
            self._prove()
        elif self.wanted is not None:
            self._send(*self.wanted)
        elif deadline is not None and deadline[0] == "post":
            self.actor._tick()
        elif not self._intervene():
            self._step(deadline)

    def _prove(self) -> None:
        """A supervisor compares the felt with the record; if they differ the cards pass the reader again."""
        if self.state.rescan is not None:
            self.actor._take(ShoeInput(e.CardDrawn(self.felt[self.state.rescan.done])))
        elif self.state.phase in ("result", "voided") or list(self.state.on_felt) == self.felt:
            self._ask("supervisor", "resume", reason="compared", how="felt_agrees")
        else:
            self._ask("supervisor", "resume", reason="read again", how="rescan", cards=len(self.felt))

    def _intervene(self) -> bool:
        """What the scene has people do when so many cards lie on the felt."""
        if self.scene.get("void_at") == len(self.felt) and self.state.phase != "voided":
            self._ask("supervisor", "void", reason="felt disturbed")
            return True
        if self.scene.get("pause_at") == len(self.felt) and "resumed" not in self.once:
            if "pause" in self.state.holds:
                self.once.add("resumed")
                self._ask("supervisor", "resume", reason="settled")
            else:
                self._ask("dealer", "pause", reason="a player calls")
            return True
        return False

    def _step(self, deadline: Any) -> None:
        step, round_ = self.state.step, self.state.round.id if self.state.round else ""
        match step.kind:
            case "start_shift":
                self._want("supervisor", "start_shift")
            case "load_shoe":
                self._want("dealer", "load_shoe")
            case "open_bets" if self.state.round is None:
                self._deposit()
                self._want("game_server", "open_bets")
            case "close_bets":
                self._bet(round_)
            case "insurance":
                self._insure(round_)
            case "decide":
                self._decide(round_, step)
            case "draw":
                # From here on the card lies on the felt, whatever happens to the process.
                self.felt.append(self.shoe.pop(0))
                self.actor._take(ShoeInput(e.CardDrawn(self.felt[-1])))
            case _:
                if self._pull(round_) or self._done():
                    return
                assert deadline is not None, (step, self.state.holds)
                self.now = max(self.now, deadline[1])
                self.actor._tick()

    def _deposit(self) -> None:
        if self.scene["wallet"] == "embedded" and not self.state.book.money.balances.keys():
            self.actor._take(BalancesInput(tuple(BalanceRequest(player, PURSE) for player in PLAYERS)))

    def _bet(self, round_: str) -> None:
        if "bets" in self.once:
            self._want("game_server", "close_bets")
            return
        self.once.add("bets")
        bets = []
        for box, player in enumerate(PLAYERS, 1):
            bet: dict[str, Any] = {"player": player, "bet": "main", "stake": 100}
            if self.scene["game"] == "baccarat":
                bet["bet"] = "BANKER" if box == 1 else "PLAYER"
            elif self.scene["game"] == "classic":
                bet["box"] = box
            if self.scene["wallet"] == "platform":
                self.wallet[player] -= 100
                bet |= {"transaction": f"bet-{player}", "available": self.wallet[player]}
            bets.append(bet)
        self._want("game_server", "place_bets", round=round_, bets=bets)

    def _insure(self, round_: str) -> None:
        if self.scene.get("insured") and "insured" not in self.once:
            self.once.add("insured")
            players = [{"player": player} for player in self.scene["insured"]]
            self._want("game_server", "insure", round=round_, players=players)
        else:
            self._want("game_server", "close_decisions", round=round_)

    def _decide(self, round_: str, step: Any) -> None:
        own = step.line.startswith("seat/")
        players = [PLAYERS[int(step.line.split("/")[1]) - 1]] if own else PLAYERS
        rows = []
        for player in players:
            if self.choices[player] and (own or self._has_hand(player, step)):
                request = self.choices[player].pop(0)
                rows.append({"player": player, "line": step.line, "n": step.prefix_len, "request": request})
        if rows:
            self._want("game_server", "decide", round=round_, decisions=rows)
        else:
            self._want("game_server", "close_decisions", round=round_, window=step.line)

    def _has_hand(self, player: str, step: Any) -> bool:
        return player == "p1" or step.line == "main"

    # --- commands and wallets --------------------------------------------------------------------------------------

    def _want(self, role: str, name: str, **args: Any) -> None:
        """Send under one id until it is answered."""
        body = {"id": f"{name}-{next(self._ids):06d}", "command": name, "args": args, "seen_seq": None}
        self.wanted = (role, json.dumps(body).encode())
        self._send(*self.wanted)

    def _send(self, role: str, body: bytes) -> None:
        answer = self._deliver(role, body)
        if answer["ok"]:
            self.wanted = None
        else:
            assert answer["error"]["code"] == "held", (body, answer)

    def _ask(self, role: str, name: str, **args: Any) -> Any:
        """Decided anew from what is seen now, so under a new id each time."""
        body = {
            "id": f"{name}-{next(self._ids):06d}", "command": name, "args": args, "seen_seq": self.state.seq,
        }  # fmt: skip
        answer = self._deliver(role, json.dumps(body).encode())
        assert answer["ok"], (name, answer)
        return answer["data"]

    def _deliver(self, role: str, body: bytes) -> Any:
        self.actor._serve(Request(b"", role, "pat", body))
        return json.loads(self.hub.reply_body)

    def _settled(self) -> bool:
        """A platform has carried out every instruction."""
        if self.scene["wallet"] == "embedded":
            return True
        return not self._pull(self.state.round.id)

    def _pull(self, round_: str) -> bool:
        """The game server takes over what players are paid; true if something was new to it."""
        book = self.state.betting
        if self.scene["wallet"] == "embedded" or book is None or book.phase not in ("due", "idle"):
            return False
        if not book.versions and not book.voided:
            return False
        new = False
        after = None
        while True:
            data = self._ask("game_server", "settlement", round=round_, version=1, after=after)
            for order in data["instructions"]:
                self.point("before an instruction is carried out")
                if order["transaction"] not in self.moved:  # a wallet knows what it has done
                    self.moved.add(order["transaction"])
                    self.wallet[order["player"]] += -order["amount"] if order["kind"] == "debit" else order["amount"]
                    new = True
            if not data["more"]:
                return new
            after = data["after"]

    # --- what it came to -------------------------------------------------------------------------------------------

    def came_to(self) -> dict[str, Any]:
        """Everything that a crash must not change."""
        round_ = self.state.round
        if self.scene["wallet"] == "embedded":
            purse = {player: self.state.book.money.available(player) for player in PLAYERS}
        else:
            purse = self.wallet
        return {
            "cards": [(c.position, c.card) for c in round_.cards],
            "outcome": round_.outcome,
            "phase": self.state.phase,
            "purse": purse,
            "staked": self.state.book.staked,
            "audit": self.state.book.check(),
        }

    def check(self) -> None:
        """Journal, subscribers and state agree."""
        rows = list(self.journal.facts())
        again = Table(setting_of(self.loaded))
        again.replay(decode_fact(row.body) for row in rows)
        assert again.state == self.state
        kept = {frame.seq: frame.frame for frame in self.journal.frames_since(0, 10**6)}
        assert self.hub.frames == kept
        assert sorted(kept) == list(range(1, len(kept) + 1))
        assert self.state.epoch == sum(row.type == "table_started" for row in rows)

    def close(self) -> None:
        with contextlib.suppress(Crash):
            self.journal.close()


@pytest.fixture
def evening(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., World]]:
    """``evening(scene, crash_at)``; the journal lies in memory, for nothing is lost here but the process."""
    worlds: list[World] = []
    root = tempfile.mkdtemp(prefix="dealerd-crash-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    monkeypatch.setattr(actors, "monotonic_ms", lambda: worlds[-1].now if worlds else 1000)

    def one(scene: dict[str, Any], crash_at: int | None = None) -> World:
        for world in worlds:
            world.close()
        shutil.rmtree(root)
        os.mkdir(root)
        worlds.clear()
        world = World.__new__(World)
        worlds.append(world)
        world.now = 1000
        try:
            world.__init__(Path(root), scene, crash_at)  # type: ignore[misc]
        except Crash:
            world._die()
            world._boot()
        return world

    yield one
    for world in worlds:
        world.close()
    shutil.rmtree(root)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", SCENES)
def test_a_crash_at_every_point_changes_nothing(evening: Callable[..., World], name: str) -> None:
    scene = SCENES[name]
    plain = evening(scene).play()
    plain.check()
    wanted, points = plain.came_to(), plain.points
    assert not plain.shoe or "void_at" in scene, f"cards left: {plain.shoe}"
    assert len(points) > 60
    for number, where in enumerate(points, 1):
        world = evening(scene, number).play()
        assert world.crashes == 1
        try:
            world.check()
            assert world.came_to() == wanted
        except AssertionError as error:
            raise AssertionError(f"{name}: crash at point {number}, {where}: {error}") from error
    journal = world.loaded.journal
    world.close()
    report = verify(journal)
    assert report.ok, report.fault
