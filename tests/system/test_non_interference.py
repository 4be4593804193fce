"""Two rounds that differ only in a hidden card of the same class say the same, byte for byte, until its reveal.

The program has no way to fix the keys of commitments, and should have none. So the service is put together here
from its own parts (journal, hub, driver on a real pseudo-terminal, table, actor) with constant entropy and clocks
that stand still, and run twice. Everything else a person or program can see is compared: feed, answers, ``ctl``,
``watch``, ``journal``, log, terminal view, metrics, health, the status told to systemd.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import logging
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, get_args, get_type_hints

import pytest
import zmq
from prometheus_client import generate_latest
from rich.console import Console

from controller import public
from controller.bus import keys
from controller.bus.hub import Hub
from controller.bus.wire import topic_of
from controller.cli import main
from controller.cli.view import picture
from controller.cli.watch import line
from controller.commands import Statistics
from controller.config import load
from controller.journal.store import Journal
from controller.service import actor
from controller.service.metrics import Metrics
from controller.service.monitor import GAUGES_MS, Monitor, status_text
from controller.service.notify import Notifier
from controller.table.commitments import verify
from controller.table.draft import Setting
from controller.table.inputs import Start
from controller.table.state import Traits
from controller.table.table import Table
from drivers.events import CardDrawn, CutCard
from drivers.line.codec import encode
from drivers.registry import open_shoe

FEED = "0123456789abcdef" * 2
NOW_MS = 1_795_000_000_000
PEOPLE = {"observer": "olga", "game_server": "gs", "dealer": "dana", "supervisor": "sam"}
PATIENCE_S = 15.0
STATISTICS = get_args(get_type_hints(Statistics)["by"])
HEX = re.compile(r"commitment\W{1,4}([0-9a-f]{64})")

#: Times, this process, and what is asked as often as somebody has to wait.
TIMES = re.compile(
    r"^(#|process_|\S+_(sum|bucket|created)\b|dealerd_(turned|disk_free|card_latency_recent)|.*command=\"(status|snapshot|since)\")"
)

#: ZeroMQ's authenticator names clients by their keys, which are random, and tells of every one at DEBUG.
_ZAP = logging.getLogger("zmq.auth")


class _Messages(logging.Handler):
    """Every log line of one table: its threads carry its folder in their names."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = str(folder)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if self._folder in (record.threadName or ""):
            self.lines.append(f"{record.levelname} {record.name} {record.getMessage()}")


