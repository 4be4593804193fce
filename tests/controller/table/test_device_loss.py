"""A device lost at any step of a round: the table stops before the next one, keeps the bets, and goes on or voids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from controller import facts as f
from controller.book.rows import BalanceRequest
from controller.table.inputs import BalancesInput, DeadlineInput, DiskInput
from drivers import events as e

Act = Callable[[Any], object]
GAMES: Final = ("boundless", "classic", "baccarat")
#: Bets of p1, the cards of the round (what the dealer draws after the decision behind ``|``), what p1 gets back.
PLAYED: Final = {
    "boundless": ([{"player": "p1", "bet": "main", "stake": 100}], "TC AH 9S 4D|3C", "main", 200),
    "classic": ([{"player": "p1", "bet": "main", "box": 1, "stake": 100}], "TC 7H 9S|8D 3C", "seat/1/hand/0", 200),
    "baccarat": ([{"player": "p1", "bet": "PLAYER", "stake": 100}], "2C 2D 3H 4S 4C|", None, 200),
}
LOSE: Final[dict[str, tuple[Act, Act]]] = {
    "shoe": (lambda b: b.shoe(e.PortLost("pulled")), lambda b: b.shoe(e.PortRestored("pty"))),
    "camera": (
        lambda b: b.ok("camera_health", ok=False, reason="dark", role="camera"),
        lambda b: b.ok("camera_health", ok=True, role="camera"),
    ),
    "disk": (lambda b: b.put(DiskInput("little room")), lambda b: b.put(DiskInput(""))),
}


def see(b: Any) -> None:
    """The camera sees the card that the shoe has read."""
    (claim,) = b.state.claims
    down = claim.position == "dealer/1" and b.setting.rules.game == "boundless"
    b.see((claim.position, "**" if down else claim.card))


def turn(b: Any, card: str) -> None:
    b.see(("dealer/1", card))


def peek(b: Any) -> None:
    b.now = b.state.step_due
    b.put(DeadlineInput("step"))


def acts(game: str, *, watched: bool) -> list[Act]:
    """Everything that people and shoe do in one round, one thing at a time."""
    bets, cards, line, _ = PLAYED[game]
    first, _, last = cards.partition("|")

    def drawn(faces: str) -> list[Act]:
        read = [(lambda b, face=face: b.cards(face)) for face in faces.split()]
        return [act for one in read for act in (one, see)] if watched else [*read]

    found: list[Act] = [
        lambda b: b.ok("place_bets", round=b.state.round.id, bets=bets),
        lambda b: b.ok("close_bets"),
        *drawn(first),
    ]
    if line is not None:
        windows = {"boundless": ("insurance",), "classic": ()}[game]
        found += [lambda b, w=w: b.ok("close_decisions", round=b.state.round.id, window=w) for w in windows]
        found += [peek] if game == "boundless" else []
        choice = [{"player": "p1", "line": line, "n": 2, "request": "stand"}]
        found.append(lambda b: b.ok("decide", round=b.state.round.id, decisions=choice))
        if watched and game == "boundless":
            found.append(lambda b: turn(b, "4D"))
    return found + drawn(last)


def table(bench: Any, game: str, device: str) -> Any:
    sources = "both" if device == "camera" else "shoe"
    b = bench(game, decisions="book", burn="none", sources=sources, peek_delay_s=2.0, auto_void_after_s=300.0)
    if device == "camera":
        b.ok("camera_health", ok=True, role="camera")
    b.ok("start_shift")
    b.ok("load_shoe")
    b.put(BalancesInput((BalanceRequest("p1", 1000),)))
    b.ok("open_bets")
    return b


def stopped(b: Any, device: str) -> None:
    """Nothing that belongs to the game goes on, by itself or by command."""
    assert f"device:{device}" in b.state.holds
    assert b.step == "wait"
    due = b.table.deadline()
    assert due is None or due[0] != "step"
    for name, args in (
        ("open_bets", {}),
        ("close_bets", {}),
        ("place_bets", {"round": b.state.round.id, "bets": []}),
    ):
        assert b.refused(name, **args).code in ("held", "not_allowed_now", "bad_args"), name


def post(b: Any) -> None:
    while (due := b.table.deadline()) is not None and due[0] == "post":
        b.wait()


@pytest.mark.parametrize("device", LOSE)
@pytest.mark.parametrize("game", GAMES)
def test_lost_and_back_before_every_step_changes_nothing(bench: Any, game: str, device: str) -> None:
    lose, restore = LOSE[device]
    b = table(bench, game, device)
    for act in acts(game, watched=device == "camera"):
        step, cards, phase = b.state.step, list(b.state.round.cards), b.state.phase
        lose(b)
        stopped(b, device)
        restore(b)
        if b.state.incidents:  # cards lie there: a person says that none went unheard
            assert (device, b.incident) == ("shoe", "M-30")
            b.resolve("resume")
        assert (b.state.step, b.state.phase, b.state.round.cards) == (step, phase, cards)
        act(b)
    assert b.state.phase == "result"
    assert [c.card for c in b.state.round.cards] == PLAYED[game][1].replace("|", " ").split()
    post(b)
    assert b.state.book.money.available("p1") == 900 + PLAYED[game][3]


@pytest.mark.parametrize("device", LOSE)
@pytest.mark.parametrize("game", GAMES)
def test_lost_for_too_long_at_any_step_voids_and_refunds(bench: Any, game: str, device: str) -> None:
    lose, restore = LOSE[device]
    for count in range(1, len(acts(game, watched=device == "camera"))):
        b = table(bench, game, device)
        for act in acts(game, watched=device == "camera")[:count]:
            act(b)
        lose(b)
        assert b.state.book.money.available("p1") == 900  # held, not given back
        b.now = b.state.void_due
        b.put(DeadlineInput("void"))
        assert (b.last(f.RoundVoided).by, b.state.phase) == ("policy:auto_void", "voided")
        post(b)
        assert b.state.book.money.available("p1") == 1000
        assert b.refused("reopen", reason="x").code == "held"  # not before the device is back
        restore(b)
        b.ok("reopen", reason="cleared")
