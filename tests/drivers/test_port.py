"""The failures of a serial line, over real pseudo-terminals and sockets. Case numbers are the hardware page's."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import termios
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from drivers.angel.codec import AngelDecoder
from drivers.errors import DriverError, PortBusy, PortLost, PortTimeout, PortUnavailable, SettingsError
from drivers.events import CardDrawn, Started
from drivers.port import SerialPort
from drivers.settings import LineSettings

A = bytes.fromhex("05 31 44 81 B8 03 34 46")
B = bytes.fromhex("05 32 44 91 C1 03 32 35")
START = bytes.fromhex("05 30 53 03 36 30")
LINE = LineSettings(baudrate=4800)
SOON_S = 0.05
LONG_S = 10.0

OPEN_IN_ANOTHER_PROCESS = """
import sys
from drivers.errors import PortBusy
from drivers.port import SerialPort
from drivers.settings import LineSettings
try:
    SerialPort(sys.argv[1], LineSettings(baudrate=4800)).open()
except PortBusy as error:
    print(error)
    sys.exit(7)
"""


def within(seconds: float) -> float:
    return time.monotonic() + seconds


def read_all(port: SerialPort, size: int) -> bytes:
    """``size`` bytes, or what came in a long time."""
    data = b""
    end = within(LONG_S)
    while len(data) < size and time.monotonic() < end:
        data += port.read(end)
    return data


@pytest.fixture
def port(pty: Any) -> Iterator[SerialPort]:
    opened = SerialPort(str(pty.path), LINE, write_timeout_s=0.3)
    opened.open()
    yield opened
    opened.close()


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def connect(server: socket.socket) -> tuple[SerialPort, socket.socket]:
    port = SerialPort(f"socket://127.0.0.1:{server.getsockname()[1]}", LINE)
    port.open()
    peer, _ = server.accept()
    return port, peer


def test_bytes_pass_both_ways(pty: Any, port: SerialPort) -> None:
    everything = bytes(range(256))
    pty.write(everything)
    assert read_all(port, 256) == everything, "also 11h and 13h (F8), CR, LF and NUL"
    port.write(everything)
    assert pty.read(256) == everything


def test_hang_up_f1(pty: Any, port: SerialPort) -> None:
    pty.unplug()
    with pytest.raises(PortLost, match="stopped answering") as caught:
        port.read(within(LONG_S))
    assert isinstance(caught.value.__cause__, OSError | termios.error)
    with pytest.raises(PortLost):
        port.write(b"x")
    with pytest.raises(PortLost):
        port.read(within(LONG_S))
    port.close()
    with pytest.raises(PortLost, match="not open"):
        port.read(within(SOON_S))
    with pytest.raises(PortLost, match="not open"):
        port.write(b"x")


def test_bytes_received_before_the_hang_up_are_delivered_first_f2(pty: Any, port: SerialPort) -> None:
    got: list[bytes] = []
    arrived = threading.Event()

    def read() -> None:
        with suppress(PortLost):
            while True:
                got.append(port.read(within(LONG_S)))
                if sum(map(len, got)) == len(A):
                    arrived.set()

    reader = threading.Thread(target=read)
    reader.start()
    pty.write(A)
    assert arrived.wait(LONG_S)
    pty.unplug()
    reader.join(LONG_S)
    assert b"".join(got) == A


def test_a_second_reader_that_ignores_locks_f3(pty: Any, port: SerialPort) -> None:
    """Bytes go missing; what the port raises meanwhile, if anything, is ours."""
    thief = os.open(pty.path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    stolen = mine = 0
    try:
        for _ in range(300):
            pty.write(b"zz")
            with suppress(BlockingIOError):
                stolen += len(os.read(thief, 1))
            with suppress(DriverError):
                mine += len(port.read(within(0)))
    finally:
        os.close(thief)
    with suppress(DriverError):
        while data := port.read(within(SOON_S)):
            mine += len(data)
    assert stolen > 0
    assert stolen + mine <= 600


def test_a_second_process_is_refused_f4(pty: Any, port: SerialPort) -> None:
    run = subprocess.run(
        [sys.executable, "-c", OPEN_IN_ANOTHER_PROCESS, str(pty.path)], capture_output=True, text=True, timeout=30
    )
    assert run.returncode == 7, run.stderr
    assert "used by another program" in run.stdout
    port.close()
    again = SerialPort(str(pty.path), LINE)
    again.open()
    again.close()


def test_failing_opens_leave_no_descriptor_f4(pty: Any, port: SerialPort) -> None:
    other = SerialPort(str(pty.path), LINE)
    missing = SerialPort(f"{pty.path}-missing", LINE)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        with pytest.raises(PortBusy):
            other.open()
        with pytest.raises(PortUnavailable):
            missing.open()
    assert len(os.listdir("/proc/self/fd")) == before
    assert not other.is_open
    assert port.is_open


def test_opening_and_closing_again_and_again_leaves_nothing(pty: Any) -> None:
    port = SerialPort(str(pty.path), LINE)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        port.open()
        port.open()
        pty.write(A)
        assert read_all(port, len(A)) == A
        port.close()
        port.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_frame_in_pieces_and_frames_in_one_piece_f7(pty: Any, port: SerialPort) -> None:
    for byte in A:
        pty.write(bytes((byte,)))
        assert port.read(within(LONG_S)) == bytes((byte,)), "a byte is handed over at once"
    pty.write(A + A + A + B)
    assert read_all(port, 32) == A * 3 + B


def test_the_deadline_is_total_f7(pty: Any, port: SerialPort) -> None:
    begin = time.monotonic()
    assert port.read(begin + 0.1) == b""
    assert 0.1 <= time.monotonic() - begin < 2.0
    assert port.read(begin) == b"", "a deadline in the past does not wait"
    pty.write(A)
    assert port.read(begin + LONG_S) != b""


def test_a_device_that_takes_nothing_f9(port: SerialPort) -> None:
    begin = time.monotonic()
    with pytest.raises(PortTimeout, match="did not take"):
        port.write(b"x" * 200_000)
    assert 0.3 <= time.monotonic() - begin < 3.0
    begin = time.monotonic()
    port.close()
    assert time.monotonic() - begin < 1.0, "close does not wait for the device"
    assert not port.is_open


def in_thread(action: Callable[[], object]) -> tuple[threading.Thread, list[object]]:
    results: list[object] = []

    def run() -> None:
        try:
            results.append(action())
        except DriverError as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, results


def test_close_under_a_waiting_read_f11(pty: Any) -> None:
    for _ in range(30):
        port = SerialPort(str(pty.path), LINE)
        port.open()
        reader, results = in_thread(lambda port=port: [port.read(within(LONG_S)), port.read(within(LONG_S))])
        port.close()
        reader.join(LONG_S)
        assert not reader.is_alive()
        [result] = results
        assert isinstance(result, PortLost)
        assert "not open" in str(result)


def test_cancel_f11(pty: Any, port: SerialPort) -> None:
    begin = time.monotonic()
    reader, results = in_thread(lambda: port.read(within(LONG_S)))
    port.cancel()
    reader.join(LONG_S)
    assert results == [b""]
    assert time.monotonic() - begin < 1.0
    for _ in range(100_000):
        port.cancel()
    pty.write(A)
    assert read_all(port, len(A)) == A, "bytes that are there come before a cancel that is due"
    port.close()
    port.cancel()


def test_close_under_a_waiting_write(pty: Any) -> None:
    port = SerialPort(str(pty.path), LINE, write_timeout_s=LONG_S)
    port.open()
    writer, results = in_thread(lambda: port.write(b"x" * 200_000))
    assert pty.read(1) == b"x", "the write has begun"
    port.close()
    writer.join(LONG_S)
    assert isinstance(results[0], PortLost)


def test_the_same_link_on_another_node_f12(pty: Any, port: SerialPort) -> None:
    pty.write(A)
    assert read_all(port, len(A)) == A
    pty.unplug()
    with pytest.raises(PortLost):
        port.read(within(LONG_S))
    port.close()
    with pytest.raises(PortUnavailable, match="plug the device in"):
        port.open()
    pty.plug()
    port.open()
    pty.write(B)
    assert read_all(port, len(B)) == B


def test_what_is_no_serial_line_f12(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.touch()
    for wrong in (plain, tmp_path, Path("/dev/null")):
        with pytest.raises(PortUnavailable, match="port") as caught:
            SerialPort(str(wrong), LINE).open()
        assert str(wrong) in str(caught.value)
        assert caught.value.__cause__ is not None


def test_no_permission(pty: Any) -> None:
    os.chmod(pty.path, 0)
    os.chmod(pty.path.parent, 0o755)
    me = os.geteuid()
    try:
        if me == 0:  # root may open everything
            os.seteuid(65534)
        with pytest.raises(PortUnavailable) as caught:
            SerialPort(str(os.path.realpath(pty.path)), LINE).open()
    finally:
        os.seteuid(me)
    assert "group" in str(caught.value)


def test_line_settings_that_do_not_exist(pty: Any) -> None:
    with pytest.raises(PortUnavailable, match="line settings"):
        SerialPort(str(pty.path), LineSettings(baudrate=4800, parity="?")).open()  # type: ignore[arg-type]


@pytest.mark.parametrize("url", ["spy:///dev/ttyS0", "rfc2217://host:4001", "loop://", "hwgrep://x"])
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="socket://"):
        SerialPort(url, LINE)


def test_a_cooked_terminal_becomes_raw_and_does_not_echo(pty: Any) -> None:
    descriptor = os.open(pty.path, os.O_RDWR | os.O_NOCTTY)
    try:
        attributes = termios.tcgetattr(descriptor)
        attributes[tty.IFLAG] |= termios.ICRNL | termios.IXON
        attributes[tty.LFLAG] |= termios.ICANON | termios.ECHO
        termios.tcsetattr(descriptor, termios.TCSANOW, attributes)
    finally:
        os.close(descriptor)
    port = SerialPort(str(pty.path), LINE)
    port.open()
    try:
        pty.write(b"A01\r\x11\x13")
        assert read_all(port, 6) == b"A01\r\x11\x13"
        port.write(b"!")
        assert pty.read(10) == b"!"
    finally:
        port.close()


def test_noise_at_plug_in_comes_through_as_it_is_f16(pty: Any, port: SerialPort) -> None:
    noise = bytes.fromhex("FF FF FF FF C5 FC") + START * 3 + b"\0" + A[:5] + START + A
    pty.write(noise)
    data = read_all(port, len(noise))
    assert data == noise
    assert AngelDecoder().feed(data, 0.0) == [Started(), CardDrawn("8S", "player", 1)]


def test_a_device_server_that_closes_f17(server: socket.socket) -> None:
    port, peer = connect(server)
    try:
        peer.sendall(A + B)
        peer.close()
        assert read_all(port, 16) == A + B, "what it sent comes before its end"
        begin = time.monotonic()
        for _ in range(3):
            with pytest.raises(PortLost, match="socket disconnected"):
                port.read(within(LONG_S))
        assert time.monotonic() - begin < 1.0
    finally:
        port.close()


def write_on(port: SerialPort) -> None:
    end = within(LONG_S)
    while time.monotonic() < end:
        port.write(b"x")


def test_writing_to_a_device_server_that_closed_f17(server: socket.socket) -> None:
    port, peer = connect(server)
    try:
        port.write(A)
        assert peer.recv(100) == A
        peer.close()
        with pytest.raises(PortLost, match="cannot be written"):
            write_on(port)
    finally:
        port.close()


def test_a_silent_device_server_can_be_cancelled_and_closed_f17(server: socket.socket) -> None:
    port, peer = connect(server)
    with peer:
        assert port.read(within(SOON_S)) == b""
        reader, results = in_thread(lambda: port.read(within(LONG_S)))
        begin = time.monotonic()
        port.cancel()
        reader.join(LONG_S)
        assert results == [b""]
        assert time.monotonic() - begin < 1.0
        port.close()


def test_a_device_server_that_is_not_there_f17(server: socket.socket) -> None:
    address = f"socket://127.0.0.1:{server.getsockname()[1]}"
    server.close()
    with pytest.raises(PortUnavailable, match="no connection"):
        SerialPort(address, LINE).open()
    with pytest.raises(PortUnavailable):
        SerialPort("socket://127.0.0.1:99999", LINE).open()


def test_a_device_server_is_probed_while_it_is_silent(server: socket.socket) -> None:
    port, peer = connect(server)
    with peer:
        ours = f"127.0.0.1:{server.getsockname()[1]}"
        hex_port = f":{int(ours.rpartition(':')[2]):04X}"
        lines = Path("/proc/net/tcp").read_text().splitlines()
        timers = [line.split()[5][:2] for line in lines if line.split()[2].endswith(hex_port)]
        assert "02" in timers, "the kernel's keep-alive timer runs on the connection"
        port.close()
