"""Commands to tables, each over a connection under the key of the person who gives it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any, Final

from controller import commands
from controller.bus.errors import BusError, CommandRefused, CommandTimeout
from controller.bus.keys import KeyPair
from controller.client import AsyncTableClient, Reply
from controller.console.floor import Place

#: A connection nobody has used for this long is closed.
IDLE_S: Final = 20.0
TIMEOUT_S: Final = 4.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What the table said, in words for the person. ``unsure``: no answer came, so it may have happened."""

    ok: bool
    code: str = ""
    message: str = ""
    expected: Any = None
    seq: int | None = None
    data: Any = None
    unsure: bool = False


@dataclass(slots=True)
class _Hand:
    client: AsyncTableClient
    used: float
    busy: int = 0


def may_send(role: str, command: str) -> bool:
    """Whether the table takes ``command`` from a person in ``role``; an administrator sends none."""
    return command in commands.ROLES.get(role, frozenset())


class Hands:
    """Opens connections as people need them and closes them when idle."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, bytes], _Hand] = {}

    async def send(
        self,
        place: Place,
        pair: KeyPair,
        name: str,
        args: dict[str, Any],
        *,
        seen_seq: int | None = None,
        command_id: str | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> Answer:
        """Send one command as the owner of ``pair`` and wait for the answer."""
        hand = self._hand(place, pair)
        hand.busy += 1
        try:
            reply = await hand.client.command(name, args, seen_seq=seen_seq, id=command_id, timeout_s=timeout_s)
        except CommandRefused as refusal:
            return Answer(False, refusal.code, refusal.message, refusal.expected)
        except CommandTimeout:
            return Answer(
                False, "no_answer",
                "the table does not answer: whether it took the order is not known until it does; look before you "
                "order again. A key that this table does not know gets no answer, too.",
                unsure=True,
            )  # fmt: skip
        except BusError as error:
            return Answer(False, "bus", str(error))
        finally:
            hand.busy -= 1
            hand.used = time.monotonic()
        return _accepted(reply)

    def _hand(self, place: Place, pair: KeyPair) -> _Hand:
        key = (place.id, pair.public)
        hand = self._open.get(key)
        if hand is None:
            contact = place.contact
            client = AsyncTableClient(contact.feed, contact.commands, contact.server_key, pair, table=place.id)
            hand = self._open[key] = _Hand(client, time.monotonic())
        return hand

    async def tidy(self, *, everything: bool = False) -> None:
        """Close what is idle."""
        now = time.monotonic()
        for key, hand in list(self._open.items()):
            if everything or (hand.busy == 0 and now - hand.used > IDLE_S):
                del self._open[key]
                await hand.client.close()

    async def forget(self, pair: KeyPair) -> None:
        """Close what was open under this key: its owner locked the screen or logged off."""
        for key, hand in list(self._open.items()):
            if key[1] == pair.public and hand.busy == 0:
                del self._open[key]
                await hand.client.close()


def _accepted(reply: Reply) -> Answer:
    return Answer(True, seq=reply.seq, data=reply.data)


async def gather_quietly(tasks: list[asyncio.Task[Any]]) -> None:
    """End tasks and wait for them."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
