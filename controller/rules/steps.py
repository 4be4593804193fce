"""A step: what the procedure demands next. One value, read by prompt, card check, simulated dealer and tests."""

from __future__ import annotations

from typing import Literal

import msgspec

StepKind = Literal[
    "start_shift",  # a supervisor opens the table
    "load_shoe",  # a new shoe is put in and loaded
    "open_bets",  # the game server opens betting
    "close_bets",  # betting runs; no card may leave the shoe
    "draw",  # one card to `position`
    "sight",  # the camera must see the card at `position`
    "insurance",  # the insurance window is open
    "peek",  # the table looks at the hole card
    "decide",  # a window on `line` at `prefix_len` cards
    "follow",  # bettors behind may follow a split or double on `line`
    "reveal",  # the face at `position` is turned
    "shoe_result",  # the shoe announces its own result
    "confirm",  # the dealer says that felt and screen agree
    "finish",  # the result can be stated
    "standby",  # the shoe closes its hand
    "rescan",  # cards on the felt are read again, in order
    "wait",  # a hold: hands off
    "reopen",  # a supervisor reopens after a void
]


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """What must happen next.

    ``position`` is the place of one card. ``others`` are further places the next card may rightly take, where the
    faces that would decide are not known yet (baccarat dealt face down); ``"reveal"`` among them means that the
    hands may be complete. ``options`` are the decisions open to players. ``left`` counts cards still to burn or
    read again, this one included. ``again``: the card lies there already, unread: pass it by the reader once more.
    """

    kind: StepKind
    position: str | None = None
    hidden: bool = False
    others: tuple[str, ...] = ()
    line: str | None = None
    prefix_len: int | None = None
    options: tuple[str, ...] = ()
    left: int | None = None
    again: bool = False

    def takes(self, position: str) -> bool:
        """A card may now be dealt to ``position``."""
        return self.kind == "draw" and (position == self.position or position in self.others)
