"""Who may do what, what nonsense does to a table (nothing), and where a hidden card shows (nowhere)."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import stat
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import pytest
import zmq

from controller.bus import keys
from controller.bus.errors import CommandRefused, CommandTimeout
from controller.cli import main
from controller.commands import COMMANDS
from controller.journal.reader import open_read_only
from controller.table.commitments import verify
from drivers.line.codec import card_code

#: Design page 6, for the commands that exist.
OBSERVER = {"snapshot", "since", "status"}
DEALER = OBSERVER | {"load_shoe", "pause", "log_on", "log_off", "confirm", "report"}
MAY = {
    "observer": OBSERVER,
    "game_server": OBSERVER
    | {"open_bets", "close_bets", "close_decisions", "branch_demand"}
    | {"place_bets", "decide", "insure", "follow", "settlement", "bets", "set_balances"},
    "dealer": DEALER,
    "supervisor": DEALER
    | {"start_shift", "end_shift", "resume", "resolve", "void", "reopen"}
    | {"enter_card", "correct", "approve", "acknowledge"}
    | {"history", "statistics", "shoe_report", "calibration_get"},
    "camera": {"sighting", "camera_health"},
    "technician": {"status", "device_command", "calibration_get", "calibration_put"},
}
#: Of the design's other commands none may be half there.
NOT_YET: tuple[str, ...] = ()
WAIT_MS = 10_000


class Raw:
    """A socket that sends any bytes and shows the answer's."""

    def __init__(self, table: Any, role: str, *, kind: int = zmq.DEALER, person: str | None = None) -> None:
        contact = table.contact("observer")
        people = {"observer": "olga", "game_server": "gs", "dealer": "dana", "supervisor": "sam"}
        pair = keys.load_secret(table.folder / "keys" / role / f"{person or people[role]}.key_secret")
        self._context = zmq.Context()
        self.socket: zmq.Socket[bytes] = self._context.socket(kind)
        self.socket.linger = 0
        self.socket.curve_serverkey = keys.load_public(contact.server_key)
        self.socket.curve_publickey, self.socket.curve_secretkey = pair.public, pair.secret
        if kind == zmq.SUB:
            self.socket.setsockopt(zmq.SUBSCRIBE, b"")
        self.socket.connect(contact.feed if kind == zmq.SUB else contact.commands)

    def ask(self, *frames: bytes) -> bytes:
        self.socket.send_multipart(frames)
        assert self.socket.poll(WAIT_MS), f"no answer to {frames[-1][:80]!r}"
        answer = self.socket.recv_multipart()
        assert len(answer) == 1
        return answer[0]

    def refused(self, *frames: bytes) -> dict[str, Any]:
        """The refusal as an object, checked to be well formed."""
        answer = json.loads(self.ask(*frames))
        assert answer["ok"] is False
        assert set(answer) == {"id", "ok", "error"}
        assert set(answer["error"]) == {"code", "message", "expected"}
        return answer  # type: ignore[no-any-return]

    def waiting(self) -> list[bytes]:
        """What has come in, without waiting."""
        found = []
        with contextlib.suppress(zmq.Again):
            while True:
                found.append(b"\n".join(self.socket.recv_multipart(zmq.NOBLOCK)))
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._context.destroy(linger=0)


def body(command: str, args: Any = None, **more: Any) -> bytes:
    return json.dumps({"id": str(uuid.uuid4()), "command": command, "args": args or {}, **more}).encode()


# --- who -------------------------------------------------------------------------------------------------------


@pytest.fixture
def everybody(rig: Callable[..., Any]) -> Any:
    table = rig()
    keys.make_person(table.folder / "keys", "camera", "cam-1")
    keys.make_person(table.folder / "keys", "technician", "tess")
    table.run_again()
    return table


def test_every_role_and_every_command(everybody: Any) -> None:
    """Allowed commands get as far as their arguments, which are wrong; the others are forbidden; nothing moves."""
    before = everybody.status()
    assert set(COMMANDS) == set().union(*MAY.values()), "a command without a line in this matrix"
    people = {"camera": "cam-1", "technician": "tess"}
    for role, may in MAY.items():
        with Raw(everybody, role, person=people.get(role)) as raw:
            for command in COMMANDS:
                answer = raw.refused(body(command, {"no such": 1}))
                wanted = "bad_args" if command in may else "forbidden"
                assert answer["error"]["code"] == wanted, f"{role} {command}: {answer}"
            for command in set(NOT_YET) - set(COMMANDS):
                assert raw.refused(body(command))["error"]["code"] == "unknown_command"
    assert everybody.status() == before


