"""``dealerd doctor``: everything that must hold before a shift."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import msgspec

from controller.config import load

_DESCRIPTION = """\
Look at everything a table needs before its shift: journal and disk, keys, addresses, the shoe's port and how it is
plugged in, clock, memory. Nothing is changed, and a running table is not disturbed. Each finding says what was found
and, where something is wrong, why it matters and what to do. The exit status is 1 if something fails, 2 if the file
cannot be used.
Run it as the table's own user: sudo -u dealerd dealerd doctor /etc/dealerd/bb-1.toml
"""


def add_parser(subparsers: Any) -> None:
    """Register ``doctor TABLE.toml [--json]``."""
    parser = subparsers.add_parser(
        "doctor", help="everything that must hold before a shift", description=_DESCRIPTION
    )
    parser.add_argument("table", type=Path, metavar="TABLE.toml")
    parser.add_argument("--json", action="store_true", help="one JSON object: table, ok, findings")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Look, print, judge."""
    from controller.doctor.examine import examine
    from controller.doctor.findings import text

    loaded = load(args.table)
    findings = examine(loaded)
    fit = all(one.level != "failure" for one in findings)
    if args.json:
        rows = msgspec.to_builtins(findings)
        print(json.dumps({"table": loaded.config.table.id, "ok": fit, "digest": loaded.digest, "findings": rows}))
    else:
        print(text(findings))
    return 0 if fit else 1
