"""``dealerd rules`` and ``dealerd bets`` as a person calls them: a table file, a real journal."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from controller import facts as f
from controller import frames
from controller.book.rows import BalanceRequest
from controller.book.setting import BookSetting
from controller.cli import main
from controller.commands import Envelope, authorise
from controller.config import Loaded, load
from controller.journal.records import FactRow, Frame
from controller.journal.store import Journal
from controller.table.draft import Setting
from controller.table.inputs import BalancesInput, CommandInput, DeadlineInput, Input, ShoeInput, Start
from controller.table.table import Table
from drivers import events as e

Run = Callable[..., tuple[int, str, str]]

AT_MS = 1_796_000_000_000
FILE = """\
[table]
id = "bac-1"
journal = "t.journal"

[game]
game = "baccarat"
burn = "none"

[shoe]
protocol = "line"
port = "/nowhere/shoe"

[limits.TIE]
min = 2
max = 900
"""


@pytest.fixture
def dealerd(capsys: pytest.CaptureFixture[str]) -> Run:
    """``dealerd("bets", …)`` → (status, standard output, standard error)."""

    def run(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            status = main([str(word) for word in words])
        except SystemExit as done:  # argparse
            status = int(done.code or 0)
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A table file; its journal does not exist yet."""
    path = tmp_path / "table.toml"
    path.write_text(FILE)
    return path


class Writer:
    """What the service does with a table, less its sockets: decide, make durable, become."""

    def __init__(self, loaded: Loaded) -> None:
        config = loaded.config
        setting = BookSetting(table=config.table.id, game=config.game.game, limits=config.limits)
        self.table = Table(Setting(config.table.id, config.game, book=setting))
        self.journal = Journal.create_or_open(loaded.journal, table=config.table.id, now_ms=AT_MS)
        self.now = 0
        self.put(Start("test", "digest", "{}"))
        self.put(ShoeInput(e.PortRestored("pty")))
        self.order("start_shift", "supervisor")
        self.order("load_shoe", "dealer")

    def put(self, what: Input) -> None:
        self.now += 1
        outcome = self.table.decide(what, self.now, self.now.to_bytes(32, "big"))
        assert outcome.refusal is None, outcome.refusal
        journal, epoch, at, rows, sent = self.journal, outcome.state.epoch, AT_MS + self.now, [], []
        for r in outcome.records:
            rows.append(FactRow(r.n, epoch, at, r.fact.type, r.shoe, r.round, f.encode_fact(r.fact)))
            if r.seq is not None:
                frame = frames.frame_bytes(r, feed=journal.feed_id, table=journal.table, epoch=epoch, at_ms=at)
                sent.append(Frame(r.seq, r.n, frame))
        journal.append(rows, sent)
        self.table.accept(outcome)

    def order(self, name: str, role: str = "game_server", **args: Any) -> None:
        envelope = Envelope(id=f"test-{self.now:06d}", command=name, args=args, seen_seq=self.table.state.seq)
        self.put(CommandInput(authorise(envelope, role=role, person="pat"), "20261129"))

    def bets(self, **stakes: tuple[str, int]) -> None:
        """``player=(bet, stake)``, in a new round."""
        self.order("open_bets")
        assert self.table.state.round is not None
        rows = [{"player": player, "bet": bet, "stake": stake} for player, (bet, stake) in stakes.items()]
        self.order("place_bets", round=self.table.state.round.id, bets=rows)

    def play(self, cards: str) -> None:
        self.order("close_bets")
        for card in cards.split():
            self.put(ShoeInput(e.CardDrawn(card)))
        while (found := self.table.deadline()) is not None and found[0] == "post":
            self.put(DeadlineInput("post"))


@pytest.fixture
def writer(file: Path) -> Iterator[Writer]:
    """A running table with three rounds: BANKER won, void, bets open; its journal is open for writing."""
    one = Writer(load(file))
    one.put(BalancesInput((BalanceRequest("ann", 1000), BalanceRequest("=1+1", 1000))))
    one.bets(ann=("BANKER", 10), **{"=1+1": ("TIE", 5)})
    one.play("2C 9H TC TD")
    one.bets(ann=("PLAYER", 20))
    one.order("void", "supervisor", reason="a card fell")
    while (found := one.table.deadline()) is not None and found[0] == "post":
        one.put(DeadlineInput("post"))
    one.order("reopen", "supervisor", reason="cleared")
    one.bets(ann=("PLAYER", 30))
    yield one
    one.journal.close()