def test_allowed_queries_are_answered(everybody: Any) -> None:
    for role in ("observer", "game_server", "dealer", "supervisor", "technician"):
        with Raw(everybody, role, person="tess" if role == "technician" else None) as raw:
            assert json.loads(raw.ask(body("status")))["ok"] is True


def test_an_unknown_key_hears_nothing(rig: Callable[..., Any], tmp_path: Path) -> None:
    table = rig()
    keys.make_server(tmp_path / "keys")
    keys.make_person(tmp_path / "keys", "supervisor", "sam")
    known = table.contact("observer")
    secret = tmp_path / "keys" / "supervisor" / "sam.key_secret"
    stranger = type(known)(known.table, known.feed, known.commands, known.server_key, secret)
    with stranger.client() as client:
        with pytest.raises(CommandTimeout, match="does not accept this key"):
            client.command("pause", {"reason": "let me in"}, timeout_s=0.7)
        assert client.next_event(0.0) is None
    wrong_server = type(known)(
        known.table, known.feed, known.commands, tmp_path / "keys" / "server.key", known.key_file
    )
    with wrong_server.client() as client, pytest.raises(CommandTimeout):
        client.command("status", timeout_s=0.7)
    assert table.status()["holds"] == {}
    assert b"sam" not in (table.folder / "table.log").read_bytes()


@pytest.mark.parametrize("kind", [zmq.DEALER, zmq.SUB])
def test_without_curve_nothing_is_heard(rig: Callable[..., Any], kind: int) -> None:
    table = rig()
    contact = table.contact("observer")
    context = zmq.Context()
    try:
        socket = context.socket(kind)
        socket.linger = 0
        if kind == zmq.SUB:
            socket.setsockopt(zmq.SUBSCRIBE, b"")
        socket.connect(contact.feed if kind == zmq.SUB else contact.commands)
        if kind == zmq.DEALER:
            socket.send(body("status"))
        table.order("start_shift")
        table.order("load_shoe")
        assert len(table.feed("step_opened")) >= 3
        assert not socket.poll(300)
    finally:
        context.destroy(linger=0)


def test_a_removed_key_is_refused_after_the_restart(rig: Callable[..., Any]) -> None:
    table = rig()
    (table.folder / "keys" / "dealer" / "dana.key").unlink()
    table.run_again()
    with pytest.raises(CommandTimeout):
        table.client("dealer").command("status", timeout_s=0.7)
    assert table.status()["phase"] == "closed"


# --- what ------------------------------------------------------------------------------------------------------

ID = b'"id":"abcdefgh-1"'
DEEP = b"[" * 20_000 + b"]" * 20_000
NONSENSE = {
    "not json": b"pause!",
    "empty object": b"{}",
    "a list": b"[]",
    "a number": b"7",
    "null": b"null",
    "cut off": b'{"id":"abcdefgh-1","command":"sta',
    "trailing": b'{"id":"abcdefgh-1","command":"status"} x',
    "two objects": b'{"id":"abcdefgh-1","command":"status"}{"id":"abcdefgh-2","command":"status"}',
    "no id": b'{"command":"status"}',
    "no command": b"{" + ID + b"}",
    "extra field": b"{" + ID + b',"command":"status","role":"supervisor"}',
    "id a number": b'{"id":12345678,"command":"status"}',
    "id short": b'{"id":"1234567","command":"status"}',
    "id long": b'{"id":"' + b"a" * 65 + b'","command":"status"}',
    "id with a control": b'{"id":"abcdefgh\\u001b[2J","command":"status"}',
    "id not ASCII": '{"id":"абвгдежз","command":"status"}'.encode(),
    "command null": b"{" + ID + b',"command":null}',
    "args a list": b"{" + ID + b',"command":"status","args":[]}',
    "args null": b"{" + ID + b',"command":"status","args":null}',
    "seen_seq text": b"{" + ID + b',"command":"status","seen_seq":"1"}',
    "seen_seq fraction": b"{" + ID + b',"command":"status","seen_seq":1.5}',
    "seen_seq true": b"{" + ID + b',"command":"status","seen_seq":true}',
    "integer of 5,000 digits": b"{" + ID + b',"command":"status","seen_seq":' + b"9" * 5000 + b"}",
    "number out of range": b"{" + ID + b',"command":"status","args":{"a":1e999}}',
    "NaN": b"{" + ID + b',"command":"status","args":{"a":NaN}}',
    "not UTF-8": b"{" + ID + b',"command":"\xff\xfe"}',
    "id not UTF-8": b'{"id":"\xff\xfe\xff\xfe\xff\xfe\xff\xfe","command":"status"}',
    "half a surrogate": b"{" + ID + b',"command":"pause","args":{"reason":"\\ud800 no pair"}}',
    "encoded surrogate": b"{" + ID + b',"command":"pause","args":{"reason":"\xed\xa0\x80"}}',
    "UTF-16": '{"id":"abcdefgh-1","command":"status"}'.encode("utf-16"),
    "byte order mark": b'\xef\xbb\xbf{"id":"abcdefgh-1","command":"status"}',
    "NUL bytes": bytes(64),
    "deep args": b"{" + ID + b',"command":"status","args":{"a":' + DEEP + b"}}",
    "deep id": b'{"id":' + DEEP + b"}",
    "deep extra field": b'{"x":' + DEEP + b"," + ID + b',"command":"status"}',
    "deep list": DEEP,
    "deep objects": b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
}


