"""The virtual dealer's hands over the simulated felt: what left the shoe is laid where the step says.

Which card it is comes from the shoe's own log of what left it, as a card in the hand would tell; never from the
table, whose word is what shoe and camera are there to check.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from controller.simulation.control import SocketControl


class Hands:
    """Lays, turns and collects cards before a simulated camera. Raises ``ControlError``."""

    def __init__(self, camera: Path, shoe_log: Path) -> None:
        self._camera = SocketControl(camera, name="simulated camera")
        self._log = shoe_log.open("rb")
        self._rest = b""
        self._face_down: set[str] = set()

    def lay(self, position: str, *, face_down: bool) -> None:
        """Lay whatever left the shoe since the last call at ``position``; the cut card is put aside."""
        for item in self._left():
            if item.get("item") in ("card", "reused"):
                self._camera.ask(f"place {item['card']} {position}{' down' if face_down else ''}")
                if face_down:
                    self._face_down.add(position)

    def turn(self, position: str) -> None:
        """Turn a face-down card over; one that lies open stays."""
        if position in self._face_down:
            self._face_down.discard(position)
            self._camera.ask(f"turn {position}")

    def move(self, position: str, to: str) -> None:
        """Slide the second card of a split hand to its own."""
        self._camera.ask(f"move {position} {to}")

    def collect(self) -> None:
        """Clear the felt."""
        self._left()  # what left the shoe and was never laid down goes, too
        self._face_down.clear()
        self._camera.ask("collect")

    def close(self) -> None:
        """Let go."""
        self._log.close()
        self._camera.close()

    def _left(self) -> list[dict[str, Any]]:
        """What the shoe has logged since the last call."""
        *lines, self._rest = (self._rest + self._log.read()).split(b"\n")
        return [json.loads(line) for line in lines]
