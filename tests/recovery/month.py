"""How long a table takes to start on the journal of a month.

Plays a table of three players in virtual time through its own facts, frames and journal, then starts the real service
on it: from the facts alone, and from the milestone that an audit leaves. ``make month`` runs it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from controller import frames
from controller.book.rows import BalanceRequest
from controller.bus import keys
from controller.cards import FACES
from controller.commands import Envelope, authorise
from controller.config import Loaded, load
from controller.facts import encode_fact
from controller.journal.records import FactRow, Frame
from controller.journal.store import Journal
from controller.service.setting import setting_of
from controller.table.inputs import BalancesInput, CommandInput, DeadlineInput, Input, ShoeInput, Start
from controller.table.table import Table
from drivers import events as e

#: Of 30 days, one every 45 s.
ROUNDS: Final = 57_600
PLAYERS: Final = ("p1", "p2", "p3")
BEGAN_MS: Final = 1_793_000_000_000
APPEND_FACTS: Final = 2_000
TABLE: Final = """\
[table]
id = "m-1"
journal = "m.journal"
feed = "ipc://f.sock"
commands = "ipc://c.sock"
[game]
game = "{game}"
peek_delay_s = 0.0
[wallet]
kind = "embedded"
[shoe]
protocol = "line"
port = "no-such-port"
"""


class Month:
    """A table in virtual time whose records go to the journal in large batches."""

    def __init__(self, loaded: Loaded, seed: int) -> None:
        self.table = Table(setting_of(loaded))
        self.journal = Journal.create_or_open(loaded.journal, table="m-1", now_ms=BEGAN_MS)
        self.now = 1000
        self.rounds = 0
        self._random = random.Random(seed)
        self._shoe: list[str] = []
        self._rows: list[FactRow] = []
        self._frames: list[Frame] = []
        self._id = 0
        self.put(Start("dealerd", loaded.digest, loaded.effective))
        self.put(ShoeInput(e.PortRestored("pty")))
        self.put(BalancesInput(tuple(BalanceRequest(player, 10**9) for player in PLAYERS)))
        self.order("start_shift", "supervisor")

    def put(self, what: Input) -> None:
        """Decide and accept; keep what the journal gets."""
        outcome = self.table.decide(what, self.now, self.now.to_bytes(32, "big"))
        if outcome.refusal is not None:
            raise outcome.refusal
        at = BEGAN_MS + self.now
        for r in outcome.records:
            self._rows.append(FactRow(r.n, 1, at, r.fact.type, r.shoe, r.round, encode_fact(r.fact)))
            if r.seq is not None:
                frame = frames.frame_bytes(r, feed=self.journal.feed_id, table="m-1", epoch=1, at_ms=at)
                self._frames.append(Frame(r.seq, r.n, frame))
        self.table.accept(outcome)
        if len(self._rows) >= APPEND_FACTS:
            self.flush()

    def flush(self) -> None:
        """Write what was kept, as sent."""
        self.journal.append(self._rows, self._frames)
        self.journal.mark_sent(self.journal.last_seq)
        self._rows, self._frames = [], []

    def order(self, name: str, role: str = "game_server", **args: Any) -> None:
        """A command, arguments as they come over the wire."""
        self._id += 1
        envelope = Envelope(id=f"month-{self._id:08d}", command=name, args=args, seen_seq=self.table.state.seq)
        self.put(CommandInput(authorise(envelope, role=role, person="pat"), "20261129"))

    def step(self) -> None:
        """Do what the step says."""
        state = self.table.state
        round_ = state.round.id if state.round else ""
        deadline = self.table.deadline()
        if deadline is not None and deadline[0] == "post":
            self.put(DeadlineInput("post"))
            return
        self.now += 1500
        match state.step.kind:
            case "load_shoe":
                self._shoe = [face for face in FACES for _ in range(8)]
                self._random.shuffle(self._shoe)
                self.order("load_shoe", "dealer")
            case "draw":
                if len(self._shoe) <= 60 and state.shoe is not None and not state.shoe.cut_out:
                    self.put(ShoeInput(e.CutCard()))
                self.put(ShoeInput(e.CardDrawn(self._shoe.pop())))
            case "open_bets":
                self.rounds += 1
                self.order("open_bets")
            case "close_bets":
                game = self.table.setting.rules.game
                bet = "BANKER" if game == "baccarat" else "main"
                rows = [
                    {"player": p, "bet": bet, "stake": 100} | ({"box": box} if game == "classic" else {})
                    for box, p in enumerate(PLAYERS, 1)
                ]
                self.order("place_bets", round=round_, bets=rows)
                self.order("close_bets")
            case "insurance":
                self.order("close_decisions", round=round_)
            case "decide":
                step = state.step
                line = step.line or ""
                asked = [PLAYERS[int(line.split("/")[1]) - 1]] if line.startswith("seat/") else PLAYERS
                rows = [{"player": p, "line": line, "n": step.prefix_len, "request": "stand"} for p in asked]
                self.order("decide", round=round_, decisions=rows)
            case _:
                assert deadline is not None, state.step
                self.now = max(self.now, deadline[1])
                self.put(DeadlineInput(deadline[0]))


def build(folder: Path, rounds: int, game: str, seed: int = 20261129) -> Loaded:
    """A journal of so many rounds, with its table file and keys."""
    (folder / "table.toml").write_text(TABLE.format(game=game))
    keys.make_server(folder / "keys")
    keys.make_person(folder / "keys", "observer", "olga")
    loaded = load(folder / "table.toml")
    month = Month(loaded, seed)
    shown = time.monotonic()
    while month.rounds < rounds or month.table.state.step.kind != "open_bets":
        month.step()
        if time.monotonic() - shown > 10:
            shown = time.monotonic()
            print(f"{month.rounds} of {rounds} rounds", file=sys.stderr, flush=True)
    month.flush()
    month.journal.close()
    return loaded


def start_s(loaded: Loaded) -> float:
    """Seconds from the start of the process until it answers commands."""
    ready = loaded.path.parent / "ready"
    ready.unlink(missing_ok=True)
    words = [sys.executable, "-m", "controller.cli", "run", str(loaded.path), "--ready-file", str(ready)]
    began = time.monotonic()
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as table:
        while not ready.exists():
            assert table.poll() is None, "the table did not start"
            time.sleep(0.005)
        taken = time.monotonic() - began
        table.terminate()
    return taken


def audit_s(loaded: Loaded, *more: str) -> tuple[float, Any]:
    """Seconds of one audit, and what it found."""
    words = [sys.executable, "-m", "controller.service.audit", str(loaded.path), *more]
    began = time.monotonic()
    done = subprocess.run(words, capture_output=True, check=True)
    return time.monotonic() - began, json.loads(done.stdout)


def main() -> int:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--game", choices=("boundless", "classic", "baccarat"), default="boundless")
    parser.add_argument("--keep", type=Path, help="build in this folder and leave it")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dealerd-month-") as temporary:
        folder = args.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        began = time.monotonic()
        if (folder / "m.journal").exists():
            loaded = load(folder / "table.toml")
        else:
            loaded = build(folder, args.rounds, args.game)
        found: dict[str, Any] = {
            "game": args.game,
            "rounds": args.rounds,
            "built_s": round(time.monotonic() - began, 1),
            "mib": os.path.getsize(loaded.journal) >> 20,
        }
        found["start_from_facts_s"] = round(start_s(loaded), 2)
        found["audit_s"], finding = (lambda pair: (round(pair[0], 1), pair[1]))(audit_s(loaded))
        assert finding["fault"] is None, finding
        found["facts"], found["milestone_n"] = finding["last_n"], finding["milestone_n"]
        found["starts_from_milestone_s"] = [round(start_s(loaded), 2) for _ in range(5)]
        found["audit_since_milestone_s"] = round(audit_s(loaded, "--since-milestone")[0], 2)
        print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
