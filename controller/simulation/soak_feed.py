"""The feed of a soak as a subscriber reads it: in order, without gaps, without secrets (design page 6, Secrets)."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from controller.cards import HIDDEN
from controller.simulation.soak_odds import must

_SECRET: Final = ("face", "key", "rows", "players", "cause", "cards", "from_hold")
#: Frames of before that are still compared when they come again.
_KEPT: Final = 50
_decoder = msgspec.json.Decoder(dict[str, Any])


class Feed:
    """One subscriber. ``deep``: every frame is read, not only counted."""

    def __init__(self, game: str, *, deep: bool) -> None:
        self.game, self.deep = game, deep
        self.seq = 0
        self._last: dict[int, bytes] = {}

    def frame(self, body: bytes) -> None:
        """A frame comes, the same bytes if it comes again (2). Raises ``Broken``."""
        if not self.deep:
            self.seq += 1
            return
        seq = self._readable(body)
        if seq <= self.seq:
            must(self._last.get(seq, body) == body, "a frame sent again has the same bytes")
            return
        must(seq == self.seq + 1, "the feed has no gap")
        self.seq = seq
        self._last[seq] = body
        self._last.pop(seq - _KEPT, None)

    def _readable(self, body: bytes) -> int:
        frame = _decoder.decode(body)
        data = frame["data"]
        for name in _SECRET:
            hidden = name in data and frame["type"] not in ("card_revealed",)
            must(not hidden or (name == "cards" and frame["type"] == "round_result"), "secrets stay in the table")
        if frame["type"] == "card_dealt":
            down = self.game == "boundless" and data["position"] == "dealer/1"
            must(data["card"] == HIDDEN or not (down or data.get("commitment")), "a hidden card shows no face")
        return int(frame["seq"])
