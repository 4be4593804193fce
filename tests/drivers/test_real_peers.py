"""Drivers behind device servers of other makes, ``socat`` and ``ser2net``, and on a network that goes silent.

A device server whose process hangs cannot be told from an idle shoe: its kernel answers the keep-alive. That is
shown here, too.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from drivers.angel.commands import LOCK, encode_command
from drivers.angel.driver import AngelShoe
from drivers.angel.frames import encode
from drivers.errors import PortUnavailable
from drivers.events import CardDrawn, Gap, PortLost, PortRestored
from drivers.port import SerialPort
from drivers.reconnect import LinkState
from drivers.registry import open_shoe
from drivers.settings import LineSettings, ShoeSettings
from drivers.shoe import ShoeDriver

CARDS = [CardDrawn("8S", "player", 1), CardDrawn("AH", "banker", 1), CardDrawn("KD", "player", 2)]
TELEGRAMS = [encode(card, str(number)) for number, card in enumerate(CARDS, 1)]
LINE = LineSettings(4800)


@pytest.fixture(params=["socat", "ser2net"])
def device(request: pytest.FixtureRequest, serve: Callable[[str], Any]) -> Any:
    return serve(request.param)


@pytest.fixture
def run(inbox: Any) -> Iterator[Callable[..., ShoeDriver]]:
    started: list[ShoeDriver] = []

    def start(port: str, protocol: str = "angel", **settings: Any) -> ShoeDriver:
        driver = open_shoe(ShoeSettings(protocol=protocol, port=port, **settings))
        started.append(driver)
        driver.start(inbox)
        inbox.wait_count(PortRestored)
        return driver

    yield start
    for driver in started:
        driver.stop()


def test_every_byte_value_passes_both_ways(device: Any) -> None:
    port = SerialPort(device.port, LINE)
    port.open()
    try:
        # The server opens its device when it has a client; what comes before that is nobody's.
        end = time.monotonic() + 10
        while not port.read(time.monotonic() + 0.05) and time.monotonic() < end:
            device.write(b"?")
        everything = bytes(range(256))
        device.write(everything)
        got = b""
        while not got.endswith(everything) and time.monotonic() < end:
            got += port.read(time.monotonic() + 0.1)
        assert got.strip(b"?").endswith(everything.strip(b"?")), "11h, 13h, 00h and FFh among them"
        port.write(everything)
        back = b""
        while len(back) < 256 and (more := device.read(256)):
            back += more
        assert back == everything
    finally:
        port.close()


def test_cards_over_the_network(run: Callable[..., ShoeDriver], device: Any, inbox: Any) -> None:
    run(device.port)
    _heard(device, inbox, 1)
    for byte in TELEGRAMS[1]:
        device.write(bytes((byte,)))
    device.write(TELEGRAMS[1] * 2 + TELEGRAMS[2])
    assert inbox.wait_count(CardDrawn, 3)[1:] == CARDS


def test_a_device_server_that_is_restarted(run: Callable[..., ShoeDriver], device: Any, inbox: Any) -> None:
    driver = run(device.port)
    _heard(device, inbox, 1)
    device.unplug()
    inbox.wait_count(PortLost)
    assert driver.state is LinkState.LOST
    device.plug()
    inbox.wait_count(PortRestored, 2)
    _heard(device, inbox, 3, count=2)
    kinds = [type(event) for event in inbox.events]
    assert kinds == [PortRestored, CardDrawn, PortLost, PortRestored, Gap, CardDrawn]


def test_a_device_that_is_pulled_from_its_server(run: Callable[..., ShoeDriver], device: Any, inbox: Any) -> None:
    """Both servers close the connection then; a server that kept it would look like an idle shoe."""
    run(device.port)
    _heard(device, inbox, 1)
    os.close(device.master)
    device.master = -1
    inbox.wait_count(PortLost)


def test_a_second_client_is_refused_or_hung_up_on(device: Any, inbox: Any, run: Callable[..., ShoeDriver]) -> None:
    run(device.port)
    second = open_shoe(ShoeSettings(protocol="line", port=device.port))
    got: list[Any] = []
    second.start(got.extend)
    try:
        end = time.monotonic() + 10
        while not any(isinstance(reading.event, PortLost) for reading in got) and time.monotonic() < end:
            time.sleep(0.01)
        assert any(isinstance(reading.event, PortLost) for reading in got)
        assert not any(isinstance(reading.event, CardDrawn) for reading in got)
    finally:
        second.stop()
    _heard(device, inbox, 1)


def test_a_second_client_is_told_why_it_may_be_refused(
    serve: Callable[[str], Any], wait_until: Callable[..., None]
) -> None:
    device = serve("socat")
    first, second = SerialPort(device.port, LINE), SerialPort(device.port, LINE)
    first.open()
    try:
        wait_until(lambda: not device.listens, "the server to have taken its one client")
        with pytest.raises(PortUnavailable, match="no other client is connected"):
            second.open()
    finally:
        first.close()
        second.close()


def test_commands_reach_the_shoe_and_its_answers_come_back(
    run: Callable[..., ShoeDriver], device: Any, inbox: Any
) -> None:
    driver = run(device.port)
    assert isinstance(driver, AngelShoe)
    _heard(device, inbox, 1)
    future = driver.lock()
    assert device.read(100) == encode_command(LOCK, "with_stx")
    device.write(TELEGRAMS[1] + b"\x06" + TELEGRAMS[1] * 2)
    assert future.result(10).ok
    assert inbox.wait_count(CardDrawn, 2)[1:] == CARDS[:2]


def test_a_virtual_port_of_another_make(
    run: Callable[..., ShoeDriver],
    inbox: Any,
    tmp_path: Path,
    need: Callable[[str], str],
    serve: Callable[[str], Any],
) -> None:
    """The device path is a terminal that ``socat`` makes of a network connection, as NPort's own drivers do."""
    device = serve("socat")
    path = tmp_path / "virtual"
    client = subprocess.Popen([need("socat"), f"PTY,link={path},raw,echo=0", f"TCP:127.0.0.1:{device.tcp}"])
    try:
        end = time.monotonic() + 10
        while not path.exists() and time.monotonic() < end:
            time.sleep(0.005)
        run(str(path))
        _heard(device, inbox, 1)
        client.kill()
        inbox.wait_count(PortLost)
    finally:
        client.kill()
        client.wait()


