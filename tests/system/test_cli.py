"""Every command: help for a newcomer, and for wrong input a status, a place and a remedy, never a traceback."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.bus import keys
from controller.cli import COMMANDS, main
from controller.commands import COMMANDS as ORDERS

Run = Callable[..., tuple[int, str, str]]

GOOD = """\
[table]
id = "t-1"
journal = "t.journal"
feed = "ipc://feed.sock"
commands = "ipc://commands.sock"

[game]
game = "boundless"

[shoe]
protocol = "line"
port = "/nowhere/shoe"
"""


@pytest.fixture
def dealerd(capsys: pytest.CaptureFixture[str]) -> Run:
    """``dealerd("run", …)`` → (status, standard output, standard error). An exception fails the test."""

    def run(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            status = main([str(word) for word in words])
        except SystemExit as done:  # argparse
            status = int(done.code or 0)
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return run


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """A good table file without keys."""
    file = tmp_path / "table.toml"
    file.write_text(GOOD)
    return file


# --- help --------------------------------------------------------------------------------------------------------

HELP = {
    ("demo",): "simulated studio table|until Ctrl-C",
    ("run",): "until SIGTERM",
    ("shoe",): "shoe without hardware",
    ("watch",): "what the table publishes",
    ("ctl",): "one command to a table",
    ("decode",): "events, one JSON object a line",
    ("bets",): "amount that players staked",
    ("rules",): "rules and paytable",
    ("vectors",): "vector",
    ("calibrate",): "tag",
    ("calibrate", "tags"): "tag",
    ("rtp",): "what every bet returns on average",
    ("doctor",): "everything a table needs before its shift",
    ("journal",): "every fact of the table",
    ("journal", "upgrade"): "backup beside the file",
    ("journal", "verify"): "no fact and no frame was changed",
    ("journal", "show"): "cards never revealed stay masked",
    ("journal", "export"): "cards never revealed stay masked",
    ("bench",): "beside bare baselines",
    ("keys",): "key pair",
    ("keys", "server"): "the table's own pair",
    ("keys", "person"): "for a person or program",
    ("keys", "list"): "who may speak to the table|everybody who may speak",
}


def test_help_lists_every_command(dealerd: Run) -> None:
    status, out, _ = dealerd("--help")
    assert status == 0
    assert "dealerd demo" in out
    for name in COMMANDS:
        assert f"\n    {name}" in out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command(dealerd: Run, name: str) -> None:
    status, out, err = dealerd(name, "--help")
    assert (status, err) == (0, "")
    assert out.startswith(f"usage: dealerd {name}")
    assert len(out.split("\n\n")[1].split()) >= 6, "not a sentence on what it does"


@pytest.mark.parametrize("words", HELP, ids=" ".join)
def test_help_says_what_a_command_is_for(dealerd: Run, words: tuple[str, ...]) -> None:
    status, out, err = dealerd(*words, "--help")
    assert (status, err) == (0, "")
    assert out.startswith("usage: dealerd " + words[0])
    text = " ".join(out.split())
    assert any(phrase in text for phrase in HELP[words].split("|")), text


@pytest.mark.parametrize("order", ORDERS)
def test_help_of_every_order(dealerd: Run, order: str) -> None:
    status, out, _ = dealerd("ctl", "table.toml", order, "--help")
    assert status == 0
    assert order in out
    assert len(out.split("\n\n")[1].split()) >= 3, "no word on what it does"


def test_version_and_the_module_form() -> None:
    for words, wanted in ((["--version"], "dealerd "), (["run", "--help"], "usage: dealerd run")):
        done = subprocess.run(
            [sys.executable, "-m", "controller.cli", *words], capture_output=True, text=True, timeout=30, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(wanted)


@pytest.mark.parametrize(
    "words",
    [
        [], ["no-such"], ["run"], ["watch"], ["ctl"], ["ctl", "t.toml"], ["ctl", "t.toml", "no-such"], ["decode"],
        ["journal"], ["journal", "mend", "x"], ["keys"], ["keys", "person", "k"], ["rtp", "poker"],
        ["bench", "no-such"],
        ["shoe"], ["shoe", "--protocol", "morse"], ["demo", "--game", "poker"], ["demo", "--rounds", "x"],
        ["ctl", "t.toml", "pause"], ["ctl", "t.toml", "since", "--seq", "x"],
        ["ctl", "t.toml", "resume", "--reason", "r", "--how", "trust"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_wrong_words(dealerd: Run, words: list[str]) -> None:
    status, out, err = dealerd(*words)
    assert status == 2
    assert out == ""
    assert "usage: dealerd" in err


# --- the table file ----------------------------------------------------------------------------------------------


def test_check_of_a_good_file(dealerd: Run, good: Path) -> None:
    status, out, err = dealerd("run", good, "--check")
    assert status == 0
    notes = err.splitlines()
    assert ["will not start" in notes[0], "[shoe] port" in notes[1], len(notes)] == [True, True, 2]
    assert "good; table t-1, boundless, shoe line" in out
    assert len(out.split()[-1]) == 64
    assert [p.name for p in good.parent.iterdir()] == ["table.toml"], "a check leaves nothing behind"


def test_check_names_what_is_not_there_yet(dealerd: Run, good: Path) -> None:
    camera = '[validation]\nsources = "both"\n[camera]\nsource = "/dev/video0"\nlayout = "nix"\nprofiles = ["none"]\n'
    good.write_text(GOOD.replace("t.journal", "none/t.journal") + camera)
    status, _, err = dealerd("run", good, "--check")
    assert status == 0
    for words in ("there is no folder", "[camera] layout: the camera will not start: nix", "[camera] profiles: "):
        assert words in err
    good.write_text(GOOD + camera.partition("[camera]")[0])
    assert 'sources = "both" and no [camera]' in dealerd("run", good, "--check")[2]


WRONG_FILES = {
    # name: (old, new, what the message must name)
    "table: unknown key": ("[game]", 'colour = "red"\n[game]', "[table] colour known: id"),
    "game: unknown key": ("[shoe]", "jokers = 2\n[shoe]", "[game] jokers known: game, last_round_policy"),
    "shoe: unknown key": ("[shoe]", "[shoe]\nusb = 1", "[shoe] usb known: protocol, port"),
    "validation: unknown key": ("[shoe]", "[validation]\ncamera = 1\n[shoe]", "[validation] camera known: sources"),
    "unknown section": ("[shoe]", "[jackpot]\n[shoe]", "jackpot known: table, game, shoe, validation"),
    "no game": ('game = "boundless"', "", "[game] game"),
    "no section": ("[table]", "[validation]", "table"),
    "enum": ('"boundless"', '"boundless"\nburn = "two"', "[game] burn 'two' by_first_card, one, none"),
    "enum that may be left out": ("[shoe]", '[shoe]\nparity = "X"', "[shoe] parity 'X' N, E, O, M, S"),
    "unknown game": ('"boundless"', '"poker"', "[game] game 'poker' boundless, baccarat"),
    "unknown sources": ("[shoe]", '[validation]\nsources = "radar"\n[shoe]', "[validation] sources shoe"),
    "unknown protocol": ('"line"', '"morse"', "[shoe] 'morse' angel, line"),
    "wrong type": ('"boundless"', '"boundless"\nbetting_s = "15"', "[game] betting_s a number text in quotes"),
    "fraction": ('"boundless"', '"boundless"\nreserve = 1.5', "[game] reserve whole number"),
    "text for a switch": ('"boundless"', '"boundless"\ndouble_after_split = "no"', "[game] double_after_split true"),
    "time below zero": ('"boundless"', '"boundless"\nbetting_s = -1', "[game] betting_s -1"),
    "time not a number": ('"boundless"', '"boundless"\npeek_delay_s = nan', "[game] peek_delay_s nan"),
    "time without end": ('"boundless"', '"boundless"\ninsurance_s = inf', "[game] insurance_s inf"),
    "time beyond all bounds": ('"boundless"', '"boundless"\nauto_void_after_s = 1e300', "[game] auto_void_after_s"),
    "reserve": ('"boundless"', '"boundless"\nreserve = 417', "[game] reserve 0 to 416"),
    "broken TOML": ("[game]", "[game", "not TOML line"),
    "not UTF-8": ("t-1", "t-\udcff", "not TOML UTF-8"),
    "key twice": ('id = "t-1"', 'id = "t-1"\nid = "t-2"', "not TOML"),
    "boundless with angel": ('"line"', '"angel"', "[shoe] 'angel' blackjack baccarat as_reader"),
    "a blackjack rule for baccarat": (
        '"boundless"', '"baccarat"\nsurrender_against = "two_to_ten"', "[game] surrender_against baccarat remove",
    ),
    "two blackjack rules for baccarat": (
        '"boundless"', '"baccarat"\ndealer_draws = "always"\nsplit_order = "split_first"', "dealer_draws split_order",
    ),
    "bad id": ('"t-1"', '"Table 1"', "[table] id 'Table 1' a-z"),
    "empty id": ('"t-1"', '""', "[table] id"),
    "id with a slash": ('"t-1"', '"t/1"', "[table] id 't/1'"),
    "bad feed": ('"ipc://feed.sock"', '"http://x:1"', "[table] feed 'http://x:1' tcp://HOST:PORT"),
    "feed without a port": ('"ipc://feed.sock"', '"tcp://127.0.0.1"', "[table] feed tcp://HOST:PORT"),
    "bad commands": ('"ipc://commands.sock"', '"inproc://x"', "[table] commands 'inproc://x'"),
    "one endpoint for both": ('"ipc://commands.sock"', '"ipc://feed.sock"', "[table] feed commands own endpoint"),
    "empty port": ('"/nowhere/shoe"', '""', "[shoe] port"),
    "port of another kind": ('"/nowhere/shoe"', '"http://x"', "[shoe] 'http://x' socket://"),
    "baudrate": ("[shoe]", "[shoe]\nbaudrate = 0", "[shoe] baudrate"),
    "bits": ("[shoe]", "[shoe]\nbytesize = 9", "[shoe] bytesize 5, 6, 7, 8"),
    "repeat window": ("[shoe]", "[shoe]\nrepeat_window_s = -0.1", "[shoe] repeat_window_s"),
    "cut code that is a card": ("[shoe]", '[shoe]\ncut_codes = ["D12"]', "[shoe] 'D12'"),
    "cut code that is a no-read": ("[shoe]", '[shoe]\ncut_codes = ["NR"]', "[shoe] 'NR'"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_FILES)
@pytest.mark.parametrize("words", [("run", "--check"), ("run",)], ids=" ".join)
def test_wrong_table_file(dealerd: Run, good: Path, name: str, words: tuple[str, ...]) -> None:
    old, new, named = WRONG_FILES[name]
    assert old in GOOD
    good.write_bytes(GOOD.replace(old, new).encode(errors="surrogateescape"))
    status, out, err = dealerd(words[0], good, *words[1:])
    assert (status, out) == (2, ""), err
    assert err.startswith(f"{good}: ")
    for word in named.split(" ") if "," not in named else named.replace(",", "").split():
        assert word in err.replace(",", ""), f"{word!r} is not named in: {err}"
    assert [p.name for p in good.parent.iterdir()] == ["table.toml"]


@pytest.mark.parametrize("words", [("run", "--check"), ("run",), ("watch",)], ids=" ".join)
def test_missing_table_file(dealerd: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    for path, why in ((tmp_path / "none.toml", "No such file"), (tmp_path, "Is a directory")):
        status, _, err = dealerd(words[0], path, *words[1:])
        assert status == 2
        assert err.startswith(f"{path}: cannot be read: {why}")


# --- keys --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("run",), ("watch",), ("ctl", "status")], ids=" ".join)
def test_keys_missing(dealerd: Run, good: Path, words: tuple[str, ...]) -> None:
    status, _, err = dealerd(words[0], good, *words[1:])
    assert status == 2
    assert str(good.parent / "keys") in err
    assert "dealerd keys" in err


def test_keys_with_wrong_modes(dealerd: Run, good: Path) -> None:
    folder = good.parent / "keys"
    keys.make_server(folder)
    keys.make_person(folder, "observer", "olga")
    secret = folder / "server.key_secret"
    mine = folder / "observer" / "olga.key_secret"
    for path, mode, words in (
        (folder, 0o777, ("run", good)), (secret, 0o644, ("run", good)), (secret, 0o604, ("run", good)),
        (mine, 0o640, ("ctl", good, "status")), (folder / "server.key", 0o666, ("ctl", good, "status")),
    ):  # fmt: skip
        before = path.stat().st_mode & 0o777
        path.chmod(mode)
        status, _, err = dealerd(*words)
        assert status == 2
        assert str(path) in err
        assert "chmod" in err
        path.chmod(before)


def test_nobody_with_a_fitting_key(dealerd: Run, good: Path) -> None:
    folder = good.parent / "keys"
    keys.make_server(folder)
    keys.make_person(folder, "observer", "olga")
    status, _, err = dealerd("ctl", good, "pause", "--reason", "r")
    assert status == 2
    assert "no secret key of a dealer or supervisor" in err
    assert "dealerd keys person" in err
    status, _, err = dealerd("ctl", good, "--as", "supervisor/sam", "pause", "--reason", "r")
    assert status == 2
    assert "supervisor/sam; there is: observer/olga" in err
    keys.make_person(folder, "observer", "otto")
    status, _, err = dealerd("ctl", good, "status")
    assert status == 2
    assert "observer/olga, observer/otto" in err
    assert "--as" in err


def test_making_keys(dealerd: Run, tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    assert dealerd("keys", "server", folder)[0] == 0
    assert dealerd("keys", "person", folder, "dealer", "dana")[0] == 0
    status, out, _ = dealerd("keys", "list", folder)
    assert status == 0
    assert [line.split()[:2] for line in out.splitlines()] == [["server", "server"], ["dealer", "dana"]]
    secret = (folder / "dealer" / "dana.key_secret").read_text().split('secret-key = "')[1].split('"')[0]
    assert secret not in out
    for words, named in (
        (("server", folder), "server.key"), (("person", folder, "dealer", "dana"), "dana.key"),
        (("person", folder, "dealer", "Dana"), "'Dana'"), (("person", folder, "dealer", "../x"), "'../x'"),
        (("person", folder, "boss", "dana"), "boss"), (("list", tmp_path / "none"), "none"),
        (("server", __file__), "test_cli.py"),
    ):  # fmt: skip
        status, _, err = dealerd("keys", *words)
        assert (status, named in err) == (2, True), (words, err)


def test_an_address_needs_the_keys_too(dealerd: Run) -> None:
    for command in (("watch", "tcp://127.0.0.1:1"), ("ctl", "tcp://127.0.0.1:1", "status")):
        status, _, err = dealerd(*command)
        assert status == 2
        assert "--server-key FILE and --key FILE" in err


# --- a table that is not there -----------------------------------------------------------------------------------


def test_a_table_that_does_not_run(good: Path) -> None:
    """Not waited for in silence. (Processes, so that both wait at once.)"""
    keys.make_server(good.parent / "keys")
    keys.make_person(good.parent / "keys", "observer", "olga")
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "controller.cli", command, str(good), *rest],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for command, *rest in (("ctl", "status"), ("watch",))
    ]  # fmt: skip
    for process in both:
        out, err = process.communicate(timeout=20)
        assert (process.returncode, out) == (1, "")
        assert "no answer" in err
        assert "the table is down" in err
        assert "commands.sock" in err
        assert "Traceback" not in err


def test_the_journal_of_a_running_table_is_locked(dealerd: Run, rig: Callable[..., Any]) -> None:
    table = rig()
    status, _, err = dealerd("run", table.file)
    assert status == 1
    assert "already open for writing by process" in err
    assert str(table._process.pid) in err
    assert table.status()["phase"] == "closed"
    # Reading beside it is allowed.
    assert dealerd("journal", "verify", table.folder / "t.journal")[0] == 0


def test_the_journal_of_another_table(dealerd: Run, rig: Callable[..., Any]) -> None:
    table = rig()
    assert table.stop() == 0
    table.file.write_text(table.file.read_text().replace('"t-1"', '"t-2"'))
    status, _, err = dealerd("run", table.file)
    assert status == 1
    assert "belongs to table 't-1', not 't-2'" in err


def test_the_endpoints_of_a_running_table(dealerd: Run, rig: Callable[..., Any]) -> None:
    """A copied table file with another id and journal must not take the first table's clients away."""
    table = rig()
    other = table.folder / "other.toml"
    other.write_text(table.file.read_text().replace('"t-1"', '"t-2"').replace("t.journal", "u.journal"))
    status, _, err = dealerd("run", other)
    assert status == 1
    assert "another program does" in err
    assert "feed.sock" in err
    table.order("start_shift")
    table.kill()
    table.run()  # a file left behind by a killed table is no obstacle
    assert table.status()["phase"] == "shoe_change"