def test_nonsense_is_malformed_and_changes_nothing(rig: Callable[..., Any]) -> None:
    table = rig()
    before = table.status()
    with Raw(table, "observer") as raw:
        for name, nonsense in NONSENSE.items():
            answer = raw.refused(nonsense)
            assert answer["error"]["code"] == "malformed", f"{name}: {answer}"
            assert json.loads(raw.ask(body("status")))["ok"] is True, name
        for frames in ((b"",), (body("status"), body("status")), (b"", body("status")), (b"", b"", b"")):
            assert raw.refused(*frames)["error"]["code"] == "malformed"
    assert table.status() == before
    assert table.alive()


DEMAND = {"round": "r", "line": "main", "prefix_len": 2, "draw": True, "key": "k"}


@pytest.mark.parametrize(
    ("role", "command", "args"),
    [
        ("observer", "since", {}),
        ("observer", "since", {"seq": "1"}),
        ("observer", "since", {"seq": 1.5}),
        ("observer", "since", {"seq": None}),
        ("observer", "since", {"seq": True}),
        ("observer", "status", {"x": 1}),
        ("dealer", "pause", {}),
        ("dealer", "pause", {"reason": ""}),
        ("dealer", "pause", {"reason": "   "}),
        ("dealer", "pause", {"reason": "x" * 501}),
        ("dealer", "pause", {"reason": 7}),
        ("dealer", "pause", {"reason": "two\nlines"}),
        ("dealer", "pause", {"reason": "\x1b[2Jcleared your screen"}),
        ("dealer", "pause", {"reason": "\u202edlrow"}),
        ("dealer", "load_shoe", {"shoe": "../../etc"}),
        ("dealer", "load_shoe", {"shoe": "x" * 41}),
        ("dealer", "load_shoe", {"shoe": ""}),
        ("game_server", "branch_demand", DEMAND | {"line": 2}),
        ("game_server", "branch_demand", DEMAND | {"draw": 1}),
        ("game_server", "branch_demand", DEMAND | {"prefix_len": "2"}),
        ("game_server", "close_decisions", {"round": "r", "window": 7}),
        ("supervisor", "resolve", {"incident": "1", "resolution": "resume", "reason": "r"}),
        ("supervisor", "void", {"reason": "r", "shoe": "yes"}),
        ("supervisor", "resume", {"reason": "r", "how": "trust me"}),
        ("supervisor", "resume", {"reason": "r", "how": ["rescan"]}),
    ],
)
def test_bad_arguments(shifted: Any, role: str, command: str, args: dict[str, Any]) -> None:
    before = shifted.status()
    with Raw(shifted, role) as raw:
        answer = raw.refused(body(command, args, seen_seq=10**6))
        assert answer["error"]["code"] == "bad_args", answer
    assert shifted.status() == before


@pytest.fixture(scope="module")
def shifted(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Any]:
    """One table, its shift started, for tests that change nothing."""
    module = request.config.pluginmanager.get_plugin(str(Path(__file__).with_name("conftest.py")))
    assert module is not None
    table = module.Rig(tmp_path_factory.mktemp("rig"))
    table.order("start_shift")
    yield table
    table.close()


