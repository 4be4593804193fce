"""The console's ear at one table: follows the feed as an observer and wakes whoever shows it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Final

from controller import public
from controller.bus.errors import BusError, CommandRefused, CommandTimeout
from controller.bus.wire import PAGE_SIZE
from controller.client import AsyncTableClient
from controller.console.floor import Place
from controller.frames import iso_ms

log = logging.getLogger("dealerd.console")

#: A table says something every second; this long without a word and what is shown may be wrong.
SILENCE_S: Final = 1.5
RETRY_S: Final = 1.0
EVENTS: Final = 60
#: Commands that a table may not have yet; each is asked for once a connection, by a key that may not send it.
PROBED: Final = (
    "approve", "acknowledge", "enter_card", "correct", "log_on", "log_off", "report", "confirm",
    "history", "statistics", "shoe_report", "calibration_get", "calibration_put",
)  # fmt: skip

State = dict[str, Any]
Frame = dict[str, Any]


class Link:
    """One table as heard. ``state`` is None until the first snapshot."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.id = place.id
        self.state: State | None = None
        self.seq = 0
        self.epoch = 0
        self.able: frozenset[str] = frozenset()
        """Those of ``PROBED`` that this table has."""
        self.last_read: dict[str, Any] | None = None
        """The newest card and whether it was read: ``card``, ``position``, ``ok``."""
        self.roads: dict[str, Any] | None = None
        """Baccarat: the roads of the shoe in play."""
        self.events: deque[Frame] = deque(maxlen=EVENTS)
        self.stale_since: str | None = iso_ms(_wall_ms())
        self.problem = ""
        self._step_at = 0.0
        self._heard = time.monotonic() - SILENCE_S
        self._client: AsyncTableClient | None = None
        self.version = 0
        """Grows with everything that changes what is shown."""
        self._wakers: set[asyncio.Event] = set()
        self.frame_hooks: list[Callable[[Frame], None]] = []
        self.snapshot_hooks: list[Callable[[State, str], None]] = []

    # --- for those who show it -----------------------------------------------------------------------------

    @contextlib.contextmanager
    def subscribed(self, waker: asyncio.Event) -> Iterator[None]:
        """``waker`` is set whenever something changes."""
        self._wakers.add(waker)
        try:
            yield
        finally:
            self._wakers.discard(waker)

    @property
    def stale(self) -> bool:
        """What is shown may not be true any more."""
        return self.stale_since is not None

    def left_ms(self) -> int | None:
        """Milliseconds the present step has left; None if it has no end."""
        step = (self.state or {}).get("step") or {}
        until = step.get("until_ms")
        if until is None:
            return None
        return max(0, int(until) - round((time.monotonic() - self._step_at) * 1000))

    def wake(self) -> None:
        """Show again."""
        self.version += 1
        for waker in self._wakers:
            waker.set()

    # --- the ear -------------------------------------------------------------------------------------------

    async def follow(self) -> None:
        """Follow for ever; whatever goes wrong is said on the screens and tried again."""
        while True:
            try:
                await self._follow_once()
            except BusError as error:
                self.problem = str(error)
                log.warning("table %s: %s", self.id, error)
            await asyncio.sleep(RETRY_S)

    async def _follow_once(self) -> None:
        contact = self.place.contact
        client = AsyncTableClient(
            contact.feed, contact.commands, contact.server_key, contact.key_file,
            fold=public.fold, on_snapshot=self._snapshot, table=self.id,
        )  # fmt: skip
        async with client:
            self._client = client
            try:
                while True:
                    frame = await client.next_event(1.0)
                    if frame is not None:
                        self._take(client, frame)
                    elif client.state is not None and self.state is not client.state:
                        self._show(client)
            finally:
                self._client = None

    def _snapshot(self, snapshot: Any) -> None:
        self.epoch, self.last_read = snapshot.epoch, _last_card(snapshot.state)
        self.state, self.seq = snapshot.state, snapshot.seq
        step = snapshot.state.get("step") or {}
        gone_s = max(0.0, time.time() - _seconds(step.get("time")))
        self._step_at = time.monotonic() - gone_s
        self.problem = ""
        for hook in self.snapshot_hooks:
            hook(snapshot.state, iso_ms(_wall_ms()))
        self.wake()
        asyncio.get_running_loop().create_task(self._probe(), name=f"probe {self.id}")

    def _take(self, client: AsyncTableClient, frame: Frame) -> None:
        if frame["epoch"] != self.epoch:
            self.epoch = frame["epoch"]
            asyncio.get_running_loop().create_task(self._probe(), name=f"probe {self.id}")
        if frame["type"] == "step_opened":
            self._step_at = time.monotonic()
        self.last_read = _read_of(frame, self.last_read)
        self._note_roads(frame)
        self.events.append(frame)
        for hook in self.frame_hooks:
            hook(frame)
        self._show(client)

    def _show(self, client: AsyncTableClient) -> None:
        self.state, self.seq = client.state, client.seq
        self.wake()

    def _note_roads(self, frame: Frame) -> None:
        if frame["type"] in ("round_result", "result_corrected"):
            self.roads = frame["data"].get("roads")
        elif frame["type"] == "shoe_loaded":
            self.roads = None

    async def _find_roads(self, client: AsyncTableClient, seq: int, shoe: str | None) -> None:
        """A snapshot between two results has no roads; the newest frames have."""
        try:
            frames, _ = await client.since(max(0, seq - PAGE_SIZE), timeout_s=5.0)
        except BusError:
            return
        for frame in frames if self.roads is None else ():
            if frame["shoe"] == shoe:
                self._note_roads(frame)

    def look(self) -> None:
        """Notice silence and its end. Called many times a second."""
        client = self._client
        silent = client is None or client.state is None or client.age_s > SILENCE_S
        if silent and self.stale_since is None:
            self.stale_since = iso_ms(_wall_ms() - round((client.age_s if client else 0.0) * 1000))
            self.wake()
        elif not silent and self.stale_since is not None:
            self.stale_since = None
            self.wake()

    async def _probe(self) -> None:
        """Ask for each command with the console's own key: it is refused, and the code tells whether it exists."""
        client, found = self._client, set()
        shoe = ((self.state or {}).get("shoe") or {}).get("id")
        if client is not None and self.place.game in ("", "baccarat") and shoe:
            await self._find_roads(client, self.seq, shoe)
        for name in PROBED:
            if client is None:
                return
            try:
                await client.command(name, {}, timeout_s=5.0)
                found.add(name)
            except CommandRefused as refusal:
                if refusal.code != "unknown_command":
                    found.add(name)
            except (CommandTimeout, BusError):
                return
        self.able = frozenset(found)
        self.wake()


def _read_of(frame: Frame, before: dict[str, Any] | None) -> dict[str, Any] | None:
    data = frame["data"]
    match frame["type"]:
        case "card_dealt" | "card_revealed":
            return {"card": data["card"], "position": data["position"], "ok": True}
        case "burn_indicator_drawn":
            return {"card": data["card"], "position": "burn/0", "ok": True}
        case "card_burned":
            return {"card": "**", "position": f"burn/{data['done']}", "ok": True}
        case "card_held":
            return {"card": "**", "position": data["position"], "ok": True}
        case "cut_card_drawn":
            return {"card": "CUT", "position": None, "ok": True}
        case "incident_raised":
            return {"card": None, "position": data.get("position"), "ok": False}
        case "betting_opened" | "shoe_loaded" | "shoe_change_started" | "shift_ended":
            return None
    return before


def _last_card(state: State) -> dict[str, Any] | None:
    cards = (state.get("round") or {}).get("cards") or []
    if not cards:
        return None
    return {"card": cards[-1]["card"], "position": cards[-1]["position"], "ok": not state.get("incidents")}


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


def _seconds(iso: str | None) -> float:
    if not iso:
        return time.time()
    return datetime.fromisoformat(iso.replace("Z", "+00:00")).timestamp()
