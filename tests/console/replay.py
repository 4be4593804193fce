"""Many tables at once: each publishes the frames of a recorded evening under its own id, on real sockets, and answers
``snapshot`` and ``since`` like a table. Nothing else of a table is here: every other command is unknown."""

from __future__ import annotations

import argparse
import json
import signal
import time
from pathlib import Path
from typing import Any

from controller import frames, public
from controller.bus import wire
from controller.bus.hub import Hub, Request

PACE_S = 0.5


class Replay:
    """One table that says again what another one said."""

    def __init__(self, folder: Path, number: int, recorded: list[dict[str, Any]]) -> None:
        self.id = f"re-{number:02d}"
        self._hub = Hub(
            f"ipc://{folder}/{self.id}.feed",
            f"ipc://{folder}/{self.id}.commands",
            folder / "keys",
            wire.topic_of(self.id),
        )
        self._recorded = recorded
        self._at = number * 7 % len(recorded)
        self._state = public.initial()
        self._sent: list[bytes] = []
        for frame in recorded[: self._at]:
            self._take(frame)
        self._due = time.monotonic() + number * PACE_S / 57

    def _take(self, frame: dict[str, Any]) -> bytes:
        mine = frame | {
            "table": self.id, "feed": f"replay-{self.id}", "epoch": 1, "seq": len(self._sent) + 1,
            "time": frames.iso_ms(time.time_ns() // 1_000_000),
        }  # fmt: skip
        public.apply(self._state, mine)
        self._sent.append(json.dumps(mine).encode())
        return self._sent[-1]

    def turn(self) -> None:
        for request in self._hub.poll(0):
            self._hub.reply(request, self._answer(request))
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + PACE_S
            if self._at < len(self._recorded):
                self._hub.publish(self._take(self._recorded[self._at]))
                self._at += 1
            else:
                beat = frames.heartbeat_bytes(
                    feed=f"replay-{self.id}", table=self.id, epoch=1, last_seq=len(self._sent),
                    at_ms=time.time_ns() // 1_000_000,
                )  # fmt: skip
                self._hub.publish(beat)

    def _answer(self, request: Request) -> bytes:
        asked = json.loads(request.body)
        seq = len(self._sent)
        if asked["command"] == "snapshot":
            data = {"feed": f"replay-{self.id}", "epoch": 1, "seq": seq, "state": self._state}
            return wire.encode_reply(asked["id"], seq, data)
        if asked["command"] == "since":
            return wire.encode_page(asked["id"], seq, self._sent[asked["args"]["seq"] :][:1000], False)
        return wire.encode_refusal(asked["id"], "unknown_command", "a replay")

    def close(self) -> None:
        self._hub.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, help="with keys/ and frames.json; sockets are made there")
    parser.add_argument("count", type=int)
    args = parser.parse_args()
    stopping: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stopping.append(number))
    recorded = json.loads((args.folder / "frames.json").read_text())
    tables = [Replay(args.folder, number, recorded) for number in range(1, args.count + 1)]
    (args.folder / "ready").touch()
    while not stopping:
        for table in tables:
            table.turn()
        time.sleep(0.01)
    for table in tables:
        table.close()


if __name__ == "__main__":
    main()
