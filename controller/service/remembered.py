"""Commands that were answered before, and versions that were saved beside the table: what goes on record of them."""

from __future__ import annotations

import hashlib
from typing import Final

import msgspec

from controller.bus import wire
from controller.commands import CalibrationPut, Command, Envelope
from controller.journal.store import Journal
from controller.refusal import Refusal
from controller.table.inputs import CalibrationInput
from controller.table.table import Outcome

_canonical: Final = msgspec.json.Encoder(order="sorted")


def digest_of(envelope: Envelope, command: Command) -> bytes:
    """What was asked, and by whom."""
    return hashlib.sha256(_canonical.encode([envelope, command.by])).digest()


def known(journal: Journal, envelope: Envelope, command: Command) -> bytes | None:
    """The reply that was given under this id before. Raises ``Refusal`` (``id_reused``)."""
    found = journal.command(command.id)
    if found is None:
        return None
    if found.digest != digest_of(envelope, command):
        raise Refusal("id_reused", f"id {command.id} was used before with other content")
    return found.reply


def reply_to(command: Command, outcome: Outcome) -> bytes:
    """The answer to a command that was carried out."""
    state = outcome.state
    where = {
        "phase": state.phase,
        "shoe": state.shoe.id if state.shoe else None,
        "round": state.round.id if state.round else None,
    }
    return wire.encode_reply(command.id, state.seq, where | dict(outcome.reply))


def saved(command: Command, reply: bytes) -> CalibrationInput | None:
    """What a good answer to ``calibration_put`` says was written; None for any other answer."""
    outcome = wire.decode_answer(reply)[1]
    if not isinstance(command.args, CalibrationPut) or not isinstance(outcome, wire.Reply):
        return None
    made = outcome.data
    return CalibrationInput(
        made["name"], made["version"], made["file"], made["sha256"], command.args.reason, command.by
    )
