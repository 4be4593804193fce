"""The one way the table says no."""

from __future__ import annotations

from typing import Final

#: Every code a reply's ``error.code`` may carry, with its meaning.
CODES: Final = {
    "malformed": "the request is not one JSON object of the documented form",
    "unknown_command": "there is no such command",
    "bad_args": "the arguments are not those of this command",
    "forbidden": "this role may not send this command",
    "not_allowed_now": "the procedure does not allow it now; `expected` says what it waits for",
    "held": "the table is held; the holds must be lifted first",
    "stale": "something newer than `seen_seq`, or `seen_version`, happened; look again, then decide",
    "id_reused": "the same id was used before with other content",
    "key_reused": "the same demand key was used before with other content",
    "wrong_round": "the command names another round than the one in progress",
    "wrong_mode": "the command belongs to the other way of deciding",
    "betting_closed": "no betting window is open: no more bets",
    "batch_too_large": "more rows than one batch may carry",
    "no_insurance": "the insurance window is not open",
    "no_incident": "there is no such open incident",
    "not_legal": "this resolution is not legal for this incident",
    "same_person": "another person than the one who asked must approve",
    "not_correctable": "the result cannot be corrected so; it can only be declared void",
    "not_assigned": "this dealer is not assigned to the table",
    "no_dealer": "no dealer is logged on",
    "locked": "the table is locked until somebody logs on",
    "shoe_known": "the shoe id was used before",
    "not_found": "the table holds no such round, shoe or calibration",
    "busy": "too many questions about the record wait; ask again",
    "too_large": "the answer would be larger than 1 MiB; ask for less",
    "too_old": "those frames are no longer kept; take a snapshot",
    "no_space": "the disk of the table's record is full; nothing was changed",
    "internal": "the table failed to handle the request; nothing was changed",
}


class Refusal(Exception):
    """Nothing was changed, for this reason. ``code`` is one of ``CODES``."""

    def __init__(self, code: str, message: str, *, expected: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.expected = expected
