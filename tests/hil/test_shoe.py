"""A shoe on its rig: it opens, its cards are heard, it comes back when it was pulled, its lock obeys."""

from __future__ import annotations

import time
from typing import Any

import pytest

from drivers.angel.dialogue import ANSWER_S
from drivers.angel.driver import AngelShoe
from drivers.events import Gap, Lock, PortLost, PortRestored
from drivers.reconnect import LinkState

pytestmark = pytest.mark.system

# What is stopped must be stopped before the next shift begins.
STOP_S = 1.0
POLLED = ("feig", "rr3036")


@pytest.fixture(autouse=True)
def _patience(request: pytest.FixtureRequest, rig: Any) -> None:
    """A human takes longer than a test may."""
    if rig.simulate is None:
        request.node.add_marker(pytest.mark.timeout(rig.plan.patience_s * 2 + 60))


def test_the_line_opens_and_is_quiet(bench: Any) -> None:
    assert bench.driver.state is LinkState.OPEN
    if bench.rig.simulate is None:
        bench.say("Touch nothing for five seconds.")
        time.sleep(5)
    assert bench.cards() == 0, "cards are told that nobody drew"
    assert bench.count(PortLost) == 0


def test_every_card_is_heard_once_and_right(bench: Any, findings: Any) -> None:
    count = bench.rig.plan.cards
    truth = bench.hands.draw(count)
    bench.wait(lambda: bench.cards() >= count, f"{count} cards")
    time.sleep(0.3 if bench.rig.simulate else 2.0)  # a card too many would come now
    before = len(findings.misread)
    findings.take(bench, truth)
    assert bench.cards() == count, "each card is told once"
    assert findings.misread[before:] == [] or len(findings.misread) - before <= bench.rig.plan.misreads
    # A busy machine may leave a simulated reader without processor for half a second: then nobody looked.
    if bench.rig.simulate is None or bench.rig.shoe.protocol not in POLLED:
        assert bench.count(Gap) == 0, "a telegram is missing"
    assert bench.driver.stats.bad_checksum == 0, "bytes arrive damaged: cable, baud rate, interference"
    assert bench.count(PortLost) == 0


def test_cards_are_told_in_time(bench: Any, findings: Any) -> None:
    bench.hands.draw(5)
    bench.wait(lambda: bench.cards() >= 5, "5 cards")
    findings.take(bench, None)
    slow = [(at - reading.received_ns) / 1e6 for reading, at in bench.told]
    assert max(slow) <= bench.rig.plan.told_ms


def test_a_pulled_plug_is_told_once_and_the_line_comes_back(bench: Any, findings: Any) -> None:
    if not bench.rig.plan.can_unplug:
        pytest.skip("no real hardware that may be unplugged (can_unplug = false)")
    bench.hands.unplug()
    bench.wait(lambda: bench.count(PortLost) == 1, "the plug to be pulled")
    bench.wait(lambda: bench.count(PortRestored) == 2, "the plug to be put back")
    times = [at for reading, at in bench.told if isinstance(reading.event, PortLost | PortRestored)]
    findings.restored_s.append((times[-1] - times[-2]) / 1e9)
    time.sleep(0.1)
    heard = bench.cards()
    bench.hands.draw(3)
    bench.wait(lambda: bench.cards() >= heard + 3, "3 cards after the plug was back")
    findings.take(bench, None)
    kinds = [type(event) for event in bench.events if isinstance(event, PortLost | PortRestored)]
    assert kinds == [PortRestored, PortLost, PortRestored]
    if bench.rig.simulate is not None:
        assert findings.restored_s[-1] <= bench.rig.plan.restored_s


def test_the_lock_obeys(bench: Any) -> None:
    """By command; by the procedure alone, too, where a self-test has permitted that (``lock = "on"``)."""
    driver = bench.driver
    if not isinstance(driver, AngelShoe) or not bench.rig.plan.lock:
        return  # nothing to prove: the lock is not to be tried
    follows = bench.settings.lock == "on"

    def order(locked: bool) -> None:
        if follows:
            driver.allow(not locked)
            bench.wait(lambda: driver.locked is locked or driver.lock_fault is not None, f"locked to be {locked}")
            assert driver.lock_fault is None
        else:
            done = (driver.lock() if locked else driver.unlock()).result(ANSWER_S * 3)
            assert done.ok, done.text

    order(True)
    if bench.rig.simulate is None:
        bench.say("Try to draw a card for five seconds: none may come out.")
        time.sleep(5)
    else:
        assert "locked" in bench.hands.ask("draw")["error"]
    assert bench.cards() == 0
    order(False)
    bench.hands.draw(1)
    bench.wait(lambda: bench.cards() == 1, "a card after the lock opened")
    # It was unlocked from the start; a telegram need not come, but not one alone.
    assert bench.count(Lock) in (0, 2)


def test_it_stops_at_once(bench: Any) -> None:
    began = time.monotonic()
    bench.driver.stop()
    assert time.monotonic() - began < STOP_S
