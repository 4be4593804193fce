"""The shoe as a process: its line, its control socket, and how it comes and goes."""

from __future__ import annotations

import os
import signal
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drivers.angel.codec import AngelDecoder
from drivers.errors import PortLost
from drivers.events import CardDrawn, RoundResult, StandBy
from drivers.line.codec import LineDecoder
from drivers.port import SerialPort
from drivers.settings import LineSettings

pytestmark = pytest.mark.system

Start = Callable[..., Any]
Until = Callable[[Callable[[], bool], str], None]
LINE = LineSettings(baudrate=9600)
LONG_S = 20.0


def cards_heard(data: bytes) -> list[str]:
    decoder = LineDecoder(repeat_window_s=0.0)
    return [event.card for event in decoder.feed(data, 0.0) if isinstance(event, CardDrawn)]


def test_it_says_where_it_is(start: Start) -> None:
    shoe = start()
    words = dict(word.split("=", 1) for word in shoe.ready.split())
    assert words == {
        "port": os.readlink(shoe.link),
        "link": str(shoe.link),
        "control": str(shoe.socket),
        "seed": "7",
    }
    assert stat.S_IMODE(os.stat(shoe.socket).st_mode) == 0o600


def test_draws_reach_a_host_that_opens_the_line_as_the_drivers_do(start: Start) -> None:
    shoe = start()
    port = SerialPort(str(shoe.link), LINE)
    port.open()
    try:
        for left in (415, 414):
            assert shoe.ask("draw") == {"ok": True, "left": left, "item": "card"}
            data = b""
            while not data.endswith(b"\r\n"):
                data += port.read(time.monotonic() + LONG_S)
            assert cards_heard(data) == [shoe.entries()[-1]["card"]]
    finally:
        port.close()


def test_the_same_seed_puts_the_same_bytes_on_the_line(start: Start) -> None:
    told = []
    for _ in range(2):
        shoe = start("--fault", "no_read:0.2", "--fault", "misread:0.2", "--fault", "corrupt:0.2")
        line, control = shoe.line(), shoe.control()
        for _ in range(100):
            control.ask("draw")
        told.append(shoe.heard(line))
        control.close()
        assert shoe.ask("quit") == {"ok": True}
        assert shoe.stop() == 0
    assert told[0] == told[1]
    assert b"NR" in told[0]


def test_felt_rescan_and_collect(start: Start) -> None:
    shoe = start()
    line, control = shoe.line(), shoe.control()
    for _ in range(3):
        control.ask("draw")
    first = shoe.heard(line)
    assert control.ask("felt") == {"ok": True, "count": 3}
    assert control.ask("rescan") == {"ok": True, "count": 3}
    assert shoe.heard(line) == first
    assert control.ask("rescan_last") == {"ok": True, "count": 1}
    assert shoe.heard(line) == first[-5:]
    assert control.ask("collect") == {"ok": True, "count": 3}
    assert control.ask("rescan") == {"ok": True, "count": 0}
    assert shoe.heard(line) == b""
    assert control.ask("load") == {"ok": True, "shoe": 2, "cards": 416}
    assert control.ask("status")["left"] == 416


def test_the_log_is_there_when_the_bytes_are(start: Start) -> None:
    shoe = start()
    line, control = shoe.line(), shoe.control()
    for count in range(1, 40):
        control.send("draw")
        wire = line.read_until(b"\r\n") + b"\r\n"
        entry = shoe.entries()[-1]
        assert (entry["index"], entry["wire"], entry["line"]) == (count - 1, wire.hex().upper(), "open")
        assert control.receive()["ok"]
    shoe.process.kill()
    assert len(shoe.entries()) == 39


def test_answers_come_after_the_bytes_and_in_order(start: Start) -> None:
    shoe = start()
    line, control = shoe.line(), shoe.control()
    control.send(*["draw", "felt"] * 50)
    answers = [control.receive() for _ in range(100)]
    assert [answer["left"] for answer in answers[::2]] == list(range(415, 365, -1))
    assert [answer["count"] for answer in answers[1::2]] == list(range(1, 51))
    assert cards_heard(shoe.heard(line)) == [entry["card"] for entry in shoe.entries()]