def test_a_journal_that_cannot_be(dealerd: Run, good: Path) -> None:
    keys.make_server(good.parent / "keys")
    for name, named in (("none/t.journal", "there is no directory"), ("table.toml", "chmod 600")):
        good.write_text(GOOD.replace("t.journal", name))
        good.chmod(0o644)
        status, _, err = dealerd("run", good)
        assert status == 1
        assert named in err


def test_ready_file_without_a_folder(dealerd: Run, good: Path) -> None:
    status, _, err = dealerd("run", good, "--ready-file", good.parent / "none" / "ready")
    assert status == 2
    assert "--ready-file" in err


def test_ctl_and_watch_with_a_table(dealerd: Run, rig: Callable[..., Any]) -> None:
    table = rig()
    status, out, _ = dealerd("ctl", table.file, "start_shift")
    assert status == 0
    assert json.loads(out)["ok"] is True
    status, out, err = dealerd("ctl", table.file, "open_bets")
    assert (status, out) == (1, "")
    assert err.splitlines() == [
        "refused (not_allowed_now): the procedure waits for load_shoe, not open_bets",
        "expected: load_shoe",
    ]
    status, _, err = dealerd("ctl", table.file, "--seen-seq", "0", "void", "--reason", "r")
    assert (status, "refused" in err) == (1, True)
    status, _, err = dealerd("ctl", "--as", "dealer/dana", table.file, "start_shift")
    assert err == "refused (forbidden): role dealer may not send start_shift\nexpected: a key of role supervisor\n"
    assert status == 1
    status, _, err = dealerd("ctl", table.file, "pause", "--reason", "r")
    assert (status, "--as" in err, "dealer/dana" in err) == (2, True, True)  # nobody signs for somebody else
    status, _, err = dealerd("ctl", "--as", "dealer/dana", table.file, "pause", "--reason", "")
    assert (status, "refused (bad_args)" in err) == (1, True)
    status, _, err = dealerd(
        "ctl", "--as", "supervisor/sam", table.file, "resume", "--reason", "r", "--how", "felt_agrees"
    )
    assert (status, "refused (not_allowed_now)" in err) == (1, True)  # nothing to resume, but well formed
    status, _, err = dealerd("ctl", table.file, "place_bets", "--round", "r", "--bets", "p1:main:100")
    assert (status, "not a JSON list" in err) == (2, True)
    status, out, _ = dealerd("watch", table.file, "--from", "0", "--count", "4", "--json")
    assert status == 0
    assert [json.loads(line)["seq"] for line in out.splitlines()] == [1, 2, 3, 4]
    status, out, err = dealerd("watch", table.file, "--count", "0")
    assert (status, out) == (0, "")
    assert re.match(r"frame \d+ was the last, step load_shoe; ", err)  # where it stands: the silence is no fault
    status, _, err = dealerd("watch", table.file, "--count", "-1")
    assert (status, "--count" in err) == (2, True)


