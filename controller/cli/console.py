"""``dealerd console``: dealer and floor screens in a browser."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import Any

from controller.cli.errors import UsageError

_DESCRIPTION = """\
Serve the dealer's and the floor's screens for the tables of FLOOR.toml until SIGTERM or Ctrl-C. The smallest file:

  [[tables]]
  file = "bb-1.toml"

with an observer's key beside it (dealerd keys person KEYS observer console). The first start makes the account of
one administrator and prints how to log on; docs/screens.md says the rest.
"""


def add_parser(subparsers: Any) -> None:
    """Register ``console FLOOR.toml [--check]``."""
    parser = subparsers.add_parser(
        "console",
        help="dealer and floor screens in a browser",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("floor", type=Path, metavar="FLOOR.toml")
    parser.add_argument(
        "--check", action="store_true", help="only check the file; exit status 2 if it cannot be used"
    )
    parser.add_argument("--ready-file", type=Path, metavar="FILE", help="write the address to FILE once it is served")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check, or serve until stopped."""
    from controller.console.app import first_administrator, listen, serve, url_of
    from controller.console.floor import load
    from controller.console.state import Console

    floor = load(args.floor)
    if args.check:
        print(f"{args.floor}: good; tables {', '.join(floor.places)}; listens on {floor.console.listen}")
        return 0
    if args.ready_file is not None and not args.ready_file.absolute().parent.is_dir():
        raise UsageError(f"--ready-file {args.ready_file}: there is no folder {args.ready_file.absolute().parent}")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    with listen(floor) as bound:
        address = url_of(floor, bound)
        console = Console.of(floor)
        password = first_administrator(console)
        print(f"screens of {', '.join(floor.places)}: {address}", flush=True)
        if password is not None:
            print(f"first start: log on as admin with the password {password} and choose your own", flush=True)
        if args.ready_file is not None:
            args.ready_file.write_text(address)
        serve(console, bound)
    return 0