def test_many_dealers_take_turns(start: Start) -> None:
    shoe = start()
    line = shoe.line()
    controls = [shoe.control() for _ in range(20)]
    for control in controls:
        control.send("draw", "status", "draw")
    left = []
    for control in controls:
        answers = [control.receive() for _ in range(3)]
        assert all(answer["ok"] for answer in answers)
        left += [answers[0]["left"], answers[2]["left"]]
    assert sorted(left) == list(range(376, 416))
    assert len(cards_heard(shoe.heard(line))) == 40


def test_a_dealer_who_leaves_still_gets_answers_or_none(start: Start) -> None:
    shoe = start()
    shoe.line()
    polite = shoe.control()
    polite.send("draw", "draw")
    assert len(polite.finish()) == 2
    rude = shoe.control()
    rude.send(*["draw"] * 10, "")
    rude.close()
    flood = shoe.control()
    with pytest.raises(OSError, match=r"reset|pipe"):
        flood.send("x" * 10_000_000)
    # The shoe is well; what it had read of the rude one's wishes it may have done.
    assert 2 <= 416 - shoe.ask("status")["left"] <= 12


def test_wrong_commands_are_answered_and_change_nothing(start: Start) -> None:
    control = start().control()
    unknown = control.ask("dray")
    assert unknown["ok"] is False
    assert "draw" in unknown["commands"]
    assert "dray" in unknown["error"]
    for command, message in [
        ("draw 2", "write it as: draw"),
        ("load many", "'many' is not a whole number"),
        ("send", "write it as: send HEX"),
        ("send xyz", "not hex"),
        ("fault nothing", "choose one of babble, corrupt"),
        ("fault", "give a fault"),
        ("auto perhaps", "write it as: auto on|off"),
        ("push_back", "draw first"),
        ("play 3", "only a recording"),
        ("unplug never", "no time"),
        ("\x00\xff", "unknown command"),
    ]:
        answer = control.ask(command)
        assert answer["ok"] is False
        assert message in answer["error"]
    assert control.ask("status")["drawn"] == 0


def test_a_human_takes_time_and_questions_need_not_wait(start: Start) -> None:
    shoe = start(speed="0.1")
    control = shoe.control()
    begun = time.monotonic()
    control.send("draw")
    assert shoe.ask("status")["drawn"] == 0
    assert time.monotonic() - begun < 0.8
    assert control.receive()["ok"]
    assert time.monotonic() - begun >= 0.8


def test_unplugged_it_comes_back_under_its_link_and_keeps_the_felt(start: Start) -> None:
    shoe = start()
    port = SerialPort(str(shoe.link), LINE)
    control = shoe.control()
    port.open()
    try:
        control.ask("draw")
        assert cards_heard(port.read(time.monotonic() + LONG_S)) == [shoe.entries()[0]["card"]]
        assert control.ask("fault unplug 3600")["faults"] == ["unplug"]
        assert control.ask("draw") == {"ok": True, "left": 414, "item": "card"}
        with pytest.raises(PortLost):
            port.read(time.monotonic() + LONG_S)
    finally:
        port.close()
    assert not os.path.lexists(shoe.link)
    assert control.ask("draw")["line"] == "unplugged"
    assert [entry["line"] for entry in shoe.entries()] == ["open", "open", "unplugged"]
    assert control.ask("status")["port"] is None
    assert control.ask("replug")["port"] == os.readlink(shoe.link)
    line = shoe.line()
    control.ask("rescan")
    assert cards_heard(shoe.heard(line)) == [entry["card"] for entry in shoe.entries()]


def test_it_plugs_itself_in_again(start: Start, until: Until) -> None:
    shoe = start()
    line = shoe.line()
    control = shoe.control()
    control.ask("fault half_line 0.1")
    control.ask("draw")
    with pytest.raises(AssertionError, match="line ended"):
        line.read_until(b"\r\n")
    until(lambda: os.path.lexists(shoe.link), "the link is back")
    again = shoe.line()
    control.ask("draw")
    assert cards_heard(shoe.heard(again)) == [shoe.entries()[-1]["card"]]


def test_nobody_listens(start: Start) -> None:
    shoe = start()
    assert shoe.ask("draw") == {"ok": True, "left": 415, "item": "card", "line": "unheard"}
    line = shoe.line()
    assert shoe.heard(line) == b""
    assert shoe.ask("draw") == {"ok": True, "left": 414, "item": "card"}
    assert len(cards_heard(shoe.heard(line))) == 1
    line.close()
    assert shoe.ask("draw")["line"] == "unheard"
    assert [entry["line"] for entry in shoe.entries()] == ["unheard", "open", "unheard"]