# --- journal -----------------------------------------------------------------------------------------------------


@pytest.fixture
def journal(rig: Callable[..., Any]) -> Path:
    """The closed journal of a table that began to deal."""
    table = rig()
    table.to_dealing()
    table.line.cards("TC 6C 9H TD")
    table.step("decide main@2")
    assert table.stop() == 0
    return table.folder / "t.journal"


@pytest.mark.parametrize("action", ["verify", "show", "export"])
def test_a_file_that_is_no_journal(dealerd: Run, good: Path, action: str) -> None:
    status, out, err = dealerd("journal", action, good.parent / "none")
    assert (status, out) == (2, "")
    assert "there is no journal" in err
    assert dealerd("journal", action, good.parent)[0] == 2
    status, out, err = dealerd("journal", action, good)
    assert status == 1
    assert "not a database" in out + err


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE facts SET body = swap(body) WHERE type = 'card_dealt' AND instr(body, X'5443')",
        "UPDATE facts SET at_ms = at_ms + 1 WHERE n = 5",
        "DELETE FROM facts WHERE n = 5",
        "UPDATE outbox SET frame = swap(frame) WHERE instr(frame, X'5443')",
        "DELETE FROM outbox WHERE seq = 5",
        "UPDATE outbox SET n = n + 1 WHERE seq = 5",
    ],
)
def test_a_tampered_journal(dealerd: Run, journal: Path, tmp_path: Path, change: str) -> None:
    status, out, _ = dealerd("journal", "verify", journal, "--json")
    sound = json.loads(out)
    assert (status, sound["ok"], sound["fault"]) == (0, True, None)
    copy = tmp_path / "copy.journal"
    shutil.copy(journal, copy)
    database = sqlite3.connect(copy)
    try:
        database.execute("PRAGMA writable_schema = 1")
        for (trigger,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {trigger}")
        database.create_function("swap", 1, lambda text: text.replace(b"TC", b"9C"))
        assert database.execute(change).rowcount >= 1
        database.commit()
    finally:
        database.close()
    status, out, _ = dealerd("journal", "verify", copy, "--json")
    found = json.loads(out)
    assert (status, found["ok"]) == (1, False)
    assert "last good fact n=" in found["fault"]
    assert "TC" not in out


def test_a_cut_tail_shows_against_a_kept_hash(dealerd: Run, journal: Path) -> None:
    _, out, _ = dealerd("journal", "verify", journal, "--json")
    sound = json.loads(out)
    known = f"{sound['last_n']}:{sound['last_hash']}"
    assert dealerd("journal", "verify", journal, "--expect-last", known)[0] == 0
    status, _, err = dealerd("journal", "verify", journal, "--expect-last", "7")
    assert (status, "N:HASH" in err) == (2, True)
    wrong = f"{sound['last_n']}:{'0' * 64}"
    assert dealerd("journal", "verify", journal, "--expect-last", wrong)[0] == 1
    later = f"{sound['last_n'] + 1}:{sound['last_hash']}"
    status, out, _ = dealerd("journal", "verify", journal, "--expect-last", later)
    assert (status, "its end is missing" in out) == (1, True)


def test_show_and_export(dealerd: Run, journal: Path, tmp_path: Path) -> None:
    status, out, _ = dealerd("journal", "show", journal, "--type", "card_dealt")
    assert status == 0
    assert len(out.splitlines()) == 4
    assert "TD" not in out
    out_file = tmp_path / "out.csv"
    status, out, _ = dealerd("journal", "export", journal, "--format", "csv", "--out", out_file)
    assert status == 0
    assert f"written to {out_file}" in out
    assert out_file.read_text().startswith('"n","at"')
    before = journal.read_bytes()
    for target in (journal, tmp_path / "none" / "x", tmp_path):
        status, _, err = dealerd("journal", "export", journal, "--out", target)
        assert (status, "--out" in err) == (2, True), err
    assert journal.read_bytes() == before


# --- the others --------------------------------------------------------------------------------------------------


def test_decode(dealerd: Run, tmp_path: Path) -> None:
    file = tmp_path / "capture"
    file.write_text("4431320D0A\n44 31 32\n")
    status, out, _ = dealerd("decode", "--protocol", "line", file)
    assert status == 0
    assert json.loads(out.splitlines()[0]) == {"event": "card_drawn", "card": "QD"}
    for content, named in (
        ("4431\nD12\n", "line 2: not hex bytes: 'D12'"),
        ("é", "line 1: not hex bytes"),
        ("123", "line 1"),
    ):
        file.write_text(content)
        status, _, err = dealerd("decode", "--protocol", "line", file)
        assert (status, named in err) == (2, True), err
    status, _, err = dealerd("decode", "--protocol", "line", tmp_path / "none")
    assert (status, "none" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--rounds", "0"), "--rounds 0"),
        (("--rounds", "-3"), "--rounds -3"),
        (("--speed", "-1"), "--speed -1"),
        (("--speed", "nan"), "--speed nan"),
        (("--speed", "inf"), "--speed inf"),
        (("--json",), "--rounds"),
        (("--rounds", "1", "--folder", "/proc/none"), "/proc/none"),
        (("--rounds", "1", "--folder", __file__), "test_cli.py"),
    ],
)
def test_demo_refuses(dealerd: Run, words: tuple[str, ...], named: str) -> None:
    status, out, err = dealerd("demo", *words)
    assert (status, out) == (2, "")
    assert named in err


