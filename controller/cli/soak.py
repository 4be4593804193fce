"""``dealerd soak``: deterministic fault simulation of the whole table."""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from controller.cli.errors import UsageError
from controller.simulation.soak import DISKS, GAMES, Failure, Plan, Totals, play, run_session, shortest
from controller.simulation.soak_faults import BY_NAME, KINDS, names
from controller.simulation.soak_figures import put_into, read, tables
from controller.simulation.soak_state import State, StateError, load, new, save

if TYPE_CHECKING:
    _Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_DESCRIPTION: Final = """\
Play rounds of one game in virtual time with everything that can go wrong: bytes damaged on the line, readers that
misread, a dealer who slips, a process that dies at a commit, a full disk, a game server that is lost. The table, its
bet book, the journal and the codecs are the real ones. After every step checks that share no code with them look
whether a wrong card counted, money went astray, a frame was lost or the table moved while it was held.
"""
_EPILOG: Final = """\
Everything is drawn from --seed: the same seed plays the same rounds. Rounds are played in sessions, each of a new
table. If something does not hold, the session is played again to find its shortest form, and the command that shows
it is printed. Exit status: 0 if all holds; 1 if something does not; 2 for wrong input.

A wrong card that no enabled source could tell from the right one, such as a misread of a shoe without a camera, is
no failure: it is counted as unseen.

examples:
  dealerd soak --game baccarat --rounds 1000 --seed 1                    no faults
  dealerd soak --game classic --rounds 5000 --seed 7 --faults all
  dealerd soak --game boundless --rounds 100 --seed 1 --faults kill,disk_full --json
  dealerd soak --game boundless --rounds 100000 --seed 3 --faults all --state boundless.json
  dealerd soak --list-faults
"""
_TELL_S: Final = 2.0


