"""The bare forms that ``dealerd`` is measured against, and the one subscriber that measures all forms alike.

The one exception to the import rules: it uses the serial, ZeroMQ and SQLite libraries directly, for a baseline made
of the product's own modules would hide what those modules cost.

``python -m controller.bench.baseline`` is one bare form in a process of its own: a thread that reads cards of
``LINE_BYTES`` with pyserial and publishes a frame for each; with ``--journal`` it first commits one row durably.
It is a lower bound: it knows the length of every message, validates nothing and remembers nothing.
"""

from __future__ import annotations

import argparse
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Final

import apsw
import serial
import zmq

from controller.bus import keys, transport

#: A code of the line protocol with its CR LF.
LINE_BYTES: Final = 5
#: About the length of the product's ``card_dealt`` frame.
FRAME_BYTES: Final = 300
TOPIC: Final = b"table/bare/"

_FRAME: Final = b'{"type":"card_dealt","data":{"card":"%s"},"filler":"'


class Subscriber:
    """A plain SUB without the product's client; with keys it speaks CURVE. Close it, or use it with ``with``."""

    def __init__(
        self, address: str, topic: bytes, *, server_key: bytes | None = None, mine: keys.KeyPair | None = None
    ) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.SUB)
        if server_key is not None and mine is not None:
            transport.client_options(self._socket, server_key, mine)
        self._socket.linger = 0
        self._socket.setsockopt(zmq.SUBSCRIBE, topic)
        self._socket.connect(address)
        self._poller = zmq.Poller()
        self._poller.register(self._socket, zmq.POLLIN)

    def receive(self, timeout_ms: int) -> bytes | None:
        """The next message without its topic; None if none comes in time."""
        if not self._poller.poll(timeout_ms):
            return None
        return self._socket.recv_multipart(zmq.NOBLOCK)[-1]

    def close(self) -> None:
        """Close the socket."""
        self._context.destroy(linger=0)

    def __enter__(self) -> Subscriber:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def frame_of(code: bytes) -> bytes:
    """The frame a bare form publishes for a card's code."""
    head = _FRAME % code
    return head + b"x" * (FRAME_BYTES - len(head) - 2) + b'"}'


def open_journal(path: Path) -> apsw.Connection:
    """One table, each commit on disk before it returns: the settings of the product's journal."""
    database = apsw.Connection(str(path))
    database.execute("PRAGMA journal_mode=WAL").fetchall()
    database.execute("PRAGMA synchronous=FULL").fetchall()
    # Never within a measurement, as in the product.
    database.wal_autocheckpoint(0)
    database.execute("CREATE TABLE facts (n INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT")
    return database


def read_all(path: Path) -> int:
    """Read every row of a journal and do nothing with it; how many there are."""
    database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        facts = sum(1 for _ in database.execute("SELECT * FROM facts ORDER BY n"))
        return facts + sum(1 for _ in database.execute("SELECT * FROM outbox ORDER BY seq"))
    finally:
        database.close()


def _serve(port: serial.Serial, address: str, journal: Path | None, ready: Path) -> None:
    """Read, commit if there is a journal, publish; until the read is cancelled."""
    context = zmq.Context()
    feed = context.socket(zmq.PUB)
    try:
        feed.bind(address)
        database = None if journal is None else open_journal(journal)
        ready.touch()
        while len(line := port.read(LINE_BYTES)) == LINE_BYTES:
            frame = frame_of(line[:-2])
            if database is not None:
                database.execute("INSERT INTO facts (body) VALUES (?)", (frame,))
            feed.send_multipart([TOPIC, frame], zmq.NOBLOCK)
    finally:
        context.destroy(linger=0)


def main() -> int:
    """Serve until standard input ends, which it also does when the benchmark is killed."""
    parser = argparse.ArgumentParser(description="a bare card pipeline, to measure dealerd against")
    parser.add_argument("port")
    parser.add_argument("address")
    parser.add_argument("--ready-file", type=Path, required=True)
    parser.add_argument("--journal", type=Path)
    args = parser.parse_args()
    port = serial.Serial(args.port)
    thread = threading.Thread(target=_serve, args=(port, args.address, args.journal, args.ready_file), daemon=True)
    thread.start()
    sys.stdin.buffer.read()
    port.cancel_read()
    thread.join()
    port.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
