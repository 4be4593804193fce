"""``dealerd journal upgrade``: a record of an older program is brought to this one's format."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from controller.cli.errors import UsageError


def add_action(actions: Any) -> None:
    """Register ``journal upgrade FILE… [--json]``."""
    parser = actions.add_parser(
        "upgrade",
        help="bring a record of an older dealerd to this one's format, after a backup",
        description="Write a backup beside the file, read it back, then change the format in one transaction. Facts, "
        "frames and hashes stay as they are. The table must be stopped. `make install` does this for every journal "
        "under /var/lib/dealerd.",
    )
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--json", action="store_true", help="one JSON object a file")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """One file after the other; the first that cannot be upgraded ends it."""
    from controller.journal.upgrade import upgrade

    for file in args.files:
        if not file.is_file():
            raise UsageError(f"there is no journal {file}: give the file that [table] journal names")
        done = upgrade(file, now_ms=time.time_ns() // 1_000_000)
        if args.json:
            print(json.dumps({"file": str(file), "before": done.before, "after": done.after, "backup": done.backup}))
        elif done.backup is None:
            print(f"{file}: its format is {done.after} already; nothing to do")
        else:
            print(f"{file}: format {done.before} became {done.after}; the old one is {done.backup}")
    return 0
