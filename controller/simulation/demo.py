"""Plays a simulated table and checks what anybody could check: late joiner, snapshot, journal."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from typing import Any

from controller.bus.client import TableClient
from controller.journal.verify import verify
from controller.simulation.studio import Studio, StudioError

Frame = dict[str, Any]
#: Without a frame for this long, and with nobody to wait for, nothing is going to happen any more.
STALLED_S = 60.0


class Play:
    """One run of a studio, watched from its first frame. ``attended``: somebody looks on, and a table that is held
    waits for them as long as they like."""

    def __init__(self, studio: Studio, *, attended: bool = False) -> None:
        self.studio = studio
        self.attended = attended
        self.rounds = self.voided = self.shoes = self.incidents = self.cards = self.staked = self.returned = 0
        self._sequence = hashlib.sha256()

    def watch(self, client: TableClient, show: Callable[[Frame, Any], None]) -> dict[str, Any]:
        """Follow until the scene's rounds are played. Returns the summary."""
        wanted = self.studio.scene.rounds
        began = time.monotonic()
        late: TableClient | None = None
        try:
            for frame in self._frames(client):
                self._count(frame)
                show(frame, client.state)
                if late is None and wanted is not None and self.rounds * 2 >= wanted:
                    late = self.studio.client()
                if wanted is not None and self.rounds >= wanted and frame["type"] == "step_opened":
                    break
            return self._summary(client, late, time.monotonic() - began)
        finally:
            if late is not None:
                late.close()

    def _frames(self, client: TableClient) -> Any:
        """Every frame, those before the first snapshot too."""
        quiet_since = time.monotonic()
        first: int | None = None
        while True:
            frame = client.next_event(0.5)
            if first is None and client.state is not None:
                first = frame["seq"] if frame is not None else client.seq + 1
                yield from self._before(client, first)
            if frame is not None:
                quiet_since = time.monotonic()
                yield frame
            else:
                self.studio.check()
                now = time.monotonic()
                if self.attended and waits_for_people(client.state):
                    quiet_since = now
                elif now - quiet_since > max(STALLED_S, STALLED_S / (self.studio.scene.speed or 1)):
                    step = (client.state or {}).get("step")
                    raise StudioError(f"nothing happens any more; the table waits at {json.dumps(step)}")

    def _before(self, client: TableClient, first: int) -> Any:
        seq, more = 0, True
        while more and seq < first - 1:
            frames, more = client.since(seq)
            for frame in frames:
                if frame["seq"] < first:
                    yield frame
                seq = frame["seq"]

    def _count(self, frame: Frame) -> None:
        kind, data = frame["type"], frame["data"]
        self.rounds += kind == "round_result"
        self.voided += kind == "round_voided"
        if kind == "bets_settled":
            self.staked += data["stake"]
            self.returned += data["returned"]
        self.shoes += kind == "shoe_loaded"
        self.incidents += kind == "incident_raised"
        self.cards += kind in ("card_dealt", "card_burned", "burn_indicator_drawn")
        result = data if kind == "round_result" else None
        told = (kind, frame["round_in_shoe"], data.get("position"), data.get("card"), result)
        self._sequence.update(json.dumps(told, sort_keys=True).encode() + b"\n")

    def _summary(self, client: TableClient, late: TableClient | None, seconds: float) -> dict[str, Any]:
        self.studio.stop_people()  # so that nothing moves while states are compared
        snapshot = client.snapshot()
        follower = _follow_to(client, snapshot.seq)
        checks = {"snapshot_equal": follower == snapshot.state}
        if late is not None:
            checks["late_joiner_equal"] = _follow_to(late, snapshot.seq) == snapshot.state
        return {
            "game": self.studio.scene.game,
            "seed": self.studio.scene.seed,
            "rounds": self.rounds,
            "voided": self.voided,
            "shoes": self.shoes,
            "cards": self.cards,
            "incidents": self.incidents,
            "staked": self.staked,
            "returned": self.returned,
            "frames": snapshot.seq,
            "seconds": round(seconds, 2),
            "sequence": self._sequence.hexdigest(),
            **checks,
        }


def waits_for_people(state: Frame | None) -> bool:
    """Whether the table of this public state is held, or void until somebody reopens it."""
    return state is not None and bool(state["holds"] or (state["step"] or {}).get("step") == "reopen")


def _follow_to(client: TableClient, seq: int) -> Any:
    """The client's own state at ``seq``; None if it never gets there."""
    deadline = time.monotonic() + 10
    while (client.state is None or client.seq < seq) and time.monotonic() < deadline:
        client.next_event(0.2)
    return client.state if client.seq == seq else None


def check_journal(studio: Studio, summary: dict[str, Any]) -> None:
    """Add what the journal's verification found. The table service must have ended."""
    report = verify(studio.folder / "table.journal")
    summary["facts"] = report.facts
    summary["journal_ok"] = report.ok and report.fault is None


def good(summary: dict[str, Any]) -> bool:
    """Every check of the summary holds."""
    return all(value for value in summary.values() if isinstance(value, bool))