class Still:
    """One table service in a thread of this process; all that could differ by chance stands still."""

    def __init__(self, folder: Path, line_type: Any, clocks: dict[str, int], **game: Any) -> None:
        self.folder = folder
        self.file = folder / "table.toml"
        self.line = line_type(folder / "shoe")
        rules = {"game": "boundless", "decisions": "platform"} | dict.fromkeys(("betting_s", "decision_s"), 60.0)
        rules |= {"peek_delay_s": 0.5} | game
        self.file.write_text(
            '[table]\nid = "t-1"\njournal = "t.journal"\nfeed = "ipc://f.sock"\ncommands = "ipc://c.sock"\n[game]\n'
            + "".join(f"{k} = {json.dumps(v)}\n" for k, v in rules.items())
            + f'[shoe]\nprotocol = "line"\nport = "{folder / "shoe"}"\nrepeat_window_s = 0.0\n'
        )
        keys.make_server(folder / "keys")
        for role, person in PEOPLE.items():
            keys.make_person(folder / "keys", role, person)
        self.log = _Messages(folder)
        self.answers: list[bytes] = []
        self.printed: list[str] = []
        self.frames: list[bytes] = []
        self.measured: list[str] = []
        self._metrics = Metrics("t-1", "boundless", "still", str(folder / "t.journal"))
        turns = itertools.count(0, GAUGES_MS)
        self._monitor = Monitor(Notifier(None), self._metrics, clock_ms=lambda: next(turns))
        self._asked = self._newest = self._from = 0
        self._up = threading.Event()
        self._actor: actor.Actor | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, name=f"still table {folder}")
        self.clocks = clocks
        clocks[self._thread.name] = 0
        self._context = zmq.Context()
        self._sockets = {role: self._socket(zmq.DEALER, role) for role in PEOPLE}
        self._sub = self._socket(zmq.SUB, "observer")

    def _serve(self) -> None:
        try:
            loaded = load(self.file)
            with contextlib.ExitStack() as stack:
                driver = open_shoe(loaded.config.shoe)
                journal = stack.enter_context(
                    Journal.create_or_open(loaded.journal, table="t-1", now_ms=NOW_MS, feed=FEED)
                )
                hub = stack.enter_context(
                    Hub(loaded.endpoint("feed"), loaded.endpoint("commands"), loaded.keys, topic_of("t-1"))
                )
                table = Table(Setting("t-1", loaded.config.game, Traits(), loaded.config.book()))
                self._actor = one = actor.Actor(
                    table,
                    journal,
                    hub,
                    entropy=lambda: bytes(range(32)),
                    wall=lambda: NOW_MS,
                    monitor=self._monitor,
                )
                one.recover()
                # The configuration names the folder.
                one.begin(Start("still", "digest", "{}"))
                driver.start(one.put)
                stack.callback(driver.stop)
                self._up.set()
                one.run()
        except BaseException as error:
            self._error = error
            raise
        finally:
            self._up.set()

    def _socket(self, kind: int, role: str) -> zmq.Socket[bytes]:
        pair = keys.load_secret(self.folder / "keys" / role / f"{PEOPLE[role]}.key_secret")
        socket: zmq.Socket[bytes] = self._context.socket(kind)
        socket.linger = 0
        socket.curve_serverkey = keys.load_server_public(self.folder / "keys")
        socket.curve_publickey, socket.curve_secretkey = pair.public, pair.secret
        if kind == zmq.SUB:
            socket.setsockopt(zmq.SUBSCRIBE, b"")
        socket.connect(f"ipc://{self.folder / ('f.sock' if kind == zmq.SUB else 'c.sock')}")
        return socket

    def __enter__(self) -> Self:
        root = logging.getLogger()
        self._levels = root.level, _ZAP.level
        root.setLevel(logging.DEBUG)
        _ZAP.setLevel(logging.WARNING)
        root.addHandler(self.log)
        self._thread.start()
        assert self._up.wait(PATIENCE_S)
        assert self._actor is not None, self._error
        self.until(lambda: self.advance(1000) or self._sub.poll(20), "a heartbeat: the subscription stands")
        self.until(lambda: self.state()["devices_lost"] == [], "the shoe")
        self._from = self.ask("observer", "status", keep=False)["seq"] + 1  # what came before may have been missed
        return self

    def __exit__(self, *error: object) -> None:
        assert self._actor is not None
        self._actor.stop()
        self._thread.join(PATIENCE_S)
        self._context.destroy(linger=0)
        self.line.unplug()
        root = logging.getLogger()
        root.removeHandler(self.log)
        root.setLevel(self._levels[0])
        _ZAP.setLevel(self._levels[1])
        assert self._error is None

    def advance(self, ms: int) -> None:
        """Let time pass."""
        assert self._actor is not None
        self.clocks[self._thread.name] += ms
        self._actor.put([])

    # --- speaking to it ------------------------------------------------------------------------------------

    def ask(self, role: str, command: str, args: Any = None, *, keep: bool = True) -> Any:
        """Send under an id that is the same in every run; the answer's bytes are kept for comparison."""
        if keep:
            self._asked += 1
        name = f"ask-{self._asked:04d}" if keep else f"look-{time.monotonic_ns()}"
        seen = self.ask("observer", "status", keep=False)["seq"] if keep else None
        request = {"id": name, "command": command, "args": args or {}, "seen_seq": seen}
        self._sockets[role].send(json.dumps(request).encode())
        assert self._sockets[role].poll(PATIENCE_S * 1000), f"no answer to {command}; {self._error!r}"
        answer = self._sockets[role].recv()
        if keep:
            self.answers.append(answer)
        return json.loads(answer)

    def state(self) -> Any:
        return self.ask("observer", "status", keep=False)["data"]

    def order(self, role: str, command: str, **args: Any) -> None:
        answer = self.ask(role, command, args)
        assert answer["ok"], answer

    def demand(self, of: str, n: int, draw: bool) -> None:
        round_ = self.state()["round"]
        self.order(
            "game_server", "branch_demand", round=round_, line=of, prefix_len=n, draw=draw, key=f"{round_}/{of}/{n}"
        )

    def cards(self, text: str) -> None:
        for word in text.split():
            self.line.write(encode(CutCard() if word == "CUT" else CardDrawn(word)))

    def until(self, done: Callable[[], Any], what: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not done():
            assert self._error is None, self._error
            assert time.monotonic() < deadline, f"waited in vain for {what}"
            time.sleep(0.003)

    def step(self, text: str) -> None:
        def now() -> str:
            step = self.state()["step"]
            place = step.get("position") or (f"{step['line']}@{step['prefix_len']}" if step.get("line") else "")
            return f"{step['step']} {place}".strip()

        self.until(lambda: now() == text, f"{text}; {now()}")

    def read_feed(self) -> list[dict[str, Any]]:
        """The frames so far, heartbeats left out: how many there are depends on the time of day."""
        last = self.ask("observer", "status", keep=False)["seq"]
        self.until(lambda: self._take() >= last, f"frame {last}")
        return [json.loads(frame) for frame in self.frames]

    def _take(self) -> int:
        with contextlib.suppress(zmq.Again):
            while True:
                topic, frame = self._sub.recv_multipart(zmq.NOBLOCK)
                assert topic == b"table/t-1/"
                self._newest = json.loads(frame).get("seq", self._newest)
                if self._newest >= self._from and b'"type":"heartbeat"' not in frame:
                    self.frames.append(frame)
        return self._newest

    # --- what can be seen ----------------------------------------------------------------------------------

    def look(self) -> None:
        """Put down every output at this moment."""
        found = self.read_feed()
        too_far = {"round": self.state()["round"], "line": "dealer", "prefix_len": 9, "draw": True, "key": "?"}
        for role, command, args in (
            ("observer", "snapshot", None), ("observer", "status", None), ("observer", "since", {"seq": 0}),
            ("dealer", "load_shoe", None), ("supervisor", "reopen", {"reason": "x"}),
            ("game_server", "close_decisions", {"round": "x"}),
            ("game_server", "branch_demand", too_far), ("supervisor", "void", {"reason": ""}),
            ("supervisor", "resolve", {"incident": 99, "resolution": "resume", "reason": "x"}),
            ("supervisor", "history", {}), ("supervisor", "history", {"round": self.state()["round"]}),
            ("supervisor", "shoe_report", {}),
            *(("supervisor", "statistics", {"by": by}) for by in STATISTICS),
            ("game_server", "bets", {"round": self.state()["round"], "player": "p1"}),
            ("game_server", "settlement", {"round": self.state()["round"]}),
        ):  # fmt: skip
            self.ask(role, command, args)
        journal = self.folder / "t.journal"
        self._asked += 1
        for words in (
            ("ctl", "--id", f"ctl-{self._asked:05d}", self.file, "status"),
            ("ctl", "--id", f"ctl-{self._asked:05d}", self.file, "snapshot"),
            ("ctl", "--id", f"ctl-{self._asked:05d}", "--as", "supervisor/sam", self.file, "start_shift"),
            ("watch", self.file, "--from", 0, "--count", len(found)),
            ("watch", self.file, "--from", 0, "--count", len(found), "--json"),
            ("journal", "show", journal), ("journal", "export", journal),
            ("journal", "export", "--format", "csv", journal), ("bets", self.file), ("bets", "--totals", self.file),
            *(("journal", "export", "--rounds", "--format", form, journal) for form in ("json", "csv", "html")),
        ):  # fmt: skip
            with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
                status = main([str(word) for word in words])
            self.printed.append(f"{words[0]} → {status}\n{out.getvalue()}")
        self.printed.append(self.pictures(found))
        self.measured.append(self.metrics())

    def metrics(self) -> str:
        """Metrics less times, health, and the status of this moment."""
        for _ in range(2):  # when the second answer comes, the turn of the first is over
            state = self.ask("observer", "snapshot", keep=False)["data"]["state"]
        exposed = generate_latest(self._metrics.registry).decode().splitlines()
        kept = sorted(text for text in exposed if not TIMES.match(text))
        health = {key: value for key, value in self._monitor.health()[1].items() if not key.endswith("_ago")}
        return "\n".join([*kept, json.dumps(health), status_text(state)])

    def pictures(self, found: list[dict[str, Any]]) -> str:
        """The terminal view after each frame."""
        state, events, out = public.initial(), [], io.StringIO()
        console = Console(file=out, width=110, force_terminal=True, color_system="truecolor")
        for frame in found:
            public.apply(state, frame)
            events.append(line(frame))
            console.print(picture(state, events[-8:], frame))
        return out.getvalue()

    def said(self) -> dict[str, list[bytes]]:
        """All that was seen so far, commitments and the folder's own name taken out."""
        self._take()
        parts = {
            "feed": self.frames,
            "answers": self.answers,
            "printed": [text.encode() for text in self.printed],
            "measured": [text.encode() for text in self.measured],
            "log": [text.encode() for text in self.log.lines],
        }
        commitments = {found for frame in self.frames for found in HEX.findall(frame.decode())}
        return {kind: [self._neutral(text, commitments) for text in texts] for kind, texts in parts.items()}

    def _neutral(self, text: bytes, commitments: set[str]) -> bytes:
        """``text`` without the folder's name and the commitments, also those that a line of the view cuts off; and
        without the hash of the chain, which covers the keys of commitments: nobody can try faces against it."""
        text = text.replace(str(self.folder).encode(), b"<folder>")
        for commitment in commitments:
            for length in range(64, 7, -1):
                text = text.replace(commitment[:length].encode(), b"~" * length)
        text = re.sub(rb'(last_hash":"|hash of the last )[0-9a-f]{64}', rb"\1~", text)
        return re.sub(rb"commitment=[0-9a-f]+", b"commitment=~", text)


@pytest.fixture
def still(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Still]:
    """``still(**game)`` makes one table; use it as a context manager."""
    clocks: dict[str, int] = {}
    monkeypatch.setattr(actor, "monotonic_ms", lambda: clocks[threading.current_thread().name])
    # The wall clock stands still here: it would be told as one that is set, as often as time was let pass.
    monkeypatch.setattr(actor.ClockWatch, "look", lambda *_: 0)
    module = request.config.pluginmanager.get_plugin(str(Path(__file__).with_name("conftest.py")))
    assert module is not None
    return lambda **game: Still(tmp_path_factory.mktemp("still"), module.Line, clocks, **game)


def to_dealing(table: Still, burned: str = "2H") -> None:
    table.order("supervisor", "start_shift")
    table.order("dealer", "load_shoe", shoe="shoe-1")
    table.step("draw burn/0")
    table.cards(f"AS {burned}")
    table.step("open_bets")
    table.order("game_server", "open_bets")
    table.order("game_server", "close_bets")
    table.step("draw player/0")


def insure(table: Still) -> None:
    table.step("insurance")
    table.look()
    table.order("game_server", "close_decisions", round=table.state()["round"])


def peek(table: Still, up: str) -> None:
    """To the published answer, if one is due."""
    if up[0] == "A":
        insure(table)
    if up[0] in "AK":
        table.step("peek")
        table.look()
        table.advance(499)
        table.step("peek")
        table.advance(1)


def hand(table: Still, up: str, hole: str) -> None:
    """To the first decision, looked at there."""
    to_dealing(table)
    table.cards(f"5S {up} 4S {hole}")
    peek(table, up)
    table.step("decide main@2")
    table.look()


def disturbed(table: Still, up: str, hole: str) -> None:
    """The same with a pause over the hole card, an extra card and a lost line."""
    to_dealing(table)
    table.cards(f"5S {up} 4S")
    table.step("draw dealer/1")
    table.order("dealer", "pause", reason="a player calls")
    table.cards(hole)
    table.until(lambda: any(f["type"] == "card_held" for f in table.read_feed()), "the held card")
    table.look()
    table.order("supervisor", "resume", reason="settled")
    peek(table, up)
    table.step("decide main@2")
    table.cards("3D")
    table.until(lambda: table.state()["incidents"], "the incident")
    table.look()
    table.order("supervisor", "resolve", incident=1, resolution="burn_card", reason="put aside")
    table.line.unplug()
    table.until(lambda: table.state()["devices_lost"], "the loss")
    table.line.plug()
    table.until(lambda: table.state()["incidents"], "the doubt")
    table.order("supervisor", "resolve", incident=2, resolution="resume", reason="nobody touched it")
    table.step("decide main@2")
    table.look()


def booked(table: Still, up: str, hole: str) -> None:
    """Two players of the table's own book, one of them insured; to the moment when one has stood."""
    table.order("supervisor", "start_shift")
    table.order("dealer", "load_shoe", shoe="shoe-1")
    table.step("draw burn/0")
    table.cards("AS 2H")
    table.step("open_bets")
    table.order("game_server", "open_bets")
    round_ = table.state()["round"]
    bets = [
        {"player": p, "bet": bet, "stake": 100, "transaction": f"{p}-{bet}", "available": 1000}
        for p in ("p1", "p2")
        for bet in ("main", "bust_bonus")
    ]
    table.order("game_server", "place_bets", round=round_, bets=bets)
    table.order("game_server", "close_bets")
    table.step("draw player/0")
    table.cards(f"5S {up} 4S {hole}")
    if up[0] == "A":
        table.step("insurance")
        table.order("game_server", "insure", round=round_, players=[{"player": "p1"}])
    peek(table, up)
    table.step("decide main@2")
    table.look()
    stands(table, "p1")
    table.look()


def stands(table: Still, player: str) -> None:
    chosen = [{"player": player, "line": "main", "n": 2, "request": "stand"}]
    table.order("game_server", "decide", round=table.state()["round"], decisions=chosen)


def opens(table: Still, position: str, card: str) -> None:
    """The key published at the reveal opens the commitment published at the deal, to this card and no other."""
    frames = table.read_feed()
    dealt = next(f for f in frames if f["type"] == "card_dealt" and f["data"]["position"] == position)
    shown = next(f for f in frames if f["type"] == "card_revealed" and f["data"]["position"] == position)
    assert (dealt["data"]["card"], shown["data"]["card"]) == ("**", card)
    given = {"table": "t-1", "round_": dealt["round"], "position": position}
    assert verify(dealt["data"]["commitment"], shown["data"]["key"], card=card, **given)
    assert not verify(dealt["data"]["commitment"], shown["data"]["key"], card="AD", **given)


def assert_same(one: Still, other: Still, *, committed: bool = True) -> None:
    first, second = one.said(), other.said()
    for kind, texts in first.items():
        assert texts, f"nothing in {kind}: nothing was compared"
        assert len(texts) == len(second[kind]), f"{kind} differs: {texts[-1][:300]!r}, {second[kind][-1][:300]!r}"
        for mine, theirs in zip(texts, second[kind], strict=True):
            lines = zip(mine.splitlines(), theirs.splitlines(), strict=False)
            assert mine == theirs, f"{kind} differs: {[pair for pair in lines if pair[0] != pair[1]][:3]}"
    if committed:  # or the same card was dealt twice and nothing was tested
        assert one.frames != other.frames


@pytest.mark.parametrize("scene", [hand, disturbed])
@pytest.mark.parametrize(
    ("up", "holes"),
    [
        pytest.param("AH", ("7C", "9D"), id="ace up, no blackjack"),
        pytest.param("KH", ("7C", "QD"), id="ten up, no blackjack"),
        pytest.param("6H", ("AC", "QD"), id="no peek"),
    ],
)
def test_hole_card(still: Callable[..., Still], scene: Any, up: str, holes: tuple[str, str]) -> None:
    with contextlib.ExitStack() as stack:
        tables = []
        for hole in holes:
            table = stack.enter_context(still())
            scene(table, up, hole)
            tables.append(table)
        assert_same(*tables)
        for table, hole in zip(tables, holes, strict=True):
            table.demand("main", 2, False)
            table.until(lambda: table.read_feed()[-1]["type"] != "decision_closed", "the reveal")  # noqa: B023
            opens(table, "dealer/1", hole)


@pytest.mark.parametrize(("up", "holes"), [("AH", ("7C", "9D")), ("KH", ("7C", "QD"))])
def test_hole_card_at_a_table_that_keeps_the_bets(
    still: Callable[..., Still], up: str, holes: tuple[str, str]
) -> None:
    with contextlib.ExitStack() as stack:
        tables = [stack.enter_context(still(decisions="book")) for _ in holes]
        for table, hole in zip(tables, holes, strict=True):
            booked(table, up, hole)
        assert_same(*tables)
        for table, hole in zip(tables, holes, strict=True):
            stands(table, "p2")
            table.until(lambda: table.read_feed()[-1]["type"] != "decision_closed", "the reveal")  # noqa: B023
            opens(table, "dealer/1", hole)


def test_dealer_blackjack(still: Callable[..., Still]) -> None:
    """Under an ace, with a king or a queen: the same until the card is turned, which follows the peek at once."""
    with contextlib.ExitStack() as stack:
        tables = []
        for hole in ("KH", "QS"):
            table = stack.enter_context(still())
            to_dealing(table)
            table.cards(f"5S AH 4S {hole}")
            peek(table, "AH")
            table.step("open_bets")
            frames = table.read_feed()
            opens(table, "dealer/1", hole)
            turned = [f["type"] for f in frames].index("card_revealed")
            assert frames[turned - 1]["data"] == {"blackjack": True}
            del table.frames[turned:]
            table.log.lines[:] = [text for text in table.log.lines if "card_revealed" not in text]
            tables.append(table)
        assert_same(*tables)


def test_burned_card(still: Callable[..., Still]) -> None:
    """A whole round is played over it; it is opened when the shoe has ended."""
    with contextlib.ExitStack() as stack:
        tables = []
        for burned in ("2H", "QD"):
            table = stack.enter_context(still())
            to_dealing(table, burned)
            table.cards("AH 9C KH 8D")
            table.step("open_bets")
            table.look()
            tables.append(table)
        assert_same(*tables)
        for table, burned in zip(tables, ("2H", "QD"), strict=True):
            table.order("supervisor", "end_shift")
            frames = table.read_feed()
            commitment = next(f["data"]["commitment"] for f in frames if f["type"] == "card_burned")
            (opened,) = next(f["data"]["burn_keys"] for f in frames if f["type"] == "shoe_ended")
            assert (opened["round"], opened["position"], opened["card"]) == ("shoe-1", "burn/1", burned)
            assert verify(commitment, opened["key"], table="t-1", round_="shoe-1", position="burn/1", card=burned)


def test_the_comparison_sees_a_difference(still: Callable[..., Still]) -> None:
    """Holes of different classes are told apart by the peek's one bit: otherwise the tests above prove nothing."""
    with contextlib.ExitStack() as stack:
        tables = []
        for hole in ("7C", "KD"):
            table = stack.enter_context(still())
            to_dealing(table)
            table.cards(f"5S AH 4S {hole}")
            peek(table, "AH")
            table.until(lambda: any(f["type"] == "dealer_peeked" for f in table.read_feed()), "the peek")  # noqa: B023
            tables.append(table)
        with pytest.raises(AssertionError, match="feed differs"):
            assert_same(*tables)


@pytest.fixture
def peeks(rig: Callable[..., Any]) -> Callable[[str], tuple[int, int]]:
    """``peeks(hole)``: the delay announced and the delay kept under an ace, in milliseconds."""

    def measure(hole: str) -> tuple[int, int]:
        table = rig(game={"peek_delay_s": 0.4})
        table.to_dealing()
        table.line.cards(f"5S AH 4S {hole}")
        table.step("insurance")
        table.order("close_decisions", role="game_server", round=table.status()["round"])
        table.last("dealer_peeked")
        frames = table.feed()
        kinds = [f["type"] for f in frames]
        closed, peeked = kinds.index("insurance_closed"), kinds.index("dealer_peeked")
        assert kinds[closed : peeked + 1] == ["insurance_closed", "step_opened", "dealer_peeked"]
        assert frames[closed + 1]["data"]["step"] == "peek"
        at = [int(frames[i]["time"][17:19]) * 1000 + int(frames[i]["time"][20:23]) for i in (closed, peeked)]
        return frames[closed + 1]["data"]["until_ms"], (at[1] - at[0]) % 60_000

    return measure


def test_the_peek_takes_the_same_time_for_yes_and_no(peeks: Callable[[str], tuple[int, int]]) -> None:
    yes, no = peeks("KC"), peeks("9C")
    assert yes[0] == no[0] == 400
    assert all(395 <= kept < 2400 for _, kept in (yes, no)), (yes, no)
