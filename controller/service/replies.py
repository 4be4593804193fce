"""What the actor answers from what is already published or settled, and what it tells the log."""

from __future__ import annotations

import logging
from typing import Any, Final

from controller import commands
from controller.book.base import Book
from controller.bus import wire
from controller.commands import Command
from controller.facts import Fact, IncidentRaised, Paused, RoundVoided, ShoeVoided
from controller.journal.store import Journal
from controller.public import State
from controller.refusal import Refusal
from controller.table.betting import settlement_page
from controller.table.state import TableState

log = logging.getLogger("dealerd.table")

#: Frames in one answer to ``since``, players in one page of a settlement.
PAGE: Final = 1000
#: What ``status`` tells of the public state.
_STATUS: Final = (
    "phase", "step", "holds", "incidents", "devices_lost", "shoe", "dealer", "locked", "manual", "alarms",
)  # fmt: skip


def is_past(command: Command, book: Book | None) -> bool:
    """The settlement of a round that the book no longer holds: the record knows it."""
    return isinstance(command.args, commands.Settlement) and (book is None or book.round != command.args.round)


def answer(command: Command, journal: Journal, state: TableState, public: State) -> bytes:
    """The reply to one of ``commands.QUERIES`` that the record need not answer. Raises ``Refusal``."""
    seq = journal.last_seq
    match command.args:
        case commands.Since(seq=after):
            if after < journal.oldest_seq - 1 or after < 0:
                raise Refusal("too_old", f"frames after {after} are no longer kept: take a snapshot")
            page = journal.frames_since(min(after, seq), PAGE)
            more = bool(page) and page[-1].seq < seq
            return wire.encode_page(command.id, seq, [item.frame for item in page], more)
        case commands.Settlement(round=round_, version=version, after=after_player):
            book = state.betting
            assert book is not None  # ``is_past`` said so
            return wire.encode_reply(command.id, seq, settlement_page(book, round_, version, after_player, PAGE))
        case _ if command.name == "snapshot":
            data: Any = {"feed": journal.feed_id, "epoch": state.epoch, "seq": seq}
            return wire.encode_reply(command.id, seq, data | {"state": public})
    now = public["round"]
    data = {key: public[key] for key in _STATUS} | {"round": now["id"] if now else None}
    return wire.encode_reply(command.id, seq, data | {"epoch": state.epoch, "feed": journal.feed_id})


def tell_log(fact: Fact) -> None:
    """What somebody on call must see: in the words of the feed, so nothing hidden."""
    match fact:
        case IncidentRaised(incident=number, code=code, title=title, expected=expected, resolutions=resolutions):
            log.warning(
                "incident %d, %s %s; expected %s; legal: %s", number, code, title, expected, ", ".join(resolutions)
            )
        case Paused(hold=hold, reason=reason, by=by):
            log.warning("held: %s, %s (%s)", hold, reason, by)
        case RoundVoided(reason=reason, by=by) | ShoeVoided(reason=reason, by=by):
            log.warning("%s: %s (%s)", fact.type.replace("_", " "), reason, by)
