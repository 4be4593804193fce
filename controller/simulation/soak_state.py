"""A range of sessions that goes on where it stopped: what was played and what came of it, in one JSON file."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from controller.simulation.soak import Plan, Totals
from controller.simulation.soak_faults import Count, added

VERSION = 1


class StateError(Exception):
    """The file cannot be used: which one, why, what to do."""


class State(msgspec.Struct, kw_only=True):
    """What a state file holds. ``session`` is the next one to be played."""

    version: int = VERSION
    game: str
    seed: int
    faults: tuple[str, ...]
    sources: str = "shoe"
    session: int = 0
    rounds: int = 0
    results: int = 0
    voids: int = 0
    inputs: int = 0
    facts: int = 0
    incidents: int = 0
    cpu_s: float = 0.0
    counts: dict[str, Count] = {}
    failures: tuple[str, ...] = ()  # session and what does not hold in it

    def add(self, totals: Totals) -> None:
        """Add what was played from ``session`` on."""
        self.session += totals.sessions
        for name in ("rounds", "results", "voids", "inputs", "facts", "incidents", "cpu_s"):
            setattr(self, name, getattr(self, name) + getattr(totals, name))
        self.counts = added(self.counts, totals.counts)


def new(plan: Plan) -> State:
    """Nothing played yet."""
    return State(game=plan.game, seed=plan.seed, faults=plan.faults, sources=plan.sources)


def load(path: Path, plan: Plan) -> State:
    """The state at ``path``, a new one if there is none. Raises ``StateError``."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=State)
    except FileNotFoundError:
        return new(plan)
    except OSError as error:
        raise StateError(f"{path}: cannot be read: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StateError(f"{path}: not a state of a soak: {error}; name another file") from error
    mine = (VERSION, plan.game, plan.seed, plan.faults, plan.sources)
    if (found.version, found.game, found.seed, found.faults, found.sources) != mine:
        raise StateError(
            f"{path}: it belongs to {found.game}, seed {found.seed} and its own faults; name another file"
        )
    return found


def save(path: Path, state: State) -> None:
    """Write ``state``, whole or not at all. Raises ``StateError``."""
    draft = path.with_name(path.name + ".new")
    try:
        draft.write_bytes(msgspec.json.format(msgspec.json.encode(state), indent=1) + b"\n")
        os.replace(draft, path)
    except OSError as error:
        raise StateError(f"{path}: cannot be written: {error.strerror}") from error
