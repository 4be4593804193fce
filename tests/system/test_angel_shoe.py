"""A baccarat table on an Angel Eye shoe: the recording of a real one, and the sequences the hardware page shows."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from controller.bus import keys
from controller.bus.errors import CommandRefused
from controller.simulation.control import ControlError, ShoeControl
from drivers import events as e
from drivers.angel.codec import AngelEncoder
from drivers.decode import decode_capture, hex_chunks

ANGEL = {"protocol": "angel"}


def baccarat(**rules: Any) -> dict[str, Any]:
    return {"game": "baccarat", "decisions": "platform", "peek_delay_s": 1.5} | rules


class Telegrams:
    """The device side, telegram by telegram, each three times as the shoe sends them."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self.encoder = AngelEncoder()

    def send(self, *events: e.Event) -> None:
        for event in events:
            self.table.line.write(self.encoder.triple(event))

    def draw(self, *places: str, card: str = "**") -> None:
        """``P1`` … ``B3``, face down unless ``card`` is given."""
        for place in places:
            self.send(e.CardDrawn(card, *_target(place)))

    def reveal(self, **cards: str) -> None:
        for place, card in cards.items():
            self.send(e.CardRevealed(card, *_target(place)))  # type: ignore[arg-type]

    def result(self, winner: Any, *, pp: bool = False, bp: bool = False) -> None:
        self.send(e.RoundResult(winner, pp, bp))


def _target(place: str) -> tuple[str, int]:
    return ("player" if place[0] == "P" else "banker"), int(place[1])


@pytest.fixture
def angel(rig: Callable[..., Any]) -> Callable[..., tuple[Any, Telegrams]]:
    """A table in its first deal, and the shoe on its line."""

    def start(**rules: Any) -> tuple[Any, Telegrams]:
        table = rig(game=baccarat(burn="none", **rules), shoe={"protocol": "angel", "repeat_window_s": 1.0})
        shoe = Telegrams(table)
        shoe.send(e.Started())
        table.to_burn()
        next_hand(table)
        return table, shoe

    return start


def next_hand(table: Any) -> None:
    table.step("open_bets")
    table.order("open_bets")
    table.order("close_bets")
    table.step("draw player/0")


def whole_hand(shoe: Telegrams) -> None:
    """PLAYER 8 against 1, drawn face down, with stand-by."""
    shoe.draw("P1", "B1", "P2", "B2")
    shoe.reveal(P1="8S", B1="AH", P2="KD", B2="TC")
    shoe.result("player")
    shoe.send(e.StandBy())


def test_a_hand_dealt_face_down_is_checked_at_the_reveal(angel: Any) -> None:
    table, shoe = angel()
    whole_hand(shoe)
    assert table.last("round_result")["outcomes"] == {"winner": "player", "player_pair": False, "banker_pair": False}
    table.step("open_bets")
    assert [position for position, _ in table.dealt()] == ["player/0", "banker/0", "player/1", "banker/1"]


def test_M_24_a_missing_stand_by_holds_until_a_supervisor_confirms(angel: Any) -> None:
    table, shoe = angel(standby_s=0.2)
    shoe.draw("P1", "B1", "P2", "B2")
    shoe.reveal(P1="8S", B1="AH", P2="KD", B2="TC")
    shoe.result("player")
    incident = table.incident("M-24")
    assert incident["resolutions"] == ["resume", "void_round_and_shoe"]
    assert table.refused("open_bets").code == "held"
    table.resolve("resume")
    next_hand(table)
    whole_hand(shoe)
    table.until(lambda: len(table.feed("round_result")) == 2, "the second result")


