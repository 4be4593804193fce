"""Fuzzing of every codec with atheris: ``python campaign.py [--inputs N] [--minutes M] [--jobs J] [NAME…]``.

Runs in an environment of its own (``make fuzz``), each codec in a process of its own, in slices (``SLICES``):

* ``traced``: guided by coverage and by the values that the code compares, inputs up to 96 bytes;
* ``edges``: goes on from what that kept, guided by coverage alone, which runs twice as fast;
* ``volume``: everything that was kept is mutated at full speed, without looking at coverage: once no new edge comes,
  tracing costs five inputs for each that it watches.

What was kept and how far each codec came is under ``build/fuzz/NAME``: another call goes on there. A changed codec
wants a fresh start (remove the folder). Ends with 1 at the first input that breaks a promise of ``targets.py``, and
names the file that holds it.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
BUILD = ROOT / "build" / "fuzz"
sys.path[:0] = [str(ROOT), str(HERE)]


class Slice(NamedTuple):
    """One call of the fuzzer: how many inputs, of how many bytes at most, and what is traced."""

    kind: str
    inputs: int
    max_bytes: int


TRACED = Slice("traced", 50_000, 96)
EDGES = Slice("edges", 100_000, 32)
VOLUME = Slice("volume", 500_000, 32)


@dataclass
class Progress:
    """How far a codec came. ``plateau``: the guided input that reached the last new edge."""

    slices: int = 0
    guided: int = 0
    volume: int = 0
    edges: int = 0
    plateau: int = 0
    kept: int = 0
    cpu_s: float = 0.0

    @property
    def inputs(self) -> int:
        """All inputs."""
        return self.guided + self.volume


def fuzz(name: str, kind: str, arguments: list[str]) -> None:
    """Be the fuzzer of one codec; does not return."""
    import atheris
    from atheris.import_hook import HookManager

    logging.disable(logging.CRITICAL)
    if kind == VOLUME.kind:
        import targets
    else:
        with HookManager({"drivers"}, set(), enable_loader_override=True, trace_dataflow=kind == TRACED.kind):
            import targets
    target: Callable[[bytes], None] = targets.FUZZ[name]
    atheris.Setup([sys.argv[0], *arguments], target)
    atheris.Fuzz()


def run(name: str, part: Slice, progress: Progress) -> None:
    """Run one slice; its output is in ``build/fuzz/NAME/KIND.log``. Raises ``RuntimeError`` if a promise broke."""
    corpus = BUILD / name / "corpus"
    log = BUILD / name / f"{part.kind}.log"
    options = [f"-runs={part.inputs}", f"-seed={progress.slices + 1}", f"-max_len={part.max_bytes}", "-timeout=10"]
    options += ["-rss_limit_mb=1024", "-reload=0", f"-artifact_prefix={BUILD}/{name}-"]
    if part.kind == VOLUME.kind:
        options += ["-keep_seed=1", "-entropic=0", "-len_control=0"]
    words = [sys.executable, __file__, "--one", name, part.kind, str(corpus), *options]
    with log.open("w") as output:
        done = subprocess.run([sys.executable, "-c", _TIMED, *words], stdout=output, stderr=output, check=False)
    text = log.read_text(errors="replace")
    ended = re.search(rf"^#{part.inputs}\s+DONE", text, re.MULTILINE)
    spent = re.search(r"^cpu (\S+)$", text, re.MULTILINE)
    if done.returncode or not ended or not spent:
        raise RuntimeError(f"{name}: broken, see {log}\n{text[-4000:]}")
    progress.slices += 1
    progress.cpu_s += float(spent[1])
    if part.kind == VOLUME.kind:
        progress.volume += part.inputs
        return
    counts = [(int(at), int(edges)) for at, edges in re.findall(r"^#(\d+)\s+\w+\s+cov: (\d+) ", text, re.MULTILINE)]
    most = counts[-1][1]
    if most > progress.edges:
        progress.edges = most
        progress.plateau = progress.guided + next(at for at, edges in counts if edges == most)
    progress.guided += part.inputs


# Runs a command and says what processor time it took.
_TIMED = (
    "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); "
    "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
    "print(f'\\ncpu {used.ru_utime + used.ru_stime:.1f}', flush=True); sys.exit(code)"
)


def advance(deadline: float, name: str) -> bool:
    """Give one codec its next slice and tell how far it is; False if a promise broke."""
    if time.monotonic() > deadline:
        return True
    (BUILD / name / "corpus").mkdir(parents=True, exist_ok=True)
    progress = load(name)
    part = TRACED if progress.slices == 0 else EDGES if progress.slices == 1 else VOLUME
    try:
        run(name, part, progress)
    except RuntimeError as error:
        print(error, flush=True)
        return False
    progress.kept = len(list((BUILD / name / "corpus").iterdir()))
    (BUILD / name / "progress.json").write_text(json.dumps(asdict(progress)) + "\n")
    print(
        f"{name:<15}{progress.inputs:>12,} inputs ({progress.guided:,} guided), "
        f"{progress.inputs / progress.cpu_s:,.0f} a second of processor time; {progress.edges} edges, the last after "
        f"{progress.plateau:,}; {progress.kept} inputs kept",
        flush=True,
    )
    return True


def load(name: str) -> Progress:
    """How far a codec is."""
    path = BUILD / name / "progress.json"
    return Progress(**json.loads(path.read_text())) if path.exists() else Progress()


def main() -> int:
    """Fuzz the named codecs, or all, in turns, so that an early end leaves all of them about as far."""
    if sys.argv[1:2] == ["--one"]:
        fuzz(sys.argv[2], sys.argv[3], sys.argv[4:])
    from targets import FUZZ

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=10_000_000, help="for each codec (10,000,000)")
    parser.add_argument("--minutes", type=float, default=24 * 60.0, help="begin no slice after so long")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="codecs at the same time (one a core)")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(FUZZ))
    args = parser.parse_args()
    deadline = time.monotonic() + args.minutes * 60
    names = args.names or list(FUZZ)
    with ThreadPoolExecutor(args.jobs) as pool:
        while time.monotonic() < deadline:
            names = [name for name in names if load(name).inputs < args.inputs]
            if not names:
                break
            if not all(pool.map(partial(advance, deadline), names)):
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