def test_integers_of_any_size(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_betting()
    sizes = (2**31, 2**53, 2**63 - 1, 2**63, 2**64, 10**30, 10**400)
    with Raw(table, "observer") as raw, Raw(table, "supervisor") as boss, Raw(table, "game_server") as server:
        for size in sizes:
            page = json.loads(raw.ask(body("since", {"seq": size})))
            assert (page["data"]["frames"], page["data"]["more"]) == ([], False)
            assert raw.refused(body("since", {"seq": -size}))["error"]["code"] == "too_old"
            assert json.loads(raw.ask(body("status", seen_seq=size)))["ok"] is True
            wish = {"incident": size, "resolution": "resume", "reason": "r"}
            for seen, code in ((size, "stale"), (page["seq"], "no_incident")):  # nobody has seen the future
                assert boss.refused(body("resolve", wish, seen_seq=seen))["error"]["code"] == code
            args = {"round": table.status()["round"], "line": "main", "prefix_len": size, "draw": True, "key": "k"}
            assert server.refused(body("branch_demand", args))["error"]["code"] == "not_allowed_now"
        assert raw.refused(body("since", {"seq": -1}))["error"]["code"] == "too_old"
        assert len(json.loads(raw.ask(body("since", {"seq": 0})))["data"]["frames"]) > 10
    assert table.alive()


def test_a_reason_of_500_characters_stands(rig: Callable[..., Any]) -> None:
    table = rig()
    table.order("start_shift")
    reason = "Ä" * 500
    table.order("pause", role="dealer", reason=reason)
    assert table.status()["holds"]["pause"]["reason"] == reason
    assert table.status()["holds"]["pause"]["by"] == "dealer:dana"


def test_a_message_over_1_mib_ends_its_connection_only(rig: Callable[..., Any]) -> None:
    table = rig()
    with Raw(table, "observer") as raw, Raw(table, "observer") as other:
        biggest = body("status", {"x": "y" * ((1 << 20) - 120)})
        assert raw.refused(biggest)["error"]["code"] == "bad_args"
        raw.socket.send(b" " * ((1 << 20) + 1000))
        raw.socket.send(b" " * (16 << 20))
        assert json.loads(other.ask(body("status")))["ok"] is True
        assert not raw.socket.poll(300)
    assert table.status()["phase"] == "closed"
    assert table.alive()


# --- the same again, and too late ------------------------------------------------------------------------------


def test_the_same_id_is_answered_again_also_after_a_restart(rig: Callable[..., Any]) -> None:
    table = rig()
    table.order("start_shift")
    pause = body("pause", {"reason": "spilled drink"})
    changed = pause.replace(b"spilled drink", b"spilled water")
    assert changed != pause
    with Raw(table, "dealer") as raw, Raw(table, "supervisor") as boss:
        answer = raw.ask(pause)
        assert json.loads(answer)["ok"] is True
        seq = table.client("observer").command("status").seq
        assert raw.ask(pause) == answer
        assert raw.refused(changed)["error"]["code"] == "id_reused"
        assert boss.refused(pause)["error"]["code"] == "id_reused"
        assert table.client("observer").command("status").seq == seq
    table.order("resume", reason="cleaned up")
    table.kill()
    table.run()
    seq = table.client("observer").command("status").seq
    with Raw(table, "dealer") as raw:
        assert raw.ask(pause) == answer
        assert raw.refused(changed)["error"]["code"] == "id_reused"
    assert "pause" not in table.status()["holds"], "a repeated command took effect again"
    assert table.client("observer").command("status").seq == seq


def test_stale_commands(rig: Callable[..., Any]) -> None:
    """Who decides must have seen the newest supervision fact; to pause nobody needs to have seen anything."""
    table = rig()
    table.to_dealing()
    old = table.client("observer").command("status").seq
    table.order("pause", reason="first")
    for name, args in (
        ("resume", {"reason": "r"}), ("void", {"reason": "r"}), ("reopen", {"reason": "r"}),
        ("resolve", {"incident": 1, "resolution": "resume", "reason": "r"}),
    ):  # fmt: skip
        assert table.refused(name, seen=old, **args).code == "stale", name
        with pytest.raises(CommandRefused, match="stale"):
            table.client("supervisor").command(name, args)
    table.client("supervisor").command("pause", {"reason": "again"}, seen_seq=0)
    table.order("resume", reason="seen")
    table.step("draw player/0")


# --- files -----------------------------------------------------------------------------------------------------


def test_file_modes_do_not_depend_on_the_umask(rig: Callable[..., Any]) -> None:
    before = os.umask(0)
    try:
        table = rig()
        table.to_betting()
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in table.folder.glob("t.journal*")}
        assert modes.keys() >= {"t.journal", "t.journal-wal", "t.journal-shm", "t.journal-lock"}
        assert set(modes.values()) == {0o600}
        folder = table.folder / "keys"
        assert {stat.S_IMODE(p.stat().st_mode) for p in folder.rglob("*.key_secret")} == {0o600}
        assert {stat.S_IMODE(p.stat().st_mode) for p in (folder, *folder.iterdir()) if p.is_dir()} == {0o700}
    finally:
        os.umask(before)


