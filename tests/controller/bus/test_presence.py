"""A game server that is gone is told from a single command, from a short break, and from one of two servers."""

from __future__ import annotations

from typing import Any

import pytest

from controller.bus import presence
from controller.bus.client import TableClient
from controller.bus.presence import GRACE_S, LASTING_S, Presence

LONG = LASTING_S + 1.0


def served() -> Presence:
    """A server that sent commands over line 5 from 0 to ``LONG`` seconds."""
    one = Presence()
    one.joined(0.0)
    for now in (0.0, LONG):
        one.heard(5, now)
    return one


def test_nobody_is_missed_who_never_came() -> None:
    one = Presence()
    one.left(5, 0.0)
    assert one.here(1000.0) is None


def test_who_is_gone_for_longer_than_a_moment_is_missed() -> None:
    one = served()
    assert one.here(LONG + 1000.0)  # silence says nothing
    one.left(5, LONG)
    assert one.here(LONG + GRACE_S - 0.01)
    assert one.here(LONG + GRACE_S) is False
    one.joined(LONG + 60.0)
    assert one.here(LONG + 1000.0)


def test_single_commands_come_and_go() -> None:
    one = Presence()
    for line, now in ((5, 0.0), (6, 20.0), (5, 40.0)):
        one.joined(now)
        one.heard(line, now)
        one.left(line, now + LASTING_S - 0.01)
    assert one.here(1000.0)


@pytest.mark.parametrize("told", ["a second line", "a new connection"])
def test_another_server_that_is_there_already_is_enough(told: str) -> None:
    one = served()
    if told == "a second line":
        one.heard(6, LONG)
    else:
        one.joined(LONG + 0.5)
    one.left(5, LONG + 1.0)
    assert one.here(1000.0)


def test_a_connection_that_never_said_anything_does_not_stand_in_for_ever() -> None:
    one = served()
    one.joined(LONG + 0.5)
    one.left(5, LONG + 0.5 + LASTING_S)
    assert one.here(1000.0) is False


def test_a_line_of_somebody_else_is_none_of_its() -> None:
    one = served()
    one.left(6, LONG)
    assert one.here(1000.0)


def test_over_real_sockets(serve: Any, arguments: Any, transport: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "LASTING_S", 0.0)
    monkeypatch.setattr(presence, "GRACE_S", 0.0)
    server = serve(transport)
    with TableClient(*arguments(server, "dealer")) as dealer:
        dealer.command("hello")
        assert server.call(lambda hub: hub.game_server_here()) is None
        for _ in range(2):
            with TableClient(*arguments(server, "game_server")) as client:
                while client.next_event(0.05) is None:  # until its feed is connected as well
                    server.publish()
                client.command("hello")
                assert server.call(lambda hub: hub.game_server_here()) is True
            server.wait_for(lambda hub: hub.game_server_here() is False)
        dealer.command("hello")
        assert server.call(lambda hub: hub.game_server_here()) is False
