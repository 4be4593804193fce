"""What goes wrong at a table, over a real line into the real service: named, held, never dealt, and resolved.

The M-numbers are the misdeals of the procedures page (2.5).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.bus.errors import CommandRefused
from controller.cards import FACES
from controller.cli.journal import masked
from controller.config import load
from controller.contact import Contact
from controller.journal.show import rows
from drivers.line.codec import LineDecoder, card_code

#: Without a decision: a player's Blackjack against 17, no peek.
QUICK = "AH 9C KH 8D"
VOIDS = ("void_round", "void_round_and_shoe")


def facts(table: Any, *types: str) -> list[dict[str, Any]]:
    """The journaled facts of these types, as ``dealerd journal`` shows them."""
    return list(rows(table.folder / "t.journal", types=types, mask=masked))


def legal(table: Any, code: str) -> tuple[str, ...]:
    return tuple(table.incident(code)["resolutions"])


def play_quick(table: Any) -> None:
    """One more round, from open betting to its result."""
    before = len(table.feed("round_result"))
    table.order("close_bets")
    table.step("draw player/0")
    table.line.cards(QUICK)
    table.until(lambda: len(table.feed("round_result")) > before, "a result")


def finish_quick(table: Any) -> None:
    """The rest of a quick round that stands at its first card, and one round more: play goes on."""
    table.step("draw player/0")
    table.line.cards(QUICK)
    table.until(lambda: table.feed("round_result"), "a result")
    table.step("open_bets")
    table.order("open_bets")
    play_quick(table)
    assert [c for _, c in table.dealt()] == ["AH", "9C", "KH", "**"]


def waiting_bytes(table: Any) -> int:
    """Bytes that the service has not read yet."""
    count: int = struct.unpack("i", fcntl.ioctl(table.line._slave, termios.FIONREAD, bytes(4)))[0]
    return count


@contextlib.contextmanager
def frozen(table: Any) -> Iterator[None]:
    """The service stands still."""
    process: subprocess.Popen[bytes] = table._process
    stat = Path(f"/proc/{process.pid}/stat")
    process.send_signal(signal.SIGSTOP)
    try:
        table.until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", "the stop")
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def again_from_a_new_shoe(table: Any) -> None:
    """After a void of the shoe: reopen, change, burn, play."""
    table.step("reopen")
    assert table.refused("open_bets").code == "not_allowed_now"
    table.order("reopen", reason="felt cleared")
    table.step("load_shoe")
    table.order("load_shoe")
    table.line.cards("AS 2H")
    table.step("open_bets")
    table.order("open_bets")
    play_quick(table)
    assert table.status()["shoe"]["rounds"] == 1


# --- cards when none is due --------------------------------------------------------------------------------------


def test_m05_card_during_betting_is_burned(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_betting()
    table.line.cards("7D")
    assert legal(table, "M-05") == ("burn_card", "use_as_next", *VOIDS)
    table.step("wait")
    assert table.refused("close_bets").code == "held"
    table.resolve("burn_card")
    table.step("close_bets")
    table.order("close_bets")
    finish_quick(table)
    assert "7D" not in str(table.feed())


def test_m05_card_during_betting_becomes_the_first(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_betting()
    table.line.cards("7D")
    table.incident("M-05")
    table.resolve("use_as_next")
    table.step("close_bets")
    assert table.dealt() == []
    table.order("close_bets")
    table.step("draw dealer/0")
    assert table.dealt() == [("player/0", "7D")]


def test_m05_void_during_betting_and_deal_on_m33(rig: Callable[..., Any]) -> None:
    """Cards after a void are logged, never dealt, until a supervisor reopens."""
    table = rig()
    table.to_betting()
    table.line.cards("7D")
    table.incident("M-05")
    table.resolve("void_round")
    table.step("reopen")
    table.line.cards("8D 9D")
    table.until(lambda: len(facts(table, "read_out_of_game")) == 2, "reads out of the game")
    assert table.status()["holds"] == {}
    assert table.dealt() == []
    table.order("reopen", reason="cards put aside")
    table.step("open_bets")
    table.order("open_bets")
    play_quick(table)
    assert table.dealt()[0] == ("player/0", "AH")


@pytest.mark.parametrize("resolution", ["burn_card", "use_as_next"])
def test_m08_extra_card_after_the_result(rig: Callable[..., Any], resolution: str) -> None:
    table = rig()
    table.to_betting()
    play_quick(table)
    result = table.last("round_result")
    table.line.cards("7D")
    assert legal(table, "M-08") == ("burn_card", "use_as_next", "void_round_and_shoe")
    assert table.refused("open_bets").code == "held"
    table.resolve(resolution)
    table.step("open_bets")
    table.order("open_bets")
    table.order("close_bets")
    if resolution == "burn_card":
        table.step("draw player/0")
        assert table.dealt() == []
    else:
        table.step("draw dealer/0")
        assert table.dealt() == [("player/0", "7D")]
    assert table.last("round_result") == result


def test_m08_card_in_a_decision_window(rig: Callable[..., Any]) -> None:
    """The window closes over it, opens again with its remaining time, and the card is the next one if so decided."""
    table = rig()
    table.to_dealing()
    table.line.cards("5C 6C 4H TD")
    table.step("decide main@2")
    full = table.status()["step"]["until_ms"]
    table.line.cards("9S")
    assert legal(table, "M-08") == ("burn_card", "use_as_next", *VOIDS)
    assert len(table.dealt()) == 4
    round_ = table.status()["round"]
    refused = table.refused("branch_demand", round=round_, line="main", prefix_len=2, draw=True, key="while held")
    assert refused.code == "held"
    table.resolve("use_as_next")
    table.step("decide main@2")
    assert 0 < table.status()["step"]["until_ms"] <= full
    assert len(table.dealt()) == 4
    assert len(table.feed("decision_opened")) == 1
    table.demand("main", 2, True)
    table.step("decide main@3")
    assert table.dealt()[-1] == ("player/2", "9S")
    table.line.cards("KS")
    table.incident("M-08")
    table.resolve("burn_card")
    table.step("decide main@3")
    table.demand("main", 3, False)
    table.demand("dealer", 2, True)
    table.step("draw dealer/2")
    table.line.cards("3S")
    assert table.last("round_result")["hands"]["dealer"]["score"] == 19
    assert "KS" not in str(table.feed())


def test_card_while_paused_is_held_and_a_second_is_an_incident(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_dealing()
    table.order("pause", reason="a player calls")
    table.line.cards("TC 6D")
    assert legal(table, "M-08") == ("burn_card", "use_as_next", *VOIDS)
    assert table.dealt() == []
    held = table.feed("card_held")
    assert [f["data"] for f in held] == [{"position": "player/0"}]
    table.order("resume", reason="settled")
    assert table.status()["holds"].keys() == {"incident:1"}
    assert table.dealt() == []
    table.resolve("use_as_next")
    table.step("draw player/1")
    assert table.dealt() == [("player/0", "TC"), ("dealer/0", "6D")]


def test_card_held_in_a_pause_that_ends_in_a_void_is_not_dealt_later(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_dealing()
    table.order("pause", reason="a player calls")
    table.line.cards("TC")
    table.until(lambda: table.feed("card_held"), "the card to be held")
    table.order("void", reason="player is right")
    table.order("resume", reason="settled")
    table.order("reopen", reason="cleared")
    table.order("open_bets")
    play_quick(table)
    assert table.dealt()[0] == ("player/0", "AH")


# --- shoe: burn, cut card, composition ---------------------------------------------------------------------------


def test_m22_burn_one_short(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_burn()
    table.line.cards("3C 7D 8D")
    table.step("draw burn/3")
    refused = table.refused("open_bets")
    assert (refused.code, refused.expected) == ("not_allowed_now", "burn/3")
    table.line.cards("9D")
    table.step("open_bets")
    table.order("open_bets")
    play_quick(table)


def test_m22_burn_one_too_many(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_burn()
    table.line.cards("AC 7D 5D")
    assert legal(table, "M-22") == ("burn_card", "void_round_and_shoe")
    assert table.refused("open_bets").code == "held"
    table.resolve("burn_card")
    table.step("open_bets")
    table.order("open_bets")
    play_quick(table)
    assert "7D" not in str(table.feed())
    assert "5D" not in str(table.feed())


def test_m22_burn_one_too_many_and_the_shoe_goes(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_burn()
    table.line.cards("AC 7D 5D")
    table.incident("M-22")
    table.resolve("void_round_and_shoe")
    again_from_a_new_shoe(table)


def test_m26_ninth_copy(rig: Callable[..., Any]) -> None:
    """Eight kings of hearts lie in the burn; the ninth is not dealt and nothing more comes from this shoe."""
    table = rig()
    table.to_burn()
    table.line.cards("TC" + " KH" * 8 + " 2C 3C")
    table.step("open_bets")
    table.order("open_bets")
    table.order("close_bets")
    table.step("draw player/0")
    table.line.cards("KH")
    assert legal(table, "M-26") == ("void_round_and_shoe",)
    assert table.dealt() == []
    number = max(map(int, table.status()["incidents"]))
    refused = table.refused("resolve", incident=number, resolution="resume", reason="it looked right")
    assert (refused.code, refused.expected) == ("not_legal", "void_round_and_shoe")
    table.resolve("void_round_and_shoe")
    assert table.last("round_voided")["shoe"] is True
    again_from_a_new_shoe(table)


def test_m26_ninth_copy_when_no_card_is_due(rig: Callable[..., Any]) -> None:
    """The composition is broken all the same, and a plain void of the round takes the shoe with it."""
    table = rig()
    table.to_burn()
    table.line.cards("TC" + " KH" * 8 + " 2C 3C")
    table.step("open_bets")
    table.order("open_bets")
    table.line.cards("KH")
    assert legal(table, "M-26") == ("void_round_and_shoe",)
    table.order("void", reason="composition")
    assert table.last("round_voided")["shoe"] is True
    again_from_a_new_shoe(table)


def test_m26_ninth_copy_in_the_burn_says_only_hidden(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_burn()
    table.line.cards("TC" + " KH" * 9)
    incident = table.incident("hidden")
    assert incident["position"] == "burn/9"
    assert incident["actual"] == "a face-down card"
    assert "KH" not in str(table.feed())
    table.resolve("void_round_and_shoe")
    again_from_a_new_shoe(table)


@pytest.mark.parametrize("policy", ["next", "current"])
@pytest.mark.parametrize(
    ("where", "last", "incident"),
    [
        ("first card", {"next": 1, "current": 1}, False),
        ("third card", {"next": 2, "current": 1}, False),
        ("betting", {"next": 1, "current": 1}, True),
        ("after result", {"next": 2, "current": 2}, True),
    ],
)
def test_m21_cut_card(rig: Callable[..., Any], policy: str, where: str, last: dict[str, int], incident: bool) -> None:
    """It never takes a place; the rounds played after it are those of the policy, then the shoe is changed."""
    table = rig(game={"last_round_policy": policy})
    table.to_betting()
    if where == "betting":
        table.line.cards("CUT")
        table.incident("M-21")
        table.resolve("resume")
        table.step("close_bets")
    table.order("close_bets")
    table.step("draw player/0")
    cards = {"first card": "CUT AH 9C KH 8D", "third card": "AH 9C CUT KH 8D", "after result": "AH 9C KH 8D CUT"}
    table.line.cards(cards.get(where, QUICK))
    table.until(lambda: table.feed("round_result"), "a result")
    assert table.dealt() == [("player/0", "AH"), ("dealer/0", "9C"), ("player/1", "KH"), ("dealer/1", "**")]
    if where == "after result":
        table.incident("M-21")
        table.resolve("resume")
    rounds = 1
    table.until(lambda: table.status()["step"]["step"] in ("open_bets", "load_shoe"), "the round to be over")
    while table.status()["step"]["step"] == "open_bets":
        table.order("open_bets")
        play_quick(table)
        rounds += 1
        table.until(lambda: table.status()["step"]["step"] in ("open_bets", "load_shoe"), "the round to be over")
    assert rounds == last[policy]
    assert table.last("cut_card_drawn")["last_round"] == rounds
    assert [f["data"]["last_round"] for f in table.feed("betting_opened")][-1] is (rounds == 2)
    assert bool(table.feed("incident_raised")) is incident
    table.order("load_shoe")
    table.line.cards("AS 2H")
    table.step("open_bets")
    table.order("open_bets")
    play_quick(table)


def test_m21_second_cut_card(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_dealing()
    table.line.cards("AH CUT CUT")
    assert legal(table, "M-21") == ("resume", *VOIDS)
    table.resolve("resume")
    table.step("draw dealer/0")
    table.line.cards("9C KH 8D")
    table.until(lambda: table.feed("round_result"), "a result")
    assert len(table.feed("cut_card_drawn")) == 1


# --- what the reader says ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"NR\r\n", id="no read"),
        pytest.param(b"A14\r\n", id="code outside the set"),
        pytest.param(b"A0\r\n", id="code cut short"),
        pytest.param(b"a01\r\n", id="lower case"),
        pytest.param(b"A01 \r\n", id="code with a blank"),
        pytest.param(b"\xff\xfe\xc5\xfc\r\n", id="non-ASCII noise"),
        pytest.param("Ａ01\r\n".encode(), id="full-width letter"),
        pytest.param(b"\x00A01\r\n", id="NUL before a code"),
        pytest.param(b"<script>\x1b[2J\r\n", id="terminal escapes"),
        pytest.param(b"D" * 300 + b"A01\r\n", id="babble"),
    ],
)
def test_m01_unreadable_card_and_rescan(rig: Callable[..., Any], line: bytes) -> None:
    table = rig()
    table.to_dealing()
    table.line.write(line)
    assert legal(table, "M-01") == ("rescan", "enter_card", *VOIDS)
    assert table.dealt() == []
    table.resolve("rescan")
    table.step("draw player/0")
    assert table.status()["step"]["again"] is True
    finish_quick(table)
    assert len(table.feed("incident_raised")) == 1
    assert all(byte >= 32 for f in table.feed("incident_raised") for byte in f["data"]["actual"].encode())


def test_m01_babble_without_end(rig: Callable[..., Any]) -> None:
    """One incident for a line that never ends, however long; the next line end is its end."""
    table = rig()
    table.to_dealing()
    for _ in range(20):
        table.line.write(b"D12" * 300)
    table.incident("M-01")
    table.until(lambda: waiting_bytes(table) == 0, "the line to be read")
    assert len(table.feed("incident_raised")) == 1
    table.resolve("rescan")
    table.line.write(b"A01")
    table.line.write(b"\r\n")
    finish_quick(table)
    assert len(table.feed("incident_raised")) == 1
    assert len(table.log) < 5000


def test_m02_card_read_while_one_is_unread(rig: Callable[..., Any]) -> None:
    """It may be the unread card or the one after it: only a person who saw it can say."""
    table = rig()
    table.to_dealing()
    table.line.write(b"NR\r\n")
    table.incident("M-01")
    table.line.cards("AH")
    assert legal(table, "M-02") == ("use_as_next", *VOIDS)
    assert table.dealt() == []
    table.resolve("use_as_next")
    assert table.dealt() == []
    table.resolve("rescan")
    table.step("draw dealer/0")
    assert table.dealt() == [("player/0", "AH")]
    table.line.cards("9C KH 8D")
    table.until(lambda: table.feed("round_result"), "a result")


def test_hidden_card_unread_says_only_hidden(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_dealing()
    table.line.cards("TC 6C 9H")
    table.step("draw dealer/1")
    table.line.write(b"C12?\r\n")
    incident = table.incident("hidden")
    assert incident["position"] == "dealer/1"
    assert incident["resolutions"] == ["rescan", "enter_card", *VOIDS]
    assert "C12" not in str(table.feed())
    table.resolve("rescan")
    table.step("draw dealer/1")
    table.line.cards("QC")
    table.step("decide main@2")
    assert table.dealt()[-1] == ("dealer/1", "**")
    assert table.feed("card_dealt")[-1]["data"]["commitment"]


def test_a_repeated_line_is_not_dealt_twice(rig: Callable[..., Any]) -> None:
    table = rig(shoe={"repeat_window_s": 0.3})
    table.to_dealing()
    table.line.write(b"D05\r\nD05\r\nD05\r\nA03\r\nD05\r\n")
    table.step("draw dealer/1")
    assert table.dealt() == [("player/0", "5D"), ("dealer/0", "3S"), ("player/1", "5D")]
    assert len(facts(table, "read_repeated")) == 2
    assert table.feed("incident_raised") == []


def test_two_equal_cards_in_the_window_cost_a_card_not_a_wrong_one(rig: Callable[..., Any]) -> None:
    """The second is taken for a repeat; the dealer sees that the step did not move on and shows it again."""
    table = rig(shoe={"repeat_window_s": 0.3})
    table.to_dealing()
    table.line.write(b"D05\r\nD05\r\n")
    table.step("draw dealer/0")
    table.until(lambda: facts(table, "read_repeated"), "the repeat")
    again = time.monotonic()

    def shown() -> bool:  # as a person would, once in a while
        nonlocal again
        if len(table.dealt()) < 2 and time.monotonic() > again + 0.5:
            again = time.monotonic()
            table.line.cards("5D")
        return len(table.dealt()) == 2

    table.until(shown, "the card shown again to count")
    assert table.dealt() == [("player/0", "5D"), ("dealer/0", "5D")]


def test_flood_while_betting(rig: Callable[..., Any]) -> None:
    """2,000 lines in one write: nothing is dealt, people are answered meanwhile, and one void ends it."""
    table = rig(game={"betting_s": 60.0})
    table.to_betting()
    written = 0
    flood = b"".join(card_code(face, "scan_table").encode() + b"\r\n" for face in FACES) * 39
    flood = flood[: 5 * 2000]
    slowest = 0.0

    def step() -> bool:
        nonlocal written, slowest
        with contextlib.suppress(BlockingIOError):
            written += os.write(table.line._master, flood[written:])
        before = time.monotonic()
        table.status()
        slowest = max(slowest, time.monotonic() - before)
        return written == len(flood) and waiting_bytes(table) == 0

    os.set_blocking(table.line._master, False)
    table.until(step, "the flood to be taken")
    os.set_blocking(table.line._master, True)
    assert slowest < 2.0, f"a status took {slowest:.2f} s"
    assert table.dealt() == []

    def voided() -> bool:  # stale as long as incidents are still coming
        try:
            table.order("void", reason="the reader babbles", shoe=True)
        except CommandRefused as refusal:
            if refusal.code == "stale":
                return False
            raise
        return True

    table.until(voided, "the void")
    table.step("reopen")
    assert table.status()["incidents"] == {}
    assert table.alive()


# --- the line ----------------------------------------------------------------------------------------------------


def lose_line(table: Any, *, moved: bool = False) -> None:
    """Unplug, see it missed, plug in again, see it heard."""
    node = os.readlink(table.line.link)
    kept = os.dup(table.line._slave) if moved else None  # as long as it is open nobody gets this node
    table.line.unplug()
    table.until(lambda: "shoe" in table.status()["devices_lost"], "the loss")
    assert "device:shoe" in table.status()["holds"]
    table.line.plug()
    if kept is not None:
        os.close(kept)
        assert os.readlink(table.line.link) != node
    table.until(lambda: "shoe" not in table.status()["devices_lost"], "the shoe to be back")


@pytest.mark.parametrize("moved", [False, True], ids=["same node", "another node"])
def test_m30_unplugged_in_mid_round(rig: Callable[..., Any], moved: bool) -> None:
    table = rig()
    table.to_dealing()
    before = (len(table.feed("device_lost")), len(table.feed("device_restored")))
    table.line.cards("AH 9C")
    table.step("draw player/1")
    lose_line(table, moved=moved)
    assert legal(table, "M-30") == ("resume", "rescan", *VOIDS)
    after = (len(table.feed("device_lost")), len(table.feed("device_restored")))
    assert after == (before[0] + 1, before[1] + 1)
    table.resolve("rescan", cards=2)
    table.step("rescan")
    table.line.cards("AH 9C")
    table.step("draw player/1")
    table.line.cards("KH 8D")
    table.until(lambda: table.feed("round_result"), "a result")
    assert [c for _, c in table.dealt()] == ["AH", "9C", "KH", "**"]
    assert (len(table.feed("device_lost")), len(table.feed("device_restored"))) == after


def test_m30_rescan_finds_a_card_that_was_drawn_unheard(rig: Callable[..., Any]) -> None:
    """Three lie on the felt, two are recorded: the third takes its place after the rescan."""
    table = rig()
    table.to_dealing()
    table.line.cards("AH 9C")
    table.step("draw player/1")
    lose_line(table)
    table.incident("M-30")
    assert table.refused("resolve", incident=1, resolution="rescan", reason="count", cards=1).code == "bad_args"
    table.resolve("rescan", cards=3)
    table.step("rescan")
    table.line.cards("AH 9C KH")
    table.step("draw dealer/1")
    assert table.dealt() == [("player/0", "AH"), ("dealer/0", "9C"), ("player/1", "KH")]


def test_m30_rescan_in_another_order_is_refused(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_dealing()
    table.line.cards("AH 9C")
    table.step("draw player/1")
    lose_line(table)
    table.incident("M-30")
    table.resolve("rescan", cards=2)
    table.step("rescan")
    table.line.cards("9C AH")
    table.until(lambda: len(table.status()["incidents"]) >= 2, "the second incident")
    assert all(i["code"] in ("M-30", "M-08") for i in table.status()["incidents"].values())
    assert table.dealt() == [("player/0", "AH"), ("dealer/0", "9C")]
    table.order("void", reason="order is not proven")
    table.step("reopen")
    assert table.status()["incidents"] == {}


def test_unplugged_between_rounds_needs_no_proof(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_betting()
    play_quick(table)
    lose_line(table)
    table.step("open_bets")
    assert table.feed("incident_raised") == []
    table.order("open_bets")
    play_quick(table)


def test_half_a_line_before_the_unplug_is_no_card(rig: Callable[..., Any]) -> None:
    """``A01`` was on its way: the card has left the shoe, nobody knows which."""
    table = rig()
    table.to_dealing()
    table.line.cards("AH 9C")
    table.step("draw player/1")
    with frozen(table):
        table.line.write(b"A0")
        deadline = time.monotonic() + 10
        while waiting_bytes(table) < 2:
            assert time.monotonic() < deadline
    table.until(lambda: waiting_bytes(table) == 0, "the half line to be read")
    lose_line(table)
    table.incident("M-01")
    table.incident("M-30")
    assert len(table.dealt()) == 2
    numbers = {i["code"]: int(n) for n, i in table.status()["incidents"].items()}
    table.order("resolve", incident=numbers["M-01"], resolution="rescan", reason="shown again")
    table.order("resolve", incident=numbers["M-30"], resolution="rescan", reason="felt", cards=3)
    table.step("rescan")
    table.line.cards("AH 9C KH")
    table.step("draw dealer/1")
    assert [c for _, c in table.dealt()] == ["AH", "9C", "KH"]


def test_half_a_line_and_silence_is_no_card(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_dealing()
    table.line.write(b"A01")
    table.incident("M-01")
    assert table.dealt() == []


# --- others on the line ------------------------------------------------------------------------------------------


@contextlib.contextmanager
def second_table(table: Any) -> Iterator[Contact]:
    """``dealerd run`` with another table file on the port of ``table``."""
    text = table.file.read_text().replace('"t-1"', '"t-2"').replace("t.journal", "u.journal")
    text = text.replace("feed.sock", "feed2.sock").replace("commands.sock", "commands2.sock")
    file, ready = table.folder / "second.toml", table.folder / "ready2"
    file.write_text(text)
    words = [sys.executable, "-m", "controller.cli", "run", str(file), "--ready-file", str(ready)]
    with (table.folder / "second.log").open("wb") as log:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        table.until(ready.exists, "the second table")
        assert process.poll() is None
        loaded = load(file)
        yield Contact.of(loaded, table.contact("observer").key_file)
    finally:
        process.terminate()
        assert process.wait(10) == 0


def test_a_second_table_on_the_port_says_busy_and_holds(rig: Callable[..., Any]) -> None:
    table = rig()
    table.to_dealing()
    table.line.cards("AH")
    table.step("draw dealer/0")
    log = table.folder / "second.log"
    with second_table(table) as contact, contact.client() as client:
        table.until(lambda: "is used by another program" in log.read_text(), "the second table to say why")
        state = client.command("status").data
        assert state["devices_lost"] == ["shoe"]
        assert "device:shoe" in state["holds"]
        table.line.cards("9C")
        table.step("draw player/1")
    table.line.cards("KH 8D")
    table.until(lambda: table.feed("round_result"), "a result")
    assert [c for _, c in table.dealt()] == ["AH", "9C", "KH", "**"]
    assert len(table.feed("device_lost")) == 1  # "not connected yet", at the start


def test_a_second_table_on_the_port_says_busy_on_its_feed(rig: Callable[..., Any]) -> None:
    table = rig()
    log = table.folder / "second.log"
    with second_table(table) as contact, contact.client() as client:
        table.until(lambda: "is used by another program" in log.read_text(), "the second table to say why")
        assert "used by another program" in str(client.command("status").data["holds"])


def steal(table: Any, line: bytes, count: int) -> None:
    """The shoe sends ``line``; a program that ignores the lock reads ``count`` bytes of it before the service."""
    with frozen(table):
        table.line.write(line)
        deadline = time.monotonic() + 10
        while waiting_bytes(table) < len(line):
            assert time.monotonic() < deadline
        fd = os.open(table.line.link, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            assert os.read(fd, count) == line[:count]
        finally:
            os.close(fd)


@pytest.mark.parametrize("taken", [1, 2, 3, 5])
def test_a_foreign_reader_costs_a_card_never_changes_it(rig: Callable[..., Any], taken: int) -> None:
    table = rig()
    table.to_dealing()
    steal(table, b"A13\r\n", taken)
    if taken < 3:
        table.incident("M-01")
        assert table.dealt() == []
        table.resolve("rescan")
    table.line.cards("AH")
    table.step("draw dealer/0")
    assert table.dealt() == [("player/0", "AH")]


@pytest.mark.parametrize("code_set", ["scan_table", "suit_rank"])
def test_no_part_of_one_code_is_another_card(code_set: Any) -> None:
    """Whatever bytes of a line a foreign reader takes, the rest is not another face."""
    for face in FACES:
        code = card_code(face, code_set)
        for mask in range(2 ** len(code)):
            rest = "".join(letter for i, letter in enumerate(code) if mask >> i & 1).encode()
            events = LineDecoder(code_set).feed(rest + b"\r\n", 0.0)
            assert [e.card for e in events if hasattr(e, "card")] in ([], [face]), (face, rest)
