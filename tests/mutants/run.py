"""Flip every rule of the table in a copy of the program and see that the tests named there notice.

``python run.py [--jobs N] [--record] [ID…]``: all mutants, or those of the named rules. Each is tried alone, with the
guards of its rule only. ``--record`` keeps the figures, of named rules within those of the last whole run, and writes
the page anew. Ends with 1 if a mutant survives, cannot be tried, or the guards fail without one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from rule_table import FIGURES, PAGE, ROOT, Mutant, figures, load, page

COPIED = ("controller", "drivers", "tests", "pyproject.toml")
LIMIT_S = 180
#: A test that hangs because of a mutant ends after so long.
TEST_LIMIT_S = 30
PYTEST = ("-m", "pytest", "-n", "0", "-x", "-q", "-p", "no:cacheprovider", "--timeout", str(TEST_LIMIT_S))


def copy_to(folder: Path) -> Path:
    """A copy of what the guards need."""
    folder.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "figures.json"))
        else:
            shutil.copy2(ROOT / name, folder / name)
    return folder


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the copy, which goes before anything installed. No bytecode is kept: a mutant may have the size
    and time of the file before it."""
    env = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


def imports_from(folder: Path) -> None:
    """Raises ``SystemExit`` unless the packages come from the copy."""
    found = python(folder, "-c", "import controller, drivers; print(controller.__file__); print(drivers.__file__)")
    paths = [Path(line).resolve() for line in found.stdout.splitlines()]
    if len(paths) != 2 or not all(path.is_relative_to(folder.resolve()) for path in paths):
        raise SystemExit(f"the copy in {folder} is not what is tested: {found.stdout}{found.stderr}")


def guards_pass(folder: Path, mutants: Iterable[Mutant]) -> None:
    """Raises ``SystemExit`` if a guard fails or is left out while nothing is flipped."""
    names = dict.fromkeys(guard for mutant in mutants for guard in mutant.guards)
    done = python(folder, *PYTEST, *names)
    if done.returncode or "skipped" in done.stdout:
        raise SystemExit(f"the guards do not all pass without a mutant:\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
    print(f"{len(names)} guards pass without a mutant: {done.stdout.splitlines()[-1]}", flush=True)


def attempt(folder: Path, mutant: Mutant) -> str:
    """``killed``, ``timed out``, ``survived`` or ``broken``; the copy is as before."""
    path = folder / mutant.file
    original = path.read_text()
    if original.count(mutant.old) != 1:
        return "broken"
    path.write_text(original.replace(mutant.old, mutant.new))
    try:
        done = python(folder, *PYTEST, *mutant.guards)
    except subprocess.TimeoutExpired:
        return "timed out"
    finally:
        path.write_text(original)
    if done.returncode == 1:
        return "timed out" if "Timeout (>" in done.stdout or "Timeout ++" in done.stderr else "killed"
    # Anything but a failed test is no proof: the mutant is not even a program.
    return "survived" if done.returncode == 0 else "broken"


def run_all(folders: list[Path], mutants: list[Mutant]) -> dict[str, str]:
    """How each mutant fared, with progress."""
    free: SimpleQueue[Path] = SimpleQueue()
    for folder in folders:
        free.put(folder)

    def one(mutant: Mutant) -> str:
        folder = free.get()
        try:
            return attempt(folder, mutant)
        finally:
            free.put(folder)

    found = {}
    with ThreadPoolExecutor(len(folders)) as pool:
        for number, (mutant, fate) in enumerate(zip(mutants, pool.map(one, mutants), strict=True), 1):
            found[mutant.name] = fate
            if fate != "killed" or number % 10 == 0 or number == len(mutants):
                print(f"[{number}/{len(mutants)}] {mutant.name} {mutant.file}: {fate}", flush=True)
    return found


def record(names: list[str], fates: dict[str, str]) -> None:
    """Keep the figures; a mutant not tried now keeps its fate of the last recorded run."""
    old = figures() if FIGURES.exists() else {"timed_out": [], "survived": [], "broken": []}
    lists = {
        key: [n for n in names if (fates[n].replace(" ", "_") == key if n in fates else n in old[key])]
        for key in ("timed_out", "survived", "broken")
    }
    killed = len(names) - len(lists["survived"]) - len(lists["broken"])
    FIGURES.write_text(json.dumps({"mutants": len(names), "killed": killed, **lists}, indent=1) + "\n")


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    rules = load()
    unknown = set(args.ids) - {rule.id for rule in rules}
    if unknown:
        parser.error(f"no such rule: {', '.join(sorted(unknown))}")
    mutants = [m for rule in rules if not args.ids or rule.id in args.ids for m in rule.mutants]
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as temporary:
        folders = [copy_to(Path(temporary) / str(n)) for n in range(max(1, args.jobs))]
        for folder in folders:
            imports_from(folder)
        guards_pass(folders[0], mutants)
        fates = run_all(folders, mutants)
    print(
        f"{len(fates)} mutants, {sum(f == 'survived' for f in fates.values())} survived, "
        f"{sum(f == 'broken' for f in fates.values())} unusable, in {time.monotonic() - began:.0f} s"
    )
    if args.record:
        record([m.name for rule in rules for m in rule.mutants], fates)
        PAGE.write_text(page(rules, figures()))
    return int(any(fate in ("survived", "broken") for fate in fates.values()))


if __name__ == "__main__":
    raise SystemExit(main())
