"""``dealerd soak``: sessions of a whole simulated table, one after the other, each from a seed of its own.

A session that fails is played again to find how few turns it takes and which kinds of fault; the same seed, session
and program give the same failure. Results of ranges of sessions add up (``soak_state``).
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from controller.simulation.soak_faults import BY_NAME, Count, added
from controller.simulation.soak_odds import Broken
from controller.simulation.soak_world import World

GAMES: Final = ("boundless", "classic", "baccarat")
#: Rounds of one session: with faults about a shoe and a half, so that what a restart folds stays small.
ROUNDS: Final = 60
#: Where the journal is: ``real`` (SQLite on a file), ``memory``, or ``mixed`` (one session in three on a file).
DISKS: Final = ("mixed", "real", "memory")
#: Memory, where the system has some as a folder: the disk's speed is not what is looked at.
_MEMORY: Final = Path("/dev/shm")
_NO_END: Final = 1 << 60


@dataclass(frozen=True)
class Plan:
    """What to play."""

    game: str
    seed: int
    faults: tuple[str, ...] = ()
    folder: Path | None = None
    session_rounds: int = ROUNDS
    disk: str = "mixed"
    sources: str = "shoe"


@dataclass(frozen=True)
class Failure:
    """A session in which something does not hold, in its shortest form; ``muted`` kinds are not needed."""

    plan: Plan
    session: int
    steps: int
    muted: frozenset[str]
    what: str
    facts: int

    @property
    def faults(self) -> tuple[str, ...]:
        """The kinds it needs."""
        return tuple(name for name in self.plan.faults if name not in self.muted)

    def command(self) -> str:
        """How to see it again."""
        plan = self.plan
        faults = "all" if plan.faults == tuple(BY_NAME) else ",".join(plan.faults) or "none"
        mute = f" --mute {','.join(sorted(self.muted))}" if self.muted else ""
        sources = f" --sources {plan.sources}" if plan.sources != "shoe" else ""
        return (
            f"dealerd soak --game {plan.game} --seed {plan.seed} --session {self.session} --steps {self.steps} "
            f"--rounds 1000000 --faults {faults}{mute}{sources}"
        )


@dataclass
class Totals:
    """Sums over sessions. ``cpu_s``: processor seconds of this process in them."""

    sessions: int = 0
    rounds: int = 0
    results: int = 0
    voids: int = 0
    inputs: int = 0
    facts: int = 0
    incidents: int = 0
    cpu_s: float = 0.0
    counts: dict[str, Count] = field(default_factory=dict)

    def add(self, played: Session) -> None:
        """Add one session."""
        world = played.world
        self.sessions += 1
        self.rounds += world.rounds
        self.results += world.results
        self.voids += world.rounds - world.results
        self.inputs += world.inputs
        self.facts += world.shell.facts
        self.incidents += world.checks.incidents
        self.cpu_s += played.cpu_s
        self.counts = added(self.counts, world.injector.counts)


@dataclass(frozen=True)
class Session:
    """One session as it was played."""

    world: World
    cpu_s: float
    broken: str | None


def play(
    plan: Plan, session: int, *, rounds: int, steps: int | None = None, muted: frozenset[str] = frozenset()
) -> Session:
    """Play one session up to ``rounds`` rounds or ``steps`` turns; faults in ``muted`` are drawn and left out."""
    folder = _folder(plan, session)
    began = time.process_time()
    broken = None
    try:
        watched = plan.sources == "both"
        world = World(plan.game, f"{plan.seed}/{session}", folder, plan.faults, muted, watched=watched)
        try:
            while world.rounds < rounds and (steps is None or world.steps < steps):
                world.turn()
        except Broken as error:
            broken = str(error)
        except Exception as error:  # noqa: BLE001 - whatever the product raises is a finding, with its seed
            broken = f"{type(error).__name__}: {error}"
        finally:
            world.shell.close()
            world.injector.close()
        return Session(world, time.process_time() - began, broken)
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _folder(plan: Plan, session: int) -> Path | None:
    """Where this session's journal has its file; None if it has none."""
    real = plan.disk == "real" or (plan.disk == "mixed" and session % 3 == 0)
    if not real:
        return None
    parent = plan.folder or (_MEMORY if os.access(_MEMORY, os.W_OK) else None)
    return Path(tempfile.mkdtemp(prefix="dealerd-soak-", dir=parent))


def run_session(plan: Plan, session: int, rounds: int) -> tuple[Totals, Session]:
    """Play one session of at most ``rounds`` rounds, with its figures."""
    totals = Totals()
    played = play(plan, session, rounds=min(plan.session_rounds, rounds))
    totals.add(played)
    return totals, played


def shortest(plan: Plan, session: int, played: Session) -> Failure:
    """The fewest turns, and kinds of fault, with which a session fails in the same way."""
    what, muted = played.broken or "", frozenset[str]()
    steps = _fewest(plan, session, played.world.steps, what)
    best = play(plan, session, rounds=_NO_END, steps=steps)
    counts = best.world.injector.counts
    used = [name for name in plan.faults if name in counts and counts[name].injected]
    trial = play(plan, session, rounds=_NO_END, steps=steps, muted=frozenset(plan.faults) - frozenset(used))
    if trial.broken == what:
        best, muted = trial, frozenset(plan.faults) - frozenset(used)
    for name in used:
        trial = play(plan, session, rounds=_NO_END, steps=steps, muted=muted | {name})
        if trial.broken == what:
            best, muted = trial, muted | {name}
    return Failure(plan, session, best.world.steps, muted, what, best.world.shell.facts)


def _fewest(plan: Plan, session: int, steps: int, what: str) -> int:
    """Bisect the turns: checks look after each of them, so this confirms rather than finds."""
    low, high = 0, steps
    while low < high:
        middle = (low + high) // 2
        if play(plan, session, rounds=_NO_END, steps=middle).broken == what:
            high = middle
        else:
            low = middle + 1
    return high