def add_parser(subparsers: _Subparsers) -> None:
    """Register ``soak``."""
    parser = subparsers.add_parser(
        "soak",
        help="deterministic fault simulation of the whole table",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--game", choices=GAMES, help="the game to play")
    parser.add_argument("--rounds", type=int, default=1000, metavar="N", help="rounds to play (1000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="what all chance is drawn from (1)")
    parser.add_argument("--faults", default="none", metavar="all|NAME,…", help="what may go wrong (none)")
    parser.add_argument(
        "--sources", choices=("shoe", "both"), default="shoe", help="both: a camera must confirm each card (shoe)"
    )
    parser.add_argument(
        "--journal",
        choices=DISKS,
        default="mixed",
        help="real: a file; memory; mixed: one session in three on a file",
    )
    parser.add_argument("--state", type=Path, metavar="FILE", help="go on where FILE stopped, and keep it up to date")
    parser.add_argument(
        "--go-on", action="store_true", help="with --state: note a session that fails, and play the next"
    )
    parser.add_argument("--session", type=int, metavar="K", help="play this session only")
    parser.add_argument("--steps", type=int, metavar="M", help="with --session: stop after this many turns")
    parser.add_argument("--mute", default="", metavar="NAME,…", help="kinds that are drawn but left out")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
    parser.add_argument(
        "--figures", nargs="+", type=Path, metavar="FILE", help="print the tables of these state files"
    )
    parser.add_argument("--into", type=Path, metavar="PAGE", help="with --figures: put the tables into this page")
    parser.add_argument("--list-faults", action="store_true", help="print the kinds of fault and end")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play. Returns the exit status."""
    if args.list_faults:
        _list_faults(as_json=args.json)
        return 0
    if args.figures:
        return _figures(args)
    plan, muted = _plan(args)
    try:
        state = load(args.state, plan) if args.state else new(plan)
        with _seldom_collecting():
            failure = _one(args, plan, muted, state) if args.session is not None else _many(args, plan, state)
    except StateError as error:
        raise UsageError(str(error)) from error
    if args.json:
        print(json.dumps(_as_json(state, failure), indent=1))
    else:
        _print(state, failure)
    return 1 if failure is not None or state.failures else 0


def _figures(args: argparse.Namespace) -> int:
    try:
        text = tables(read(args.figures))
        if args.into is not None:
            put_into(args.into, text)
    except StateError as error:
        raise UsageError(str(error)) from error
    if args.into is None:
        print(text)
    return 0


@contextlib.contextmanager
def _seldom_collecting() -> Iterator[None]:
    """Sessions make little garbage that goes in circles: look for it seldom, and never at the program itself."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _plan(args: argparse.Namespace) -> tuple[Plan, frozenset[str]]:
    if args.game is None:
        raise UsageError(f"--game is missing: {', '.join(GAMES)}")
    if args.rounds < 1:
        raise UsageError(f"--rounds is {args.rounds}: it must be 1 or more")
    if args.steps is not None and args.session is None:
        raise UsageError("--steps is for one session: give --session, too")
    if args.go_on and args.state is None:
        raise UsageError("--go-on notes failures in a state file: give --state, too")
    if args.session is not None and (args.session < 0 or args.state is not None):
        raise UsageError("--session is 0 or more, and goes without --state")
    try:
        plan = Plan(args.game, args.seed, names(args.faults), disk=args.journal, sources=args.sources)
        return plan, frozenset(names(args.mute))
    except ValueError as error:
        raise UsageError(str(error)) from error


def _one(args: argparse.Namespace, plan: Plan, muted: frozenset[str], state: State) -> Failure | None:
    played = play(plan, args.session, rounds=args.rounds, steps=args.steps, muted=muted)
    totals = Totals()
    totals.add(played)
    state.add(totals)
    if played.broken is None:
        return None
    return Failure(plan, args.session, played.world.steps, muted, played.broken, played.world.shell.facts)


def _many(args: argparse.Namespace, plan: Plan, state: State) -> Failure | None:
    told = time.monotonic()
    while state.rounds < args.rounds:
        totals, played = run_session(plan, state.session, args.rounds - state.rounds)
        if played.broken is not None:
            if args.go_on:
                print(f"session {state.session}: {played.broken}", file=sys.stderr)
                state.failures = (*state.failures, f"session {state.session}: {played.broken}")
                state.add(totals)
                save(args.state, state)
                continue
            print(f"session {state.session}: {played.broken}; looking for its shortest form", file=sys.stderr)
            failure = shortest(plan, state.session, played)
            state.add(totals)
            return failure
        state.add(totals)
        if args.state:
            save(args.state, state)
        if time.monotonic() - told >= _TELL_S:
            told = time.monotonic()
            print(f"soak: {state.rounds} of {args.rounds} rounds", file=sys.stderr, flush=True)
    return None


# --- what is printed ----------------------------------------------------------------------------------------------


def _list_faults(*, as_json: bool) -> None:
    if as_json:
        print(json.dumps([asdict(kind) for kind in KINDS], indent=1))
        return
    for kind in KINDS:
        cases = f" ({', '.join(kind.misdeals)})" if kind.misdeals else ""
        print(f"{kind.name:20}{kind.when:8}{kind.chance:<8g}{kind.meaning}{cases}")


def _commit() -> str:
    """The commit of this program's sources, if they are in a repository."""
    here = Path(__file__).parent
    try:
        found = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"],
            cwd=here,
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return found.stdout.strip()


def _as_json(state: State, failure: Failure | None) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(state)
    found["rounds_per_cpu_s"] = round(state.rounds / state.cpu_s, 1) if state.cpu_s else None
    found["failure"] = None
    if failure is not None:
        found["failure"] = {
            "what": failure.what, "session": failure.session, "steps": failure.steps, "facts": failure.facts,
            "faults": failure.faults, "commit": _commit(), "command": failure.command(),
        }  # fmt: skip
    return found


def _print(state: State, failure: Failure | None) -> None:
    speed = state.rounds / state.cpu_s if state.cpu_s else 0
    print(
        f"{state.game}: {state.rounds} rounds in {state.session} sessions, {state.results} with a result, "
        f"{state.voids} void; {state.inputs} inputs, {state.facts} facts, {state.incidents} incidents; "
        f"{speed:.0f} rounds a processor second"
    )
    if state.counts:
        print(f"\n{'fault':20}{'injected':>10}{'detected':>10}{'corrected':>11}{'void':>8}{'harmless':>10}"
              f"{'missed':>8}{'unseen':>8}{'expected':>10}")  # fmt: skip
    for name, c in state.counts.items():
        expected = c.chances * BY_NAME[name].chance
        print(f"{name:20}{c.injected:>10}{c.detected:>10}{c.corrected:>11}{c.voided:>8}{c.harmless:>10}"
              f"{c.missed:>8}{c.unseen:>8}{expected:>10.1f}")  # fmt: skip
    for noted in state.failures:
        print(f"\nbroken: {noted}")
    if failure is None and not state.failures:
        print("\neverything held")
    elif failure is None:
        print(f"\n{len(state.failures)} session(s) failed: play each with --session to see it again")
    else:
        print(f"\nbroken: {failure.what}\nseed {state.seed}, session {failure.session}, commit {_commit()}, "
              f"{failure.steps} turns, {failure.facts} facts; needs: {', '.join(failure.faults) or 'no faults'}\n"
              f"again:  {failure.command()}")  # fmt: skip