def test_a_frozen_device_server_looks_like_an_idle_shoe_and_loses_nothing(
    run: Callable[..., ShoeDriver], serve: Callable[[str], Any], inbox: Any
) -> None:
    device = serve("socat")
    driver = run(device.port)
    _heard(device, inbox, 1)
    device.server.send_signal(signal.SIGSTOP)
    device.write(TELEGRAMS[1] * 3)
    time.sleep(1.0)
    assert driver.state is LinkState.OPEN, "nothing on the wire tells it from a shoe that nobody draws from"
    before = time.monotonic_ns()
    device.server.send_signal(signal.SIGCONT)
    inbox.wait_count(CardDrawn, 2)
    assert inbox.events[1:] == CARDS[:2]
    assert inbox.readings[-1].received_ns > before, "the time is that of the read, not of the card"


HALF_OPEN = """
import fcntl, socket, struct, sys, threading, time
from drivers import port
from drivers.events import PortLost, PortRestored
from drivers.registry import open_shoe
from drivers.settings import ShoeSettings

def loopback(up):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, 0x8914, struct.pack("16sH14x", b"lo", 1 if up else 0))  # SIOCSIFFLAGS, IFF_UP

port.KEEP_ALIVE_IDLE_S = port.KEEP_ALIVE_INTERVAL_S = 1
port.SILENCE_S = 3
loopback(True)
server = socket.create_server(("127.0.0.1", 0))
lost, back, drivers = threading.Event(), threading.Event(), []
def sink(readings):
    for reading in readings:
        if isinstance(reading.event, PortLost):
            print(reading.event.reason)
            lost.set()
        elif isinstance(reading.event, PortRestored):
            back.set()
address = f"socket://127.0.0.1:{server.getsockname()[1]}"
driver = open_shoe(ShoeSettings(protocol="angel", port=address))
driver.start(sink)
peer, _ = server.accept()
assert back.wait(5)
back.clear()
loopback(False)
began = time.monotonic()
if sys.argv[1] == "talking":
    driver.lock()
assert lost.wait(20), "never noticed"
print(f"noticed after {time.monotonic() - began:.1f} s")
loopback(True)
assert back.wait(20), "not connected again"
driver.stop()
"""


@pytest.mark.parametrize("host", ["listening", "talking"])
def test_a_network_that_goes_silent_is_a_loss(host: str, need: Callable[[str], str]) -> None:
    """In a network of its own that is switched off: neither FIN nor RST comes. Keep-alive finds it while the host
    only listens, the time-out of unacknowledged bytes while it has sent something."""
    unshare = need("unshare")
    if subprocess.run([unshare, "-rn", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network namespaces on this machine (kernel.unprivileged_userns_clone, or run as root)")
    words = [unshare, "-rn", sys.executable, "-W", "ignore", "-c", HALF_OPEN, host]
    done = subprocess.run(words, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "stopped answering" in done.stdout or "cannot be written" in done.stdout, done.stdout
    assert "noticed after" in done.stdout


def _heard(device: Any, inbox: Any, number: int, count: int = 1) -> None:
    """Write the telegram of card ``number`` until it is heard: a server opens its device once it has a client, and
    drops what came before."""
    end = time.monotonic() + 10
    while sum(isinstance(event, CardDrawn) for event in inbox.events) < count and time.monotonic() < end:
        device.write(TELEGRAMS[number - 1])
        time.sleep(0.05)
    inbox.wait_count(CardDrawn, count)
