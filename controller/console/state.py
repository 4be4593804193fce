"""The running console: its tables, people and what they may do."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import jinja2

from controller.console import drawing, words
from controller.console.accounts import Accounts
from controller.console.alarms import Alarms
from controller.console.audit import Audit
from controller.console.floor import Floor
from controller.console.hands import Hands, gather_quietly
from controller.console.link import Link
from controller.console.sessions import Sessions, Throttle

#: How often silence is looked for.
LOOK_S: Final = 0.1
TIDY_S: Final = 5.0


@dataclass(slots=True)
class Console:
    """Everything the pages work with. Belongs to one event loop."""

    floor: Floor
    accounts: Accounts
    audit: Audit
    sessions: Sessions
    throttle: Throttle = field(default_factory=Throttle)
    hands: Hands = field(default_factory=Hands)
    links: dict[str, Link] = field(default_factory=dict)
    alarms: dict[str, Alarms] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    pages: jinja2.Environment = field(default_factory=lambda: _environment())
    closing: asyncio.Event = field(default_factory=asyncio.Event)

    @classmethod
    def of(cls, floor: Floor) -> Console:
        """A console for a floor file. Raises ``ConfigError`` for its data folder."""
        accounts = Accounts(floor.data)
        sessions = Sessions(floor.console.lock_after_s, floor.console.session_s)
        console = cls(floor, accounts, Audit(floor.data), sessions)
        for place in floor.places.values():
            console.links[place.id] = Link(place)
            console.alarms[place.id] = Alarms()
        return console

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hear every table while inside."""
        loop = asyncio.get_running_loop()
        tasks: list[asyncio.Task[Any]] = [loop.create_task(self._look(), name="look for silence")]
        for link in self.links.values():
            link.frame_hooks.append(self.alarms[link.id].take)
            link.snapshot_hooks.append(self.alarms[link.id].adopt)
            tasks.append(loop.create_task(link.follow(), name=f"follow {link.id}"))
        try:
            yield
        finally:
            self.closing.set()
            await gather_quietly(tasks)
            await self.hands.tidy(everything=True)
            self.audit.close()

    async def _look(self) -> None:
        tidied = time.monotonic()
        while True:
            for link in self.links.values():
                link.look()
            now = time.monotonic()
            if now - tidied > TIDY_S:
                tidied = now
                await self.hands.tidy()
                for session in self.sessions.all():
                    self.sessions.find(session.id, now)  # locks what nobody touches
            await asyncio.sleep(LOOK_S)

    def render(self, template: str, **values: Any) -> str:
        """A page or a piece of one."""
        return self.pages.get_template(template).render(**values)


def _environment() -> jinja2.Environment:
    pages = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.globals |= {
        "card": drawing.card, "slot": drawing.slot, "sign": drawing.sign, "short": drawing.short,
        "place": words.place, "person": words.person, "resolution": words.resolution, "line_name": words.line_name,
    }  # fmt: skip
    pages.filters["said"] = words.said
    pages.filters["clock"] = lambda iso: str(iso or "")[11:19]
    return pages