def test_M_30_power_cycle_with_two_cards_out(angel: Any) -> None:
    table, shoe = angel()
    shoe.draw("P1", "B1")
    table.step("draw player/1")
    table.line.write(bytes.fromhex("FF FF FF FF C5 FC"))
    shoe.send(e.Started(), e.Started())
    incident = table.incident("M-30")
    assert "void_round" in incident["resolutions"]
    table.resolve("void_round")
    table.step("reopen")
    table.order("reopen", reason="the two cards were put aside")
    next_hand(table)
    whole_hand(shoe)
    table.until(lambda: table.feed("round_result"), "the result")
    assert [position for position, _ in table.dealt()] == ["player/0", "banker/0", "player/1", "banker/1"]
    assert len(table.feed("round_voided")) == 1


def test_M_08_over_draw_kept_is_the_first_card_of_the_next_hand(angel: Any) -> None:
    table, shoe = angel(standby_s=0.2)
    shoe.draw("P1", "B1", "P2", "B2")
    shoe.send(e.ErrorRaised(2, False), e.OutOfGame("**", "burn", 0), e.ErrorCleared(2, False))
    shoe.reveal(P1="8S", B1="AH", P2="KD", B2="TC")
    shoe.result("player")
    table.incident("M-08")
    assert not table.feed("round_result")
    table.resolve("use_as_next")
    table.until(lambda: table.feed("round_result"), "the result")
    table.incident("M-24")  # the shoe goes to its next hand without a stand-by
    table.resolve("resume")
    next_hand(table)
    shoe.send(e.CardReused("**", "player", 1))
    shoe.draw("B1", "P2", "B2")
    shoe.reveal(P1="9S", B1="AH", P2="KD", B2="TC")
    shoe.result("player")
    table.until(lambda: len(table.feed("round_result")) == 2, "the second result")
    assert [p for p, _ in table.dealt()] == ["player/0", "banker/0", "player/1", "banker/1"]


def test_the_shoes_own_result_must_agree(angel: Any) -> None:
    table, shoe = angel()
    shoe.draw("P1", "B1", "P2", "B2")
    shoe.reveal(P1="8S", B1="AH", P2="KD", B2="TC")
    shoe.result("banker")
    incident = table.incident("M-03")
    assert (incident["expected"], incident["actual"]) == ("player", "banker")
    assert not table.feed("round_result")


def test_a_lost_telegram_in_a_hand_is_M_30(angel: Any) -> None:
    table, shoe = angel()
    shoe.draw("P1")
    shoe.encoder.encode(e.CardDrawn("**", "banker", 1))  # all three copies lost
    shoe.draw("P2")
    table.incident("M-30")


# --- the recording ---------------------------------------------------------------------------------------------


@pytest.fixture
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., ShoeControl]]:
    """Puts a simulated shoe on a line, as a process of its own; returns its control socket."""
    running: list[tuple[subprocess.Popen[bytes], ShoeControl]] = []

    def start(link: Path, *options: str) -> ShoeControl:
        control_path = tmp_path_factory.mktemp("shoe") / "ctl"
        words = [sys.executable, "-m", "controller.cli", "shoe", "--protocol", "angel", "--link", str(link)]
        words += ["--control", str(control_path), "--speed", "0", *options]
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        control = ShoeControl(control_path)
        running.append((process, control))
        return control

    yield start
    for process, control in running:
        control.close()
        process.terminate()
        process.wait(10)


@pytest.fixture
def recorded(simulated: Callable[..., ShoeControl], tmp_path: Path) -> Callable[..., ShoeControl]:
    """Plays chunks of a recording on a line."""

    def play(chunks: list[bytes], link: Path) -> ShoeControl:
        capture = tmp_path / "capture.hex"
        capture.write_text("\n".join(chunk.hex(" ") for chunk in chunks))
        return simulated(link, "--replay", str(capture))

    return play