def test_a_journal_that_others_may_read_stops_the_start(rig: Callable[..., Any]) -> None:
    table = rig()
    assert table.stop() == 0
    (table.folder / "t.journal").chmod(0o640)
    done = cli("run", table.file)
    assert done.returncode == 1
    assert "chmod 600" in done.stderr


# --- hidden cards ----------------------------------------------------------------------------------------------


def cli(*words: object) -> subprocess.CompletedProcess[str]:
    """``dealerd`` in a process of its own."""
    command = [sys.executable, "-m", "controller.cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def secrets_of(table: Any) -> dict[str, dict[str, Any]]:
    """Position → fact, for the face-down cards in the journal file itself."""
    found = {}
    with open_read_only(table.folder / "t.journal") as journal:
        for row in journal.facts(types=["card_dealt", "card_burned"]):
            fact = json.loads(row.body)
            if fact.get("key"):
                found[fact.get("position") or f"burn/{fact['done']}"] = fact
    return found


def everything_said(table: Any, feed: Raw, raws: dict[str, Raw]) -> dict[str, bytes]:
    """Every output of the table and of its tools at this moment."""
    journal, out = table.folder / "t.journal", table.folder / "out"
    # Public keys, which zmq.auth logs at DEBUG, are random text and may look like anything.
    log = re.sub(rb"client_key=b['\"].*", b"", (table.folder / "table.log").read_bytes())
    said = {"feed": b"\n".join(feed.waiting()), "log": log}
    for command, args in (("since", {"seq": 0}), ("snapshot", {}), ("status", {})):
        said[command] = raws["observer"].ask(body(command, args))
    round_ = table.status()["round"]
    wrong = {
        "supervisor": [
            ("resolve", {"incident": 99, "resolution": "resume", "reason": "r"}),
            ("reopen", {"reason": "r"}), ("start_shift", {}), ("end_shift", {}), ("load_shoe", {}),
        ],
        "game_server": [
            ("open_bets", {}), ("close_bets", {}), ("close_decisions", {"round": round_}),
            ("branch_demand", {"round": round_, "line": "dealer", "prefix_len": 3, "draw": True, "key": "k"}),
            ("branch_demand", {"round": "x", "line": "main", "prefix_len": 9, "draw": True, "key": "k"}),
        ],
    }  # fmt: skip
    for role, tries in wrong.items():
        for command, arguments in tries:
            said[f"{command} refused {arguments}"] = json.dumps(
                raws[role].refused(body(command, arguments, seen_seq=10**9))
            ).encode()
    count = len(table.feed())
    for words in (
        ("journal", "show", journal), ("journal", "export", journal), ("journal", "verify", journal, "--json"),
        ("journal", "export", journal, "--format", "csv"), ("journal", "export", journal, "--out", out),
        ("ctl", "--as", "supervisor/sam", table.file, "status"), ("ctl", table.file, "snapshot"),
        ("watch", table.file, "--from", 0, "--count", count),
        ("watch", table.file, "--from", 0, "--count", count, "--json"),
    ):  # fmt: skip
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(printed):
            assert main([str(word) for word in words]) == 0, (words, printed.getvalue())
        said[" ".join(map(str, words))] = printed.getvalue().encode()
    said["out"] = out.read_bytes()
    return said


def assert_nowhere(said: dict[str, bytes], *secrets: str) -> None:
    for where, text in said.items():
        assert text or where in ("feed",), f"{where} is empty: nothing was checked"
        for secret in secrets:
            at = text.find(secret.encode())
            assert at < 0, f"{secret} in {where}: …{text[max(0, at - 80) : at + 40]!r}"


def codes(card: str) -> tuple[str, ...]:
    return card, card_code(card, "scan_table"), card_code(card, "suit_rank")


def test_a_hidden_card_is_nowhere_before_its_reveal(rig: Callable[..., Any]) -> None:
    """The hole card is the queen of clubs, the burned one the jack of diamonds; nothing else in play is."""
    table = rig()
    table.run_again("--verbose")
    roles = ("observer", "supervisor", "game_server")
    with contextlib.ExitStack() as stack:
        raws = {role: stack.enter_context(Raw(table, role)) for role in roles}
        feed = stack.enter_context(Raw(table, "observer", kind=zmq.SUB))
        table.until(lambda: feed.socket.poll(50), "the feed")  # a heartbeat: the subscription stands
        table.to_burn()
        table.line.cards("AS JD")
        table.step("open_bets")
        table.order("open_bets")
        table.order("close_bets")
        table.step("draw player/0")
        table.line.cards("5S 6H 4S QC")
        table.step("decide main@2")
        hidden = secrets_of(table)
        assert {p: f.get("face", f["card"]) for p, f in hidden.items()} == {"dealer/1": "QC", "burn/1": "JD"}
        secrets = (*codes("QC"), *codes("JD"), *(f["key"] for f in hidden.values()))
        assert_nowhere(everything_said(table, feed, raws), *secrets)

        # An incident, a device loss, a crash and a restart say no more.
        table.line.cards("9S")
        table.incident("M-08")
        assert_nowhere(everything_said(table, feed, raws), *secrets, *codes("9S"))
        table.resolve("burn_card")
        table.line.unplug()
        table.until(lambda: "shoe" in table.status()["devices_lost"], "the loss")
        table.line.plug()
        table.incident("M-30")
        table.resolve("resume")
        table.kill()
        table.run("--verbose")
        table.order("resume", reason="felt agrees", how="felt_agrees")
        table.step("decide main@2")
        assert_nowhere(everything_said(table, feed, raws), *secrets)

        table.demand("main", 2, False)
        table.step("decide dealer@2")
        revealed = table.last("card_revealed")
        commitment = next(f["data"] for f in table.feed("card_dealt") if f["data"]["position"] == "dealer/1")
        assert revealed["card"] == "QC"
        assert revealed["key"] == hidden["dealer/1"]["key"]
        said = everything_said(table, feed, raws)
        assert_nowhere(said, *codes("JD"), hidden["burn/1"]["key"])
        assert b'"QC"' in said["feed"]
        round_ = table.status()["round"]
        assert verify(
            commitment["commitment"], revealed["key"], table="t-1", round_=round_, position="dealer/1", card="QC"
        )
        table.demand("dealer", 2, True)
        table.step("draw dealer/2")
        table.line.cards("5H")
        table.step("open_bets")
        table.order("end_shift")
        opened = table.last("shoe_ended")["burn_keys"]
        assert [(s["position"], s["card"], s["key"]) for s in opened] == [("burn/1", "JD", hidden["burn/1"]["key"])]
        burned = table.last("card_burned")["commitment"]
        assert verify(burned, opened[0]["key"], table="t-1", round_=opened[0]["round"], position="burn/1", card="JD")


def test_a_held_and_an_extra_card_are_nowhere(rig: Callable[..., Any]) -> None:
    """A card drawn during a pause, due at the hole; a second one; both face down on the felt."""
    table = rig()
    table.run_again("--verbose")
    roles = ("observer", "supervisor", "game_server")
    with contextlib.ExitStack() as stack:
        raws = {role: stack.enter_context(Raw(table, role)) for role in roles}
        feed = stack.enter_context(Raw(table, "observer", kind=zmq.SUB))
        table.until(lambda: feed.socket.poll(50), "the feed")
        table.to_dealing()
        table.line.cards("5S 6H 4S")
        table.step("draw dealer/1")
        table.order("pause", reason="a player calls")
        table.line.cards("QC JD")
        table.incident("M-08")
        assert_nowhere(everything_said(table, feed, raws), *codes("QC"), *codes("JD"))
        table.resolve("burn_card")
        table.order("resume", reason="settled")
        table.step("decide main@2")
        assert_nowhere(everything_said(table, feed, raws), *codes("QC"), *codes("JD"))


@pytest.mark.parametrize("line", [b"C12?\r\n", b"\x00C12\r\n", b"C12 \r\n"])
def test_a_damaged_code_of_the_hole_card_is_nowhere(rig: Callable[..., Any], line: bytes) -> None:
    """The reader added a byte to the code: no card, but anybody can read which it was."""
    table = rig()
    table.to_dealing()
    table.line.cards("5S 6H 4S")
    table.step("draw dealer/1")
    table.line.write(line)
    table.incident("hidden")
    for words in (("show",), ("export",), ("export", "--format", "csv")):
        assert "C12" not in cli("journal", words[0], table.folder / "t.journal", *words[1:]).stdout
