"""The hub over real sockets: who gets in, who is told what, and that nobody can stop it."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq

from controller.bus import hub as hubs
from controller.bus import keys, transport, wire
from controller.bus.client import TableClient
from controller.bus.errors import BusError, CommandRefused, KeysError
from controller.bus.hub import BATCH, Hub

Server = Any
ROLES = keys.ROLES
QUIET_MS = 300
"""How long a socket is watched that must stay silent."""


@pytest.fixture
def sockets() -> Iterator[Callable[..., zmq.Socket[bytes]]]:
    context = zmq.Context()
    made = []

    def make(kind: int, address: str, server_key: bytes | None, mine: keys.KeyPair | None) -> zmq.Socket[bytes]:
        socket = context.socket(kind)
        made.append(socket)
        socket.linger = 0
        if server_key is not None and mine is not None:
            transport.client_options(socket, server_key, mine)
        if kind == zmq.SUB:
            socket.setsockopt(zmq.SUBSCRIBE, b"")
        transport.connect(socket, address)
        return socket

    yield make
    context.destroy(linger=0)


@pytest.fixture
def dealer_pair(keys_dir: Path) -> keys.KeyPair:
    return keys.load_secret(keys_dir / "dealer" / "dea-1.key_secret")


def receive(socket: zmq.Socket[bytes]) -> list[bytes]:
    assert socket.poll(20_000), "nothing came"
    return socket.recv_multipart(zmq.NOBLOCK)


@pytest.mark.parametrize("role", ROLES)
def test_everybody_is_known_by_their_key(server: Server, arguments: Any, role: str) -> None:
    with TableClient(*arguments(server, role)) as client:
        data = client.command("hello", {"a": 1}).data
    assert (data["role"], data["person"]) == (role, f"{role[:3]}-1")
    assert server.requests[0].key == keys.load_public(server.keys_dir / role / f"{role[:3]}-1.key")


def test_every_transport(serve: Any, arguments: Any, transport: str) -> None:
    server = serve(transport)
    prefix = {"ipc": "ipc:///", "tcp": "tcp://127.0.0.1:", "tcp6": "tcp://[::1]:"}[transport]
    assert server.feed_address.startswith(prefix)
    with TableClient(*arguments(server)) as client:
        assert client.command("hello").data["role"] == "observer"
        client.next_event(0)
        server.publish()
        server.heartbeat()
        while client.seq < 1:
            client.next_event(0.1)


@pytest.mark.parametrize("transport", ["ipc", "tcp"], indirect=True)
def test_an_unknown_key_sees_nothing(serve: Any, arguments: Any, sockets: Any, transport: str) -> None:
    server = serve(transport)
    stranger = keys.KeyPair(*zmq.curve_keypair())
    server_key = keys.load_server_public(server.keys_dir)
    feed = sockets(zmq.SUB, server.feed_address, server_key, stranger)
    commands = sockets(zmq.DEALER, server.command_address, server_key, stranger)
    commands.send(b'{"id":"x","command":"snapshot","args":{}}')
    server.wait_for(lambda hub: hub.counters.refused_keys >= 2)
    with TableClient(*arguments(server)) as client:
        client.command("hello")
    server.publish()
    assert feed.poll(QUIET_MS) == 0
    assert commands.poll(0) == 0
    assert all(request.role == "observer" for request in server.requests)


@pytest.mark.parametrize("transport", ["ipc", "tcp"], indirect=True)
def test_a_client_without_curve_sees_nothing(serve: Any, sockets: Any, transport: str) -> None:
    server = serve(transport)
    feed = sockets(zmq.SUB, server.feed_address, None, None)
    commands = sockets(zmq.DEALER, server.command_address, None, None)
    commands.send(b'{"id":"x","command":"snapshot","args":{}}')
    server.wait_for(lambda hub: hub.counters.failed_handshakes >= 2)
    server.publish()
    assert feed.poll(QUIET_MS) == 0
    assert commands.poll(0) == 0
    assert server.requests == []
    assert server.call(lambda hub: hub.counters.refused_keys) == 0


def test_a_client_with_the_wrong_server_key_is_refused(server: Server, sockets: Any, dealer_pair: Any) -> None:
    wrong = zmq.curve_keypair()[0]
    commands = sockets(zmq.DEALER, server.command_address, wrong, dealer_pair)
    commands.send(b'{"id":"x","command":"snapshot","args":{}}')
    server.wait_for(lambda hub: hub.counters.failed_handshakes)
    assert server.requests == []


def test_a_removed_key_is_refused_at_once_and_at_the_next_connection(
    server: Server, arguments: Any, sockets: Any, dealer_pair: Any
) -> None:
    with TableClient(*arguments(server, "dealer")) as client:
        client.command("hello")
        (server.keys_dir / "dealer" / "dea-1.key").unlink()
        server.call(lambda hub: hub.reload_keys())
        with pytest.raises(CommandRefused) as refused:
            client.command("hello", id="after")
        assert (refused.value.code, refused.value.command_id) == ("unknown_key", "after")
        assert server.call(lambda hub: hub.counters.refused_requests) == 1
    sockets(zmq.DEALER, server.command_address, keys.load_server_public(server.keys_dir), dealer_pair)
    server.wait_for(lambda hub: hub.counters.refused_keys)
    assert len(server.requests) == 1


def test_an_added_key_is_accepted_after_reload(server: Server) -> None:
    keys.make_person(server.keys_dir, "supervisor", "new")
    server.call(lambda hub: hub.reload_keys())
    secret = server.keys_dir / "supervisor" / "new.key_secret"
    addresses = server.feed_address, server.command_address
    with TableClient(*addresses, server.keys_dir / "server.key", secret) as client:
        assert client.command("hello").data["person"] == "new"


def test_a_folder_that_cannot_be_trusted_is_not_loaded(server: Server, arguments: Any) -> None:
    (server.keys_dir / "dealer").chmod(0o770)
    with pytest.raises(KeysError):
        server.call(lambda hub: hub.reload_keys())
    with TableClient(*arguments(server, "dealer")) as client:
        client.command("hello")


@pytest.mark.parametrize(
    ("frames", "counted"), [([b""], 1), ([b"a", b"b"], 1), ([b"", b"{}"], 1), ([b"", b""], 1), ([b"x"] * 9, 1)]
)
def test_malformed_requests_are_answered_by_the_hub(
    server: Server, sockets: Any, dealer_pair: Any, frames: list[bytes], counted: int
) -> None:
    server_key = keys.load_server_public(server.keys_dir)
    commands = sockets(zmq.DEALER, server.command_address, server_key, dealer_pair)
    commands.send_multipart(frames)
    (raw,) = receive(commands)
    answer = json.loads(raw)
    assert (answer["ok"], answer["error"]["code"], answer["id"]) == (False, "malformed", None)
    assert server.call(lambda hub: hub.counters.malformed) == counted
    assert server.requests == []


@pytest.mark.parametrize("transport", ["ipc", "tcp"], indirect=True)
def test_an_oversized_message_cuts_only_its_sender_off(
    serve: Any, arguments: Any, sockets: Any, dealer_pair: Any, transport: str
) -> None:
    server = serve(transport)
    server_key = keys.load_server_public(server.keys_dir)
    with TableClient(*arguments(server)) as other:
        other.command("hello")
        for _ in range(3):
            big = sockets(zmq.DEALER, server.command_address, server_key, dealer_pair)
            gone = big.get_monitor_socket(zmq.EVENT_DISCONNECTED)
            big.send(b"x" * (wire.MAX_BODY + 1_000))
            assert gone.poll(20_000), "the hub kept the connection"
            assert other.command("hello").data["role"] == "observer"
    assert {request.role for request in server.requests} == {"observer"}


def test_a_command_of_the_greatest_length_passes(server: Server, arguments: Any) -> None:
    with TableClient(*arguments(server)) as client:
        overhead = len(wire.encode_command("hello", {"a": ""})[1])
        client.command("hello", {"a": "x" * (wire.MAX_BODY - overhead)})
    assert len(server.requests[0].body) == wire.MAX_BODY


def test_an_answer_to_somebody_who_is_gone_is_counted(server: Server, arguments: Any) -> None:
    with TableClient(*arguments(server)) as client:
        client.command("hello")
        request = server.requests[0]
    server.wait_for(lambda hub: hub.reply(request, b"late") or hub.counters.undelivered)


def test_wake_from_another_thread_ends_poll(keys_dir: Path) -> None:
    with Hub("tcp://127.0.0.1:*", "tcp://127.0.0.1:*", keys_dir, "table/t/") as hub:
        for _ in range(1000):
            hub.wake()
        assert hub.poll(None) == []
        # The thousand were one.
        began = time.monotonic()
        assert hub.poll(20) == []
        assert time.monotonic() - began >= 0.02
        thread = threading.Thread(target=hub.wake)
        thread.start()
        assert hub.poll(None) == []
        thread.join()
    hub.wake()


def test_one_poll_returns_a_bounded_batch(keys_dir: Path, sockets: Any, dealer_pair: Any) -> None:
    with Hub("tcp://127.0.0.1:*", "tcp://127.0.0.1:*", keys_dir, "table/t/") as hub:
        commands = sockets(zmq.DEALER, hub.command_address, keys.load_server_public(keys_dir), dealer_pair)
        for n in range(BATCH + 50):
            commands.send(b"%d" % n)
        got: list[bytes] = []
        while len(got) < BATCH + 50:
            requests = hub.poll(20_000)
            assert 0 < len(requests) <= BATCH
            got += [request.body for request in requests]
    assert got == [b"%d" % n for n in range(BATCH + 50)]


def test_only_one_thread_may_use_a_hub(server: Server) -> None:
    for use in (
        lambda hub: hub.publish(b""),
        lambda hub: hub.poll(0),
        lambda hub: hub.reload_keys(),
        lambda hub: hub.close(),
    ):
        with pytest.raises(BusError, match="belongs to thread 'table'"):
            use(server.hub)


def test_close_is_bounded_with_peers_that_do_not_read(keys_dir: Path, sockets: Any, dealer_pair: Any) -> None:
    hub = Hub("tcp://127.0.0.1:*", "tcp://127.0.0.1:*", keys_dir, "table/t/")
    server_key = keys.load_server_public(keys_dir)
    feed = sockets(zmq.SUB, hub.feed_address, server_key, dealer_pair)
    feed.setsockopt(zmq.RCVHWM, 1)
    commands = sockets(zmq.DEALER, hub.command_address, server_key, dealer_pair)
    commands.send(b"hello")
    (request,) = hub.poll(20_000)
    for _ in range(100):
        hub.reply(request, b"x" * 1_000_000)
        hub.publish(b"x" * 100_000)
    # A client in the middle of a handshake that nobody answers any more.
    sockets(zmq.DEALER, hub.command_address, server_key, dealer_pair)
    began = time.monotonic()
    hub.close()
    assert time.monotonic() - began < 1.0
    hub.close()
    with pytest.raises(BusError, match="closed"):
        hub.publish(b"")


def test_a_subscriber_who_does_not_read_loses_frames_and_holds_nobody_up(
    keys_dir: Path, sockets: Any, dealer_pair: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hubs, "FEED_HWM", 50)  # a queue that fills soon
    server_key = keys.load_server_public(keys_dir)
    with Hub("tcp://127.0.0.1:*", "tcp://127.0.0.1:*", keys_dir, "table/t/") as hub:
        slow, quick = (sockets(zmq.SUB, hub.feed_address, server_key, dealer_pair) for _ in range(2))
        slow.setsockopt(zmq.RCVHWM, 1)
        for feed in (slow, quick):  # both are there before it begins
            while not feed.poll(20):
                hub.publish(b"0")
                hub.poll(0)
        for n in range(1, 1_001):
            hub.publish(b"%d:" % n + b"x" * 30_000)
            while (seen := int(receive(quick)[1].partition(b":")[0])) == 0:
                pass
            assert seen == n
        got = []
        while slow.poll(QUIET_MS):
            got.append(int(slow.recv_multipart()[1].partition(b":")[0]))
        assert got == sorted(got)
        assert len({*got}) < 1_000  # the gap shows in the numbers: `since` fills it


def test_a_flood_of_refused_connections_stops_neither_poll_nor_close(keys_dir: Path) -> None:
    """More failed handshakes than a queue of the default length holds, while the table is busy elsewhere."""
    hub = Hub("tcp://127.0.0.1:*", "tcp://127.0.0.1:*", keys_dir, "table/t/")
    host, _, port = hub.command_address.removeprefix("tcp://").rpartition(":")
    # ZMTP 3.0 without CURVE: signature, version, mechanism, as-server, filler.
    greeting = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)

    def flood() -> None:
        for _ in range(2_500):
            with socket.create_connection((host, int(port))) as plain:
                plain.sendall(greeting)
                while plain.recv(100):
                    pass

    flood()
    while hub.counters.failed_handshakes < 2_000:
        assert hub.poll(20) == []
    flood()
    began = time.monotonic()
    hub.close()
    assert time.monotonic() - began < 1.0


@pytest.mark.parametrize(
    ("endpoint", "reason"),
    [
        ("inproc://feed", "must be tcp"),
        ("tcp://127.0.0.1", "cannot listen at tcp://127.0.0.1"),
        ("tcp://192.0.2.1:5555", "cannot listen"),
        ("ipc:///nowhere/at/all", "cannot listen at ipc:///nowhere/at/all: No such file"),
        ("ipc:///" + "x" * 200, "cannot listen"),
    ],
)
def test_endpoints_that_cannot_be_bound_are_named(keys_dir: Path, endpoint: str, reason: str) -> None:
    with pytest.raises(BusError, match=reason):
        Hub("tcp://127.0.0.1:*", endpoint, keys_dir, "table/t/")


def test_an_address_in_use_is_named(keys_dir: Path, serve: Any) -> None:
    other = serve("tcp")
    with pytest.raises(BusError, match="Address already in use"):
        Hub("tcp://127.0.0.1:*", other.command_address, keys_dir, "table/t/")


def test_a_topic_that_is_a_prefix_of_others_is_refused(keys_dir: Path) -> None:
    with pytest.raises(BusError, match="must end with /"):
        Hub("tcp://127.0.0.1:*", "tcp://127.0.0.1:*", keys_dir, "table/t")
