"""When a lost line is tried again."""

from __future__ import annotations

from drivers.reconnect import FIRST_DELAY_S, MAX_DELAY_S, STABLE_AFTER_S, LinkState, Reconnect


def test_delays_grow_to_a_bound() -> None:
    link = Reconnect()
    link.lost(0.0)
    delays = [link.delay() for _ in range(10)]
    assert delays[0] == FIRST_DELAY_S
    assert delays == sorted(delays)
    assert delays[-1] == MAX_DELAY_S


def test_a_loss_is_news_once() -> None:
    link = Reconnect()
    assert link.state is LinkState.STARTING
    assert link.lost(0.0)
    assert not link.lost(1.0)
    link.opened(2.0)
    assert link.state is LinkState.OPEN
    assert link.lost(3.0)
    assert link.state is LinkState.LOST
    link.stopped()
    assert link.state is LinkState.STOPPED


def test_only_a_line_that_stayed_up_is_trusted_again() -> None:
    link = Reconnect()
    for _ in range(10):
        link.lost(0.0)
        link.delay()
    link.opened(10.0)
    link.lost(10.0 + STABLE_AFTER_S / 2)
    assert link.delay() == MAX_DELAY_S
    link.opened(20.0)
    link.lost(20.0 + STABLE_AFTER_S)
    assert link.delay() == FIRST_DELAY_S
