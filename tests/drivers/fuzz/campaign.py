"""Coverage-guided fuzzing of every codec with atheris: ``python campaign.py [--inputs N] [NAME…]``.

Runs in an environment of its own (``make fuzz``), one process a codec; ends with 1 at the first input that breaks a
promise of ``targets.py``, and names the file that holds it. Prints for each codec how many inputs a second it took,
the coverage (edges of the codec's own modules), and after how many inputs the last new edge came.
"""

from __future__ import annotations

import argparse
import logging
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT), str(HERE)]

MAX_BYTES = 160


def fuzz(name: str, arguments: list[str]) -> None:
    """Be the fuzzer of one codec; does not return."""
    import atheris

    logging.disable(logging.CRITICAL)
    with atheris.instrument_imports(include=["drivers"]):
        import targets
    target = targets.FUZZ[name]
    atheris.Setup([sys.argv[0], *arguments], target)
    atheris.Fuzz()


def campaign(name: str, inputs: int) -> bool:
    """Fuzz one codec in a process of its own and print what came of it; False if it broke.

    The fuzzer's own output grows in ``build/fuzz-NAME.log``.
    """
    log = ROOT / "build" / f"fuzz-{name}.log"
    with log.open("w") as output, tempfile.TemporaryDirectory() as corpus:
        options = [f"-runs={inputs}", "-seed=1", f"-max_len={MAX_BYTES}", "-timeout=10", "-rss_limit_mb=1024"]
        words = [sys.executable, __file__, "--one", name, corpus, *options, f"-artifact_prefix={ROOT}/build/"]
        began = time.monotonic()
        done = subprocess.run(words, stdout=output, stderr=subprocess.STDOUT, check=False)
        seconds = time.monotonic() - began
        kept = len(list(Path(corpus).iterdir()))
    text = log.read_text(errors="replace")
    found = re.findall(r"^#(\d+)\s+\w+\s+cov: (\d+) ft: (\d+)", text, re.MULTILINE)
    if done.returncode or not found:
        print(f"{name}: broken, see {log}\n{text[-4000:]}")
        return False
    runs, edges, features = map(int, found[-1])
    plateau = next(int(at) for at, edge, _ in found if int(edge) == edges)
    print(
        f"{name:<15}{runs:>12,} inputs {runs / seconds:>8,.0f} a second {edges:>6} edges, the last after "
        f"{plateau:,}; {features} features, {kept} inputs kept",
        flush=True,
    )
    return True


def main() -> int:
    """Fuzz the named codecs, or all."""
    if sys.argv[1:2] == ["--one"]:
        fuzz(sys.argv[2], sys.argv[3:])
    from targets import FUZZ

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000_000)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(FUZZ))
    args = parser.parse_args()
    (ROOT / "build").mkdir(exist_ok=True)
    broken = [name for name in args.names or FUZZ if not campaign(name, args.inputs)]
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