def test_the_recording_gives_the_results_that_the_shoe_itself_says(
    rig: Callable[..., Any], recorded: Callable[..., ShoeControl], shared: Path
) -> None:
    lines = (shared / "data" / "angel_eye" / "capture.hex").read_text().splitlines()
    chunks = list(hex_chunks(lines))
    new_shoe = chunks.index(b"\xff") - 1  # the start burst of the second shoe, with its power-on noise
    codes: list[str] = []
    for part, burn in ((chunks[:new_shoe], "none"), (chunks[new_shoe:], "by_first_card")):
        table = rig(game=baccarat(burn=burn), shoe={"protocol": "angel", "repeat_window_s": 1.0})
        table.line.unplug()
        control = recorded(part, table.line.link)
        table.until(lambda t=table: "shoe" not in t.status()["devices_lost"], "the shoe to be heard again")
        codes += _play(table, control)
        events, summary = decode_capture("angel", part)
        assert summary["gaps"] == summary["bad_checksum"] == 0
        said = [event for event in events if isinstance(event, e.RoundResult)]
        ours = [frame["data"]["outcomes"] for frame in table.feed("round_result")]
        assert ours == [
            {"winner": g.winner, "player_pair": g.player_pair, "banker_pair": g.banker_pair} for g in said
        ]
        _nothing_dealt_twice(table)
    assert codes == ["M-08"]  # one card over-drawn in the second shoe, and nothing else


def _play(table: Any, control: ShoeControl) -> list[str]:
    """The people at the table: they follow the step, and the supervisor burns what was over-drawn."""
    table.to_burn()
    codes: list[str] = []
    while True:
        status = _at_rest(table)
        step = status["step"]
        if status["incidents"]:
            codes += [i["code"] for i in status["incidents"].values()]
            table.resolve("burn_card")
        elif step["step"] == "open_bets":
            if control.ask("status")["left"] == 0:
                return codes
            table.order("open_bets")
            table.order("close_bets")
        else:
            assert step["step"] == "draw", step
            control.ask("draw")
            _heard(table, status)


def _heard(table: Any, before: Any) -> None:
    """Wait until the table shows what the draw brought; a second that changes nothing brought copies only."""
    until = time.monotonic() + 1.0
    while table.status() == before and time.monotonic() < until:
        time.sleep(0.005)


def _at_rest(table: Any) -> Any:
    """The status once nothing has changed for a moment: a shoe speaks by itself after the last card."""
    last, quiet = None, time.monotonic()
    while time.monotonic() - quiet < 0.08:
        status = table.status()
        seen = json.dumps(status, sort_keys=True)
        if seen != last:
            last, quiet = seen, time.monotonic()
    return status


def _nothing_dealt_twice(table: Any) -> None:
    places = [(f["round"], f["data"]["position"]) for f in table.feed("card_dealt")]
    assert len(places) == len(set(places))


# --- what a technician has it do -------------------------------------------------------------------------------


def test_a_technician_has_the_shoe_locked_and_opened_and_both_are_on_the_record(
    rig: Callable[..., Any], simulated: Callable[..., ShoeControl]
) -> None:
    table = rig(game=baccarat(burn="none"), shoe={"protocol": "angel", "repeat_window_s": 1.0})
    keys.make_person(table.folder / "keys", "technician", "tess")
    table.line.unplug()
    shoe = simulated(table.line.link, "--mode", "open")
    table.run_again()
    table.to_burn()
    table.step("open_bets")
    person = replace(table.contact("observer"), key_file=table.folder / "keys" / "technician" / "tess.key_secret")
    with person.client() as tess:
        for number, action in enumerate(("lock", "unlock"), 1):
            tess.command("device_command", {"action": action, "reason": "jammed"})
            table.until(lambda n=number: len(table.feed("device_answered")) == n, "the shoe's answer")
            assert table.last("device_commanded") == {
                "device": "shoe", "action": action, "reason": "jammed", "by": "technician:tess",
            }  # fmt: skip
            assert (table.last("device_answered")["action"], table.last("device_answered")["ok"]) == (action, True)
            if action == "lock":
                with pytest.raises(ControlError, match="the exit is locked"):
                    shoe.ask("draw")
        next_hand(table)
        with pytest.raises(CommandRefused, match="a card is due from the shoe"):
            tess.command("device_command", {"action": "clear_error", "reason": "jammed"})
    shoe.ask("draw")  # the exit is open again