def test_demo_refuses_a_folder_in_use(dealerd: Run, tmp_path: Path) -> None:
    (tmp_path / "table.journal").touch()
    status, _, err = dealerd("demo", "--rounds", "1", "--folder", tmp_path)
    assert (status, "earlier demo" in err) == (2, True)
    assert [p.name for p in tmp_path.iterdir()] == ["table.journal"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--link", "/none/shoe"), "/none/shoe"),
        (("--cards", "/none/cards"), "/none/cards"),
        (("--cards", __file__), "line 1, column 1"),
        (("--replay", __file__), "line 1"),
        (("--speed", "-1"), "--speed"),
        (("--fault", "gremlin"), "gremlin"),
        (("--fault", "no_read:2"), "no_read:2|2"),
        (("--cut", "1000"), "--cut"),
        (("--mode", "open"), "--mode"),
        (("--control", "/none/socket"), "/none/socket"),
        (("--log", "/none/log"), "/none/log"),
    ],
)
def test_shoe_refuses(dealerd: Run, words: tuple[str, ...], named: str) -> None:
    status, _, err = dealerd("shoe", "--protocol", "line", *words)
    assert status == 2
    assert any(text in err for text in named.split("|")), err


def test_bench_refuses(dealerd: Run) -> None:
    for words in (("latency", "--samples", "0"), ("codecs", "--samples", "5")):
        status, _, err = dealerd("bench", *words)
        assert (status, "--samples" in err) == (2, True)