def test_a_host_that_does_not_read_blocks_nobody_for_long(start: Start) -> None:
    shoe = start()
    line, control = shoe.line(), shoe.control()
    answer = control.ask("send " + "41" * 30_000)
    assert answer["ok"] is False
    assert "does not read it" in answer["error"]
    answer = control.ask("draw")
    assert "what left the shoe has left it" in answer["error"]
    assert [set(entry) for entry in shoe.entries()][1] == {"shoe", "index", "stalled"}
    assert control.ask("status")["left"] == 415
    # What is in the line is still delivered, and then the line works again.
    while set(line.read()) == {0x41} and not control.ask("rescan_last")["ok"]:
        pass
    assert shoe.heard(line).endswith(bytes.fromhex(shoe.entries()[0]["wire"]))


def test_what_the_host_sends_is_read_and_ignored(start: Start) -> None:
    shoe = start()
    line, control = shoe.line(), shoe.control()
    for _ in range(20):
        line.write(b"\x16T\r" * 1000)
        control.ask("status")
    control.ask("draw")
    assert len(cards_heard(shoe.heard(line))) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_it_and_nothing_is_left(start: Start, tmp_path: Path, number: int) -> None:
    shoe = start()
    shoe.ask("unplug 3600")
    shoe.process.send_signal(number)
    assert shoe.process.wait(LONG_S) == 0
    assert os.listdir(tmp_path) == ["shoe.jsonl"]


@pytest.mark.parametrize("way", ["quit", "end of input"])
def test_it_ends_when_told_or_left_alone(start: Start, tmp_path: Path, way: str) -> None:
    shoe = start()
    if way == "quit":
        assert shoe.ask("quit") == {"ok": True}
    else:
        shoe.process.stdin.close()
    assert shoe.process.wait(LONG_S) == 0
    assert os.listdir(tmp_path) == ["shoe.jsonl"]


def test_two_shoes_on_one_link_or_socket(start: Start, tmp_path: Path) -> None:
    shoe = start()
    second = start()
    assert second.process.wait(LONG_S) == 2
    second.stop()
    assert f"another shoe runs at {shoe.link}" in second.errors
    third = start(link=False)
    assert third.process.wait(LONG_S) == 2
    third.stop()
    assert f"another shoe answers at {shoe.socket}" in third.errors
    assert shoe.ask("status")["ok"]
    assert sorted(os.listdir(tmp_path)) == ["shoe", "shoe.ctl", "shoe.jsonl", "shoe.lock"]


def test_what_a_killed_shoe_left_is_taken_over(start: Start, tmp_path: Path) -> None:
    killed = start()
    killed.process.kill()
    killed.process.wait()
    assert sorted(os.listdir(tmp_path)) == ["shoe", "shoe.ctl", "shoe.jsonl", "shoe.lock"]
    shoe = start()
    shoe.line()
    assert shoe.ask("draw")["ok"]


def test_other_peoples_files_are_left_alone(start: Start, tmp_path: Path) -> None:
    for name, text in (("shoe", "exists and is not a link"), ("shoe.ctl", "exists and is no socket")):
        (tmp_path / name).write_text("mine")
        shoe = start()
        assert shoe.process.wait(LONG_S) == 2
        shoe.stop()
        assert text in shoe.errors
        assert (tmp_path / name).read_text() == "mine"
        (tmp_path / name).unlink()
    (tmp_path / "shoe").symlink_to("/dev/null")
    shoe = start()
    assert shoe.process.wait(LONG_S) == 2
    assert os.readlink(tmp_path / "shoe") == "/dev/null"


def test_without_a_dealer_it_deals_the_whole_shoe_once_somebody_listens(start: Start) -> None:
    shoe = start(control=False)
    line = shoe.line()
    heard = b""
    while len(shoe.entries()) < 417 or len(cards_heard(heard)) < 416:
        heard += line.read()
    assert cards_heard(heard) == [entry["card"] for entry in shoe.entries() if entry["item"] == "card"]
    assert b"CUT" in heard
    assert {entry["line"] for entry in shoe.entries()} == {"open"}