FIRST, SECOND, THIRD = (f"20261129-0001-00{n}" for n in (1, 2, 3))


@pytest.mark.usefixtures("writer")
def test_the_record_is_read_while_the_table_runs(dealerd: Run, file: Path) -> None:
    status, out, err = dealerd("bets", file)
    assert (status, err) == (0, "")
    rows = [json.loads(line) for line in out.splitlines()]
    assert [(r["round"], r["player"], r["what"], r["bet"], r["amount"]) for r in rows] == [
        (FIRST, "ann", "bet", "BANKER", -10),
        (FIRST, "=1+1", "bet", "TIE", -5),
        (FIRST, "ann", "settlement", "BANKER", 19),
        (FIRST, "=1+1", "settlement", "TIE", 0),
        (SECOND, "ann", "bet", "PLAYER", -20),
        (SECOND, "ann", "refund", "PLAYER", 20),
        (THIRD, "ann", "bet", "PLAYER", -30),
    ]
    assert rows[0] == {
        "time": rows[0]["time"], "round": FIRST, "version": 1, "player": "ann", "what": "bet", "bet": "BANKER",
        "box": None, "behind": False, "line": None, "stake": 10, "result": None, "returned": None, "amount": -10,
        "transaction": f"bac-1:{FIRST}:1:bet:BANKER:ann", "reference": None,
    }  # fmt: skip
    assert frames.iso_ms(AT_MS) < rows[0]["time"] < rows[4]["time"] < frames.iso_ms(AT_MS + 1000)
    assert rows[5]["reference"] == rows[4]["transaction"]


@pytest.mark.usefixtures("writer")
def test_by_round_and_by_player(dealerd: Run, file: Path) -> None:
    for words, count in (
        (("--round", SECOND), 2),
        (("--player", "ann"), 5),
        (("--round", FIRST, "--player", "ann"), 2),
    ):
        status, out, _ = dealerd("bets", file, *words)
        assert (status, len(out.splitlines())) == (0, count)
    status, out, err = dealerd("bets", file, "--player", "bob")
    assert (status, out, err) == (0, "", "no such bets\n")


@pytest.mark.usefixtures("writer")
def test_csv_is_quoted_and_safe_for_spreadsheets(dealerd: Run, file: Path, tmp_path: Path) -> None:
    status, out, err = dealerd("bets", file, "--format", "csv", "--out", tmp_path / "bets.csv")
    assert (status, out, err) == (0, f"7 rows written to {tmp_path / 'bets.csv'}\n", "")
    raw = (tmp_path / "bets.csv").read_bytes()
    assert raw.startswith(b'"time","round","version","player","what","bet","box","behind","line","stake","result"')
    assert raw.count(b"\r\n") == 8
    rows = list(csv.DictReader(io.StringIO(raw.decode(), newline="")))
    assert [row["player"] for row in rows[:2]] == ["ann", "'=1+1"]
    assert (rows[0]["amount"], rows[0]["behind"], rows[0]["returned"]) == ("-10", "false", "")


@pytest.mark.usefixtures("writer")
def test_totals(dealerd: Run, file: Path) -> None:
    status, out, err = dealerd("bets", file, "--totals")
    assert (status, err) == (0, "")
    found = [json.loads(line) for line in out.splitlines()]
    keys = ("round", "version", "state", "players", "stake", "returned", "amount", "agrees")
    assert [tuple(row[key] for key in keys) for row in found] == [
        (FIRST, 1, "settled", 2, 15, 19, 4, True),
        (SECOND, 1, "void", 1, 20, 20, 0, True),
        (THIRD, 1, "open", 1, 30, 0, -30, None),
    ]
    status, out, _ = dealerd("bets", file, "--totals", "--player", "ann", "--format", "csv", "--round", FIRST)
    assert status == 0
    assert out.splitlines()[1].endswith('"1","settled","1","10","19","9",""')


def test_totals_that_the_table_did_not_announce(dealerd: Run, file: Path, writer: Writer) -> None:
    writer.play("2C 9H TC TD")
    n, seq = writer.journal.last_n, writer.journal.last_seq
    told = f.encode_fact(f.BetsSettled(version=1, stake=30, returned=31, players=1))
    frame = Frame(seq + 1, n + 1, b"{}")
    writer.journal.append([FactRow(n + 1, 1, AT_MS, "bets_settled", "20261129-0001", THIRD, told)], [frame])
    status, out, err = dealerd("bets", file, "--totals")
    assert status == 1
    assert [json.loads(line)["agrees"] for line in out.splitlines()] == [True, True, False]
    assert f"round {THIRD}: its rows (30 staked, 0 returned, 1 players) are not what the table announced" in err


@pytest.mark.usefixtures("writer")
def test_what_cannot_be_answered(dealerd: Run, file: Path, tmp_path: Path) -> None:
    status, out, err = dealerd("bets", file, "--round", "20261129-0001-999")
    assert (status, out) == (2, "")
    assert err == f"there is no round 20261129-0001-999 in {tmp_path / 't.journal'}\n"
    status, _, err = dealerd("bets", file, "--out", tmp_path / "t.journal")
    assert (status, "is the journal itself" in err) == (2, True)
    other = tmp_path / "other.toml"
    other.write_text(FILE.replace("bac-1", "bac-2"))
    status, _, err = dealerd("bets", other)
    assert (status, "the journal of table bac-1, not bac-2" in err) == (2, True)


def test_a_table_without_a_book_or_without_a_journal(dealerd: Run, file: Path) -> None:
    status, out, err = dealerd("bets", file)
    assert (status, out) == (1, "")
    assert "there is no journal" in err
    file.write_text(FILE.replace('"none"', '"none"\ndecisions = "platform"').split("[limits")[0])
    loaded = load(file)
    Journal.create_or_open(loaded.journal, table="bac-1", now_ms=AT_MS).close()
    status, out, err = dealerd("bets", file)
    assert (status, out) == (2, "")
    assert 'decisions = "platform": the platform keeps the bets' in err


# --- rules -------------------------------------------------------------------------------------------------------


def test_rules_of_a_table_file(dealerd: Run, file: Path) -> None:
    status, out, err = dealerd("rules", file)
    assert (status, err) == (0, "")
    assert out.startswith("Rules of Baccarat, table bac-1\n")
    assert load(file).digest in " ".join(out.split())
    assert "No card is burned. [SHOE-12]" in out
    assert "  TIE     TIE     2      900" in out
    status, plain, _ = dealerd("rules", "baccarat")
    assert status == 0
    assert "a table file may choose others" in " ".join(plain.split())
    file.write_text(FILE.replace("max = 900", "max = 901"))
    assert "901" in dealerd("rules", file)[1]


@pytest.mark.parametrize(("form", "start"), [("text", "Rules of"), ("md", "# Rules of"), ("html", "<!DOCTYPE html>")])
@pytest.mark.parametrize("game", ["boundless", "classic", "baccarat"])
def test_rules_in_every_form(dealerd: Run, game: str, form: str, start: str) -> None:
    status, out, err = dealerd("rules", game, "--format", form)
    assert (status, err) == (0, "")
    assert out.startswith(start)
    assert out.endswith("\n")


def test_rules_of_nothing_known(dealerd: Run, file: Path) -> None:
    status, out, err = dealerd("rules", "poker")
    assert (status, out) == (2, "")
    assert err == "poker: neither a game nor a table file; the games are boundless, classic, baccarat\n"
    file.write_text(FILE.replace('"none"', '"two"'))
    status, _, err = dealerd("rules", file)
    assert (status, "[game] burn" in err) == (2, True)
    assert dealerd("rules", "baccarat", "--format", "pdf")[0] == 2


def test_rules_need_no_table_and_no_terminal() -> None:
    words = [sys.executable, "-m", "controller.cli", "rules", "boundless"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Boundless Blackjack" in done.stdout