def test_auto_can_be_switched(start: Start, until: Until) -> None:
    shoe = start("--fault", "no_read:0.5", protocol="angel")
    shoe.line()
    control = shoe.control()
    assert control.ask("auto on") == {"ok": True, "auto": True}
    until(lambda: control.ask("status")["drawn"] > 20, "cards leave by themselves")
    assert control.ask("auto off") == {"ok": True, "auto": False}
    control.ask("unplug 0")
    drawn = control.ask("status")["drawn"]
    control.ask("collect")
    assert control.ask("status")["drawn"] == drawn


@pytest.mark.parametrize("mode", ["hidden", "open"])
def test_a_hand_of_the_angel_eye(start: Start, mode: str) -> None:
    shoe = start("--mode", mode, protocol="angel")
    line, control = shoe.line(), shoe.control()
    while not control.ask("draw").get("hand_over"):
        pass
    events = AngelDecoder().feed(shoe.heard(line), 0.0)
    assert [type(event) for event in events[-2:]] == [RoundResult, StandBy]
    faces = [event.card for event in events if isinstance(event, CardDrawn) and event.target == "player"]
    assert ("**" in faces) == (mode == "hidden")
    assert "only on its way out" in control.ask("rescan")["error"]


def test_a_stacked_shoe(start: Start, tmp_path: Path) -> None:
    (tmp_path / "cards").write_text("TD AS\nCUT 2H\n")
    shoe = start("--cards", str(tmp_path / "cards"))
    line, control = shoe.line(), shoe.control()
    assert [control.ask("draw")["item"] for _ in range(4)] == ["card", "card", "cut", "card"]
    assert "load the next" in control.ask("draw")["error"]
    assert shoe.heard(line) == b"D10\r\nA01\r\nCUT\r\nH02\r\n"
    (tmp_path / "cards").unlink()


def test_a_recording_is_paced_by_the_dealer(start: Start, tmp_path: Path) -> None:
    chunks = ["44 31 32 0D", "0A 41", "30 31 0d 0a", "", "4E520D0A"]
    (tmp_path / "capture.hex").write_text("\n".join(chunks))
    shoe = start("--replay", str(tmp_path / "capture.hex"))
    line, control = shoe.line(), shoe.control()
    assert control.ask("draw") == {"ok": True, "left": 2}
    assert shoe.heard(line) == b"D12\r\n"
    assert control.ask("draw") == {"ok": True, "left": 1}
    assert control.ask("play 1") == {"ok": True, "left": 0, "chunks": 1}
    assert shoe.heard(line) == b"A01\r\nNR\r\n"
    assert "has ended" in control.ask("draw")["error"]
    (tmp_path / "capture.hex").unlink()


def test_a_recording_plays_itself(start: Start, tmp_path: Path) -> None:
    (tmp_path / "capture.hex").write_text("053053033630\n053144818003373705\n3144818003373705\n3244918003363400")
    shoe = start("--replay", str(tmp_path / "capture.hex"), protocol="angel", control=False)
    expected = bytes.fromhex((tmp_path / "capture.hex").read_text())
    assert shoe.line().read_until(expected) == b""
    (tmp_path / "capture.hex").unlink()


def test_a_real_port(start: Start, pty: Any) -> None:
    shoe = start("--port", str(pty.path), link=False)
    control = shoe.control()
    assert control.ask("draw")["ok"]
    assert cards_heard(pty.read(100)) == [shoe.entries()[-1]["card"]]
    control.ask("unplug 3600")
    assert control.ask("draw")["line"] == "unplugged"
    assert control.ask("replug") == {"ok": True, "port": str(pty.path)}
    control.ask("draw")
    assert cards_heard(pty.read(100)) == [shoe.entries()[-1]["card"]]


def test_a_port_that_is_gone_is_opened_again(start: Start, pty: Any, until: Until) -> None:
    shoe = start("--port", str(pty.path), link=False)
    pty.replug()
    assert shoe.ask("draw")["ok"] is False
    until(lambda: shoe.ask("status")["line"] == "open", "the port is open again")
    shoe.ask("draw")
    assert cards_heard(pty.read(100)) == [shoe.entries()[-1]["card"]]


def test_the_socket_needs_no_link(start: Start, tmp_path: Path) -> None:
    shoe = start(link=False)
    assert not shoe.ready.count("link=")
    assert shoe.ask("status")["link"] is None
    control = shoe.control()
    assert control.ask("felt")["ok"]
    shoe.process.send_signal(signal.SIGTERM)
    assert control.finish() == []
    assert shoe.process.wait(LONG_S) == 0
    assert not (tmp_path / "shoe.ctl").exists()
